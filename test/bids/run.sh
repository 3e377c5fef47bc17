#!/bin/sh
# A data set as QSIPrep writes it, tracked by `glslines bids`: names, resuming, shards, damaged data sets, and what the BIDS validator and pybids say of the result.
# Usage: sh test/bids/run.sh GLSLINES WORK_FOLDER [PYTHON]      PYTHON: one with nibabel, pybids, trx-python and bids-validator-deno; without it they are left out
. "$(dirname "$0")/../checks.sh"
python=${3:-}

"$program" phantom phantom --shape 24 30 24 --voxel-size 3 -q || exit 1

subject() { # LABEL SESSION
    dwi=data/sub-$1/ses-$2/dwi anat=data/sub-$1/anat stem=sub-$1_ses-$2_space-ACPC
    mkdir -p "$dwi" "$anat"
    cp phantom/dwi.nii.gz "$dwi/${stem}_desc-preproc_dwi.nii.gz"
    cp phantom/dwi.bval "$dwi/${stem}_desc-preproc_dwi.bval"
    cp phantom/dwi.bvec "$dwi/${stem}_desc-preproc_dwi.bvec"
    printf '{"SkullStripped": false, "SpatialReference": "bids::sub-%s/anat/sub-%s_space-ACPC_label-WM_probseg.nii.gz", "RepetitionTime": 3, "PhaseEncodingDirection": "j", "EchoTime": 0.1, "TotalReadoutTime": 0.05, "MagneticFieldStrength": 3, "Manufacturer": "none"}\n' \
        "$1" "$1" > "$dwi/${stem}_desc-preproc_dwi.json"
    cp phantom/mask.nii.gz "$dwi/${stem}_desc-brain_mask.nii.gz"
    printf '{"Type": "Brain", "SpatialReference": "bids::x", "Sources": ["bids::x"]}\n' > "$dwi/${stem}_desc-brain_mask.json"
    cp phantom/roi.nii.gz "$anat/sub-$1_space-ACPC_label-WM_probseg.nii.gz"
    printf '{"SpatialReference": "bids::x"}\n' > "$anat/sub-$1_space-ACPC_label-WM_probseg.json"
}
describe() {
    printf '{"Name": "test", "BIDSVersion": "1.10.0", "DatasetType": "%s", "GeneratedBy": [{"Name": "test"}], "License": "CC0", "Authors": ["a", "b"]}\n' "$1" > data/dataset_description.json
    echo "A data set for a test, with text that is long enough for what the validator asks of the file README, which wants a hundred and fifty characters at least of it." > data/README.md
}
mkdir data
describe derivative
subject 01 1
subject 02 1
options="--nseeds 500 --sphere small --device llvmpipe --model opdt"
bids() { "$program" bids -q data --no-report "$@"; }

# --- the whole, twice ---
check "both participants" bids out participant -- $options
one=out/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-boot_tractogram
for file in dataset_description.json README.md .bidsignore code/pybids.json logs/units.tsv; do check "$file" test -s "out/$file"; done
for file in "$one.trx" "$one.json" out/sub-02/ses-1/dwi/sub-02_ses-1_space-ACPC_desc-seed_mask.nii.gz out/sub-02/ses-1/dwi/sub-02_ses-1_space-ACPC_desc-stop_mask.json; do
    check "$(basename "$file")" test -s "$file"
done
"$program" track -q phantom/dwi.nii.gz phantom/dwi.bval phantom/dwi.bvec phantom/mask.nii.gz phantom/roi.nii.gz -o plain.trx $options
check "same bytes as track" cmp plain.trx "$one.trx"
find out -type f ! -name units.tsv -newer data/dataset_description.json -exec stat -c '%n %i %.Y %s' {} + | sort > before
"$program" bids data out participant --no-report -- $options 2> again.err
check "a second run finds all done" grep -q '0 tracked, 2 up to date' again.err
# options that the getter does not use are handled as in a run of `track`; files of other programs among the logs stay
mkdir -p csd/logs
echo theirs > csd/logs/CITATION.md
for time in first second; do "$program" bids data csd participant --participant-label 01 --no-report -- $options --model csd --dg prob 2> csd.err; done
check "a second run by --dg prob finds all done" grep -q '0 tracked, 1 up to date' csd.err
check "another program's logs stay" grep -qx theirs csd/logs/CITATION.md
find out -type f ! -name units.tsv -newer data/dataset_description.json -exec stat -c '%n %i %.Y %s' {} + | sort > after
check "and changes nothing" cmp before after
exits 4 "tracked with another max_angle_degrees" bids out participant -- $options --max-angle 30
for file in "--density d.nii.gz" "--output-seeds s.txt" "--fdt-paths f.nii.gz" "--fdt-network phantom/mask.nii.gz:n.txt" "--waytotal w" "--connectome phantom/mask.nii.gz:c.csv"; do
    # shellcheck disable=SC2086
    exits 2 "is one file for all series" bids out participant -- $options $file
done
exits 2 "is for an output that is one file for all series" bids out participant -- $options --metric count
exits 2 "leave out what follows the colon" bids out participant -- $options --sample phantom/mask.nii.gz:t.tsv
check "--force" bids out participant --force --participant-label 02 -- $options --max-angle 30
exits 4 "tracked with another max_angle_degrees" bids out participant -- $options
check "--force back" bids out participant --force --participant-label sub-02 -- $options
check "another getter beside it" bids out participant --participant-label 01 -- $options --dg prob --model csa
check "its name" test -s "out/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-probcsa_tractogram.trx"
check "group" bids out group
check "a page of them" grep -q '<th scope="row">sub-01_ses-1_space-ACPC_tract-wholebrain_track-boot</th>' out/index.html
check "a row for each tractogram" test "$(wc -l < out/group.tsv)" -eq 4
check "numbers in it" awk -F '\t' 'NR > 1 && ($1 !~ /^sub-0[12]$/ || $2 != "ses-1" || $4 != 500 || $5 < 100 || !($6 > 0.5 && $6 <= 1) || $7 <= 0 || $10 != 0 || $11 != "n/a") { exit 1 }' out/group.tsv

