#!/bin/sh
# Recognition of bundles on the command line: recognize.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 0 phantom data --shape 18 20 18 --directions 30 -q
expect 0 track data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 400 --dg tensordet --device llvmpipe -q -o t.trx
expect 0 cluster t.trx -o k.trx --threshold 8 --by-size --largest 3 -q
mkdir -p atlas both/one both/two
expect 0 edit k.trx atlas/first.trk --group cluster_000001 -q
expect 0 edit k.trx atlas/second.one.tck --group cluster_000002 -q
expect 0 edit k.trx atlas/third.vtk --group cluster_000003 -q
echo text > atlas/readme.txt

# --- the bundles that were taken out are found again, in any number of threads ---
expect 0 recognize t.trx atlas --clust-thr 4 --reduction-thr 3 -o r.trx --table r.tsv --each found_{}.tck --counts r_counts.csv -q
python3 - << 'PY' || note "--counts"
import array, csv, json, zipfile
head, *rows = csv.reader(open("r_counts.csv"))
trx, found = zipfile.ZipFile("r.trx"), json.load(open("r.json"))["counts"]["recognized"]
groups = {n[7:-7]: len(array.array("I", trx.read(n))) for n in trx.namelist() if n.startswith("groups/")}
assert head == ["", "n_streamlines"] and rows[-1] == ["Total Recognized", str(found)] and found > 0, rows
assert len(rows) > 2 and all(int(count) == groups.get(name, 0) for name, count in rows[:-1]), (rows, groups)
PY
OMP_NUM_THREADS=1 "$tool" recognize t.trx atlas --clust-thr 4 --reduction-thr 3 -o r1.trx --table r1.tsv -q || note "one thread"
OMP_NUM_THREADS=5 "$tool" recognize t.trx atlas --clust-thr 4 --reduction-thr 3 -o r5.trx --table r5.tsv -q || note "five threads"
same r1.trx r5.trx
same r.tsv r1.tsv
same r1.tsv r5.tsv
# a slash behind the folder is no part of the atlas's name
expect 0 recognize t.trx atlas/ --clust-thr 4 --reduction-thr 3 --table slash.tsv -q
same r.tsv slash.tsv
expect 0 info r.trx
says "bundle: 1 x uint16"
says "bundle_margin: 1 x float32"
says first
says second
says unrecognized
expect 0 cite r.trx
says BundleSeg
says "Robust and efficient linear registration"
expect 0 recognize t.trx atlas -o u.trx --unique --recognized-only --no-local --threshold 2 -q
for name in t k u; do expect 0 convert $name.trx $name.tck -q; done
expect 0 recognize t.trx atlas --table d.tsv -q
expect 0 recognize k.trx k.trx -o g.tck --no-local --threshold 1 -q
expect 0 recognize t.trx atlas -o n.tck --no-local --threshold 2 -q
python3 - << 'END' || note "bundles"
def column(name, key):
    rows = [line.split("\t") for line in open(name).read().splitlines()]
    return [row[rows[0].index(key)] for row in rows[1:]]

sizes = [int(n) for n in column("r.tsv", "model")]
assert column("r.tsv", "bundle") == ["first", "second", "third"] and min(sizes) > 1, sizes
# without registration each streamline of a model is at distance 0, but for the rounding of its file
bundle, distance = column("n_dps.tsv", "bundle"), [float(d) for d in column("n_dps.tsv", "bundle_distance")]
assert sum(d < 1e-5 for d in distance) >= sum(sizes), sizes
assert all((b == "65535") == (d != d) and not d >= 2 for b, d in zip(bundle, distance))
found = [int(n) for n in column("r.tsv", "streamlines")]
assert all(n >= m for n, m in zip(found, sizes)), (found, sizes)
assert all(float(c) >= 0.5 for c in column("r.tsv", "coverage"))
# models of the same tractogram stay where they are, although other bundles lie close
assert all(float(s) < 1 for s in column("d.tsv", "shift")) and all(0.9 < float(s) < 1.1 for s in column("d.tsv", "scale"))
for name, n in zip(("first", "second", "third"), found):
    data = open("found_%s.tck" % name, "rb").read()
    assert int(data[data.index(b"count:") + 6:].split(b"\n")[0]) == n, name
