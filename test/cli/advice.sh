# Warnings of results that look wrong although nothing failed: each names the option to turn, stands in the sidecar, and comes with -q, too. Sourced by run.sh.
few="--nseeds 300 --sphere small --force"

# changed FROM TO EXPRESSION: a mask whose voxels, bytes, are changed
changed() {
    python3 - "$@" <<'PYTHON'
import gzip, sys
data = gzip.open(sys.argv[1]).read()
open(sys.argv[2], "wb").write(data[:352] + bytes(eval(sys.argv[3]) for v in data[352:]))
PYTHON
}

# warns TEXT ARGUMENTS...: a run that warns of this, on the screen and in the sidecar
warns() {
    text=$1
    shift
    succeeds track "$@" $few -q -o w.trx
    grep -q "^glslines: warning: .*$text" "$work/stderr" || note "no warning of '$text': $*"
    python3 -c 'import json, sys; assert any(sys.argv[2] in line for line in json.load(open(sys.argv[1]))["warnings"])' "$work/out/w.json" "$text" ||
        note "the sidecar has no warning of '$text'"
}

changed "$mask" "$work/all.nii" 1
changed "$roi" "$work/labels.nii" '2 * v'
# a run as it should be warns of nothing
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -q -o w.trx
[ ! -s "$work/stderr" ] || note "a run as it should be warns"
warns "covers the whole grid" "$dwi" "$bval" "$bvec" "$work/all.nii" "$roi"
warns "neither 0 nor 1 (one is 2)" "$dwi" "$bval" "$bvec" "$mask" "$work/labels.nii"
warns "of the seed mask are at or below --fa-threshold" "$dwi" "$bval" "$bvec" "$mask" "$mask"
warns "--response-fa or" "$dwi" "$bval" "$bvec" "$mask" "$roi" --model csd --response-fa 0 --response-radius 0
warns "were cut at --max-length 30 mm" "$dwi" "$bval" "$bvec" "$mask" "$roi" --max-length 30
# the same brain with voxels of 20 mm
"$tool" phantom "$work/giant" --shape 18 20 18 --voxel-size 20 --directions 30 -q
warns "are longer than 250 mm" "$work/giant/dwi.nii.gz" "$work/giant/dwi.bval" "$work/giant/dwi.bvec" "$work/giant/mask.nii.gz" "$work/giant/roi.nii.gz" --max-length 10000
