#!/bin/sh
# Tests of --dg ifod2, ifod1 and sdstream: ifod.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

# expect CODE PART_OF_MESSAGE ARGUMENTS...
expect() {
    code=$1 part=$2
    shift 2
    "$tool" "$@" > stdout 2> stderr
    got=$?
    [ $got -eq "$code" ] && { [ -z "$part" ] || grep -qF -e "$part" stdout stderr; } && return
    note "$*: exit code $got, not $code, or no '$part'"
    head -n 5 stderr
}

expect 0 "" phantom data --shape 30 36 30 --voxel-size 3 -q
expect 0 "" fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz fod --model csd --sh-order 6 -q
fod="track --sh fod_sh.nii.gz --mask data/mask.nii.gz --roi data/roi.nii.gz --device llvmpipe --nseeds 300 --force"

# options that a getter does not have, and values that are none
# shellcheck disable=SC2086
{
    expect 2 "--cutoff: only --dg ifod1, ifod2, sdstream, fact, eudx, tensordet, tensorprob, bedpost, and prob, det of FODs can use it" $fod --fa fod_fa.nii.gz --dg ptt --cutoff 0.2
    expect 2 "--samples: only --dg ifod2 can use it" $fod --dg ifod1 --samples 3
    expect 2 "--trials: only --dg ifod1, ifod2 can use it" $fod --dg sdstream --trials 10
    expect 2 "--pmf-threshold: only --dg boot, prob, det, ptt, closest can use it" $fod --dg ifod2 --pmf-threshold 0.1
    expect 2 "--probe-length: only --dg ptt can use it" $fod --dg ifod2 --probe-length 1
    expect 2 "--samples" $fod --dg ifod2 --samples 1
    expect 2 "--cutoff" $fod --dg ifod2 --cutoff -1
    expect 2 "--angular-weight" $fod --dg ifod2 --angular-weight 0.5
    expect 2 "--odf-interpolation: only --dg prob, det, closest can use it" $fod --dg ifod2 --odf-interpolation amplitudes
    expect 2 "--min-length: 400 mm is more than --max-length 300 mm" $fod --dg ifod2 --min-length 400
    expect 2 "--fa" $fod --dg prob
}

# the three getters that read whole ODFs accept --odf-interpolation
for dg in prob det closest; do
    for values in auto coefficients amplitudes; do
        # shellcheck disable=SC2086
        expect 0 "" $fod --fa fod_fa.nii.gz --dg $dg --odf-interpolation $values -o $dg.$values.tck --sidecar none
    done
    same $dg.auto.tck $dg.coefficients.tck
    ! cmp -s $dg.coefficients.tck $dg.amplitudes.tck || { failures=$((failures + 1)) && echo "FAIL: $dg: amplitudes change nothing"; }
done

# no FA is needed; options that are not given have MRtrix3's defaults
for dg in ifod2 ifod1 sdstream; do
    # shellcheck disable=SC2086
    {
        expect 0 "" $fod --dg $dg -o $dg.tck
        expect 0 "" $fod --dg $dg --chunk-size 37 -o $dg.chunks.tck --sidecar none
        expect 0 "" $fod --dg $dg --mapping group -o $dg.group.tck --sidecar none
        for i in 1 2 3; do expect 0 "" $fod --dg $dg --shard $i/3 -o $dg.part.trx; done
        expect 0 "" $fod --dg $dg -o $dg.whole.trx
        expect 0 "" merge ${dg}.part_shard-*.trx -o $dg.merged.trx --force
        expect 0 "cutoff      FOD amplitudes below 0.1" $fod --dg $dg --dry-run
    }
    same $dg.tck $dg.chunks.tck
    same $dg.tck $dg.group.tck
done
# shellcheck disable=SC2086
{
    expect 0 "" $fod --dg ifod2 --fa fod_fa.nii.gz --fa-threshold 0.4 -o fa.tck
    expect 0 "" $fod --dg ifod2 --cutoff 1000 -o none.tck
    expect 0 "" $fod --dg ifod2 --min-length 0 --max-length 500 --samples 3 --power 0.5 --trials 20 -o given.tck
    expect 0 "" $fod --dg sdstream --max-angle 10 -o narrow.tck
}
# a given direction needs a FOD above --seed-cutoff at the seed: along it, or for sdstream along the peak uphill from it
for dg in ifod2 ifod1 sdstream; do
    for cutoff in 0 0.1 1000; do
        # shellcheck disable=SC2086
        expect 0 "" $fod --dg $dg --seed-direction 1,0,0 --seed-cutoff $cutoff -o start.tck
        python3 -c "import json; print(json.load(open('start.json'))['counts']['directions'])" > directions.$cutoff
    done
    [ "$(cat directions.1000)" -eq 0 ] || note "$dg: $(cat directions.1000) directions above a cutoff of 1000"
    [ "$(cat directions.0.1)" -gt 0 ] || note "$dg: no direction above a cutoff of 0.1"
    [ $dg = sdstream ] || [ "$(cat directions.0.1)" -lt "$(cat directions.0)" ] || note "$dg: a cutoff of 0.1 changes nothing"
