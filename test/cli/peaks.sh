#!/bin/sh
# Tests of images of peaks: peaks.sh TOOL WORK_DIR. The command peaks; --peaks with --dg fact and eudx. Needs a device (a software renderer will do), python3
# and numpy and nibabel, without which the parts that write images are left out.
. "$(dirname "$0")/common.sh"

# says TEXT: checks that the last message has the text
says() {
    grep -qF -e "$1" stdout stderr || note "no '$1'"
}

expect 0 phantom data --shape 30 36 30 --voxel-size 3 -q
expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz fod --model csd --sh-order 6 -q
expect 0 peaks fod_sh.nii.gz -o peaks.nii.gz
says "peaks.nii.gz:"
expect 4 peaks fod_sh.nii.gz -o peaks.nii.gz
expect 0 peaks fod_sh.nii.gz -o one.nii.gz --number 1 --threshold 0.2 -q
expect 2 peaks fod_sh.nii.gz
says "--output"
expect 2 peaks fod_sh.nii.gz -o peaks.tck
expect 3 peaks data/dwi.nii.gz -o none.nii.gz
says "SH order"
expect 4 peaks fod_sh.nii.gz -o fod_sh.nii.gz --force

# fact takes a voxel without coefficients for the outside of the image, one whose ODF is nowhere above 0 for a voxel without a direction
python3 - <<'END'
import gzip, struct
import array

