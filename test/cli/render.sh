#!/bin/sh
# Tests of glslines render: render.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"
look=$here/picture.py

# is EXPECTED CHECK ARGUMENTS...: compares the output of picture.py
is() {
    expected=$1
    shift
    found=$(python3 "$look" "$@")
    [ "$found" = "$expected" ] || note "$*: '$found', not '$expected'"
}

# a streamline of 20 mm on each of the six sides of the body, 40 mm from the centre; a bundle on all sides; images
python3 - << 'END'
import math, struct

def tck(path, lines):
    points = []
    for line in lines:
        points += [*line, (math.nan,) * 3]
    points.append((math.inf,) * 3)
    head = "mrtrix tracks\ndatatype: Float32LE\ncount: %d\nfile: . 128\nEND\n" % len(lines)
    with open(path, "wb") as f:
        f.write(head.encode().ljust(128, b"\0"))
        for p in points:
            f.write(struct.pack("<3f", *p))

def piece(centre, along):
    return [[c + s * a for c, a in zip(centre, along)] for s in (-10, -5, 0, 5, 10)]

sides = {"L": ((-40, 0, 0), (0, 0, 1)), "R": ((40, 0, 0), (0, 0, 1)), "P": ((0, -40, 0), (0, 0, 1)),
         "A": ((0, 40, 0), (0, 0, 1)), "I": ((0, 0, -40), (1, 0, 0)), "S": ((0, 0, 40), (1, 0, 0))}
for name, (centre, along) in sides.items():
    tck(name + ".tck", [piece(centre, along)])
bundle = [[(x + 3 * math.sin(t / 4), -30 + 2 * t, 4 * math.cos(x + t / 9)) for t in range(30)] for x in range(-20, 21, 2)]
tck("bundle.tck", bundle)
tck("empty.tck", [])
broken = [list(line) for line in bundle]
broken[3][4] = (0, math.nan, 1) # one coordinate alone does not make an end of a streamline
tck("broken.tck", broken)

def nifti(path, values, dim, flip=False):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 3, *dim, 1, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, 5, 5, 5, 0, 0, 0, 0)
    struct.pack_into("<f", head, 108, 352)
    struct.pack_into("<2h", head, 252, 0, 1)
    x = -5 if flip else 5
    struct.pack_into("<12f", head, 280, x, 0, 0, -x * 9.5, 0, 5, 0, -47.5, 0, 0, 5, -47.5)
    head[344:348] = b"n+1\0"
    with open(path, "wb") as f:
        f.write(head + struct.pack("<%df" % len(values), *values))

# an image that is bright where the world's x is below 0, on two grids whose x axes run in opposite directions
n = 20
for name, flip in (("left.nii", False), ("flipped.nii", True)):
    nifti(name, [2 if (x < 10) != flip else 1 for z in range(n) for y in range(n) for x in range(n)], (n, n, n), flip)
nifti("zeros.nii", [0] * n**3, (n, n, n))
END
head -c 700 bundle.tck > text.trx
printf 'this is no tractogram\n' > words.trx

# --- sides: where a streamline at a known side of the body appears, in each view ---
set -- --fit 120 --tile 100x100 --color '#ff0000' --radius 1 --no-labels --device llvmpipe --force -q
for row in L:left:right:left:right:middle:middle R:right:left:right:left:middle:middle A:up:up:middle:middle:left:right \
    P:down:down:middle:middle:right:left S:middle:middle:up:up:up:up I:middle:middle:down:down:down:down; do
    side=${row%%:*}
    expect 0 render "$side.tck" -o side.png --crop "-50,50,-50,50,-50,50" --views superior,inferior,posterior,anterior,left,right "$@"
    for column in 0 1 2 3 4 5; do
        is "$(echo "$row" | cut -d: -f$((column + 2)))" where side.png $((column * 100)) 0 100 100
    done
    # slices: neurological as from above and behind, radiological as from below and in front
    expect 0 render "$side.tck" -o side.png --crop "-50,50,-50,50,-50,50" --views axial,coronal,sagittal "$@"
    for column in 0 1 2; do is "$(echo "$row" | cut -d: -f$((2 * column + 2)))" where side.png $((column * 100)) 0 100 100; done
    expect 0 render "$side.tck" -o side.png --crop "-50,50,-50,50,-50,50" --views axial,coronal --convention radiological "$@"
    for column in 0 1; do is "$(echo "$row" | cut -d: -f$((2 * column + 3)))" where side.png $((column * 100)) 0 100 100; done
