#!/bin/sh
# Tests of registration: register.sh TOOL WORK_DIR. Needs python3.
. "$(dirname "$0")/common.sh"

# a small head, moved by a known map; and images that cannot be registered
cat > make.py << 'END'
import math, struct
def save(name, n, step, value, origin=None, volumes=1):
    low = [-step * (k - 1) / 2 for k in n] if origin is None else origin
    # the mean of two points along each axis, as the values of scanners are means over voxels
    def mean(*at):
        return sum(value(*(low[a] + step * (at[a] + (0.25 if k >> a & 1 else -0.25)) for a in range(3))) for k in range(8)) / 8
    values = [mean(x, y, z) for z in range(n[2]) for y in range(n[1]) for x in range(n[0])]
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4 if volumes > 1 else 3, *n, volumes, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, step, step, step, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for a in range(3):
        row = [0.0, 0.0, 0.0, low[a]]
        row[a] = step
        struct.pack_into("<4f", head, 280 + 16 * a, *row)
    head[344:348] = b"n+1\0"
    with open(name, "wb") as f:
        f.write(head + struct.pack("<%df" % len(values), *values) * volumes)
def head(x, y, z):
    r = math.sqrt((x / 33) ** 2 + (y / 42) ** 2 + (z / 31) ** 2)
    if ((x - 31) / 7) ** 2 + (y / 7) ** 2 + ((z - 6) / 7) ** 2 < 1 or (x / 7) ** 2 + ((y - 40) / 8) ** 2 + ((z + 8) / 7) ** 2 < 1:
        return 120.0  # an ear and a nose, so that no turn maps the head to itself
    if r > 1.1:
        return 0.0
    hole = ((x + 10) / 6) ** 2 + (y / 15) ** 2 + ((z - 4) / 6) ** 2 < 1 or ((x - 9) / 5) ** 2 + ((y - 9) / 12) ** 2 + (z / 8) ** 2 < 1
    return (40 if hole or r > 1 else 100 if r > 0.8 + 0.06 * math.sin(9 * math.atan2(y, x)) else 150) + 6 * (math.sin(x / 3 + y / 5) + math.sin(y / 2.5 - z / 4))
N, S = (28, 32, 26), 3.0
save("fixed.nii", N, S, lambda x, y, z: head(x + 4, y - 3, z + 2))
save("moving.nii", N, S, head)
hurt = lambda x, y, z: (x - 15) ** 2 + (y + 10) ** 2 + (z + 2) ** 2 < 13 ** 2
save("hurt.nii", N, S, lambda x, y, z: 45.0 + 3 * math.sin(x + y + z) if hurt(x, y, z) else head(x, y, z))
save("hurt_mask.nii", N, S, lambda x, y, z: float(hurt(x, y, z)))
save("mirrored.nii", N, S, lambda x, y, z: head(x, -y, z))
save("series.nii", N, S, head, volumes=2)
save("constant.nii", N, S, lambda x, y, z: 7.0)
save("nan.nii", N, S, lambda x, y, z: math.nan if z < 4 else head(x, y, z))
save("some_nan.nii", N, S, lambda x, y, z: math.nan if z < -30 else head(x, y, z))
save("far.nii", N, S, lambda x, y, z: head(x - 441, y - 48, z - 39), origin=[400.0, 0.0, 0.0])
save("slab.nii", (28, 32, 3), S, lambda x, y, z: head(x, y, z - 20))
save("thick.nii", (28, 32, 10), S, lambda x, y, z: head(x, y, z + 6))
save("coarse.nii", (17, 20, 16), 5.0, head)
save("noise.nii", N, S, lambda x, y, z: 100.0 * (math.sin(12.9898 * x + 78.233 * y + 37.719 * z) * 43758.5453 % 1))
def forms(name, shift):  # a qform beside the sform, of the same axes
    data = bytearray(open("moving.nii", "rb").read())
    struct.pack_into("<f", data, 76, 1)
    struct.pack_into("<2h", data, 252, 1, 1)
    struct.pack_into("<6f", data, 256, 0, 0, 0, -S * 27 / 2 + shift, -S * 31 / 2, -S * 25 / 2)
    open(name, "wb").write(data)
