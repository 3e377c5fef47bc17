#!/bin/sh
# What `glslines bids` keeps: files of others, what an interrupted or failed run leaves, and when a series counts as done.
# Usage: sh test/bids/kept.sh GLSLINES WORK_FOLDER
. "$(dirname "$0")/../checks.sh"

"$program" phantom data -q --bids 01,02,03 --shape 24 24 20 --voxel-size 4 || exit 1
options="--nseeds 100 --sphere small --device llvmpipe --model opdt"
bids() { "$program" bids data --no-report "$@"; }
stem=sub-01/dwi/sub-01_space-ACPC
tract=${stem}_tract-wholebrain_track-boot_tractogram
region=data/sub-01/anat/sub-01_space-ACPC_label-WM_probseg.nii.gz
mask=data/${stem}_desc-brain_mask.nii.gz
again() { # a file with the same image, packed in another way
    gzip -dc "$1" | gzip -1 > again && mv again "$1"
}
comes() { # COMMAND...: waits up to a minute until the command succeeds
    tries=0
    until "$@"; do
        [ $tries -lt 600 ] || return 1
        tries=$((tries + 1))
        sleep 0.1
    done
}
has_child() { child=$(ps -o pid= --ppid $parent | head -n 1) && [ -n "$child" ]; }
has_masks() { [ "$(ls -d ended_$whom/sub-0*/dwi/.sub-0*stage/*desc-seed_mask.json 2> /dev/null | wc -l)" -eq 2 ]; }
same() { # FOLDER: compares names and contents of the files in the folder, except logs
    (cd "$1" && find . -type f ! -path './logs/*' -exec cksum {} + | sort -k 3)
}

# --- when a series is done ---
check "three participants" bids out participant -- $options
same out > before
exits 0 "0 tracked, 3 up to date" bids out participant -- $options
same out > after
check "nothing is written anew" cmp before after
for file in "$mask" "$region"; do
    cp "$file" kept
    again "$file"
    exits 4 "tracked with another" bids out participant --participant-label 01 -- $options
    cp kept "$file"
done
exits 4 "tracked with another" bids out participant --participant-label 01 --seed-region fa:0.3 -- $options
cp data/${stem}_desc-preproc_dwi.bval kept
touch -r data/${stem}_desc-preproc_dwi.bval kept.time
sed 's/^0 /1 /; s/^0.0 /1.0 /' kept > data/${stem}_desc-preproc_dwi.bval
touch -r kept.time data/${stem}_desc-preproc_dwi.bval
check "the tables differ" sh -c "! cmp -s kept data/${stem}_desc-preproc_dwi.bval"
exits 4 "tracked with another bval" bids out participant --participant-label 01 -- $options
cp kept data/${stem}_desc-preproc_dwi.bval
exits 4 "tracked with another weights" bids out participant --participant-label 01 -- $options --weights --dg boot
cp "$region" column.nii.gz
exits 4 "tracked with another sample" bids out participant --participant-label 01 -- $options --sample column.nii.gz
check "an order of its own" bids order participant --participant-label 01 -- $options --sh-order 4
exits 4 "tracked with another sh_order" bids order participant --participant-label 01 -- $options
cp "$mask" through.nii.gz
check "a region" bids regions participant --participant-label 01 -- $options --include through.nii.gz
cp through.nii.gz elsewhere.nii.gz
exits 0 "0 tracked, 1 up to date" bids regions participant --participant-label 01 -- $options --include elsewhere.nii.gz
again through.nii.gz
exits 4 "tracked with another include" bids regions participant --participant-label 01 -- $options --include through.nii.gz
printf 'bundle\tinclude\nA\telsewhere.nii.gz\n' > rules.tsv
check "bundles" bids bundles participant --participant-label 01 -- $options --segment rules.tsv
exits 0 "0 tracked, 1 up to date" bids bundles participant --participant-label 01 -- $options --segment rules.tsv
again elsewhere.nii.gz
exits 4 "tracked with another segment" bids bundles participant --participant-label 01 -- $options --segment rules.tsv

