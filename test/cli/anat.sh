#!/bin/sh
# Tests of the anatomy of a subject: anat.sh TOOL WORK_DIR. Needs python3, and no device.
. "$(dirname "$0")/common.sh"

# a head with skull: T1, b=0 and template, labels; and images that cannot be used
python3 "$here/head_images.py" || note "head_images.py"
template="--template tpl-Head_T1w.nii --template-mask mask.nii"

# --- results ---
OMP_NUM_THREADS=1 expect 0 anat sub-7_T1w.nii --dwi dwi.nii $template --labels labels.nii,names.txt -o one --device cpu
[ "$(ls one | wc -l)" -eq 14 ] || note "other files than 14: $(ls one)"
contains one/sub-7_space-dwi_desc-5tt_probseg.json '"verdict":	"aligned"'
contains one/sub-7_space-dwi_seg-labels_dseg.tsv "4	Left-Thalamus"
expect 0 cite one/sub-7_space-dwi_desc-5tt_probseg.json
says "Van Leemput"
expect 0 report one/sub-7_space-dwi_desc-5tt_probseg.json -o report.html
[ "$(grep -o '<img' report.html | wc -l)" -eq 3 ] || note "other pictures than three of the anatomy"
contains report.html "Dice of its mask with that of the series"
cat > check.py << 'END'
import gzip, sys
sys.path.insert(0, sys.argv[1])
from head_images import *
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
python3 check.py "$here" > dice || note "tissue or labels are not those of the head: $(cat dice)"
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

