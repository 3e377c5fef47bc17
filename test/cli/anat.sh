#!/bin/sh
# Tests of the anatomy of a subject: anat.sh TOOL WORK_DIR. Needs python3, and no device.
. "$(dirname "$0")/common.sh"

# a head with skull: T1, b=0 and template, labels; and images that cannot be used
cat > scene.py << 'END'
import math, struct
# 0 air, 1 scalp, 2 skull, 3 fluid, 4 grey, 5 white, 6 deep grey
def part(x, y, z):
    r = math.sqrt((x / (60 - y / 10)) ** 2 + (y / 76) ** 2 + (z / 56) ** 2)
    if ((x - 66) / 9) ** 2 + (y / 10) ** 2 + ((z - 6) / 10) ** 2 < 1 or (x / 10) ** 2 + ((y - 82) / 12) ** 2 + ((z + 12) / 10) ** 2 < 1:
        return 1  # an ear and a nose, so that no turn maps the head to itself
    if r > 1:
        return 0 if r > 1.25 else 1 if r > 1.15 else 2
    if (x / 9) ** 2 + ((y - 5) / 28) ** 2 + ((z - 8) / 10) ** 2 < 1:
        return 3
    if ((abs(x) - 22) / 9) ** 2 + (y / 14) ** 2 + ((z + 4) / 9) ** 2 < 1:
        return 6
    wave = math.sin(7 * math.atan2(y, x)) * math.cos(6 * z / 56)
    return 3 if r > 0.93 + 0.03 * wave else 4 if r > 0.8 + 0.07 * wave else 5