done
# the image lies where the streamlines lie, whatever the direction of its axes: bright at the left
for image in left flipped; do
    expect 0 render empty.tck -o $image.png --image $image.nii --views superior,anterior "$@"
    bright=$(python3 "$look" pixel $image.png 25 50 | cut -d' ' -f1) dark=$(python3 "$look" pixel $image.png 75 50 | cut -d' ' -f1)
    [ "$bright" -gt $((dark + 50)) ] || note "$image.nii from above: $bright at the left, $dark at the right"
    bright=$(python3 "$look" pixel $image.png 175 50 | cut -d' ' -f1) dark=$(python3 "$look" pixel $image.png 125 50 | cut -d' ' -f1)
    [ "$bright" -gt $((dark + 50)) ] || note "$image.nii from the front: $bright at the right, $dark at the left"
done
is "" same left.png flipped.png

# --- the same pixels ---
set -- --tile 120x100 --device llvmpipe -q
expect 0 convert bundle.tck bundle.trx --reference left.nii -q
expect 0 convert bundle.tck bundle.trk --reference left.nii -q
for format in tck trx trk; do expect 0 render bundle.$format -o $format.png "$@" --no-labels; done
is "" same tck.png trx.png
is "" near tck.png trk.png
for variant in "--opacity 0.3" "--style lines --views slab --slab coronal:3" "--image left.nii --views oblique --color length"; do
    # shellcheck disable=SC2086
    set -- --tile 120x100 --device llvmpipe -q --force $variant
    expect 0 render bundle.tck -o one.png "$@"
    for threads in 0 1 3; do
        LP_NUM_THREADS=$threads OMP_NUM_THREADS=$((threads + 1)) "$tool" render bundle.tck -o other.png "$@" || note "$threads threads"
        cmp one.png other.png || note "$variant: other bytes with $threads threads"
    done
    expect 0 render bundle.tck -o other.png "$@" --api gles
    cmp one.png other.png || note "$variant: other bytes by OpenGL ES"
    # strips of few rows, as on devices with small buffers
    GLSLINES_FORCE_LIMITS=storage_bytes=80000 "$tool" render bundle.tck -o other.png "$@" || note "small buffers"
    cmp one.png other.png || note "$variant: other bytes in strips"
done

# --- contents of pictures ---
set -- --tile 100x100 --device llvmpipe -q --force
expect 0 render bundle.tck -o few.png --max-streamlines 10 "$@"
is 10 text few.png glslines:shown
is 21 text few.png glslines:total
is neurological text few.png glslines:convention
grep -aq pHYs few.png || note "no size in mm"
expect 0 render bundle.tck -o few.png --min-length 1000 "$@"
is 0 text few.png glslines:shown
touch none.png
"$tool" render bundle.tck -o none.png --min-length 1000 --fail-if-empty "$@" 2> stderr
[ $? -eq 6 ] || note "--fail-if-empty"
expect 0 render empty.tck -o empty.png "$@"
is 0 text empty.png glslines:total
expect 0 render L.tck R.tck bundle.tck -o bundles.png --views superior "$@"
printf 'L #ff0000\nR #00ff00\n' > colors.txt
expect 0 render L.tck R.tck -o colors.png --views superior --colors colors.txt --radius 2 --no-labels --occlusion 0 "$@"
expect 0 render bundle.tck -o white.png --background white --views superior --no-labels "$@"
is "255 255 255" pixel white.png 1 1
expect 0 render bundle.tck -o clear.png --background transparent --views superior --no-labels "$@"
is "0 0 0 0" pixel clear.png 1 1
expect 0 render bundle.tck -o turn.png --turn 8 "$@"
is 8 frames turn.png
expect 0 render bundle.tck -o frames --turn 8 --frames "$@"
[ "$(ls frames | tr '\n' ' ')" = "0000.png 0001.png 0002.png 0003.png 0004.png 0005.png 0006.png 0007.png " ] || note "frames: $(ls frames)"
is "" same turn.png frames/0000.png
expect 4 render bundle.tck -o frames --turn 8 --frames --tile 100x100 -q
expect 0 render bundle.tck -o map.png --color map:left.nii "$@"
# numbers of columns, and a group: its members have a colour, the others are grey
python3 -c 'import struct, zipfile
open("weights.txt", "w").write("\n".join(str(i) for i in range(21)))
with zipfile.ZipFile("bundle.trx") as a, zipfile.ZipFile("group.trx", "w") as b:
    for name in a.namelist():
        b.writestr(name, a.read(name))
    b.writestr("groups/some.uint32", struct.pack("<11I", *range(11)))'