def behind(name, first, second):  # a series of two images
    data = bytearray(open(first, "rb").read())
    struct.pack_into("<2h", data, 40, 4, *struct.unpack_from("<h", data, 42))
    struct.pack_into("<h", data, 48, 2)
    open(name, "wb").write(data + open(second, "rb").read()[352:])
forms("forms.nii", 3)
forms("near_forms.nii", 0.5)
save("empty.nii", N, S, lambda x, y, z: 0.0)
behind("hurt_last.nii", "noise.nii", "hurt.nii")
def label(x, y, z, other):
    r = math.sqrt((x / 33) ** 2 + (y / 42) ** 2 + (z / 31) ** 2)
    return 0 if r > 1 else other if z > 20 else 2035 if r > 0.8 else 11 if x < 0 else 12
def one(value):  # whole numbers, of one point a voxel
    return lambda x, y, z: value(*(S * round((c + S * (k - 1) / 2) / S) - S * (k - 1) / 2 for c, k in zip((x, y, z), N)))
save("labels.nii", N, S, one(lambda x, y, z: label(x, y, z, 7)))
save("labels_fixed.nii", N, S, one(lambda x, y, z: label(x + 4, y - 3, z + 2, 8)))
save("labels_half.nii", N, S, one(lambda x, y, z: label(x, y, z, 1.5)))
save("labels_large.nii", N, S, one(lambda x, y, z: label(x, y, z, 2.0**24 + 2)))
save("labels_other.nii", N, S, one(lambda x, y, z: 77.0))
save("labels_far.nii", N, S, lambda x, y, z: 11.0, origin=[900.0, 0.0, 0.0])
END
python3 make.py || note "make.py"

# --- outputs, which are the same for any number of threads ---
OMP_NUM_THREADS=1 expect 0 register moving.nii fixed.nii -o one --warped --jacobian --levels 8,3 --iterations 20,10
OMP_NUM_THREADS=3 expect 0 register moving.nii fixed.nii -o two --warped --jacobian --levels 8,3 --iterations 20,10
for name in affine.txt warp.nii.gz inverse_warp.nii.gz velocity.nii.gz warped.nii.gz jacobian.nii.gz; do same one_$name two_$name; done
contains one.json '"overlap":'
contains one.json '"folded_voxels":	0'
expect 0 cite one.json
says "log-domain"
says "Avants"
expect 0 register moving.nii fixed.nii -o rigid --type rigid --affine-format itk --levels 8,3
contains rigid_affine.txt "Transform: AffineTransform_double_3_3"
[ ! -e rigid_warp.nii.gz ] || note "a field of a rigid registration"
expect 0 register moving.nii fixed.nii -o rigid --type rigid --levels 8,3 --force
python3 - rigid_affine.txt << 'END' || note "a known shift, of which the map is off by more than a tenth of a voxel"
import sys
m = [[float(w) for w in line.split()] for line in open(sys.argv[1]) if not line.startswith("#")]
for p in ((20, 0, 0), (0, 25, 0), (0, 0, 20), (-20, -20, 0)):
    moved = [sum(m[r][c] * p[c] for c in range(3)) + m[r][3] - p[r] for r in range(3)]
    assert all(abs(a - b) < 0.3 for a, b in zip(moved, (4, -3, 2))), moved
END
# the outputs can be read, and the inverse brings points back
expect 0 transform moving.nii -t one_warp.nii.gz -t one_affine.txt --template fixed.nii -o by_hand.nii.gz
same by_hand.nii.gz one_warped.nii.gz
# the grid of a field may be the template
expect 0 transform moving.nii -t one_warp.nii.gz -t one_affine.txt --template one_warp.nii.gz -o by_field.nii.gz
expect 0 transform fixed.nii -t one_affine.txt,inverse -t one_inverse_warp.nii.gz --template moving.nii -o to_moving.nii.gz
expect 0 register moving.nii fixed.nii -o again --type rigid --init rigid_affine.txt --search none --levels 3
expect 0 register moving.nii fixed.nii -o masked --type affine --levels 8,3 --fixed-mask moving.nii --moving-mask moving.nii --lesion-mask empty.nii
expect 0 register moving.nii fixed.nii -o squares --metric ssd --levels 6 --iterations 5 --channel moving.nii,fixed.nii,0.5