# --- files that are missing or damaged ---
cp -p out/$tract.trx kept.trx
for file in $tract.trx ${stem}_desc-seed_mask.nii.gz ${stem}_desc-stop_mask.json; do
    rm "out/$file"
    exits 0 "1 tracked, 0 up to date" bids out participant --participant-label 01 -- $options
    check "$(basename "$file") is back" test -s "out/$file"
    check "with it the same tractogram" cmp out/$tract.trx kept.trx
done
for image in desc-stop_mask desc-seed_mask; do # names in the records that say which image was used: other texts may differ, these may not be missing
    json=out/${stem}_$image.json
    cp $json kept
    for broken in '' '{' '{}' '{"Type": "ROI"}'; do
        printf '%s' "$broken" > $json
        exits 4 "$image.json: has changed since glslines bids wrote it" bids out participant --participant-label 01 -- $options
        check "it is left" test "$(cat $json)" = "$broken"
    done
    sed 's/"Description":.*"/"Description": "another text"/' kept > $json
    exits 0 "0 tracked, 1 up to date" bids out participant --participant-label 01 -- $options
    cp kept $json
done
head -c 1000 kept.trx > out/$tract.trx
exits 4 "$tract.trx: has changed since glslines bids wrote it" bids out participant --participant-label 01 -- $options
check "it is left" test "$(wc -c < out/$tract.trx)" -eq 1000
check "--force makes it anew" bids out participant --participant-label 01 --force -- $options
check "the same" cmp out/$tract.trx kept.trx

# --- files that other programs wrote ---
for file in $tract.trx $tract.json ${stem}_desc-seed_mask.nii.gz ${stem}_desc-stop_mask.json; do
    rm -rf foreign
    mkdir -p foreign/sub-01/dwi
    echo theirs > "foreign/$file"
    exits 4 "$(basename "$file")" bids foreign participant --participant-label 01 -- $options
    check "$(basename "$file") of another program stays" grep -qx theirs "foreign/$file"
    check "nothing is beside it" test "$(ls -A foreign/sub-01/dwi | wc -l)" -eq 1
done
rm -rf foreign
mkdir -p foreign/sub-01/dwi
echo '"theirs"' > theirs
ln -s ../../../theirs foreign/${stem}_desc-seed_mask.nii.gz
exits 4 "desc-seed_mask" bids foreign participant --participant-label 01 -- $options
check "--force replaces the link" bids foreign participant --participant-label 01 --force -- $options
check "not what it leads to" grep -qx '"theirs"' theirs
check "another getter leaves the masks" bids out participant --participant-label 01 -- $options --dg det
exits 0 "1 up to date" bids out participant --participant-label 01 -- $options
exits 4 "desc-seed_mask.*: exists, and is not the file" bids out participant --participant-label 01 --seed-region fa:0.3 -- $options --dg prob --model csa
exits 0 "1 up to date" bids out participant --participant-label 01 -- $options
printf '{"Name": "pyAFQ", "BIDSVersion": "1.6.0", "GeneratedBy": [{"Name": "pyAFQ"}]}' > foreign/dataset_description.json
cp foreign/dataset_description.json kept
bids foreign participant --participant-label 02 -- $options 2> foreign.err
check "the description of another program stays" cmp kept foreign/dataset_description.json
mkdir -p afq/sub-01/ses-1/dwi
printf 'tractID,nodeID,fa\nCST,0,0.5\n' > afq/sub-01/ses-1/dwi/sub-01_ses-1_desc-profiles_tractography.csv
printf 'tractID,nodeID,fa,subjectID,sessionID\nCST,0,0.25,01,1\n' > afq/tract_profiles.csv
cp afq/tract_profiles.csv kept
exits 4 "no run of glslines bids has recorded this content" bids afq group
check "pyAFQ's own table stays" cmp kept afq/tract_profiles.csv
rm afq/tract_profiles.csv
check "a table of profiles" bids afq group
check "is written anew" bids afq group
echo '# mine' >> afq/tract_profiles.csv
exits 4 "no run of glslines bids has recorded this content" bids afq group
rm afq/tract_profiles.csv afq/tract_profiles.json
bids afq group 2> afq.err
cp afq/tract_profiles.csv old.csv
sed -i s/0.5/0.75/ afq/sub-01/ses-1/dwi/sub-01_ses-1_desc-profiles_tractography.csv
check "other profiles" bids afq group
mv afq/tract_profiles.csv new.csv
cp old.csv afq/tract_profiles.csv
check "a run that was killed between the names of a table and its sidecar" bids afq group
check "ends at the same table" cmp new.csv afq/tract_profiles.csv
cp -r out grouped
echo theirs > grouped/index.html
exits 4 "index.html: was not written" bids grouped group
check "without the page no table" test ! -e grouped/group.tsv
exits 2 "are one folder" "$program" bids data data participant -- $options
exits 2 "are one folder" "$program" bids data ./data/../data participant -- $options

