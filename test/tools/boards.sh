#!/bin/sh
# Compiles kernels for the GPUs of small boards, which are not here: Debian's arm64 package of Mesa's drm-shim stands in for the kernel's drivers, and the arm64 program of
# test/guest/arm64.sh runs under qemu, some twenty times slower than on such a board. By hand: an hour and more on two cores. Prints a line for each kernel, or what is said instead;
# fails where the program crashes, does not come to its end in time, or says nothing.
# Usage: sh test/tools/boards.sh [BUILD_FOLDER]      GLS_BOARDS: GPUs instead of all; GLS_VARIANTS: getters and orders (prob4 boot4 det4 ptt4), e.g. "prob4 boot8";
# GLS_MAPPINGS: e.g. "subgroup group" instead of the one that the program takes; GLS_SECONDS: time limit of a variant; GLS_BOARDS_LAME=1: stand-ins as they are, see stand_in.c;
# GLS_ARM64_SID: a root of Debian sid for arm64 that was made before; GLS_ARM64_ROOT: as for test/guest/arm64.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
work=$root/build/guest
stable=${GLS_ARM64_ROOT:-$work/arm64}
sid=${GLS_ARM64_SID:-$work/arm64-sid}
program=$work/arm64-build/glslines
boards=${GLS_BOARDS:-"v3d42 v3d71 t720 t760 t860 g31 g52 g57 g610 gc400 gc2000 gc3000 gc7000 vc4 lima powervr a630 a740 m1"}
variants=${GLS_VARIANTS:-"prob4 det4 boot4 ptt4"}
seconds=${GLS_SECONDS:-900}
. "$root/test/setup.sh"

fail() {
    say "FAILED: $*"
    exit 1
}

make_root() {
    [ ! -e "$sid/complete" ] || return 0
    as_root rm -rf "$sid"
    # shellcheck disable=SC2086
    as_root debootstrap --arch=arm64 --foreign --variant=minbase --include=mesa-drm-shim,libegl1,libgl1-mesa-dri,libopengl0,libgles2,libgbm1,libepoxy0,libgomp1 sid "$sid" $(debian_mirror) > \
        "$work/boards.log" 2>&1 || fail "no root of Debian sid for arm64"
    for package in "$sid"/var/cache/apt/archives/*.deb; do as_root dpkg -x "$package" "$sid"; done
    as_root touch "$sid/complete"
}

# Copies the libraries of the program that sid does not have, or has under another name.
lend() {
    mkdir -p "$work/boards-lib"
    for file in libnifti2 libznz libniftiio libopenblas liblapacke liblapack libblas libcjson libxxhash libgfortran libtmglib; do
        for library in "$stable"/usr/lib/aarch64-linux-gnu/$file.so.* "$stable"/usr/lib/aarch64-linux-gnu/openblas-pthread/$file.so.*; do
            [ ! -e "$library" ] || [ -e "$work/boards-lib/$(basename "$library")" ] || cp -L "$library" "$work/boards-lib/"
        done
    done
}

# Two of the stand-ins need help.
mend_stand_ins() {
    library=$work/boards-lib/stand_in.so
    [ ! "$library" -nt "$root/test/tools/stand_in.c" ] || return 0
    aarch64-linux-gnu-gcc --sysroot="$stable" -shared -fPIC -o "$library.new" "$root/test/tools/stand_in.c" -ldl || fail "test/tools/stand_in.c does not compile"
    mv "$library.new" "$library"
}

# Sets the environment that the driver needs to see a GPU.
environment() {
    libraries=/usr/lib/aarch64-linux-gnu front=
    case $1 in g610 | gc*) [ -n "${GLS_BOARDS_LAME:-}" ] || front=$work/boards-lib/stand_in.so: ;; esac
    case $1 in
        v3d*) shim=v3d name=V3D_GPU_ID value=${1#v3d} ;;
        t720) shim=panfrost name=PAN_GPU_ID value=720 ;;
        t760) shim=panfrost name=PAN_GPU_ID value=750 ;;
        t860) shim=panfrost name=PAN_GPU_ID value=860 ;;
        g31) shim=panfrost name=PAN_GPU_ID value=7093 ;;
        g52) shim=panfrost name=PAN_GPU_ID value=7212 ;;
        g57) shim=panfrost name=PAN_GPU_ID value=9091 ;;
        g610) shim=panfrost name=PAN_GPU_ID value=a867 ;;
        gc*) shim=etnaviv name=ETNA_SHIM_GPU value=GC${1#gc} ;;
        a*) shim=freedreno name=FD_GPU_ID value=${1#a} ;;
        m1) shim=asahi name=NONE value=1 ;;
        *) shim=$1 name=NONE value=1 ;;
    esac
    echo "-E LD_PRELOAD=$front$libraries/lib${shim}_noop_drm_shim.so -E $name=$value"
}

emulate() { # BOARD SECONDS ARGUMENTS...
    board=$1 limit=$2
    shift 2
    # shellcheck disable=SC2046
    timeout -k 5 "$limit" env -i PATH="$PATH" HOME="$work" qemu-aarch64-static -L "$sid" -E LC_ALL=C.UTF-8 -E LD_LIBRARY_PATH="$work/boards-lib" \
        -E __EGL_VENDOR_LIBRARY_DIRS="$sid/usr/share/glvnd/egl_vendor.d" -E LIBGL_DRIVERS_PATH="$sid/usr/lib/aarch64-linux-gnu/dri" -E GBM_BACKENDS_PATH="$sid/usr/lib/aarch64-linux-gnu/gbm" \
        -E GLSLINES_CHECKED= -E GLSLINES_PROBE="${GLS_PROBE:-30}" -E XDG_CACHE_HOME="$work/boards-cache-$board" -E MESA_SHADER_CACHE_DISABLE=true $(environment "$board") "$program" devices "$@" 2>&1
}

[ -x "$program" ] || fail "there is no arm64 program: run "sh test/run.sh arm64" before"
# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES $ARM64_PACKAGES
make_root
lend
mend_stand_ins
failed=0
for gpu in $boards; do
    status=0
    list=$(emulate "$gpu" 120 --json) || status=$?
    value() { echo "$list" | sed -n "s/.*\"$1\":[[:space:]]*\"\([^\"]*\)\".*/\1/p" | head -n 1; }
    renderer=$(value renderer) mapping=$(value mapping) left_out=$(value not_usable)
    [ -z "$left_out" ] || left_out=", $left_out not usable: $(value reason)"
    if [ -z "$mapping" ] || echo "$renderer" | grep -q llvmpipe; then
        echo "$gpu: status $status: ${renderer:+only }${renderer:-$(echo "$list" | tail -n 1)}$left_out"
        [ $status -eq 0 ] || [ $status -eq 5 ] || failed=$((failed + 1))
        continue
    fi
    echo "$gpu: $renderer, $mapping"
    said=$work/board-$gpu.txt
    for variant in $variants; do
        for mapping in ${GLS_MAPPINGS:-$mapping}; do
            status=0
            # do here what 'devices --check' does in a process of its own, which qemu cannot start
            emulate "$gpu" "$seconds" --device "$renderer" --api auto --compile-only --variant "$variant:$mapping" > "$said" || status=$?
            grep -aE "^(kernel|error)" "$said" | cut -f 1-3 | cut -c 1-160 | sed "s/^/$gpu $variant $mapping /" || true
            # any other end than the program's own is a crash or a hang
            [ $status -le 7 ] || { failed=$((failed + 1)); echo "$gpu $variant $mapping: status $status"; tail -n 3 "$said"; }
        done
    done
done
[ $failed -eq 0 ] || fail "$failed crashes or hangs"
