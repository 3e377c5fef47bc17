#!/bin/sh
# Tests of glslines score: score.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
set -u
tool=$1
work=$2
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
failures=0

# expect CODE ARGUMENTS...
expect() {
    code=$1
    shift
    "$tool" score "$@" > stdout 2> stderr
    got=$?
    [ $got -eq "$code" ] && return
    failures=$((failures + 1))
    echo "FAIL: score $*: exit code $got, not $code"
    head -n 5 stderr
}

expect 2 --model csd --dg boot
expect 2 --sh-order 5
expect 2 --model mrtrix
expect 2 --min-radius-of-curvature 0
expect 2 --probe-length -1mm
expect 5 --device no-such-device
expect 0 -q --nseeds 400 --model opdt --dg boot --json boot.json --bundles
grep -q '^opdt  boot' stdout && grep -q '^cingulum_left ' stdout || { failures=$((failures + 1)); echo "FAIL: no table"; cat stdout; }
expect 4 -q --nseeds 400 --model opdt --dg boot --json boot.json
expect 0 -q --nseeds 400 --model opdt --dg boot --json again.json
expect 0 -q --nseeds 400 --model csd --dg det --max-angle 45 --min-length 10 --json det.json
expect 0 -q --nseeds 300 --model csd --dg ptt --sh-order 8 --json ptt.json
expect 0 -q --nseeds 300 --model csd --dg ptt --sh-order 8 --min-radius-of-curvature 12mm --json stiff.json
python3 - <<'END' || failures=$((failures + 1))
import json

boot, again, det = (json.load(open(name))["methods"] for name in ("boot.json", "again.json", "det.json"))
for methods in (boot, again, det):
    (m,) = methods
    assert m["valid"] + m["wrong_path"] + m["invalid_connections"] + m["no_connections"] == m["streamlines"], m
    assert sum(b["valid"] for b in m["bundles"]) == m["valid"]
    assert sum(b["valid"] > 0 for b in m["bundles"]) == m["valid_bundles"]
    assert len(m["bundles"]) == m["bundles_in_phantom"] >= 8
    for b in m["bundles"]:
        assert b["voxels_found"] <= b["voxels"] and abs(b["overlap"] - b["voxels_found"] / b["voxels"]) < 1e-12
        assert b["valid"] > 0 or b["voxels_found"] == b["voxels_beyond"] == b["f1"] == 0
    # a tracker that follows the phantom at all finds most of its bundles
    assert m["valid"] > 0.5 * m["streamlines"] and m["valid_bundles"] > 20, m
    m.pop("seconds")
assert boot == again
# curves of 12 mm at the sharpest do not follow most bundles
ptt, stiff = (json.load(open(name))["methods"][0] for name in ("ptt.json", "stiff.json"))
assert ptt["valid_bundles"] > 20 and ptt["valid"] > 0.6 * ptt["streamlines"] > 1.2 * stiff["valid"], (ptt, stiff)
END
[ $failures -eq 0 ] && echo "ok   glslines score"
exit $failures
