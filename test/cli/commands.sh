#!/bin/sh
# Each command once, as a new user types it, from the phantom's series to its report, with what is known of each result: commands.sh TOOL WORK_DIR.
# Other tests have the options, the refusals and the comparisons; this one is for a machine that nobody has seen yet.
. "$(dirname "$0")/common.sh"

# known WHAT: runs a Python program with assertions
known() {
    checks=$((checks + 1))
    python3 - > python.log 2>&1 || { note "$1"; cat python.log; }
}

expect 0 --version
expect 0 help
says "bids"
expect 0 help getters
expect 0 devices
says "llvmpipe"
expect 2 nonsense
expect 0 phantom . --shape 20 24 20 --directions 30
for file in dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz; do [ -s $file ] || note "no $file"; done

# --- from a series to a tractogram: a dry run, the fit, the response, the tracker, in one and in two parts ---
few="--nseeds 200 --sphere small"
expect 0 track dwi.nii.gz -o t.trx $few --dry-run
[ ! -e t.trx ] || note "a dry run wrote a file"
expect 0 response dwi.nii.gz resp --algorithm tournier
expect 0 fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz fit --model csd --response resp_response.txt
expect 0 track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz -o t.trx $few --model csd --dg prob
for part in 1 2; do expect 0 track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz -o p.trx $few --model csd --dg prob --shard $part/2; done
expect 0 merge p_shard-1of2.trx p_shard-2of2.trx -o p.trx
same p.trx t.trx
expect 0 track --sh fit_sh.nii.gz --fa fit_fa.nii.gz --mask mask.nii.gz --roi roi.nii.gz --dg det -o t.tck $few

# --- contents of a tractogram, and other files made from it ---
expect 0 info t.trx --json info.json --check
expect 0 convert t.trx t.trk
expect 0 convert t.trk u.trx
expect 0 edit t.trx long.trx --min-length 20
expect 0 stats t.trx -o stats.tsv
expect 0 sample t.trx fit_fa.nii.gz -o fa.tsv --stat-tck mean
expect 0 density t.trx density.nii.gz
python3 - << 'END'
import gzip, struct
# halves of the grid of the phantom's mask as labels 1 and 2
data = bytearray(gzip.open("mask.nii.gz").read())
start, bits = int(struct.unpack_from("<f", data, 108)[0]), struct.unpack_from("<h", data, 72)[0]
nx, ny, nz = struct.unpack_from("<3h", data, 42)
struct.pack_into("<hh", data, 70, 2, 8)
voxels = bytes((1 if x < nx / 2 else 2) for z in range(nz) for y in range(ny) for x in range(nx))
open("halves.nii", "wb").write(bytes(data[:start]) + voxels)
END
expect 0 connectome t.trx halves.nii matrix.csv
# several images of labels in one reading give the bytes of separate runs
python3 -c "
data = bytearray(open('halves.nii', 'rb').read())
data[352:] = bytes(1 + (i // 7) % 3 for i in range(len(data) - 352))
open('thirds.nii', 'wb').write(data)"
expect 0 connectome t.trx thirds.nii thirds.csv
expect 0 connectome t.trx halves.nii both1.csv thirds.nii both2.csv
same matrix.csv both1.csv
same thirds.csv both2.csv
same matrix_nodes.tsv both1_nodes.tsv
same thirds_nodes.tsv both2_nodes.tsv
contains both1.json '"matrix":	"both2.csv"'
expect 2 connectome t.trx halves.nii no1.csv thirds.nii
says "has no OUT"
expect 2 connectome t.trx halves.nii no1.csv thirds.nii no1.csv
says "no1.csv: is the name of two matrices"
expect 2 connectome t.trx halves.nii no1.csv thirds.nii no2.csv --edges edges.tsv
says "belong to one matrix"
known "numbers of streamlines" << 'END'
import gzip, json, struct
n = json.load(open("t.json"))["counts"]["streamlines"]
info = json.load(open("info.json"))["tractograms"][0]
assert n > 50 and info["streamlines"] == n, (n, info)
header, row = [line.rstrip("\n").split("\t") for line in open("stats.tsv")][:2]
stats = dict(zip(header, row))
assert int(stats["count"]) == n, stats
mean, low, high = (float(stats[k]) for k in ("mean_mm", "min_mm", "max_mm"))
assert 5 < low < mean < high < 70, stats
rows = [line.split("\t") for line in open("fa.tsv") if not line.startswith("#")]
values = [float(line[-1]) for line in rows[1:]]
assert len(values) == n and all(0.05 < v < 1 for v in values), rows[:3]
data = gzip.open("density.nii.gz").read()
counts = struct.unpack_from("<%di" % ((len(data) - 352) // 4), data, 352)
assert max(counts) <= n and sum(counts) > 5 * n, (max(counts), sum(counts), n)
matrix = [[float(v) for v in line.replace(",", " ").split()] for line in open("matrix.csv")]
assert len(matrix) == 2 and 0.8 * n <= sum(map(sum, matrix)) <= n, (matrix, n)
END
expect 0 stats t.trx long.trx u.trx -o lengths.tsv
known "the streamlines of 20 mm and more; TRX, and back from TRK" << 'END'
names, *rows = [line.rstrip("\n").split("\t") for line in open("lengths.tsv")]
all, long, back = (dict(zip(names, row)) for row in rows)
assert 0 < int(long["count"]) < int(all["count"]) and float(long["min_mm"]) > 19.9999, (all, long)
assert all["count"] == back["count"] and all["points"] == back["points"] and abs(float(all["mean_mm"]) - float(back["mean_mm"])) < 1e-3, (all, back)
END

# --- bundles, weights ---
printf 'bundle\tinclude\nleft\thalves.nii:1\nright\thalves.nii:2\n' > parts.tsv
expect 0 segment t.trx parts.tsv -o parts.trx
expect 0 profile parts.trx fit_fa.nii.gz -o profile.csv
expect 0 fixels fit_sh.nii.gz fixels
expect 0 weights t.trx fit_sh.nii.gz -o weights.txt
known "profiles and weights" << 'END'
import json, math
rows = [line.strip().split(",") for line in open("profile.csv")]
assert rows[0][:2] == ["tractID", "nodeID"] and len(rows) == 201 and {r[0] for r in rows[1:]} == {"left", "right"}, rows[:2]
assert all(0.05 < float(r[2]) < 1 for r in rows[1:]), rows[1]
weights = [float(w) for line in open("weights.txt") if not line.startswith("#") for w in line.split()]
n = json.load(open("t.json"))["counts"]["streamlines"]
assert len(weights) == n and all(w >= 0 and math.isfinite(w) for w in weights) and max(weights) > 0, weights[:5]
END

# --- pictures, reports, references, scores, data sets, speed ---
expect 0 render t.trx -o t.png --tile 120x120
known "a picture with streamlines" << 'END'
import struct, zlib
data = open("t.png", "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
at, chunks = 8, b""
while at < len(data):
    size, kind = struct.unpack_from(">I4s", data, at)
    chunks += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
assert len(set(zlib.decompress(chunks))) > 50
END
expect 0 report t.trx -o t.html
contains t.html "</html>"
expect 0 cite t.json
says "Tournier"
expect 0 score --model csd --dg det --nseeds 300 --json score.json
expect 0 phantom bids --bids 01 --shape 20 24 18
expect 0 bids bids out participant --no-report -- --nseeds 50 --dg det --model csa --sphere small
[ -n "$(find out -name '*_tractogram.trx' -size +1k)" ] || note "no tractogram in the data set"
expect 0 bench --shape 18x20x18 --nseeds 100 --repeat 1
finish "each command once"
