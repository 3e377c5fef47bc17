#!/bin/sh
# Tests of the commands on tractograms: tracts.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

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

# images
expect 0 info data/dwi.nii.gz t.trx data/mask.nii.gz --json listed.json
says "gradients    data/dwi.bval: "
says "strides      -1,2,3,4"
expect 0 info data/mask.nii.gz --count
says "values       min 0, "
python3 - << 'END' || note "JSON of images"
import json
listed = json.load(open("listed.json"))
dwi, mask = listed["images"]
assert len(listed["tractograms"]) == 1 and dwi["volumes"] > 30 and mask["volumes"] == 1 and len(mask["strides"]) == 3
assert sum(shell["volumes"] for shell in dwi["gradients"]["shells"]) == dwi["volumes"] and "gradients" not in mask
END
expect 3 info missing.nii.gz

# --- convert ---
expect 0 convert t.trx t.trk
[ -s t.trk.json ] || note "no sidecar"
expect 0 convert t.trx t.trk --force
expect 0 convert t.trk t.tck
[ -s t_dps.tsv ] || note "no table of columns beside a TCK file"
# every command reads compressed inputs
gzip -k t.tck t.trk
expect 0 convert t.tck.gz unpacked.tck
expect 0 convert t.trk.gz unpacked2.tck
cmp t.tck unpacked.tck && cmp t.tck unpacked2.tck || note "compressed tractograms"
expect 0 info t.tck.gz --count
says "TCK, float32 positions, compressed"
gzip -c data/mask.nii.gz > image.gz
expect 3 info image.gz
says "holds no tractogram"
expect 2 convert t.tck v.tck.gz
TMPDIR=$work/missing expect 4 info t.tck.gz
says "set TMPDIR to another folder"
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
expect 0 convert t.trx t.vtk
expect 0 convert t.vtk from_vtk.trx --reference data/mask.nii.gz
expect 0 info from_vtk.trx
says "seeds: 3 x float32"
expect 2 convert t.trx t.vtp
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

# TRK: groups become a number, whose names the sidecar has; a streamline of two groups counts for the first
printf '0\n1\n' > two.txt
printf '2\n3\n4\n' > three.txt
expect 0 edit t.trx left.trx --ids two.txt
expect 0 edit t.trx right.trx --ids three.txt
expect 0 edit left.trx right.trx both.trx --group-by-file
expect 0 convert both.trx both.trk
expect 0 convert both.trk groups.tck
python3 - << 'END' || note "groups in a TRK file"
import json
rows = [line.split("\t") for line in open("groups_dps.tsv").read().splitlines()]
assert [float(row[rows[0].index("group")]) for row in rows[1:]] == [1, 1, 2, 2, 2], rows
sidecar = json.load(open("both.trk.json"))
assert sidecar["groups"] == ["left", "right"] and "lost" not in sidecar and sidecar["seconds"]["total"] >= 0, sidecar
END
expect 3 convert both.trx short.trx --weights short.txt
says "short.txt: has 3 values, but there are more streamlines"
expect 0 info both.trx --count --json both_info.json
says "regular, "
contains both_info.json points_outside_grid
expect 0 edit both.trx thin_both.trx --compress 0.1
expect 0 info thin_both.trx --count
says "compressed, or of different lengths"
# the sidecar has the lines of the input's header that the header of the output cannot hold
printf 'mrtrix tracks\nmethod: test\nmade: at 12:30\ndatatype: Float32LE\ncount: 0\nfile: . 128\nEND\n' > keys_in.tck
python3 -c 'import struct; f = open("keys_in.tck", "ab"); f.write(bytes(128 - f.tell()) + struct.pack("<3f", *[float("inf")] * 3))'
expect 0 convert keys_in.tck keys_out.tck
grep -aqx 'method: test' keys_out.tck || note "a key of a TCK file"
python3 -c 'import json; assert json.load(open("keys_out.json"))["header_of_input"] == {"made": "at 12:30"}' || note "keys that a TCK file does not hold"
expect 0 convert keys_in.tck keys_out.trx --reference data/mask.nii.gz
python3 -c 'import json; assert json.load(open("keys_out.trx.json"))["header_of_input"] == {"method": "test", "made": "at 12:30"}' || note "keys that a TRX file does not hold"
rm -f both.trx both.json left.trx left.json right.trx right.json thin_both.* groups*

