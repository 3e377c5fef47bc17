#!/bin/sh
# Files of each participant among the options of track, by entities in braces: peaks, bedpostX, FODs, tissue, masks.
# Usage: sh test/bids/files.sh GLSLINES WORK_FOLDER
. "$(dirname "$0")/../checks.sh"

"$program" phantom data -q --bids 01/1,02/1,01/2,02/2,03 --shape 20 20 16 --voxel-size 5 || exit 1
derived=data/derivatives
for unit in 01/1 01/2 02/1 02/2 03; do
    sub=sub-${unit%/*} ses=
    case $unit in */*) ses=ses-${unit#*/} ;; esac
    name=data/$sub/${ses:+$ses/}dwi/${sub}_${ses:+${ses}_}space-ACPC_desc made=$derived/fits/$sub${ses:+/$ses}
    mkdir -p "$made"
    "$program" fit -q "$name-preproc_dwi.nii.gz" "$name-preproc_dwi.bval" "$name-preproc_dwi.bvec" "$name-brain_mask.nii.gz" "$made/fit" --model csd &&
        "$program" peaks -q "$made/fit_sh.nii.gz" -o "$made/peaks.nii.gz" || exit 1
    # each unit has samples of bedpostX along another direction
    python3 - "$name-brain_mask.nii.gz" "$derived/fsl/$sub${ses:+_$ses}.bedpostX" << 'PY'
import gzip, os, struct, sys
raw, folder = gzip.open(sys.argv[1]).read(), sys.argv[2]
n = len(raw) - 352
os.makedirs(folder)
def write(name, volumes):
    head = bytearray(raw[:352])
    struct.pack_into("<h", head, 40, 4)
    struct.pack_into("<h", head, 48, len(volumes))
    struct.pack_into("<2h", head, 70, 16, 32)
    open(f"{folder}/{name}.nii", "wb").write(head + b"".join(struct.pack("<%df" % n, *v) for v in volumes))
write("nodif_brain_mask", [[float(v > 0) for v in raw[352:]]])
for fibre, of in (1, (1.5, .2 + .3 * (sum(folder.encode()) % 7), .6)), (2, (.3, .1, .2)):
    for name, value in zip(("th", "ph", "f"), of):
        write(f"merged_{name}{fibre}samples", [[value + .01 * k] * n for k in range(5)])
PY
done
bids() { "$program" bids data --no-report "$@"; }
few="--nseeds 60 --device llvmpipe"
peaks="$derived/fits/sub-{subject}/[ses-{session}/]peaks.nii.gz"
stem="sub-02/ses-2/dwi/sub-02_ses-2_space-ACPC"
# direct OUT GETTER OPTIONS...: the tractogram of a unit has the bytes of track
direct() {
    out=$1 getter=$2
    shift 2
    # shellcheck disable=SC2086
    "$program" track -q "$@" --mask "$out/${stem}_desc-stop_mask.nii.gz" --roi "$out/${stem}_desc-seed_mask.nii.gz" -o direct.trx --force $few &&
        cmp direct.trx "$out/${stem}_tract-wholebrain_track-${getter}_tractogram.trx"
}

# shellcheck disable=SC2086
{
    # --- peaks ---
    bids peaks participant --list -- --peaks "$peaks" --dg fact > list.tsv 2> /dev/null
    check "--list shows the files" test "$(cut -f 7 list.tsv | tr '\n' ' ')" = \
        "--peaks $derived/fits/sub-01/ses-1/peaks.nii.gz $derived/fits/sub-01/ses-2/peaks.nii.gz $derived/fits/sub-02/ses-1/peaks.nii.gz $derived/fits/sub-02/ses-2/peaks.nii.gz $derived/fits/sub-03/peaks.nii.gz "
    check "so does --dry-run" test "$("$program" bids data peaks participant --dry-run -- --peaks "$peaks" --dg fact 2> /dev/null)" = "$(cat list.tsv)"
    check "and a state" test "$(cut -f 8 list.tsv | sort | uniq -c | tr -s ' \n' ' ')" = " 5 ready 1 state "
    check "peaks of each participant" bids peaks participant -- --peaks "$peaks" --dg fact $few
    check "the bytes of track, without the series" direct peaks fact --peaks "$derived/fits/sub-02/ses-2/peaks.nii.gz" --dg fact
    check "BIDS_DIR is ." env -C data "$program" bids . ../inside participant --participant-label 02 --no-report -- --peaks "${peaks#data/}" --dg fact $few
    check "a source below BIDS_DIR ." grep -q '"Sources":.*"bids:source:derivatives/fits/sub-02/ses-2/peaks.nii.gz"' inside/${stem}_*_tractogram.json
    check "no source is a file URI" sh -c "! grep -l 'file://' inside/${stem}_*.json"
    check "a source" grep -q '"Sources":.*"bids:source:derivatives/fits/sub-02/ses-2/peaks.nii.gz"' peaks/${stem}_*_tractogram.json
    exits 0 "0 tracked, 5 up to date" bids peaks participant -- --peaks "$peaks" --dg fact $few
    # two pipes cannot be distinguished by their contents
    mkfifo pipe.nii.gz
    exits 3 "pipe.nii.gz: is not a regular file" timeout 60 "$program" bids data piped participant --participant-label 03 --no-report -- --peaks "$peaks" --dg fact --include pipe.nii.gz $few
    rm pipe.nii.gz
    cp $derived/fits/sub-01/ses-1/peaks.nii.gz $derived/fits/sub-02/ses-2/peaks.nii.gz
    exits 4 "sub-02_ses-2_.* tracked with another peaks" bids peaks participant -- --peaks "$peaks" --dg fact $few
    mv $derived/fits/sub-02/ses-2/peaks.nii.gz kept.nii.gz
    check "a file that is missing is told in the list" test "$("$program" bids data peaks participant --list -- --peaks "$peaks" --dg fact | grep -c 'sub-02/ses-2/peaks.nii.gz: no such file$')" -eq 1
    bids some participant --jobs 2 -- --peaks "$peaks" --dg fact $few 2> some.err
    check "its exit code" test $? -eq 3
    check "it is told first" test "$(grep -n 'sub-02_ses-2_.*: --peaks .*sub-02/ses-2/peaks.nii.gz: no such file' some.err | cut -d : -f 1)" -lt "$(grep -n ': tracked' some.err | head -n 1 | cut -d : -f 1)"
    check "the others are tracked" test "$(cut -f 2 some/logs/units.tsv | sort | tr '\n' ' ')" = "failed state tracked tracked tracked tracked "
    mv kept.nii.gz $derived/fits/sub-02/ses-2/peaks.nii.gz
    exits 3 "its name has no entity {session}" bids some participant --participant-label 03 -- --peaks "$derived/fits/sub-{subject}/ses-{session}/peaks.nii.gz" --dg fact $few
    exits 2 "'{subjct': braces enclose one of subject, session" bids some participant -- --peaks "sub-{subjct}.nii.gz" --dg fact
    exits 2 "'{desc': braces" bids some participant -- --peaks "sub-{subject}_desc-{desc}.nii.gz" --dg fact
    exits 2 "'{subject/x.nii.gz': braces" bids some participant -- --peaks "sub-{subject/x.nii.gz" --dg fact

    # --- one file for all participants ---
    one=$derived/fits/sub-01/ses-1
    for option in "--peaks $one/peaks.nii.gz" "--act $one/fit_fa.nii.gz" "--mask $one/fit_fa.nii.gz" "--include $one/fit_fa.nii.gz:1" \
        "--sample $one/fit_fa.nii.gz" "--bedpostx $derived/fsl/sub-03.bedpostX"; do
        exits 2 "is one file for all series, but each needs its own" bids one participant -- $option
    done
    exits 2 "roi and --seed-region exclude each other" bids one participant --seed-region wm -- --roi "sub-{subject}.nii.gz"
    check "of one unit it is its own" bids one participant --unit sub-01_ses-1_space-ACPC -- --peaks $one/peaks.nii.gz --dg fact $few
    check "a response is for all, a sphere is no file" bids shared participant --participant-label 02 -- --response $one/fit_response.txt --model csd --include 0,0,0,30 $few

    # --- bedpostX, with its mask ---
    samples="$derived/fsl/sub-{subject}[_ses-{session}].bedpostX"
    rm data/sub-02/ses-2/dwi/*_desc-brain_mask.nii.gz
    exits 3 "no desc-brain_mask in its space; --mask" bids bedpost participant --participant-label 02 --session-label 2 -- --bedpostx "$samples" --dg bedpost $few
    check "bedpostX of each participant" bids bedpost participant -- --bedpostx "$samples" --mask "$samples/nodif_brain_mask.nii" --dg bedpost $few
    folder=$derived/fsl/sub-02_ses-2.bedpostX
    check "the bytes of track" direct bedpost bedpost --bedpostx $folder --dg bedpost
    "$program" track -q --bedpostx $folder --roi "bedpost/${stem}_desc-seed_mask.nii.gz" --dg bedpost -o own.trx $few
    check "with the folder's own mask" cmp own.trx "bedpost/${stem}_tract-wholebrain_track-bedpost_tractogram.trx"
    exits 0 "0 tracked, 5 up to date" bids bedpost participant -- --bedpostx "$samples" --mask "$samples/nodif_brain_mask.nii" --dg bedpost $few
    cp $derived/fsl/sub-03.bedpostX/merged_th1samples.nii $folder/merged_ph1samples.nii
    exits 4 "sub-02_ses-2_.* tracked with another bedpostx" bids bedpost participant -- --bedpostx "$samples" --mask "$samples/nodif_brain_mask.nii" --dg bedpost $few

    # --- FODs, seeds, tissue, results; a list, labels ---
    fit="$derived/fits/sub-{subject}/[ses-{session}/]fit"
    label="data/sub-{subject}/anat/sub-{subject}_space-{space}_label"
    check "FODs and seeds of each participant" bids fods participant --session-label 2 -- --mask "${fit}_fa.nii.gz" --roi "${fit}_fa.nii.gz" --sh "${fit}_sh.nii.gz" --dg ifod2 $few
    fods=$derived/fits/sub-02/ses-2/fit
    "$program" track -q --mask ${fods}_fa.nii.gz --roi ${fods}_fa.nii.gz --sh ${fods}_sh.nii.gz --dg ifod2 -o fods.trx $few
    check "the bytes of track with them" cmp fods.trx fods/${stem}_tract-wholebrain_track-ifod2_tractogram.trx
    filter="--preset tractoflow --model opdt --pft --sphere small $few"
    check "tissue of each participant" bids pft participant --session-label 1 -- --pve-wm "$label-WM_probseg.nii.gz" --pve-gm "$label-GM_probseg.nii.gz" --pve-csf "$label-CSF_probseg.nii.gz" $filter
    check "and by --tissue" bids tissue participant --session-label 1 --tissue -- $filter
    tract="sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-prob_tractogram.trx"
    check "are one" cmp pft/$tract tissue/$tract
    ln -s data 'in {braces}'
    check "braces in the name of a data set" "$program" bids -q 'in {braces}' braced participant --no-report --participant-label 01 --session-label 1 --tissue -- $filter
    check "change nothing" cmp braced/$tract tissue/$tract
    check "results of several files, labels" bids results participant --participant-label 01 -- --sample "$label-WM_probseg.nii.gz,${fit}_fa.nii.gz" --include "$label-WM_probseg.nii.gz:1" $few
    touch "$derived/fits/sub-01/ses-1/rules,a.tsv" "$derived/fits/sub-01/ses-1/b,c.nii.gz"
    folder="$derived/fits/sub-{subject}/ses-{session}"
    for option in "--segment $folder/rules,a.tsv" "--segment $folder/rules\\,a.tsv" "--sample $folder/b\\,c.nii.gz,$folder/fit_fa.nii.gz"; do
        check "commas in names: $option" test "$(bids names participant --participant-label 01 --session-label 1 --list -- $option 2> /dev/null | cut -f 8 | tail -n 1)" = ready
    done
    exits 3 "label-XX_probseg.nii.gz: no such file" bids results participant --participant-label 01 -- --sample "${fit}_fa.nii.gz,$label-XX_probseg.nii.gz" $few
}
[ $failed -eq 0 ] && echo "all ok"
exit $failed