assert len(column("u_dps.tsv", "bundle")) == sum(b != "65535" for b in bundle)
END

# --- the group unrecognized is no bundle ---
expect 0 recognize t.trx r.trx --no-local --table again.tsv -q
expect 0 profile r.trx data/mask.nii.gz -o profile.csv -q
python3 - << 'END' || note "unrecognized is no bundle"
assert {line.split("\t")[0] for line in open("again.tsv").read().splitlines()[1:]} == {"first", "second", "third"}
assert {line.split(",")[0] for line in open("profile.csv").read().splitlines()[1:]} == {"first", "second", "third"}
END

# --- RecoBundles: its clusters are whole, in any number of threads ---
reco="recognize t.trx atlas --method recobundles --min-length 5"
expect 0 $reco -o b.tck --table b.tsv -q
OMP_NUM_THREADS=1 "$tool" $reco -o b1.tck --table b1.tsv -q || note "RecoBundles in one thread"
same b.tck b1.tck
same b_dps.tsv b1_dps.tsv
same b.tsv b1.tsv
expect 0 $reco --refine -o br.trx --table br.tsv -q
expect 0 cite br.trx
says "Recognition of white matter bundles using local and global streamline-based registration"
expect 0 $reco --min-length 1000 --table none.tsv
says "no streamlines of t.trx are near the bundle first"
python3 - << 'END' || note "RecoBundles"
def rows(name):
    lines = [line.split("\t") for line in open(name).read().splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]

once, refined, none = rows("b.tsv"), rows("br.tsv"), rows("none.tsv")
assert [r["bundle"] for r in once] == ["first", "second", "third"]
assert all(int(r["streamlines"]) >= int(r["model"]) and float(r["coverage"]) == 1 for r in once), once
assert all(0 < int(r["streamlines"]) <= int(o["neighbours"]) for r, o in zip(refined, once)), refined
assert all(int(r["streamlines"]) == 0 and r["bmd_before"] in ("nan", "n/a", "NaN", "") for r in none), none
# a streamline is in the nearest of its bundles, and each vote is one of the only atlas
dps = rows("b_dps.tsv")
assert {r["bundle_votes"] for r in dps} == {"0", "1"}
assert sum(r["bundle"] != "65535" for r in dps) <= sum(int(r["streamlines"]) for r in once)
END
expect 2 recognize t.trx atlas --refine -o x.trx
says "method recobundles"
expect 2 $reco --clust-thr 21 -o x.trx

# --- an atlas of another space: its bundles go by the inverse of a chain ---
printf '0 -1 0 30\n0.9 0 0.1 -20\n0 0 1.1 12\n' > there.txt
python3 - << 'END'
import struct
n, step, low = 24, 8.0, -92.0
import math
values = [s * 4 * math.sin((low + step * (z if a == 0 else x if a == 1 else y)) / 25) for a, s in ((0, -1), (1, -1), (2, 1)) for z in range(n) for y in range(n) for x in range(n)]
head = bytearray(352)
struct.pack_into("<i", head, 0, 348)
struct.pack_into("<8h", head, 40, 5, n, n, n, 1, 3, 1, 1)
struct.pack_into("<3h", head, 68, 1007, 16, 32)
struct.pack_into("<8f", head, 76, 1, step, step, step, 1, 1, 1, 1)
struct.pack_into("<3f", head, 108, 352, 1, 0)
struct.pack_into("<2h", head, 252, 0, 1)
for a in range(3):
    struct.pack_into("<4f", head, 280 + 16 * a, *[step if c == a else low if c == 3 else 0 for c in range(4)])
head[344:348] = b"n+1\0"
open("bent.nii", "wb").write(head + struct.pack("<%df" % len(values), *values))
END
mkdir bent straight
for b in first second.one third; do
    suffix=$(cd atlas && echo $b.* | sed 's/.*\.//')
    expect 0 transform atlas/$b.$suffix -t there.txt,inverse -t bent.nii,inverse -o bent/$b.tck -q
    expect 0 transform bent/$b.tck -t bent.nii -t there.txt -o straight/$b.tck -q