expect 0 convert bundle.tck weights.trx --reference left.nii --weights weights.txt -q
expect 0 render weights.trx -o weights.png --color dps:weights --range 0,20 --colormap inferno "$@"
expect 0 render group.trx -o group.png --color group:some --views superior --no-labels --fit 100 --occlusion 0 "$@"
is left where group.png 0 0 100 100
# a colour for each group, by a table or by name; of two groups of a streamline, the first by name; the legend lists all
python3 -c 'import struct, zipfile
with zipfile.ZipFile("group.trx", "a") as b:
    b.writestr("groups/other.uint32", struct.pack("<6I", *range(15, 21)))
    b.writestr("groups/the zone.uint32", struct.pack("<11I", *range(11)))'
printf 'some #ff0000\nother #0000ff\r\n the zone\t#00ff00 \n' > groups.txt
expect 0 render group.trx -o groups.png --color groups --colors groups.txt --views superior --style lines --no-labels --fit 100 --occlusion 0 "$@"
is yes has groups.png 255 0 0
is yes has groups.png 0 0 255
is no has groups.png 0 255 0
expect 0 render group.trx -o legend.png --color groups --colors groups.txt --views superior "$@"
is yes has legend.png 0 255 0
expect 3 render bundle.trx -o none.png --color groups "$@"
says 'has no groups'
expect 0 render bundle.trx -o slab.png --views superior,slab --slab sagittal:2:5 --image left.nii --planes 0,0,0 "$@"
[ "$(python3 "$look" size slab.png | cut -d' ' -f1)" -eq 300 ] || note "slabs in a row"

# --- a crowd: slabs in three axes, with the image of the run or the density behind them ---
python3 - << 'END'
import json, math, struct
lines = [[(-30 + 0.006 * i, y, 0) for y in (-30, 30)] for i in range(10000)] # from x = -30 to 30, back to front
points = [p for line in lines for p in (*line, (math.nan,) * 3)] + [(math.inf,) * 3]
with open("crowd.tck", "wb") as f:
    f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 10000\nfile: . 128\nEND\n".ljust(128, b"\0"))
    f.write(b"".join(struct.pack("<3f", *p) for p in points))
with open("crowd.json", "w") as f:
    json.dump({"software": {"name": "glslines", "version": "0.1.0"}, "outputs": [{"path": "crowd.tck"}],
               "inputs": {"fa": {"path": "/moved/left.nii"}}}, f)
END
expect 0 render crowd.tck -o crowd.png --device llvmpipe -q --no-labels
is "1600 1200" size crowd.png
mv crowd.json moved.json
expect 0 render crowd.tck -o density.png --device llvmpipe -q --no-labels
is "1600 1200" size density.png
mv moved.json crowd.json
expect 0 render crowd.tck -o crowd.png --device llvmpipe -q --no-labels --force
# left.nii, found beside the sidecar, is brighter at the left of the first slice, where there is no streamline
bright=$(python3 "$look" pixel crowd.png 100 200 | cut -d' ' -f1) dark=$(python3 "$look" pixel crowd.png 300 200 | cut -d' ' -f1)
[ "$bright" -gt $((dark + 50)) ] || note "image of the run: $bright at the left, $dark at the right"
# coronal slices through green streamlines; the density ends with them
for picture in crowd density; do
    [ "$(python3 "$look" share $picture.png 400 400 800 400)" != 0.0000 ] || note "$picture: no streamline in coronal slices"
done
# groups that are named keep their colours; views do not depend on how many streamlines are drawn, but on how many there are
expect 0 render crowd.tck -o named.png --views superior --tile 100x100 --device llvmpipe -q --no-labels
is "100 100" size named.png
expect 0 render crowd.tck -o fewer.png --max-streamlines 500 --device llvmpipe -q --no-labels
is "1600 1200" size fewer.png
expect 0 edit crowd.tck less.tck --number 9999 -q
expect 0 render less.tck -o less.png --max-streamlines 500 --device llvmpipe -q --no-labels
is "2400 800" size less.png
expect 0 render crowd.tck -o own.png --slab axial:3 --device llvmpipe -q --no-labels
is "1200 400" size own.png
rm own.png

# --- ODFs as glyphs: the axis of the largest amplitude, in each basis; a streamline in front of them ---
python3 - << 'END'
import struct
def sh(path, values, x=5):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, 1, 1, 1, len(values), 1, 1, 1)
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, 5, 5, 5, 0, 0, 0, 0)
    struct.pack_into("<f", head, 108, 352)
    struct.pack_into("<2h", head, 252, 0, 1)
    struct.pack_into("<12f", head, 280, x, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0)
    head[344:348] = b"n+1\0"
    with open(path, "wb") as f:
        f.write(head + struct.pack("<%df" % len(values), *values))
