#!/bin/sh
# Tests of glslines score: score.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 2 score --model csd --dg boot
expect 2 score --dg seedtest
says "--dg seedtest: makes no step, so that nothing is scored: take any other getter"
expect 2 score --sh-order 5
expect 2 score --model mrtrix
expect 2 score --min-radius-of-curvature 0
expect 2 score --probe-length -1mm
expect 5 score --device no-such-device
expect 0 score -q --nseeds 400 --model opdt --dg boot --json boot.json --bundles
grep -q '^opdt  boot' stdout && grep -q '^cingulum_left ' stdout || note "no table"
expect 4 score -q --nseeds 400 --model opdt --dg boot --json boot.json
expect 0 score -q --nseeds 400 --model opdt --dg boot --json again.json
expect 0 score -q --nseeds 400 --model csd --dg det --max-angle 45 --min-length 10 --json det.json
expect 0 score -q --nseeds 300 --model csd --dg ptt --sh-order 8 --json ptt.json
expect 0 score -q --nseeds 300 --model csd --dg ptt --sh-order 8 --min-radius-of-curvature 12mm --json stiff.json
expect 0 score -q --nseeds 300 --model csd --dg prob --json default.json
expect 0 score -q --nseeds 300 --model csd --dg prob --sh-order 8 --max-angle 25 --fa-threshold 0.15 --min-length 10 --json named.json
expect 0 score -q --nseeds 300 --model csd --dg prob --preset gpustreamlines --json before.json
expect 0 score -q --nseeds 300 --model csd --dg sdstream --preset tckgen --json preset.json
expect 0 score -q --nseeds 300 --model csd --dg sdstream --csd-rule mrtrix --json rule.json
expect 0 score -q --nseeds 300 --model csd --dg sdstream --preset tckgen --csd-rule dipy --json other.json
expect 2 score -q --nseeds 10 --dg ifod2 --pft
expect 0 score -q --nseeds 300 --pft --json pft.json
python3 - <<'END' || note "scores"
import json

default, named, before = (json.load(open(name))["methods"][0] for name in ("default.json", "named.json", "before.json"))
for m in (default, named, before):
    m.pop("seconds")
preset, rule, other = (json.load(open(name + ".json"))["methods"][0] for name in ("preset", "rule", "other"))
for m in (preset, rule, other):
    m.pop("seconds")
assert preset == rule != other, (preset, rule, other)
assert default == named and default["invalid_connections"] < 0.5 * before["invalid_connections"], (default, named, before)

pft = json.load(open("pft.json"))["methods"]
assert [m["dg"] for m in pft] == ["prob", "det"] and all(m["valid"] > 0.35 * m["streamlines"] for m in pft), pft
assert pft[0]["streamlines"] != default["streamlines"], pft

boot, again, det = (json.load(open(name))["methods"] for name in ("boot.json", "again.json", "det.json"))
for methods in (boot, again, det):
    (m,) = methods
    assert m["valid"] + m["wrong_path"] + m["invalid_connections"] + m["no_connections"] == m["streamlines"], m
    assert sum(b["valid"] for b in m["bundles"]) == m["valid"]
    assert sum(b["valid"] > 0 for b in m["bundles"]) == m["valid_bundles"]
    assert len(m["bundles"]) == m["bundles_in_truth"] >= 8
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
finish "glslines score"
