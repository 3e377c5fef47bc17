#!/bin/sh
# A data set with T1 images: `glslines bids --t1 --atlas TEMPLATE,LABELS,...` makes tissue, labels and connectomes in the space of each series, as `track --t1` does for one.
# Usage: sh test/bids/t1.sh GLSLINES WORK_FOLDER [PYTHON]      PYTHON: one with nibabel, pybids and bids-validator-deno; without it they are left out
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../checks.sh"
python=${3:-}
export XDG_CACHE_HOME="$PWD/cache"
mkdir cache head && (cd head && python3 "$here/../cli/head_images.py") || exit 1
gzip -k head/dwi.nii head/brain.nii head/sub-7_T1w.nii

subject() { # FOLDER STEM: a series with its mask
    mkdir -p "data/$1/dwi"
    stem=data/$1/dwi/$2
    cp head/dwi.nii.gz "${stem}_desc-preproc_dwi.nii.gz"
    cp head/dwi.bval "${stem}_desc-preproc_dwi.bval"
    cp head/dwi.bvec "${stem}_desc-preproc_dwi.bvec"
    cp head/brain.nii.gz "${stem}_desc-brain_mask.nii.gz"
}
t1() { # FOLDER NAME
    mkdir -p "data/$1/anat"
    cp head/sub-7_T1w.nii.gz "data/$1/anat/$2.nii.gz"
}
mkdir data
printf '{"Name": "test", "BIDSVersion": "1.10.0", "DatasetType": "derivative", "GeneratedBy": [{"Name": "test"}], "License": "CC0", "Authors": ["a", "b"]}\n' > data/dataset_description.json
subject sub-01/ses-1 sub-01_ses-1_dir-AP
t1 sub-01/ses-1 sub-01_ses-1_T1w
t1 sub-01/ses-2 sub-01_ses-2_T1w
subject sub-02 sub-02_space-ACPC
t1 sub-02 sub-02_space-ACPC_desc-preproc_T1w
t1 sub-02 sub-02_T1w
t1 sub-02 sub-02_space-MNI152NLin2009cAsym_desc-preproc_T1w
subject sub-03 sub-03
atlas=head/tpl-Head_T1w.nii,head/labels.nii,head/mask.nii,head/names.txt
options="--dg tensordet --nseeds 2000 --min-length 20"
bids() { "$program" bids -q data "$@"; }

# --- which T1 image ---
list() { "$program" bids -q data out participant --t1 --list | cut -f 1,6- | tr '\t' ';'; }
list > listed
cat > expected << 'END'
unit;region;t1;state
sub-01_ses-1_dir-AP;interface of grey and white matter;data/sub-01/ses-1/anat/sub-01_ses-1_T1w.nii.gz;ready
sub-02_space-ACPC;interface of grey and white matter;data/sub-02/anat/sub-02_space-ACPC_desc-preproc_T1w.nii.gz;ready
sub-03;;;no T1w image of the participant; without --t1 it is tracked without tissue
END
check "the image of the session; the preprocessed one in the space of the series; none" diff listed expected
mv data/sub-01/ses-1/anat saved
check "of another session" sh -c 'grep -q "ses-2/anat/sub-01_ses-2_T1w.nii.gz;ready" "$1"' - /dev/stdin << END
$(list)
END
t1 sub-01/ses-3 sub-01_ses-3_T1w
exits 3 "several T1 images, such as data/sub-01/ses-2/anat/sub-01_ses-2_T1w.nii.gz and data/sub-01/ses-3/anat/sub-01_ses-3_T1w.nii.gz: --t1 behind -- names one" \
    bids out participant --t1 --participant-label 01 -- $options
rm -r data/sub-01/ses-3
mv saved data/sub-01/ses-1/anat

# --- made, tracked and connected; a participant without a T1 image does not stop the others ---
exits 3 "sub-03_desc-preproc_dwi.nii.gz: no T1w image of the participant" bids out participant --t1 --atlas "$atlas" -- $options
one=out/sub-01/ses-1/dwi/sub-01_ses-1_dir-AP
two=out/sub-02/dwi/sub-02_space-ACPC
for name in desc-5tt_probseg.nii.gz desc-5tt_probseg.json desc-brain_mask.json label-WM_probseg.nii.gz desc-preproc_T1w.nii.gz dwiref.nii.gz seg-labels_dseg.nii.gz seg-labels_dseg.tsv; do
    check "$name" test -s "${one}_space-dwi_$name" -a -s "${two}_$name"