done
expect 0 recognize t.trx straight --table straight.tsv -o straight.trx --no-local --threshold 2 -q
expect 0 recognize t.trx bent --table bent.tsv -o bent.trx --no-local --threshold 2 -t bent.nii -t there.txt -q
python3 - << 'END' || note "an atlas of another space"
import csv
straight, bent = (list(csv.DictReader(open(name), delimiter="\t")) for name in ("straight.tsv", "bent.tsv"))
key = [k for k in straight[0] if "count" in k.lower() or "streamlines" in k.lower()][0]
a, b = ([int(r[key]) for r in rows] for rows in (straight, bent))
assert a == b and min(a) > 3, (a, b)
END
expect 0 recognize t.trx bent --table away.tsv --threshold 2
says "give --transform or --atlas-transform"
# three bundles and two empty ones may lie aside of all streamlines; five with streamlines are in another space
printf '1 0 0 90\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > aside.txt
expect 0 edit t.trx aside.tck --transform aside.txt -q
expect 0 edit t.trx aside.tck both.tck --fields none -q
cp -r atlas few
for b in fourth fifth; do "$tool" edit t.trx few/$b.tck --min-length 5000 -q; done
expect 0 recognize both.tck few --table few.tsv
says "in 5 bundles, 2 of them empty"
! grep -q "mean of its streamlines" stderr || note "a few bundles were said to lie in another space"
for b in fourth fifth; do cp atlas/second.one.tck few/$b.tck; done
expect 0 recognize both.tck few --table few.tsv --force
says "mean of its streamlines"
expect 0 recognize t.trx atlas/first.trk --table alone.tsv
says "in 1 bundle, 0 of them empty"
# a narrow bundle that lies right may turn about itself as far as is allowed; one that lies elsewhere is warned of
expect 0 recognize t.trx atlas/third.vtk --table narrow.tsv
[ "$(awk -F '\t' '{ for (i = 1; i <= NF; i++) if (NR == 1 && $i == "at_bound") k = i } END { print $k }' narrow.tsv)" = 1 ] || note "the bundle did not turn"
! grep -q "as far as the registration allows" stderr || note "a narrow bundle is warned of that lies right"
expect 2 recognize t.trx bent --table x.tsv -t bent.nii -t there.txt --atlas-transform there.txt
says "--transform and --atlas-transform exclude each other"

# --- while tracking: the same groups, columns and table, for any number of seeds at a time ---
track="track data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 400 --dg tensordet --device llvmpipe -q"
expect 0 $track -o s.trx --recognize atlas:s.tsv
expect 0 $track -o s7.trx --recognize atlas --chunk-size 70
expect 0 $track -o none --recognize atlas:s0.tsv
expect 0 recognize t.trx atlas -o sr.trx --table sr.tsv -q
same s.tsv sr.tsv
same s.tsv s0.tsv
same s.trx s7.trx
python3 - << 'END' || note "bundles while tracking"
import json, zipfile
one, two = zipfile.ZipFile("s.trx"), zipfile.ZipFile("sr.trx")
names = [n for n in two.namelist() if n.startswith(("groups/", "dps/bundle"))]
assert len(names) >= 6 and "groups/unrecognized.uint32" in names, names
assert all(one.read(n) == two.read(n) for n in names)
counts = json.load(open("s.json"))["counts"]["recognized"]
assert counts["first"] == len(one.read("groups/first.uint32")) // 4 > 0
END
expect 2 $track -o s.tck --recognize atlas
says "must be a TRX file"
expect 2 $track -o s8.trx --recognize atlas --shard 1/2
says "not with --shard"
expect 3 $track -o s8.trx --recognize absent
ln atlas/first.trk atlas/first.tsv
expect 4 $track -o s9.trx --recognize atlas:atlas/first.tsv --force
rm atlas/first.tsv
cmp -s s9.trx /dev/null || test ! -e s9.trx || note "an output of a run that was refused"

