# Warnings of results that look wrong although nothing failed: each names the option to turn, stands in the sidecar, and comes with -q, too. Sourced by run.sh.
few="--nseeds 300 --sphere small --force"
method="--model opdt"

# changed FROM TO EXPRESSION: writes a mask whose voxels (bytes) are changed
changed() {
    python3 - "$@" <<'PYTHON'
import gzip, sys
data = gzip.open(sys.argv[1]).read()
open(sys.argv[2], "wb").write(data[:352] + bytes(eval(sys.argv[3]) for v in data[352:]))
PYTHON
}

# warns TEXT ARGUMENTS...: checks that a run warns of this, on the screen and in the sidecar
warns() {
    text=$1
    shift
    succeeds track "$@" $few $method -q -o w.trx
    grep -q "^glslines: warning: .*$text" "$work/stderr" || note "no warning of '$text': $*"
    python3 -c 'import json, sys; assert any(sys.argv[2] in line for line in json.load(open(sys.argv[1]))["warnings"])' "$work/out/w.json" "$text" ||
        note "the sidecar has no warning of '$text'"
}

changed "$mask" "$work/all.nii" 1
changed "$roi" "$work/labels.nii" '2 * v'
# a normal run has no warning
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few $method -q -o w.trx
[ ! -s "$work/stderr" ] || note "a run as it should be warns"
warns "covers the whole grid" "$dwi" "$bval" "$bvec" "$work/all.nii" "$roi"
warns "neither 0 nor 1 (one is 2)" "$dwi" "$bval" "$bvec" "$mask" "$work/labels.nii"
warns "of the seed mask are at or below --fa-threshold" "$dwi" "$bval" "$bvec" "$mask" "$mask"
# a map of FA in other units ends no streamline, and is warned of; a map in the right units, or a mask of one value, is not
python3 - "$mask" "$work/fa.nii" "$work/mask255.nii" <<'PYTHON'
import gzip, struct, sys
data = gzip.open(sys.argv[1]).read()
head = bytearray(data[:352])
struct.pack_into("<2h", head, 70, 4, 16)  # int16
values = data[352:]
open(sys.argv[2], "wb").write(head + struct.pack(f"<{len(values)}h", *[v * (100 + i % 800) for i, v in enumerate(values)]))
open(sys.argv[3], "wb").write(head + struct.pack(f"<{len(values)}h", *[255 * v for v in values]))
PYTHON
warns "fa.nii: has values up to 899, FA goes to 1: --fa-threshold 0.1 " "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$work/fa.nii"
for words in "--fa $work/fa.nii --fa-threshold 150" "--fa $work/mask255.nii"; do
    # shellcheck disable=SC2086
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few $method -q -o w.trx $words
    ! grep -q "FA goes to 1" "$work/stderr" || note "a warning of units: $words"
done
# NaN in the stop map ends streamlines: a warning if seeds or the mask have it, an error if the whole mask has it
python3 - "$mask" "$roi" "$work" <<'PYTHON'
import gzip, struct, sys
mask, roi = (gzip.open(name).read() for name in sys.argv[1:3])
head = bytearray(mask[:352])
struct.pack_into("<2h", head, 70, 16, 32)  # float32
nan, inf = float("nan"), float("inf")
for name, values in (("nan_seeds", [nan if r else 0.5 for r in roi[352:]]), ("nan_most", [0.5 if r else nan for r in roi[352:]]),
                     ("nan_around", [0.5 if m else nan for m in mask[352:]]), ("nan_mask", [inf if m and i % 2 else nan for i, m in enumerate(mask[352:])])):
    open(f"{sys.argv[3]}/{name}.nii", "wb").write(head + struct.pack(f"<{len(values)}f", *values))
