#!/bin/sh
# Clusters and neighbours of streamlines on the command line: clusters.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 0 phantom data --shape 18 20 18 --directions 30 -q
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 400 --dg tensordet --device llvmpipe -q
expect 0 track "$@" -o t.trx --cluster 8:c.tck
contains t.json '"clusters"'

# --- the same clusters while tracking and from the file, with any number of threads ---
expect 0 cluster t.trx -o k.trx --threshold 8 --centroids k.tck --table k.tsv --largest 2 -q
OMP_NUM_THREADS=1 "$tool" cluster t.trx -o k1.trx --threshold 8 --centroids k1.tck --table k1.tsv --largest 2 -q || note "one thread"
OMP_NUM_THREADS=5 "$tool" cluster t.trx -o k5.trx --threshold 8 --centroids k5.tck --table k5.tsv --largest 2 -q || note "five threads"
same k1.trx k5.trx
same k.tsv k1.tsv
same k1.tsv k5.tsv
expect 0 info k.trx
says "cluster: 1 x uint32"
says "cluster_distance: 1 x float32"
says "cluster_00"
expect 0 convert t.trx t.tck -q
expect 0 convert k.trx k_all.tck -q
expect 0 cite k.trx
says "QuickBundles, a method"
python3 - << 'END' || note "clusters of track and of the file"
def column(name, key):
    rows = [line.split("\t") for line in open(name).read().splitlines()]
    return [row[rows[0].index(key)] for row in rows[1:]]

def points(name):
    data = open(name, "rb").read()
    return data[data.index(b"END\n"):].lstrip(b"END\n").lstrip(b"\0")

tracked, found = column("t_dps.tsv", "cluster"), column("k_all_dps.tsv", "cluster")
assert tracked == found and len(set(found)) > 3, (len(tracked), len(found))
assert points("c.tck") == points("k.tck")
sizes = [found.count(k) for k in column("k.tsv", "cluster")]
assert sizes == [int(n) for n in column("k.tsv", "size")] and sum(sizes) == len(found)
assert max(map(float, column("k_all_dps.tsv", "cluster_distance"))) == max(map(float, column("k.tsv", "max_distance")))
END

# --- several thresholds, orders, small clusters ---
expect 0 cluster t.trx -o m.tck --thresholds 20,12,8 --by-size --table m.tsv -q
expect 0 cluster t.trx --thresholds 20,12,8 --by-size --table again.tsv -q
same m.tsv again.tsv
expect 0 cluster t.trx --thresholds 20,12,8 --by-size --table seed.tsv --rng-seed 5 -q
expect 0 cluster t.trx --threshold 8 --order length --min-size 3 --reassign --table length.tsv -q
python3 - << 'END' || note "sizes"
rows = {name: [int(line.split("\t")[1]) for line in open(name + ".tsv").read().splitlines()[1:]] for name in ("m", "length")}
assert rows["m"] == sorted(rows["m"], reverse=True) and min(rows["length"]) >= 3, rows
END
printf '3\n1\n2\n' > order.txt
expect 0 cluster t.trx --order order.txt --table three.tsv -q
cat three*.json | grep -q '"in_clusters":.*3' || note "streamlines that an order lacks"
printf '3\n1\n3\n' > order.txt
expect 2 cluster t.trx --order order.txt --table four.tsv
says "streamline 3 twice"
printf '0.5\n' > order.txt
expect 3 cluster t.trx --order order.txt --table four.tsv
expect 2 cluster t.trx
expect 2 cluster t.trx --threshold 0 --table four.tsv
expect 2 cluster t.trx --thresholds 8,8 --table four.tsv
expect 2 cluster t.trx --thresholds 20,8 --max-clusters 5 --table four.tsv
expect 2 cluster t.trx --groups --table four.tsv
expect 4 cluster t.trx --table k.tsv
expect 4 cluster t.trx -o t.trx --force
expect 2 track "$@" -o x.tck --cluster 8
expect 2 track "$@" -o x.trx --cluster 0
expect 2 track "$@" -o x.trx --cluster 8:c.nii

