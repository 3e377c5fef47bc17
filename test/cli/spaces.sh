#!/bin/sh
# Tests of images of another space, which --transform brings: spaces.sh TOOL WORK_DIR. Results equal those with images that 'glslines transform' has
# brought before, and those with the images in the space of the streamlines. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 0 phantom ph
# writes what the images of a folder are in a space that is turned about two axes and shifted, and a warp with its own values in voxels of the phantom
cat > move.py << 'END'
import gzip, math, os, struct, sys
turn = [[0, -1, 0, 5], [0, 0, 1, -3], [-1, 0, 0, 8]]
def read(name):
    return bytearray(gzip.open(name).read())
def affine(raw):
    v = struct.unpack("<12f", raw[280:328])
    return [list(v[4 * r:4 * r + 4]) for r in range(3)]
os.makedirs("far", exist_ok=True)
for name in sys.argv[1:]:
    raw = read(name)
    old = affine(raw)
    new = [[sum(turn[r][k] * old[k][c] for k in range(3)) + (turn[r][3] if c == 3 else 0) for c in range(4)] for r in range(3)]
    struct.pack_into("<2h", raw, 252, 0, 1)
    struct.pack_into("<12f", raw, 280, *[x for row in new for x in row])
    open("far/" + os.path.basename(name)[:-3], "wb").write(raw)
with open("turn.txt", "w") as f:
    for row in turn:
        print(*row, file=f)
raw = read("ph/mask.nii.gz")
dim, a = struct.unpack("<3h", raw[42:48]), affine(raw)
values = []
for axis in range(3):
    for k in range(dim[2]):
        for j in range(dim[1]):
            for i in range(dim[0]):
                p = [sum(a[r][c] * x for c, x in enumerate((i, j, k))) + a[r][3] for r in range(3)]
                d = (3 * math.sin(p[1] / 20), 4 + 2 * math.cos(p[2] / 15), -2 * math.sin(p[0] / 25))[axis]
                values.append(d * (1 if axis == 2 else -1))
