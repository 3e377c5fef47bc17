#!/bin/sh
# Tests of the commands on tractograms: tracts.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
set -u
tool=$1
work=$2
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
failures=0

note() {
    failures=$((failures + 1))
    echo "FAIL: $*"
    head -n 5 stderr
}

# expect CODE ARGUMENTS...: a failure is one line and leaves no file
expect() {
    code=$1
    shift
    [ "$code" -eq 0 ] || before=$(find . -type f ! -name 'std*' | sort | xargs cksum)
    "$tool" "$@" > stdout 2> stderr
    got=$?
    [ $got -eq "$code" ] || note "$*: exit code $got, not $code"
    [ "$code" -eq 0 ] && return
    [ "$(grep '^glslines: ' stderr | grep -vc '^glslines: warning: ')" -eq 1 ] || note "$*: not one line"
    [ "$before" = "$(find . -type f ! -name 'std*' | sort | xargs cksum)" ] || note "$*: other files than before"
}

# says TEXT: in what the last command printed
says() {
    cat stdout stderr | grep -qF -e "$1" || note "no \"$1\" in the output"
}

touch stdout stderr
expect 0 phantom data --shape 18 20 18 --directions 30 -q
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 300 --model csd --dg det --device llvmpipe -q
expect 0 track "$@" -o t.trx

# --- info ---
expect 0 info t.trx
says "seed_index: 1 x uint32"
expect 0 info t.trx --check --json info.json
says "length "
expect 4 info t.trx --json info.json
expect 0 info t.trx --json info.json --force
expect 2 info
expect 3 info missing.trx
expect 3 info data/dwi.bval
printf 'mrtrix tracks\ndatatype: Float32LE\ncount: 1\nfile: . 64\nEND\n' > nan.tck
python3 - << 'END'
import struct
with open("nan.tck", "ab") as f:
    f.write(bytes(64 - f.tell()))
    f.write(struct.pack("<12f", 1, 2, 3, 4, float("nan"), 6, *[float("nan")] * 3, *[float("inf")] * 3))
END
expect 0 info nan.tck --count
expect 3 info nan.tck --check

# --- convert ---
expect 0 convert t.trx t.trk
[ -s t.trk.json ] || note "no sidecar"
expect 0 convert t.trx t.trk --force
expect 0 convert t.trk t.tck
says "does not hold dps seeds"
expect 2 convert t.tck u.trx
expect 0 convert t.tck u.trx --reference data/mask.nii.gz
expect 4 convert t.tck u.trx --reference data/mask.nii.gz
expect 4 convert t.trx t.trx --force
expect 0 convert t.trx none.trx --fields none
expect 0 convert t.trx one.trx --fields seed_index
expect 0 info one.trx
says seed_index
expect 0 convert one.trx one.tck
expect 3 convert t.trx two.trx --fields nothing
expect 2 convert t.trx half.trk --output-precision half
expect 2 convert t.trx t.vtk
expect 2 convert t.trx
expect 3 convert nan.tck nan.trx --reference data/mask.nii.gz
printf '1 2 3\n' > short.txt
expect 3 convert t.trx short.trx --weights short.txt
python3 - << 'END' || note "conversions and the summary"
import json
(info,) = json.load(open("info.json"))["tractograms"]
assert info["format"] == "TRX" and info["streamlines"] > 100, info
n = info["streamlines"]
with open("weights.txt", "w") as f:
    f.write("# of streamlines\n" + "\n".join(str(0.5 + i) for i in range(n)) + "\n")
assert json.load(open("t.trk.json"))["counts"] == {"read": n, "written": n, "points": info["points"], "outside_reference": 0}
END
expect 0 convert t.trx w.trx --weights weights.txt
expect 0 info w.trx --count
says "weights: min 0.5"