# --- reports ---
html=sub-01_space-ACPC_tract-wholebrain_track-boot.html
echo theirs > out/$html
exits 0 "$html: was written by another program" "$program" bids data out participant --participant-label 01 --force -- $options
check "another program's page stays" grep -qx theirs out/$html
rm out/sub-01/figures/*
"$program" bids -q data out participant --participant-label 01 -- $options
check "a picture of what was tracked without one" test -s out/sub-01/figures/sub-01_space-ACPC_tract-wholebrain_track-boot_views.png
echo theirs > out/sub-01/figures/sub-01_space-ACPC_tract-wholebrain_track-boot_views.png
rm out/$html
exits 0 "views.png: was written by another program" "$program" bids data out participant --participant-label 01 --force -- $options
check "another program's picture stays" grep -qx theirs out/sub-01/figures/sub-01_space-ACPC_tract-wholebrain_track-boot_views.png
rm out/sub-01/figures/*
"$program" bids -q data out participant --participant-label 01 --force -- $options
"$program" bids -q data out participant --participant-label 01 --force -- $options 2> twice.err
check "its own reports are written anew" sh -c "! grep -q 'another program' twice.err"
check "a report of what was tracked without one" grep -q '<title>glslines' out/$html

# --- runs that fail or are killed ---
same out > before
exits 3 "nothing.nii.gz" bids out participant --participant-label 01 --force -- $options --include nothing.nii.gz
same out > after
check "--force that fails loses nothing" cmp before after
stage=killed/sub-01/dwi/.sub-01_space-ACPC_boot_tractogram.stage
check "a run" bids killed participant --participant-label 01 -- $options
same killed > before
mkdir $stage
mv killed/$tract.trx killed/$tract.json killed/${stem}_desc-seed_mask.nii.gz $stage
exits 0 "0 tracked, 1 up to date" bids killed participant --participant-label 01 -- $options
same killed > after
check "a run that was killed while files got their names is completed" cmp before after
check "its stage is gone" test ! -e $stage
mkdir $stage
mv killed/$tract.json $stage
cp kept.trx $stage/$(basename $tract).trx
echo other > $stage/other
mkdir killed/sub-01/dwi/other
exits 4 "complete files are in $stage" bids killed participant --participant-label 01 -- $options
check "--force begins anew" bids killed participant --participant-label 01 --force -- $options
check "and has no stage" test ! -e $stage
rmdir killed/sub-01/dwi/other
mkdir $stage
cp kept.trx $stage
exits 0 "0 tracked, 1 up to date" bids killed participant --participant-label 01 -- $options
check "what a run left that was killed before is gone" test ! -e $stage
waiting() { # FOLDER: a run whose files are complete, and which waits for the lock under which the files get their names
    mkdir -p "$1/logs"
    rm -f held
    python3 -c '
import fcntl, sys, time
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
open("held", "w")
time.sleep(300)' "$1/logs/sub-01_space-ACPC.lock" &
    holder=$!
    until [ -e held ]; do sleep 0.1; done
    "$program" bids data "$1" participant --no-report --participant-label 01 -- $options 2> waiting.err &
    child=$!
    tries=0
    until [ -e "$1/sub-01/dwi/.sub-01_space-ACPC_boot_tractogram.stage/ready.json" ] || [ $tries -ge 200 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}
waiting unchecked
kill -9 $child $holder
wait $child $holder 2> /dev/null
echo theirs > unchecked/$tract.trx
exits 4 "$tract.trx: exists" bids unchecked participant --participant-label 01 -- $options
check "a run that was killed before it looked replaces no file of others" grep -qx theirs unchecked/$tract.trx
waiting meanwhile
echo theirs > meanwhile/$tract.json
kill $holder
wait $holder
wait $child
check "a sidecar that another program writes during the run is an error" test $? -eq 4
check "and stays" grep -qx theirs meanwhile/$tract.json
check "nothing is beside it" test "$(ls -A meanwhile/sub-01/dwi | wc -l)" -eq 1
bids whole participant --participant-label 01 -- $options --nseeds 20000 2> /dev/null
"$program" bids data resumed participant --no-report --participant-label 01 -- $options --nseeds 20000 --chunk-size 500 --resume 2> /dev/null &
child=$!
tries=0
until [ "$(cat resumed/sub-01/dwi/.sub-01*stage/*.resume 2> /dev/null | wc -c)" -gt 100000 ] || [ $tries -ge 600 ] || ! kill -0 $child; do
    sleep 0.02
    tries=$((tries + 1))
done
# the process is stopped, so it cannot end while the other one looks
kill -STOP $child
exits 0 "0 tracked, 0 up to date, 1 busy" bids resumed participant --participant-label 01 -- $options --nseeds 20000
kill -9 $child
wait $child 2> /dev/null
check "a journal is kept" test -s "$(ls resumed/sub-01/dwi/.sub-01*stage/*.resume)"
check "no file has its name" test "$(ls resumed/sub-01/dwi | wc -l)" -eq 0
exits 3 "nowhere" bids resumed participant --participant-label 01 -- $options --nseeds 20000 --include nowhere.nii
check "a run that fails leaves the journal" test -s "$(ls resumed/sub-01/dwi/.sub-01*stage/*.resume)"
check "--resume goes on" bids resumed participant --participant-label 01 -- $options --nseeds 20000 --chunk-size 500 --resume
check "to the same tractogram" cmp whole/$tract.trx resumed/$tract.trx
check "and leaves nothing else" test "$(ls -A resumed/sub-01/dwi | wc -l)" -eq 6
"$program" bids data broken participant --no-report --jobs 2 -- $options --nseeds 20000 2> broken.err &
parent=$!
check "a unit has a process" comes has_child
kill -SEGV $child
wait $parent
check "a process that breaks down gives exit code 5" test $? -eq 5
check "and takes no other unit with it" grep -q '2 tracked, 0 up to date, 0 busy elsewhere, 1 failed' broken.err
# send a signal to the whole group, or to every single process, as schedulers do
for whom in group each; do
    setsid "$program" bids data ended_$whom participant --no-report --jobs 2 -- $options --nseeds 300000 --chunk-size 100000 2> ended.err &
    parent=$!
    check "two units are at work" comes has_masks
    told=-$parent
    [ $whom = group ] || told="$parent $(ps -o pid= --ppid $parent)"
    env kill -s TERM -- $told
    wait $parent
    check "a signal to the $whom ends a run" test $? -eq 143
    check "each of its processes tells of it" test "$(grep -c 'interrupted: .* was not written' ended.err)" -eq 2
    check "and leaves nothing" test "$(ls -A ended_$whom/sub-01/dwi ended_$whom/sub-02/dwi | grep -c stage)" -eq 0
    check "units.tsv says so" test "$(cut -f 2 ended_$whom/logs/units.tsv | grep -cx interrupted)" -eq 2
done
exits 6 "no streamline" bids none participant --participant-label 01 -- $options --min-length 240 --max-length 241 --fail-if-empty
exits 6 "no streamline" bids none participant --participant-label 01 -- $options --min-length 240 --max-length 241 --fail-if-empty
exits 0 "1 up to date" bids none participant --participant-label 01 -- $options --min-length 240 --max-length 241
"$program" bids data stopped participant --no-report --participant-label 01 --progress-file events -- $options --nseeds 300000 2> stopped.err &
child=$!
check "a unit tracks" comes grep -qs '"name":"track"' events
kill -TERM $child
wait $child
check "a signal ends a run" test $? -eq 143
check "its message names the tractogram where it would lie" grep -q "interrupted: stopped/$tract.trx was not written" stopped.err
check "and nothing is left" test "$(ls -A stopped/sub-01/dwi | wc -l)" -eq 0
pids=
for n in 1 2 3 4; do
    "$program" bids data at_once participant --no-report --participant-label 02 03 -- $options 2> at_once.$n &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || failed=1; done
check "of runs at once one tracks each series" awk '/ tracked, / { n += $1 } END { exit n != 2 }' at_once.1 at_once.2 at_once.3 at_once.4
check "and what it tells of it stays" awk -F '\t' 'NR > 1 && $2 != "tracked" && $2 != "up to date" { exit 1 } END { exit NR != 3 }' at_once/logs/units.tsv
check "no lock is left" sh -c '! ls at_once/logs/*.lock 2> /dev/null'
exits 2 "too long for the label" "$program" phantom long --bids "$(printf 'x%.0s' $(seq 130))"

# --- fits, matrices ---
check "a fit" bids fits participant --participant-label 01 --fit-outputs -- $options
check "of another model" bids fits participant --participant-label 01 -- $options --dg prob --model csa
check "a fit of what was tracked without" bids fits participant --participant-label 01 --fit-outputs -- $options --dg prob --model csa
check "is of this model" test -s fits/${stem}_model-csa_param-sh_dwimap.nii.gz
cp fits/${stem}_model-tensor_param-fa_dwimap.json kept
: > fits/${stem}_model-tensor_param-fa_dwimap.json
exits 4 "fa_dwimap.json: has changed since glslines bids wrote it" bids fits participant --participant-label 01 --fit-outputs -- $options
cp kept fits/${stem}_model-tensor_param-fa_dwimap.json
rm fits/${stem}_model-opdt_param-sh_dwimap.nii.gz
check "one that is missing" bids fits participant --participant-label 01 --fit-outputs -- $options
check "is back" test -s fits/${stem}_model-opdt_param-sh_dwimap.nii.gz
exits 0 "1 up to date" bids fits participant --participant-label 01 --fit-outputs -- $options
python3 - << 'PY'
import gzip, struct
raw = gzip.open("data/sub-01/dwi/sub-01_space-ACPC_desc-brain_mask.nii.gz").read()
d = struct.unpack("<3h", raw[42:48])
head = bytearray(raw[:352])
head[70:74] = struct.pack("<2h", 4, 16)
values = [1 + (v // d[0] // d[1]) // 10 * 2 + (v % d[0]) // (d[0] // 2 + 1) for v in range(d[0] * d[1] * d[2])]
gzip.open("data/sub-01/anat/sub-01_space-ACPC_seg-Four_dseg.nii.gz", "wb").write(head + struct.pack("<%dh" % len(values), *values))
PY
matrix=out/${stem}_track-boot_seg-Four_relmat
atlas() { bids out participant --participant-label 01 --atlas Four "$@" -- $options; }
echo theirs > $matrix.tsv
exits 4 "relmat.tsv: exists" atlas
check "another program's matrix stays" grep -qx theirs $matrix.tsv
rm $matrix.tsv
check "a matrix" atlas
cp $matrix.tsv kept
rm ${matrix%relmat}nodes.tsv
check "a matrix without its table of regions" atlas
check "gets it back" test -s ${matrix%relmat}nodes.tsv
check "and has one sidecar" test ! -e $matrix.tsv.json
printf 'index\tname\n1\ta\n2\tb\n3\tc\n4\td\n' > data/seg-Four_dseg.tsv
touch -d '2001-01-01' data/seg-Four_dseg.tsv
check "new names of an old date" atlas
check "are taken" test "$(head -n 1 $matrix.tsv | tr '\t' ';')" = ";a;b;c;d"
cp $matrix.tsv new.tsv
cp ${matrix%relmat}nodes.tsv new_nodes.tsv
cp kept $matrix.tsv # files of the run before, as they are if this run was killed before the matrix had its name
check "a matrix that has not got its name" atlas
check "gets it" cmp new.tsv $matrix.tsv
rm $matrix.tsv ${matrix%relmat}nodes.tsv
check "a sidecar without its matrix" atlas
check "gets it, too" cmp new.tsv $matrix.tsv
check "with its regions" cmp new_nodes.tsv ${matrix%relmat}nodes.tsv
check "the sidecar tells of both" test "$(grep -c '_seg-Four_.*\.tsv"' $matrix.json)" -ge 2
echo mine >> $matrix.tsv
exits 4 "has changed since glslines bids wrote it" atlas
check "a matrix that was changed stays" sh -c "tail -n 1 $matrix.tsv | grep -qx mine"
python3 - $matrix.json << 'PY'
import json, sys
root = json.load(open(sys.argv[1]))
del root["done"]["outputs"], root["done"]["before"]
json.dump(root, open(sys.argv[1], "w"))
PY
exits 4 "no run of glslines bids has recorded it" atlas
check "a matrix of which its sidecar does not tell stays" sh -c "tail -n 1 $matrix.tsv | grep -qx mine"

# --- selection ---
cp data/${stem}_desc-preproc_dwi.nii.gz data/sub-02/dwi/sub-01_space-ACPC_desc-preproc_dwi.nii.gz
check "a file of another participant is left out" test "$("$program" bids data out participant --list 2> /dev/null | wc -l)" -eq 4
rm data/sub-02/dwi/sub-01_space-ACPC_desc-preproc_dwi.nii.gz
cp data/${stem}_desc-preproc_dwi.nii.gz data/sub-01/dwi/sub-01_space-T1w_desc-preproc_dwi.nii.gz
exits 3 "one scan in two forms" bids spaces participant -- $options
check "which ends no other participant" test -s spaces/sub-03/dwi/sub-03_space-ACPC_tract-wholebrain_track-boot_tractogram.trx
check "each unit has a row" test "$(wc -l < spaces/logs/units.tsv)" -eq 5
rm data/sub-01/dwi/sub-01_space-T1w_desc-preproc_dwi.nii.gz
check "a run of one participant" bids spaces participant --participant-label 02 -- $options
check "leaves the rows of others" test "$(cut -f 1,2 spaces/logs/units.tsv | tr '\t\n' ',;')" = "unit,state;sub-01_space-ACPC,failed;sub-01_space-T1w,failed;sub-02_space-ACPC,up to date;sub-03_space-ACPC,tracked;"
exits 3 "has a session '1'" bids sessions participant --session-label 1 -- $options
# a warning lists names of folders and series that are not names of BIDS
mkdir -p named
cp data/dataset_description.json named
cp -r data/sub-01 named/sub-01
mv data/sub-02 named/sub-A_02
echo page > named/sub-B-1.html
mkdir named/sub-01/ses-one-more
cp data/${stem}_desc-preproc_dwi.nii.gz named/sub-01/dwi/sub-01_old-scan-1_desc-preproc_dwi.nii.gz
"$program" bids named fresh participant --list > named.list 2> named.err
check "what is left is listed" grep -q '^sub-01_space-ACPC.*ready' named.list
for name in sub-A_02 sub-01/ses-one-more; do check "$name is told" grep -q "warning: $name: is left out: labels of BIDS have letters, digits and + alone" named.err; done
check "a series is told" grep -q 'warning: .*old-scan-1.*: is left out: its name is none of BIDS' named.err
check "files are no folders" test "$(grep -c 'is left out' named.err)" -eq 3
exits 3 "participant 'A_02': labels of BIDS" "$program" bids named fresh participant --participant-label A_02 --list
"$program" bids named fresh participant --participant-label 01 --list > named.list 2> named.err
check "of participants that are not asked for nothing is told" sh -c "! grep -q A_02 named.err"
rm -r named/sub-01
exits 3 "left out because of its name: sub-A_02" "$program" bids named fresh participant --list
mv named/sub-A_02 data/sub-02
"$program" phantom visits -q --bids 04/1,04/2,05 --shape 24 24 20 --voxel-size 4
check "a session" test "$("$program" bids visits out participant --session-label ses-1 --list 2> /dev/null | tail -n +2 | cut -f 2,3 | tr '\t\n' '/,')" = 04/1,
exits 3 "has a session '3'" "$program" bids visits sessions participant --session-label 1,3 -- $options
for table in bval bvec; do cp data/${stem}_desc-preproc_dwi.$table data/sub-01/dwi/sub-01_run-01_space-ACPC_desc-preproc_dwi.$table; done
cp data/${stem}_desc-preproc_dwi.nii.gz data/sub-01/dwi/sub-01_run-01_space-ACPC_desc-preproc_dwi.nii.gz
check "a run by its number" test "$("$program" bids data out participant --filter run=1 --list 2> /dev/null | wc -l)" -eq 2
printf '{"dwi": {"run": 1, "acquisition": 12345678}}' > filter.json
exits 3 "no desc-preproc_dwi" bids out participant --bids-filter-file filter.json
for ending in nii.gz bval bvec; do mv data/sub-01/dwi/sub-01_run-01_space-ACPC_desc-preproc_dwi.$ending data/sub-01/dwi/sub-01_acq-12345678_run-01_space-ACPC_desc-preproc_dwi.$ending; done
check "a number of many digits" test "$("$program" bids data out participant --bids-filter-file filter.json --list 2> /dev/null | wc -l)" -eq 2
echo x >> filter.json
exits 3 "filter.json: is no JSON" bids out participant --bids-filter-file filter.json
printf '{"dwi": {"run": 1.5}}' > filter.json
exits 3 "the value of 'run' must be a text" bids out participant --bids-filter-file filter.json
rm data/sub-01/dwi/*run-01*

# --- entities that change what values mean ---
listed() { # OPTION...: lists the series with their states
    "$program" bids forms forms_out participant --raw --list "$@" 2> forms.err | tail -n +2 | awk -F '\t' '{ print $1, $NF }' | sort
}
form() { # ENTITIES: makes a series with these entities
    for ending in nii.gz bval bvec; do cp data/${stem}_desc-preproc_dwi.$ending "forms/sub-01/dwi/sub-01_$1dwi.$ending"; done
}
mkdir -p forms/sub-01/dwi
cp data/dataset_description.json forms
cp "$mask" forms/sub-01/dwi/sub-01_desc-brain_mask.nii.gz
for part in mag phase real imag; do form part-${part}_; done
check "of the parts of a complex series the magnitude is tracked" test "$(listed)" = "sub-01_part-mag ready"
for part in phase real imag; do
    check "part-$part is left out with a reason" grep -q "sub-01/dwi/sub-01_part-${part}_dwi.nii.gz: is left out: .*part" forms.err
done
check "real parts on request" test "$(listed --filter part=real)" = "sub-01_part-real ready"
exits 3 "left out because of its name: sub-01/dwi/sub-01_part-phase_dwi.nii.gz" "$program" bids forms forms_out participant --raw --filter part=phase
form ""
check "a part and the whole" test "$(listed | grep -c 'one scan in two forms, as sub-01.*: choose with --filter part=')" -eq 2
printf '{"dwi": {"part": null}}' > filter.json
check "null is a series without the entity" test "$(listed --bids-filter-file filter.json)" = "sub-01 ready"
rm forms/sub-01/dwi/*dwi.*
for key in echo inv flip mt; do
    for value in 1 02; do form ${key}-${value}_; done
    check "$key: none of two is tracked" test "$(listed | grep -c "one scan in two forms, as sub-01_$key-.*--filter $key=")" -eq 2
    check "$key: chosen" test "$(listed --filter $key=02)" = "sub-01_$key-02 ready"
    [ $key = mt ] || check "$key: is a number" test "$(listed --filter $key=2)" = "sub-01_$key-02 ready"
    rm forms/sub-01/dwi/*dwi.*
done
for key in acq rec dir run chunk ce; do
    for value in 1 2; do form ${key}-${value}_; done
    check "$key: each is a series" test "$(listed | grep -c ready)" -eq 2
    rm forms/sub-01/dwi/*dwi.*
done
exits 3 "no _dwi.nii.gz in sub-\*/\[ses-\*/\]dwi$" "$program" bids forms forms_out participant --raw
exits 3 "no desc-preproc_dwi.nii.gz in sub-.*dwi; --raw takes series that are not" "$program" bids forms forms_out participant