# --- one table of all profiles ---
check "without profiles" test ! -e out/tract_profiles.csv
profile() { # FOLDER NAME LINES: compares a table, with the numbers of rows that pandas writes
    mkdir -p "$1" && printf "$3" > "$1/$2_desc-profiles_tractography.csv"
}
profile afq/sub-01/ses-1/dwi sub-01_ses-1 ',tractID,nodeID,fa\n0,CST,0,0.5\n1,CST,1,\n'
profile afq/sub-02 sub-02 'tractID,nodeID,fa,md\r\n"A, left",0,0.25,1e-3\r\n'
check "profiles alone" bids afq group
printf 'tractID,nodeID,fa,md,subjectID,sessionID\nCST,0,0.5,nan,01,1\nCST,1,nan,nan,01,1\n"A, left",0,0.25,1e-3,02,unknown\n' > expected.csv
check "rows of all with subject and session" cmp afq/tract_profiles.csv expected.csv
check "no table of tractograms" test ! -e afq/group.tsv
profile afq/sub-02 sub-02_track-prob 'tractID,nodeID,fa\nCST,0,0.5\n'
exits 3 "two tables of profiles of one session" bids afq group
check "chosen by an entity" bids afq group --filter track=prob
check "its row" grep -qx "CST,0,0.5,02,unknown" afq/tract_profiles.csv
profile afq/sub-03 sub-03_track-prob 'tractID,nodeID,fa\nCST,0\n'
exits 3 "line 2 has 2 cells, the first line 3" bids afq group --filter track=prob
profile afq/sub-03 sub-03_track-prob 'tract,node\nCST,0\n'
exits 3 "needs the columns tractID and nodeID" bids afq group --filter track=prob
check "the table of before stays" grep -qx "CST,0,0.5,02,unknown" afq/tract_profiles.csv
# files of other programs stay, and so do inputs under the name of the output; names that are not names of BIDS are left out
profile hostile/sub-01 sub-01 'tractID,nodeID,fa,subjectID,sessionID\nCST,0,0.5,me,now\n'
table=hostile/sub-01/sub-01_desc-profiles_tractography.csv
cp "$table" table.csv
for name in 'sub-0,2' 'sub-"02"' 'sub-<b>' 'sub-0
2'; do cp "$table" "hostile/sub-01/${name}_desc-profiles_tractography.csv"; done
check "profiles beside names that are none" bids hostile group
printf 'tractID,nodeID,fa,subjectID,sessionID\nCST,0,0.5,01,unknown\n' > expected.csv
check "who it is of, the name tells" cmp hostile/tract_profiles.csv expected.csv
for how in "ln -s sub-01/sub-01_desc-profiles_tractography.csv" "ln $table"; do
    rm hostile/tract_profiles.csv
    $how hostile/tract_profiles.csv
    exits 4 "is an input" bids hostile group --force
    check "an input stays" cmp "$table" table.csv
done
rm hostile/tract_profiles.csv
echo theirs > hostile/tract_profiles.csv
exits 4 "no run of glslines bids has recorded this content" bids hostile group --force
check "another program's table stays" grep -qx theirs hostile/tract_profiles.csv
for made in group.tsv index.html; do
    cp "out/$made" kept
    echo theirs > theirs
    rm "out/$made"
    ln -s ../theirs "out/$made"
    exits 4 "was not written by glslines" bids out group
    check "what a link $made leads to stays" grep -qx theirs theirs
    rm "out/$made"
    mv kept "out/$made"
done
check "group again" bids out group
profile hostile/sub-01 sub-01 'tractID,nodeID,fa,fa\nCST,0,0.5,1\n'
exits 3 "has two columns of the name fa" bids hostile group
profile hostile/sub-01 sub-01 'tractID,nodeID,fa\nCST,0,0.5\n\000\nCST,1,1\n'
exits 3 "is no text: it has a NUL byte" bids hostile group
rm hostile/tract_profiles.csv
profile hostile/sub-01 sub-01 '\357\273\277tractID,nodeID,fa\nCST,0,0.5\n'
check "a mark of byte order" bids hostile group
check "is no part of a name" cmp hostile/tract_profiles.csv expected.csv
long=$("$(command -v printf)" 'x%.0s' $(seq 600))
exits 2 "give a shorter path" bids "$long" participant
mkdir nothing
exits 3 "no tractogram, no table of profiles or bundles and no connectome" bids nothing group

# --- fits, names of earlier versions ---
check "--fit-outputs of what is tracked" bids out participant --participant-label 01 --fit-outputs -- $options
check "--fit-outputs at once, --legacy-names" bids legacy participant --participant-label 01 --fit-outputs --legacy-names -- $options
for name in model-tensor_param-fa model-opdt_param-sh; do
    file=sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_${name}_dwimap
    check "$name" cmp "out/$file.nii.gz" "legacy/$file.nii.gz"
    check "$name: sources" grep -q '"bids:source:sub-01' "out/$file.json"
done
"$program" fit -q phantom/dwi.nii.gz phantom/dwi.bval phantom/dwi.bvec phantom/mask.nii.gz plainfit --model opdt
check "the bytes of fit" cmp plainfit_sh.nii.gz "$(dirname "$one")/sub-01_ses-1_space-ACPC_model-opdt_param-sh_dwimap.nii.gz"
check "nothing else of it is left" sh -c '! ls -a out/sub-01/ses-1/dwi | grep -q _fit'
old=legacy/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-boot_tractography
check "TRK with --legacy-names" sh -c "head -c 5 $old.trk | grep -q TRACK"
check "and its sidecar" test -s $old.json
check "group with --legacy-names" bids legacy group
check "its row" grep -q track-boot legacy/group.tsv

# --- reports of several units at a time ---
check "two at a time, with reports" "$program" bids -q data both participant --jobs 2 -- $options
for n in 01 02; do
    stem=sub-${n}_ses-1_space-ACPC_tract-wholebrain_track-boot
    check "two at a time: $n" cmp "out/sub-$n/ses-1/dwi/${stem}_tractogram.trx" "both/sub-$n/ses-1/dwi/${stem}_tractogram.trx"
    check "report: $n" grep -q 'id="glslines-lines"' "both/$stem.html"
    for file in "sub-$n/figures/${stem}_views.png" "logs/${stem}_tractogram_glslines_general_mqc.json"; do check "$(basename "$file")" test -s "both/$file"; done
done
check "two at a time where SIGCHLD is ignored" timeout -k 1 120 env --ignore-signal=CHLD "$program" bids -q data ignored participant --no-report --jobs 2 -- $options
check "states of both" awk -F '\t' 'NR > 1 && $2 != "tracked" { exit 1 } END { exit NR != 3 }' both/logs/units.tsv
check "group with reports" "$program" bids -q data both group
check "links to them" grep -q '<a href="sub-02_ses-1_space-ACPC_tract-wholebrain_track-boot.html">' both/index.html
sh -c 'sleep 1 & echo $! > own_child; exec "$@"' sh "$program" bids -q data stopped participant --no-report --jobs 2 -- $options --nseeds 300000 2> stopped.err &
child=$!
sleep 3
check "a child that is not of the run is left to the caller" grep -q '^State:.Z' "/proc/$(cat own_child)/status"
kill -TERM $child
wait $child
code=$?
check "a signal ends both" test $code -eq 143
check "and leaves nothing" sh -c '! ls stopped/sub-*/ses-1/dwi/*tractogram* 2> /dev/null'

