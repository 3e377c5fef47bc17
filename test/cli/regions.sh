# Regions: options, messages, sidecar, shards and several devices. Sourced by run.sh.
rg="$dwi $bval $bvec $mask $roi --sphere small --model opdt --dg prob --nseeds 150"
r=$work/regions
mkdir -p "$r"
python3 - "$mask" "$r" "$b" <<'PYTHON'
import gzip, struct, sys
mask, out, bad = sys.argv[1:]
data = gzip.open(mask).read()
start = int(struct.unpack_from("<f", data, 108)[0])
nx, ny, nz = struct.unpack_from("<3h", data, 42)
head = bytearray(data[:start])
struct.pack_into("<2h", head, 70, 4, 16) # int16
struct.pack_into("<2f", head, 112, 1, 0)
def write(name, value):
    voxels = [value(i % nx, i // nx % ny, i // nx // ny) for i in range(nx * ny * nz)]
    open(name, "wb").write(bytes(head) + struct.pack("<%dh" % len(voxels), *voxels))
write(out + "/labels.nii", lambda x, y, z: 3 if x == nx // 2 else 7 if z >= nz - nz // 3 else 1005 if y < ny // 3 else 0)
write(out + "/block.nii", lambda x, y, z: 1 if 3 <= x < nx // 2 and 4 <= y < ny - 5 and z < nz // 2 else 0)
rows = [struct.unpack_from("<4f", data, 280 + 16 * r) for r in range(3)]
corners = [(3, 4, 0), (nx // 2, ny - 5, nz // 2)]
open(out + "/block.txt", "w").write(",".join("%.9g" % (sum(m * (i - 0.5) for m, i in zip(row, c)) + row[3]) for c in corners for row in rows))
write(out + "/inner.nii", lambda x, y, z: 1 if 2 < x < nx - 3 and y > 2 else 0)
PYTHON
l=$r/labels.nii

for text in 1,2,3 1,2,3,4,5 1,2,3,0 1,2,3,nan 1,2,x,4 "$l:" "$l:0" "$l:3-1"; do
    fails 2 "--include $text" track $rg --include "$text"
done
for text in 1,2,3,4,5,3 1,2,3,4,5,1e16; do
    fails 2 "--include $text: a box" track $rg --include "$text"
done
# a box has the streamlines of the image that fills it, in tracking and in editing
box=$(cat "$r/block.txt")
for role in include exclude; do
    succeeds track $rg --$role "$r/block.nii" -o image.tck -q
    cp "$work/out/image.tck" "$r/image.tck"
    succeeds track $rg --$role="$box" -o box.tck -q
    require cmp "$work/out/box.tck" "$r/image.tck"
    clean
    succeeds track $rg -o all.tck -q
    cp "$work/out/all.tck" "$r/all.tck"
    clean
    cmp -s "$r/all.tck" "$r/image.tck" && note "--$role $box changes nothing"
    succeeds edit "$r/all.tck" image.tck --$role "$r/block.nii" -q
    cp "$work/out/image.tck" "$r/image.tck"
    succeeds edit "$r/all.tck" box.tck --$role="$box" -q
    require cmp "$work/out/box.tck" "$r/image.tck"
    clean
done
rm "$r"/all.tck "$r"/image.tck
# numbers of a sphere that single precision cannot hold, or whose squares it cannot hold
for sphere in 1e40,0,0,1 0,-1e39,0,1 1e307,0,0,1e308 0,0,0,1e39 0,0,1e16,1; do
    fails 2 "--stop-at $sphere" track $rg --stop-at "$sphere"
    fails 2 "--seed-sphere $sphere" track $dwi --sphere small --seed-sphere "$sphere"
done
python3 - "$r" <<'PYTHON'
import struct, sys
# voxels of 1e-38 mm: single precision cannot hold their inverse
head = bytearray(open(sys.argv[1] + "/labels.nii", "rb").read())
struct.pack_into("<2h", head, 252, 0, 1)
struct.pack_into("<12f", head, 280, 1e-38, 0, 0, 0, 0, 1e-38, 0, 0, 0, 0, 1e-38, 0)
open(sys.argv[1] + "/tiny.nii", "wb").write(head)
PYTHON
fails 3 "tiny.nii: the affine (sform)" track $rg --include "$r/tiny.nii"
succeeds track $rg --include 0,0,0,3e38 --include 1e15,0,0,2e15 --exclude=-1e15,0,0,1 -o far.tck
clean
fails 2 "value is empty" track $rg --stop-at=
fails 3 "$b/none.nii" track $rg --include "$b/none.nii"
fails 3 "$b/empty.nii.gz" track $rg --exclude "$b/empty.nii.gz"
fails 3 "$dwi" track $rg --tracking-mask "$dwi"
fails 3 "label 8" track $rg --include "$l:3,8"
fails 3 "cannot be reached" track $rg --include 900,0,0,3
fails 3 "wholly in regions of --exclude" track $rg --include "$l:3" --exclude "$l:3,7"
fails 3 "--include-any: none of its regions can be reached" track $rg --include-any 900,0,0,3 --include-any "$l:3" --exclude "$l:3,7"
succeeds track $rg --include-any 900,0,0,3 --include-any "$l:3" --exclude "$l:7" -o any.tck
grep -q 'warning: --include-any 900,0,0,3: no streamline can meet it' "$work/stderr" || note "no warning of one of several regions"
clean
succeeds track $rg --nseeds 3 --include-any 0,9,0,0.2 -o any.tck
grep -q 'warning: --include-any 0,9,0,0.2: no streamline met it' "$work/stderr" || note "no word of a region that no streamline met"
clean
fails 3 "no seed was found in this region" track $rg --tracking-mask 0,0,0,0.01

# all regions at once, in parts, on two devices, in small batches: the same bytes, and counts that add up
rules="--include $l:3 --exclude $l:7 --exclude 900,0,0,3 --tracking-mask $r/inner.nii --stop-at $l:1000-1010 --mask-stop nearest"
succeeds track $rg $rules -o whole.tck
grep -q 'warning: --exclude 900,0,0,3: no streamline can meet it' "$work/stderr" || note "no warning of a region outside"
cp "$work/out/whole.tck" "$work/out/whole.json" "$r"
require python3 - "$r/whole.json" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
c = d["counts"]
assert c["streamlines"] > 0 and c["directions"] == c["streamlines"] + sum(c["rejected"].values())
assert sum(c["half_streamline_ends"].values()) == 2 * c["directions"]
assert c["rejected"]["missed_include"] > 0 and c["half_streamline_ends"]["mask"] > 0
assert list(c["met"]) == ["include_1", "exclude", "stop_at"] and c["met"]["include_1"] >= c["streamlines"]
assert c["met"]["exclude"] == c["rejected"]["excluded"] and c["seeds_rejected"] > 0
assert [r["role"] for r in d["regions"]] == ["mask", "include", "exclude", "exclude", "tracking-mask", "stop-at"]
assert d["parameters"]["mask_stop"] == "nearest" and len(d["parameters"]["exclude"]) == 2
PYTHON
# streamlines that --max-length cut meet an include region only with the points that are left
for dg in prob ptt; do
    succeeds track $rg --dg $dg --nseeds 600 --max-length 16 --include "$l:7" -o cut.tck
    mv "$work"/out/cut.* "$r"
    succeeds edit "$r/cut.tck" "$work/out/again.tck" --include "$l:7" --roi-test vertex
    require python3 - "$r/cut.json" "$(grep -ho '[0-9]* streamlines of' "$work/stdout" "$work/stderr")" <<'PYTHON'
import json, sys
cut = json.load(open(sys.argv[1]))["counts"]
assert cut["truncated"] > 5 and cut["rejected"]["missed_include"] > 5, cut
assert int(sys.argv[2].split()[0]) == cut["streamlines"], sys.argv[2]
PYTHON
    clean
done
# regions of which one is met: the streamlines of a run without them, but for those that meet none by a look at their points; --stop ends at
# the first of them
ball=4,-6,0,4
all="$rg --nseeds 400 --min-length 0 --keep-single-points"
succeeds track $all -o free.tck
succeeds track $all --include-any "$l:7" --include-any $ball --include "$l:1005" --exclude 900,0,0,3 -o any.tck
grep -q '"include_any":[[:space:]]*[1-9]' "$work/out/any.json" || note "no count of the regions of which one is met"
succeeds track $all --include-any "$l:7" --include-any $ball --stop -o stopped.tck
succeeds edit "$work/out/free.tck" chosen.tck --include-any "$l:7" --include-any $ball --include "$l:1005" --roi-test vertex
printf 'bundle\tinclude\tinclude_any\nb\t%s:1005\t%s:7;%s\n' "$l" "$l" $ball > "$r/any.tsv"
succeeds segment "$work/out/free.tck" "$r/any.tsv" --table counts.tsv
succeeds edit "$work/out/free.tck" crossing.tck --include-any "$l:7" --include-any $ball --include "$l:1005"
require python3 - "$here" "$l" $ball <<'PYTHON'
import struct, sys
sys.path.insert(0, sys.argv[1])
import tck
labels, ball = open(sys.argv[2], "rb").read(), [float(v) for v in sys.argv[3].split(",")]
dim, rows = struct.unpack_from("<3h", labels, 42), [struct.unpack_from("<4f", labels, 280 + 16 * r) for r in range(3)]
def solve(p):
    """Voxel coordinates of a point, by Cramer's rule."""
    m, b = [row[:3] for row in rows], [v - row[3] for v, row in zip(p, rows)]
    det = lambda a: sum(a[0][i] * (a[1][(i + 1) % 3] * a[2][(i + 2) % 3] - a[1][(i + 2) % 3] * a[2][(i + 1) % 3]) for i in range(3))
    return [det([[b[r] if c == k else m[r][c] for c in range(3)] for r in range(3)]) / det(m) for k in range(3)]
def label(p):
    v = [int((x + 0.5) // 1) for x in solve(p)]
    inside = all(0 <= a < n for a, n in zip(v, dim))
    return struct.unpack_from("<h", labels, 352 + 2 * (v[0] + dim[0] * (v[1] + dim[1] * v[2])))[0] if inside else 0
meets = lambda p: {label(p), -1 if sum((a - b) ** 2 for a, b in zip(p, ball)) <= ball[3] ** 2 else 0}
free, any_, stopped, chosen = (tck.read("out/" + n + ".tck") for n in ("free", "any", "stopped", "chosen"))
met = [set().union(*map(meets, line)) for line in free]
wanted = [line for line, m in zip(free, met) if m & {7, -1} and 1005 in m]
assert wanted == any_ == chosen and 5 < len(wanted) < sum(1005 in m for m in met), (len(wanted), len(any_), len(chosen))
by = [sum(k in m and 1005 in m for m in met) for k in (7, -1)]
assert 0 < min(by) and max(by) < len(wanted), (by, len(wanted))
assert len(stopped) == sum(bool(m & {7, -1}) for m in met) and sum(map(len, stopped)) < sum(map(len, free))
PYTHON
[ "$(awk -F '\t' 'NR == 2 { print $2 }' "$work/out/counts.tsv")" = "$(grep -ho '[0-9]* streamlines of' "$work/stdout" "$work/stderr" | cut -d ' ' -f 1)" ] ||
    note "segment with include_any: $(cat "$work/out/counts.tsv"), edit: $(cat "$work/stdout" "$work/stderr")"
clean
fails 2 "needs --include or --include-any" track $rg --stop
for how in "--chunk-size 7" "--device llvmpipe --ngpus 2 --chunk-size 40"; do
    succeeds track $rg $rules $how -o whole.tck --force -q
    require cmp "$work/out/whole.tck" "$r/whole.tck"
done
clean
for part in 1 2 3; do succeeds track $rg $rules --shard "$part/3" -o "$r/part.tck" -q; done
succeeds merge -o "$r/merged.tck" "$r"/part_shard-?of3.tck
require cmp "$r/merged.tck" "$r/whole.tck"
require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"] == b["counts"]' "$r/whole.json" "$r/merged.json"
rm "$r/part_shard-2of3".*
# a part of a run with another region is a part of another run
succeeds track $rg --include "$l:7" --shard 2/3 -o "$r/part.tck" -q
fails 3 "part_shard" merge -o m.tck "$r/part_shard-1of3.tck" "$r/part_shard-2of3.tck" "$r/part_shard-3of3.tck"

# a sphere whose squared radius is beyond single precision contains everything
succeeds track $rg --nseeds 20 -o all.tck
succeeds track $rg --nseeds 20 --include 0,0,0,1e30 -o met.tck
require python3 -c 'import json; a, b = (json.load(open("out/" + n + ".json"))["counts"]["streamlines"] for n in ("all", "met")); assert a == b > 0'
clean

# an include region that nothing meets
succeeds track $rg --nseeds 3 --include "$l:7" --max-length 2 --exclude "$l:3" -o none.tck
succeeds track $rg $rules --dry-run
grep -q "region      include $l:3" "$work/stdout" || note "--dry-run does not list the regions"
clean
