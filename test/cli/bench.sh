#!/bin/sh
# Tests of glslines bench: bench.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"
mkdir tmp bin
export TMPDIR="$work/tmp"

# expect CODE TEXT ARGUMENTS...: checks the exit code, TEXT in the single message of a failure, that no temporary file is left, and that no JSON comes
# after a failure
expect() {
    code=$1
    text=$2
    shift 2
    rm -f out.json
    "$tool" bench "$@" > stdout 2> stderr
    got=$?
    [ $got -eq "$code" ] || note "bench $*: exit code $got, not $code"
    [ -z "$(ls -A tmp)" ] || note "bench $*: left behind: $(ls tmp)"
    [ "$code" -eq 0 ] && return
    [ "$(grep '^glslines: ' stderr | grep -vc '^glslines: warning: ')" -eq 1 ] || note "bench $*: not one message"
    grep '^glslines: ' stderr | grep -qF -e "$text" || note "bench $*: the message does not name '$text'"
    [ ! -e out.json ] || note "bench $*: JSON after a failure"
}

small="--shape 18x20x18 --nseeds 40 --repeat 3 --json out.json"

expect 2 --shape --shape 18x20
expect 2 --shape --shape 8x20x20
expect 2 "'boots'" --dg prob,boots
expect 2 "'many'" --mapping many
expect 2 --device --device llvmpipe,
expect 2 --mask-stop --mask-stop outside
expect 2 --repeat --repeat 0
expect 2 --nseeds --nseeds 0
expect 2 csd --model csd --dg boot,prob
expect 2 --sh-order --sh-order 5
expect 5 no-such-device --device no-such-device --json out.json
echo kept > there.json
expect 4 there.json --json there.json
[ "$(cat there.json)" = kept ] || note "--json replaced a file without --force"
expect 4 nowhere --json nowhere/out.json
expect 4 there.json --trace there.json
[ "$(cat there.json)" = kept ] || note "--trace replaced a file without --force"
expect 4 one.json --trace one.json --json one.json
# shellcheck disable=SC2086
TMPDIR="$work/nowhere" expect 4 nowhere $small --dg boot

# `track` gives the streamlines of the benchmark from the data that the benchmark writes for other programs
# shellcheck disable=SC2086
GLSLINES_BENCH_DATA=data expect 0 "" $small --dg det
find data -type f | LC_ALL=C sort | tr '\n' ' ' > names
[ "$(cat names)" = "data/dwi.nii data/fa.nii data/fod.nii data/gradients.npy data/job.json data/mask.nii data/seed_mask.nii data/seeds.npy data/sh.nii data/sphere.npy data/track_mask.nii " ] ||
    note "GLSLINES_BENCH_DATA: wrote $(cat names)"
cat > seeds.py <<'END'
import ast, struct
head = open("data/seeds.npy", "rb").read()
assert head[:8] == b"\x93NUMPY\x01\x00" and ast.literal_eval(head[10:128].decode()) == {"descr": "<f8", "fortran_order": False, "shape": (40, 3)}
for i in range(40):
    print(*struct.unpack_from("<3d", head, 128 + 24 * i))
END
python3 seeds.py > seeds.txt || note "seeds.npy is not an array of 40 x 3"
"$tool" track --sh data/sh.nii --sh-basis descoteaux07_legacy --sh-frame image --fa data/fa.nii --mask data/mask.nii --seeds seeds.txt \
    --seed-space voxel --preset gpustreamlines --dg det -o data/track.tck -q 2> stderr || note "track of the data: $(cat stderr)"
python3 -c 'import json
a, b = json.load(open("out.json"))["columns"][0], json.load(open("data/track.json"))["counts"]
assert (a["streamlines"], a["points"]) == (b["streamlines"], b["points"]), (a["streamlines"], a["points"], b)' || note "track of the data gives other streamlines"
rm -f out.json
# shellcheck disable=SC2086
GLSLINES_BENCH_DATA=data expect 4 data/ $small --dg det