done
for name in to-dwi_mode-image_xfm.txt to-Head_mode-image_xfm.nii.gz; do check "$name" test -s "${one}_from-T1w_$name"; done
check "the name of the space" test -s out/sub-02/dwi/sub-02_from-T1w_to-ACPC_mode-image_xfm.txt
check "no seed mask" test ! -e "${one}_desc-seed_mask.nii.gz"
# the same as anat and track make of one subject
"$program" anat -q data/sub-01/ses-1/anat/sub-01_ses-1_T1w.nii.gz --dwi head/dwi.nii --dwi-mask head/brain.nii --template head/tpl-Head_T1w.nii --template-mask head/mask.nii --labels head/labels.nii,head/names.txt -o alone
for name in desc-5tt_probseg seg-labels_dseg desc-brain_mask; do check "$name by anat" cmp "${one}_space-dwi_$name.nii.gz" alone/sub-01_ses-1_space-dwi_$name.nii.gz; done
"$program" track -q head/dwi.nii --mask head/brain.nii --t1 data/sub-01/ses-1/anat/sub-01_ses-1_T1w.nii.gz --atlas "$atlas" $options -o alone.trx
trx=${one}_tract-wholebrain_track-tensordet_tractogram.trx
check "the tractogram of track" cmp alone.trx "$trx"
"$program" connectome -q alone.trx alone/sub-01_ses-1_space-dwi_seg-labels_dseg.nii.gz alone_relmat.tsv --bids --lut head/names.txt
matrix=${one}_track-tensordet_seg-labels_relmat
check "the matrix of connectome" cmp alone_relmat.tsv "$matrix.tsv"
check "names of all labels" test "$(head -n 1 "$matrix.tsv" | tr '\t' ';')" = ";Left-Cortex;Right-Cortex;White;Left-Thalamus;Right-Thalamus"
check "sources and findings" python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
assert s["verdict"] == "aligned" and s["SpatialReference"].startswith("bids:source:sub-01/ses-1/dwi/") and s["brain"]["dice_with_series_mask"] > 0.9, s
assert s["Sources"][0] == "bids:source:sub-01/ses-1/anat/sub-01_ses-1_T1w.nii.gz" and any("tpl-Head_T1w.nii" in x for x in s["Sources"]), s["Sources"]
t = json.load(open(sys.argv[2]))
assert {"act", "seed_gmwmi"} <= set(t["defaults"]["set_by_bids"]) and "roi" not in t["defaults"]["set_by_bids"], t["defaults"]' "${one}_space-dwi_desc-5tt_probseg.json" "${trx%.trx}.json"
check "the report has the anatomy" grep -q 'id="anatomy">Anatomy<.*' out/sub-01_ses-1_dir-AP_tract-wholebrain_track-tensordet.html
check "and three pictures of it" test "$(sed -n '/id="anatomy"/,/<\/section>/p' out/sub-01_ses-1_dir-AP_tract-wholebrain_track-tensordet.html | grep -o '<img' | wc -l)" -eq 3

# --- again: nothing is made anew; another atlas is ---
stat -c '%n %i %.Y' "$one"* "$two"* > before
exits 3 "no T1w image of the participant" "$program" bids data out participant --t1 --atlas "$atlas" -- $options
check "all is up to date" grep -q '0 tracked, 2 up to date' exits.err
stat -c '%n %i %.Y' "$one"* "$two"* > after
check "and nothing changes" cmp before after
echo x >> "${two}_desc-5tt_probseg.nii.gz"
exits 4 "has changed since glslines bids wrote it" bids out participant --t1 --atlas "$atlas" --participant-label 02 -- $options
check "--force makes it anew" bids out participant --t1 --atlas "$atlas" --participant-label 02 --force -- $options
check "T1 and atlas behind --" bids out participant --participant-label 02 -- $options --t1 'data/sub-{subject}/anat/sub-{subject}_space-ACPC_desc-preproc_T1w.nii.gz' --atlas "$atlas"
exits 4 "tracked with another act" bids out participant --t1 --participant-label 02 -- $options
check "the border of white matter" bids out participant --t1 --atlas "$atlas" --participant-label 02 --force -- $options --boundary
check "its findings" python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["t1_to_series"]["boundary"]["taken"] in (True, False)' "${two}_desc-5tt_probseg.json"
check "tissue without it is made anew" bids out participant --t1 --atlas "$atlas" --participant-label 02 --force -- $options
check "and has no such findings" sh -c '! grep -q boundary "$1"' - "${two}_desc-5tt_probseg.json"
rm -r cache/glslines/anat 2> /dev/null

# --- tables ---
check "group" bids out group
check "connectomes of both" test "$(cut -f 1 out/connectomes_seg-labels.tsv | sort -u | tr '\n' ' ')" = "participant_id sub-01 sub-02 "
check "who has none, and why" grep -q 'sub-03.*no T1w image' out/group.tsv

# --- what does not fit ---
exits 2 "needs --t1" bids out participant --atlas "$atlas"
exits 2 "boundary: needs --t1" bids out participant -- --boundary
exits 2 "is the second template" bids out participant --t1 --atlas "$atlas" --atlas "$atlas"
exits 2 "needs TEMPLATE,LABELS" bids none participant --t1 --atlas head/tpl-Head_T1w.nii, --participant-label 02
exits 2 "t1 and --tissue exclude each other" bids out participant --t1 --tissue
exits 2 "t1 and --transform exclude each other" bids out participant --t1 -- --transform x.txt
exits 2 "names a template before and behind --" bids out participant --t1 --atlas "$atlas" -- --atlas "$atlas"
exits 3 "none.nii" bids none participant --t1 --participant-label 02 --atlas head/none.nii,head/labels.nii -- $options

# --- other readers ---
if [ -n "$python" ]; then
    "$(dirname "$python")/bids-validator-deno" --ignoreWarnings --format json out > validator.json 2> validator.err
    check "the output is valid BIDS" "$python" -c '
import json, sys
errors = [i for i in json.load(open("validator.json"))["issues"]["issues"] if i.get("severity") == "error"]
print(*errors, sep="\n")
sys.exit(bool(errors))'
    check "pybids finds it, and nibabel reads it" "$python" -c '
import warnings
warnings.simplefilter("ignore")
from bids import BIDSLayout
import nibabel, numpy
layout = BIDSLayout("out", validate=False, is_derivative=True)
for subject, space in (("01", "dwi"), ("02", "ACPC")):
    found = layout.get(subject=subject, suffix="probseg", desc="5tt", extension=".nii.gz")
    assert len(found) == 1 and found[0].entities["space"] == space, found
    five = nibabel.load(found[0].path).get_fdata()
    mask = nibabel.load(layout.get(subject=subject, suffix="mask", desc="brain", extension=".nii.gz")[0].path).get_fdata()
    assert numpy.abs(five.sum(axis=3) - mask).max() < 1e-3, subject'
fi
[ $failed -eq 0 ] && echo "all ok"
exit $failed