# --- parts, interruption ---
bids parts participant --shard 1/2 -- $options
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 bids parts participant --shard auto -- $options
for n in 01 02; do
    name=sub-$n/ses-1/dwi/sub-${n}_ses-1_space-ACPC_tract-wholebrain_track-boot_tractogram.trx
    check "shards: $n" cmp "out/$name" "parts/$name"
done
"$program" bids -q data killed participant --no-report -- $options --nseeds 30000000 &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -e killed/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_desc-seed_mask.json ] && break
    sleep 1
done
kill -9 $child 2> /dev/null
wait $child 2> /dev/null
check "nothing half-made after kill -9" sh -c '! ls killed/sub-*/ses-1/dwi/*tractogram* 2> /dev/null'
check "and again" bids killed participant -- $options
check "as if nothing had been" cmp "$one.trx" killed/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-boot_tractogram.trx

# --- selection ---
bids out participant --list > list.tsv
# the model and the getter follow from the data of each participant, as with track: the second one has a lower b-value
cp -r data lower
table=lower/sub-02/ses-1/dwi/sub-02_ses-1_space-ACPC_desc-preproc_dwi.bval
sed 's/2000/1000/g' phantom/dwi.bval > "$table"
plain() { "$program" bids lower plain participant --no-report "$@"; }
plain -q -- --nseeds 100 --device llvmpipe 2> plain.err
check "series without a method" test $? -eq 0
check "two methods in one study are a warning" grep -q 'warning: two methods in one study: --dg det over csd for 1 series, such as sub-01_ses-1_space-ACPC, .* --dg ifod2 over the model of their shells for 1, such as sub-02_ses-1_space-ACPC; give --model and --dg' plain.err
plain --unit sub-01_ses-1_space-ACPC -- --nseeds 100 --device llvmpipe 2> plain.err
check "one unit has one method" sh -c '! grep "two methods" plain.err'
shell=plain/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC
check "a name of one shell" test -f ${shell}_tract-wholebrain_track-detcsd_tractogram.trx
check "a name of a low shell" test -f plain/sub-02/ses-1/dwi/sub-02_ses-1_space-ACPC_tract-wholebrain_track-ifod2_tractogram.trx
check "the methods" python3 - plain/sub-0[12]/ses-1/dwi/*tractogram.json <<'PYTHON'
import json, sys
for path, method in zip(sys.argv[1:], (["det", "csd"], ["ifod2", "msmt"])):
    run = json.load(open(path))
    assert [run["parameters"]["dg"], run["model"]["name"]] == method, (path, run["parameters"]["dg"], run["model"]["name"])
    assert not {"dg", "model", "cutoff"} & set(run["defaults"]["changed"]), run["defaults"]["changed"]
PYTHON
"$program" track -q phantom/dwi.nii.gz phantom/dwi.bval phantom/dwi.bvec --mask ${shell}_desc-stop_mask.nii.gz --roi ${shell}_desc-seed_mask.nii.gz --nseeds 100 --device llvmpipe -o shell.trx
check "the bytes of track" cmp shell.trx ${shell}_tract-wholebrain_track-detcsd_tractogram.trx
check "both are listed as tracked" test "$(plain --list -- --nseeds 100 | cut -f 7 | tail -n +2 | sort -u)" = tracked
plain -- --nseeds 100 --device llvmpipe 2> plain.err
check "both are up to date" grep -q '0 tracked, 2 up to date' plain.err
plain -q --jobs 2 --force -- --nseeds 100 --device llvmpipe --power 3 2> plain.err
check "one refuses what only ifod2 has" grep -q 'sub-01_ses-1_space-ACPC: --power: only --dg ifod2 can use it: the default for this series, of one shell, is det' plain.err
check "the other does not" test "$(grep -c 'only --dg' plain.err)" -eq 1
plain -q --force -- --nseeds 100 --device llvmpipe --response-fa 0.6 2> plain.err
check "one refuses what only csd has" test "$(grep 'only --model' plain.err)" = 'glslines: sub-02_ses-1_space-ACPC: --response-fa: only --model csd can use it'
plain -q --force -- --nseeds 100 --device llvmpipe --boot-retry peak 2> plain.err
check "what neither has is refused before all" test "$(cat plain.err)" = 'glslines: --boot-retry: only --dg boot can use it'
check "--list says why a series is refused" test "$(plain --list -- --power 3 | cut -f 7 | cut -c 1-48)" = "state
sub-01_ses-1_space-ACPC: --power: only --dg ifod
tracked"
plain -q --force -- --nseeds 100 --device llvmpipe --model csd --dg det 2> plain.err
check "a study of one method has no such warning" sh -c '! grep "two methods" plain.err'
plain -q --force -- --nseeds 100 --device llvmpipe --dg det 2> plain.err
check "the warning names the getter that is given" grep -q 'two methods in one study: --dg det over csd .* --dg det over' plain.err
check "--list" test "$(wc -l < list.tsv)" -eq 3
check "columns of --list" awk -F '\t' 'NF != 7 { exit 1 }' list.tsv
check "--unit" bids unit participant --unit "$(sed -n 3p list.tsv | cut -f 1)" -- $options
check "--unit took one" test ! -e unit/sub-01
check "labels with commas" test "$("$program" bids data out participant --participant-label sub-02,01 --list | wc -l)" -eq 3
check "labels with blanks" test "$("$program" bids data out participant --participant-label 01 sub-02 --list | wc -l)" -eq 3
check "states of --list" test "$("$program" bids data unit participant --list -- $options | cut -f 7 | tail -n +2 | sort -u | tr '\n' ,)" = ready,tracked,
check "--seed-region of a file" test "$("$program" bids data out participant --seed-region label-WM_probseg --list -- $options | grep -c 'WM_probseg.nii.gz.tracked')" -eq 2
check "without that file" test "$("$program" bids data out participant --seed-region label-GM_mask --list | grep -c 'no label-GM_mask in its space')" -eq 2
exits 2 "none of auto, wm, aseg" bids out participant --seed-region fa:2
check "--seed-region fa:X" bids by_fa participant --participant-label 01 --seed-region fa:0.3 -- $options
check "what to cite" grep -q '^- .*residual bootstrap' by_fa/logs/CITATION.md
check "the licence of the data" grep -q '"License":.*CC0' by_fa/dataset_description.json
sed -i 's/"Version":.*/"Version": "0.0.1"/' by_fa/dataset_description.json
"$program" bids data by_fa participant --participant-label 01 --no-report --seed-region fa:0.3 -- $options 2> version.err
check "another version goes on" grep -q 'was begun by glslines 0.0.1' version.err
check "and is added" test "$(grep -c '"Version"' by_fa/dataset_description.json)" -eq 2
cp -r data labelled
for n in 01 02; do
    mv labelled/sub-$n/anat/sub-${n}_space-ACPC_label-WM_probseg.nii.gz labelled/sub-$n/anat/sub-${n}_space-ACPC_dseg.nii.gz