END
cat > make.py << 'END'
from scene import *
N, S = (40, 50, 40), 4.0
def save(name, value, n=N, volumes=1, kind=16):
    low = [-S * (k - 1) / 2 for k in n]
    each = value if isinstance(value, list) else [value]
    values = [v(low[0] + S * x, low[1] + S * y, low[2] + S * z) for v in each for z in range(n[2]) for y in range(n[1]) for x in range(n[0])]
    volumes *= len(each)
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4 if volumes > 1 else 3, *n, volumes, 1, 1, 1)
    struct.pack_into("<2h", head, 70, kind, 32)
    struct.pack_into("<8f", head, 76, 1, S, S, S, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for a in range(3):
        row = [0.0, 0.0, 0.0, low[a]]
        row[a] = S
        struct.pack_into("<4f", head, 280 + 16 * a, *row)
    head[344:348] = b"n+1\0"
    with open(name, "wb") as f:
        f.write(head + struct.pack("<%d%s" % (len(values), "i" if kind == 8 else "f"), *values) * (volumes // len(each)))
T1, B0 = (0, 180, 15, 40, 100, 150, 112), (0, 60, 5, 250, 110, 80, 95)
noise = lambda x, y, z: 3 * (math.sin(x / 3 + y / 5) + math.sin(y / 2.5 - z / 4) + math.sin(z / 3.1 + x))
t1 = lambda x, y, z: T1[part(x, y, z)] * (1 + 0.1 * math.sin(x / 50)) + (noise(x, y, z) if part(x, y, z) else 0)
b0 = lambda x, y, z: B0[part(x, y, z)] + (noise(x, y, z) if part(x, y, z) else 0)
shift = lambda f: lambda x, y, z: f(x - 5, y + 4, z + 3)
bend = lambda f: lambda x, y, z: f(1.04 * x + 2 * math.sin(y / 20), 0.97 * y + 2 * math.sin(z / 18), z)
brain = lambda x, y, z: float(part(x, y, z) >= 3)
labels = lambda x, y, z: {4: 1 if x < 0 else 2, 5: 3, 6: 4 if x < 0 else 5}.get(part(x, y, z), 0)
save("sub-7_T1w.nii", shift(t1))
save("b0.nii", b0)
save("brain.nii", brain)
save("tpl-Head_T1w.nii", bend(t1))
save("mask.nii", bend(brain))
save("alone.nii", bend(lambda x, y, z: t1(x, y, z) * brain(x, y, z)))
for k, name in ((5, "wm"), (4, "gm"), (3, "csf")):
    save(name + ".nii", bend(lambda x, y, z: 0.9 if part(x, y, z) == k else 0.05))
save("labels.nii", bend(labels), kind=8)
open("names.txt", "w").write("1 Left-Cortex\n2 Right-Cortex\n3 White\n4 Left-Thalamus\n5 Right-Thalamus\n")
save("lesion.nii", shift(lambda x, y, z: float((x + 35) ** 2 + (y + 30) ** 2 + z ** 2 < 100)))
save("series.nii", b0, volumes=3)
for name, b, rows in (("series", "0 1000 1000", "0 1 0\n0 0 1\n0 0 0\n"), ("weighted", "1000 1000 1000", "1 0 0\n0 1 0\n0 0 1\n")):
    open(name + ".bval", "w").write(b + "\n")
    open(name + ".bvec", "w").write(rows)
# a series whose white matter runs from back to front
directions = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0), (0, 0.6, 0.8), (0.8, 0, 0.6), (-0.6, 0.8, 0), (0, -0.6, 0.8), (0.8, 0, -0.6)]
volumes = [lambda x, y, z: b0(x, y, z)] + [lambda x, y, z, d=d: b0(x, y, z) * math.exp(-(0.2 + 1.5 * d[1] ** 2 if part(x, y, z) == 5 else 0.8)) for d in directions]
save("dwi.nii", volumes)
open("dwi.bval", "w").write(" ".join(["0"] + ["1000"] * 9) + "\n")
open("dwi.bvec", "w").write("".join(" ".join(["0"] + [str(-d[a] if a == 0 else d[a]) for d in directions]) + "\n" for a in range(3)))
save("mirrored.nii", lambda x, y, z: t1(x - 5, -y + 4, z + 3))
save("constant.nii", lambda x, y, z: 7.0)
save("nan.nii", lambda x, y, z: math.nan if z < 4 else 1.0 + x)
save("empty.nii", lambda x, y, z: 0.0)
save("half.nii", lambda x, y, z: 1.5)
save("huge.nii", lambda x, y, z: 20000000, kind=8)
save("percent.nii", lambda x, y, z: 90.0)
save("slab.nii", lambda x, y, z: t1(x, y, z + 60), n=(40, 50, 9))
END
python3 make.py || note "make.py"
template="--template tpl-Head_T1w.nii --template-mask mask.nii"

# --- results, which are the same for any number of threads ---
OMP_NUM_THREADS=1 expect 0 anat sub-7_T1w.nii --dwi dwi.nii $template --labels labels.nii,names.txt -o one --device cpu
OMP_NUM_THREADS=3 expect 0 anat sub-7_T1w.nii --dwi dwi.nii $template --labels labels.nii,names.txt -o two --device cpu
[ "$(ls one | wc -l)" -eq 13 ] || note "other files than 13: $(ls one)"
for name in $(ls one | grep -v json); do same one/$name two/$name; done
contains one/sub-7_space-dwi_desc-5tt_probseg.json '"verdict":	"aligned"'
contains one/sub-7_space-dwi_seg-labels_dseg.tsv "4	Left-Thalamus"
expect 0 cite one/sub-7_space-dwi_desc-5tt_probseg.json
says "Van Leemput"
cat > check.py << 'END'
import gzip, sys
from scene import *
def read(end):
    data = gzip.open(f"one/sub-7_space-dwi_{end}").read()
    dim = struct.unpack_from("<8h", data, 40)
    n = dim[1] * dim[2] * dim[3]
    code, = struct.unpack_from("<h", data, 70)
    low = [struct.unpack_from("<4f", data, 280 + 16 * a) for a in range(3)]
    values = struct.unpack_from("<%d%s" % (n * dim[4] if dim[0] > 3 else n, {2: "B", 8: "i", 16: "f"}[code]), data, 352)
    return dim[1:4], low, values
dim, low, mask = read("desc-brain_mask.nii.gz")
five, label = read("desc-5tt_probseg.nii.gz")[2], read("seg-labels_dseg.nii.gz")[2]
n = len(mask)
at = [(low[0][3] + low[0][0] * (v % dim[0]), low[1][3] + low[1][1] * (v // dim[0] % dim[1]), low[2][3] + low[2][2] * (v // dim[0] // dim[1])) for v in range(n)]
truth = [part(*p) for p in at]
def dice(a, b):
    return 2 * sum(x and y for x, y in zip(a, b)) / (sum(a) + sum(b))
assert all(abs(sum(five[t * n + v] for t in range(5)) - mask[v]) < 1e-5 for v in range(n))
least = {"mask": 0.96, "cgm": 0.82, "sgm": 0.8, "wm": 0.94, "left": 0.8}
made = {"mask": dice([m > 0 for m in mask], [t >= 3 for t in truth]),
        "cgm": dice([five[v] > 0.5 for v in range(n)], [t == 4 for t in truth]),
        "sgm": dice([five[n + v] > 0.5 for v in range(n)], [t == 6 for t in truth]),
        "wm": dice([five[2 * n + v] > 0.5 for v in range(n)], [t == 5 for t in truth]),
        "left": dice([l == 1 for l in label], [t == 4 and p[0] < 0 for t, p in zip(truth, at)])}
print(made)
assert all(made[k] >= least[k] for k in least), made
END
python3 check.py > dice || note "tissue or labels are not those of the head: $(cat dice)"
cat dice
# the transforms do what their names say: labels by their files are those that were made, but for the field's steps
expect 0 transform labels.nii -t one/sub-7_from-T1w_to-dwi_mode-image_xfm.txt -t one/sub-7_from-Head_to-T1w_mode-image_xfm.nii.gz --template one/sub-7_space-dwi_seg-labels_dseg.nii.gz -o again.nii
python3 - << 'END' || note "labels by the files of transforms are others"
import gzip, struct
a = gzip.open("one/sub-7_space-dwi_seg-labels_dseg.nii.gz").read()[352:]
b = open("again.nii", "rb").read()[352:]
n = len(a) // 4
same = sum(x == y for x, y in zip(struct.unpack(f"<{n}i", a), struct.unpack(f"<{n}i", b)))
assert same > 0.99 * n, same / n
END

# --- other ways ---
expect 0 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii --template alone.nii --template-tissue wm.nii,gm.nii,csf.nii --labels labels.nii --template-name Alone -o alone --device cpu --lesion-mask lesion.nii
says "no label is known as deep grey matter"
contains alone/sub-7_space-dwi_desc-5tt_probseg.json '"t1_cut_to_brain":	true'
[ -e alone/sub-7_from-Alone_to-T1w_mode-image_xfm.nii.gz ] || note "no transform by the name of --template-name"
expect 4 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii -o alone
says "exists already"
expect 0 anat sub-7_T1w.nii --dwi series.nii -o plain --device cpu
[ "$(ls plain | wc -l)" -eq 9 ] || note "other files than 9: $(ls plain)"

# --- in front of tracking: made once, then taken from the cache, and the same as by the command ---
export XDG_CACHE_HOME="$work/cache"
mkdir cache
track="track dwi.nii --dg tensordet --nseeds 2000 --min-length 20 --device cpu"
atlas="--t1 sub-7_T1w.nii --atlas tpl-Head_T1w.nii,labels.nii,mask.nii,names.txt --connectome atlas:net.csv"
# a plan, and what is refused: nothing is made
expect 0 $track $atlas --dry-run -o tracks.tck
says "made before the fit, and kept as"
says "seeds       2,000 in the interface of grey and white matter"
echo kept > taken.tck
expect 4 $track $atlas -o taken.tck
expect 4 $track $atlas -o none/tracks.tck
expect 3 $track $atlas --include none.nii -o tracks.tck
expect 2 $track $atlas --max-length 10 -o tracks.tck
expect 3 $track $atlas --profile names.txt:profile.csv -o tracks.tck
[ -z "$(find cache -path '*anat*' -type f)" ] || note "an anatomy is made for a run that is planned or refused"
expect 0 $track $atlas -o tracks.tck
says "interface of grey and white matter"
expect 0 $track --t1 sub-7_T1w.nii --atlas tpl-Head_T1w.nii,labels.nii,mask.nii,names.txt --connectome atlas:again.csv -o again.tck
says "is reused: its files are the same"
same tracks.tck again.tck
same net.csv again.csv
for file in cache/glslines/anat/*/sub-7_*.nii.gz; do same "$file" one/"${file##*/}"; done
expect 0 $track --act one/sub-7_space-dwi_desc-5tt_probseg.nii.gz --seed-gmwmi auto --connectome one/sub-7_space-dwi_seg-labels_dseg.nii.gz:by_hand.csv -o by_hand.tck
same net.csv by_hand.csv
expect 0 cite tracks.tck
says "Van Leemput"
says "Smith"
mkdir kept
expect 0 $track --t1 sub-7_T1w.nii --cache-dir kept -o plain.tck
[ "$(ls kept | grep -c glslines_anat_)" -eq 1 ] || note "--cache-dir has no anatomy"
# what is damaged is made anew
for file in kept/*/*5tt_probseg.nii.gz; do echo x >> "$file"; done
expect 0 $track --t1 sub-7_T1w.nii --cache-dir kept -o third.tck
says "is damaged, and is made anew"
same plain.tck third.tck
HOME=/nowhere XDG_CACHE_HOME='' expect 4 $track --t1 sub-7_T1w.nii -o x.tck
says "give --cache-dir DIR"
expect 2 $track --atlas tpl-Head_T1w.nii,labels.nii -o x.tck
says "needs --t1"
expect 2 $track --t1 sub-7_T1w.nii --atlas tpl-Head_T1w.nii -o x.tck
says "needs TEMPLATE,LABELS"
expect 2 $track --t1 sub-7_T1w.nii --act one/sub-7_space-dwi_desc-5tt_probseg.nii.gz -o x.tck
expect 3 $track --t1 none.nii -o x.tck
expect 3 $track --t1 mirrored.nii -o x.tck
says "mirrored front to back"
expect 4 $track --t1 sub-7_T1w.nii --cache-dir kept --write-mask sub-7_T1w.nii --force -o x.tck

# --- input that is not right: no file, and no folder ---
try="-o x --device cpu"
expect 2 anat sub-7_T1w.nii --dwi b0.nii
says "needs --output DIR"
expect 2 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii --api gles $try
says "--api: not with --device cpu"
expect 2 anat sub-7_T1w.nii $try
says "needs --dwi"
expect 2 anat --dwi b0.nii $try
expect 3 anat sub-7_T1w.nii --dwi none.nii $try
expect 3 anat series.nii --dwi b0.nii --dwi-mask brain.nii $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii $try
says "the brain of the series is needed"
expect 2 anat sub-7_T1w.nii --dwi b0.nii --template alone.nii $try
says "give --dwi a series, or --dwi-mask"
expect 2 anat sub-7_T1w.nii --dwi b0.nii --template tpl-Head_T1w.nii $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii --labels labels.nii $try
says "give --template, too"
expect 2 anat sub-7_T1w.nii --dwi b0.nii $template --template-tissue wm.nii,gm.nii $try
says "needs WM,GM,CSF"
expect 3 anat sub-7_T1w.nii --dwi b0.nii $template --template-tissue percent.nii,gm.nii,csf.nii $try
says "needs probabilities from 0 to 1"
expect 2 anat sub-7_T1w.nii --dwi b0.nii $template --labels labels.nii,names.txt,more.txt $try
expect 3 anat sub-7_T1w.nii --dwi b0.nii $template --labels half.nii $try
expect 3 anat sub-7_T1w.nii --dwi b0.nii $template --labels huge.nii $try
says "above 16777216"
expect 3 anat sub-7_T1w.nii --dwi b0.nii $template --labels empty.nii $try
expect 3 anat sub-7_T1w.nii --dwi b0.nii $template --labels labels.nii --deep-labels 4,9 $try
says "has no label 9"
expect 2 anat sub-7_T1w.nii --dwi b0.nii $template --deep-labels 4 $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii $template --labels labels.nii --deep-labels 0 $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii $template --template-name a/b $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii --fine $try
expect 3 anat mirrored.nii --dwi b0.nii --dwi-mask brain.nii $try
says "mirrored front to back"
expect 3 anat constant.nii --dwi b0.nii --dwi-mask brain.nii $try
expect 3 anat nan.nii --dwi b0.nii --dwi-mask brain.nii $try
says "are not finite"
expect 3 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask empty.nii $try
expect 3 anat sub-7_T1w.nii --dwi b0.nii --template tpl-Head_T1w.nii --template-mask empty.nii $try
expect 3 anat slab.nii --dwi b0.nii --dwi-mask brain.nii $try
expect 3 anat sub-7_T1w.nii --dwi series.nii --bval weighted.bval --bvec weighted.bvec $try
says "has no volume without diffusion weighting"
expect 2 anat sub-7_T1w.nii --dwi series.nii --bval weighted.bval $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii --bval series.bval --bvec series.bvec $try
says "b0.nii has one volume, and needs none"
expect 4 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii -o none/x
expect 4 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii -o names.txt
[ ! -e x ] || note "a folder is left after a failure"
finish "anatomy of a subject"
