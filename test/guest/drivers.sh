#!/bin/sh
# Compiles every kernel for GPUs that are not here: Mesa's drm-shim stands in for the kernel's driver, and Mesa's own drivers compile for the hardware that it names.
# Nothing is run. Writes a table to build/drivers.txt; fails where a GPU misses its limits: 5 s of CPU time for a kernel; on AMD and Intel no spilled register in the mapping that --mapping auto
# takes; on AMD 4 waves at least, on Intel 16 lanes for the tracking kernel (ifod2, pft: 8; see src/doc/drivers.md); and a kernel of that mapping that does not compile, or crashes the compiler.
# Usage: sh test/guest/drivers.sh [BUILD_FOLDER]      GLS_DRIVERS: GPUs instead of all, e.g. "navi31 tgl"; GLS_INTEL_SHIM: Intel's shim, else it is built from Debian's source of Mesa
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
work=$root/build/guest
gpus=${GLS_DRIVERS:-"polaris10 vega10 renoir navi10 navi21 navi31 gfx1201 skl kbl icl tgl adl dg2 a630 a660 a730 a740 m1 nvc0 nvf0 nv140 nv164"}
table=$build/drivers.txt
. "$root/test/setup.sh"
. "$root/test/guest/chroot.sh"

# Intel's shim is in no package. Its asserts, which say that it knows less than the driver asks, must be off.
make_intel_shim() {
    shim=${GLS_INTEL_SHIM:-$work/libintel_noop_drm_shim.so}
    [ ! -e "$shim" ] || return 0
    # shellcheck disable=SC2086
    need_packages $MESA_PACKAGES
    rm -rf "$work/mesa" && mkdir -p "$work/mesa/lists/partial" "$work/mesa/cache/archives/partial"
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || fail "apt names no Debian archive: build Intel's shim elsewhere and name it in GLS_INTEL_SHIM"
    echo "deb-src [trusted=yes] $mirror bookworm main" > "$work/mesa/sources.list"
    (
        cd "$work/mesa"
        PATH=/usr/bin:/bin:$PATH # Mesa's build wants the Python that Debian's packages are for
        set -- -qq -o Dir::Etc::sourcelist="$work/mesa/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/mesa/lists" -o Dir::Cache="$work/mesa/cache" \
            -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root
        apt-get "$@" update && apt-get "$@" source --download-only mesa
        dpkg-source --no-check -x mesa_*.dsc source
        # libraries that nothing of the shim needs are left out
        meson setup -Dtools=drm-shim,intel -Dgallium-drivers=iris,swrast -Dvulkan-drivers= -Dllvm=disabled -Dglx=disabled -Dplatforms= -Dgbm=disabled -Degl=disabled \
            -Db_ndebug=true -Dbuildtype=release build source
        ninja -C build src/intel/tools/libintel_noop_drm_shim.so
    ) > "$work/mesa.log" 2>&1 || { tail -n 20 "$work/mesa.log" >&2; fail "Intel's shim cannot be built"; }
    cp "$work/mesa/build/src/intel/tools/libintel_noop_drm_shim.so" "$shim"
    rm -rf "$work/mesa"
}

# Sets the environment that the driver needs to see a GPU.
environment() {
    libraries=/usr/lib/x86_64-linux-gnu
    case $1 in
        skl | kbl | icl | tgl | adl | dg2) echo "LD_PRELOAD=/glslines/lib/libintel_noop_drm_shim.so INTEL_STUB_GPU_PLATFORM=$1" ;;
        a[0-9]*) echo "LD_PRELOAD=$libraries/libfreedreno_noop_drm_shim.so FD_GPU_ID=${1#a}" ;;
        m1) echo "LD_PRELOAD=$libraries/libasahi_noop_drm_shim.so" ;;
        nv[0-9c-f]*) echo "LD_PRELOAD=$libraries/libnouveau_noop_drm_shim.so NOUVEAU_CHIPSET=${1#nv}" ;;
        *) echo "LD_PRELOAD=$libraries/libamdgpu_noop_drm_shim.so AMDGPU_GPU_ID=$1" ;;
    esac
}