# labels to 2^31 - 1, of which float has not all, come to the places of small ones; a mask of the series that lies beside that of
# the template changes no image, but is warned of; nor does the number of threads change an image
OMP_NUM_THREADS=3 expect 0 anat sub-7_T1w.nii --dwi dwi.nii --dwi-mask beside.nii $template --labels large.nii --deep-labels 2147483646,2147483647 -o large --device cpu
says "mm apart: look at both, and give the series a mask that lies on it"
for name in $(ls one | grep -v 'json\|seg-labels'); do same large/$name one/$name; done
python3 - "$here" << 'END' || note "large labels are others"
import gzip, sys
sys.path.insert(0, sys.argv[1])
from head_images import *
read = lambda name: gzip.open(name).read()[352:]
small, large = (struct.unpack("<%di" % (len(d) // 4), d) for d in (read("one/sub-7_space-dwi_seg-labels_dseg.nii.gz"), read("large/sub-7_space-dwi_seg-large_dseg.nii.gz")))
assert [LARGE[v] for v in small] == list(large) and len(set(large)) == 6
END

# --- other ways ---
expect 0 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii --template alone.nii --template-tissue wm.nii,gm.nii,csf.nii --labels labels.nii --template-name Alone -o alone --device cpu --lesion-mask lesion.nii
says "no label is known as deep grey matter"
contains alone/sub-7_space-dwi_desc-5tt_probseg.json '"t1_cut_to_brain":	true'
[ -e alone/sub-7_from-Alone_to-T1w_mode-image_xfm.nii.gz ] || note "no transform by the name of --template-name"
expect 4 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii -o alone
says "exists already"
expect 0 anat sub-7_T1w.nii --dwi series.nii -o plain --device cpu
[ "$(ls plain | wc -l)" -eq 10 ] || note "other files than 10: $(ls plain)"

grep -q "tissue is probably wrong" stderr && note "a warning of tissue that is right"
# Fat that lies 3 mm beside the brain, as in EPI, leads mutual information astray; the border of white matter does not follow
# it, and all is made anew where the T1 lies then. A map that is right stays, and one that lies too far away is warned of.
python3 - "$here" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
from head_images import *
fat = lambda mm: lambda x, y, z: b0(x, y, z) - 60 * (part(x, y, z) == 1) + 200 * (part(x, y - mm, z) == 1)
save("fat3.nii", fat(3))
save("fat8.nii", fat(8))
END
expect 0 anat sub-7_T1w.nii --dwi fat3.nii --dwi-mask brain.nii -o nmi_fat3 --device cpu
for name in fat3 fat8 b0; do expect 0 anat sub-7_T1w.nii --dwi $name.nii --dwi-mask brain.nii --boundary -o border_$name --device cpu; done
python3 - << 'END' || note "the border of white matter"
import itertools, json, math
def error(name):
    m = [[float(v) for v in line.split()] for line in open(name + "/sub-7_from-T1w_to-dwi_mode-image_xfm.txt") if line[0] != "#"]
    far = [math.dist([sum(m[r][c] * p[c] for c in range(3)) + m[r][3] for r in range(3)], (p[0] + 5, p[1] - 4, p[2] - 3)) for p in itertools.product((-30, 30), (-38, 38), (-28, 28))]
    return sum(far) / 8
made = {name: json.load(open("border_%s/sub-7_space-dwi_desc-5tt_probseg.json" % name)) for name in ("fat3", "fat8", "b0")}
found = {name: made[name]["t1_to_series"]["boundary"] for name in made}
far = {name: error(name) for name in ("nmi_fat3", "border_fat3", "plain", "border_b0")}
print(far, found)
assert far["nmi_fat3"] > 2 and far["border_fat3"] < 1.2 and far["border_b0"] == far["plain"] < 1, far
assert found["fat3"]["taken"] and found["fat3"]["cost_after"] < 0.5 * found["fat3"]["cost_before"], found
assert "before" in made["fat3"]["t1_to_series"]["linear"]["measured"] and "measured" not in made["b0"]["t1_to_series"]["linear"]
assert not found["b0"]["taken"] and "no better" in found["b0"]["result"] and made["b0"]["verdict"] == made["b0"]["t1_to_series"]["verdict"] == "aligned", found
assert not found["fat8"]["taken"] and "border of white matter" in made["fat8"]["t1_to_series"]["verdict"] and made["fat8"]["verdict"] != "aligned", made["fat8"]
END
expect 0 cite border_fat3/sub-7_space-dwi_desc-5tt_probseg.json
says "Greve"
expect 0 report border_fat3/sub-7_space-dwi_desc-5tt_probseg.json -o border.html
contains border.html "turn by it"
# a mask with skull, without fluid, or beside the brain is repaired, and the message says how
for mask in wide:"held skull, and its rim was moved by 4 mm" narrow:"lacked fluid, and its rim was moved by 8 mm" beside:"mm beside the brain, and was moved"; do
    made=of_${mask%%:*}
    expect 0 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask ${mask%%:*}.nii -o $made --device cpu
    says "${mask#*:}"
    contains $made/sub-7_space-dwi_desc-5tt_probseg.json '"verdict":	"look at the warnings'
    python3 - "$here" $made ${mask%%:*}.nii << 'END' || note "${mask%%:*}.nii is not repaired"
import gzip, json, sys
sys.path.insert(0, sys.argv[1])
from head_images import *
data = gzip.open(sys.argv[2] + "/sub-7_space-dwi_desc-brain_mask.nii.gz").read()
dim, low = struct.unpack_from("<8h", data, 40)[1:4], [struct.unpack_from("<4f", data, 280 + 16 * a) for a in range(3)]
place = lambda v: (low[0][3] + low[0][0] * (v % dim[0]), low[1][3] + low[1][1] * (v // dim[0] % dim[1]), low[2][3] + low[2][2] * (v // dim[0] // dim[1]))
dice = lambda a, b: 2 * sum(x and y for x, y in zip(a, b)) / (sum(a) + sum(b))
truth = [brain(*place(v)) > 0 for v in range(dim[0] * dim[1] * dim[2])]
given = struct.unpack_from("<%df" % (N[0] * N[1] * N[2]), open(sys.argv[3], "rb").read(), 352)
there = [-S * (k - 1) / 2 for k in N]
was = dice([g > 0 for g in given], [brain(there[0] + S * (v % N[0]), there[1] + S * (v // N[0] % N[1]), there[2] + S * (v // N[0] // N[1])) > 0 for v in range(len(given))])
now = dice([m > 0 for m in data[352:]], truth)
print(was, now)
assert now > 0.95 > was
said = json.load(open(sys.argv[2] + "/sub-7_space-dwi_desc-5tt_probseg.json"))["brain"]
# the first mask is that of the series, as it was before the repair
assert abs(said["dice_with_first_mask"] - said["dice_with_series_mask"]) < 1e-6 and said["dice_with_first_mask"] < 0.95, said
END
done
# what no step repairs is warned of: an image that is no T1
expect 0 anat b0.nii --dwi b0.nii --dwi-mask brain.nii -o of_b0 --device cpu
says "tissue is probably wrong"

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
expect 0 $track $atlas -o tracks.tck --skip-existing
says "nothing to do"
XDG_CACHE_HOME="$work/cold" expect 0 $track $atlas -o tracks.tck --skip-existing --dry-run
says "skip-existing then compares"
[ -z "$(find cold -path '*anat*' -type f)" ] || note "a plan with --skip-existing makes the anatomy"
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
# the border of white matter: results of their own, whose sidecar says whether the map was taken
expect 2 $track --boundary -o x.tck
says "needs --t1"
expect 0 $track --t1 sub-7_T1w.nii --boundary --cache-dir kept -o border.tck
[ "$(ls kept | grep -c glslines_anat_)" -eq 2 ] || note "--boundary takes what was made without it"
expect 0 $track --t1 sub-7_T1w.nii --boundary --cache-dir kept -o border.tck --force --report
says "is reused: its files are the same"
contains border.html "which the map does not follow"
expect 0 anat sub-7_T1w.nii --dwi dwi.nii --boundary -o border_dwi --device cpu
python3 - kept/*/*5tt_probseg.json << 'END' || note "the findings of --t1 --boundary"
import json, sys
both = [json.load(open(name))["t1_to_series"].get("boundary") for name in sys.argv[1:]]
alone = json.load(open("border_dwi/sub-7_space-dwi_desc-5tt_probseg.json"))["t1_to_series"]["boundary"]
assert sorted(both, key=bool) == [None, alone] and alone["taken"] is False and json.load(open("border.json"))["parameters"]["boundary"] is True
END
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
says "empty.nii: the mask is empty"
expect 3 anat sub-7_T1w.nii --dwi b0.nii --template tpl-Head_T1w.nii --template-mask empty.nii $try
says "empty.nii: the mask is empty"
expect 3 anat slab.nii --dwi b0.nii --dwi-mask brain.nii $try
expect 3 anat sub-7_T1w.nii --dwi series.nii --bval weighted.bval --bvec weighted.bvec $try
says "has no volume without diffusion weighting"
expect 2 anat sub-7_T1w.nii --dwi series.nii --bval weighted.bval $try
expect 2 anat sub-7_T1w.nii --dwi b0.nii --bval series.bval --bvec series.bvec $try
says "b0.nii has one volume, and needs none"
expect 4 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii -o none/x
expect 4 anat sub-7_T1w.nii --dwi b0.nii --dwi-mask brain.nii -o names.txt
[ ! -e x ] || note "a folder is left after a failure"
# without a T1: brain mask and tissue from the densities of a fit; gaps become fluid, parts aside are no brain
python3 - "$here" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
from head_images import *
M = (14, 14, 14)
def voxel(x, y, z):
    return tuple(round(c / S + 6.5) for c in (x, y, z))
inside = lambda v: all(2 <= c <= 9 for c in v) and v != (5, 5, 5)
def density(at, aside=0.0):
    return lambda x, y, z: at(voxel(x, y, z)) if inside(voxel(x, y, z)) else aside if voxel(x, y, z) == (13, 13, 13) else -0.1
save("sub-7_fit_wm.nii", [density(lambda v: 0.1 + 0.03 * v[0], 0.3), lambda x, y, z: 5.0], n=M)
save("fit_gm.nii", density(lambda v: 0.1), n=M)
save("fit_none.nii", lambda x, y, z: 0.0, n=M)
save("fit_all.nii", lambda x, y, z: 0.3 if inside(voxel(x, y, z)) else 0.2, n=M)
save("fit_noise.nii", lambda x, y, z: 1.0 if sum(voxel(x, y, z)) % 5 == 0 and voxel(x, y, z)[2] % 2 else 0.0, n=M)
save("fit_large.nii", lambda x, y, z: 3e38 if inside(voxel(x, y, z)) or voxel(x, y, z) == (5, 5, 5) else 0.0, n=M)
save("fit_labels.nii", lambda x, y, z: 7 if x > 4 else 8 if x > 0 else 0, n=(19, 19, 19), kind=8)
data = bytearray(open("fit_labels.nii", "rb").read())
struct.pack_into("<f", data, 292, 1000)
open("fit_far.nii", "wb").write(data)
save("fit_beside.nii", lambda x, y, z: 7 if x > 32 else 8 if x > 0 else 0, n=(19, 19, 19), kind=8)
save("fit_csf.nii", density(lambda v: 0.2 if v[1] > 5 else math.nan), n=M)
END
fit="--fod sub-7_fit_wm.nii --gm fit_gm.nii --csf fit_csf.nii"
# shellcheck disable=SC2086
{
    expect 0 anat $fit -o of_fit
    expect 2 anat sub-7_T1w.nii $fit $try
    says "without T1"
    expect 2 anat $fit --template mask.nii $try
    says "without T1"
    expect 2 anat $fit --deep-hippocampus $try
    says "need --labels"
    expect 2 anat $fit --boundary $try
    # labels of the series' space, on a grid of its own, say which grey matter is deep
    expect 0 anat $fit --labels fit_labels.nii --deep-labels 7 -o of_deep
    grep -q "no grey matter of the fit" stderr && note "a warning of labels that lie right"
    expect 0 anat $fit --labels fit_beside.nii --deep-labels 7 -o of_none
    says "no grey matter of the fit lies in its labels of deep grey matter"
    expect 3 anat $fit --labels fit_far.nii --deep-labels 7 -o x
    says "no voxel of the fit lies in it"
    expect 3 anat $fit --labels fit_labels.nii --deep-labels 9 -o x
    expect 2 anat --fod sub-7_fit_wm.nii --gm fit_gm.nii $try
    says "give all three"
    expect 2 anat $try
    says "needs a T1"
    expect 3 anat --fod empty.nii --gm empty.nii --csf empty.nii $try
    says "no voxel has a tissue"
    expect 3 anat --fod sub-7_fit_wm.nii --gm fit_gm.nii --csf empty.nii $try
    expect 4 anat $fit -o of_fit
    expect 2 anat $fit -o x --device gpu
    says "--device: not with --fod"
    expect 2 anat $fit -o x --api gles
    says "--api: not with --fod"
    # without a mask the background has densities, and the brain is all of it; those of noise are many small parts
    expect 0 anat --fod fit_all.nii --gm fit_gm.nii --csf fit_csf.nii -o of_all
    says "is probably wrong: fit with --mask"
    expect 0 anat --fod fit_noise.nii --gm fit_none.nii --csf fit_none.nii -o of_noise
    says "is probably wrong: fit with --mask"
    # densities of which three add up to no float
    expect 0 anat --fod fit_large.nii --gm fit_large.nii --csf fit_large.nii -o of_large
}
grep -q "is probably wrong" stderr && note "a warning of a brain of the right size"
contains of_fit/sub-7_space-dwi_desc-5tt_probseg.json "Brain mask and tissue from a fit of a series"
python3 - << 'END' || note "large densities"
import glob, gzip, struct
five, mask = (struct.unpack_from("<%d%s" % (n * 14**3, kind), gzip.open(glob.glob("of_large/*%s.nii.gz" % end)[0]).read(), 352) for end, kind, n in (("5tt_probseg", "f", 5), ("brain_mask", "B", 1)))
assert sum(mask) == 512 and abs(sum(five) - 512) < 1e-3, (sum(mask), sum(five))
END
python3 - << 'END' || note "deep grey matter of a fit"
import gzip, struct
plain, deep = (struct.unpack_from("<%df" % (5 * 14**3), gzip.open("%s/sub-7_space-dwi_desc-5tt_probseg.nii.gz" % name).read(), 352) for name in ("of_fit", "of_deep"))
n, some = 14**3, 0
for v in range(n):
    x = 4 * (v % 14 - 6.5)
    # voxels of the labels lie half a voxel beside those of the fit, and the label begins at 8 mm
    share = 1 if x > 8 else 0.5 if x > 4 else 0
    some += share * plain[v] > 0
    assert abs(deep[v] - (1 - share) * plain[v]) < 1e-6 and abs(deep[n + v] - share * plain[v]) < 1e-6, (v, x)
    assert all(deep[t * n + v] == plain[t * n + v] for t in (2, 3, 4))
assert some > 100
END
[ "$(ls of_fit)" = "$(printf 'sub-7_space-dwi_desc-%s\n' 5tt_probseg.json 5tt_probseg.nii.gz brain_mask.nii.gz)" ] || note "files of a fit: $(ls of_fit)"
python3 - << 'END' || note "tissue of a fit"
import gzip, json, struct
def read(end, kind, n):
    data = gzip.open("of_fit/sub-7_space-dwi_desc-%s.nii.gz" % end).read()
    return struct.unpack_from("<%d%s" % (n, kind), data, 352)
n = 14**3
five, mask = read("5tt_probseg", "f", 5 * n), read("brain_mask", "B", n)
brain = 0
for v in range(n):
    at = (v % 14, v // 14 % 14, v // 196)
    box = all(2 <= c <= 9 for c in at)
    want = [0, 0, 0, 1, 0] if at == (5, 5, 5) else [0.1, 0, 0.1 + 0.03 * at[0], 0.2 if at[1] > 5 else 0, 0] if box else [0] * 5
    total = sum(want) or 1
    brain += box
    assert mask[v] == box and all(abs(five[t * n + v] - w / total) < 1e-6 for t, w in enumerate(want)), (at, mask[v], want)
tissue = json.load(open("of_fit/sub-7_space-dwi_desc-5tt_probseg.json"))["tissue"]
assert abs(sum(t["volume_ml"] for t in tissue.values()) - brain * 64 / 1000) < 1e-3, tissue
END
finish "anatomy of a subject"