PYTHON
warns "nan_seeds.nii: is NaN or infinite in 100 % of the voxels of the seed mask" "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$work/nan_seeds.nii"
warns " % of the voxels of the mask, where it counts as 0" "$dwi" "$bval" "$bvec" "$mask" "$roi" --fa "$work/nan_most.nii"
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few $method -q -o w.trx --fa "$work/nan_around.nii"
! grep -q NaN "$work/stderr" || note "a warning of a map that is NaN outside the mask"
rm "$work"/out/*
fails 3 "nan_mask.nii: is NaN or infinite in every voxel of the mask" track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few $method -o w.trx --fa "$work/nan_mask.nii"
# every command warns, without -v, if the two forms of a header swap left and right
python3 - "$mask" "$work/flipped.nii" <<'PYTHON'
import gzip, struct, sys
data = bytearray(gzip.open(sys.argv[1]).read())
struct.pack_into("<2h", data, 252, 1, 1)
struct.pack_into("<f", data, 76, -struct.unpack_from("<f", data, 76)[0])  # qfac: reverses the third axis
open(sys.argv[2], "wb").write(data)
PYTHON
warns "flipped.nii: the sform has the axes LAS, the qform LAI: one of them is wrong" "$dwi" "$bval" "$bvec" "$work/flipped.nii" "$roi"
# seeds without a signal: a run without streamlines says why, also if directions are fitted at each step
python3 - "$dwi" "$roi" "$work/dark.nii" <<'PYTHON'
import gzip, struct, sys
data, roi = bytearray(gzip.open(sys.argv[1]).read()), gzip.open(sys.argv[2]).read()[352:]
size = struct.unpack_from("<h", data, 72)[0] // 8
for at in range(352, len(data), size):
    if roi[(at - 352) // size % len(roi)]: data[at:at + size] = bytes(size)
open(sys.argv[3], "wb").write(data)
PYTHON
dark="$work/dark.nii $bval $bvec $mask $roi"
for method in "--dg tensordet" "--dg tensorprob"; do
    succeeds track $dark $few $method -q -o w.trx
    grep -q "300 of 300 seeds: no direction" "$work/stderr" || note "no reason for an empty run: $method"
    grep -q "100 % of seeds have no signal, or an FA below 0.1: lower --cutoff" "$work/stderr" || note "no tensor: $method"
done
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few --dg tensordet --cutoff 0.99 -q -o w.trx
grep -q "100 % of seeds have no signal, or an FA below 0.99: lower --cutoff" "$work/stderr" || note "no reason: a cutoff that no seed reaches"
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few --dg eudx --seed-cutoff 0.99 -q -o w.trx
grep -q "100 % of seeds have no signal, or an FA below 0.99: lower --seed-cutoff" "$work/stderr" || note "no reason: a cutoff of eudx"
for method in "eudx" "fact --model csa"; do
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few --dg $method --seed-direction 1,0.07,0.05 --max-angle 1 -q -o w.trx
    grep -q "100 % of seeds: no direction lies within --max-angle of --seed-direction" "$work/stderr" || note "no reason: --seed-direction with $method"
done
succeeds track $dark $few --dg boot --model opdt -q -o w.trx
grep -q " % of seeds have an OPDT without a positive peak" "$work/stderr" || note "no reason for an empty run of boot"
# if the user gives a direction, a peak alone is not enough
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few --dg boot --model opdt --seed-direction 1,0,0 --max-angle 1 -q -o w.trx
grep -q " % of seeds: no direction lies within --max-angle of --seed-direction" "$work/stderr" || note "no reason: --seed-direction"
! grep -q "positive peak" "$work/stderr" || note "--seed-direction: peaks of which nothing is known"
for method in det prob ptt; do
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few --model csd --dg $method --seed-direction 1,0.07,0.05 --max-angle 1 -q -o w.trx
    grep -q " % of seeds: no direction lies within --max-angle of --seed-direction" "$work/stderr" || note "no reason: --seed-direction with $method"
done
method="--model csd"
warns "--response-fa or" "$dwi" "$bval" "$bvec" "$mask" "$roi" --response-fa 0 --response-radius 0
warns "were cut at --max-length 30 mm" "$dwi" "$bval" "$bvec" "$mask" "$roi" --max-length 30
# the same brain with voxels of 20 mm
"$tool" phantom "$work/giant" --shape 18 20 18 --voxel-size 20 --directions 30 -q
warns "are longer than 250 mm" "$work/giant/dwi.nii.gz" "$work/giant/dwi.bval" "$work/giant/dwi.bvec" "$work/giant/mask.nii.gz" "$work/giant/roi.nii.gz" --max-length 10000
