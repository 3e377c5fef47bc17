#!/bin/sh
# arm64 without such a machine: the program and its unit tests are cross-compiled against a root of Debian arm64 and run under qemu. Mesa's llvmpipe tracks the phantom there; the
# tractogram must be that of this machine, byte for byte.
# Usage: sh test/guest/arm64.sh [BUILD_FOLDER]      GLS_ARM64_SEEDS: seeds to track (200); GLS_ARM64_ROOT: a root that was made before
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
    [ ! -e "$arm/complete" ] || return 0
    as_root rm -rf "$arm"
    mkdir -p "$work"
    mirror=$(debian_mirror)
    # shellcheck disable=SC2086
    as_root debootstrap --arch=arm64 --foreign --variant=minbase --include="$(echo $ARM64_LIBRARIES | tr ' ' ',')" bookworm "$arm" $mirror > "$work/arm64.log" 2>&1 || {
        tail -n 20 "$work/arm64.log" >&2
        fail "no root of Debian arm64"
    }
    for package in "$arm"/var/cache/apt/archives/*.deb; do as_root dpkg -x "$package" "$arm"; done
    # what the alternatives system would do
    libraries=$arm/usr/lib/aarch64-linux-gnu
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
    cmake -S "$root" -B "$work/arm64-build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/arm64.cmake" -DGLS_TESTS=ON -DGLS_UNITY=OFF > "$work/arm64-build.log" 2>&1 &&
        cmake --build "$work/arm64-build" --target glslines_tool $units >> "$work/arm64-build.log" 2>&1 || {
        tail -n 30 "$work/arm64-build.log" >&2
        fail "it does not build for arm64"
    }
}

emulate() { timeout -k 5 600 env -i PATH="$PATH" HOME="$work" qemu-aarch64-static -L "$arm" -E LC_ALL=C.UTF-8 -E __EGL_VENDOR_LIBRARY_DIRS="$arm/usr/share/glvnd/egl_vendor.d" \
    -E LIBGL_DRIVERS_PATH="$arm/usr/lib/aarch64-linux-gnu/dri" -E GLS_TEST_REQUIRE_GPU=1 "$@"; }

[ -x "$build/glslines" ] || { say "error: $build/glslines is not built"; exit 1; }
# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES $ARM64_PACKAGES
make_root
cross_build

failed=0 passed=0
for program in "$work/arm64-build"/test/unit_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    name=$(basename "$program")
    if (cd "$root" && emulate "$program") > "$work/arm64-$name.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 15 "$work/arm64-$name.log" >&2
        say "FAILED on arm64: $name"
    fi
done
# 128-bit vectors, which arm64 has
for getter in boot prob det ptt; do
    number=$seeds
    [ $getter != ptt ] || number=$((seeds / 10))
    emulate "$work/arm64-build/glslines" track --phantom -q --device llvmpipe --dg $getter --nseeds $number --force -o "$work/arm64.tck" || fail "glslines track on arm64"
    "$build/glslines" track --phantom -q --device llvmpipe --dg $getter --nseeds $number --force -o "$work/arm64-here.tck"
    cmp "$work/arm64.tck" "$work/arm64-here.tck" || fail "--dg $getter: the tractogram of arm64 differs"
done
echo "arm64: $passed unit test programs passed, $failed failed; tractograms of $seeds seeds are those of $(uname -m), byte for byte, with each direction getter"
[ "$failed" -eq 0 ]