# --- a signal in the linear part: none of its levels that was not yet done is finished, and no file is left ---
python3 - << 'END'
import struct
data = bytearray(open("moving.nii", "rb").read(352))
struct.pack_into("<3h", data, 42, 84, 96, 78)
for a, n in enumerate((84, 96, 78)):
    row = [0.0, 0.0, 0.0, -(n - 1) / 2]
    row[a] = 1.0
    struct.pack_into("<4f", data, 280 + 16 * a, *row)
struct.pack_into("<3f", data, 80, 1, 1, 1)
open("fine.nii", "wb").write(data + bytes(4 * 84 * 96 * 78))
open("none.txt", "w").write("1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n")
END
for name in moving fixed; do expect 0 transform $name.nii -t none.txt --template fine.nii -o fine_$name.nii; done
"$tool" register fine_moving.nii fine_fixed.nii -o stopped --type affine --levels 8,1 --device cpu > events 2>&1 &
i=0
while ! grep -q 'rigid, 8 mm: NMI' events && [ $i -lt 300 ]; do
    sleep 0.1
    i=$((i + 1))
done
kill -TERM $!
wait $!
[ $? -eq 143 ] || note "a signal in the linear part: $(cat events)"
grep -q ' 1 mm: NMI' events && note "a level was finished after the signal"
find . -name 'stopped*' | grep . && note "files of a registration that was interrupted"

# --- a prefix that is a folder: names would begin with a dot or an underscore ---
mkdir folder
for prefix in folder/ ./ .; do
    expect 2 register moving.nii fixed.nii -o "$prefix"
    says "need a beginning after the folder"
done

# --- Dice of labels, beside a computation from labels that `transform` moved ---
printf 'index\tname\n11\tThalamus\n2035\tctx "insula"\n' > labels_fixed.tsv
expect 0 register moving.nii fixed.nii -o dice --levels 8,3 --iterations 20,10 --labels labels.nii,labels_fixed.nii --report
expect 0 transform labels.nii -t dice_warp.nii.gz -t dice_affine.txt --template labels_fixed.nii --interpolation label -o moved_all.nii
expect 0 transform labels.nii -t dice_affine.txt --template labels_fixed.nii --interpolation label -o moved_linear.nii
python3 - << 'END' || note "Dice of labels"
import csv, json, struct
def read(name):
    data = open(name, "rb").read()
    code, = struct.unpack_from("<h", data, 70)
    return struct.unpack_from("<%d%s" % (28 * 32 * 26, {8: "i", 16: "f", 512: "H", 4: "h", 2: "B"}[code]), data, 352)
fixed = read("labels_fixed.nii")
moved = [read(name) for name in ("labels.nii", "moved_linear.nii", "moved_all.nii")]
rows = list(csv.DictReader(open("dice_dice.tsv"), delimiter="\t"))
assert [(r["index"], r["name"]) for r in rows] == [("7", "n/a"), ("8", "n/a"), ("11", "Thalamus"), ("12", "n/a"), ("2035", 'ctx "insula"')], rows
means = [0, 0, 0]
for r in rows:
    label = int(r["index"])
    a = [v == label for v in fixed]
    assert int(r["fixed_voxels"]) == sum(a), r
    for k, column in enumerate(("dice_headers", "dice_linear", "dice")):
        b = [v == label for v in moved[k]]
        want = 2 * sum(x and y for x, y in zip(a, b)) / (sum(a) + sum(b))
        assert abs(float(r[column]) - want) < 1e-4, (r, column, want)
        means[k] += want / 3 if label > 8 else 0
    assert int(r["moved_voxels"]) == sum(b), r
found = json.load(open("dice.json"))["labels"]
assert (found["common"], found["of_fixed_alone"], found["of_moving_alone"]) == (3, 1, 1), found
for key, want in zip(("mean_dice_headers", "mean_dice_linear", "mean_dice"), means):
    assert abs(found[key] - want) < 1e-6, (key, found, want)