# --- density ---
expect 0 density t.trx d.nii.gz
says "mapping: segment"
expect 4 density t.trx d.nii.gz
expect 2 density t.tck e.nii.gz
expect 0 density t.tck e.nii.gz --template data/mask.nii.gz
expect 2 density t.tck f.nii.gz --template data/mask.nii.gz --like mrtrix
expect 0 density t.tck f.nii.gz --template data/mask.nii.gz --like mrtrix --step-size 1
expect 2 density t.trx g.nii.gz --like dipy --mapping ends
expect 2 density t.trx g.nii.gz --step-size 1
expect 2 density t.trx g.txt
expect 2 density t.trx
# images of MRtrix3 have the values of the NIfTI
expect 0 density t.trx d.mif.gz
expect 0 sample t.trx d.nii.gz -o nifti.tsv
expect 0 sample t.trx d.mif.gz -o mif.tsv
tail -n +2 nifti.tsv > a && tail -n +2 mif.tsv > b && cmp a b || note "the map as .mif"
expect 2 density t.trx g.nii.gz --contrast scalar_map
expect 2 density t.trx g.nii.gz --image data/mask.nii.gz
expect 2 density t.trx g.nii.gz --contrast nothing
expect 3 density t.trx g.nii.gz --contrast dps:nothing
says 't.trx: has no column "nothing" with one value for each streamline'
expect 2 density t.trx g.nii.gz --stat-vox mean
expect 2 density t.trx g.nii.gz --voxel-size 1,2
expect 7 density t.trx g.nii.gz --voxel-size 0.001
expect 2 density t.trx g.nii.gz --dec --mapping ends
expect 2 density t.trx g.nii.gz --upsample 3
expect 2 density t.trx g.nii.gz --threshold 3
expect 3 density t.trx g.nii.gz --groups
expect 0 density t.trx vox.nii.gz --voxel-size 3 --contrast invlength --stat-vox max --normalize max --mask-out vox_mask.nii.gz --threshold 0.5
expect 3 density t.trx g.nii.gz --weights short.txt
expect 3 density t.trx g.nii.gz --weights dps:nothing
says 't.trx: has no column "nothing" with one value for each streamline'
expect 3 density t.trx g.nii.gz --template missing.nii
expect 3 density nan.tck g.nii.gz --template data/mask.nii.gz
expect 0 density w.trx w1.nii.gz --weights weights.txt
expect 0 density w.trx w2.nii.gz --weights dps:weights
cmp w1.nii.gz w2.nii.gz || note "weights of a file and of a column"
OMP_NUM_THREADS=1 "$tool" density w.trx w3.nii.gz --weights weights.txt --mapping length -q
OMP_NUM_THREADS=7 "$tool" density w.trx w4.nii.gz --weights weights.txt --mapping length -q
cmp w3.nii.gz w4.nii.gz || note "one thread and seven"
# points outside are counted, and warned of from 1 % on; the space of the template is known, that of the streamlines is not
python3 - << 'END'
import gzip, struct
raw = bytearray(gzip.open("data/mask.nii.gz").read())
raw[252:256] = struct.pack("<2h", 4, 4)
open("mni.nii", "wb").write(raw)
raw[42:44] = struct.pack("<h", 9)
open("half.nii", "wb").write(raw[: 352 + (len(raw) - 352) // 2])
END
for mapping in segment length vertex ends; do
    expect 0 density t.trx half.nii.gz --template half.nii --mapping $mapping --force
    says "% of all that would be counted"
    python3 - $mapping << 'END' || note "places outside the map, --mapping $mapping"
import json, sys
c = json.load(open("half.nii.json"))["counts"]
points = json.load(open("info.json"))["tractograms"][0]["points"]
assert 0 < c["places_outside"] < c["places"] == (2 * c["read"] if sys.argv[1] == "ends" else points), c
assert c["read"] == c["used"] + c["outside"] + c["without_points"] + c["without_value"], c
END
done
expect 0 density t.trx mni.nii.gz --template mni.nii
python3 - << 'END' || note "space and description of a map"
import gzip, struct
header = gzip.open("mni.nii.gz").read(352)
assert struct.unpack("<2h", header[252:256]) == (4, 4) and header[148:164] == b"glslines density", header[148:260]
assert gzip.open("d.nii.gz").read()[352:] == gzip.open("mni.nii.gz").read()[352:]
END
grep -q "lie outside the map" stderr && note "a warning without anything outside"
# straight from the tracker: the map has the bytes of the map of the file, and the tractogram has those of a run without a map
for batch in 100 100000; do
    expect 0 track "$@" -o again.trx --density again.nii.gz --chunk-size $batch --force
    cmp d.nii.gz again.nii.gz || note "--density with batches of $batch"
    cmp t.trx again.trx || note "the tractogram beside --density"
done
expect 4 track "$@" -o v.trx --density again.nii.gz
expect 4 track "$@" -o v.nii.trx --density data/mask.nii.gz --force
expect 2 track "$@" -o v.trx --density v.txt
expect 2 track "$@" -o none
for part in 1 2 3; do expect 0 track "$@" -o none --density part.nii.gz --shard $part/3; done
expect 3 merge -o parts.nii.gz part_shard-1of3.nii.gz part_shard-2of3.nii.gz
expect 3 merge -o parts.nii.gz part_shard-1of3.nii.gz part_shard-1of3.nii.gz part_shard-2of3.nii.gz
expect 0 merge -o parts.nii.gz part_shard-3of3.nii.gz part_shard-1of3.nii.gz part_shard-2of3.nii.gz
cmp d.nii.gz parts.nii.gz || note "the sum of the maps of shards"
for part in 1 2; do expect 0 track "$@" -o none --density part.mif.gz --shard $part/2; done
expect 0 merge -o parts.mif.gz part_shard-1of2.mif.gz part_shard-2of2.mif.gz
cmp d.mif.gz parts.mif.gz || note "the sum of the maps of shards, as .mif.gz"
expect 0 merge -o from_mif.nii.gz part_shard-1of2.mif.gz part_shard-2of2.mif.gz
expect 0 sample t.trx from_mif.nii.gz -o merged.tsv
tail -n +2 merged.tsv > b && cmp a b || note "the sum of .mif.gz as NIfTI"

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
expect 0 connectome t.trx labels.nii c.tsv --assign end --symmetric --nodes none
expect 0 connectome t.trx labels.nii keep.txt --keep-unassigned --stat-edge min --scale length
expect 0 connectome t.trx labels.nii x_relmat.tsv --bids --stat-edge min --scale length
{ [ -s x_nodes.tsv ] && grep -q n/a x_relmat.tsv && ! grep -q nan x_relmat.tsv && grep -q '"least of values' x_relmat.json; } || note "connectome --bids"
expect 2 connectome t.trx labels.nii x.tsv --bids
grep -q nan keep.txt || note "no empty cell of the smallest lengths"
expect 0 connectome w.trx labels.nii w1.csv --weights weights.txt
expect 0 connectome w.trx labels.nii w2.csv --weights dps:weights
cmp w1.csv w2.csv || note "weights of a file and of a column, connectome"
OMP_NUM_THREADS=1 "$tool" connectome w.trx labels.nii w3.csv --weights weights.txt -q
cmp w1.csv w3.csv || note "one thread and several, connectome"
expect 2 connectome t.trx labels.nii
expect 2 connectome t.trx labels.nii e.csv --radius 0
expect 2 connectome t.trx labels.nii e.csv --assign end:3
expect 2 connectome t.trx labels.nii e.csv --assign radial:2 --radius 3
expect 0 connectome t.trx labels.nii r1.csv --assign radial:2
expect 0 connectome t.trx labels.nii r2.csv --radius 2
same r1.csv r2.csv
says "labels below the largest do not occur: 1 2"
expect 0 connectome t.trx labels.nii raw.csv --labels raw
says "8 labels below the largest do not occur: 1 2"
for name in r2 raw; do grep -q '"absent_labels":[[:space:]]*8,' $name.json || note "absent labels of $name.json"; done
expect 3 connectome t.trx zeros.nii e.csv
expect 3 connectome t.trx halves.nii e.csv
expect 3 connectome t.trx data/dwi.nii.gz e.csv
expect 3 connectome t.trx labels.nii e.csv --weights short.txt
for option in --weights --scale-file; do
    expect 3 connectome t.trx labels.nii e.csv $option dps:nothing
    says 't.trx: has no column "nothing" with one value for each streamline'
done
for batch in 100 100000; do
    expect 0 track "$@" -o again.trx --connectome labels.nii:again.csv --density again.nii.gz --chunk-size $batch --force
    cmp c.csv again.csv && cmp d.nii.gz again.nii.gz && cmp t.trx again.trx || note "--connectome with batches of $batch"
done
expect 4 track "$@" -o v.trx --connectome labels.nii:again.csv
expect 2 track "$@" -o v.trx --connectome labels.nii
expect 3 track "$@" -o v.trx --connectome missing.nii:v.csv
ln labels.nii labels_too.csv
expect 4 track "$@" -o v.trx --connectome labels.nii:labels_too.csv --force

expect 0 connectome t.trx labels.nii n.csv --nodes n.tsv --assignments n.txt --edges e.tsv --header
head -n 1 n.csv | grep -q '^,3,4,' || note "no header of labels"
printf '3 left-3 0 0 0 0\n4 "right 4"\n' > lut.txt
expect 0 connectome t.trx labels.nii lut.tsv --nodes lut_nodes.tsv --lut lut.txt --header
says "no name for 10 of 12 labels"
grep -q 'right_4' lut_nodes.tsv || note "no name of a label"
# rows of labels that do not occur, so that the matrices of all subjects have the same rows
printf '3 left-3\n1 none-1\n99 none-99\n' > more.txt
expect 0 connectome t.trx labels.nii more.tsv --lut more.txt --labels lut --header
says "2 labels of the table do not occur: 1 99"
[ "$(head -n 1 more.tsv | cut -f 2-3)" = "$(printf 'none-1\tleft-3')" ] || note "--labels lut: first rows"
[ "$(tail -n 1 more.tsv | cut -f 1-2)" = "$(printf 'none-99\t0')" ] || note "--labels lut: the last row"
[ "$(wc -l < more.tsv)" -eq $(($(wc -l < lut.tsv) + 2)) ] || note "--labels lut: number of rows"
{ cat more.txt && seq 100 119 | sed 's/$/ other/'; } > many.txt
expect 0 connectome t.trx labels.nii many.tsv --lut many.txt --labels lut
says "many.txt: 22 of 34 rows have no voxels in labels.nii: give a table"
seq 20001 | sed 's/$/ region/' > whole.txt
expect 7 connectome t.trx labels.nii e.csv --lut whole.txt --labels lut
says "regions with those of the table, but at most 20000 are possible: give a table"
expect 2 connectome t.trx labels.nii e.csv --labels lut
says "needs --lut FILE"
expect 0 connectome t.trx labels.nii a.csv --assignments dps:ends --trx ends.trx
expect 0 info ends.trx
says "ends: 2 x int32"
expect 2 connectome t.trx labels.nii e.csv --assignments dps:ends
expect 2 connectome t.trx labels.nii e.csv --scale volume
expect 2 connectome t.trx labels.nii e.csv --roi-test vertex
expect 3 connectome t.trx labels.nii e.csv --lut short.trx
for assign in end reverse forward all; do
    OMP_NUM_THREADS=1 "$tool" connectome t.trx labels.nii one_$assign.csv --assign $assign -q
    OMP_NUM_THREADS=7 "$tool" connectome t.trx labels.nii seven_$assign.csv --assign $assign -q
    cmp one_$assign.csv seven_$assign.csv || note "one thread and seven, --assign $assign"
done
[ "$(wc -l < n.tsv)" -eq 13 ] || note "not a row for each region"
# without a tractogram only the ends of streamlines leave the device, except for those that the host cuts or tries again
cat > ends.py << 'END'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:3])
assert a["counts"] == b["counts"], (a["counts"], b["counts"])
if "--downsample" in sys.argv[3]:  # lengths are those of the points that are left in the file
    assert 0.9 * b["lengths"]["mean_mm"] < a["lengths"]["mean_mm"] <= b["lengths"]["mean_mm"], (a["lengths"], b["lengths"])
else:
    assert a["lengths"] == b["lengths"], (a["lengths"], b["lengths"])
END
for words in "" "--chunk-size 100" "--keep-single-points" "--downsample 3" "--retries 2 --min-length 20" "--max-length 20"; do
    expect 0 track "$@" $words -o with.trx --connectome labels.nii:with.csv --force
    expect 0 track "$@" $words -o none --connectome labels.nii:alone.csv --force
    cmp with.csv alone.csv || note "--connectome without a tractogram $words"
    python3 ends.py with.json alone.json "$words" || note "counts and lengths without a tractogram $words"
