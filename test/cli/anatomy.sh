# Tissue, seeds and numbers of streamlines: options, messages, counts, and the same bytes however a run is cut up. Sourced by run.sh.
a=$work/anatomy
mkdir -p "$a"
succeeds phantom "$a/ph" --shape 30 36 30 --voxel-size 3
p=$a/ph
an="$p/dwi.nii.gz $p/dwi.bval $p/dwi.bvec $p/mask.nii.gz $p/roi.nii.gz --sphere small --dg prob --model opdt --nseeds 200"
t=$p/5tt.nii.gz
python3 - "$t" "$a" <<'PYTHON'
import gzip, struct, sys
source, out = sys.argv[1:]
data = gzip.open(source).read()
start = int(struct.unpack_from("<f", data, 108)[0])
nx, ny, nz, nt = struct.unpack_from("<4h", data, 42)
n = nx * ny * nz
values = list(struct.unpack_from("<%df" % (n * nt), data, start))
def write(name, volumes, changed=()):
    head = bytearray(data[:start])
    struct.pack_into("<5h", head, 40, 4 if len(volumes) > 1 else 3, nx, ny, nz, len(volumes))
    v = [values[k * n:(k + 1) * n] for k in volumes]
    for place, value in changed: v[place[0]][place[1]] = value
    open(out + "/" + name, "wb").write(bytes(head) + struct.pack("<%df" % (n * len(volumes)), *sum(v, [])))
write("gm.nii", [0]); write("wm.nii", [2]); write("csf.nii", [3]); write("three.nii", [0, 2, 3])
write("swapped.nii", [3, 1, 1, 0, 4])
inside = max(range(n), key=lambda v: values[2 * n + v])
write("nan.nii", range(5), [((2, inside), float("nan"))])
write("big.nii", range(5), [((2, inside), 3.0)])
write("sums.nii", range(5), [((2, inside), values[2 * n + inside] - 0.25)])
PYTHON
fails 2 "--act-rule" track $an --act-rule cmc
fails 2 "--crop-at-gmwmi" track $an --crop-at-gmwmi
fails 2 "--seed-gmwmi" track $an --seed-gmwmi auto
fails 2 "needs --act-rule act" track $an --act "$t" --act-rule cmc --crop-at-gmwmi
fails 2 "all three are needed" track $an --pve-wm "$a/wm.nii"
fails 2 "exclude each other" track $an --act "$t" --pve-wm "$a/wm.nii" --pve-gm "$a/gm.nii" --pve-csf "$a/csf.nii"
fails 2 "needs --fa-threshold" track $an --act "$t" --mask-stop interpolated
fails 2 "needs --fa-threshold" track $an --act "$t" --preset dipy --mask-stop interpolated
succeeds track $an --act "$t" --preset dipy --dry-run
succeeds track $an --map-include "$a/gm.nii" --map-exclude "$a/csf.nii" --preset dipy --pft --dry-run
fails 2 "needs --seed-unidirectional" track $an --include-ordered 0,0,0,5
fails 2 "needs --include" track $an --stop
fails 2 "not all 0" track $an --seed-direction 0,0,0
fails 2 "give --nseeds" track ${an% --nseeds 200} --select 5 --shard 1/2
fails 2 "leave out one of the three" track $an --select 5 --shard 1/2 --density d.nii.gz
fails 2 "cannot be used with --shard" track $an --select 5 --nseeds 0 --shard 1/2
fails 2 "--backtrack" track $an --backtrack
fails 2 "deterministic" track $an --act "$t" --dg det --backtrack
fails 2 "needs --act-rule act" track $an --act "$t" --act-rule pve --backtrack
fails 2 "cannot be used with --stop" track $an --act "$t" --backtrack --stop --include 0,0,0,5
fails 2 "--keep-all-ends" track $an --act "$t" --backtrack --keep-all-ends
fails 2 "--backtrack and --dg seedtest exclude each other" track $p/dwi.nii.gz $p/dwi.bval $p/dwi.bvec $p/mask.nii.gz $p/roi.nii.gz --dg seedtest --act "$t" --backtrack
fails 7 "parallel transport" track $an --act "$t" --dg ptt --backtrack
fails 2 "exclude each other" track $an --compress 0.1 --downsample 2
fails 2 "needs --select" track $an --nseeds 0
fails 2 "exclude each other" track $an --seed-grid 2
fails 2 "two ends" track $an --include-end 0,0,0,5 --include-end 0,0,0,6 --include-end 0,0,0,7
fails 2 "seed-sphere" track $an --seed-sphere 1,2,3
fails 3 "--pve-wm" track $an --act "$a/three.nii"
fails 3 "another order" track $an --act "$a/swapped.nii"
fails 3 "has the value 3, but fractions of tissue lie between 0 and 1" track $an --act "$a/big.nii"
fails 3 "5 volumes" track $an --act "$p/dwi.nii.gz"
succeeds track $an --act "$a/nan.nii" -o nan.tck
grep -q "1 voxels with a value that is not a number" "$work/stderr" || note "no warning of a value that is not a number"
clean