done
check "a dseg without a table is not guessed" test "$("$program" bids labelled none participant --list | cut -f 6 | tail -n 1)" = FA
# every warning is in the records of the run; options that bids sets do not count as given, and each name is the name of a file
check "seeds by FA, for want of a segmentation" "$program" bids -q labelled wanting participant --participant-label 01 --jobs 1 -- $options
python3 - << 'PY' || failed=1
import glob, json, os
[sidecar] = glob.glob("wanting/sub-01/**/*_tractogram.json", recursive=True)
[seeds] = glob.glob("wanting/sub-01/**/*_desc-seed_mask.json", recursive=True)
[page] = glob.glob("wanting/sub-01*.html")
run, page = json.load(open(sidecar)), open(page).read()
wanted = "seeds lie where FA is above 0.2, for want of a segmentation"
faults = [what for what, bad in {
    "the warning of the sidecar": len([w for w in run["warnings"] if wanted in w]) != 1,
    "the warning of the seed mask": wanted not in json.load(open(seeds))["Description"],
    "the warning of the report": wanted not in page,
    "the name of the sidecar": run["parameters"]["sidecar"] != sidecar or "run.json" in page or "run.json" in open(sidecar).read(),
    "what was given": {"mask", "roi", "output"} & set(run["defaults"]["changed"]) or "nseeds" not in run["defaults"]["changed"],
    "the origins in the report": any(f'<th scope="row">{name}</th>' in row and "<td>given" in row
                                     for name in ("mask", "roi", "output", "sidecar") for row in page.split("<tr")),
}.items() if bad]
print("FAIL " + ", ".join(faults) if faults else "ok   records of a run with a warning")
raise SystemExit(bool(faults))
PY
printf 'index\tname\n0\tbackground\n1\tWM\n' > labelled/dseg.tsv
check "with a table it is taken" "$program" bids -q labelled by_dseg participant --participant-label 01 --no-report -- $options
check "and gives the same bytes" cmp "$one.trx" "by_dseg${one#out}.trx"
python3 - << 'PY'
bvals = open("phantom/dwi.bval").read().split()
rows = [line.split() for line in open("phantom/dwi.bvec")]
with open("labelled/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_desc-preproc_dwi.b", "w") as f:
    for i, b in enumerate(bvals):  # axes in another order than those of .bvec
        f.write(" ".join([rows[1][i], rows[0][i], rows[2][i], b]) + "\n")
PY
"$program" bids labelled two_tables participant --participant-label 01 --no-report -- $options 2> tables.err
check "tables that differ" grep -q 'differ by up to .* degrees; the latter is taken' tables.err
check "and the bytes of .bvec" cmp "$one.trx" "two_tables${one#out}.trx"
printf '{"dwi": {"subject": ["02", "03"], "datatype": "dwi"}}\n' > filter.json
check "--bids-filter-file" test "$("$program" bids data out participant --bids-filter-file filter.json --list | cut -f 2 | tail -n +2)" = 02
printf '{"dwi": {"eko": "1"}}\n' > filter.json
exits 3 "'eko' is no entity" bids out participant --bids-filter-file filter.json
printf '{"t1w": {}}\n' > filter.json
exits 3 "has no object \"dwi\"" bids out participant --bids-filter-file filter.json
exits 3 "no participant '03'; there are: 01, 02" bids out participant --participant-label 03
exits 3 "unit nothing: there is no such unit" bids out participant --unit nothing
exits 3 "no desc-preproc_dwi" bids out participant --filter space=T1w
exits 2 "is not KEY=VALUE" bids out participant --filter space
exits 2 "neither participant nor group" bids out both
for option in "--output x.trx" "--trace x.json" --report "--picture x.png" --dry-run --json --quiet -v "--progress-file x.json" "--nthreads 1"; do
    exits 2 "cannot follow --" bids out participant -- $option
done
exits 2 "counted from 1" bids out participant --shard 3/2