done
for part in 1 2; do expect 0 track "$@" -o none --connectome labels.nii:part.csv --shard $part/2; done
expect 0 merge -o parts.csv part_shard-1of2.csv part_shard-2of2.csv
cmp c.csv parts.csv || note "the sum of the matrices of shards"
tracking="$*"
# several matrices in one run have the bytes of one run each
expect 0 track $tracking -o twice.trx --connectome labels.nii:twice1.csv --connectome data/roi.nii.gz:twice2.csv
expect 0 track $tracking -o none --connectome data/roi.nii.gz:only2.csv
cmp c.csv twice1.csv && cmp only2.csv twice2.csv && cmp t.trx twice.trx || note "--connectome twice and once"
cmp -s twice1.csv twice2.csv && note "two images of labels give one matrix"
grep -q '"labels_2":[[:space:]]*{' twice.json || note "the sidecar has no checksum of the second image of labels"
for part in 1 2; do
    expect 0 track $tracking -o none --connectome labels.nii:both1.csv --connectome data/roi.nii.gz:both2.csv --shard $part/2
done
for k in 1 2; do
    expect 0 merge -o both$k.csv both${k}_shard-1of2.csv both${k}_shard-2of2.csv
    cmp twice$k.csv both$k.csv || note "the sum of shards of matrix $k"
done
expect 4 track $tracking -o v.trx --connectome labels.nii:e.csv --connectome data/roi.nii.gz:e.csv
many=$(for k in $(seq 33); do echo "--connectome labels.nii:e$k.csv"; done)
expect 2 track $tracking -o v.trx $many
says "--connectome: 33 matrices are asked for, but at most 32 are possible"
# metrics: the bytes of single runs, in the command and in track
metrics="--metric count --metric length --metric invlength --metric invnodevol --metric mean:data/tissue.nii.gz --metric median:data/tissue.nii.gz"
python3 - data/tissue.nii.gz volume.nii <<'PYTHON'
import gzip, struct, sys
b = bytearray(gzip.open(sys.argv[1]).read())
struct.pack_into("<hh", b, 40, 3, struct.unpack_from("<h", b, 42)[0])
struct.pack_into("<h", b, 48, 1)
open(sys.argv[2], "wb").write(b)
PYTHON
metrics=$(echo "$metrics" | sed "s:data/tissue.nii.gz:volume.nii:g")
# shellcheck disable=SC2086
expect 0 track $tracking -o none --connectome labels.nii:tm.csv --connectome data/roi.nii.gz:tr.csv $metrics
# shellcheck disable=SC2086
expect 0 connectome t.trx labels.nii cm.csv data/roi.nii.gz cr.csv $metrics
expect 0 sample t.trx volume.nii -o means.txt
while read -r metric words; do
    # shellcheck disable=SC2086
    expect 0 connectome t.trx labels.nii single.csv $words --nodes none --force
    cmp single.csv "cm_$metric.csv" || note "--metric $metric and $words"
    cmp "cm_$metric.csv" "tm_$metric.csv" && cmp "cr_$metric.csv" "tr_$metric.csv" || note "--metric $metric of track"
done <<'WORDS'
count
length --scale length --stat-edge mean
invlength --scale invlength
invnodevol --scale invnodevol
mean_volume --scale-file means.txt --stat-edge mean
median_volume --scale-file means.txt --stat-edge median
WORDS
[ -s cm_nodes.tsv ] && [ -s cr_nodes.tsv ] || note "tables of regions with --metric"
# an image without values: a cell that has streamlines is nan, and 0 without, as tck2connectome -stat_edge mean has it
python3 - volume.nii away.nii <<'PYTHON'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
for row in range(3): struct.pack_into("<f", b, 292 + 16 * row, 5000)
open(sys.argv[2], "wb").write(b)
PYTHON
expect 0 connectome t.trx labels.nii away.csv --metric count --metric mean:away.nii
says "outside the images: are they and the streamlines in one space?"
grep -q "of 12 regions have no streamline: 20$" stderr || note "regions without a streamline, though an image is away"
expect 0 track $tracking -o none --connectome labels.nii:track_away.csv --metric mean:away.nii
says "away.nii: "
cmp away_mean_away.csv track_away_mean_away.csv || note "--metric of an image away, in track"
sed 's/[^,]*[1-9][^,]*/nan/g' away_count.csv | cmp - away_mean_away.csv || note "cells with streamlines outside the image are not nan"
expect 2 connectome t.trx labels.nii e.csv --metric areas
says "--metric areas: must be count,"
expect 2 connectome t.trx labels.nii e.csv --metric count --metric count
says "another metric has the same name"
expect 2 connectome t.trx labels.nii e.csv --metric length --scale length
expect 2 connectome t.trx labels.nii e.csv --metric weight
expect 2 connectome t.trx labels.nii e.csv --metric count --weights weights.txt
expect 2 connectome t.trx labels.nii e.csv --metric mean:data/dwi.nii.gz
says "volumes, but a cell holds one value"
expect 3 connectome t.trx labels.nii e.csv --metric commit
expect 3 connectome t.trx labels.nii e.csv --metric mean:missing.nii
expect 2 track "$@" -o v.trx --metric count
expect 2 track "$@" -o v.trx --connectome labels.nii:e.csv --metric weight
expect 2 track "$@" -o v.trx --connectome labels.nii:e.csv --metric sift2
expect 2 track "$@" -o none --model csd --connectome labels.nii:e.csv --metric count --weights
says "--weights: no output has them"
expect 2 track "$@" -o v.trx --connectome labels.nii:e.csv --metric length --shard 1/2
for part in 1 2; do expect 0 track "$@" -o none --connectome labels.nii:metric.csv --metric count --shard $part/2; done
expect 0 merge -o sum_metric.csv metric_count_shard-1of2.csv metric_count_shard-2of2.csv
cmp sum_metric.csv cm_count.csv || note "--metric count of shards"
# rows and header of track --connectome are those of the command, in one run and in the sum of shards
choice() {
    expect 0 connectome t.trx labels.nii named.tsv --nodes none --force "$@"
    expect 0 track $tracking -o none --connectome labels.nii:named_once.tsv --force "$@"
    for part in 1 2; do expect 0 track $tracking -o none --connectome labels.nii:named.tsv --shard $part/2 --force "$@"; done
    expect 0 merge -o named_sum.tsv named_shard-2of2.tsv named_shard-1of2.tsv --force
    same named.tsv named_once.tsv
    same named.tsv named_sum.tsv
}
choice --labels raw
choice --labels lut --lut more.txt --header
head -n 1 named_sum.tsv | grep -q "$(printf '^\tnone-1\tleft-3\t')" || note "no names in the header of the sum"
grep -q '"lut":[[:space:]]*{' named_once.json || note "the sidecar has no checksum of the table"
sed 's/left-3/other/' more.txt > others.txt
expect 0 track $tracking -o none --connectome labels.nii:named.tsv --shard 2/2 --force --header --labels lut --lut others.txt
expect 3 merge -o unwritten.tsv named_shard-1of2.tsv named_shard-2of2.tsv
says "regions, tissue images or files for results such as --connectome differ"
rm -f named_shard*.json
expect 3 merge -o unwritten.tsv named_shard-1of2.tsv named_shard-2of2.tsv
says 'named_shard-2of2.tsv: names column 2 "other", but named_shard-1of2.tsv "left-3"'
sed -i 's/^\t//' named_shard-2of2.tsv
expect 3 merge -o unwritten.tsv named_shard-1of2.tsv named_shard-2of2.tsv
says 'named_shard-2of2.tsv: line 1: "none-1" is not a number'
cp part_shard-2of2.csv named_shard-2of2.tsv
expect 3 merge -o unwritten.tsv named_shard-1of2.tsv named_shard-2of2.tsv
sed -i '3d' named_shard-1of2.tsv
expect 3 merge -o unwritten.tsv named_shard-1of2.tsv named_shard-2of2.tsv
says 'named_shard-1of2.tsv: line 3: must be "left-3" and 14 numbers, as the header says'
expect 2 track $tracking -o v.trx --header
says "--header: needs --connectome"
expect 2 track $tracking -o v.trx --connectome labels.nii:e.csv --lut more.txt
says "--lut: needs --labels lut, --header, or both"
expect 2 track $tracking -o v.trx --connectome labels.nii:e.csv --labels lut
expect 3 track $tracking -o v.trx --connectome labels.nii:e.csv --header --lut missing.txt