# l = 0; l = 2, m = -2 .. 2: cos 2 phi is m = 2 of tournier07 and m = -2 of descoteaux07
sh("z.nii", (1, 0, 0, 0.6, 0, 0))
sh("last.nii", (1, 0, 0, -0.3, 0, 0.6))
sh("first.nii", (1, 0.6, 0, -0.3, 0, 0))
sh("seven.nii", (1,) * 7)
END
set -- --tile 100x100 --device llvmpipe -q --no-labels --force
expect 0 render --odf z.nii -o z.png --views coronal "$@"
is "tall blue" shape z.png
expect 0 render --odf last.nii -o last.png "$@"
is "wide red" shape last.png
expect 0 render --odf first.nii -o first.png --sh-basis descoteaux07 "$@"
is "wide red" shape first.png
expect 0 render --odf last.nii -o other.png --sh-basis descoteaux07 "$@"
is "" same other.png other.png
[ "$(python3 "$look" shape other.png)" != "wide red" ] || note "the basis of ODFs has no effect"
LP_NUM_THREADS=1 OMP_NUM_THREADS=1 "$tool" render --odf z.nii -o one.png --views oblique "$@" || note "ODFs by one thread"
LP_NUM_THREADS=2 OMP_NUM_THREADS=4 "$tool" render --odf z.nii -o other.png --views oblique "$@" || note "ODFs by four threads"
cmp one.png other.png || note "ODFs: other bytes with more threads"
# only an image: its slices
expect 0 render --image z.nii --image-range 0,2 -o image.png --views coronal "$@"
is "128 128 128" pixel image.png 50 50
expect 2 render -o x.png
says "one or more tractograms, --odf or --image"
expect 3 render --odf seven.nii -o x.png --tile 100x100 --device llvmpipe -q
says "7 volumes fit no SH order"
expect 4 render --odf z.nii -o z.png --tile 100x100 --device llvmpipe -q

# --- an outline: bright at the rim of a ball of 35 mm, clear in its middle, the streamline seen through it ---
python3 - << 'END'
head = bytearray(open("left.nii", "rb").read(352))
import struct
values = [(x - 9.5) ** 2 + (y - 9.5) ** 2 + (z - 9.5) ** 2 < 49 for z in range(20) for y in range(20) for x in range(20)]
open("ball.nii", "wb").write(head + struct.pack("<8000f", *values))
END
set -- --views superior --tile 200x200 --fit 100 --device llvmpipe -q --no-labels --force
expect 0 render A.tck -o outline.png --outline ball.nii "$@"
brightest=$(for x in 24 25 26 27 28 29 30 31 32 33 34 35 36; do python3 "$look" pixel outline.png $x 100 | cut -d' ' -f1; done | sort -n | tail -n 1)
middle=$(python3 "$look" pixel outline.png 100 100 | cut -d' ' -f1) outside=$(python3 "$look" pixel outline.png 5 100 | cut -d' ' -f1)
[ "$brightest" -gt 90 ] && [ "$middle" -gt 0 ] && [ "$middle" -lt 40 ] && [ "$outside" -eq 0 ] || note "outline: rim $brightest, middle $middle, outside $outside"
expect 0 render bundle.tck -o plain.png "$@"
expect 0 render bundle.tck -o own.png --outline density "$@"
[ -n "$(python3 "$look" same plain.png own.png)" ] || note "the outline of the density is not there"
rm own.png
expect 2 render bundle.tck -o x.png --outline density --views slab
expect 3 render bundle.tck -o x.png --outline missing.nii --device llvmpipe

# --- the legend: both ends of the colours, and a count for each bundle ---
expect 0 render weights.trx -o bar.png --color dps:weights --colormap redblue --range=-1000,1000 --unit mm --tile 400x400 --device llvmpipe -q
is yes has bar.png 5 48 97
is yes has bar.png 103 0 31
set -- --views superior --tile 400x400 --device llvmpipe -q --force --min-length 1000
expect 0 render L.tck R.tck -o two.png "$@"
cp L.tck other_L.tck && mkdir -p same && python3 -c 'import sys
data = open("L.tck", "rb").read()
open("same/L.tck", "wb").write(data[:128] + data[128:-12] * 3 + data[-12:])'
expect 0 render same/L.tck R.tck -o more.png "$@"
[ -n "$(python3 "$look" same two.png more.png)" ] || note "the legend has no counts"