head = raw[:352]
struct.pack_into("<8h", head, 40, 5, *dim, 1, 3, 1, 1)
struct.pack_into("<h", head, 68, 1007)
struct.pack_into("<2h", head, 70, 16, 32)
struct.pack_into("<3f", head, 108, 352, 1, 0)
open("warp.nii", "wb").write(head + struct.pack("<%df" % len(values), *values))
END
python3 move.py ph/mask.nii.gz ph/roi.nii.gz ph/5tt.nii.gz ph/tissue.nii.gz ph/peaks.nii.gz ph/bundles/cingulum_left.nii.gz ph/bundles/cingulum_left_end0.nii.gz || note "move.py"
# labels: ends of bundles, numbered by their voxels
cat > label.py << 'END'
import gzip, struct
raw = bytearray(gzip.open("ph/roi.nii.gz").read())
dim = struct.unpack("<3h", raw[42:48])
kind, at = struct.unpack("<h", raw[70:72])[0], int(struct.unpack("<f", raw[108:112])[0])
size = {2: 1, 4: 2, 8: 4, 16: 4}[kind]
n = dim[0] * dim[1] * dim[2]
struct.pack_into("<2h", raw, 70, 4, 16)
label = [1 + (v % dim[0]) * 4 // dim[0] + 4 * (v // dim[0] % dim[1] * 3 // dim[1]) for v in range(n)]
gzip.open("ph/labels.nii.gz", "wb").write(raw[:at] + struct.pack("<%dh" % n, *label))
END
python3 label.py && python3 move.py ph/labels.nii.gz || note "label.py"

# --- 'glslines transform' brings the images of the other space back: the voxels are the same ---
for image in labels roi 5tt; do
    expect 0 transform far/$image.nii -t turn.txt --template ph/mask.nii.gz -o back_$image.nii
done
# --- track: the same bytes with images of the other space ---
bare="track --device llvmpipe --peaks ph/peaks.nii.gz --dg fact --nseeds 4000 --force"
track="$bare --mask ph/mask.nii.gz --sidecar none"
kept="${bare% --force} --mask ph/mask.nii.gz"
# shellcheck disable=SC2086
{
    here_it_is="--roi ph/roi.nii.gz --act ph/5tt.nii.gz --exclude ph/bundles/cingulum_left_end0.nii.gz --include ph/labels.nii.gz:2-4,6"
    expect 0 $track $here_it_is -o here.trx --connectome ph/labels.nii.gz:here.csv --sample ph/tissue.nii.gz:here.tsv
    far_away="--roi far/roi.nii --act far/5tt.nii --exclude far/cingulum_left_end0.nii --include far/labels.nii:2-4,6"
    expect 0 $track $far_away --transform turn.txt -o far.tck --connectome far/labels.nii:far.csv --sample far/tissue.nii:far.tsv
    says "far/labels.nii:2-4,6: of another space: the transform moves its grid"
    says "far/roi.nii: of another space: the transform brings it to voxels of"
    expect 0 $track $here_it_is -o here.tck
    expect 0 $track ${here_it_is%--include*} --include back_labels.nii:2-4,6 --seed-sphere 0,0,0,30 -o sphere_here.tck
    expect 0 $track ${far_away%--include*} --include far/labels.nii:2-4,6 -t turn.txt --seed-sphere 0,0,0,30 -o sphere_far.tck
    same sphere_here.tck sphere_far.tck
    same here.tck far.tck
    same here.csv far.csv
    same here.tsv far.tsv
    [ "$(grep -c . here.tsv)" -gt 100 ] || note "few streamlines: $(grep -c . here.tsv)"
    expect 0 $track $far_away -o x.tck
    cmp -s x.tck here.tck && note "the images fit without a transform"
    # the brain mask only by its own option
    expect 0 $bare --transform-mask -t turn.txt --mask far/mask.nii --roi far/roi.nii -o masked.tck
    expect 0 $track --roi ph/roi.nii.gz -o unmasked.tck
    same masked.tck unmasked.tck
    expect 0 $track -t turn.txt --seed-rejection far/roi.nii -o weighted.tck
    expect 0 $track --seed-rejection ph/roi.nii.gz -o weighted_here.tck
    same weighted.tck weighted_here.tck

    # --- a warp: the nearest voxel for regions and labels, linear for tissue and values ---
    mkdir warped
    for image in labels roi bundles/cingulum_left_end0; do
        expect 0 transform ph/$image.nii.gz -t warp.nii --interpolation nearest -o warped/${image##*/}.nii
    done
    for image in 5tt tissue; do
        expect 0 transform ph/$image.nii.gz -t warp.nii --interpolation linear --template ph/mask.nii.gz -o warped/$image.nii
    done
    expect 0 $track --roi warped/roi.nii --act warped/5tt.nii --exclude warped/cingulum_left_end0.nii --include warped/labels.nii:2-4,6 -o before.tck \
        --connectome warped/labels.nii:before.csv --sample warped/tissue.nii:before.tsv
    expect 0 $track $here_it_is -t warp.nii -o after.tck --connectome ph/labels.nii.gz:after.csv --sample ph/tissue.nii.gz:after.tsv
    says "ph/5tt.nii.gz: of another space: the transform brings it to voxels of"
    says "by trilinear interpolation"
    for suffix in tck csv tsv; do
        same before.$suffix after.$suffix
    done
    ! cmp -s here.csv after.csv || note "the warp changed nothing"
    # a sidecar, and another transform is another run
    expect 0 $kept --roi far/roi.nii -t turn.txt -o skip.tck --skip-existing
    expect 0 $kept --roi far/roi.nii -t turn.txt -o skip.tck --skip-existing
    printf '0 -1 0 7\n0 0 1 -3\n-1 0 0 8\n' > other.txt
    expect 4 $kept --roi far/roi.nii -t other.txt -o skip.tck --skip-existing
    expect 4 $track --roi far/roi.nii -t turn.txt -o turned.tck --connectome far/labels.nii:turn.txt
    expect 3 $track --roi far/roi.nii -t nothing.txt -o x.tck
}

# --- commands on tractograms and on FODs ---
expect 0 sample here.tck ph/tissue.nii.gz -o sampled_here.tsv
expect 0 sample here.tck far/tissue.nii -t turn.txt -o sampled_far.tsv
same sampled_here.tsv sampled_far.tsv
expect 0 sample here.tck warped/tissue.nii -o sampled_before.tsv
expect 0 sample here.tck ph/tissue.nii.gz -t warp.nii -o sampled_after.tsv
same sampled_before.tsv sampled_after.tsv
expect 0 profile here.tck ph/tissue.nii.gz -o profile_here.csv --nodes 10
expect 0 profile here.tck far/tissue.nii -t turn.txt -o profile_far.csv --nodes 10
same profile_here.csv profile_far.csv
expect 0 density here.tck density_here.nii --template ph/mask.nii.gz --contrast scalar_map --image ph/roi.nii.gz
expect 0 density here.tck density_far.nii --template ph/mask.nii.gz --contrast scalar_map --image far/roi.nii -t turn.txt
same density_here.nii density_far.nii
# edit and segment: regions
tests_here="--include ph/labels.nii.gz:2-4,6 --exclude ph/bundles/cingulum_left_end0.nii.gz --crop ph/roi.nii.gz"
tests_far="--include far/labels.nii:2-4,6 --exclude far/cingulum_left_end0.nii --crop far/roi.nii"
tests_before="--include warped/labels.nii:2-4,6 --exclude warped/cingulum_left_end0.nii --crop warped/roi.nii"
# shellcheck disable=SC2086
{
    expect 0 track --device llvmpipe --peaks ph/peaks.nii.gz --dg fact --nseeds 2000 --mask ph/mask.nii.gz --roi ph/mask.nii.gz -o all.tck --sidecar none
    expect 0 edit all.tck edit_here.tck $tests_here
    expect 0 edit all.tck edit_far.tck $tests_far --space-transform turn.txt
    expect 0 edit all.tck edit_wrong.tck $tests_far
    expect 0 edit all.tck edit_before.tck $tests_before
    expect 0 edit all.tck edit_after.tck $tests_here --space-transform warp.nii
}
contains edit_far.json "points of the fixed image to points of the moving image"
expect 2 edit all.tck none.tck --space-transform turn.txt
says "there is no region to bring"
python3 - edit_here.tck edit_far.tck edit_wrong.tck edit_before.tck edit_after.tck << 'END' || note "edit with regions of another space"
import math, struct, sys
def lines(name):
    raw = open(name, "rb").read()
    at = int(raw.split(b"file: . ")[1].split(b"\n")[0])
    v = struct.unpack("<%df" % ((len(raw) - at) // 4), raw[at:])
    return sum(v[i] != v[i] for i in range(0, len(v), 3)), [x for x in v if math.isfinite(x)]
here, far, wrong, before, after = map(lines, sys.argv[1:])
def apart(a, b):
    return max(abs(x - y) for x, y in zip(a[1], b[1])) if a[0] == b[0] and len(a[1]) == len(b[1]) else math.inf
assert here[0] > 20 and apart(here, far) < 1e-4, (here[0], far[0], apart(here, far))
assert wrong[1] != here[1]
assert after[0] > 20 and apart(before, after) == 0 and after[1] != here[1], (before[0], after[0])
END
for place in ph/labels.nii.gz far/labels.nii warped/labels.nii; do
    printf 'bundle\tinclude\texclude\nA\t%s:2-4,6\t%s:8\nB\t%s:1\t\n' $place $place $place > rules_${place%%/*}.tsv
done
expect 0 segment all.tck rules_ph.tsv --table segment_here.tsv
expect 0 segment all.tck rules_far.tsv --table segment_far.tsv -t turn.txt
same segment_here.tsv segment_far.tsv
expect 0 segment all.tck rules_warped.tsv --table segment_before.tsv
expect 0 segment all.tck rules_ph.tsv --table segment_after.tsv -t warp.nii
same segment_before.tsv segment_after.tsv
cmp -s segment_here.tsv segment_after.tsv && note "segment: the warp changed nothing"
printf 'bundle\tinclude\nA\there.tck\n' > rules_tck.tsv
expect 3 segment all.tck rules_tck.tsv --table none.tsv -t turn.txt --reference ph/mask.nii.gz
says "bring it by 'glslines transform' first"
# shellcheck disable=SC2086
for place in ph far; do
    expect 0 $track --roi $([ $place = ph ] && echo ph/roi.nii.gz || echo far/roi.nii -t turn.txt) -o none --segment rules_$place.tsv:tracked_$place.tsv
done
same tracked_ph.tsv tracked_far.tsv
# response: the tissue
expect 0 phantom two --shape 16 16 16 --directions 30 --bvals 1000 2500
cp two/5tt.nii.gz two/five.nii.gz
python3 move.py two/five.nii.gz || note "move.py"
for tissue in two/five.nii.gz "far/five.nii -t turn.txt"; do
    # shellcheck disable=SC2086
    expect 0 response two/dwi.nii.gz two/dwi.bval two/dwi.bvec two/mask.nii.gz response_${tissue%%/*} --algorithm msmt_5tt --pvf 0.6 --voxels 100 --act $tissue
done
same response_two_wm.txt response_far_wm.txt
contains response_far.json '"turn.txt"'
# FODs: the tissue of --act
expect 0 fit ph/dwi.nii.gz ph/dwi.bval ph/dwi.bvec ph/mask.nii.gz --model csd --sh-order 4 -o fod
for tissue in ph/5tt.nii.gz "far/5tt.nii -t turn.txt"; do
    # shellcheck disable=SC2086
    expect 0 fixels fod_sh.nii.gz fixels_${tissue%%/*} --act $tissue
done
same fixels_ph/fd.nii fixels_far/fd.nii
# pictures and reports: the image behind the streamlines, the outline, colours
look="--tile 160x160 --views superior,left --no-labels --device llvmpipe"
picture() {
    picture_name=$1
    picture_place=$2
    shift 2
    # shellcheck disable=SC2086
    expect 0 render here.tck -o $picture_name.png $look --image $picture_place/tissue.nii* --outline $picture_place/mask.nii* --color map:"$(echo $picture_place/tissue.nii*)" "$@"
}
expect 0 transform ph/mask.nii.gz -t warp.nii --interpolation nearest --template ph/mask.nii.gz -o warped/mask.nii
picture picture_here ph
picture picture_far far -t turn.txt
python3 "$here/picture.py" near picture_here.png picture_far.png || note "a picture with images of another space"
picture picture_before warped
picture picture_after ph -t warp.nii
python3 "$here/picture.py" same picture_before.png picture_after.png || note "a picture with warped images"
picture picture_wrong far
python3 "$here/picture.py" near picture_here.png picture_wrong.png > /dev/null && note "the picture is the same without a transform"
python3 "$here/picture.py" near picture_here.png picture_after.png > /dev/null && note "the warp changed no pixel"
expect 2 render here.tck -o none.png -t turn.txt --outline density --device llvmpipe
says "--transform: there is no image to bring"
cp turn.txt turn.png
# shellcheck disable=SC2086
expect 4 render here.tck -o turn.png $look -t turn.png --image far/tissue.nii --force
expect 0 report here.tck -o report_before.html --image warped/tissue.nii --device llvmpipe --reference ph/mask.nii.gz
expect 0 report here.tck -o report_after.html --image ph/tissue.nii.gz -t warp.nii --device llvmpipe --reference ph/mask.nii.gz
expect 0 report here.tck -o report_bare.html --image ph/tissue.nii.gz --device llvmpipe --reference ph/mask.nii.gz
python3 - << 'END' || note "the report's pictures"
import re
before, after, bare = (re.findall('src="(data:image/png[^"]*)"', open("report_%s.html" % name).read()) for name in ("before", "after", "bare"))
assert len(before) >= 2 and before == after and bare != before, [list(map(len, x)) for x in (before, after, bare)]
END
expect 2 report here.tck -o none.html -t turn.txt --device llvmpipe
says "--transform: needs --image"
expect 3 report here.tck -o none.html -t nothing.txt --image far/tissue.nii --device llvmpipe
# an atlas of bundles
mkdir atlas_here atlas_far
expect 0 edit all.tck atlas_here/left.tck --include ph/labels.nii.gz:1-4 --min-length 20
expect 0 edit all.tck atlas_here/right.tck --include ph/labels.nii.gz:9-12 --min-length 20
for bundle in left right; do
    expect 0 transform atlas_here/$bundle.tck -t warp.nii,inverse -t turn.txt,inverse -o atlas_far/$bundle.tck
    expect 0 transform atlas_far/$bundle.tck -t turn.txt -t warp.nii -o atlas_here/$bundle.tck --force
done
# shellcheck disable=SC2086
{
    expect 0 $track --roi ph/roi.nii.gz -o recognized_here.trx --recognize atlas_here:recognized_here.tsv
    expect 0 $track --roi ph/roi.nii.gz -o recognized_far.trx --recognize atlas_far:recognized_far.tsv --recognize-transform turn.txt --recognize-transform warp.nii
    expect 0 $track --roi ph/roi.nii.gz -o recognized_wrong.trx --recognize atlas_far:recognized_wrong.tsv
    expect 2 $track --roi ph/roi.nii.gz -o none.tck --recognize-transform turn.txt
    says "--recognize-transform: needs --recognize"
    expect 3 $track --roi ph/roi.nii.gz -o none.trx --recognize atlas_far --recognize-transform nothing.txt
    expect 4 $track --roi ph/roi.nii.gz -o turned.trx --recognize atlas_far:turn.txt --recognize-transform turn.txt
}
python3 - << 'END' || note "an atlas of another space while tracking"
import struct, zipfile
here, far, wrong = (zipfile.ZipFile("recognized_%s.trx" % name) for name in ("here", "far", "wrong"))
groups = [n for n in here.namelist() if n.startswith("groups/")]
assert sum(len(here.read(n)) for n in groups if "unrecognized" not in n) > 80
assert all(here.read(n) == far.read(n) for n in groups)
assert any(n not in wrong.namelist() or here.read(n) != wrong.read(n) for n in groups)
END
# a transform that brings nothing is refused
expect 2 density here.tck none.nii --template ph/mask.nii.gz -t turn.txt
says "--transform: needs --image"
expect 2 fixels fod_sh.nii.gz none -t turn.txt
says "--transform: needs --act"
expect 2 weights here.tck fod_sh.nii.gz -o none.txt -t turn.txt
says "--transform: needs --act"
# shellcheck disable=SC2086
expect 2 $track --roi ph/roi.nii.gz --transform-mask -o none.tck
says "--transform-mask: needs --transform"
for nothing in "" "--seed-sphere 0,0,0,9" "--include 0,0,0,9"; do
    # shellcheck disable=SC2086
    expect 2 track --phantom --nseeds 10 $nothing -t turn.txt -o none.tck
    says "--transform: there is no image to bring"
done
finish spaces