# shellcheck disable=SC2086
expect 0 "" $small --mapping auto,single
cat > check.py <<'END'
import json, sys
record = json.load(open("out.json"))
assert record["software"]["name"] == "glslines" and record["command_line"][1] == "bench"
assert record["host"]["cpus_busy_with_others"] >= 0
assert record["host"]["cpu"] and record["host"]["cores"] >= 1 and record["repetitions"] == 3
assert record["grid"]["dimensions"] == [18, 20, 18] and record["data"]["volumes"] == 160
columns = record["columns"]
# each getter of --dg of track, with both mappings
getters = sys.argv[1].split("|")
assert len(getters) >= 7 and [c["dg"] for c in columns] == [dg for dg in getters for _ in range(2)], columns
assert [c["mapping"] for c in columns[:2]] == ["auto", "single"]
phases = ["pass_1", "prefix_sum", "pass_2", "gather", "readback"]
for c in columns:
    assert c["seeds"] == 40 and c["streamlines"] > 0 and c["points"] >= c["streamlines"] and (c["points"] > c["streamlines"]) == (c["dg"] != "seedtest"), c
    assert c["commissural"] <= c["streamlines"] and c["file_bytes"] > 12 * c["points"] and c["device_bytes"] > 0
    seconds = c["seconds"]
    for name in phases + ["kernels_and_transfers", "wait_for_writer", "write", "whole"]:
        t = seconds[name]
        values = sorted(t["values"])
        assert len(values) == 3 and (t["min"], t["median"], t["max"]) == tuple(values), t
    for i in range(3):
        total = sum(seconds[name]["values"][i] for name in phases)
        assert abs(total - seconds["kernels_and_transfers"]["values"][i]) < 1e-5 and total <= seconds["whole"]["values"][i] + 1e-5
    rate = c["points_per_second"]["kernels_and_transfers"]
    assert abs(rate * seconds["kernels_and_transfers"]["median"] / c["points"] - 1) < 0.01
for a, b in zip(columns[::2], columns[1::2]):
    if a["lanes"] == b["lanes"]:
        assert a["points"] == b["points"] and a["commissural"] == b["commissural"]
END
getters=$("$tool" help --format markdown track | sed -n 's/^| `--dg \([^`]*\)`.*/\1/p' | tr -d '\\')
python3 check.py "$getters" 2> stderr || note "the JSON is not what it should be"
for row in "pass 1" "prefix sum" "pass 2" gather readback write whole streamlines "mean length" "median length" longest commissural "points/s"; do
    grep -q "^$row" stdout || note "no row '$row'"
done

# shellcheck disable=SC2086
expect 0 "" $small --dg prob --no-write --trace trace.json
python3 -c 'import json; names = [e["name"] for e in json.load(open("trace.json"))["traceEvents"]]; assert names.count("prob") == 5 and names.count("place") >= 5, names' 2> stderr || note "--trace: $(tail -1 stderr)"
python3 -c 'import json; r = json.load(open("out.json")); assert not r["file_written"] and r["columns"][0]["file_bytes"] == 0' 2> stderr || note "--no-write"
if [ "$("$tool" devices --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["subgroup_size"])')" -eq 0 ]; then
    expect 7 subgroup --mapping subgroup --dg prob --shape 18x20x18 --nseeds 10 -q
fi

# a mask ends streamlines as in track: by default if the nearest voxel lies outside
cat > mask.py <<'END'
import json, sys
nearest, named, interpolated = (json.load(open(p)) for p in ("default.json", "nearest.json", "interpolated.json"))
points = [r["columns"][0]["points"] for r in (nearest, named, interpolated)]
assert nearest["data"]["mask_stop"] == named["data"]["mask_stop"] == "nearest" and interpolated["data"]["mask_stop"] == "interpolated"
assert points[0] == points[1] and points[0] != points[2], points
END
for rule in default nearest interpolated; do
    option="--mask-stop $rule"
    [ $rule = default ] && option=
    # shellcheck disable=SC2086
    expect 0 "" --shape 18x20x18 --nseeds 400 --repeat 1 --dg ifod1 --no-write $option --json out.json
    mv out.json $rule.json
done
python3 mask.py 2> stderr || note "--mask-stop: $(tail -1 stderr)"

# a signal leaves nothing
"$tool" bench --dg ptt --shape 40x52x38 --nseeds 5000 > stdout 2> stderr &
pid=$!
waited=0
while [ -z "$(ls -A tmp)" ] && [ $waited -lt 200 ]; do sleep 0.1; waited=$((waited + 1)); done
sleep 1
kill -TERM $pid
wait $pid
got=$?
[ $got -eq 143 ] || note "interrupted: exit code $got, not 143"
[ -z "$(ls -A tmp)" ] || note "interrupted: left behind: $(ls tmp)"

finish "glslines bench"