# The limits of time are for compilers that hang, and wide: other work may share the cores.
# Without the test of renderers of which nothing is known: its kernel never runs here, so that the device would count as lost, or be waited for.
compile() { # GPU
    # shellcheck disable=SC2046
    in_chroot GLSLINES_SELF_TEST=0 $(environment "$1") timeout -k 5 30 /glslines/bin/glslines devices > "$work/drivers-$1.list" 2>&1 || true
    # shellcheck disable=SC2046
    in_chroot GLSLINES_SELF_TEST=0 $(environment "$1") timeout -k 5 1600 /glslines/bin/glslines devices --check --compile-only --seconds 120 > "$work/drivers-$1.txt" 2> "$work/drivers-$1.log" ||
        echo "FAILED: status $?" >> "$work/drivers-$1.txt"
}

# Prints complaints about a GPU, a line for each.
judge() { # GPU
    taken=$(sed -n 's/^   mapping *\([a-z]*\):.*/\1/p' "$work/drivers-$1.list" | head -n 1)
    [ -n "$taken" ] || { echo "$1: no device"; tail -n 3 "$work/drivers-$1.list"; return; }
    awk -v gpu="$1" -v taken="$taken" '
        NR == 1 { vendor = /AMD/ ? "AMD" : /Intel/ ? "Intel" : "" }
        $5 == "s" && $4 + 0 > 5 { print gpu ": " $1 " " $2 " " $3 " takes " $4 " s of CPU time" }
        $2 == taken && vendor != "" && match($0, /[0-9]+ spilled/) && substr($0, RSTART) + 0 > 0 { print gpu ": " $1 " " $2 " " $3 ": " substr($0, RSTART) }
        $2 == taken && vendor == "AMD" && match($0, /[0-9]+ waves/) && substr($0, RSTART) + 0 < 4 { print gpu ": " $1 " " $2 " " $3 ": " substr($0, RSTART) }
        $2 == taken && $3 == "track.comp" && / SIMD8,/ && $1 != "ifod2" && $1 != "pft" { print gpu ": " $1 " " $2 " " $3 ": 8 lanes" }
        $2 == taken && / FAILED: / { print gpu ": " $0 }
        /^FAILED: / { print gpu ": a getter works in no mapping" }' "$work/drivers-$1.txt"
}

[ -x "$build/glslines" ] || { say "error: $build/glslines is not built"; exit 1; }
[ "$(uname -m)" = x86_64 ] || { say "the shims of other machines than x86-64 are others"; exit 77; }
# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES
make_chroot
trap leave_chroot EXIT
trap 'exit 1' INT TERM
mount_chroot
lend "$build/glslines"
case " $gpus " in *" skl "* | *" kbl "* | *" icl "* | *" tgl "* | *" adl "* | *" dg2 "*)
    make_intel_shim
    as_root cp "$shim" "$chroot/glslines/lib/libintel_noop_drm_shim.so"
    ;;
esac

running=
for gpu in $gpus; do
    # shellcheck disable=SC2086
    set -- $running
    [ $# -lt "$(nproc)" ] || { wait "$1"; shift; }
    compile "$gpu" &
    running="$* $!"
done
wait
echo "seconds: CPU time of the process, the driver's threads included, from the kernel before to the end of this one" > "$table"
echo >> "$table"
for gpu in $gpus; do
    { echo "$gpu: $(sed -n 's/^   mapping *//p' "$work/drivers-$gpu.list" | head -n 1)"; cat "$work/drivers-$gpu.txt"; echo; } >> "$table"
    judge "$gpu"
done > "$work/drivers.complaints"
echo "the table is in $table"
cat "$work/drivers.complaints"
[ ! -s "$work/drivers.complaints" ] || fail "$(wc -l < "$work/drivers.complaints") limits are missed"
echo "$(echo "$gpus" | wc -w) GPUs: every kernel compiles within the limits"
