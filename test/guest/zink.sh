#!/bin/sh
# Runs the subgroup and group mappings without a GPU: zink on lavapipe has KHR_shader_subgroup, in the Mesa of Debian sid, in a chroot.
# The program is the one built on this machine, which also gives it libraries that the chroot lacks.
# Usage: sh test/guest/zink.sh [BUILD_FOLDER] [make|subgroups|rest]      make: the chroot alone; subgroups (default): the mappings, and the GPU test programs whose source names subgroups; rest: the other
# programs, whose kernels are those of llvmpipe in another driver. GLS_ZINK_SEEDS: seeds to track (1000); GLS_TEST_PYTHON: a Python with nibabel and trx-python
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
work=$root/build/guest
seeds=${GLS_ZINK_SEEDS:-1000}
python=${GLS_TEST_PYTHON:-python3}
part=${2:-subgroups}
. "$root/test/setup.sh"
. "$root/test/guest/chroot.sh"

# environment of a software Vulkan device below and zink above
inside() { in_chroot GALLIUM_DRIVER=zink LIBGL_ALWAYS_SOFTWARE=1 GLS_TEST_REQUIRE_GPU=1 GLS_TEST_REQUIRE_SUBGROUP=1 "$@"; }

# --- the run ---------------------------------------------------------------------------------------------------------------------------------

[ -x "$build/glslines" ] || { say "error: $build/glslines is not built"; exit 1; }
# shellcheck disable=SC2086
need_packages $CHROOT_PACKAGES
make_chroot
[ "$part" != make ] || exit 0
trap leave_chroot EXIT
trap 'exit 1' INT TERM
mount_chroot
as_root rm -rf "$chroot/glslines"
as_root mkdir -p "$chroot/glslines/bin" "$chroot/glslines/lib" "$chroot/glslines/out"
lend "$build/glslines"

inside /glslines/bin/glslines devices > "$work/zink-devices.txt" 2>&1 || { cat "$work/zink-devices.txt" >&2; fail "glslines devices"; }
grep -i -E 'zink|subgroup' "$work/zink-devices.txt" || { cat "$work/zink-devices.txt" >&2; fail "zink is not among the devices"; }

inside /glslines/bin/glslines phantom /glslines/phantom > /dev/null
track() { # GETTER MAPPING SEEDS [LIMITS]
    start=$(date +%s)
    out=$1-$2${4:+-limited}
    # shellcheck disable=SC2086
    inside ${4:+GLSLINES_FORCE_LIMITS=$4} timeout -k 10 600 sh -c "cd /glslines/phantom && /glslines/bin/glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz --device zink \
        --model opdt --dg $1 --mapping $2 --nseeds $3 -o /glslines/out/$out.trx -q" || fail "glslines track --dg $1 --mapping $2"
    echo "zink, --dg $1 --mapping $2 ${4:-}: $(tr -d '[:space:]' < "$chroot/glslines/out/$out.json" | sed 's/.*"mapping":"\([^"]*\)".*/mapping \1/'), $(($(date +%s) - start)) s"
}

# Checks that the three mappings track the same streamlines to rounding.
compare() { # GETTER
    number=$seeds
    [ $1 != ptt ] || number=$((seeds / 10))
    track $1 single $number
    for mapping in subgroup group; do
        track $1 $mapping $number
        lanes=$(tr -d '[:space:]' < "$chroot/glslines/out/$1-$mapping.json" | sed 's/.*"lanes":\([0-9]*\).*/\1/')
        [ "$lanes" -gt 1 ] || fail "the $mapping mapping used $lanes lane"
        "$python" "$root/test/peer/compare_tractograms.py" "$chroot/glslines/out/$1-single.trx" "$chroot/glslines/out/$1-$mapping.trx" --pairs \
            --mask "$chroot/glslines/phantom/mask.nii.gz" --tolerance 0.01 --min-identical 0.99
    done
    # a driver without sums over a subgroup, as Intel's since Ice Lake: shuffles add in the same order
    [ $1 = det ] || [ $1 = boot ] || return 0
    track $1 subgroup $number subgroup_features=187
    cmp "$chroot/glslines/out/$1-subgroup.trx" "$chroot/glslines/out/$1-subgroup-limited.trx"
}

# Runs a direction getter, or a test program.
run_one() {
    case $1 in
        gpu_*) inside "/glslines/bin/$1" ;;
        *) compare "$1" ;;
    esac
}

names=
[ "$part" = rest ] || names="ptt boot prob det"
for source in "$root"/test/gpu/*.c; do
    named=rest
    ! grep -qi subgroup "$source" || named=subgroups
    [ $named = "$part" ] || continue
    name=gpu_$(basename "$source" .c)
    [ -x "$build/test/$name" ] || fail "$build/test/$name is not built"
    lend "$build/test/$name"
    names="$names $name"
done

failed=0 passed=0 running=
attend() { # PID:NAME
    if wait "${1%%:*}"; then
        passed=$((passed + 1))
        case $1 in *:gpu_*) ;; *) cat "$work/zink-${1#*:}.log" ;; esac
    else
        failed=$((failed + 1))
        cat "$work/zink-${1#*:}.log" >&2
        say "FAILED on zink: ${1#*:}"
    fi
}
# as many at a time as there are cores, because most of their time is compilation on one thread
for name in $names; do
    # shellcheck disable=SC2086
    set -- $running
    [ $# -lt "$(nproc)" ] || { attend "$1"; shift; }
    run_one "$name" > "$work/zink-$name.log" 2>&1 &
    running="$* $!:$name"
done
for entry in $running; do attend "$entry"; done
echo "zink: mappings of each direction getter and GPU test programs: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