# --- edit ---
expect 0 edit t.trx e.trx --include 0,0,0,12 --min-length 15
expect 4 edit t.trx e.trx --include 0,0,0,12
expect 4 edit t.trx t.trx --force
expect 0 edit t.trx rest.trx --include 0,0,0,12 --min-length 15 --inverse
expect 2 edit t.trx x.trx --inverse
says "there is nothing to invert"
expect 0 edit e.trx rest.trx both.trx --group-by-file
expect 0 edit both.trx e2.trx --group e --fields seeds,seed_index
cmp e.trx e2.trx || note "a group that was made from a file"
expect 0 edit t.trx r.trx --random 0.05k --rng-seed 3
expect 0 edit t.trx r2.trx --random 50 --rng-seed 3
cmp r.trx r2.trx || note "--random with one seed"
OMP_NUM_THREADS=1 "$tool" edit t.trx one.trx --include 0,0,0,12 --min-length 15 -q --force
cmp e.trx one.trx || note "edit with one thread and several"
expect 0 edit t.trx p.trx --points 20 --crop data/mask.nii.gz --orient x --compress 0.1
expect 0 edit t.trx thin.trx --compress 0.1
expect 0 edit --compress t.trx bare.trx
cmp thin.trx bare.trx || note "--compress without a value"
expect 0 convert t.trx --compress thin.tck
expect 0 convert t.trx bare.tck --compress=0.1
cmp thin.tck bare.tck || note "--compress without a value, convert"
expect 2 edit t.trx x.trx --compress 0
expect 0 edit t.trx pair.trx --connect 3,14 --assignments n.txt
expect 0 edit t.trx pairs.trx --edges-to-groups --assignments n.txt --min-count 2
head -n 20 n.txt > few.txt
expect 3 edit t.trx x.trx --connect 3,14 --assignments few.txt
says "few.txt: has labels of 19 streamlines, but the tractogram has "
expect 2 edit t.trx x.trx --connect 3,14
expect 2 edit t.trx x.trx --connect 3 --assignments n.txt
expect 3 edit e.trx x.trx --edges-to-groups --assignments n.txt
expect 3 edit t.trx x.trx --connect 3,14 --assignments data/bundles
expect 3 edit t.trx x.trx --warp data/mask.nii.gz
expect 2 edit t.trx x.trx --step-from middle
expect 0 edit t.trx middle.trx --step-size 3 --step-from middle
# earlier names of options are accepted, and mean the same
end=0,0,0,40
expect 0 edit t.trx now.tck --include-end $end --include-both-ends $end --exclude-end 0,0,60,5 --min-length 15 --max-length 80 --max-angle 50 --random 9 --rng-seed 2 --step-size 1mm
expect 0 edit t.trx then.tck --include-ends $end --both-ends $end --exclude-ends 0,0,60,5 --minlength 15 --maxlength 80 --max-turn 50 --random 9 --seed 2 --step 1
cmp now.tck then.tck || note "earlier names of the options of edit"
expect 0 density t.trx now.nii --voxel-size 3
expect 0 density t.trx then.nii --voxel 3
cmp now.nii then.nii || note "--voxel of density"
expect 2 edit t.trx
expect 2 edit t.trx x.trx --points 20 --step-size 1
expect 2 edit t.trx x.trx --min-weight 1
expect 2 edit t.trx x.trx --include 1,2,3
expect 2 edit t.trx x.trx --random 0
expect 2 edit t.trx x.trx --random 200%
expect 2 edit t.tck x.trx
expect 3 edit t.trx x.trx --include missing.nii
expect 3 edit t.trx x.trx --group nothing
expect 3 edit t.trx x.trx --weights short.txt
expect 3 edit t.trx w.trx x.trx
expect 0 edit t.trx w.trx x.trx --fields common
# a column of weights has to be in all files, with one type, except in files without streamlines
expect 3 edit w.trx t.trx z.trx --fields common --weights dps:weights --min-weight 0
says 't.trx: has no column "weights" with one value for each streamline'
python3 - w.trx wh.trx << 'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for name in old.namelist():
        data = old.read(name)
        half = name == "dps/weights.float64"
        new.writestr(name.replace("float64", "float32") if half else name, bytes(len(data) // 2) if half else data)
END
expect 3 edit w.trx wh.trx z.trx --fields common --weights dps:weights --min-weight 0
says 'wh.trx: the column "weights" has another type in w.trx: --weights needs the same type in all files'
expect 3 edit nan.tck x.tck
expect 0 edit nan.tck x.tck --invalid drop
says "0 streamlines of 1"
printf '0\n100000\n' > far.txt
expect 3 edit t.trx y.trx --ids far.txt
says "far.txt: names streamline 100000, but there are only "
# indices are those in the file, whatever is dropped before
python3 - << 'END'
import struct
with open("five.tck", "wb") as f:
    f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 5\nfile: . 64\nEND\n".ljust(64, b"\0"))
    for x in range(5):
        y = 9000 if x == 1 else 0
        f.write(struct.pack("<6f", x, y, 0, x, y, 2) + struct.pack("<3f", *[float("nan")] * 3))
    f.write(struct.pack("<3f", *[float("inf")] * 3))
END
printf '1 2\n1 2\n3 4\n3 4\n5 6\n' > five.txt
printf '2\n3\n' > places.txt
expect 0 edit five.tck plain.tck --connect 3,4 --assignments five.txt
for how in drop cut keep; do
    expect 0 edit five.tck joined.tck --connect 3,4 --assignments five.txt --invalid $how --reference data/mask.nii.gz --force
    cmp plain.tck joined.tck || note "edit --connect --invalid $how"
    expect 0 edit five.tck placed.tck --ids places.txt --invalid $how --reference data/mask.nii.gz --force
    cmp plain.tck placed.tck || note "edit --ids --invalid $how"
done
expect 3 edit five.tck y.tck --ids far.txt --invalid drop --reference data/mask.nii.gz
expect 2 edit five.tck y.tck --ids places.txt --inverse --invalid drop --reference data/mask.nii.gz
# the parts that a crop keeps and the parts that its inverse keeps make up the whole
for how in all longest ends; do
    expect 0 edit t.trx inside.trx --crop 0,0,0,12 --pieces $how --force
    expect 0 edit t.trx outside.trx --crop 0,0,0,12 --pieces $how --inverse --force
    for part in t inside outside; do expect 0 info $part.trx --count --json $part.json --force; done
    python3 - $how << 'END' || note "edit --crop --inverse --pieces $how"
import json, sys
mm = {}
for part in ("t", "inside", "outside"):
    length = json.load(open(part + ".json"))["tractograms"][0]["counted"]["length_mm"]
    mm[part] = length["n"] * length["mean"]
both = mm["inside"] + mm["outside"]
assert min(mm["inside"], mm["outside"]) > 0.02 * mm["t"], mm
assert {"all": abs(both / mm["t"] - 1) < 1e-4, "longest": both < mm["t"], "ends": both > mm["t"]}[sys.argv[1]], mm
END
done
# the file that orients streamlines is an input
cp five.tck turned.tck
expect 4 edit five.tck turned.tck --orient turned.tck --force
cmp five.tck turned.tck || note "--orient was overwritten"
expect 6 edit t.trx y.trx --min-length 100000 --fail-if-empty
printf '1 0 0 5\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > shift.txt
expect 0 edit t.trx moved.trx --transform shift.txt
expect 3 edit t.trx z.trx --transform short.txt

# --- sample, stats ---
expect 0 sample t.trx data/mask.nii.gz -o s.tsv --stat-tck mean --stat-tck max
expect 0 sample t.trx data/mask.nii.gz --to-dpv m --trx s.trx
expect 0 density t.trx dec.nii --dec
expect 0 sample t.trx dec.nii --to-dpv dec --trx three.trx
expect 0 convert three.trx three.tck
[ -s three_dec_0.tsf ] && [ -s three_dec_2.tsf ] && [ ! -e three_dec_3.tsf ] || note "a track scalar file for each component"
expect 0 info s.trx
says "m: 1 x float32"
expect 0 convert s.trx s.tck
expect 0 convert s.tck back.trx --reference data/mask.nii.gz --dps s_dps.tsv --tsf s_m.tsf=m
expect 0 info back.trx
says "m: 1 x float32"
says "seeds: 3 x float64"
expect 0 sample t.trx data/mask.nii.gz -o frac.tsv --by voxel --fraction --stat-tck sum --stat-tck ends_prod
expect 2 sample t.trx data/mask.nii.gz -o frac2.tsv --fraction
expect 2 sample t.trx data/mask.nii.gz
expect 2 sample t.trx data/mask.nii.gz -o s2.tsv --stat-tck mode
expect 3 sample t.trx data/mask.nii.gz --tsf s.tsf
expect 3 convert t.tck u2.trx --reference data/mask.nii.gz --tsf s.trx=m
expect 0 stats t.trx w.trx --shape -o st.tsv --histogram h.tsv --dump lengths.txt
[ "$(wc -l < st.tsv)" -eq 3 ] || note "not a row for each file"
sed -n 1p st.tsv > header.tsv
printf 'mrtrix tracks\ndatatype: Float32LE\ncount: 1\nstep_size: 0.5\nfile: . 96\nEND\n' > stepped.tck
python3 - << 'END'
import struct
with open("stepped.tck", "ab") as f:
    f.write(bytes(96 - f.tell()))
    f.write(struct.pack("<15f", 0, 0, 0, 2, 0, 0, 4, 0, 0, *[float("nan")] * 3, *[float("inf")] * 3))
END
expect 0 stats stepped.tck --histogram stepped.tsv
[ "$(tail -n 1 stepped.tsv)" = "$(printf 'stepped.tck\t4\t1')" ] && [ "$(wc -l < stepped.tsv)" -eq 10 ] || note "bins of the step that the file states"
expect 0 edit t.trx none.tck --min-length 100000
expect 0 stats none.tck
tail -n 1 stdout | grep -qP '^none.tck\t0\t0\t0(\tnan){8}$' || note "lengths of no streamlines"
expect 2 stats t.tck --shape
expect 3 stats t.trx --weights dps:nothing
says 't.trx: has no column "nothing" with one value for each streamline'
# a tractogram without streamlines need not have the column
expect 0 edit w.trx hollow.trx --min-length 1000000
expect 0 stats hollow.trx --weights dps:weights
expect 0 edit w.trx hollow.trx joined_w.trx --fields common --weights dps:weights --min-weight 0
expect 0 info joined_w.trx
says "weights"
# nor does it give its columns to the files behind it
expect 0 edit hollow.trx w.trx joined_w.trx joined_last.trx --fields common --weights dps:weights --min-weight 0
expect 0 info joined_last.trx
says "weights"
expect 0 edit hollow.trx w.trx hollow.trx joined_all.trx --fields common
expect 0 info joined_all.trx
says "weights"

# --- segment, profile, score ---
printf 'bundle\tstart\tend\tend_tolerance\ttruth\n' > b.tsv
for name in corticospinal_left corpus_callosum_body; do
    printf '%s\t%s_end0.nii.gz\t%s_end1.nii.gz\t4\t%s.nii.gz\n' $name data/bundles/$name data/bundles/$name data/bundles/$name
done >> b.tsv
expect 0 segment t.trx b.tsv -o seg.trx --table seg.tsv --unique
[ "$(wc -l < seg.tsv)" -eq 3 ] || note "not a row for each bundle"
expect 0 convert seg.trx seg.trk
grep -q '"lost":.*"dpg [a-zA-Z0-9_-]*/n_flipped' seg.trk.json || note "data of groups that a TRK file does not hold"
expect 0 edit seg.trx seg.trx both_segments.trx
says "leaves out the data of groups"
expect 2 segment t.trx b.tsv
# points that are not finite: an error, or left out by both passes, with their weights
printf 'bundle\tinclude\nall\t0,0,0,50\n' > ball.tsv
for number in 1 2 3; do printf '%s\n' $number; done > three.txt
python3 - << 'END'
import struct
nan = float("nan")
for name, lines in (("holed", [[(0, 0, 0), (1, 1, 1)], [(2, 2, 2), (nan, 0, 0)], [(3, 3, 3), (4, 4, 4)]]), ("whole_two", [[(0, 0, 0), (1, 1, 1)], [(3, 3, 3), (4, 4, 4)]])):
    with open(name + ".tck", "wb") as f:
        f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: %d\nfile: . 64\nEND\n" % len(lines))
        f.write(b"\0" * (64 - f.tell()))
        for line in lines:
            f.write(b"".join(struct.pack("<3f", *p) for p in line) + struct.pack("<3f", nan, nan, nan))
        f.write(struct.pack("<3f", *[float("inf")] * 3))
END
expect 3 segment holed.tck ball.tsv -o holed.trx --reference data/mask.nii.gz
expect 0 segment holed.tck ball.tsv -o holed.trx --reference data/mask.nii.gz --invalid drop --weights three.txt --table holed.tsv
expect 0 segment whole_two.tck ball.tsv -o whole_two.trx --reference data/mask.nii.gz
same holed.trx whole_two.trx
grep -q '"invalid":[[:space:]]*1' holed.json && awk -F '\t' 'NR == 2 && $3 == 4 { found = 1 } END { exit !found }' holed.tsv || note "segment --invalid drop: $(cat holed.tsv)"
printf 'bundle\tstrat\na\tx\n' > bad.tsv
expect 3 segment t.trx bad.tsv -o seg2.trx
says "strat"
printf 'bundle\tinclude\na\tmissing.nii\n' > bad.tsv
expect 3 segment t.trx bad.tsv -o seg2.trx
says "line 2"
# scilpy's JSON finds the streamlines that the table finds
printf 'bundle\tstart\tend\ttruth\tangle\tlength_x\tmin_length\tmax_length\n' > axes.tsv
for name in corticospinal_left corpus_callosum_body; do
    b=data/bundles/$name
    printf '%s\t%s_end0.nii.gz\t%s_end1.nii.gz\t%s.nii.gz\t400\t0,70\t0\t120\n' $name $b $b $b >> axes.tsv
done
python3 - << 'END'
import json
names = ["corticospinal_left", "corpus_callosum_body"]
json.dump({n: {"head": n + "_end0.nii.gz", "tail": n + "_end1.nii.gz", "gt_mask": n + ".nii.gz", "angle": 400,
               "length": [0, 120], "length_x": [0, 70]} for n in names}, open("rules.json", "w"))
END
expect 0 segment t.trx axes.tsv -o axes.trx --table axes_counts.tsv
expect 0 segment t.trx rules.json --folder data/bundles -o scil.trx --table scil_counts.tsv
cmp axes.trx scil.trx && cmp axes_counts.tsv scil_counts.tsv || note "scilpy's JSON and a table"
expect 3 segment t.trx rules.json -o seg2.trx
says "rules.json: bundle corticospinal_left"
# a semicolon in the name of a region
cp data/bundles/corticospinal_left.nii.gz 'a;b.nii.gz'
printf 'bundle\tinclude\nleft\ta\\;b.nii.gz;\n' > semicolon.tsv
echo '{"left": {"any_mask": "a;b.nii.gz"}}' > semicolon.json
for rules in tsv json; do expect 0 segment t.trx semicolon.$rules --table semicolon_$rules.tsv; done
cmp semicolon_tsv.tsv semicolon_json.tsv || note "a semicolon in a table and in JSON"
# backslashes escape in every region of a table, and in none of JSON
ends=data/bundles/corticospinal_left_end
cp ${ends}0.nii.gz 'e\;0.nii.gz'
for rules in plain escaped; do
    case $rules in plain) name=${ends}0.nii.gz ;; *) name='e\\\;0.nii.gz' ;; esac
    printf 'bundle\tinclude\tstart\tend\tall\tall_fraction\n' > $rules.tsv
    printf '%s\t%s\t%s\t%s\t%s\t0.01\n' left "$name" "$name" ${ends}1.nii.gz "$name" >> $rules.tsv
    expect 0 segment t.trx $rules.tsv --table ${rules}_counts.tsv
