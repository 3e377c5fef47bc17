# Sourced by the scripts beside it, after test/setup.sh, with $root and $work set. A chroot of Debian sid, whose Mesa has drivers and tools that this machine's has not; programs built
# here run in it, with those libraries lent to it that it has not.
chroot=$work/sid

fail() {
    say "FAILED: $*"
    exit 1
}

make_chroot() {
    # do not use a chroot of an older version of this script
    [ -e "$chroot/complete" ] && ls "$chroot"/usr/lib/*/libGLESv2.so.2 "$chroot"/usr/lib/*/libamdgpu_noop_drm_shim.so > /dev/null 2>&1 && return 0
    as_root rm -rf "$chroot"
    mkdir -p "$work"
    mirror=$(debian_mirror)
    # shellcheck disable=SC2086
    as_root debootstrap --variant=minbase \
        --include=mesa-vulkan-drivers,mesa-drm-shim,libegl1,libgl1-mesa-dri,libgl1,libopengl0,libgles2,libgbm1,libepoxy0,libgomp1 \
        sid "$chroot" $mirror > "$work/debootstrap.log" 2>&1 || {
        tail -n 20 "$work/debootstrap.log" >&2
        say "error: no chroot of Debian sid"
        return 1
    }
    as_root touch "$chroot/complete"
}

mount_chroot() {
    for directory in proc sys dev; do
        mountpoint -q "$chroot/$directory" || as_root mount --rbind --make-rslave "/$directory" "$chroot/$directory"
    done
}

leave_chroot() {
    for directory in dev sys proc; do
        ! mountpoint -q "$chroot/$directory" || as_root umount -R -l "$chroot/$directory"
    done
}

# Runs a command in the chroot. NAME=VALUE in front of it sets its environment.
in_chroot() { as_root chroot "$chroot" env -i PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 LD_LIBRARY_PATH=/glslines/lib "$@"; }

missing_inside() {
    as_root chroot "$chroot" env LD_LIBRARY_PATH=/glslines/lib ldd "/glslines/bin/$1" | awk '/not found/ { print $1 }'
}

# Copies a file into the chroot's folder of programs, with those of its libraries that the chroot has not, and theirs.
lend_one() {
    name=$(basename "$1")
    as_root mkdir -p "$chroot/glslines/bin" "$chroot/glslines/lib"
    as_root cp -L "$1" "$chroot/glslines/bin/"
    while missing=$(missing_inside "$name") && [ -n "$missing" ]; do
        for library in $missing; do
            file=$(ldd "$1" | awk -v name="$library" '$1 == name { print $3 }')
            [ -n "$file" ] || fail "$name needs $library"
            as_root cp -L "$file" "$chroot/glslines/lib/"
        done
    done
}

# Does the same for a program and the part of glslines beside it that is loaded later.
lend() {
    lend_one "$1"
    for part in "$(dirname "$1")"/libglslines_blas.so.*; do [ ! -e "$part" ] || lend_one "$part"; done
}
