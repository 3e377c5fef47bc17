#!/bin/sh
# Names that come from outside, of files, groups, columns and keys: what is printed holds nothing that steers a terminal, tables have a field for each column, and JSON is UTF-8. names.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

cat > check.py << 'END'
"""check.py print FILE...: text that a terminal shows as it is. check.py json FILE...: JSON in UTF-8. check.py table CHARACTER FILE...: as many fields in each row."""
import csv
import json
import sys
import unicodedata

kind, *files = sys.argv[1:]
separator = files.pop(0) if kind == "table" else ""
for name in files:
    with open(name, "rb") as f:
        text = f.read().decode()
    hidden = sorted({c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t"})
    if kind != "table" and hidden:
        sys.exit(f"{name}: {hidden}")
    if kind == "json":
        json.loads(text)
    if kind == "table":
        with open(name, newline="") as f:
            rows = list(csv.reader(f, delimiter=separator))
        if len({len(row) for row in rows}) != 1 or len(rows) < 2:
            sys.exit(f"{name}: rows of {[len(row) for row in rows]} fields")
END
check() {
    python3 check.py "$@" 2> why || note "$* $(cat why)"
}
# prints the output of the last command
printable() {
    check print stdout stderr
}

evil=$(printf 'a\033]0;T\007\233\351"b,c\nd\te\302\233\342\200\256')
folder=$(printf 'sujet_\351t\351')
mkdir "$folder" "$evil"
expect 0 phantom data --shape 18 20 18 --directions 30 -q
cp data/mask.nii.gz "$folder/fa,\"md\".nii.gz"
python3 - "$here" << 'END'
import sys

sys.path.insert(0, sys.argv[1])
import trx

lines = [[(x + 4, y + 4, 5) for x in range(6)] for y in range(4)]
odd = ['\x1b]0;title\x07\x1b[2J', 'CST,left', 'tab\there', 'say "x"', 'n\nl', '\x9b31m', '\u202eright', 'caf\u00e9']
trx.write("odd.trx", lines, dps={n: [float(k)] * 4 for k, n in enumerate(odd)}, dpv={n: [1.0] * 24 for n in odd[:3]},
          groups={n: [0, 1, 2] for n in odd}, dim=(18, 20, 18))
trx.write("columns.trx", lines, dps={n: [float(k)] * 4 for k, n in enumerate(odd) if '"' not in n and "\n" not in n})
END
python3 - << 'END'
import json, shutil, zipfile

shutil.copy("odd.trx", "keys.trx")
with zipfile.ZipFile("odd.trx") as a, zipfile.ZipFile("keys.trx", "w") as b:
    for entry in a.infolist():
        data = a.read(entry)
        if entry.filename == "header.json":
            data = json.dumps(dict(json.loads(data), **{"note\x1b[8m": "\x1b]52;c;cm0=\x07\u202e"})).encode()
        b.writestr(entry, data)
END

# --- printed text: names in the file ---
expect 0 info keys.trx --check --json info.json
printable
says 'note\x1b[8m: \x1b]52;c;cm0=\x07\u202e'
says 'n\x0al: 3 streamlines'
says 'café'
check json info.json
expect 0 stats odd.trx --groups
printable
[ "$(wc -l < stdout)" -eq 10 ] && check table "$(printf '\t')" stdout
expect 0 convert odd.trx lost.tck
printable
expect 0 density odd.trx lost.nii.gz -v
expect 3 edit odd.trx none.trx --group "$evil"
printable
expect 3 convert odd.trx none.trx --fields "$evil"
printable

# --- printed text: names of files, in messages and dry runs of all commands ---
list_commands
for command in $commands; do
    # shellcheck disable=SC2086
    "$tool" "$command" "$evil" "$evil" "$evil" "--$evil" > stdout 2> stderr
    printable
    "$tool" "$command" "$evil" "$evil" "$evil" > stdout 2> stderr
    printable
    "$tool" "$command" "$evil" > stdout 2> stderr
    printable
done
rm -rf "$evil"
mkdir "$evil"
"$tool" "$evil" > stdout 2> stderr
printable
cp data/roi.nii.gz "$evil/roi.nii.gz"
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz --nseeds 200 --model csd --dg det --device llvmpipe
expect 0 track "$@" "$evil/roi.nii.gz" --include "$evil/roi.nii.gz" --fa data/mask.nii.gz -o "$evil/t.trx" --dry-run
printable
says 'output      a\x1b]0;T\x07\x9b\xe9"b,c\x0ad\x09e\u009b\u202e/t.trx'
expect 0 track "$@" "$evil/roi.nii.gz" -o "$evil/t.trx" --dry-run --json
check json stdout
expect 0 phantom "$evil/data" --bids 01 --shape 18 20 18 --directions 30
printable
expect 0 bids "$evil/data" "$evil/tracts" participant --list
printable
check table "$(printf '\t')" stdout
__EGL_VENDOR_LIBRARY_FILENAMES=$evil "$tool" devices --doctor > stdout 2> stderr
printable
__EGL_VENDOR_LIBRARY_FILENAMES=$evil "$tool" devices --doctor --json > stdout 2> stderr
check json stdout

# --- tables: each name is one field, which reads back ---
expect 0 stats odd.trx --groups -o stats.csv --histogram stats.tsv -q
expect 0 profile odd.trx "$folder/fa,\"md\".nii.gz" -o profile.csv --stats -q
expect 0 profile odd.trx "$folder/fa,\"md\".nii.gz" -o buan.tsv --mode buan -q
expect 0 profile odd.trx "$folder/fa,\"md\".nii.gz" -o long.tsv --long -q
expect 2 profile odd.trx "$folder/fa,\"md\".nii.gz" -o none.tsv --long --stats -q
says "--stats and --long exclude each other"
expect 0 sample odd.trx "$folder/fa,\"md\".nii.gz" -o sample.csv -q
expect 0 stats "$folder/../odd.trx" -o path.csv -q
expect 0 density odd.trx groups.nii.gz --groups -q
expect 0 convert columns.trx columns.tck -q
check table , stats.csv profile.csv sample.csv path.csv
check table "$(printf '\t')" stats.tsv long.tsv buan.tsv groups_groups.tsv columns_dps.tsv
check json ./*.json
python3 - << 'END' || note "names in tables"
import csv

odd = {'\x1b]0;title\x07\x1b[2J', 'CST,left', 'tab\there', 'say "x"', 'n\nl', '\x9b31m', '\u202eright', 'caf\u00e9'}


def column(path, name):
    with open(path, newline="") as f:
        return {row[name] for row in csv.DictReader(f, delimiter="," if path.endswith("csv") else "\t")}


for path, name in (("stats.csv", "name"), ("stats.tsv", "name")):
    assert column(path, name) == odd | {"odd.trx"}, (path, column(path, name))
for path, name in (("profile.csv", "tractID"), ("long.tsv", "tractID"), ("buan.tsv", "tractID"), ("groups_groups.tsv", "group")):
    assert column(path, name) == odd, (path, column(path, name))
assert column("long.tsv", "scalar") == {'fa,"md"'}
assert column("path.csv", "name") == {"sujet_\\xe9t\\xe9/../odd.trx"}
END
expect 0 info columns.trx --json names.json
for separator in ',' '	'; do
    # other programs have commas
    python3 -c "
import csv, sys
rows = list(csv.reader(open('columns_dps.tsv', newline=''), delimiter='\t'))
csv.writer(open('dps.csv', 'w', newline=''), delimiter=sys.argv[1], lineterminator='\n').writerows(rows)" "$separator"
    expect 0 convert columns.tck back.trx --reference data/mask.nii.gz --dps dps.csv --force -q
    expect 0 info back.trx --json back.json --force
    python3 -c "
import json
a, b = (sorted(c['name'] for c in json.load(open(f))['tractograms'][0]['dps']) for f in ('back.json', 'names.json'))
assert a == b, (a, b)" || note "columns that go into a table and back"
done
cp data/roi.nii.gz "$folder/truth\"1\".nii.gz"
printf '\357\273\277bundle\ttruth\tends\n# a comment\nb1\t"sujet_\\xe9t\\xe9/truth""1"".nii.gz"\tdata/bundles/cst_left_end0.nii.gz\n' > bundles.tsv
expect 3 score odd.trx --truth bundles.tsv --template data/mask.nii.gz
says 'bundles.tsv: line 3: '
says 'cst_left_end0.nii.gz'

# --- JSON: names that are no UTF-8, and runs that recognise their outputs by them ---
set -- "$@" "$folder/roi.nii.gz" -o "$folder/t.trx" --density "$folder/d.nii.gz"
cp data/roi.nii.gz "$folder"
expect 0 track "$@" --progress json
while IFS= read -r line; do printf '%s\n' "$line" > event && check json event; done < stderr
check json "$folder/t.json"
contains "$folder/t.json" '"sujet_\\xe9t\\xe9/t.trx"'
expect 0 track "$@" --skip-existing
says "nothing to do"
printable
expect 0 report "$folder/t.json" --device llvmpipe
printable
cp "$folder/t.html" report.html
check print report.html
contains report.html 'sujet_\xe9t\xe9/roi.nii.gz'
grep -q 'The tractogram is not there' report.html && note "a tractogram that the sidecar names is not found"
for i in 1 2; do expect 0 track "$@" --shard $i/2; done
expect 0 merge "$folder"/t_shard-*.trx -o "$folder/merged.trx"
check json "$folder/merged.json"
cmp "$folder/merged.trx" "$folder/t.trx" || note "merged shards"
finish "names from outside"
