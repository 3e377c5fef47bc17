#!/bin/sh
# Runs the subgroup mapping without a GPU: zink on lavapipe has KHR_shader_subgroup, in the Mesa of Debian sid, in a chroot.
# The program is the one built on this machine; libraries that the chroot lacks are lent to it.
# Usage: sh test/guest/zink.sh [BUILD_FOLDER]      GLS_ZINK_SEEDS: seeds to track (1000); GLS_TEST_PYTHON: a Python with nibabel and trx-python
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
work=$root/build/guest
chroot=$work/sid
seeds=${GLS_ZINK_SEEDS:-1000}
python=${GLS_TEST_PYTHON:-python3}
. "$root/test/setup.sh"

fail() {
    say "FAILED: $*"
    exit 1
}

# --- the chroot ------------------------------------------------------------------------------------------------------------------------------

make_chroot() {
    # not one of an older version of this script
    [ -e "$chroot/complete" ] && ls "$chroot"/usr/lib/*/libGLESv2.so.2 > /dev/null 2>&1 && return 0
    as_root rm -rf "$chroot"
    mkdir -p "$work"
    # the mirror that this machine's apt uses, if it is a Debian
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2> /dev/null | head -n 1)
    # shellcheck disable=SC2086
    as_root debootstrap --variant=minbase --include=mesa-vulkan-drivers,libegl1,libgl1-mesa-dri,libgl1,libopengl0,libgles2,libgbm1,libepoxy0,libgomp1 \
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

leave() {
    for directory in dev sys proc; do
        ! mountpoint -q "$chroot/$directory" || as_root umount -R -l "$chroot/$directory"
    done
}

# env of a software Vulkan device below and zink above
inside() {
    as_root chroot "$chroot" env -i PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 LD_LIBRARY_PATH=/glslines/lib GALLIUM_DRIVER=zink LIBGL_ALWAYS_SOFTWARE=1 \
        GLS_TEST_REQUIRE_GPU=1 GLS_TEST_REQUIRE_SUBGROUP=1 "$@"
}

missing_inside() {
    as_root chroot "$chroot" env LD_LIBRARY_PATH=/glslines/lib ldd "/glslines/bin/$1" | awk '/not found/ { print $1 }'
}

# Copies a program into the chroot with those of its libraries that the chroot has not, and theirs.
lend() {
    name=$(basename "$1")
    as_root cp "$1" "$chroot/glslines/bin/"
    while missing=$(missing_inside "$name") && [ -n "$missing" ]; do
        for library in $missing; do
            file=$(ldd "$1" | awk -v name="$library" '$1 == name { print $3 }')
            [ -n "$file" ] || fail "$name needs $library"
            as_root cp -L "$file" "$chroot/glslines/lib/"
        done
    done
}

# --- the run ---------------------------------------------------------------------------------------------------------------------------------

[ -x "$build/glslines" ] || { say "error: $build/glslines is not built"; exit 1; }
# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES
make_chroot
trap leave EXIT
trap 'exit 1' INT TERM
mount_chroot
as_root rm -rf "$chroot/glslines"
as_root mkdir -p "$chroot/glslines/bin" "$chroot/glslines/lib" "$chroot/glslines/out"
lend "$build/glslines"

inside /glslines/bin/glslines devices > "$work/zink-devices.txt" 2>&1 || { cat "$work/zink-devices.txt" >&2; fail "glslines devices"; }
grep -i -E 'zink|subgroup' "$work/zink-devices.txt" || { cat "$work/zink-devices.txt" >&2; fail "zink is not among the devices"; }

inside /glslines/bin/glslines phantom /glslines/phantom > /dev/null
track() { # MAPPING
    start=$(date +%s)
    inside timeout -k 10 600 sh -c "cd /glslines/phantom && /glslines/bin/glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz --device zink --mapping $1 --nseeds $seeds -o /glslines/out/$1.trx -q" ||
        fail "glslines track --mapping $1"
    echo "zink, --mapping $1: $(tr -d '[:space:]' < "$chroot/glslines/out/$1.json" | sed 's/.*"mapping":"\([^"]*\)".*/mapping \1/'), $(($(date +%s) - start)) s"
}
track single
track subgroup
lanes=$(tr -d '[:space:]' < "$chroot/glslines/out/subgroup.json" | sed 's/.*"lanes":\([0-9]*\).*/\1/')
[ "$lanes" -gt 1 ] || fail "the subgroup mapping used $lanes lane"
"$python" "$root/test/peer/compare_tractograms.py" "$chroot/glslines/out/single.trx" "$chroot/glslines/out/subgroup.trx" --pairs \
    --mask "$chroot/glslines/phantom/mask.nii.gz" --tolerance 0.01 --min-identical 0.5

# The test programs, as many at a time as there are cores: most of their time is one thread's compilation.
failed=0 passed=0 running=
attend() { # PID:NAME
    if wait "${1%%:*}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$work/zink-${1#*:}.log" >&2
        say "FAILED on zink: ${1#*:}"
    fi
}
for program in "$build"/test/gpu_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    name=$(basename "$program")
    # subgroups make no difference to these
    case $name in gpu_compute_* | gpu_group* | gpu_params_layout | gpu_boot_kernel) continue ;; esac
    lend "$program"
    # shellcheck disable=SC2086
    set -- $running
    [ $# -lt "$(nproc)" ] || { attend "$1"; shift; }
    inside "/glslines/bin/$name" > "$work/zink-$name.log" 2>&1 &
    running="$* $!:$name"
done
for entry in $running; do attend "$entry"; done
echo "zink: lanes $lanes, GPU test programs: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