done
cmp plain_counts.tsv escaped_counts.tsv || note "backslashes in a table"
printf '%s\n' '{"left": {"any_mask": "e\\;0.nii.gz", "head": "e\\;0.nii.gz", "tail": "'${ends}1.nii.gz'", "gt_mask": "e\\;0.nii.gz"}}' > backslash.json
expect 0 segment t.trx backslash.json --table backslash_counts.tsv
expect 0 score t.trx --truth backslash.json
expect 0 edit axes.trx csl.trk --group corticospinal_left --fields none
printf 'bundle\tall\ncsl\tcsl.trk\n' > inside.tsv
expect 0 segment csl.trk inside.tsv --table inside_counts.tsv
[ "$(cut -f 2 inside_counts.tsv | tail -n 1)" -gt 0 ] || note "a tractogram for a region"
expect 0 score t.trx --truth rules.json --folder data/bundles --json scil_score.json
expect 0 score t.trx --truth axes.tsv --json axes_score.json
for bad in '{"a": {"head": "x"}}' '{"a": {"size": 1}}' '{"a": 3}' '{"a"' '{"a": {"angle": "x"}}' '{"a": {"length": [1]}}' '{}'; do
    printf '%s' "$bad" > bad.json
    expect 3 segment t.trx bad.json -o seg2.trx
    says "bad.json: "
