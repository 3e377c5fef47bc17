# Particle filtering: scenes whose ends are known, options that do not go with it, and the same bytes however a run is cut up. Sourced by run.sh.
f=$work/pft
mkdir -p "$f"
# fibres along x through a slab where streamlines must not end, to grey matter beyond x = 25.5
python3 - "$f" <<'PYTHON'
import math, struct, sys
out, nx, ny, nz = sys.argv[1], 30, 7, 7
directions = [(1.0, 0.0, 0.0)]
for i in range(60):
    z, turn = (i + 0.5) / 60, 2.399963 * i
    r = math.sqrt(1 - z * z)
    directions.append((r * math.cos(turn), r * math.sin(turn), z))
open(out + "/sphere.txt", "w").write("".join("%.9f %.9f %.9f\n" % d for d in directions))
def write(name, volumes):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<5h", head, 40, 4 if len(volumes) > 1 else 3, nx, ny, nz, len(volumes))
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<4f", head, 76, 1, 1, 1, 1)
    struct.pack_into("<f", head, 108, 352)
    struct.pack_into("<2f", head, 112, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for row in range(3): struct.pack_into("<4f", head, 280 + 16 * row, *[1.0 if a == row else 0.0 for a in range(4)])
    head[344:348] = b"n+1\0"
    open(out + "/" + name, "wb").write(bytes(head) + b"".join(struct.pack("<%df" % len(v), *v) for v in volumes))
def along(value): return [value(x) for z in range(nz) for y in range(ny) for x in range(nx)]
n = nx * ny * nz
write("odf.nii", [[math.exp(40 * (d[0] ** 2 - 1))] * n for d in directions])
write("one.nii", [[1.0] * n])
write("roi.nii", [along(lambda x: float(x == 8))])
write("grey.nii", [along(lambda x: float(x >= 26 or x <= 2))])
for name, value in (("thin", 0.7), ("solid", 1.0)): write(name + ".nii", [along(lambda x: value if 14 <= x <= 17 else 0.0)])
# scene for prob: grey matter on all sides, and fluid that grows towards the end
write("mixed_in.nii", [along(lambda x: 0.9 if x >= 26 or x <= 2 else 0.04)])
write("stubs.nii", [[float(x >= 26 or x <= 2 or (y == 0 and z == 0 and abs(x - 8) > 1)) for z in range(nz) for y in range(ny) for x in range(nx)]])
write("mixed_out.nii", [along(lambda x: 0.0 if x < 10 or x > 20 else 0.05 * (x - 10))])
open(out + "/seeds.txt", "w").write("8 0 0\n" * 8 + "".join("8 %d %d\n" % (1 + i % 5, 1 + i // 5 % 5) for i in range(112)))
PYTHON
scene="--odf $f/odf.nii --sphere $f/sphere.txt --sh-frame image --fa $f/one.nii --roi $f/roi.nii --step-size 0.5mm --max-angle 30 --min-length 1 --max-length 60 --precision float"
# filtered TAKEN RUNS SAVED LOST EXHAUSTED: checks the counts of the filter in the sidecar of FILE.tck, and that the parts add up
filtered() {
    file=$1
    shift
    python3 - "$work/out/$file.json" "$*" <<'PYTHON' || note "$file: other counts of the filter than $*"
import json, sys
counts = json.load(open(sys.argv[1]))["counts"]["particle_filter"]
print(counts)
assert counts["saved_by_a_particle"] + counts["no_particle_left"] == counts["runs"]
assert " ".join(str(n) for n in counts.values()) == sys.argv[2]
PYTHON
}
slab="$scene --seed-grid 1 --dg det --act-rule pve --map-include $f/grey.nii"
# ends FILE: prints the number of streamlines, and how many of them end at the first points beyond both borders of grey matter
ends() {
    python3 "$here/tck.py" ends "$1" 2.5 25.5
}
succeeds track $slab --map-exclude "$f/thin.nii" -o plain.tck
says "streamlines  0"
clean
succeeds track $slab --map-exclude "$f/thin.nii" --pft -o thin.tck
[ "$(ends "$work/out/thin.tck")" = "49 49" ] || note "streamlines behind a slab of 0.7: $(ends "$work/out/thin.tck"), not 49 49"
# three runs for each, each with a particle that goes on
filtered thin 49 147 147 0 0
clean
# each run of the filter goes two points beyond the bad end: six points to cross
succeeds track $slab --map-exclude "$f/thin.nii" --pft --pft-trials 2 -o few.tck
says "streamlines  0"
filtered few 49 98 98 0 49
clean
succeeds track $slab --map-exclude "$f/solid.nii" --pft -o solid.tck
says "streamlines  0"
says "49 none"
filtered solid 49 49 0 49 0
clean
# only a half that met pure white matter may end
succeeds track $slab --map-exclude "$f/thin.nii" --pft --pft-min-wm 1 -o white.tck
[ "$(ends "$work/out/white.tck")" = "49 49" ] || note "pure white matter was met: $(ends "$work/out/white.tck")"
clean

# identical FILE REFERENCE WHAT: if not, says where the first bytes differ, and keeps both files in a folder that outlives the test
identical() {
    checks=$((checks + 1))
    cmp "$1" "$2" >"$work/stdout" 2>&1 && return
    kept=$(mktemp -d "${TMPDIR:-/tmp}/glslines-pft.XXXXXX") && cp "$1" "${1%.tck}.json" "$kept" && cp "$2" "$kept/reference.tck"
    note "$3: $(head -1 "$work/stdout"); files kept in $kept"
}
chance="$scene --dg prob --nseeds 300 --pft --map-include $f/mixed_in.nii --map-exclude $f/mixed_out.nii --include 26,3,3,6"
succeeds track $chance -o "$f/one.tck" -q
grep -q '"act_rule":[[:space:]]*"cmc"' "$f/one.json" || note "--pft takes another rule than cmc"
for how in "--chunk-size 7" "--device llvmpipe --ngpus 2 --chunk-size 40" "--mapping group"; do
    succeeds track $chance $how -o again.tck --force -q
    identical "$work/out/again.tck" "$f/one.tck" "$how"
done
# as on a GPU: halves stay on the device to their end, and rounds are begun ahead. Batches are small, because llvmpipe ends a kernel after 65536 iterations of loops, in the midst of a step: some 40 halves take so many
export GLSLINES_FORCE_LIMITS=software=0
succeeds track $chance --mapping group --chunk-size 5 -o again.tck --force -q
identical "$work/out/again.tck" "$f/one.tck" "as on a GPU"
unset GLSLINES_FORCE_LIMITS
clean
for part in 1 2 3; do succeeds track $chance --shard "$part/3" -o "$f/part.tck" -q; done
succeeds merge -o "$f/merged.tck" "$f"/part_shard-?of3.tck
require cmp "$f/merged.tck" "$f/one.tck"
# the counts of the filter are the sums of those of the shards
succeeds report "$f/one.tck" -o "$f/one.html" --force -q
require grep -q 'caption>Particle filter' "$f/one.html"
for name in one merged; do tr -d ' \t\n' <"$f/$name.json" | grep -o '"particle_filter":{[^}]*}' >"$f/$name.counts"; done
require cmp "$f/one.counts" "$f/merged.counts"
# the pool is full while the blocks for the particles of a half are taken: streamlines that ended before keep their points
full="$(echo "$scene" | sed 's/--roi [^ ]*//; s/--step-size 0.5mm/--step-size 0.02mm/') --dg det --act-rule pve --seeds $f/seeds.txt --map-include $f/stubs.nii --map-exclude $f/thin.nii --pft"
full="$full --pft-back 0.08mm --pft-front 0.04mm --pft-particles 10"
succeeds track $full --chunk-size 25 -o "$f/part.tck" --force -q
succeeds track $full --chunk-size 108 -o again.tck --force -q
identical "$work/out/again.tck" "$f/part.tck" "a full pool"
clean
succeeds track $chance --pft-trials 1 -o trials.tck -q
cmp -s "$work/out/trials.tck" "$f/one.tck" && note "one trial is as good as twenty"
clean
# the first twenty streamlines, and their map
succeeds track $chance --select 20 --density density.nii -o twenty.tck -q
[ "$(grep -ac '^count: 0*20$' "$work/out/twenty.tck")" -eq 1 ] || note "not 20 streamlines with --select 20"
require test -s "$work/out/density.nii"
clean
# a run whose device fails on the way goes on
export GLSLINES_INJECT=dispatch:40
run track $chance --chunk-size 10 -o one.tck --resume -q
unset GLSLINES_INJECT
[ "$code" -eq 5 ] || note "exit code $code, not 5, where a kernel run fails"
require test -s "$work/out/one.tck.resume"
succeeds track $chance --chunk-size 10 -o one.tck --resume -q
require cmp "$work/out/one.tck" "$f/one.tck"
clean

fails 2 "needs --act FILE" track $scene --dg prob --pft
# the phantom has its own tissue, the same as in its file, and an option that needs tissue uses it
phantom_tissue="track --phantom --model csd --sh-order 4 --dg prob --pft --nseeds 40"
succeeds $phantom_tissue -o own.tck
says "tissue: built-in phantom ends streamlines"
succeeds phantom brain -q
succeeds $phantom_tissue --act brain/5tt.nii.gz -o file.tck
require cmp "$work/out/own.tck" "$work/out/file.tck"
require grep -q '"act_rule":[^"]*"cmc"' "$work/out/own.json"
# DIPY's particle filtering starts along each peak that its direction getters find
succeeds $phantom_tissue --preset dipy -o dipy.tck
for value in '"max_directions_per_seed":[^0-9]*32' '"relative_peak_threshold":[^0-9]*0.5' '"min_separation_angle_degrees":[^0-9]*25' '"min_length_mm":[^0-9]*2,'; do
    require grep -q "$value" "$work/out/dipy.json"
done
succeeds track --phantom --model csd --sh-order 4 --dg prob --preset dipy --nseeds 4 -o one.tck
require grep -q '"max_directions_per_seed":[^0-9]*1,' "$work/out/one.json"
clean
fails 2 "both are needed" track $scene --dg prob --pft --map-include "$f/grey.nii"
fails 2 "cannot be used with --act-rule act" track --phantom --dg prob --act "$f/grey.nii" --pft --act-rule act
fails 2 "need --act-rule cmc or pve" track $scene --dg prob --map-include "$f/grey.nii" --map-exclude "$f/thin.nii"
fails 2 "only --dg prob, det can use it" track ${slab%--dg det*} --dg ptt --map-include "$f/grey.nii" --map-exclude "$f/thin.nii" --pft
fails 2 "another source of tissue" track $slab --map-exclude "$f/thin.nii" --act "$f/grey.nii"
fails 2 "64 at most" track $slab --map-exclude "$f/thin.nii" --pft --pft-back 40
fails 2 "cannot be used with --stop" track $slab --map-exclude "$f/thin.nii" --pft --stop --include 26,3,3,2
fails 2 "must be 1 to 64" track $slab --map-exclude "$f/thin.nii" --pft --pft-particles 65
fails 2 "needs --pft" track $slab --map-exclude "$f/thin.nii" --pft-front 2