assert found["mean_dice"] > 0.9 > found["mean_dice_headers"], found
assert found["least_dice"] == min(found["least_dice"], 1) and found["least_dice_label"] in (11, 12, 2035), found
END
# the report, of a field with labels and of a rigid map without
[ "$(grep -o '<img' dice.html | wc -l)" -eq 5 ] || note "other pictures than five of a registration"
contains dice.html 'class="verdict ok">aligned by all measures'
contains dice.html "their mean Dice by the headers"
contains dice.html "error of the inverse"
contains dice.json '"verdict":	"aligned"'
grep -q '"dice.html"' dice.json && note "a sidecar that names a report which is not made yet"
for section in pictures view lengths ends density connectome gradients; do
    grep -q "id=\"$section\"\|\"#$section\"" dice.html && note "a section of streamlines in a report of images: $section"
done
expect 0 report again.json -o again.html
[ "$(grep -o '<img' again.html | wc -l)" -eq 4 ] || note "other pictures than four of a rigid map"
contains again.html "squares of 16 mm"
python3 - << 'END' || note "pictures before and after are the same"
import re
pictures = re.findall('<img[^>]*base64,([^"]*)"', open("dice.html").read())
assert len(set(pictures)) == 5, [len(p) for p in pictures]
END
# a prefix that ends like an inverse
expect 0 register moving.nii fixed.nii -o t1_inverse --levels 8 --iterations 5 --report
[ "$(grep -o '<img' t1_inverse.html | wc -l)" -eq 5 ] || note "other pictures than five of t1_inverse"
cp again.json gone.json
sed -i 's/moving.nii/none.nii/; s/"moving":	"moving.nii"/"moving":	"none.nii"/' gone.json
expect 0 report gone.json -o gone.html
contains gone.html "none.nii is not where it was"
expect 4 register moving.nii fixed.nii -o again --type rigid --report
expect 2 register moving.tck fixed.tck -o x --report
printf '12 Pallidum 0 0 0 0\n' > names.txt
expect 0 register moving.nii fixed.nii -o named --type rigid --levels 8 --labels labels.nii,labels_fixed.nii,names.txt
contains named_dice.tsv "12	Pallidum"
# a table beside the labels is the one that the run writes
cp labels_fixed.nii own_dice.nii
expect 0 register moving.nii fixed.nii -o own --type rigid --levels 8 --labels labels.nii,own_dice.nii
expect 0 register moving.nii fixed.nii -o own --type rigid --levels 8 --labels labels.nii,own_dice.nii --force
# labels that lie elsewhere than their images
expect 0 register moving.nii fixed.nii -o apart --type rigid --levels 8 --labels labels_far.nii,labels_fixed.nii
says "no label of labels_far.nii meets its own of labels_fixed.nii after the registration"
says "labels have to lie in the spaces of MOVING and FIXED"
contains apart.json '"verdict":	"look at: labels, of which none meets its own"'
# labels in the wrong order, which agree less than before
expect 0 register moving.nii fixed.nii -o less --type rigid --levels 8 --labels labels_fixed.nii,labels.nii
says "labels agree less than before the registration"
rm labels_fixed.tsv
echo "no table" > labels.txt
expect 0 register moving.nii fixed.nii -o less --type rigid --levels 8 --labels labels.nii,labels_fixed.nii --force
says "labels have no names: labels.txt"
# labels are compared before the images are, which would fail too
expect 3 register constant.nii fixed.nii -o x --labels labels.nii,labels_other.nii
says "labels.nii and labels_other.nii have no label in common: give labels of one protocol"
expect 3 register constant.nii fixed.nii -o x --labels labels.nii,empty.nii
says "empty.nii: has no label above 0"
expect 3 register moving.nii fixed.nii -o x --labels labels.nii,labels_half.nii
says "labels are whole numbers"
expect 3 register moving.nii fixed.nii -o x --labels labels_large.nii,labels_fixed.nii
says "store such labels as integers"
expect 3 register moving.nii fixed.nii -o x --labels labels.nii,labels_fixed.nii,labels.txt
for text in labels.nii labels.nii, ,labels.nii labels.nii,labels.nii, a,b,c,d; do
    expect 2 register moving.nii fixed.nii -o x --labels $text
    says "needs MOVING,FIXED or MOVING,FIXED,NAMES"