# --- atlases that vote, thresholds, transforms ---
cp atlas/first.trk atlas/third.vtk both/one
cp atlas/first.trk atlas/second.one.tck both/two
printf '{"first.trk": 3, "second.trk": 2.5, "absent.trk": 8}\n' > config.json
expect 0 recognize t.trx both --config config.json --no-local -o v.tck --table v.tsv
says "third.vtk: is left out"
says "no atlas has absent.trk"
expect 0 recognize t.trx both --config config.json --no-local --vote-ratio 1 --table v1.tsv -q
python3 - << 'END' || note "votes"
rows = [line.split("\t") for line in open("v.tsv").read().splitlines()]
assert [(r[0], r[1][-3:], float(r[2])) for r in rows[1:]] == [("first", "one", 3), ("first", "two", 3), ("second", "two", 2.5)], rows
votes = [line.split("\t") for line in open("v_dps.tsv").read().splitlines()]
at = votes[0].index("bundle"), votes[0].index("bundle_votes")
assert {(r[at[0]], r[at[1]]) for r in votes[1:]} >= {("0", "2"), ("1", "1")}
END
printf '1 0 0 30\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > move.txt
mkdir -p far
expect 0 edit atlas/first.trk far/first.trk --transform move.txt -q
expect 0 recognize t.trx far --table far.tsv
says "bundles moved as far as the registration allows: 1 of 1: check"
says "mm away from that of t.trx"
says "give --transform or --atlas-transform"
printf -- '-1 0 0 0\n0 -1 0 0\n0 0 1 0\n0 0 0 1\n' > lps.txt
expect 0 cluster t.trx -o many.trx --threshold 8 --by-size --groups --force -q
expect 0 recognize t.trx many.trx --table many.tsv
grep -q mirrored stderr && note "an atlas in its own space is said to be mirrored"
expect 0 recognize t.trx many.trx --atlas-transform lps.txt --table lps.tsv
says "mirrored along x and y its streamlines are"
expect 0 recognize t.trx atlas/first.trk --table one.tsv
grep -q "another space, give" stderr && note "a single bundle is said to lie in another space"
expect 0 recognize t.trx far --atlas-transform move.txt --invert --no-local --table back.tsv -q
expect 0 recognize t.trx atlas/first.trk --no-local --table there.tsv -q
python3 - << 'END' || note "transform of an atlas"
there, back = ([line.split("\t") for line in open(name).read().splitlines()][1] for name in ("there.tsv", "back.tsv"))
assert there[3] == back[3], (there, back)
END

# --- similarity of bundles: by names in folders, groups and single files ---
expect 0 similarity atlas atlas -o same.tsv
says "3 bundles compared, 3 pairs"
expect 0 similarity r.trx atlas -o other.tsv --template data/mask.nii.gz -q
expect 0 similarity atlas r.trx -o turned.csv --template data/mask.nii.gz -q
expect 0 similarity atlas/first.trk atlas/third.vtk -o single.tsv -q
mkdir -p part hollow
cp atlas/first.trk part
expect 0 similarity atlas part -o part.tsv
says "part: has no bundle second"
expect 0 edit k.trx hollow/first.trk --group cluster_000001 --min-length 1000 -q
expect 0 similarity part hollow -o hollow.tsv
says "the bundle first has no streamlines"
python3 - data/mask.nii.gz away.nii << 'END'
import gzip, struct, sys
b = bytearray(gzip.open(sys.argv[1]).read())
for row in range(3): struct.pack_into("<f", b, 292 + 16 * row, 5000)
open(sys.argv[2], "wb").write(b)
END
expect 0 similarity part part -o outside.tsv --template away.nii
says "all streamlines of the bundle first lie outside away.nii"
says "1 bundle compared, 1 pair"
OMP_NUM_THREADS=1 "$tool" similarity r.trx atlas -o other1.tsv --template data/mask.nii.gz -q || note "similarity in one thread"
same other.tsv other1.tsv
expect 0 similarity atlas r.trx part -o three.tsv --template data/mask.nii.gz -q
expect 0 similarity atlas r.trx part -o three_ba.tsv --template data/mask.nii.gz --matrix ba -q
expect 0 similarity r.trx part --against atlas -o against.tsv --template data/mask.nii.gz -q
python3 - << 'END' || note "similarity"
def rows(name):
    lines = [line.split("," if name.endswith(".csv") else "\t") for line in open(name).read().splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]