# --- bad input ---
set -- --tile 100x100 --device llvmpipe -q
expect 2 render
expect 2 render bundle.tck
expect 2 render bundle.tck -o x.jpg
expect 3 render missing.tck -o x.png "$@"
expect 3 render words.trx -o x.png "$@"
expect 3 render text.trx -o x.png "$@"
head -c 600 bundle.trx > cut.trx
expect 3 render cut.trx -o x.png "$@"
expect 0 render broken.tck -o broken.png --tile 100x100 --device llvmpipe
says "1 streamlines without points, or with a point that is not finite, are left out"
is 20 text broken.png glslines:shown
expect 3 render bundle.trx -o x.png --color dpv:fa "$@"
says "has no dpv fa; it has: none"
expect 3 render bundle.trx -o x.png --color map:missing.nii "$@"
expect 0 render bundle.tck -o zeros.png --image zeros.nii --tile 100x100 --device llvmpipe
says "all values are the same, so that the image shows nothing: give another --image"
expect 2 render bundle.tck -o x.png --tile 0x0
expect 2 render bundle.tck -o x.png --tile 100
expect 2 render bundle.tck -o x.png --views above
expect 2 render bundle.tck -o x.png --views superior,,left
for views in "" "--views slab" "--views superior"; do
    expect 2 render bundle.tck -o x.png --slab axial:0 $views
    says "--slab: 'axial:0' is not AXIS:N"
    expect 2 render bundle.tck -o x.png --slab axial:64,coronal:64,axial:1 $views
    says "--slab: a picture has at most 128 views"
done
expect 2 render bundle.tck -o x.png --color red
expect 2 render bundle.tck -o x.png --fit image
expect 2 render bundle.tck -o x.png --planes 1,2 --image left.nii
expect 2 render bundle.tck -o x.png --turn 7
expect 2 render bundle.tck -o x.png --turn 8 --views superior,left
expect 2 render bundle.tck -o x.png --frames
expect 2 render bundle.tck -o x.png --background pink
expect 2 render bundle.tck -o x.png --crop 1,0,0,1,0,1
expect 2 render bundle.tck -o x.png --radius 9
for line in 'L red' '#ff0000'; do
    echo "$line" > bad.txt
    expect 3 render bundle.tck -o x.png --colors bad.txt
    says 'bad.txt: line 1 is not NAME COLOUR'
done
expect 4 render bundle.tck -o tck.png
expect 4 render bundle.tck -o missing/x.png
expect 5 render bundle.tck -o x.png --device nothing
# --- the picture must not be an input ---
cp left.nii own.nii
ln own.nii own.png
expect 4 render bundle.tck --reference own.nii -o own.png --force "$@"
printf 'A #ff0000\n' > colours.txt
ln colours.txt colours.png
expect 4 render bundle.tck --colors colours.txt -o colours.png --force "$@"
mkdir turned && ln colours.txt turned/0003.png
expect 4 render bundle.tck --colors colours.txt -o turned --turn 8 --frames --force "$@"
says "is an input"
# a folder that was made for frames is removed with them
expect 4 render bundle.tck -o bundle.tck --turn 8 --frames "$@"
expect 5 render bundle.tck -o gone --turn 8 --frames --device nothing
[ ! -e gone ] || note "a folder without frames"

# --- limits of pictures ---
expect 2 render bundle.tck -o x.png --fit 1e-9
expect 2 render bundle.tck -o x.png --tile 8192x8192 --views superior,left,anterior,posterior,inferior,right,oblique,axial,sagittal --columns 3
says "536870912 pixels"

# --- points that are far away: the visible part of their lines is drawn, in no longer time; the largest floats are refused ---
python3 - << 'END'
import math, struct
for name, far in (("near", 100), ("km", 1e9), ("float", 3e38)):
    lines = [[(-far, 10, 0), (far, 10, 0)], [(10, -far, 0), (10, far, 0)]]
    points = [p for line in lines for p in (*line, (math.nan,) * 3)] + [(math.inf,) * 3]
    with open(name + ".tck", "wb") as f:
        f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 2\nfile: . 128\ntimestamp: 1\nEND\n".ljust(128, b"\0"))
        f.write(b"".join(struct.pack("<3f", *p) for p in points))
END
for name in near km float; do
    expect 0 render $name.tck -o $name.png --fit 100 --views superior --no-labels --occlusion 0 --color '#ffffff' "$@" --force
done
is "$(python3 "$look" same near.png near.png)" same near.png km.png

finish "pictures"