# --- a data set that the program makes ---
check "phantom --bids" "$program" phantom made -q --bids 01/1,sub-02 --shape 24 24 20 --voxel-size 4
check "its units" test "$(bids2() { "$program" bids -q made --no-report "$@"; }; bids2 made_out participant --list | cut -f 1,7 | tr '\n\t' ',;')" = "unit;state,sub-01_ses-1_space-ACPC;ready,sub-02_space-ACPC;ready,"
check "it is tracked" "$program" bids -q made made_out participant --no-report -- --model opdt --nseeds 100 --sphere small --device llvmpipe
check "with noise of its own" sh -c '! cmp -s made/sub-01/ses-1/dwi/*_dwi.nii.gz made/sub-02/dwi/*_dwi.nii.gz'
"$program" track -q made/sub-02/dwi/*_dwi.nii.gz made/sub-02/dwi/*_dwi.b - made/sub-02/dwi/*_mask.nii.gz made_out/sub-02/dwi/*_desc-seed_mask.nii.gz -o rows.trx --model opdt --nseeds 100 --sphere small --device llvmpipe
check "MRtrix's rows are the same table" python3 -c 'import json, sys; a, b = (json.load(open(f))["lengths"]["mean_mm"] for f in sys.argv[1:]); assert abs(a - b) < 0.02 * b, (a, b)' \
    rows.json made_out/sub-02/dwi/*_tractogram.json

# --- connectomes of an atlas ---
python3 - <<'PY'
import glob, gzip, os, struct
for mask in glob.glob("made/sub-*/**/*_desc-brain_mask.nii.gz", recursive=True):
    raw = gzip.open(mask).read()
    d = struct.unpack("<3h", raw[42:48])
    head = bytearray(raw[:352])
    head[70:74] = struct.pack("<2h", 4, 16)
    lacking = 4 if "sub-02" in mask else 5  # a region that one subject lacks
    folder = "made/" + os.path.basename(mask).split("_")[0] + "/anat/" + os.path.basename(mask).split("_")[0]
    values = [1 + (v // d[0] // d[1]) // 10 * 2 + (v % d[0]) // (d[0] // 2 + 1) for v in range(d[0] * d[1] * d[2])]
    values = [v % lacking for v in values]
    gzip.open(folder + "_space-ACPC_seg-Four_dseg.nii.gz", "wb").write(head + struct.pack("<%dh" % len(values), *values))
    open(folder + "_space-ACPC_seg-Four_dseg.json", "w").write('{"SpatialReference": "bids::x"}\n')
open("made/seg-Four_dseg.tsv", "w").write("index\tname\n1\tlower left\n2\tlower-right\n3\tupper-left\n4\tupper-right\n")
PY
atlas() { "$program" bids -q made made_out participant --no-report --atlas Four "$@" -- --model opdt --nseeds 100 --sphere small --device llvmpipe; }
matrix=made_out/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_track-boot_seg-Four_relmat
check "--atlas, of what is tracked" atlas
check "names of the atlas" test "$(head -n 1 $matrix.tsv | tr '\t' ';')" = ";lower_left;lower-right;upper-left;upper-right"
check "table of its regions" test "$(wc -l < "${matrix%relmat}nodes.tsv")" -eq 5
"$program" connectome -q made_out/sub-01/ses-1/dwi/*_tractogram.trx made/sub-01/anat/*_seg-Four_dseg.nii.gz same_relmat.tsv --bids --lut made/seg-Four_dseg.tsv
check "the bytes of glslines connectome" cmp same_relmat.tsv $matrix.tsv
check "its sidecar" python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
assert s["RelationshipMeasure"] == "number of streamlines" and s["StorageFormat"] == "Full" and s["Directed"] is False, s
assert [x.split("/")[0] for x in s["Sources"]] == ["bids::sub-01", "bids:source:sub-01", "bids:source:seg-Four_dseg.tsv"], s["Sources"]
rows = [r.split("\t")[1:] for r in open(sys.argv[2]).read().split("\n")[1:-1]]
assert len(rows) == 4 and rows == [list(c) for c in zip(*rows)], rows
assert sum(int(v) for i, r in enumerate(rows) for v in r[i:]) == s["counts"]["joined"] > 20, (rows, s["counts"])' $matrix.json $matrix.tsv
stat -c %Y.%y $matrix.tsv > before
check "--atlas again" atlas
check "changes nothing" test "$(cat before)" = "$(stat -c %Y.%y $matrix.tsv)"
touch made/sub-01/anat/*_seg-Four_dseg.nii.gz
check "--atlas with the same labels" atlas
check "leaves it" test "$(cat before)" = "$(stat -c %Y.%y $matrix.tsv)"
gzip -dc made/sub-01/anat/*_seg-Four_dseg.nii.gz | gzip -1 > labels
mv labels made/sub-01/anat/*_seg-Four_dseg.nii.gz
check "--atlas with new labels" atlas
check "writes it anew" test "$(cat before)" != "$(stat -c %Y.%y $matrix.tsv)"
python3 - $matrix.json << 'PY'
import json, sys
root = json.load(open(sys.argv[1]))
assert root["parameters"]["labels"] == root["done"]["inputs"].pop("rows") == "lut", root
json.dump(root, open(sys.argv[1], "w"))
PY
check "the sidecar names the rule of the rows" test $? -eq 0
stat -c %Y.%y $matrix.tsv > before
check "--atlas where it does not" atlas
check "writes the matrix anew" test "$(cat before)" != "$(stat -c %Y.%y $matrix.tsv)"
check "with the rule" grep -q '"rows":.*"lut"' $matrix.json
check "with weights" "$program" bids -q made weighted participant --participant-label 02 --no-report --atlas Four -- --nseeds 100 --model csd --weights --device llvmpipe
check "a row for the region that the subject lacks" test "$(sed -n '1s/\t/;/gp;$p' weighted/sub-02/dwi/*_relmat.tsv | tr '\t' ';' | tr '\n' ' ')" = ";lower_left;lower-right;upper-left;upper-right upper-right;0;0;0;0 "
check "that the sidecar tells of" grep -q '"RelationshipMeasure":.*"sum of streamlines, weighted"' weighted/sub-02/dwi/*_relmat.json
# bundles of an atlas in each tractogram, and the table of all of them
tracks=$(echo made_out/sub-01/ses-1/dwi/*_track-boot_tractogram.trx)
mkdir models
"$program" cluster -q "$tracks" -o clusters.trx --threshold 15 --by-size --largest 2
for k in cluster_000001 cluster_000002; do "$program" edit -q clusters.trx "models/$k.trk" --group "$k"; done
from() { atlas=$1; shift; "$program" bids -q made made_out participant --no-report --bundle-atlas "$atlas" "$@" -- --model opdt --nseeds 100 --sphere small --device llvmpipe; }
bundles() { from models "$@"; }
found=made_out/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_track-boot_desc-bundles
check "--bundle-atlas, of what is tracked" bundles
check "two bundles" test "$(wc -l < ${found}_tracts.tsv)" -eq 3
"$program" recognize -q "$tracks" models -o same.trx --recognized-only --table same.tsv
check "the table of glslines recognize" cmp same.tsv ${found}_tracts.tsv
check "its groups" test "$("$program" info same.trx | grep cluster_)" = "$("$program" info ${found}_tractogram.trx | grep cluster_)"
stat -c %Y.%y ${found}_tracts.tsv > before
check "--bundle-atlas again" bundles
check "changes no bundles" test "$(cat before)" = "$(stat -c %Y.%y ${found}_tracts.tsv)"
# profiles along them by the nodes of the atlas, of FA and of an image of each participant
along=${found%bundles}profiles_tracts
own='made/sub-{subject}/[ses-{session}/]dwi/sub-{subject}[_ses-{session}]_space-{space}_desc-brain_mask.nii.gz'
mask=made/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_desc-brain_mask.nii.gz
fa=made_out/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_model-tensor_param-fa_dwimap.nii.gz
by_hand() { "$program" profile -q ${found}_tractogram.trx "$fa" "$mask" -o same_profiles.tsv --long --names fa,desc-brain_mask --force "$@"; }
check "--bundle-profile" bundles --fit-outputs --bundle-profile "$own"
by_hand --assign models
check "the table of glslines profile --assign" cmp same_profiles.tsv $along.tsv
check "values of both images" python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
values = [float(r["value"]) for r in rows if r["scalar"] == "fa"]
assert len(rows) == 400 and len(set(values)) > 50 and all(0 < v < 1 for v in values if v == v), len(rows)
inside = {float(r["value"]) for r in rows if r["scalar"] == "desc-brain_mask"}
assert all(0.5 < v < 1 + 1e-12 for v in inside if v == v), inside' $along.tsv
stat -c %Y.%y $along.tsv > before
check "--bundle-profile again" bundles --fit-outputs --bundle-profile "$own"
check "changes no profiles" test "$(cat before)" = "$(stat -c %Y.%y $along.tsv)"
check "group of profiles" "$program" bids -q made made_out group --wide
check "the profiles of all, and a line for each tractogram" python3 -c 'import csv, sys
rows = list(csv.reader(open("made_out/bundle_profiles.tsv"), delimiter="\t"))
own = list(csv.reader(open(sys.argv[1]), delimiter="\t"))
assert rows[0] == ["participant_id", "session_id", "tractogram", *own[0]], rows[0]
assert [r[3:] for r in rows if r[0] == "sub-01"] == own[1:] and {(r[0], r[1]) for r in rows[1:]} == {("sub-01", "ses-1"), ("sub-02", "n/a")}, rows
head, *lines = csv.reader(open("made_out/bundle_profiles_wide.tsv"), delimiter="\t")
found = {(r[0], "--".join(r[3:6])): r[6] for r in rows[1:]}
assert [line[0] for line in lines] == ["sub-01", "sub-02"], [line[:3] for line in lines]
assert all(found.get((line[0], name), "n/a") == cell for line in lines for name, cell in zip(head[3:], line[3:])), head
assert sum(cell != "n/a" for line in lines for cell in line[3:]) == len(found) > 400, len(found)' $along.tsv
exits 2 "is one file for all series" bundles --bundle-profile "$mask"
exits 2 "needs --bundle-atlas" "$program" bids made made_out participant --bundle-profile "$own"
exits 2 "needs --bundle-atlas" "$program" bids made made_out group --bundle-profile "$own"
# columns of one name are found before anything is tracked
exits 2 "two images would have the column desc-brain_mask" "$program" bids made unmade participant --bundle-atlas models --bundle-profile "$own" --bundle-profile "$own"
exits 2 "two images would have the column fa, which is that of --fit-outputs" "$program" bids made unmade participant --fit-outputs --bundle-atlas models --bundle-profile 'xfm/{subject}_fa.nii.gz'
exits 2 "would have the column nodeID" "$program" bids made unmade participant --bundle-atlas models --bundle-profile 'xfm/{subject}_nodeID.nii.gz'
check "before tracking" test -z "$(find unmade -name '*_tractogram*' 2>&1 | grep -v 'No such file')"
exits 3 "no such file" from models --participant-label 02 --bundle-profile 'xfm/sub-{subject}_md.nii.gz'
# an atlas elsewhere, and a matrix for each series; the one of sub-01 brings it back, sub-02 has none
mkdir moved xfm
printf '1 0 0 500\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > far.txt
printf '1 0 0 30\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > to_there.txt
printf '1 0 0 -30\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > xfm/sub-01_ses-1_xfm.txt
for k in cluster_000001 cluster_000002; do "$program" edit -q "models/$k.trk" "moved/$k.trk" --transform to_there.txt; done
check "--bundle-transform" from moved --participant-label 01 --bundle-transform 'xfm/sub-{subject}[_ses-{session}]_xfm.txt'
"$program" recognize -q "$tracks" moved --atlas-transform xfm/sub-01_ses-1_xfm.txt --table same.tsv --force
check "the table of glslines recognize --atlas-transform" cmp same.tsv ${found}_tracts.tsv
check "that its sidecar names" grep -q '"atlas_transform":.*"xfm/sub-01_ses-1_xfm.txt"' ${found}_tractogram.json
check "profiles in its space" from moved --participant-label 01 --bundle-transform 'xfm/sub-{subject}[_ses-{session}]_xfm.txt' --fit-outputs --bundle-profile "$own"
by_hand --assign moved --atlas-transform xfm/sub-01_ses-1_xfm.txt
check "the table of glslines profile --atlas-transform" cmp same_profiles.tsv $along.tsv
exits 3 "no such file" from moved --participant-label 02 --bundle-transform 'xfm/sub-{subject}_xfm.txt'
exits 2 "needs --bundle-atlas" "$program" bids made made_out participant --bundle-transform 'xfm/sub-{subject}_xfm.txt'
exits 2 "is one file for all series" from moved --bundle-transform to_there.txt
# the same as a chain from the series to the atlas, of which the first half is the participant's
printf '1 0 0 10\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > xfm/sub-01_half.txt
printf '1 0 0 -20\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > rest.txt
check "--bundle-chain" from moved --participant-label 01 --bundle-chain 'xfm/sub-{subject}_half.txt' --bundle-chain rest.txt,inverse
"$program" recognize -q "$tracks" moved -t xfm/sub-01_half.txt -t rest.txt,inverse --table same.tsv --force
check "the table of glslines recognize --transform" cmp same.tsv ${found}_tracts.tsv
check "which its sidecar names" grep -q '"rest.txt,inverse"' ${found}_tractogram.json
check "profiles by a chain" from moved --participant-label 01 --bundle-chain 'xfm/sub-{subject}_half.txt' --bundle-chain rest.txt,inverse --fit-outputs --bundle-profile "$own"
by_hand --assign moved --assign-transform xfm/sub-01_half.txt --assign-transform rest.txt,inverse
check "the table of glslines profile --assign-transform" cmp same_profiles.tsv $along.tsv
# of a tractogram in which no bundle is found there is a table without rows
mkdir far
"$program" edit -q models/cluster_000001.trk far/cluster_000001.trk --transform far.txt
check "--bundle-profile without bundles" from far --participant-label 01 --fit-outputs
check "has a head alone" test "$(cat $along.tsv)" = "$(head -n 1 same_profiles.tsv)"
cp ${found}_tracts.tsv chained.tsv
printf '1 0 0 -19\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > rest.txt
check "--bundle-chain with another file" from moved --participant-label 01 --bundle-chain 'xfm/sub-{subject}_half.txt' --bundle-chain rest.txt,inverse
check "finds other distances" test "$(cmp -s chained.tsv ${found}_tracts.tsv && echo same)" != same
exits 3 "no such file" from moved --participant-label 02 --bundle-chain 'xfm/sub-{subject}_half.txt' --bundle-chain rest.txt
exits 2 "needs --bundle-atlas" "$program" bids made made_out participant --bundle-chain 'xfm/sub-{subject}_half.txt'
exits 2 "is one file for all series" from moved --bundle-chain rest.txt
exits 2 "exclude each other" from moved --bundle-chain 'xfm/sub-{subject}_half.txt' --bundle-transform 'xfm/sub-{subject}_xfm.txt'
check "--bundle-atlas in its space again" bundles
# profiles go with the bundles that they run along, and the joined tables with the last of them
check "profiles again" bundles --bundle-profile "$own"
check "group of them" "$program" bids -q made made_out group --wide
check "joined" test -e made_out/bundle_profiles.tsv -a -e made_out/bundle_profiles_wide.tsv
check "without --bundle-profile, of the same bundles" bundles
check "they stay" test -e $along.tsv
rm models/cluster_000002.trk
check "--bundle-atlas with another atlas" bundles
check "no profiles along the bundles of the old one" test -z "$(find made_out -name '*_desc-profiles_*')"
check "finds its bundle" test "$(wc -l < ${found}_tracts.tsv)" -eq 2
check "group of bundles" "$program" bids -q made made_out group
check "no joined profiles of the old ones" test ! -e made_out/bundle_profiles.tsv -a ! -e made_out/bundle_profiles_wide.tsv
check "the rows of all" python3 -c 'import csv
rows = list(csv.DictReader(open("made_out/bundles.tsv"), delimiter="\t"))
assert [(r["participant_id"], r["session_id"]) for r in rows] == [("sub-01", "ses-1"), ("sub-02", "n/a")], rows
assert rows[0]["tractogram"] == "sub-01_ses-1_space-ACPC_track-boot" and int(rows[0]["streamlines"]) > 0 and rows[0]["bundle"] == "cluster_000001", rows'
sed -i '1s/bundle/name/' ${found}_tracts.tsv
exits 3 "is no table of bundles" "$program" bids made made_out group
check "group.tsv lists no bundles" test "$(grep -c desc-bundles_ made_out/group.tsv)" -eq 0
check "a table of bundles that was changed stays" test "$(bundles 2>&1 | grep -c "has changed since")" -eq 1
# bundles of an atlas as groups of the tractogram itself; its folder is a part of what was tracked
grouped() { "$program" bids made grouped participant --participant-label 02 --no-report -- --model opdt --nseeds 100 --sphere small --device llvmpipe "$@"; }
check "--recognize of track" grouped --recognize models
check "gives the tractogram a group" test "$("$program" info grouped/sub-02/dwi/*.trx | grep -c 'group *cluster_000001')" -eq 1
exits 0 "1 up to date" grouped --recognize models
cp models/cluster_000001.trk models/another.trk
exits 4 "tracked with another recognize" grouped --recognize models
exits 2 "leave out what follows the colon" grouped --recognize models:t.tsv
rm models/another.trk
# the tables of the level group: all connectomes, series that were not tracked, and files that others have
check "profiles of one participant" from models --participant-label 02 --bundle-profile "$own"
cp -r weighted joined
cp -r made_out/sub-02/dwi/*_track-boot_* joined/sub-02/dwi/
printf 'sub-07_space-ACPC\tfailed\tno <b>brain</b>_mask\nsub-02_space-ACPC\tfailed\tof another run\n' >> joined/logs/units.tsv
cp joined/sub-02/dwi/sub-02_space-ACPC_tract-wholebrain_track-probcsd_tractogram.json joined/sub-02/dwi/sub-02_space-ACPC_tract-wholebrain_track-ptt_tractogram.json
check "group of connectomes" "$program" bids -q made joined group --wide
exits 0 "seg-Four: 1 of 3 tractograms have no connectome" "$program" bids made joined group --wide
python3 - << 'PY' || failed=1
import csv, glob
rows = list(csv.DictReader(open("joined/group.tsv"), delimiter="\t"))
faults = []
by = {row["tractogram"]: row for row in rows}
def is_same(what, is_value, wanted):
    if is_value != wanted:
        faults.append(f"{what}: {is_value}, not {wanted}")
is_same("participants", sorted({(row["participant_id"], row["session_id"]) for row in rows}), [("sub-02", "n/a"), ("sub-07", "n/a")])
is_same("no tractogram", by["n/a"]["missing"], "tractogram (failed: no <b>brain</b>_mask)")
is_same("missing", {k.split("track-")[1]: row["missing"] for k, row in by.items() if k != "n/a"}, {"boot": "n/a", "probcsd": "desc-bundles, desc-profiles", "ptt": "desc-bundles, desc-profiles, seg-Four"})
page = open("joined/index.html").read()
is_same("the page", (page.count("<tr>"), "<b>" in page, "<td>desc-bundles, desc-profiles, seg-Four</td>" in page), (5, False, True))
table = list(csv.DictReader(open("joined/connectomes_seg-Four.tsv"), delimiter="\t"))
for path in glob.glob("joined/sub-02/dwi/*_relmat.tsv"):
    head, *lines = csv.reader(open(path), delimiter="\t")
    name = path.split("/")[-1].replace("_seg-Four_relmat.tsv", "")
    wanted = {(line[0], head[k]): line[k] for i, line in enumerate(lines) for k in range(i + 1, len(head)) if line[k] != "0"}
    is_same(path, {(r["region_1"], r["region_2"]): r["value"] for r in table if r["connectome"] == name}, wanted)
wide = list(csv.DictReader(open("joined/connectomes_seg-Four_wide.tsv"), delimiter="\t"))
for row in wide:
    cells = {tuple(name.split("--")): value for name, value in row.items() if "--" in name}
    wanted = {(r["region_1"], r["region_2"]): r["value"] for r in table if r["connectome"] == row["connectome"]}
    is_same(f"pairs of {row['connectome']}", (len(cells), {pair: value for pair, value in cells.items() if value != "0"}), (10, wanted))
is_same("lines of the wide table", [row["participant_id"] for row in wide], ["sub-02", "sub-02"])
is_same("connectomes", len({r["connectome"] for r in table}), 2)
print("FAIL " + "; ".join(faults) if faults else "ok   tables of the level group")
raise SystemExit(bool(faults))
PY
printf '1\n1\n' > joined/design.txt
echo 1 > joined/contrast.txt
check "permute takes the list of the wide table" "$program" permute joined/connectomes_seg-Four_list.txt joined/design.txt joined/contrast.txt -o joined/tested --notest -q
check "in the order of the wide table" test "$(grep -v '^#' joined/connectomes_seg-Four_list.txt | sed 's/.*dwi.//; s/_seg-.*//')" = "$(tail -n 2 joined/connectomes_seg-Four_wide.tsv | cut -f 3)"
rm joined/tested* joined/design.txt joined/contrast.txt
sed -i.kept 's/lower-right/lower-middle/g' joined/sub-02/dwi/*_track-boot_seg-Four_relmat.tsv
exits 3 "matrices of --wide need the same regions" "$program" bids made joined group --wide
check "regions that differ, in the long table" "$program" bids made joined group
mv joined/sub-02/dwi/*_relmat.tsv.kept "$(ls joined/sub-02/dwi/*_track-boot_seg-Four_relmat.tsv)"
sed -i '$d' joined/sub-02/dwi/*_track-boot_seg-Four_relmat.tsv
exits 3 "has 3 rows, but 4 regions" "$program" bids made joined group
exits 3 "no seg-, atlas- or desc-Other_dseg in its space" "$program" bids made other_out participant --atlas Other
exits 2 "'a_b': labels of BIDS have letters, digits and + alone" "$program" bids made other_out participant --atlas a_b
exits 2 "must end in _relmat.tsv" "$program" connectome rows.trx made/sub-01/anat/*_seg-Four_dseg.nii.gz other.tsv --bids
exits 4 "exists" "$program" phantom made --bids 01
exits 2 "no label of a subject" "$program" phantom other_made --bids 01,a_b
exits 2 "'p-e' is no label of a subject or session" "$program" phantom other_made --bids 01/p-e

# --- segmentations, tables ---
aseg=data/sub-01/anat/sub-01_space-ACPC_desc-aseg_dseg.nii.gz
mv data/sub-01/anat/sub-01_space-ACPC_label-WM_probseg.nii.gz wm.nii.gz
rm data/sub-01/anat/sub-01_space-ACPC_label-WM_probseg.json
if have mrcalc; then
    mrcalc -quiet wm.nii.gz 0 -gt 2 -mult "$aseg"
    check "desc-aseg_dseg" bids aseg participant --participant-label 01 -- $options
    check "the same region" cmp plain.trx "aseg/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-boot_tractogram.trx"
    mrgrid -quiet wm.nii.gz regrid -voxel 1.4 data/sub-01/anat/sub-01_space-ACPC_label-WM_probseg.nii.gz
    check "white matter on a finer grid" bids finer participant --participant-label 01 -- $options
    rm data/sub-01/anat/*
fi
exits 0 "seeds lie where FA is above 0.2" "$program" bids data --no-report fa participant --participant-label 01 -- $options
exits 3 "no label-WM_probseg" bids wm participant --participant-label 01 --seed-region wm
mkdir -p other/sub-01/anat && cp wm.nii.gz other/sub-01/anat/sub-01_space-ACPC_label-WM_probseg.nii.gz
check "--derivatives" bids other1 participant --participant-label 01 --derivatives other --seed-region wm -- $options
cp wm.nii.gz data/sub-01/anat/sub-01_space-ACPC_label-WM_probseg.nii.gz

# --- broken data sets ---
dwi=data/sub-02/ses-1/dwi/sub-02_ses-1_space-ACPC_desc-preproc_dwi
mv $dwi.bvec saved
exits 3 "no .bvec" bids broken participant -- $options
check "the other one is tracked" test -s broken/sub-01/ses-1/dwi/sub-01_ses-1_space-ACPC_tract-wholebrain_track-boot_tractogram.trx
cut -d ' ' -f 1-60 saved > $dwi.bvec
exits 3 "vectors, but the series has" bids broken participant --participant-label 02
mv saved $dwi.bvec
mv $dwi.nii.gz saved && ln -s ../../../.git/annex/nothing $dwi.nii.gz
exits 3 "datalad get" bids broken participant --participant-label 02
rm $dwi.nii.gz && mv saved $dwi.nii.gz
cp $dwi.nii.gz data/sub-02/ses-1/dwi/sub-02_ses-1_space-T1w_desc-preproc_dwi.nii.gz
exits 3 "one scan in two forms" bids broken participant --participant-label 02
check "--filter chooses" bids filtered participant --participant-label 02 --filter space=ACPC -- $options
rm data/sub-02/ses-1/dwi/sub-02_ses-1_space-T1w_desc-preproc_dwi.nii.gz
cp $dwi.nii.gz data/sub-02/ses-1/dwi/sub-0-2_desc-preproc_dwi.nii.gz
check "a name that is none of BIDS is passed over" bids names participant --participant-label 02 -- $options
rm data/sub-02/ses-1/dwi/sub-0-2_desc-preproc_dwi.nii.gz
describe raw
exits 3 "is a raw data set" bids broken participant
describe derivative
mkdir empty
exits 3 "no desc-preproc_dwi" "$program" bids -q empty broken participant
exits 3 "No such file" "$program" bids -q absent broken participant
touch file
exits 4 "file/logs\|file: cannot be" bids file participant

# --- other readers ---
if [ -n "$python" ]; then
    validate() { "$(dirname "$python")/bids-validator-deno" --ignoreWarnings --format json "$1" > validator.json 2> validator.err
        "$python" -c '
import json, sys
issues = json.load(open("validator.json"))["issues"]["issues"]
errors = [i for i in issues if i.get("severity") == "error"]
print(*errors, sep="\n")
sys.exit(bool(errors))'; }
    check "the output is valid BIDS" validate out
    check "so is what phantom --bids makes" validate made
    check "and what is made of it" validate made_out
    check "and with --fit-outputs" validate legacy
    check "so it is with reports and figures" validate both
    check "pybids and trx-python find and read it" "$python" -c '
import json, warnings
warnings.simplefilter("ignore")
from bids import BIDSLayout
from trx.trx_file_memmap import load
layout = BIDSLayout("out", validate=False, is_derivative=True)
files = [f for f in layout.get(suffix="tractogram", extension=".trx")]
assert len(files) == 3, files
for f in files:
    assert f.entities["space"] == "ACPC" and f.entities["session"] == "1", f.entities
    assert len(load(f.path)) > 100
    sidecar = json.load(open(f.path[:-4] + ".json"))
    assert all(s.startswith("bids:source:sub-") for s in sidecar["Sources"]), sidecar["Sources"]'
fi
[ $failed -eq 0 ] && echo "all ok"
exit $failed