for row in rows("same.tsv"):
    assert all(float(row[k]) == 1 for k in row if k.startswith(("dice", "w_dice", "density")) or k == "ba"), row
    assert float(row["bundle_adjacency_voxels"]) == float(row["bmd"]) == float(row["volume_overreach"]) == 0
    assert float(row["volume_overlap"]) > 0 and row["streamlines_a"] == row["streamlines_b"]
other, turned = rows("other.tsv"), rows("turned.csv")
assert [r["bundle"] for r in other] == [r["bundle"] for r in turned] == ["first", "second", "third"]
for a, b in zip(other, turned):
    assert all(abs(float(a[k]) - float(b[k])) < 1e-9 for k in a if k not in ("bundle", "a", "b", "streamlines_a", "streamlines_b")), (a, b)
    assert 0 < float(a["dice_voxels"]) < 1 and float(a["bundle_adjacency_streamlines"]) ** 2 - float(a["bmd"]) < 1e-9
assert len(rows("single.tsv")) == len(rows("part.tsv")) == 1
# each pair of three inputs, of which one has a single bundle
three, against = rows("three.tsv"), rows("against.tsv")
assert [(r["bundle"], r["a"], r["b"]) for r in three] == [
    ("first", "atlas", "r.trx"), ("first", "atlas", "part"), ("first", "r.trx", "part"), ("second", "atlas", "r.trx"),
    ("third", "atlas", "r.trx")]
assert [(r["bundle"], r["a"], r["b"]) for r in against] == [
    ("first", "r.trx", "atlas"), ("first", "part", "atlas"), ("second", "r.trx", "atlas"), ("third", "r.trx", "atlas")]
assert all({k: v for k, v in r.items() if k not in "ab"} == o for r, o in zip(against[:1], ({k: v for k, v in o.items() if k not in "ab"} for o in other)))
matrix = rows("three_ba.tsv")
names = ["atlas", "r.trx", "part"]
assert [r["input"] for r in matrix] == 3 * names and list(matrix[0]) == ["bundle", "input"] + names
value = {(r["bundle"], r["input"], name): r[name] for r in matrix for name in names}
assert all(value[b, x, y] == value[b, y, x] for b, x, y in value) and value["first", "part", "part"] == "1"
assert all(value[r["bundle"], r["a"], r["b"]] == r["ba"] for r in three) and value["third", "part", "atlas"] == "nan"
outside = rows("outside.tsv")[0]
assert all(outside[k] == "nan" for k in outside if k.startswith(("dice", "density")) or k in ("bundle_adjacency_voxels", "hausdorff")), outside
assert outside["ba"] == "1" and float(outside["bmd"]) == 0, outside
assert rows("hollow.tsv")[0]["dice_voxels"] == "nan" and rows("hollow.tsv")[0]["streamlines_b"] == "0"
END
expect 2 similarity atlas atlas -o x.tsv --template data/mask.nii.gz --voxel-size 2
says "exclude each other"
expect 2 similarity atlas atlas
says "needs --output"
expect 2 similarity atlas -o x.tsv
says "needs two inputs or more"
expect 2 similarity atlas atlas -o x.tsv --matrix dice
says "must be a column"
expect 2 similarity atlas atlas -o x.tsv --matrix ba --against part
expect 3 similarity atlas -o x.tsv --against absent
expect 3 similarity atlas nothing_here -o x.tsv
expect 2 similarity atlas atlas -o x.tsv --voxel-size 0
mkdir -p elsewhere
cp atlas/first.trk elsewhere/nobody.trk
expect 3 similarity part/first.trk absent.trk -o x.tsv
expect 3 similarity atlas elsewhere -o x.tsv
says "have no bundle of the same name"
test -e x.tsv && note "a table of a run that failed"