done

# --- input that is not right ---
expect 0 register mirrored.nii fixed.nii -o m --type rigid --levels 8,6 --report
says "mirrored front to back"
contains m.json '"verdict":	"look at: the axes of the moving image"'
contains m.html 'class="verdict warn">look at: the axes of the moving image'
expect 0 register mirrored.nii fixed.nii -o m --type rigid --levels 8,6 --header trust --force
grep -q "mirrored front" stderr && note "--header trust checks the header"
expect 0 register far.nii fixed.nii -o far --type rigid --levels 8,6
says "by their headers they are"
contains far.json '"verdict":	"look at: where the headers place both images'
expect 3 register far.nii fixed.nii -o x --type rigid --init header
says "do not overlap"
expect 3 register constant.nii fixed.nii -o x
says "all voxels have the value 7"
expect 3 register nan.nii fixed.nii -o x
says "are not finite"
expect 0 register some_nan.nii fixed.nii -o some --type rigid --levels 8
says "voxels are not finite and are left out"
expect 3 register series.nii fixed.nii -o x
says "choose one by --volume N"
expect 0 register series.nii fixed.nii -o series --type rigid --levels 8 --volume 1
expect 3 register series.nii fixed.nii -o x --volume 2
expect 2 register fixed.nii fixed.nii -o x --type rigid --volume 0
says "--volume 0: no image has several volumes"
expect 3 register moving.nii fixed.nii -o x --fixed-mask empty.nii
says "empty.nii: the mask is empty"
expect 3 register slab.nii fixed.nii -o x --type rigid --levels 8
says "do not overlap"
says "correct the headers, or crop the fixed image"
says "fixed.nii has x -42 to 42, y -48 to 48, z -39 to 39 mm, slab.nii x -42 to 42"
expect 0 register moving.nii slab.nii -o slab --type rigid --levels 8
says "only 3 voxels along an axis"
contains slab.json "only 3 voxels along an axis"
expect 0 register thick.nii fixed.nii -o thick --type rigid --levels 8
says "of fixed.nii lie in thick.nii: crop the fixed image"
contains thick.json "the fields of view of both images"
expect 0 register coarse.nii fixed.nii -o coarse --type rigid --levels 8
says "coarse.nii: voxels of 5 to 5 mm"
# a lesion, which has no counterpart: volume and place; where it is named, and without one, there is no warning
expect 0 register moving.nii fixed.nii -o healthy --levels 8,4
contains healthy.json '"unmatched_ml":'
grep -q "look unlike" stderr && note "a warning of a lesion that is not there"
expect 0 register hurt.nii fixed.nii -o hurt --levels 8,4
says "ml around"
says "look unlike hurt.nii: if one of them has a lesion there, name it by --lesion-mask"
python3 - << 'END' || note "the place of the lesion"
import json, math
found = json.load(open("hurt.json"))["nonlinear"]
print(found)
assert 3 <= found["unmatched_ml"] < 20 and math.dist(found["unmatched_at_mm"], (11, -7, -4)) < 8, found
END
# the volume that is registered shows the brain alone, the one before it does not
expect 0 register hurt_last.nii fixed.nii -o hurt_last --levels 8,4 --volume 1
says "look unlike hurt_last.nii"
expect 0 register hurt.nii fixed.nii -o hurt_named --levels 8,4 --lesion-mask hurt_mask.nii
grep -q "look unlike" stderr && note "a warning of a lesion that is named"
# images the other way round, which the grids in the sidecar show
expect 0 transform coarse.nii -t coarse_affine.txt --template fixed.nii -o coarse_there.nii
expect 0 transform fixed.nii -t coarse_affine.txt,inverse --template coarse.nii -o coarse_back.nii
expect 3 transform fixed.nii -t coarse_affine.txt --template coarse.nii -o x.nii
says "by coarse.json, --template has the grid"
says "or the transforms of its 'inverse_chain'"
expect 3 transform coarse.nii -t coarse_affine.txt,inverse --template fixed.nii -o x.nii
says "or the transforms of its 'chain'"
expect 0 register forms.nii fixed.nii -o forms --type rigid --levels 8 --report
[ "$(grep -c "sform and qform" stderr)" -eq 1 ] || note "the warning of a header is not said once"
says "forms.nii: sform and qform place its voxels up to 3 mm apart"
says "if the image does not lie where it should"
contains forms.json "The sform is used"
expect 0 register near_forms.nii fixed.nii -o near_forms --type rigid --levels 8
grep -q "correct its header" stderr && note "a warning of forms that agree to half a millimetre"
# a field that fits noise: all that can be wrong with one
expect 0 register noise.nii fixed.nii -o noise --levels 8,3 --iterations 40,10 --init header --search none --step 2 --smooth-update 1 --smooth-total 0
says "the images have little in common"
says "the field folds at"
says "the inverse is off by"
says "the field moves points by up to"
contains noise.json 'whether both images show the same; where the field folds; the inverse of the field; where the field moves points far"'
expect 2 register moving.nii fixed.nii
says "needs --output PREFIX"
expect 2 register moving.nii fixed.nii -o x --device cpu --api gl
says "--api: not with --device cpu"
expect 2 register moving.nii -o x
expect 2 register moving.nii fixed.nii -o x --levels 4,8
expect 2 register moving.nii fixed.nii -o x --iterations 3,2
expect 2 register moving.nii fixed.nii -o x --channel moving.nii
expect 2 register moving.nii fixed.nii -o x --type rigid --radius 3
expect 2 register moving.nii fixed.nii -o x --init one_warp.nii.gz
expect 4 register moving.nii fixed.nii -o one
# --- two tractograms: bundles of a brain, moved by a known map ---
cat > tracks.py << 'END'
import math, random, struct
def save(name, lines):
    head = "mrtrix tracks\ndatatype: Float32LE\ncount: %d\nfile: . 100\nEND\n" % len(lines)
    with open(name, "wb") as f:
        f.write(head.encode().ljust(100))
        for line in lines:
            f.write(b"".join(struct.pack("<3f", *p) for p in line) + struct.pack("<3f", *[math.nan] * 3))
        f.write(struct.pack("<3f", *[math.inf] * 3))
