#!/bin/sh
# Tests of glslines bench: bench.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3; peers are replaced by programs of our own.
set -u
tool=$1
work=$2
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
rm -rf "$work"
mkdir -p "$work/tmp" "$work/bin" && cd "$work" || exit 1
work=$PWD
export TMPDIR="$work/tmp"
failures=0

note() {
    failures=$((failures + 1))
    echo "FAIL: $1"
    head -n 5 stderr
}

# expect CODE TEXT ARGUMENTS...: the exit code, TEXT in the one message of a failure, no temporary file left, no JSON after a failure
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
    [ "$(grep -c '^glslines: ' stderr)" -eq 1 ] || note "bench $*: not one message"
    grep '^glslines: ' stderr | grep -qF -e "$text" || note "bench $*: the message does not name '$text'"
    [ ! -e out.json ] || note "bench $*: JSON after a failure"
}

small="--shape 18x20x18 --nseeds 40 --repeat 3 --json out.json"

expect 2 --shape --shape 18x20
expect 2 --shape --shape 8x20x20
expect 2 "'boots'" --dg prob,boots
expect 2 "'many'" --mapping many
expect 2 --device --device llvmpipe,
expect 2 --repeat --repeat 0
expect 2 --nseeds --nseeds 0
expect 2 csd --model csd --dg boot,prob
expect 2 --sh-order --sh-order 5
expect 2 --with-mrtrix --dg boot --with-mrtrix
expect 5 no-such-device --device no-such-device --json out.json
echo kept > there.json
expect 4 there.json --json there.json
[ "$(cat there.json)" = kept ] || note "--json replaced a file without --force"
expect 4 nowhere --json nowhere/out.json
# shellcheck disable=SC2086
TMPDIR="$work/nowhere" expect 4 nowhere $small --dg boot --no-ceilings

# shellcheck disable=SC2086
expect 0 "" $small --mapping auto,single
cat > check.py <<'END'
import json, sys
record = json.load(open("out.json"))
assert record["software"]["name"] == "glslines" and record["command_line"][1] == "bench"
assert record["host"]["cpus_busy_with_others"] >= 0
assert record["host"]["cpu"] and record["host"]["cores"] >= 1 and record["repetitions"] == 3
assert record["grid"]["dimensions"] == [18, 20, 18] and record["data"]["volumes"] == 160
assert all(v > 1e6 for v in record["devices"][0]["ceilings"].values()), record["devices"]
columns = record["columns"]
assert [c["dg"] for c in columns] == ["boot", "boot", "prob", "prob", "det", "det", "ptt", "ptt"], columns
assert [c["mapping"] for c in columns[:2]] == ["auto", "single"]
phases = ["pass_1", "prefix_sum", "pass_2", "gather", "readback"]
for c in columns:
    assert c["seeds"] == 40 and c["streamlines"] > 0 and c["points"] > c["streamlines"], c
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
python3 check.py 2> stderr || note "the JSON is not what it should be"
for row in "pass 1" "prefix sum" "pass 2" gather readback write whole streamlines "mean length" "median length" longest commissural "points/s" "FLOP/s"; do
    grep -q "^$row" stdout || note "no row '$row'"
done

# shellcheck disable=SC2086
expect 0 "" $small --dg prob --no-write --no-ceilings
python3 -c 'import json; r = json.load(open("out.json")); assert not r["file_written"] and r["columns"][0]["file_bytes"] == 0 and "ceilings" not in r["devices"][0]' 2> stderr || note "--no-write"
if [ "$("$tool" devices --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["subgroup_size"])')" -eq 0 ]; then
    expect 7 subgroup --mapping subgroup --dg prob --shape 18x20x18 --nseeds 10 --no-ceilings -q
fi

# peers that are missing, and ones that answer
GLSLINES_PYTHON="$work/no-python" expect 7 no-python --with-dipy --dg prob
GLSLINES_SHARE_DIR="$work/bin" expect 7 bench_dipy.py --with-dipy --dg prob
printf '#!/bin/sh\necho "no module of that name" >&2\nexit 1\n' > bin/python-without
cat > bin/python-with << 'END'
#!/bin/sh
[ "$2" != --check ] || { echo 9.9; exit; }
cd "$2" || exit 1
for file in job.json dwi.nii gradients.txt stop.nii seeds.txt sphere.txt sh.nii; do [ -s $file ] || { echo "no $file" >&2; exit 1; }; done
[ "$(wc -l < seeds.txt)" -eq 40 ] && [ "$(wc -l < gradients.txt)" -eq 160 ] && [ "$(wc -l < sphere.txt)" -eq 362 ] || { echo "wrong counts" >&2; exit 1; }
echo '{"results": [{"name": "LocalTracking", "dg": "boot", "threads": 1, "seeds": 40, "streamlines": 50, "points": 1000, "seconds": 2.0}]}'
END
cat > bin/tckgen << 'END'
#!/bin/sh
[ "$1" != -version ] || { echo "== tckgen 8.7.6 =="; exit; }
[ -s "$1" ] || exit 1
printf 'mrtrix tracks\ndatatype: Float32LE\ncount: 3\nfile: . 80\nEND\n' > "$2"
truncate -s $((80 + 12 * 104)) "$2"
END
chmod +x bin/*
GLSLINES_PYTHON="$work/bin/python-without" expect 7 "no module of that name" --with-dipy --dg prob
# shellcheck disable=SC2086
PATH="$work/bin:$PATH" GLSLINES_PYTHON="$work/bin/python-with" expect 0 "" $small --dg boot,prob --no-ceilings --with-dipy --with-mrtrix --peer-seconds 0.1
cat > peers.py <<'END'
import json
record = json.load(open("out.json"))
dipy, mrtrix = record["peers"][0], record["peers"][1]
assert (dipy["program"], dipy["version"], dipy["points_per_second"], dipy["dg"]) == ("DIPY", "9.9", 500, "boot"), dipy
assert (mrtrix["program"], mrtrix["version"], mrtrix["streamlines"], mrtrix["points"], mrtrix["threads"]) == ("MRtrix3", "8.7.6", 3, 100, 2), mrtrix
assert record["mrtrix_cutoff"] > 0
END
python3 peers.py 2> stderr || note "the peers' figures"
grep -q '^DIPY LocalTracking .* x (' stdout || note "no ratio to DIPY"
printf '#!/bin/sh\n[ "$2" = --check ] && echo 9.9 && exit\nexit 3\n' > bin/python-with
# shellcheck disable=SC2086
GLSLINES_PYTHON="$work/bin/python-with" expect 1 "status 3" $small --dg boot --no-ceilings --with-dipy

# a signal leaves nothing
"$tool" bench --dg ptt --shape 40x52x38 --nseeds 5000 --no-ceilings > stdout 2> stderr &
pid=$!
waited=0
while [ -z "$(ls -A tmp)" ] && [ $waited -lt 200 ]; do sleep 0.1; waited=$((waited + 1)); done
sleep 1
kill -TERM $pid
wait $pid
got=$?
[ $got -eq 143 ] || note "interrupted: exit code $got, not 143"
[ -z "$(ls -A tmp)" ] || note "interrupted: left behind: $(ls tmp)"

[ $failures -eq 0 ] || { echo "$failures checks failed"; exit 1; }
echo ok