# --- neighbours ---
expect 0 search t.trx t.trx --radius 2 -o pairs.tsv --tracks near.trx -q
expect 0 search k.tck t.trx --nearest 2 --radius 1000 --distance mam -o two.tsv -q
# the device that is named computes, and changes no byte
expect 0 search k.tck t.trx --nearest 2 --radius 1000 --distance mam -o two_there.tsv -q --device llvmpipe
expect 0 search t.trx t.trx --radius 4 --distance hausdorff -o far.tsv -q --device cpu
expect 0 search t.trx t.trx --radius 4 --distance hausdorff -o far_there.tsv -q --device llvmpipe
cmp -s two.tsv two_there.tsv && cmp -s far.tsv far_there.tsv || note "search --device: other neighbours"
python3 - << 'END' || note "neighbours"
def rows(name):
    lines = [line.split("\t") for line in open(name).read().splitlines()]
    assert lines[0] == ["streamline", "reference", "distance", "reversed"], lines[0]
    return [(int(i), int(j), float(d), int(r)) for i, j, d, r in lines[1:]]

pairs = rows("pairs.tsv")
near = {(i, j): d for i, j, d, _ in pairs}
assert pairs == sorted(pairs) and len(near) == len(pairs) and max(near.values()) < 2
assert all(near[i, i] == 0 for i, _ in near)
assert all(abs(near[j, i] - d) < 1e-5 for (i, j), d in near.items())
two = rows("two.tsv")
assert [i for i, *_ in two] == [k // 2 for k in range(len(two))] and all(a[2] <= b[2] for a, b in zip(two[::2], two[1::2]))
END
expect 2 search t.trx t.trx
expect 2 search t.trx t.trx --radius 0 -o no.tsv
expect 2 search t.trx -o no.tsv
expect 2 search t.trx t.trx -o no.tsv --device cpu
expect 3 search t.trx missing.trx -o no.tsv
expect 2 search t.trx t.trx -o t.trx --force

# --- outliers and repetitions ---
expect 0 edit t.trx t.trx double.trx -q
expect 0 clean double.trx once.tck --method none --duplicates 0.001 --rejected twice.tck -q
expect 0 convert t.trx whole.tck -q
expect 0 stats once.tck -o once.tsv -q
expect 0 stats twice.tck -o twice.tsv -q
for method in qb cci mahalanobis; do
    expect 0 clean t.trx $method.trx --method $method --keep-all -q
    expect 0 info $method.trx
    says "clean_score: 1 x float32"
    says rejected
done
expect 0 clean t.trx half.tck --method cci --drop 50 --rejected lower.tck -q
python3 - << 'END' || note "outliers and repetitions"
import re
def count(name):
    return int(re.search(rb"count: *0*(\d+)", open(name, "rb").read(4096)).group(1))

n = count("whole.tck")
assert count("once.tck") + count("twice.tck") == 2 * n and count("once.tck") <= n, (n, count("once.tck"))
assert count("half.tck") + count("lower.tck") == n and abs(count("half.tck") - count("lower.tck")) <= 1
END

# --- shapes, parts and direction ---
python3 - << 'END' || note "curves"
import math, struct
def write(name, lines):
    data = b"".join(struct.pack("<3f", *p) for line in lines for p in line + [(math.nan,) * 3]) + struct.pack("<3f", *(math.inf,) * 3)
    head = "mrtrix tracks\ndatatype: Float32LE\nfile: . %d\ncount: %d\nEND\n"
    open(name, "wb").write((head % (len(head % (99, len(lines))), len(lines))).encode() + data)

# 12 flat arcs, 6 bent ones 30 mm apart of which the last has a loop and a curvature of 1/6 mm, 1 apart from all
def arc(y, bend, shift=0.0):
    return [(x + shift, y + bend * math.sin(math.pi * x / 80), 0.0) for x in range(81)]
def loop(y):
    return [(6 * math.sin(a / 10), y + 6 * math.cos(a / 10), a / 20) for a in range(90)]
lines = [arc(0.2 * k, 2) for k in range(12)] + [arc(30 + 0.2 * k, 30) for k in range(5)] + [loop(60), arc(-60, 2)]
write("curves.tck", lines)
write("mixed.tck", [line[::-1] if k % 2 == 0 else line for k, line in enumerate(lines)])
# the streamline of median length lies across the others, and says nothing of their directions
cross = [[(float(x), 0.2 * k, 0.0) for x in range(-half, half + 1)][:: 1 - k % 2 * 2] for k in range(12) for half in (40 + k // 6 * 10,)]
write("cross.tck", cross + [[(0.0, float(y), 0.0) for y in range(-45, 46)]])
for side in ("left", "right"):
    write(f"arc_{side}.tck", lines[:12])
END
expect 0 clean curves.tck straight.tck --method none --loops 360 --rejected loops.tck -q
expect 0 clean curves.tck gentle.tck --method none --max-curvature 0.15 --rejected curved.tck -q
expect 0 clean curves.tck any.tck --method none --max-curvature 0.18 -q
expect 0 clean straight.tck flat.tck --method none --sharp-turns --rejected sharp.tck -q
expect 0 clean straight.tck parts.trx --method none --sub-bundles 10 --min-share 20 --reference data/mask.nii.gz --keep-all -q
expect 0 info parts.trx
says "straight_1: 12"
says "straight_2: 5"
says "rejected: 1"
expect 0 clean straight.tck parts.tck --method none --sub-bundles 10 --min-share 20 --rejected apart.tck
says "17 of 18 streamlines kept; 0 duplicates, 0 outliers, 1 in no part"
expect 0 clean curves.tck all_1.tck --method none --orient auto -q
expect 0 clean mixed.tck all_2.tck --method none --orient auto -q
expect 0 clean cross.tck crossed.tck --method none --orient auto -q
expect 0 clean mixed.tck near.tck --method none --orient 80,0,0,5 -q
expect 0 clean mixed.tck as_first.tck --method none --orient mixed.tck -q
expect 0 clean arc_left.tck left.tck --method none --orient auto --symmetric -q
expect 0 clean arc_right.tck right.tck --method none --orient auto --symmetric -q
expect 0 clean arc_right.tck plain.tck --method none --orient auto -q
python3 - << 'END' || note "shapes, parts and direction"
import re, struct
def read(name):
    data = open(name, "rb").read()
    at = int(re.search(rb"file: \. (\d+)", data).group(1))
    points = list(struct.iter_unpack("<3f", data[at:len(data) - (len(data) - at) % 12]))
    lines = [[]]
    for p in points:
        if p[0] == p[0]: lines[-1].append(p)
        else: lines.append([])
    return lines[:-1]

n = {name: len(read(name + ".tck")) for name in "straight loops gentle curved any flat sharp".split()}
assert n == {"straight": 18, "loops": 1, "gentle": 18, "curved": 1, "any": 19, "flat": 13, "sharp": 5}, n
assert read("loops.tck") == read("curved.tck") == read("curves.tck")[17:18]
assert read("all_1.tck") == read("all_2.tck") and all(line[0][0] < line[-1][0] for line in read("all_2.tck") if len(line) == 81)
assert all(line[0][0] < line[-1][0] for line in read("crossed.tck")[:12])
for name, sign in ("near", -1), ("as_first", -1), ("left", 1), ("right", -1), ("plain", 1):
    assert all((line[-1][0] - line[0][0]) * sign > 0 for line in read(name + ".tck") if len(line) == 81), name
END
for options in "--min-share 5 --loops 360" "--symmetric --loops 360" "--orient arc_left.tck --symmetric" "--sharp-turns 30" "--loops 0"; do
    # shellcheck disable=SC2086
    expect 2 clean curves.tck no.tck --method none $options
done
expect 2 clean t.trx no.trx --method none
# an option of one method is refused by the others
for options in "cci --alpha 0.5" "qb --min-cci 2" "qb --power 2" "mahalanobis --drop 5" "none --duplicates 1 --drop 5" "qb --clean-distance 3" "cci --clean-length points"; do
    # shellcheck disable=SC2086
    expect 2 clean t.trx no.trx --method $options
    says "can use it"
done
expect 2 clean t.trx
expect 4 clean t.trx t.trx --force

if grep -l '"[a-z_]*":[[:space:]]*"*\(18446744073709551615\|4294967294\)' ./*.json; then note "sidecars with limits that nobody set"; fi

finish "clusters, neighbours, outliers"