done
# a file for each bundle, and pyAFQ's counts
mkdir -p each
expect 0 segment t.trx axes.tsv --each each/sub-01_tract-{}_tractogram.trx --counts each/sub-01_desc-slCount_tractography.csv
for name in corticospinal_left corpus_callosum_body; do
    n=$(awk -F '\t' -v b=$name '$1 == b {print $2}' axes_counts.tsv)
    grep -qx "$name,$n" each/sub-01_desc-slCount_tractography.csv || note "count of $name"
    file=each/sub-01_tract-$(echo $name | tr -d _)_tractogram.trx
    "$tool" info "$file" --count | grep -q "$n" || note "$file has not $n streamlines"
    expect 0 edit axes.trx "$name.tck" --group $name --fields none
    expect 0 edit "$file" "${name}_each.tck" --fields none
    cmp "$name.tck" "${name}_each.tck" || note "$file has other streamlines"
done
head -n 1 each/sub-01_desc-slCount_tractography.csv | grep -qx ',n_streamlines' || note "no header of pyAFQ's counts"
tail -n 1 each/sub-01_desc-slCount_tractography.csv | grep -q '^Total Recognized,[1-9]' || note "no total of pyAFQ's counts"
expect 2 segment t.trx axes.tsv --each each/x.trx
says "{}"
expect 4 segment t.trx axes.tsv --each each/sub-01_tract-{}_tractogram.trx
# a run whose bundles are all empty writes no file, with a message
expect 0 convert t.trx whole.tck
printf 'bundle\tmin_length\nlong\t1000\n' > none.tsv
expect 0 segment whole.tck none.tsv --each 'each/none-{}.tck' --reference data/mask.nii.gz
says "each/none-{}.tck: 0 streamlines in 1 bundles, 1 of them empty"
ls each | grep -q none- && note "a file of an empty bundle"
# weights add up
python3 -c 'import json; print("0.5\n" * json.load(open("axes.json"))["counts"]["read"])' > halves.txt
expect 0 segment t.trx axes.tsv --table axes_weights.tsv --weights halves.txt
awk -F '\t' 'NR > 1 && $3 != $2 / 2 {exit 1}' axes_weights.tsv || note "weights of bundles"
expect 3 segment t.trx axes.tsv --table x.tsv --weights n.txt
expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz f --model csd
mv f_fa.nii.gz fa.nii.gz
expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o prof.csv
for batch in 100 100000; do
    expect 0 track "$@" -o again.trx --profile b.tsv:again.csv --chunk-size $batch --force
    cmp prof.csv again.csv && cmp t.trx again.trx || note "--profile with batches of $batch"