raw = gzip.open("fod_sh.nii.gz").read()
nx, ny, nz, nv = struct.unpack_from("<4h", raw, 42)
start = int(struct.unpack_from("<f", raw, 108)[0])
assert struct.unpack_from("<h", raw, 70)[0] == 16
for name, value in (("zero", 0), ("below", -0.001)):
    data = array.array("f", raw[start:])
    for v in range(nv):
        for z in range(nz):
            for y in range(ny // 2 - 2, ny // 2 + 2):
                for x in range(nx):
                    data[((v * nz + z) * ny + y) * nx + x] = value if v == 0 else 0
    open(name + ".nii", "wb").write(raw[:start] + data.tobytes())
END
for name in zero below; do expect 0 track --sh $name.nii --mask data/mask.nii.gz --roi data/roi.nii.gz --dg fact --nseeds 300 -o $name.tck -q; done
python3 - <<'END' || note "ends at voxels without a peak"
import json

zero, below = (json.load(open(name + ".json"))["counts"]["half_streamline_ends"] for name in ("zero", "below"))
assert zero["outside"] > 20 and below["outside"] == 0, (zero, below)
assert below["no_direction"] == zero["no_direction"] + zero["outside"], (zero, below)
END
rm zero.* below.*

# vectors that fit wrote, and names of dtifit, are read along their axes without a message
expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz tensor --no-model --tensor-maps -q
cp one.nii.gz dti_V1.nii.gz
for file in tensor_v1.nii.gz:image tensor_v3.nii.gz:image dti_V1.nii.gz:fsl one.nii.gz:world; do
    expect 0 track --peaks "${file%:*}" --mask data/mask.nii.gz --roi data/roi.nii.gz --dg fact --nseeds 100 -o f.tck --force -q
    python3 -c 'import json, sys; assert json.load(open("f.json"))["odf"]["frame"] == sys.argv[1]' "${file#*:}" || note "$file"
done
rm -f f.tck f.json

# a signal while peaks are found: no output, and no success (SIGINT is ignored in the background of a script)
for words in "peaks fod_sh.nii.gz -o late.nii.gz" "fixels fod_sh.nii.gz late"; do
    # shellcheck disable=SC2086
    "$tool" $words -q > stdout 2> stderr &
    sleep 0.3
    if kill -TERM $! 2> kill.txt; then
        checks=$((checks + 1))
        wait $!
        code=$?
        [ $code -eq 143 ] || note "$words: told to end: exit code $code, not 143"
        [ -z "$(ls -d late* 2> ls.txt)" ] || note "$words: told to end left $(echo late*)"
    else
        echo "$words: ended before the signal"
        rm -r late*
    fi
done

# On a software renderer fact stores a half as runs, which the host packs; on a GPU as points, which a kernel packs. Both must give the same
# bytes, also where the pool runs full.
forms() {
    for limits in storage_bytes=262144 software=0; do
        checks=$((checks + 1))
        GLSLINES_FORCE_LIMITS=$limits "$tool" track --peaks peaks.nii.gz --mask data/mask.nii.gz --roi data/roi.nii.gz --dg fact --nseeds 150 -q --force -o $limits.tck "$@" > stdout 2> stderr ||
            note "$limits, fact $*: failed"
    done
    cmp -s storage_bytes=262144.tck software=0.tck || note "fact $*: runs and points differ"
}
forms --step-size 0.012 --max-length 40mm --chunk-size 60
forms --step-size 0.9 --fa fod_fa.nii.gz
forms --max-angle 20 --exclude 0,0,20,6 --include 0,-20,10,60 --retries 1

track="track --device llvmpipe --mask data/mask.nii.gz --roi data/roi.nii.gz --nseeds 400"
# shellcheck disable=SC2086
{
    # errors
    expect 2 $track --peaks peaks.nii.gz --dg prob -o x.tck
    says "--dg prob: cannot use --peaks: take --dg fact, eudx or bedpost"
    expect 2 $track --peaks peaks.nii.gz --sh fod_sh.nii.gz -o x.tck
    says "exclude each other"
    expect 2 $track --peaks-values peaks.nii.gz -o x.tck
    expect 2 $track --sh fod_sh.nii.gz --peaks-frame fsl -o x.tck
    says "--peaks-frame: needs --peaks FILE"
    expect 2 $track --peaks peaks.nii.gz --model csd -o x.tck
    says "--model: has no effect with --peaks"
    expect 2 $track --peaks peaks.nii.gz --backtrack -o x.tck
    expect 2 $track --peaks peaks.nii.gz --weights -o x.tck
    says "run 'glslines weights TRACKS FOD'"
    expect 2 $track --peaks peaks.nii.gz --trials 5 -o x.tck
    expect 3 $track --peaks fod_sh.nii.gz -o x.tck
    says "fod_sh.nii.gz: has 28 volumes: an image of peaks has three for each peak (x, y and z of a vector), or four (of a unit vector, and an amplitude)"
    expect 3 $track --peaks peaks.nii.gz --peaks-values fod_fa.nii.gz -o x.tck
    says "--peaks-values: 1 volumes, but --peaks has 3 peaks"
    cp peaks.nii.gz peaks.pam5
    expect 3 $track --peaks peaks.pam5 -o x.tck
    says "pam_to_niftis"

    # images of peaks that have as many volumes as SH coefficients, and the reverse
    for n in 2 3 5 12; do
        expect 0 peaks fod_sh.nii.gz -o of_$n.nii.gz --number $n -q
        expect 3 $track --sh of_$n.nii.gz --dg ifod2 -o x.tck
        says "of_$n.nii.gz: holds no SH coefficients"
    done
    for words in "peaks of_2.nii.gz -o x.nii.gz" "fixels of_5.nii.gz x" "weights x.tck of_5.nii.gz -o x.txt"; do
        [ -e x.tck ] || expect 0 $track --peaks one.nii.gz -o x.tck
        expect 3 $words
        says "'glslines track --peaks FILE'"
    done
    rm x.*
    expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz low --model csd --sh-order 4 -q
    expect 0 $track --peaks low_sh.nii.gz -o doubt.tck
    says "low_sh.nii.gz: may hold SH coefficients instead of peaks"
    expect 0 $track --sh fod_tensor.nii.gz --dg ifod2 -o doubt.tck --force
    says "fod_tensor.nii.gz: may be an image of tensors"
    expect 0 $track --peaks fod_tensor.nii.gz -o doubt.tck --force
    says "fod_tensor.nii.gz: may be an image of tensors instead of two peaks"
    # a series, a colour map, a map of one volume, and images without a value
    python3 - << 'END'
import gzip, struct

def image(name, volumes, value):
    head = bytearray(gzip.open("fod_fa.nii.gz").read()[:352])
    n = struct.unpack_from("<3h", head, 42)
    struct.pack_into("<2h", head, 40, 4, n[0])
    struct.pack_into("<h", head, 48, volumes)
    struct.pack_into("<2h", head, 70, 16, 32)
    open(name, "wb").write(head + struct.pack("<f", value) * (n[0] * n[1] * n[2] * volumes))

image("series.nii", 15, 100)
image("colours.nii", 3, 0.5)
image("nan.nii", 6, float("nan"))
image("zero.nii", 6, 0)
# the peaks as DIPY writes them: x, y, z, n, 3, so that x of all peaks comes first
whole = gzip.open("peaks.nii.gz").read()
head, values = bytearray(whole[:352]), whole[352:]
struct.pack_into("<h", head, 40, 5)
struct.pack_into("<2h", head, 48, 3, 3)
size = len(values) // 9
open("five.nii", "wb").write(head + b"".join(values[v * size:(v + 1) * size] for v in (0, 3, 6, 1, 4, 7, 2, 5, 8)))
END
    for words in "--sh series.nii --dg ifod2:may be a series: none of its 15 volumes is ever negative" \
        "--peaks series.nii:may be a series instead of peaks" "--peaks colours.nii:may be a colour map instead of peaks"; do
        expect 0 $track ${words%%:*} -o doubt.tck --force -q
        says "${words#*:}"
    done
    for words in "$track --sh fod_fa.nii.gz --dg ifod2 -o x.tck" "render --odf fod_fa.nii.gz -o x.png"; do
        expect 3 $words
        says "fod_fa.nii.gz: has one volume, as a map of FA"
    done
    for name in nan zero; do
        for words in "$track --sh $name.nii --dg ifod2 -o x.tck" "peaks $name.nii -o x.nii" "render --odf $name.nii -o x.png"; do
            expect 3 $words
            says "$name.nii: has no ODF: all values are 0 or not finite"
        done
    done
    for model in csd opdt csa; do
        expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz true --model $model --force -q
        expect 0 peaks true_sh.nii.gz -o true.nii.gz --number 5 --force -q
        [ ! -s stderr ] || note "coefficients of $model are doubted"
        expect 0 $track --sh true_sh.nii.gz --dg ifod2 -o true.tck --force -q
        ! grep "may " stderr || note "coefficients of $model are doubted"
        expect 0 $track --peaks true.nii.gz -o true.tck --force -q
        ! grep "may " stderr || note "peaks of $model are doubted"
    done
    expect 0 peaks fod_sh.nii.gz -o nothing.nii.gz --threshold 1000
    expect 3 $track --peaks nothing.nii.gz -o x.tck
    says "nothing.nii.gz: has no peak: all values are 0"
    expect 0 $track --peaks peaks.nii.gz --max-angle 1 --min-length 90 -o steep.tck
    says "lower --cutoff; check --peaks-frame"

    # TractSeg's TOM: one peak a voxel along an arc, the mask of the bundle, and both of its ends
    python3 "$here/bedpost.py" tom || note "the TOM was not written"
    expect 0 track --device llvmpipe --peaks tom.nii --mask tom_mask.nii --roi tom_mask.nii --include tom_b.nii --include tom_e.nii \
        --min-length 40 --max-length 250 --select 200 -o tom.tck
    python3 "$here/bedpost.py" arc tom.tck || note "streamlines along the TOM"
    # TractSeg's own tracking: noise in each step, against a walk by its rule
    noisy="--peaks tom.nii --mask tom_mask.nii --roi tom_mask.nii --include-end tom_b.nii --include-end tom_e.nii --min-length 28 --max-length 280 --step-size 0.7 --max-angle 90"
    expect 0 track --device llvmpipe $noisy --step-noise 0.15 --nseeds 2000 --precision float -o noise.tck
    python3 "$here/bedpost.py" noise noise.tck 2000 || note "steps with noise"
    contains noise.json '"probabilistic"'
    expect 0 track --device llvmpipe $noisy --step-noise 0.3mm --nseeds 2000 --precision float -o noise_chunks.tck --chunk-size 37
    same noise.tck noise_chunks.tck
    expect 2 track --device llvmpipe $noisy --step-noise 0.15 --nseeds 20 --dg eudx -o y.tck
    says "--step-noise: only --dg fact can use it"

    for dg in fact eudx; do
        expect 0 $track --peaks peaks.nii.gz --dg $dg -o $dg.tck --density $dg.nii.gz --report $dg.html
        expect 0 $track --peaks peaks.nii.gz --dg $dg -o $dg.chunks.tck --chunk-size 37 --sidecar none
        expect 0 $track --peaks peaks.nii.gz --dg $dg -o $dg.group.tck --mapping group --sidecar none
        same $dg.tck $dg.chunks.tck
        same $dg.tck $dg.group.tck
        for i in 1 2 3; do expect 0 $track --peaks peaks.nii.gz --dg $dg --shard $i/3 -o $dg.part.trx; done
        expect 0 $track --peaks peaks.nii.gz --dg $dg -o $dg.whole.trx
        expect 0 merge $dg.part_shard-*.trx -o $dg.merged.trx
        expect 0 info $dg.merged.trx
        # a run with the same peaks is skipped, a run with other peaks is not
        expect 0 $track --peaks peaks.nii.gz --dg $dg -o $dg.whole.trx --skip-existing
        says "nothing to do"
        expect 4 $track --peaks one.nii.gz --dg $dg -o $dg.whole.trx --skip-existing
        says "another peaks"
        expect 0 $track --peaks peaks.nii.gz --dg $dg --dry-run
        says "peaks       peaks.nii.gz, world axes"
        expect 0 $track --peaks peaks.nii.gz --dg $dg --act data/5tt.nii.gz -o $dg.act.tck
        expect 0 $track --peaks peaks.nii.gz --dg $dg --select 50 --resume -o $dg.some.tck
        expect 0 $track --peaks peaks.nii.gz --dg $dg --include 0,0,0,12 -o $dg.region.tck
        # the same peaks, reached by another path
        expect 0 $track --sh fod_sh.nii.gz --dg $dg -o $dg.own.tck
        expect 0 cite $dg.tck
    done
    expect 0 $track --peaks five.nii --dg fact -o five.tck
    same fact.tck five.tck
    expect 3 $track --sh five.nii --dg ifod2 -o x.tck
    says "five.nii: has 5 dimensions (dimension 5 is 3), but at most 4 can be used"
    # images of one peak and of two peaks are joined to one of three; amplitudes that are given
    expect 0 $track --peaks one.nii.gz --dg fact -o one.tck
    expect 0 $track --peaks one.nii.gz --peaks one.nii.gz --dg fact -o twice.tck
    same one.tck twice.tck
    expect 0 $track --peaks one.nii.gz --peaks-values fod_fa.nii.gz --cutoff 0.3 -o valued.tck
    expect 0 $track --peaks one.nii.gz --peaks-frame fsl -o mirrored.tck
    cp one.nii.gz dyads1.nii.gz
    expect 0 $track --peaks dyads1.nii.gz -o dyads.tck
    same mirrored.tck dyads.tck
    # the phantom's truth: four volumes a peak
    expect 0 $track --peaks data/peaks.nii.gz --cutoff 0.3 -o truth.tck
    # a seed without a peak
    expect 0 $track --peaks one.nii.gz --cutoff 1000 -o none.tck
    says "amplitudes may be below --cutoff (--seed-cutoff 1000): lower it"
    # amplitudes that are nowhere above 0
    for value in nan -1; do
        python3 - $value << 'END'
import gzip, struct, sys
head = bytearray(gzip.open("data/mask.nii.gz").read()[:352])
struct.pack_into("<2h", head, 70, 16, 32)
n = 1
for size in struct.unpack_from("<3h", head, 42):
    n *= size
open("bad_values.nii", "wb").write(head + struct.pack("<f", float(sys.argv[1])) * n)
END
        expect 3 $track --peaks one.nii.gz --peaks-values bad_values.nii -o x.tck
        says "bad_values.nii: no peak has an amplitude above 0"
    done
}
python3 - <<'END' || failures=$((failures + 1))
import json


def sidecar(name):
    return json.load(open(name + ".json"))


for dg, step, cutoff, directions in (("fact", 0.3, 0.1, 1), ("eudx", 0.5, 0.0239, 5)):
    s = sidecar(dg)
    p, counts = s["parameters"], s["counts"]
    assert abs(p["step_size_mm"] - step) < 1e-9 and p["cutoff"] == cutoff and p["max_angle_degrees"] == 60, p
    assert p["max_directions_per_seed"] == directions and p["peaks"] == ["peaks.nii.gz"] and p["peaks_frame"] == "auto", p
    assert p["pmf_threshold"] is None and p["sh_basis"] is None and p["model"] is None, p
    assert s["TractographyMethod"] == "deterministic" and s["odf"]["source"] == "peaks" and s["odf"]["peaks_per_voxel"] == 3
    assert s["inputs"]["peaks"]["path"] == "peaks.nii.gz", s["inputs"]
    assert counts["streamlines"] > 80, counts
    assert counts["half_streamline_ends"]["stop_map"] == 0, counts
    merged, whole = sidecar(dg + ".merged"), sidecar(dg + ".whole")
    assert merged["counts"] == whole["counts"]
    assert sidecar(dg + ".some")["counts"]["streamlines"] == 50
    assert sidecar(dg + ".own")["counts"]["streamlines"] > 0.9 * counts["streamlines"]
assert sidecar("truth")["odf"]["peaks_per_voxel"] == 3 and sidecar("truth")["counts"]["streamlines"] > 80
assert sidecar("none")["counts"]["streamlines"] == 0
assert sidecar("mirrored")["lengths"]["mean_mm"] != sidecar("one")["lengths"]["mean_mm"]
assert sidecar("peaks.nii")["counts"]["peaks"] > sidecar("one.nii")["counts"]["peaks"] > 500
END
finish "peaks"