random.seed(1)
lines = []
for k in range(12):
    start, along, bend = [[random.gauss(0, s) for a in range(3)] for s in (25, 1, 20)]
    scale = 80 / math.hypot(*along)
    for _ in range(8):
        off = [random.gauss(0, 2) for a in range(3)]
        lines.append([[start[a] + off[a] + along[a] * scale * t / 24 + bend[a] * math.sin(math.pi * t / 24) for a in range(3)] for t in range(25)])
c, s = math.cos(0.1), math.sin(0.1)
save("static.tck", lines)
save("moving.tck", [[[1.05 * (c * x - s * y) + 6, 1.05 * (s * x + c * y) - 4, 1.05 * z + 3] for x, y, z in line] for line in lines])
save("empty.tck", [])
save("one.tck", lines[:1])
save("dots.tck", [line[:1] for line in lines])
save("nan.tck", [[[math.nan, 0, 0] if i == k == 3 else p for i, p in enumerate(line)] for k, line in enumerate(lines)])
END
python3 tracks.py || note "tracks.py"
OMP_NUM_THREADS=1 expect 0 register moving.tck static.tck -o t1 --type similarity --min-size 4 --moved t1.tck -q
OMP_NUM_THREADS=3 expect 0 register moving.tck static.tck -o t3 --type similarity --min-size 4 --moved t3.tck -q
same t1_affine.txt t3_affine.txt
same t1.tck t3.tck
expect 0 transform moving.tck -t t1_affine.txt -o by_hand.tck -q
same by_hand.tck t1.tck
expect 0 register moving.tck static.tck -o itk --type similarity --min-size 4 --affine-format itk --moved itk.trx --reference fixed.nii -q
expect 0 transform moving.tck -t itk_affine.txt --template fixed.nii -o by_itk.trx -q
for name in itk by_itk; do expect 0 convert $name.trx $name.tck -q; done
same itk.tck by_itk.tck
expect 0 register moving.tck static.tck --moved alone.tck --type similarity --compare streamlines --most 50 -q
expect 0 register moving.tck one.tck -o part --type rigid --compare streamlines --distance asymmetric
contains part.json '"distance_after_mm":'
expect 0 register moving.tck one.tck -o sum --type rigid --compare streamlines --distance sum
python3 - << 'PY' || note "--distance sum"
import json
sum, part = (json.load(open(name + ".json"))["streamlines"] for name in ("sum", "part"))
assert 10 * part["distance_after_mm"] < sum["distance_after_mm"] < sum["distance_before_mm"], (sum, part)
PY
# a matrix of FIXED and MOVING is that of an atlas and a tractogram
expect 0 recognize moving.tck static.tck --atlas-transform t1_affine.txt --no-local --threshold 0.1 --recognized-only -o all.tck -q
contains all.json '"recognized":	96'
expect 0 cite t1.json
says "Robust and efficient linear registration"
says QuickBundlesX
python3 - t1_affine.txt << 'END' || note "tractograms: a known map"
import json, math, sys
m = [[float(w) for w in line.split()] for line in open(sys.argv[1]) if not line.startswith("#")]
c, s = 1.05 * math.cos(0.1), 1.05 * math.sin(0.1)
known = [[c, -s, 0, 6], [s, c, 0, -4], [0, 0, 1.05, 3]]
far = max(abs(a - b) for x, y in zip(m, known) for a, b in zip(x, y))
assert far < 1e-3, (far, m)
for name in ("t1.json", "alone.json"):
    found = json.load(open(name))["streamlines"]
    assert found["distance_before_mm2"] > 40 and found["distance_after_mm2"] < 1e-4, found