done
expect 0 track "$@" -o none --profile b.tsv:fa.nii.gz:again.csv --force
cmp prof.csv again.csv || note "--profile without a tractogram"
expect 0 profile seg.trx fa.nii.gz -o prof2.csv
python3 - << 'END' || note "what the sidecar says of bundles"
import json
found = json.load(open("prof2.json"))["bundles"]
assert set(found) == {"corticospinal_left", "corpus_callosum_body"}, found
assert all(b["outliers"] == 0 and b["direction"].count(" to ") == 1 for b in found.values() if b["streamlines"]), found
END
python3 - << 'END'
import gzip, struct
raw = gzip.open("fa.nii.gz").read()
for name, shift, offset in (("far", 1000, 0), ("nan", 0, 352)):
    data = bytearray(raw)
    for at in (268, 272, 276, 292, 308, 324):
        data[at:at + 4] = struct.pack("<f", struct.unpack("<f", data[at:at + 4])[0] + shift)
    if offset:
        data[offset:] = struct.pack("<f", float("nan")) * ((len(data) - offset) // 4)
    with open(name + ".nii", "wb") as f:
        f.write(data)
END
expect 3 profile seg.trx far.nii -o far.csv
says "does not overlap"
expect 0 profile seg.trx nan.nii -o nan.csv
says "no number anywhere"
expect 3 track "$@" -o v.trx --profile missing.tsv:v.csv
expect 2 track "$@" -o v.trx --profile b.tsv
expect 2 track "$@" -o v.trx --profile b.tsv:v.csv --shard 1/2
# --- straight from the tracker: directions, values of images, bundles ---
printf 'bundle\tinclude\tmin_length\tclean\nall\t\t\t\nlong\tdata/roi.nii.gz\t12\tyes\n' > sinks.tsv
printf 'bundle\tinclude\tmin_length\nall\t\t\nlong\tdata/roi.nii.gz\t12\nnone\t\t900\n' > plain.tsv
expect 0 density t.trx dec.nii.gz --dec
expect 0 sample t.trx fa.nii.gz data/roi.nii.gz --stat-tck mean --stat-tck max --trx values.trx -o values.tsv
expect 0 segment t.trx sinks.tsv -o seg_all.trx --keep-all --table sinks_table.tsv
for batch in 100 100000; do
    expect 0 track "$@" -o again.trx --dec again.nii.gz --sample fa.nii.gz,data/roi.nii.gz --stat-tck mean --stat-tck max --chunk-size $batch --force
    cmp dec.nii.gz again.nii.gz || note "--dec with batches of $batch"
    cmp values.trx again.trx || note "--sample into the tractogram with batches of $batch"
    expect 0 track "$@" -o groups$batch.trx --sample fa.nii.gz,data/roi.nii.gz:again.tsv --stat-tck mean --stat-tck max --segment sinks.tsv:again_table.tsv --chunk-size $batch --force
    cmp values.tsv again.tsv || note "the table of --sample with batches of $batch"
    cmp sinks_table.tsv again_table.tsv || note "the table of --segment with batches of $batch"
done
cmp groups100.trx groups100000.trx || note "groups with two sizes of batches"
for group in all long; do
    for from in groups100 seg_all; do
        expect 0 edit $from.trx in.trx --group $group --fields seed_index --force
        expect 0 convert in.trx in_$from.tck --force
    done
    cmp in_groups100_dps.tsv in_seg_all_dps.tsv || note "streamlines of group $group"
done
OMP_NUM_THREADS=1 "$tool" track "$@" -o none --dec one.nii.gz --sample fa.nii.gz,data/roi.nii.gz:one.tsv --stat-tck mean --stat-tck max --segment sinks.tsv:one_table.tsv --force
OMP_NUM_THREADS=7 "$tool" track "$@" -o none --dec seven.nii.gz --sample fa.nii.gz,data/roi.nii.gz:seven.tsv --stat-tck mean --stat-tck max --segment sinks.tsv:seven_table.tsv --force
cmp one.nii.gz dec.nii.gz && cmp seven.nii.gz dec.nii.gz || note "--dec without a tractogram, one thread and seven"
cmp one.tsv values.tsv && cmp seven.tsv values.tsv || note "--sample without a tractogram, one thread and seven"
cmp one_table.tsv sinks_table.tsv && cmp seven_table.tsv sinks_table.tsv || note "--segment without a tractogram, one thread and seven"
python3 - << 'END' || note "counts of bundles and values in the sidecar"
import json
counts = json.load(open("groups100.json"))["counts"]
rows = [line.split("\t") for line in open("sinks_table.tsv").read().splitlines()[1:]]
assert counts["bundles"] == {row[0]: int(row[1]) for row in rows}, counts["bundles"]
assert counts["sampled"]["points"] == 2 * counts["points"] and counts["sampled"]["without_value"] == 0, counts["sampled"]
END
# with --unique each streamline is in one bundle only
printf 'bundle\tinclude\nroi\tdata/roi.nii.gz\nmask\tdata/mask.nii.gz\nagain\tdata/roi.nii.gz\n' > several.tsv
expect 0 segment t.trx several.tsv --keep-all --unique --table nearest.tsv
expect 0 track "$@" -o nearest.trx --segment several.tsv:nearest_again.tsv --segment-unique
cmp nearest.tsv nearest_again.tsv || note "--segment-unique"
expect 4 track "$@" -o nearest.trx --segment several.tsv:nearest_again.tsv --skip-existing
expect 0 track "$@" -o several.trx --segment several.tsv:several_again.tsv
cmp -s nearest.tsv several_again.tsv && note "--segment-unique changes nothing"
expect 2 track "$@" -o v.trx --segment-unique
says "needs --segment"
expect 3 connectome t.trx fa.nii.gz v.csv
says "fa.nii.gz: has the value 0."
says "but labels are whole numbers from 0 to 2147483647"
# names that contain the separator of names: a backslash stands before it
cp labels.nii 'a:b,c.nii'
cp fa.nii.gz 'f,a:x.nii.gz'
cp sinks.tsv 's:i.tsv'
expect 0 track "$@" -o none --connectome 'a\:b,c.nii:o\:ut.csv' --sample 'f\,a\:x.nii.gz,data/roi.nii.gz:va\:l.tsv' --stat-tck mean --stat-tck max \
    --segment 's\:i.tsv:t\:ab.tsv' --profile 'b.tsv:f\,a\:x.nii.gz:p\:r.csv'
same c.csv o:ut.csv
same sinks_table.tsv t:ab.tsv
for pair in values.tsv=va:l.tsv prof.csv=p:r.csv; do
    tail -n +2 "${pair%%=*}" > plain && tail -n +2 "${pair#*=}" > joined
    cmp plain joined || note "$pair"
done
expect 2 track "$@" -o v.trx --connectome 'labels.nii\:v.csv'
says 'names with a colon between them'
# a byte order mark is no part of a table
printf '\357\273\277' | cat - sinks.tsv > marked.tsv
expect 0 segment t.trx marked.tsv --keep-all --table marked_table.tsv
same sinks_table.tsv marked_table.tsv
printf '\357\273\277' | cat - rules.json > marked.json
expect 0 segment t.trx marked.json --folder data/bundles --table marked_counts.tsv
same scil_counts.tsv marked_counts.tsv
printf '\377\376b\0' > wide.tsv
expect 3 segment t.trx wide.tsv --table wide_table.tsv
says "wide.tsv: is a text in UTF-16: save the text as UTF-8"
# a file that was cut off, inside a point and between two points: the rest can be read
bytes=$(wc -c < t.tck)
for less in 30 36; do
    head -c $((bytes - less)) t.tck > cut.tck
    expect 3 info cut.tck --count
    says "--recover"
    expect 0 info cut.tck --count --recover
done
# parts of a run: columns and groups are merged, other results cannot be
expect 0 track "$@" -o whole.trx --sample fa.nii.gz --segment plain.tsv
for part in 1 2 3; do expect 0 track "$@" -o parts.trx --sample fa.nii.gz --segment plain.tsv --shard $part/3; done
expect 0 merge -o whole2.trx parts_shard-1of3.trx parts_shard-2of3.trx parts_shard-3of3.trx
cmp whole.trx whole2.trx || note "columns and groups of shards"
expect 0 track "$@" -o bare.trx --shard 2/3
mv bare_shard-2of3.trx other_shard-2of3.trx
expect 3 merge -o whole3.trx parts_shard-1of3.trx other_shard-2of3.trx parts_shard-3of3.trx --sidecar none
says "its columns or groups differ"
expect 2 track "$@" -o v.trx --dec v.nii.gz --shard 1/2
expect 2 track "$@" -o v.trx --sample fa.nii.gz:v.tsv --shard 1/2
expect 2 track "$@" -o v.trx --segment plain.tsv:v.tsv --shard 1/2
expect 2 track "$@" -o v.trx --segment sinks.tsv --shard 1/2
says "clean"
# a run is the same run if it has the same columns
expect 0 track "$@" -o whole.trx --sample fa.nii.gz --segment plain.tsv --skip-existing
expect 4 track "$@" -o whole.trx --sample fa.nii.gz --segment plain.tsv --stat-tck max --skip-existing
expect 4 track "$@" -o whole.trx --sample fa.nii.gz --skip-existing
expect 4 track "$@" -o whole.trx --skip-existing
# it does matter which image is for which option, and which files rules name
expect 0 track "$@" -o none --profile plain.tsv:fa.nii.gz:of_fa.csv --sample fa.nii.gz,data/roi.nii.gz:of_two.tsv --skip-existing
expect 0 track "$@" -o none --profile plain.tsv:fa.nii.gz:of_fa.csv --sample fa.nii.gz,data/roi.nii.gz:of_two.tsv --skip-existing
expect 4 track "$@" -o none --profile plain.tsv:fa.nii.gz,fa.nii.gz:of_fa.csv --sample data/roi.nii.gz:of_two.tsv --skip-existing
cp data/roi.nii.gz named.nii.gz
printf 'bundle\tinclude\nroi\tnamed.nii.gz\n' > named.tsv
expect 0 track "$@" -o none --segment named.tsv:named_table.tsv
cp data/mask.nii.gz named.nii.gz
expect 4 track "$@" -o none --segment named.tsv:named_table.tsv --skip-existing
# the sidecar belongs to the first output
expect 0 track "$@" -o none --sample fa.nii.gz:first.tsv --output-seeds second.txt
expect 0 track "$@" -o none --sample fa.nii.gz:first.tsv --output-seeds second.txt --skip-existing
# shards with other rules are shards of another run
printf 'bundle\tinclude\nall\t\nlong\tdata/mask.nii.gz\nnone\tdata/roi.nii.gz\n' > others.tsv
expect 0 track "$@" -o mixed.trx --segment plain.tsv --shard 1/2
expect 0 track "$@" -o mixed.trx --segment others.tsv --shard 2/2
expect 3 merge -o mixed_all.trx mixed_shard-1of2.trx mixed_shard-2of2.trx
says "such as --connectome differs"
# a name that no group can have is refused before the work
printf 'bundle\tinclude\na.b\tdata/roi.nii.gz\n' > dotted.tsv
expect 3 track "$@" -o v.trx --segment dotted.tsv
# what cannot be
expect 2 track "$@" -o v.tck --sample fa.nii.gz
expect 2 track "$@" -o v.tck --segment plain.tsv
expect 2 track "$@" -o none --sample fa.nii.gz
expect 2 track "$@" -o none --segment plain.tsv
expect 2 track "$@" -o v.trx --sample fa.nii.gz:
expect 2 track "$@" -o v.trx --sample fa.nii.gz --stat-tck nothing
expect 2 track "$@" -o v.trx --stat-tck max
expect 2 track "$@" -o v.trx --dec v.txt
expect 2 track "$@" -o v.trx --sample fa.nii.gz,fa.nii.gz
expect 3 track "$@" -o v.trx --sample missing.nii.gz
expect 3 track "$@" -o v.trx --segment missing.tsv
expect 4 track "$@" -o v.trx --sample fa.nii.gz:values.tsv
expect 4 track "$@" -o v.trx --segment plain.tsv:sinks_table.tsv
expect 4 track "$@" -o v.trx --dec dec.nii.gz
ln fa.nii.gz fa_too.tsv
expect 4 track "$@" -o v.trx --sample fa.nii.gz:fa_too.tsv --force
expect 4 track "$@" -o v.trx --segment plain.tsv:plain.tsv --force
[ ! -e v.trx ] || note "a tractogram of a run that failed"
# a streamline that fits several bundles goes to the nearest one: the second row has the same region and a nearer centre
printf 'bundle\tinclude\tinclude_tolerance\nfar\t0,0,40,2\t60\nnear\t0,0,0,60\t\n' > near.tsv
expect 0 segment t.trx near.tsv --table near_table.tsv --unique
awk -F '\t' 'NR == 2 && $2 != 0 || NR == 3 && $2 == 0 {exit 1}' near_table.tsv || note "--unique takes the first row"

expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o buan.csv --mode buan --nodes 10
head -n 1 buan.csv | grep -qx 'tractID,streamline,disk,fa' || note "no header of BUAN"
# the nodes of models: those of the bundle itself, of which each has points; and of another bundle, which has none
mkdir -p models
expect 0 segment t.trx b.tsv --each models/{}.trx -q
name=$(tail -n 1 b.tsv | cut -f 1)
expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o assigned.csv --assign models --nodes 10 --stats
expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o disks.csv --assign models --nodes 10 --mode buan
[ "$(wc -l < disks.csv)" -eq "$(wc -l < buan.csv)" ] || note "points by the nodes of models"
awk -F , 'NR > 1 {n[$1 "," $3 - 1]++; s[$1 "," $3 - 1] += $4}
    END {for (k in n) print k "," n[k]}' disks.csv | sort > disks_n.csv
awk -F , 'NR > 1 && $5 > 0 {print $1 "," $2 "," $5}' assigned.csv | sort | cmp - disks_n.csv || note "points of a disk"
grep -q "median distance" stderr && note "a warning of models that lie in their bundles"
printf '1 0 0 0\n0 1 0 50\n0 0 1 0\n0 0 0 1\n' > away.txt
expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o away.csv --assign models --nodes 10 --atlas-transform away.txt
says "the median distance of its points from the nodes of its model is"
expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o chain.csv --assign models --nodes 10 --assign-transform away.txt,inverse
cmp -s away.csv chain.csv || note "--assign-transform is not the inverse of --atlas-transform"
# fields that cover all nodes, a part of them, and none
python3 - << 'END'
import struct
def field(name, n, low):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 5, *n, 1, 3, 1, 1)
    struct.pack_into("<3h", head, 68, 1007, 16, 32)
    struct.pack_into("<8f", head, 76, 1, 3, 3, 3, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for r in range(3):
        struct.pack_into("<4f", head, 280 + 16 * r, *[3 if c == r else low[r] if c == 3 else 0 for c in range(4)])
    head[344:348] = b"n+1\0"
    open(name, "wb").write(head + bytes(4 * 3 * n[0] * n[1] * n[2]))
field("field_all.nii", (80, 80, 80), (-120, -120, -120))
field("field_part.nii", (80, 80, 80), (0, -120, -120))
field("field_none.nii", (8, 8, 8), (900, 900, 900))
END
by_field="profile t.trx fa.nii.gz --bundles b.tsv --assign models --nodes 10 --assign-transform"
expect 0 $by_field field_all.nii -o field_all.csv
contains field_all.json '"nodes_without_place":	0'
expect 0 $by_field field_part.nii -o field_part.csv
says "nodes of the models nowhere, so that their values have no place"
grep -q '"nodes_without_place":	[1-9]' field_part.json || note "no count of nodes without place"
expect 3 $by_field field_none.nii -o x.csv
says "--assign-transform field_none.nii: brings no node of the models to the streamlines"
rm "models/$name.trx"
expect 0 profile t.trx fa.nii.gz --bundles b.tsv -o partly.csv --assign models --nodes 10
says "has no model of the bundle $name"
grep -q "^$name,0,nan" partly.csv || note "a bundle without model"
expect 2 profile t.trx fa.nii.gz -o x.csv --weights buan
expect 2 profile t.trx fa.nii.gz -o x.csv --assign models --nodes 257
expect 2 profile t.trx fa.nii.gz -o x.csv --assign models --weights median
expect 2 profile t.trx fa.nii.gz -o x.csv --atlas-transform m.txt
expect 2 profile t.trx fa.nii.gz -o x.csv --assign-transform away.txt
expect 2 profile t.trx fa.nii.gz -o x.csv --assign models --assign-transform away.txt --atlas-transform away.txt
expect 2 profile t.trx fa.nii.gz -o x.csv --names one,two
expect 2 profile t.trx fa.nii.gz data/mask.nii.gz -o x.csv --names one
expect 2 profile t.trx fa.nii.gz -o x.csv --names fa,
says "its last name is empty"
for name in nodeID tractID; do
    expect 2 profile t.trx fa.nii.gz -o x.csv --names $name
    says "would have the name $name, which is that of another"
done
expect 2 profile t.trx fa.nii.gz -o x.csv --names disk --mode buan
expect 0 profile t.trx fa.nii.gz -o named.csv --names FA
head -n 1 named.csv | grep -qx 'tractID,nodeID,FA' || note "--names: $(head -n 1 named.csv)"
expect 3 profile t.trx fa.nii.gz -o x.csv --assign absent
expect 3 profile t.trx fa.nii.gz --bundles b.tsv -o x.csv --assign data/mask.nii.gz
[ ! -e x.csv ] || note "profiles of a run that failed"
expect 0 profile w.trx fa.nii.gz -o dps.csv --weights dps:weights
expect 3 profile w.trx fa.nii.gz -o dps2.csv --weights dps:nothing
says 'w.trx: has no column "nothing" with one value for each streamline'
expect 2 profile w.trx fa.nii.gz -o dps2.csv --weights nothing
expect 2 profile w.trx fa.nii.gz -o dps2.csv --mode buan --stats
expect 2 profile t.trx fa.nii.gz -o clip.csv --clip
expect 3 profile t.trx fa.nii.gz --bundles b.tsv -o clip.csv --clip
says "include"
expect 2 profile t.trx fa.nii.gz
expect 0 score t.trx --truth b.tsv --json score.json
says corticospinal_left
expect 0 score t.trx --against e.trx
says "shared_streamlines"
expect 2 score t.trx
expect 2 score --truth b.tsv

# --- inputs are not overwritten, however the output names them and whatever stands behind their names ---
cp data/mask.nii.gz own.nii.gz
ln own.nii.gz own.trx
ln -s own.nii.gz soft.trx
cp weights.txt own.tsf
ln own.tsf tsf.trx
expect 4 edit t.trx own.trx --crop own.nii.gz --force
says "is an input"
expect 4 edit t.trx soft.trx --include own.nii.gz:1 --force
says "is an input"
expect 4 convert t.trx tsf.trx --tsf own.tsf=v --force
says "is an input"
expect 4 track data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz -o kept.trx --include own.nii.gz:1 --density own.nii.gz --force -q
says "is an input"

# files that a table names are inputs, too
for name in a b c d; do cp data/mask.nii.gz named_$name.nii.gz; done
cp t.trx named.trx
printf 'bundle\tinclude\nA\tnamed_a.nii.gz:1\nB\tnamed.trx\n' > named.tsv
printf '{"A": {"head": "named_b.nii.gz", "tail": "named_c.nii.gz", "gt_mask": "named_d.nii.gz"}}' > named.json
# the same files under names that text may have
for name in a b c d; do ln named_$name.nii.gz named_$name.txt; done
expect 4 segment t.trx named.tsv --table named_a.txt --force
says "named_a.txt: is an input"
expect 4 segment t.trx named.tsv --counts named_a.txt --force
says "is an input"
expect 4 segment t.trx named.tsv -o named.trx --force
says "is an input"
cp t.trx named_B.trx
printf 'bundle\tinclude\nA\tnamed_a.nii.gz\nB\tnamed_B.trx\n' > named_each.tsv
expect 4 segment t.trx named_each.tsv --each named_{}.trx --force
says "is an input"
expect 4 profile t.trx data/mask.nii.gz --bundles named.tsv -o named_a.txt --force
says "is an input"
for option in "--segment named_each.tsv" "--profile named_each.tsv:named_p.csv"; do
    expect 4 track "$@" -o named_t.trx $option --density named_a.nii.gz --force
    says "is an input"
done
for option in "--sample no.nii" "--segment no.tsv" "--profile no.tsv:no.csv" "--connectome no.nii:no.csv"; do
    expect 3 track "$@" -o no.trx $option
    says "cannot be read: No such file"
    [ ! -e no.trx ] || note "$option: an output in spite of it"
done
for name in b c d; do
    expect 4 score t.trx --truth named.json --json=named_$name.txt --force
    says "named_$name.txt: is an input"
done
expect 4 track "$@" -o kept.trx --profile named.tsv:named_a.txt --force
says "is an input"
printf 'bundle\tends\nA\tmissing.nii.gz\n' > missing_ends.tsv
expect 3 segment t.trx missing_ends.tsv -o kept.trx
says "No such file"

# if the file of a column exists, the TCK file beside which it would stand is not written
echo mine > beside_dps.tsv
expect 4 convert t.trx beside.tck
says "beside_dps.tsv: exists already"
expect 4 edit t.trx beside.tck --number 5
rm beside_dps.tsv
mkdir beside_dps.tsv
expect 4 convert t.trx beside.tck --force
rmdir beside_dps.tsv

# limits that nobody set are null in sidecars
grep -q '"number":[[:space:]]*null' e.json || note "edit: a limit that nobody set"
if grep -l '"[a-z_]*":[[:space:]]*"*\(18446744073709551615\|4294967294\)' ./*.json; then note "sidecars with limits that nobody set"; fi

finish "commands on tractograms"
