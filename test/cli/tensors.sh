#!/bin/sh
# Tests of the getters that fit no model: tensors.sh TOOL WORK_DIR. tensordet, tensorprob, eudx of a series, nulldist1, nulldist2 and seedtest beside what
# runs have besides.
# Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

# says TEXT: checks that the last message has the text
says() {
    grep -qF -e "$1" stdout stderr || note "no '$1'"
}

expect 0 phantom data --shape 30 36 30 --voxel-size 3 --bvals 1000 --directions 30 -q
series="data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz"
track="track --device llvmpipe $series --nseeds 300"
# shellcheck disable=SC2086
{
    expect 2 $track --dg tensordet --model csd -o x.tck
    says "--model cannot be used with --dg tensordet, which fits no ODFs"
    expect 2 $track --dg tensordet --pmf-threshold 0.2 -o x.tck
    says "--pmf-threshold: only --dg boot, prob, det, ptt, closest can use it"
    expect 2 $track --dg nulldist1 --rk4 -o x.tck
    says "--rk4: only --dg tensordet, tensorprob can use it"
    expect 2 track --device llvmpipe --sh data/peaks.nii.gz --fa data/roi.nii.gz --roi data/roi.nii.gz --dg tensorprob -o x.tck
    says "--dg tensorprob: fits tensors to the measured signal"
    expect 7 $track --dg tensorprob --backtrack --act data/5tt.nii.gz -o x.tck
    says "--backtrack: the bootstrap of tensorprob"
    expect 2 $track --dg tensordet --weights -o x.trx
    says "--weights: needs fibre orientation distributions"

    for dg in tensordet tensorprob eudx nulldist1 nulldist2 seedtest; do
        expect 0 $track --dg $dg -o $dg.tck --density $dg.nii.gz --report $dg.html
        expect 0 $track --dg $dg -o $dg.whole.trx
        expect 0 $track --dg $dg -o $dg.whole.trx --skip-existing
        says "nothing to do"
        expect 0 $track --dg $dg --dry-run
        says "direction   $dg"
        expect 0 $track --dg $dg --act data/5tt.nii.gz -o $dg.act.tck
        expect 0 $track --dg $dg --select 20 --resume -o $dg.some.tck
        expect 0 $track --dg $dg --include 0,0,0,25 -o $dg.region.tck
        expect 0 cite $dg.tck
    done
    # eudx along the main axes of tensors is eudx along these axes as peaks; with a model or a preset it follows peaks of ODFs, or tensors
    expect 0 fit ${series% *} axes --no-model --tensor-maps -q
    expect 0 track --device llvmpipe --peaks axes_v1.nii.gz --peaks-frame image --peaks-values axes_fa.nii.gz --cutoff 0.2 --mask data/mask.nii.gz \
        --roi data/roi.nii.gz --nseeds 300 --dg eudx -o axes.tck
    same eudx.tck axes.tck
    for i in 1 2; do expect 0 $track --dg eudx --shard $i/2 -o part.trx; done
    expect 0 merge part_shard-*.trx -o merged.trx
    expect 0 convert merged.trx merged.tck
    expect 0 convert eudx.whole.trx again.tck
    same merged.tck again.tck
    # --cache-dir keeps FA and axes; only FA, as another getter stores it, is not enough
    expect 0 $track --dg eudx --cache-dir kept -o kept.tck
    says "cache: kept kept/glslines_axes_"
    rm kept/glslines_axes_*.nii
    for kept in _fa_ _axes_; do
        expect 0 $track --dg eudx --cache-dir kept -o kept.tck --force
        grep -q "cache: .*$kept.* is reused" stderr || note "$kept is not reused"
        same eudx.tck kept.tck
    done
    expect 0 $track --dg eudx --preset dipy -o preset.tck
    same eudx.tck preset.tck
    expect 0 $track --dg eudx --model csa -o peaks_of_csa.tck
    says "model csa (given), direction getter eudx"
    expect 0 $track --dg eudx --cutoff 0.3 -o short.tck
    expect 2 $track --dg eudx --sh-order 6 -o x.tck
    says "--sh-order cannot be used with --dg eudx, which fits no ODFs: give --model csd"
    expect 0 $track --dg eudx --sh-order 4 --model csd --dry-run
    says "cutoff      peaks of amplitudes below"
    expect 0 $track --dg eudx --dry-run
    says "method: direction getter eudx along the main axes of tensors (given)"
    says "direction   eudx along the main axes of tensors, step"
    says "cutoff      FA of the tensor below 0.2"
    expect 0 $track --dg tensorprob --rng-seed 1 -o other.tck
    cmp -s tensorprob.tck other.tck && note "tensorprob draws nothing"
    expect 0 $track --dg tensordet --rk4 -o rk4.tck
    expect 0 $track --dg tensordet --rk4 --step-size 1mm -o long.tck
    # streamlines lie at the same place whichever image gives the grid
    expect 0 track --device llvmpipe --peaks data/peaks.nii.gz --mask data/mask.nii.gz --roi data/roi.nii.gz --nseeds 300 --dg nulldist1 -o peaks.tck
    same nulldist1.tck peaks.tck
    # so does a mask alone, or the seed mask
    expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz grid --model csa --sh-order 2
    for dg in nulldist1 nulldist2 seedtest; do
        for masks in "--mask data/mask.nii.gz --roi data/roi.nii.gz" "--roi data/roi.nii.gz"; do
            run="track --device llvmpipe $masks --nseeds 300 --dg $dg"
            expect 0 $run --sh grid_sh.nii.gz -o grid.tck --force
            expect 0 $run -o alone.tck --report alone.html --density alone.nii.gz --force
            same grid.tck alone.tck
        done
    done
    expect 0 $run -o alone.tck --report alone.html --density alone.nii.gz --skip-existing
    says "nothing to do"
    expect 0 cite alone.tck
    expect 2 track --device llvmpipe --mask data/mask.nii.gz --dg nulldist1 -o none.tck
    says "--mask: needs seeds: give --roi FILE"
    expect 2 track --device llvmpipe --mask data/mask.nii.gz --roi data/roi.nii.gz --dg prob -o none.tck
    says "--mask: needs DWI, or --sh"
    expect 0 score --dg tensordet --nseeds 500
    says "tensordet"
}
python3 - <<'END' || failures=$((failures + 1))
import array
import json
import math
import re


