#!/bin/sh
# Tests of edges of connectomes, and of probabilities of regions: edges.sh TOOL WORK_DIR. Needs a device (a software
# renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 0 phantom data --shape 18 20 18 --directions 30 -q
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 300 --model csd --dg det --device llvmpipe -q
python3 - << 'END'
import gzip, struct
raw = gzip.open("data/mask.nii.gz").read()
head, n = bytearray(raw[:352]), 18 * 20 * 18
head[70:74] = struct.pack("<2h", 4, 16)
with open("labels.nii", "wb") as f:
    f.write(head + struct.pack(f"<{n}h", *[0 if 6 <= v // 360 < 12 else 3 + v // 1080 for v in range(n)]))
# two regions that overlap along z, as probabilities, percentages and numbers that are none
head[70:74] = struct.pack("<2h", 16, 32)
head[40:50] = struct.pack("<5h", 4, 18, 20, 18, 2)
share = [min(max((v // 360 - 4) / 9, 0), 1) for v in range(n)]
for name, factor in (("soft", 1), ("percent", 100), ("nan", float("nan"))):
    with open(name + ".nii", "wb") as f:
        f.write(head + struct.pack(f"<{2 * n}f", *[factor * s for s in share], *[factor * (1 - s) for s in share]))
END

# --- probabilities of regions ---
for labels in soft max; do
    expect 0 track "$@" -o t.trx --connectome "soft.nii:track_$labels.csv" --labels $labels --force
    expect 0 connectome t.trx soft.nii "$labels.csv" --labels $labels
    cmp "$labels.csv" "track_$labels.csv" || note "--labels $labels of track"
    OMP_NUM_THREADS=1 "$tool" connectome t.trx soft.nii one.csv --labels $labels -q --force
    cmp "$labels.csv" one.csv || note "one thread and several, --labels $labels"
done
cmp -s soft.csv max.csv && note "--labels soft is max"
expect 0 track "$@" -o w.trx --weights --connectome soft.nii:track_weighted.csv --labels soft
expect 0 connectome w.trx soft.nii weighted.csv --labels soft --weights dps:sift2_weights
cmp weighted.csv track_weighted.csv || note "--labels soft of track with --weights"
for part in 1 2; do expect 0 track "$@" -o none --connectome soft.nii:part.csv --labels soft --shard $part/2; done
expect 0 merge -o sum.csv part_shard-1of2.csv part_shard-2of2.csv
python3 - soft.csv sum.csv << 'END' || note "--labels soft of shards"
import sys
a, b = ([float(v) for v in open(name).read().replace("\n", ",").split(",") if v] for name in sys.argv[1:])
assert len(a) == len(b) == 4 and all(abs(x - y) < 1e-9 * max(a) for x, y in zip(a, b)), (a, b)
END
expect 3 connectome t.trx soft.nii e.csv
says "is a 4D series of 2 volumes, but labels are one volume: --labels soft takes them as probabilities"
expect 3 track "$@" -o v.trx --connectome soft.nii:e.csv
expect 3 connectome t.trx labels.nii e.csv --labels soft
expect 3 connectome t.trx percent.nii e.csv --labels soft
says "divide percentages by 100"
for labels in soft max; do expect 3 connectome t.trx nan.nii e.csv --labels $labels; done
for words in "--stat-edge median" "--edges e.tsv" "--assignments e.txt" "--scale invnodevol" "--assign reverse" "--metric invnodevol"; do
    # shellcheck disable=SC2086
    expect 7 connectome t.trx soft.nii e.csv --labels soft $words
done

# --- edges ---
expect 0 connectome t.trx labels.nii c.csv --assignments a.txt --labels raw
expect 0 connectome t.trx labels.nii row.csv --vector --keep-unassigned --header --force
expect 0 connectome t.trx soft.nii soft_row.csv --vector --keep-unassigned --labels soft
expect 0 connectome t.trx soft.nii soft_all.csv --keep-unassigned --labels soft --symmetric
python3 - << 'END' || note "--vector"
import collections
last = collections.Counter(line.split()[1] for line in open("a.txt") if line[0] != "#")
head, row = (line.strip().split(",") for line in open("row.csv"))
assert row[0] == "last_end" and len(head) == len(row) and head[0] == "", (head, row)
assert [float(v) for v in row[1:]] == [last[n] for n in ["0"] + sorted(last, key=int)[1:]], (head, row, last)
# all weight is there, and each region has less than its row of the matrix
soft, full = ([[float(v) for v in line.split(",")] for line in open(name)] for name in ("soft_row.csv", "soft_all.csv"))
count = sum(1 for line in open("a.txt") if line[0] != "#")
assert len(soft) == 1 and abs(sum(soft[0]) - count) < 1e-6 * count and all(0 < a < sum(b) for a, b in zip(soft[0], full)), (soft, full)
END
# while tracking: the row of the command on the file, also of weights, and as the sum of shards
expect 0 track "$@" -o row.trx --connectome labels.nii:track_row.csv --vector --header --weights
expect 0 connectome row.trx labels.nii own_row.csv --vector --header --weights dps:sift2_weights
same own_row.csv track_row.csv
expect 0 track "$@" -o none --connectome labels.nii:whole_row.csv --vector
expect 0 connectome row.trx labels.nii counted_row.csv --vector
same counted_row.csv whole_row.csv
for part in 1 2; do expect 0 track "$@" -o none --connectome labels.nii:row_part.csv --vector --shard $part/2; done
expect 0 merge -o row_sum.csv row_part_shard-1of2.csv row_part_shard-2of2.csv
same counted_row.csv row_sum.csv
expect 0 connectome row.trx labels.nii named_row.csv --vector --header
for part in 1 2; do expect 0 track "$@" -o none --connectome labels.nii:named_part.csv --vector --header --shard $part/2; done
expect 0 merge -o named_sum.csv named_part_shard-1of2.csv named_part_shard-2of2.csv
same named_row.csv named_sum.csv
tail -n 1 named_part_shard-2of2.csv >> named_part_shard-2of2.csv
expect 3 merge -o none.csv named_part_shard-1of2.csv named_part_shard-2of2.csv
python3 - << 'END' || note "--vector of track"
rows = [line.split(",") for line in open("whole_row.csv")]
assert len(rows) == 1 and len(rows[0]) > 3 and sum(float(v) for v in rows[0]) > 100, rows
END
expect 2 track "$@" -o none.trx --vector
says "--vector: needs --connectome"
for words in "--assign all" --symmetric --zero-diagonal "--edges e.tsv"; do
    # shellcheck disable=SC2086
    expect 2 connectome t.trx labels.nii e.csv --vector $words
    says "--vector: has one row"
done
expect 0 edges t.trx a.txt groups.trx
expect 0 edges t.trx labels.nii again.trx
cmp groups.trx again.trx || note "edges of assignments and of labels"
expect 4 edges t.trx a.txt groups.trx
expect 0 info groups.trx
says "3-8"
expect 0 edges t.trx a.txt edge-
[ -s edge-3-8.tck ] && [ -s edge-3-8_dps.tsv ] && [ -s edge-3-8.json ] || [ -s edge-3-4.json ] || note "files of edges"
[ -e edge-3-3.tck ] && note "an edge of a region with itself"
expect 0 edges t.trx a.txt node-.tck --files per_node --keep-self
[ -s node-3.tck ] && [ ! -e node-1.tck ] || note "files of nodes"
expect 0 edges t.trx a.txt single.tck --files single
expect 0 edges t.trx a.txt means.trx --exemplars labels.nii
expect 0 info means.trx
says "count: 1 x uint64"
expect 0 edges t.trx a.txt mean-.tck --exemplars labels.nii --files per_edge --step 2
expect 2 edges t.trx a.txt
expect 2 edges t.trx a.txt e.tck --files groups
expect 2 edges t.trx a.txt e.tck --exclusive
expect 2 edges t.trx a.txt e.tck --step 2
# an atlas of many regions, each by its label
expect 0 edges t.trx a.txt odd.trx --nodes 3,5,7
expect 0 edges t.trx a.txt many.trx --nodes "$(seq -s , 1 2 601)"
cmp odd.trx many.trx || note "--nodes of 301 labels"
expect 6 edges t.trx a.txt e.tck --nodes "$(seq -s , 1001 2 1601)"
for nodes in '3,' x 5-3 -1 '3,,4'; do expect 2 edges t.trx a.txt e.tck --nodes=$nodes; done
expect 6 edges t.trx a.txt e.tck --nodes 2
says "have no end in a region of --nodes"
expect 2 edges t.trx a.txt e.tck.gz
says "e.tck.gz: the name of a tractogram must end in"
printf '3 3\n%.0s' $(seq "$(grep -vc '#' a.txt)") > self.txt
expect 6 edges t.trx self.txt e.tck
says "have both ends in the same region (--keep-self)"
expect 6 edges t.trx self.txt e.tck --exemplars labels.nii --nodes 4
says "have no end in a region of --nodes"
printf '3 8\n%.0s' $(seq "$(grep -vc '#' a.txt)") > pair.txt
expect 6 edges t.trx pair.txt e.tck --nodes 3 --exclusive
says "have an end outside of the regions of --nodes (--exclusive)"
printf '3 0\n%.0s' $(seq "$(grep -vc '#' a.txt)") > open.txt
expect 6 edges t.trx open.txt e.tck
says "have an end without a region (--keep-unassigned)"
expect 3 edges t.trx missing.txt e.tck
expect 3 edges t.trx data/roi.nii.gz e.tck --exemplars missing.nii
head -n 20 a.txt > short.txt
for words in "e.trx" "e.tck --files single" "e.tck" "e.trx --exemplars labels.nii"; do
    # shellcheck disable=SC2086
    expect 3 edges t.trx short.txt $words
    says "short.txt: has labels of"
done
{ cat a.txt && echo "3 8"; } > long.txt
for words in "e.trx" "e.tck" "e.trx --exemplars labels.nii"; do
    # shellcheck disable=SC2086
    expect 3 edges t.trx long.txt $words
done
find . -name 'e.*' -o -name 'e[0-9]*' | grep . && note "files of runs that failed"

# more files than are open at a time
python3 - << 'END'
import struct
n = 700
with open("many.tck", "wb") as f:
    head = f"mrtrix tracks\ndatatype: Float32LE\ncount: {n}\nfile: . 128\nEND\n"
    f.write(head.encode().ljust(128, b"\0"))
    for i in range(n):
        f.write(struct.pack("<9f", i, 0, 0, i, 5, 0, *[float("nan")] * 3))
    f.write(struct.pack("<3f", *[float("inf")] * 3))
with open("many.txt", "w") as f:
    f.writelines(f"{1 + i} {1 + (i + 1) % n}\n" for i in range(n))
END
mkdir many
expect 0 edges many.tck many.txt many/edge-.tck
[ "$(find many -name '*.tck' | wc -l)" -eq 700 ] || note "not 700 files"
expect 0 info many/edge-650-651.tck --count
says "649"
# few files at a time, with two files for each edge
mkdir few
seq 700 > heavy.txt
(ulimit -n 128 && exec "$tool" edges many.tck many.txt few/edge-.tck --weights heavy.txt -q) > stdout 2> stderr || note "edges with 128 files"
[ "$(find few -name '*.tck' | wc -l)$(find few -name '*_weights.txt' | wc -l)" = 700700 ] || note "not 700 files of streamlines and of weights"
cmp few/edge-650-651.tck many/edge-650-651.tck && contains few/edge-650-651_weights.txt 650 || note "another edge with few files"
find few -name '.*' | grep part && note "temporary names are left"
(ulimit -n 128 && exec "$tool" edges many.tck many.txt few/edge-.tck --weights heavy.txt -q) > stdout 2> stderr && note "files were replaced"
find few -name '.*' | grep part && note "temporary names are left by a failure"
finish "edges of connectomes and probabilities of regions"