mkdir -p runs/sub-01/dwi
cp data/dataset_description.json runs
for run in 1 2; do
    for ending in preproc_dwi.nii.gz preproc_dwi.bval preproc_dwi.bvec brain_mask.nii.gz; do
        cp data/${stem}_desc-$ending runs/sub-01/dwi/sub-01_run-${run}_space-ACPC_desc-$ending
    done
done
again runs/sub-01/dwi/sub-01_run-2_space-ACPC_desc-brain_mask.nii.gz
check "each run has its own mask" test "$("$program" bids runs out participant --list 2> /dev/null | grep -cE 'run-([12])_.*run-\1_space-ACPC_desc-brain_mask')" -eq 2
rm runs/sub-01/dwi/sub-01_run-2_space-ACPC_desc-brain_mask.nii.gz
check "and none of another" test "$("$program" bids runs out participant --list 2> /dev/null | grep -c 'run-2.*no desc-brain_mask')" -eq 1
mv runs/sub-01/dwi/sub-01_run-1_space-ACPC_desc-brain_mask.nii.gz runs/sub-01/dwi/sub-01_run-01_space-ACPC_desc-brain_mask.nii.gz
check "run-01 is run-1" test "$("$program" bids runs out participant --list 2> /dev/null | grep -cE 'run-1_.*run-01_space-ACPC_desc-brain_mask')" -eq 1
mv runs/sub-01/dwi/sub-01_run-01_space-ACPC_desc-brain_mask.nii.gz runs/sub-01/dwi/sub-01_space-ACPC_desc-brain_mask.nii.gz
check "one of all runs is for each" test "$("$program" bids runs out participant --list 2> /dev/null | grep -c 'sub-01_space-ACPC_desc-brain_mask')" -eq 2
check "the group" bids out group --participant-label 02
check "of a participant" test "$(tail -n +2 out/group.tsv | cut -f 3)" = sub-02_space-ACPC_tract-wholebrain_track-boot
mv "$region" data/sub-01/anat/sub-01_space-ACPC_dseg.nii.gz
printf 'index\tname\n4294967297\tWM\n' > data/sub-01/anat/sub-01_space-ACPC_dseg.tsv
exits 3 "dseg.tsv: has no line with a label and a name" bids labels participant --participant-label 01 -- $options
mv data/sub-01/anat/sub-01_space-ACPC_dseg.nii.gz "$region"
# tissue of each participant, for particle filtering
filter="--preset tractoflow --model opdt --pft --nseeds 60 --sphere small --device llvmpipe"
exits 2 "give --t1 or --tissue before --" bids pft participant -- $filter
rm data/sub-03/anat/*label-GM*
exits 3 "no label-GM_probseg in its space" bids pft participant --participant-label 03 --tissue -- $filter
check "tissue of two participants" "$program" bids data pft participant --participant-label 01,02 --no-report --jobs 2 --tissue -- $filter
part=data/sub-02/anat/sub-02_space-ACPC_label
series=sub-02/dwi/sub-02_space-ACPC
check "track with tissue" "$program" track -q data/${series}_desc-preproc_dwi.nii.gz data/${series}_desc-preproc_dwi.bval data/${series}_desc-preproc_dwi.bvec \
    pft/${series}_desc-stop_mask.nii.gz pft/${series}_desc-seed_mask.nii.gz --pve-wm ${part}-WM_probseg.nii.gz --pve-gm ${part}-GM_probseg.nii.gz \
    --pve-csf ${part}-CSF_probseg.nii.gz -o pft.trx $filter
check "gives the same bytes" cmp pft.trx pft/${series}_tract-wholebrain_track-prob_tractogram.trx
exits 0 "0 tracked, 2 up to date" bids pft participant --participant-label 01,02 --tissue -- $filter
mkdir "in 5%"
cp -r data "in 5%/d"
check "a folder with a blank and a percent sign" "$program" bids "in 5%/d" odd participant --no-report --participant-label 02 -- $options
check "is written as a URI" grep -q 'file:///.*in%205%25/d"' odd/dataset_description.json
[ $failed -eq 0 ] && echo "all ok"
exit $failed