# files of fractions give the same as the image of five tissues
succeeds track $an --act "$a/sums.nii" -o sums.tck
says "in 1 voxels the fractions do not add up to 1; the largest error is 0.25"
clean
succeeds track $an --act "$t" -o act.tck
grep -q "do not add up to 1" "$work/stderr" && note "a warning of sums where all are 1"
# without a mask most of the grid has no tissue
succeeds fit "$p/dwi.nii.gz" "$p/dwi.bval" "$p/dwi.bvec" "$p/mask.nii.gz" "$a/fit" --model csd --sh-order 4 -q
succeeds track --sh "$a/fit_sh.nii.gz" --dg ifod2 --act "$t" --seed-gmwmi auto --nseeds 10 --dry-run
grep -q "are the images registered" "$work/stderr" && note "a warning of images that are not registered where no mask was given"
cp "$work/out/act.tck" "$work/out/act.json" "$a"
succeeds track $an --pve-wm "$a/wm.nii" --pve-gm "$a/gm.nii" --pve-csf "$a/csf.nii" -o act.tck --force
require cmp "$work/out/act.tck" "$a/act.tck"
for how in "--chunk-size 7" "--device llvmpipe --ngpus 2 --chunk-size 40"; do
    succeeds track $an --act "$t" $how -o act.tck --force -q
    require cmp "$work/out/act.tck" "$a/act.tck"
done
clean
for part in 1 2 3; do succeeds track $an --act "$t" --shard "$part/3" -o "$a/part.tck" -q; done
succeeds merge -o "$a/merged.tck" "$a"/part_shard-?of3.tck
require cmp "$a/merged.tck" "$a/act.tck"
rm -f "$a"/part_* "$a"/merged*

# --select gives the first N streamlines of the run without it
succeeds track $an --act "$t" --select 40 --nseeds 200 -o select.tck
cp "$work/out/select.tck" "$work/out/select.json" "$a"
require python3 - "$a/act.tck" "$a/select.tck" "$a/select.json" <<'PYTHON'
import json, math, struct, sys
def lines(name):
    data = open(name, "rb").read()
    start = int(data.split(b"file: . ")[1].split()[0])
    p = [struct.unpack_from("<3f", data, i) for i in range(start, len(data) - 11, 12)]
    out, line = [], []
    for x in p:
        if math.isnan(x[0]): out.append(line); line = []
        elif math.isinf(x[0]): break
        else: line.append(x)
    return out
whole, some = lines(sys.argv[1]), lines(sys.argv[2])
assert len(some) == 40 and some == whole[:40]
c = json.load(open(sys.argv[3]))["counts"]
assert c["streamlines"] == 40 and c["directions"] == 40 + sum(c["rejected"].values())
assert sum(c["half_streamline_ends"].values()) == 2 * c["directions"] and c["seeds"] < 200
PYTHON
for how in "--chunk-size 7" "--device llvmpipe --ngpus 2 --chunk-size 20"; do
    succeeds track $an --act "$t" --select 40 $how -o select.tck --force -q
    require cmp "$work/out/select.tck" "$a/select.tck"
    require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"] == b["counts"]' "$work/out/select.json" "$a/select.json"
done
succeeds track $an --act "$t" --select 40 --nseeds 0 -o select.tck --force -q
require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"] == b["counts"]' "$work/out/select.json" "$a/select.json"
clean
succeeds track $an --select 100000 -o few.tck
grep -q "warning: --select" "$work/stderr" || note "no warning of fewer streamlines than --select"
clean

# each kind of seeds gives some streamlines; those on the interface grow into white matter only
for kind in "--seed-sphere 0,0,10,8" "--seed-rejection $a/wm.nii" "--seed-gmwmi auto --act $t"; do
    succeeds track $an $kind --dry-run
    place=${kind#* } && [ "$place" = "auto --act $t" ] && place="the interface of grey and white matter"
    grep -qxF "seeds       200 in $place" "$work/stdout" || note "--dry-run does not say where seeds of $kind lie"
    succeeds track $an $kind -o seeds.tck
    require python3 -c 'import json, sys; c = json.load(open(sys.argv[1]))["counts"]; assert c["streamlines"] > 20 and c["seeds"] == 200' "$work/out/seeds.json"
    clean
done
succeeds track ${an% --nseeds 200} --seed-grid 1 --select 50 --seed-unidirectional --seed-direction 0,0,1 -o grid.tck
require python3 -c 'import json, sys; c = json.load(open(sys.argv[1]))["counts"]; assert c["streamlines"] == 50 and c["half_streamline_ends"]["not_tracked"] == c["directions"]' "$work/out/grid.json"
succeeds track $an --act "$t" --dry-run
grep -q "tissue      $t, rule act" "$work/stdout" || note "--dry-run does not tell the tissue"
clean

# the limits of length apply to streamlines with cropped ends
succeeds track $an --act "$t" --crop-at-gmwmi --min-length 20 -o crop.tck
require python3 - "$work/out/crop.tck" "$work/out/crop.json" <<'PYTHON'
import json, math, struct, sys
data = open(sys.argv[1], "rb").read()
lengths, last, length = [], None, 0
for i in range(int(data.split(b"file: . ")[1].split()[0]), len(data) - 11, 12):
    p = struct.unpack_from("<3f", data, i)
    if math.isinf(p[0]): break
    if math.isnan(p[0]): lengths.append(length); last, length = None, 0
    else: length, last = length + (math.dist(p, last) if last else 0), p
told = json.load(open(sys.argv[2]))["lengths"]
lengths.sort()
assert len(lengths) > 20 and lengths[0] >= 20 - 1e-3 and any(abs(x / 1.5 - round(x / 1.5)) > 0.1 for x in lengths)
found = {"mean_mm": sum(lengths) / len(lengths), "min_mm": lengths[0], "max_mm": lengths[-1]}
for key, value in found.items(): assert abs(told[key] - value) < 0.03, (key, told[key], value)
PYTHON
clean

# nothing is accepted: the message lists every reason
succeeds track $an --act "$t" --include-end 0,0,0,0.1 -o none.tck
grep -q "ending where tissue allows no end" "$work/stderr" && grep -q "ending outside the regions for ends" "$work/stderr" ||
    note "an empty result does not tell why"
clean
