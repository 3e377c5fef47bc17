#!/bin/sh
# Tracks on a GBM render node without a GPU: a virtual machine with the distribution's kernel, whose vgem module makes /dev/dri/renderD128, and with this machine's Mesa.
# The bytes must be those of the surfaceless run in the same guest, which has the same Mesa and the same (perhaps emulated) processor.
# Usage: sh test/guest/gbm.sh [PROGRAM]      GLS_GUEST_ACCEL=kvm: instead of emulation, which works everywhere; GLS_GUEST_SEEDS: seeds to track (500)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
program=${1:-$root/build/glslines}
work=$root/build/guest
seeds=${GLS_GUEST_SEEDS:-500}
. "$root/test/setup.sh"
mkdir -p "$work"

# --- the kernel, unpacked from its packages ---------------------------------------------------------------------------------------------

# Prints the packages that hold the kernel image and its modules.
kernel_packages() {
    . /etc/os-release
    case $ID in
        ubuntu) meta=linux-image-generic extra='linux-(image|modules|modules-extra)-[0-9].*-generic' ;;
        *) meta=linux-image-amd64 extra='linux-(image|modules|binary)-[0-9].*-amd64' ;;
    esac
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$meta" | grep -xE " *($extra)|$extra" | sort -u
    # Ubuntu's vgem is in a package that the image only recommends
    [ "$ID" != ubuntu ] || apt-cache depends --recurse --no-suggests "$meta" | grep -oE 'linux-modules-extra-[0-9][^ ]*-generic' | sort -u
}

unpack_kernel() {
    kernel=$work/kernel
    [ -e "$kernel/complete" ] && return 0
    rm -rf "$kernel"
    mkdir -p "$kernel"
    # shellcheck disable=SC2046
    (cd "$kernel" && apt-get -qq download $(kernel_packages) 2> /dev/null)
    for deb in "$kernel"/*.deb; do dpkg -x "$deb" "$kernel"; done
    rm -f "$kernel"/*.deb
    find "$kernel" -name 'vmlinuz-*' | grep -q . || { say "error: no kernel image in the packages $(kernel_packages)"; return 1; }
    : > "$kernel/complete"
}

# Copies a module and those that it depends on into the guest and lists them in the order of loading; modules built into the kernel are not found and need nothing.
add_module() {
    case " $loaded " in *" $1 "*) return 0 ;; esac
    loaded="$loaded $1"
    file=$(find "$kernel" -name "$(echo "$1" | sed 's/_/[-_]/g').ko*" | head -n 1)
    [ -n "$file" ] || return 0
    target=$guest/modules/$1.ko
    case $file in
        *.xz) xz -dc "$file" > "$target" ;;
        *.zst) zstd -qdc "$file" > "$target" ;;
        *) cp "$file" "$target" ;;
    esac
    for name in $(grep -ao 'depends=[a-z0-9_,]*' "$target" | head -n 1 | cut -d= -f2 | tr ',-' ' _'); do add_module "$name"; done
    echo "$1" >> "$guest/modules/order"
}

# --- the root file system: this machine's libraries ----------------------------------------------------------------------------------------

add_file() { # copies a file under its path, and the targets of links
    [ -e "$guest$1" ] && return 0
    mkdir -p "$guest$(dirname "$1")"
    cp -L "$1" "$guest$1"
}

add_with_libraries() {
    add_file "$1"
    ldd "$1" 2> /dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do add_file "$library"; done
}

# Directories in /usr merged with those in / stay merged, so that both names of a library are one file.
make_guest() {
    guest=$work/root loaded=
    rm -rf "$guest"
    mkdir -p "$guest/modules" "$guest/proc" "$guest/sys" "$guest/dev" "$guest/tmp" "$guest/usr/bin"
    for directory in bin sbin lib lib64; do
        mkdir -p "$guest/usr/$directory"
        if [ -L "/$directory" ]; then ln -s "usr/$directory" "$guest/$directory"; else mkdir -p "$guest/$directory"; fi
    done
    cp "$(command -v busybox)" "$guest/usr/bin/busybox"
    for name in cat cut basename sed sh sha256sum sleep tr mount insmod poweroff; do ln -s busybox "$guest/usr/bin/$name"; done
    cp "$program" "$guest/usr/bin/glslines"
    add_with_libraries "$program"
    rm -f "$guest$program"
    # opened at run time, too, and searched beside the program
    for part in "$(dirname "$program")"/libglslines_blas.so.*; do
        cp -L "$part" "$guest/usr/bin/"
        add_with_libraries "$part"
        rm -f "$guest$part"
    done
    ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
    # opened at run time: the parts of the dispatcher, Mesa's EGL and its drivers
    "$ldconfig" -p | awk '/lib(EGL|EGL_mesa|GL|OpenGL|GLX|GLESv2|GLdispatch|gbm)\.so\.[0-9]+ .*x86-64/ { print $NF }' | while read -r library; do add_with_libraries "$library"; done
    for driver in /usr/lib/*/dri/swrast_dri.so /usr/lib/*/dri/kms_swrast_dri.so /usr/lib/*/dri/libdril_dri.so /usr/lib/*/gbm/*_gbm.so; do
        [ ! -e "$driver" ] || add_with_libraries "$driver"
    done
    # one driver file under two names in older releases
    for driver in "$guest"/usr/lib/*/dri/kms_swrast_dri.so; do
        other=$(dirname "$driver")/swrast_dri.so
        if [ -e "$driver" ] && cmp -s "$driver" "$other"; then ln -f "$driver" "$other"; fi
    done
    for file in /usr/share/glvnd/egl_vendor.d/*.json; do add_file "$file"; done
    add_module vgem
    grep -qx vgem "$guest/modules/order" 2> /dev/null || { say "error: the kernel packages have no vgem module"; return 1; }
    "$program" phantom "$guest/phantom" --shape 20 20 20 --directions 32 > /dev/null
    write_init
    (cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd"
}

write_init() {
    cat > "$guest/init" << EOF
#!/usr/bin/sh
export PATH=/usr/bin HOME=/tmp LD_LIBRARY_PATH=$(dirname "$(ldd "$program" | awk '/libc\.so/ { print $3 }')")
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2> /dev/null
for module in \$(cat /modules/order); do insmod /modules/\$module.ko; done
for i in 1 2 3 4 5; do [ -e /dev/dri/renderD128 ] || sleep 1; done
[ -e /dev/dri/renderD128 ] || echo "GUEST no render node"
glslines devices 2>&1
cd /phantom
for device in /dev/dri/renderD128 llvmpipe; do
    name=\$(basename \$device)
    echo "GUEST tracking on \$device"
    glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz --model csd --dg prob --sphere small --device \$device --nseeds $seeds -o /tmp/\$name.trx 2>&1
    echo "GUEST status \$name \$?"
    echo "GUEST hash \$name \$(sha256sum < /tmp/\$name.trx)"
    echo "GUEST count \$name \$(tr -d '[:space:]' < /tmp/\$name.json | sed 's/.*"streamlines":\([0-9]*\).*/\1/')"
done
echo "GUEST uptime \$(cut -d' ' -f1 /proc/uptime)"
poweroff -f
EOF
    chmod +x "$guest/init"
}