END
expect 0 register static.tck static.tck -o self --type rigid --min-size 4
says "0 mm2 from static.tck"
expect 0 register one.tck static.tck -o single --type translation
says "one.tck: only 1 of its clusters"
says "fewer than 10 clusters have 50 streamlines"
for bad in empty dots nan; do
    expect 3 register $bad.tck static.tck -o x
    says "$bad.tck"
    expect 3 register moving.tck $bad.tck -o x --compare streamlines
    says "$bad.tck"
done
expect 3 register missing.tck static.tck -o x
expect 3 register moving.tck static.tck -o x --min-length 200
says "no streamline is long enough"
expect 2 register moving.tck static.tck -o x --min-length 300
expect 2 register moving.tck static.tck -o x --thresholds 10,20
expect 2 register moving.tck static.tck -o x --compare streamlines --min-size 3
expect 2 register moving.tck static.tck -o x --type nonlinear
expect 2 register moving.tck static.tck
for option in --warped --device=cpu --levels=8 --metric=ssd --fixed-mask=fixed.nii --radius=2; do
    expect 2 register moving.tck static.tck -o x $option
    says "${option%%=*}: is for images"
done
for option in --moved=x.tck --compare=streamlines --points=12 --reference=fixed.nii; do
    expect 2 register moving.nii fixed.nii -o x $option
    says "${option%%=*}: is for tractograms"
done
expect 2 register moving.nii fixed.nii -o x --type similarity
expect 2 register moving.nii static.tck -o x
says "moving.nii is an image, but static.tck is none"
expect 4 register moving.tck static.tck --moved moving.tck --force
expect 4 register moving.tck static.tck -o t1
ln -s /dev/full full.tck
expect 4 register moving.tck static.tck -o x --moved full.tck --force
(trap '' XFSZ && ulimit -f 4 && "$tool" register moving.tck static.tck -o x --moved x.tck --min-size 4 -q 2> "$work/stderr")
[ $? -eq 4 ] || note "a disk that is full"
for name in x*; do [ ! -e "$name" ] || note "$name: left of a run that failed"; done
finish "registration"