def sidecar(name):
    return json.load(open(name + ".json"))


def mean_length(name):
    """Mean length of the streamlines of a TCK file, by its points."""
    raw = open(name, "rb").read()
    values = array.array("f", raw[int(re.search(rb"file: \. (\d+)", raw)[1]):])
    total, n, last = 0, 0, None
    for i in range(0, len(values) - 2, 3):
        point = values[i:i + 3]
        if math.isinf(point[0]):
            break
        n += math.isnan(point[0])
        total += math.dist(last, point) if last and not math.isnan(point[0]) else 0
        last = None if math.isnan(point[0]) else point
    return total / n


for dg in ("tensordet", "tensorprob", "eudx", "nulldist1", "nulldist2", "seedtest"):
    s = sidecar(dg)
    p, counts = s["parameters"], s["counts"]
    tensors = dg.startswith("tensor")
    assert p["model"] is None and p["sh_order"] is None and p["pmf_threshold"] is None and "model" not in s, p
    assert p["cutoff"] == (0.2 if dg == "eudx" else 0.1 if tensors else None) and (p["rk4"] is False) == tensors, p
    assert s["odf"]["source"] == ("tensors of the series" if tensors or dg == "eudx" else "none"), s["odf"]
    assert s["tensor_fit"] or dg != "eudx"
    assert s["TractographyMethod"] == ("deterministic" if dg in ("tensordet", "eudx", "seedtest") else "probabilistic")
    assert counts["streamlines"] > 200, counts
    assert counts["half_streamline_ends"]["stop_map"] == 0, counts
    assert sidecar(dg + ".some")["counts"]["streamlines"] == 20
    assert 0 < sidecar(dg + ".region")["counts"]["streamlines"] < counts["streamlines"]
    act = sidecar(dg + ".act")
    assert act["counts"]["streamlines"] > 0 and (act["parameters"]["cutoff"] == 0.05) == tensors, act["counts"]
alone = sidecar("alone")
assert list(alone["inputs"]) == ["roi"] and alone["odf"] == {"source": "none"} and "gradients" not in alone, alone["inputs"]
assert sidecar("seedtest")["counts"]["points"] == sidecar("seedtest")["counts"]["streamlines"] == 300
assert sidecar("short")["lengths"]["mean_mm"] < sidecar("eudx")["lengths"]["mean_mm"] and "model" in sidecar("peaks_of_csa")
assert abs(sidecar("rk4")["parameters"]["step_size_mm"] - 0.75) < 1e-9 and abs(sidecar("long")["parameters"]["step_size_mm"] - 1) < 1e-9
for dg in "nulldist1", "nulldist2":  # the steps of nulldist2 are arcs
    assert abs(sidecar(dg)["lengths"]["mean_mm"] - mean_length(dg + ".tck")) < 2e-3, (dg, sidecar(dg)["lengths"], mean_length(dg + ".tck"))
assert abs(sidecar("rk4")["lengths"]["mean_mm"] - sidecar("tensordet")["lengths"]["mean_mm"]) < 2
END
finish "tensors"