done
# a map that stands in for a missing stop map is no data: FA is fitted, or required
printf 'bundle\tinclude\nall\t0,0,0,200\n' > all.tsv
cp fod_fa.nii.gz fa.nii.gz
# shellcheck disable=SC2086
{
    expect 2 "--profile: there is no FA without DWI" $fod --dg ifod2 --profile all.tsv:none.csv
    expect 2 "--fa-threshold 300: needs --fa FILE" $fod --dg ifod2 --fa-threshold 300
    expect 2 "--fa-threshold 0.2: needs --fa FILE" track --phantom --dg tensordet --fa-threshold 0.2 --dry-run
    expect 0 "" $fod --dg ifod2 --profile all.tsv:fa.nii.gz:named.csv -o named.trx
    expect 0 "" $fod --dg ifod2 --fa fa.nii.gz --profile all.tsv:given.csv -o given.trx
    # all tissues on a grid of a fifth of the voxels: their fit takes longer than all the rest
    expect 0 "" phantom few --shape 18 20 18 --directions 30 -q
    expect 0 "" fit few/dwi.nii.gz few/dwi.bval few/dwi.bvec few/mask.nii.gz few/fit --no-model -q
    cp few/fit_fa.nii.gz few/fa.nii.gz
    for source in "data . --sh fod_sh.nii.gz" "few few --model msmt" "data . --model csd --sh-order 6"; do
        set -- $source
        from=$1 fa=$2/fa.nii.gz
        shift 2
        expect 0 "" track $from/dwi.nii.gz $from/dwi.bval $from/dwi.bvec $from/mask.nii.gz $from/roi.nii.gz "$@" --dg ifod2 --nseeds 100 --device llvmpipe \
            --profile all.tsv:own.csv -o own.trx --picture own.png -q --force
        expect 0 "" profile own.trx $fa --bundles all.tsv -o own2.csv -q --force
        same own.csv own2.csv
        expect 0 "" render own.trx -o own2.png --image $fa --device llvmpipe -q --force
        same own.png own2.png
    done
}
for table in named given; do
    expect 0 "" profile $table.trx fa.nii.gz --bundles all.tsv -o again.csv -q --force
    same $table.csv again.csv
done
# the earlier run fitted a tensor, this one did not
expect 0 "Improved probabilistic streamlines" cite --format methods ifod2.whole.trx
grep "Streamlines were tracked" stdout | grep -q Basser && note "a tensor is cited that was not fitted"
grep "Orientation distributions were computed" stdout | grep -q Basser || note "the tensor of the fit is not cited"
python3 - <<'END' || failures=$((failures + 1))
import json


def sidecar(name):
    return json.load(open(name + ".json"))


expected = {"ifod2": (1.5, 45), "ifod1": (0.3, 15), "sdstream": (0.3, 60)}
for dg, (step, angle) in expected.items():
    s = sidecar(dg)
    p, counts = s["parameters"], s["counts"]
    assert abs(p["step_size_mm"] - step) < 1e-9 and p["max_angle_degrees"] == angle and p["cutoff"] == 0.1, p
    assert p["min_length_mm"] == 15 and p["max_length_mm"] == 300, p
    assert p["pmf_threshold"] is None and p["max_directions_per_seed"] is None and p["probe_quality"] is None, p
    assert (p["samples"], p["trials"]) == ((4, 1000) if dg == "ifod2" else (None, 1000) if dg == "ifod1" else (None, None)), p
    assert p["power"] == (0.25 if dg == "ifod2" else None)
    assert counts["directions"] <= 300 and counts["half_streamline_ends"]["stop_map"] == 0, counts
    assert counts["streamlines"] > (50 if dg == "sdstream" else 200)
    # steps of ifod2 are arcs, lengths sums of their chords
    assert s["lengths"]["min_mm"] >= (14.7 if dg == "ifod2" else 15), s["lengths"]
    assert s["TractographyMethod"] == ("deterministic" if dg == "sdstream" else "probabilistic")
    merged, whole = sidecar(dg + ".merged"), sidecar(dg + ".whole")
    assert merged["counts"] == whole["counts"] and merged["parameters"]["samples"] == whole["parameters"]["samples"]
    for key, value in whole["lengths"].items():
        found = merged["lengths"][key]
        assert found is None if key == "median_mm" and dg == "ifod2" else abs(found - value) < 1e-6, (dg, key, found, value)
fa, none, given = sidecar("fa"), sidecar("none"), sidecar("given")
assert fa["counts"]["half_streamline_ends"]["stop_map"] > 0
assert none["counts"]["directions"] == 0 and none["counts"]["seeds_without_direction"] == 300, none["counts"]
assert given["parameters"]["min_length_mm"] == 0 and given["parameters"]["power"] == 0.5 and given["parameters"]["samples"] == 3
assert sidecar("own")["model"]["name"] == "csd" and sidecar("own")["counts"]["streamlines"] > 50
assert sidecar("narrow")["lengths"]["mean_mm"] < sidecar("sdstream")["lengths"]["mean_mm"]
END
finish "ifod2, ifod1 and sdstream"
