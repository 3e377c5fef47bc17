#!/bin/sh
# arm64 without such a machine: the program and its unit tests are cross-compiled against a root of Debian arm64 and run under qemu. Mesa's llvmpipe tracks the phantom there; the
# tractogram must be that of this machine, byte for byte.
# Usage: sh test/guest/arm64.sh [BUILD_FOLDER]      GLS_ARM64_SEEDS: seeds to track (200, a tenth for ptt); GLS_ARM64_ROOT: a root that was made before
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
work=$root/build/guest
arm=${GLS_ARM64_ROOT:-$work/arm64}
seeds=${GLS_ARM64_SEEDS:-200}
. "$root/test/setup.sh"

fail() {
    say "FAILED: $*"
    exit 1
}

# Packages are unpacked, not installed: nothing of them has to run.
make_root() {
    mkdir -p "$work"
    [ ! -e "$arm/complete" ] || return 0
    as_root rm -rf "$arm"
    mirror=$(debian_mirror)
    # shellcheck disable=SC2086
    as_root debootstrap --arch=arm64 --foreign --variant=minbase --include="$(echo $ARM64_LIBRARIES | tr ' ' ',')" bookworm "$arm" $mirror > "$work/arm64.log" 2>&1 || {
        tail -n 20 "$work/arm64.log" >&2
        fail "no root of Debian arm64"
    }
    for package in "$arm"/var/cache/apt/archives/*.deb; do as_root dpkg -x "$package" "$arm"; done
    libraries=$arm/usr/lib/aarch64-linux-gnu
    # links to places of the root, which a linker outside looks for on this machine: libm.a in place of libm.so then asks for what only a static C library has
    find "$libraries" -maxdepth 1 -lname '/*' | while read -r link; do as_root ln -sfr "$arm$(readlink "$link")" "$link"; done
    # do what the alternatives system would do
    for library in "$libraries"/openblas-pthread/lib*; do as_root ln -sf "openblas-pthread/$(basename "$library")" "$libraries/"; done
    for name in blas lapack; do as_root ln -sf "../openblas-pthread/pkgconfig/$name-openblas.pc" "$libraries/pkgconfig/$name.pc"; done
    as_root ln -sf ../openblas-pthread/pkgconfig/openblas.pc "$libraries/pkgconfig/openblas.pc"
    as_root touch "$arm/complete"
}

cross_build() {
    cat > "$work/arm64.cmake" << END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT $arm)
set(CMAKE_FIND_ROOT_PATH $arm)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L $arm)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $arm)
set(ENV{PKG_CONFIG_LIBDIR} $arm/usr/lib/aarch64-linux-gnu/pkgconfig:$arm/usr/share/pkgconfig)
END
    units=$(for file in "$root"/test/unit/*.c; do echo "unit_$(basename "$file" .c)"; done)
    # shellcheck disable=SC2086
    cmake -S "$root" -B "$work/arm64-build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/arm64.cmake" -DGLS_TESTS=ON -DGLS_UNITY=OFF -DGLS_WEBSOCKETS=OFF > "$work/arm64-build.log" 2>&1 &&
        cmake --build "$work/arm64-build" --target glslines_tool $units >> "$work/arm64-build.log" 2>&1 || {
        tail -n 30 "$work/arm64-build.log" >&2
        fail "it does not build for arm64"
    }
}

emulate() { timeout -k 5 1800 env -i PATH="$PATH" HOME="$work" qemu-aarch64-static -L "$arm" -E LC_ALL=C.UTF-8 -E __EGL_VENDOR_LIBRARY_DIRS="$arm/usr/share/glvnd/egl_vendor.d" \
    -E LIBGL_DRIVERS_PATH="$arm/usr/lib/aarch64-linux-gnu/dri" -E GLS_TEST_REQUIRE_GPU=1 "$@"; }

[ -x "$build/glslines" ] || { say "error: $build/glslines is not built"; exit 1; }
# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES $ARM64_PACKAGES
make_root
cross_build

# llvmpipe tracks the phantom there, with vectors of 128 bits, and here.
compare() { # GETTER
    number=$seeds
    [ $1 != ptt ] || number=$((seeds / 10))
    set -- "$1" track --phantom -q --device llvmpipe --model opdt --dg "$1" --nseeds $number --force -o
    getter=$1
    shift
    emulate "$work/arm64-build/glslines" "$@" "$work/arm64-$getter.tck" && "$build/glslines" "$@" "$work/arm64-$getter-here.tck" &&
        cmp "$work/arm64-$getter.tck" "$work/arm64-$getter-here.tck"
}

# Runs a unit test program, or "getter NAME".
run_one() {
    case $1 in
        unit_*) cd "$root" && emulate "$work/arm64-build/test/$1" ;;
        *) compare "$1" ;;
    esac
}

failed=0 passed=0 running=
attend() { # PID:NAME
    if wait "${1%%:*}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 15 "$work/arm64-${1#*:}.log" >&2
        say "FAILED on arm64: ${1#*:}"
    fi
}
# as many at a time as there are cores, the longest first
for name in boot unit_phantom_anatomy prob det ptt $(echo "$units" | grep -vx unit_phantom_anatomy); do
    # shellcheck disable=SC2086
    set -- $running
    [ $# -lt "$(nproc)" ] || { attend "$1"; shift; }
    run_one "$name" > "$work/arm64-$name.log" 2>&1 &
    running="$* $!:$name"
done
for entry in $running; do attend "$entry"; done
echo "arm64: $passed of $((passed + failed)) passed: unit test programs, and tractograms of $seeds seeds that are those of $(uname -m), byte for byte, with each direction getter"
[ "$failed" -eq 0 ]