# --- density ---
expect 0 density t.trx d.nii.gz
expect 4 density t.trx d.nii.gz
expect 2 density t.tck e.nii.gz
expect 0 density t.tck e.nii.gz --template data/mask.nii.gz
expect 2 density t.tck f.nii.gz --template data/mask.nii.gz --like mrtrix
expect 0 density t.tck f.nii.gz --template data/mask.nii.gz --like mrtrix --step-size 1
expect 2 density t.trx g.nii.gz --like dipy --mapping ends
expect 2 density t.trx g.nii.gz --step-size 1
expect 2 density t.trx g.txt
expect 2 density t.trx
expect 3 density t.trx g.nii.gz --weights short.txt
expect 3 density t.trx g.nii.gz --weights dps:nothing
expect 3 density t.trx g.nii.gz --template missing.nii
expect 3 density nan.tck g.nii.gz --template data/mask.nii.gz
expect 0 density w.trx w1.nii.gz --weights weights.txt
expect 0 density w.trx w2.nii.gz --weights dps:weights
cmp w1.nii.gz w2.nii.gz || note "weights of a file and of a column"
OMP_NUM_THREADS=1 "$tool" density w.trx w3.nii.gz --weights weights.txt --mapping length -q
OMP_NUM_THREADS=7 "$tool" density w.trx w4.nii.gz --weights weights.txt --mapping length -q
cmp w3.nii.gz w4.nii.gz || note "one thread and seven"
# straight from the tracker: the bytes of the map of the file, and the tractogram that there is without
for batch in 100 100000; do
    expect 0 track "$@" -o again.trx --density again.nii.gz --chunk-size $batch --force
    cmp d.nii.gz again.nii.gz || note "--density with batches of $batch"
    cmp t.trx again.trx || note "the tractogram beside --density"
done
expect 4 track "$@" -o v.trx --density again.nii.gz
expect 4 track "$@" -o v.nii.trx --density data/mask.nii.gz --force
expect 2 track "$@" -o v.trx --density v.txt
expect 2 track "$@" -o v.trx --density v.nii --shard 1/2

# --- connectome ---
python3 - << 'END'
import gzip, struct
raw = gzip.open("data/mask.nii.gz").read()
head, n = bytearray(raw[:352]), 18 * 20 * 18
head[70:74] = struct.pack("<2h", 4, 16)
labels = [0 if 6 <= v // 360 < 12 else 3 + v // 360 for v in range(n)]
for name, values in (("labels", labels), ("zeros", [0] * n), ("halves", [0.5] * n)):
    with open(name + ".nii", "wb") as f:
        f.write(head + struct.pack(f"<{n}h", *(int(v) for v in values)))
head[70:74] = struct.pack("<2h", 16, 32)
with open("halves.nii", "wb") as f:
    f.write(head + struct.pack(f"<{n}f", *[0.5] * n))
END
expect 0 connectome t.trx labels.nii c.csv
[ "$(wc -l < c.csv)" -eq 12 ] || note "not a row for each label that occurs"
expect 4 connectome t.trx labels.nii c.csv
expect 0 connectome t.trx labels.nii c.tsv --assign end --symmetric
expect 0 connectome t.trx labels.nii keep.txt --keep-unassigned --stat-edge min --scale length
grep -q nan keep.txt || note "no empty cell of the smallest lengths"
expect 0 connectome w.trx labels.nii w1.csv --weights weights.txt
expect 0 connectome w.trx labels.nii w2.csv --weights dps:weights
cmp w1.csv w2.csv || note "weights of a file and of a column, connectome"
OMP_NUM_THREADS=1 "$tool" connectome w.trx labels.nii w3.csv --weights weights.txt -q
cmp w1.csv w3.csv || note "one thread and several, connectome"
expect 2 connectome t.trx labels.nii
expect 2 connectome t.trx labels.nii e.csv --radius 0
expect 3 connectome t.trx zeros.nii e.csv
expect 3 connectome t.trx halves.nii e.csv
expect 3 connectome t.trx data/dwi.nii.gz e.csv
expect 3 connectome t.trx labels.nii e.csv --weights short.txt
for batch in 100 100000; do
    expect 0 track "$@" -o again.trx --connectome labels.nii:again.csv --density again.nii.gz --chunk-size $batch --force
    cmp c.csv again.csv && cmp d.nii.gz again.nii.gz && cmp t.trx again.trx || note "--connectome with batches of $batch"
done
expect 4 track "$@" -o v.trx --connectome labels.nii:again.csv
expect 2 track "$@" -o v.trx --connectome labels.nii
expect 3 track "$@" -o v.trx --connectome missing.nii:v.csv
expect 4 track "$@" -o v.trx --connectome labels.nii:labels.nii --force

[ $failures -eq 0 ] && echo "ok   commands on tractograms"
exit $failures
