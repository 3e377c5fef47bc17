# Numbers of streamlines over shards, halves that are taken back, points that are left out. Sourced by run.sh.
a=$work/selection
mkdir -p "$a"
succeeds phantom "$a/ph" --shape 30 36 30 --voxel-size 3
p=$a/ph
an="$p/dwi.nii.gz $p/dwi.bval $p/dwi.bvec $p/mask.nii.gz $p/roi.nii.gz --sphere small --dg prob --model opdt --nseeds 200"
t=$p/5tt.nii.gz
succeeds track $an --act "$t" -o act.tck
cp "$work/out/act.tck" "$work/out/act.json" "$a"
clean

# shards that select: the same bytes, in all formats; each shard goes on until it has as many streamlines itself
for format in trx tck; do
    n=90
    [ $format = tck ] && n=40
    succeeds track $an --act "$t" --select $n -o "$a/one.$format" -q
    for part in 1 2 3; do succeeds track $an --act "$t" --select $n --shard "$part/3" -o "$a/part.$format" -q; done
    succeeds merge -o "$a/merged.$format" "$a"/part_shard-?of3."$format"
    require cmp "$a/merged.$format" "$a/one.$format"
done
succeeds merge -o "$a/bare.tck" "$a"/part_shard-?of3.tck --sidecar none
require cmp "$a/bare.tck" "$a/one.tck"
# not all shards know how many streamlines were tried for a selection: the header does not say it, and MRtrix3 reads it
head -c 2000 "$a/one.tck" | grep -aq "^count: 0*40$" || note "count is not the number of streamlines"
head -c 2000 "$a/one.tck" | grep -aq "^total_count:" && note "total_count of a selection"
require python3 - "$a/one.json" "$a/merged.json" <<'PYTHON'
import json, sys
one, merged = (json.load(open(p))["counts"] for p in sys.argv[1:])
assert merged["counters_beyond_selection"] is True and merged["streamlines"] == one["streamlines"] == 90
assert merged["seeds"] == one["seeds"]
PYTHON
rm -f "$a"/part_* "$a"/merged* "$a"/one* "$a"/bare*

# back-tracking accepts the streamlines that are accepted without it, with the same points, and more
succeeds track $an --act "$t" --backtrack -o back.tck
cp "$work/out/back.tck" "$work/out/back.json" "$a"
require python3 - "$a/act.tck" "$a/back.tck" "$a/act.json" "$a/back.json" <<'PYTHON'
import json, math, struct, sys
def lines(name):
    data = open(name, "rb").read()
    start = int(data.split(b"file: . ")[1].split()[0])
    p = [struct.unpack_from("<3f", data, i) for i in range(start, len(data) - 11, 12)]
    out, line = [], []
    for x in p:
        if math.isnan(x[0]): out.append(tuple(line)); line = []
        elif math.isinf(x[0]): break
        else: line.append(x)
    return out
plain, back = lines(sys.argv[1]), lines(sys.argv[2])
a, b = (json.load(open(p))["counts"] for p in sys.argv[3:])
assert set(plain) < set(back), (len(plain), len(back))
assert b["rejected"]["poor_end"] < 0.6 * a["rejected"]["poor_end"], (a["rejected"], b["rejected"])
assert b["directions"] == a["directions"] == len(back) + sum(b["rejected"].values())
PYTHON
for how in "--chunk-size 7" "--device llvmpipe --ngpus 2 --chunk-size 40" "--mapping group"; do
    succeeds track $an --act "$t" --backtrack $how -o back.tck --force -q
    require cmp "$work/out/back.tck" "$a/back.tck"
done
for how in "--dg boot --sh-order 4" "--dg ifod1 --model csd --sh-order 4" "--dg ifod2 --model csd --sh-order 4"; do
    succeeds track ${an% --dg prob*} $how --nseeds 60 --act "$t" --backtrack --exclude 30,0,0,4 -o one.tck --force -q
    succeeds track ${an% --dg prob*} $how --nseeds 60 --act "$t" --backtrack --exclude 30,0,0,4 -o two.tck --force -q --chunk-size 11
    require cmp "$work/out/one.tck" "$work/out/two.tck"
done
clean

# points that are left out: the same streamlines, whose lengths are those of the points that are written
succeeds track $an --act "$t" --downsample 3 -o thin.trx
require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"]["streamlines"] == b["counts"]["streamlines"] and 0.95 * a["lengths"]["mean_mm"] < b["lengths"]["mean_mm"] < a["lengths"]["mean_mm"] and 2 * b["counts"]["points"] < a["counts"]["points"]' "$a/act.json" "$work/out/thin.json"
succeeds track $an --act "$t" --compress 0.5 -o "$a/thin.tck" --chunk-size 9
succeeds convert "$a/act.tck" "$a/thinned.tck" --compress 0.5
require python3 - "$a/thin.tck" "$a/thinned.tck" <<'PYTHON'
import sys
body = [data[int(data.split(b"file: . ")[1].split()[0]):] for data in (open(p, "rb").read() for p in sys.argv[1:])]
assert body[0] == body[1] and len(body[0]) > 1000
PYTHON
for part in 1 2; do succeeds track $an --act "$t" --compress 0.5 --shard "$part/2" -o "$a/part.tck" -q; done
succeeds merge -o "$a/merged.tck" "$a"/part_shard-?of2.tck
require cmp "$a/merged.tck" "$a/thin.tck"
require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"] == b["counts"] and a["lengths"]["mean_mm"] == b["lengths"]["mean_mm"]' "$a/thin.json" "$a/merged.json"
rm -f "$a"/part_* "$a"/merged* "$a"/thin*
clean
