#!/bin/sh
# The tool when the graphics driver fails: faults.sh TOOL WORK_DIR. Faults are injected (GLSLINES_INJECT). Either the run finds another way and the file is the same, or it
# ends with the documented exit code and one line, and leaves nothing behind: no file, no part of one, and an old file as it was.
. "$(dirname "$0")/common.sh"
mkdir out

# faulty RULES ARGUMENTS... : runs the tool in the output folder with these faults
faulty() {
    rules=$1
    shift
    (cd "$work/out" && GLSLINES_INJECT=$rules "$tool" "$@" > "$work/stdout" 2> "$work/stderr")
    code=$?
    checks=$((checks + 1))
}

# one_line CODE TEXT : checks how the last run failed
one_line() {
    [ "$code" -eq "$1" ] || note "exit code $code, not $1: $rules"
    [ "$(grep -vc "^glslines: warning: " "$work/stderr")" -eq 1 ] || note "not one line: $rules"
    grep -q "^glslines: .*$2" "$work/stderr" || note "the message does not name '$2': $rules"
}

empty() {
    [ -z "$(find "$work/out" -type f)" ] || note "files left behind: $(find "$work/out" -type f | tr '\n' ' '): $rules"
    rm -rf "$work/out" && mkdir "$work/out"
}

: > "$work/stderr"
"$tool" phantom "$work/in" --shape 18 20 18 --directions 30 -q || { echo "FAIL: no phantom"; exit 1; }
i=$work/in
track="track $i/dwi.nii.gz $i/dwi.bval $i/dwi.bvec $i/mask.nii.gz $i/roi.nii.gz --model opdt --sphere small --nseeds 300 --chunk-size 120 -q"

# shellcheck disable=SC2086
"$tool" $track -o "$work/expected.trx" || { echo "FAIL: no tractogram"; exit 1; }

# faults without another way
for case in 'open:1+ 5 context' 'compile:1+ 5 does.not.compile' 'dispatch:1+ 5 driver' 'alloc:1+ 5 out.of.memory' 'upload:1+ 5 out.of.memory' 'readback:1+ 5 out.of.memory' \
    'reset:1+ 5 lost' 'memory:1000 5 out.of.memory' 'dispatch:4+ 5 driver' 'readback:3+ 5 out.of.memory'; do
    # shellcheck disable=SC2086
    set -- $case
    # shellcheck disable=SC2086
    faulty "$1" $track -o a.trx
    one_line "$2" "$3"
    empty
done
# shellcheck disable=SC2086
faulty 'alloc' $track -o a.trx
one_line 2 "'alloc'"
empty

# a kernel that writes something else than a number of directions
mkdir -p "$work/shaders/kernel"
sed 's/direction\[at + DIRECTIONS_COUNT\] = n;/direction[at + DIRECTIONS_COUNT] = 100000u;/' "$here/../../glsl/kernel/initial.comp" > "$work/shaders/kernel/initial.comp"
export GLSLINES_SHADER_DIR="$work/shaders"
# shellcheck disable=SC2086
faulty '' $track --mapping group -o a.trx
unset GLSLINES_SHADER_DIR
one_line 5 "directions of a seed"
empty

# kernels that do nothing, without a message from the driver
# shellcheck disable=SC2086
faulty 'skip:9+' $track --mapping single -o a.trx
one_line 5 "ended a kernel before its end"
empty
export GLSLINES_FORCE_LIMITS=software=0
# shellcheck disable=SC2086
faulty 'skip:5+' $track --mapping group -o a.trx
unset GLSLINES_FORCE_LIMITS
one_line 5 "ended a kernel before its end"
empty

# single faults at any call: the same file, or none
for rules in alloc:1 alloc:4 alloc:9 upload:2 upload:30 compile:2 dispatch:1 dispatch:7 dispatch:31 skip:1 skip:2 skip:3 skip:4 skip:5 skip:17 readback:1 readback:5 readback:11 reset:1 reset:20 reset:90 reset:150 \
    reset:60,reset:200 memory:100000 memory:1000000 memory:4000000 alloc:5,readback:2,reset:120; do
    for suffix in trx tck; do
        # shellcheck disable=SC2086
        faulty "$rules" $track -o a.$suffix
        if [ "$code" -eq 0 ]; then
            [ $suffix != trx ] || cmp -s "$work/out/a.trx" "$work/expected.trx" || note "another tractogram: $rules"
            [ -s "$work/out/a.json" ] || note "no sidecar: $rules"
            rm -rf "$work/out" && mkdir "$work/out"
        else
            one_line 5 ""
            empty
        fi
    done
done

# an old file and its sidecar stay as they were
cp "$work/expected.trx" "$work/out/a.trx"
echo '{"old": true}' > "$work/out/a.json"
cksum "$work/out/a.trx" "$work/out/a.json" > "$work/before"
for rules in compile:1 dispatch:5+ reset:100+; do
    # shellcheck disable=SC2086
    faulty "$rules" $track -o a.trx --force --rng-seed 7
    one_line 5 ""
    cksum "$work/out/a.trx" "$work/out/a.json" | cmp -s - "$work/before" || note "an old file was changed: $rules"
    [ "$(find "$work/out" -type f | wc -l)" -eq 2 ] || note "files left behind: $rules"
done
rm -rf "$work/out" && mkdir "$work/out"

faulty compile:1 score --model opdt --dg boot --nseeds 100 --json s.json -q
one_line 5 "does not compile"
empty

if [ "$failures" -gt 0 ]; then
    echo "$failures failures in $checks runs"
    exit 1
fi
echo "$checks runs with faults, as they should be"