# --- the run -----------------------------------------------------------------------------------------------------------------------------------

# The kernels of this getter compile fast; the test does not depend on the getter. Emulating AVX takes three times as long as SSE 4.2, so the
# processor is an older one.
run_guest() {
    timeout "${GLS_GUEST_TIMEOUT:-600}" qemu-system-x86_64 -machine q35,accel="$1" -cpu "${GLS_GUEST_CPU:-Nehalem}" -smp "$(nproc)" -m 4096 -nographic -no-reboot -net none \
        -kernel "$(find "$kernel" -name 'vmlinuz-*' | sort | tail -n 1)" -initrd "$work/initrd" -append "console=ttyS0 quiet panic=-1" < /dev/null > "$work/console" 2>&1 || return 1
    tr -d '\r' < "$work/console" | grep -q '^GUEST uptime'
}

field() { tr -d '\r' < "$work/console" | sed -n "s/^GUEST $1 $2 *\([^ ]*\).*/\1/p"; }

fail() {
    tr -d '\r' < "$work/console" >&2
    say "FAILED: $*"
    exit 1
}

[ -x "$program" ] || { say "error: $program is not built"; exit 1; }
need_packages $GUEST_PACKAGES
unpack_kernel
make_guest
accel=${GLS_GUEST_ACCEL:-tcg}
start=$(date +%s)
run_guest "$accel" || fail "the guest did not finish"
tr -d '\r' < "$work/console" | grep -m 1 'platform.*/dev/dri/renderD128' || fail "glslines devices does not show the render node"
for name in renderD128 llvmpipe; do
    [ "$(field status $name)" = 0 ] || fail "tracking on $name failed"
    [ "$(field count $name)" -gt 0 ] || fail "no streamlines on $name"
done
[ -n "$(field hash renderD128)" ] && [ "$(field hash renderD128)" = "$(field hash llvmpipe)" ] || fail "the render node and the surfaceless platform gave different bytes"
echo "GBM: $(field count renderD128) streamlines on /dev/dri/renderD128, the same bytes as surfaceless: $(field hash renderD128 | cut -c 1-16)... ($accel, $(($(date +%s) - start)) s)"