# --- an atlas of subjects, of whom one is turned by 4 degrees and moved by 5 mm; the same in any number of threads ---
printf '0.99756 -0.06976 0 4\n0.06976 0.99756 0 -3\n0 0 1 0\n0 0 0 1\n' > turn.txt
mkdir -p turned
for name in first.trk second.one.tck third.vtk; do expect 0 edit atlas/$name turned/$name --transform turn.txt --reference data/mask.nii.gz -q; done
grid="--reference data/mask.nii.gz -q"
expect 0 atlas atlas turned -o made.trx --config thresholds.json $grid
OMP_NUM_THREADS=1 "$tool" atlas atlas turned -o made1.trx --config thresholds1.json $grid || note "an atlas in one thread"
same made.trx made1.trx
same thresholds.json thresholds1.json
expect 0 atlas atlas turned -o still.trx --type none --min-share 1 $grid
expect 0 atlas r.trx atlas -o twice.trx --type none --min-share 0 --threshold 0.01 $grid
expect 0 recognize t.trx made.trx --config thresholds.json --table m.tsv -q
expect 0 cite made.trx
python3 - << 'END' || note "an atlas of subjects"
import json, zipfile
made, still, twice = (json.load(open(name + ".json")) for name in ("made", "still", "twice"))
names = ["first", "second", "third"]
assert list(made["bundles"]) == names and "registration" not in still
# both subjects are the same bundles, so that they come to lie on each other, and each cluster has both
assert made["registration"]["distance_after_mm2"] < 0.01 < made["registration"]["distance_before_mm2"], made["registration"]
assert all(0 < b["kept"] <= b["streamlines"] // 2 and b["subjects"] == 2 for b in made["bundles"].values()), made["bundles"]
assert sum(b["kept"] for b in still["bundles"].values()) < sum(b["kept"] for b in made["bundles"].values())
groups = zipfile.ZipFile("made.trx")
assert [len(groups.read("groups/%s.uint32" % n)) // 4 for n in names] == [made["bundles"][n]["kept"] for n in names]
assert set(json.load(open("thresholds.json"))) == {n + ".trk" for n in names}
# near 0 mm the clusters are the streamlines; unrecognized is no bundle
assert list(twice["bundles"]) == names and all(b["kept"] > made["bundles"][n]["kept"] for n, b in twice["bundles"].items())
END
expect 2 atlas atlas turned
says "needs --output"
expect 2 atlas atlas -o x.trx
expect 2 atlas atlas turned -o x.tck
says "must be a TRX file"
expect 2 atlas atlas turned -o x.trx --threshold 0
expect 3 atlas atlas absent -o x.trx
expect 4 atlas atlas made.trx -o made.trx --force
test -e x.trx && note "an atlas of a run that failed"

# --- bad input ---
expect 2 recognize t.trx atlas
says "needs an output"
expect 2 recognize t.trx atlas -o x.trx --threshold 0
expect 2 recognize t.trx atlas --each all.tck
expect 2 recognize t.trx atlas -o x.trx --invert
mkdir -p nothing
expect 3 recognize t.trx nothing -o x.trx
says "has no bundles"
expect 3 recognize t.trx absent -o x.trx
printf '{"first.trk": "far"}\n' > wrong.json
expect 3 recognize t.trx atlas --config wrong.json -o x.trx
says "the threshold of first"
printf 'no json' > wrong.json
expect 3 recognize t.trx atlas --config wrong.json -o x.trx
cp atlas/first.trk atlas/first.again.trk
expect 2 recognize t.trx atlas -o x.trx
says "two files have the bundle first"
rm atlas/first.again.trk
head -c 1200 atlas/first.trk > atlas/cut.trk
expect 3 recognize t.trx atlas -o x.trx
test -e x.trx && note "an output of a run that failed"
finish "recognition of bundles"
