#!/bin/sh
# Tests of spatial transforms: transform.sh TOOL WORK_DIR. Needs python3.
. "$(dirname "$0")/common.sh"

# writes lines.tck, a field of displacements and the same field as positions
cat > make.py << 'END'
import math, struct
n, step, low = 24, 2.0, -20.0
def save(name, value):
    values = [value(*(low + step * i for i in (x, y, z)))[a] for a in range(3) for z in range(n) for y in range(n) for x in range(n)]
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, n, n, n, 3, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, step, step, step, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for a in range(3):
        row = [0.0, 0.0, 0.0, low]
        row[a] = step
        struct.pack_into("<4f", head, 280 + 16 * a, *row)
    head[344:348] = b"n+1\0"
    with open(name, "wb") as f:
        f.write(head + struct.pack("<%df" % len(values), *values))
def shift(x, y, z):
    return math.sin(y / 6), 2 + math.sin(z / 5), math.cos(x / 7)
save("displacements.nii", shift)
def label(x, y, z):
    return [1 + (x > -1) + 2 * ((y > -7) + (y > 2))] * 3
save("labels.nii", label)
data = bytearray(open("labels.nii", "rb").read())
struct.pack_into("<2h", data, 40, 3, n)
struct.pack_into("<h", data, 48, 1)
open("labels.nii", "wb").write(data[:352 + 4 * n ** 3])
save("positions.nii", lambda x, y, z: [p + d for p, d in zip((x, y, z), shift(x, y, z))])
# positions in FSL's coordinates, which do not say so, and what FNIRT writes without --fout
save("fsl.nii", lambda x, y, z: [(n - 1) * step + low - x, y - low, z - low])
data = bytearray(open("displacements.nii", "rb").read())
struct.pack_into("<h", data, 68, 2008)
open("coefficients.nii", "wb").write(data)
with open("lines.tck", "wb") as f:
    f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 5\nfile: . 68\nEND\n".ljust(68, b"\0"))
    for y in range(-10, 11, 5):
        for i in range(20):
            f.write(struct.pack("<3f", -10 + i, y, 0.1 * i))
        f.write(struct.pack("<3f", *[math.nan] * 3))
    f.write(struct.pack("<3f", *[math.inf] * 3))
END
python3 make.py || note "make.py"

# --- fields of displacements are not taken for positions ---
expect 0 edit lines.tck moved.tck --warp positions.nii
expect 3 edit lines.tck x.tck --warp displacements.nii
says "displacements.nii: its values do not grow with the position"

# --- glslines transform: images by a transform, points by its inverse ---
printf '0 -1 0 5\n1 0 0 -3\n0 0 1 2\n' > turn.txt
printf '0 1 0 3\n-1 0 0 5\n0 0 1 -2\n' > back.txt
expect 0 transform lines.tck -t turn.txt -o turned.tck
expect 0 edit lines.tck back.tck --transform back.txt
python3 - turned.tck back.tck << 'END' || note "the inverse of a matrix, against edit --transform"
import struct, sys
a, b = (struct.unpack("<%df" % ((len(raw) - raw.index(b"END")) // 4 - 4), raw[-4 * ((len(raw) - raw.index(b"END")) // 4 - 4):]) for raw in (open(n, "rb").read() for n in sys.argv[1:]))
n = min(len(a), len(b))
assert n > 300 and all(abs(x - y) < 1e-4 or (x != x and y != y) or x == y for x, y in zip(a[-n:], b[-n:]))
END
expect 0 transform lines.tck -t turn.txt,inverse -t turn.txt -o same.tck
# to the other space by the field of positions, and back by its inverse
expect 0 transform lines.tck -t positions.nii -o forth.tck
expect 0 edit forth.tck again.tck --warp positions.nii
# references of another space come to that of the streamlines
expect 0 search lines.tck lines.tck near.csv --radius 6
expect 0 search lines.tck turned.tck turned_near.csv --radius 6 -t turn.txt,inverse
expect 0 search lines.tck turned.tck without_near.csv --radius 6
contains turned_near.json "points of the fixed image to points of the moving image"
python3 - << 'END' || note "references of another space"
read = lambda name: [[float(v) for v in line.split(",")] for line in open(name).read().split("\n")[1:] if line]
here, there, without = map(read, ("near.csv", "turned_near.csv", "without_near.csv"))
assert len(here) == len(there) == 13 and all(abs(x - y) < 1e-4 for p, q in zip(here, there) for x, y in zip(p, q)), (here, there)
assert without != there
END
printf '1 0 0 60\n0 1 0 0\n0 0 1 0\n' > beyond.txt
expect 3 search lines.tck turned.tck x.csv -t positions.nii,inverse -t beyond.txt
says "turned.tck: has streamlines outside of the transform (5): bring it"
# labels of the other space go where the streamlines went: the grid moves by a matrix, voxels are looked up by a field
expect 0 connectome lines.tck labels.nii here.csv --assign end
expect 0 connectome turned.tck labels.nii turned.csv --assign end --transform turn.txt
same turned.csv here.csv
expect 0 connectome turned.tck labels.nii without.csv --assign end
cmp -s without.csv here.csv && note "labels of another space fit without a transform"
expect 0 connectome forth.tck labels.nii forth.csv --assign end -t positions.nii
same forth.csv here.csv
contains forth.json "points of the fixed image to points of the moving image"
expect 3 connectome forth.tck labels.nii x.csv -t turn.txt -t positions.nii
says "does not begin with one as it is"
expect 3 connectome forth.tck labels.nii x.csv -t positions.nii,inverse
says "transform compose"
printf '1 0 0 500\n0 1 0 0\n0 0 1 0\n' > away.txt
expect 3 connectome forth.tck labels.nii x.csv -t positions.nii -t away.txt
says "takes no voxel to a value"
python3 - lines.tck same.tck again.tck << 'END' || note "there and back"
import math, struct, sys
def points(name):
    raw = open(name, "rb").read()
    at = int(raw.split(b"file: . ")[1].split(b"\n")[0])
    values = struct.unpack("<%df" % ((len(raw) - at) // 4), raw[at:])
    return [v for v in values if math.isfinite(v)]
first, *others = map(points, sys.argv[1:])
for other in others:
    assert len(first) == len(other) == 300 and max(abs(x - y) for x, y in zip(first, other)) < 1e-4, other
END
printf '1 0 0 60\n0 1 0 0\n0 0 1 0\n' > away.txt
expect 3 transform lines.tck -t positions.nii -t away.txt -o x.tck
says "no point has a place"
expect 2 transform lines.tck -t turn.txt -o x.trx
says "give --template IMAGE"
expect 0 transform lines.tck -t turn.txt -o with.trx --template positions.nii
expect 2 transform lines.tck -o x.tck
expect 2 transform lines.tck -t turn.txt
expect 3 transform lines.tck -t displacements.nii -o x.tck
says "does not say what its values mean"
expect 4 transform lines.tck -t turn.txt -o turn.txt --force
# an image: by the displacements, by a shift of one voxel; the field as an image of three volumes
printf '1 0 0 2\n0 1 0 0\n0 0 1 0\n' > shift.txt
expect 0 transform positions.nii -t shift.txt -o shifted.nii
expect 0 transform positions.nii -t shift.txt -t shift.txt,inverse -o unchanged.nii
python3 - << 'END' || note "an image shifted by a voxel"
import struct
def values(name):
    raw = open(name, "rb").read()
    return struct.unpack("<%df" % ((len(raw) - 352) // 4), raw[352:])
a, b, c = values("positions.nii"), values("shifted.nii"), values("unchanged.nii")
n = 24
for i in range(len(a)):
    assert abs(b[i] - (a[i + 1] if i % n < n - 1 else 0)) < 1e-5 and abs(c[i] - a[i]) < 1e-5
END
expect 3 transform positions.nii -t away.txt -o x.nii
says "maps no voxel"
expect 2 transform positions.nii -t shift.txt -o x.tck

# --- several transforms in one file, in the formats of other programs ---
expect 0 transform lines.tck -t turn.txt -o by_mrtrix.tck --force
python3 "$here/round_trips.py" "$tool" || note "round trips of formats"
expect 2 transform compose -t turn.txt --to itk -o x.mat
says "give .txt or .tfm"
# a field and a matrix as one field, of displacements and of positions
printf '1 0 0 1\n0 1 0 -0.5\n0 0 1 0.25\n' > little.txt
expect 0 transform lines.tck -t positions.nii -t little.txt -o both.tck
expect 0 transform compose -t positions.nii -t little.txt -o both.nii.gz
expect 0 transform compose -t positions.nii -t little.txt -o both.mif
for t in both.nii.gz both.mif; do
    expect 0 transform lines.tck -t $t -o by.tck --force
    python3 - both.tck by.tck << 'END' || note "a chain as $t"
import math, struct, sys
def points(name):
    raw = open(name, "rb").read()
    at = int(raw.split(b"file: . ")[1].split(b"\n")[0])
    return [v for v in struct.unpack("<%df" % ((len(raw) - at) // 4), raw[at:]) if math.isfinite(v)]
a, b = map(points, sys.argv[1:])
assert len(a) == len(b) > 200 and max(abs(x - y) for x, y in zip(a, b)) < 1e-3
END
done
expect 0 transform compose -t little.txt --template positions.nii -o as_field.nii.gz
expect 0 transform lines.tck -t little.txt -o little.tck
expect 0 transform lines.tck -t as_field.nii.gz -o by.tck --force --outside identity
python3 - little.tck by.tck << 'END' || note "a matrix as a field"
import math, struct, sys
def points(name):
    raw = open(name, "rb").read()
    at = int(raw.split(b"file: . ")[1].split(b"\n")[0])
    return [v for v in struct.unpack("<%df" % ((len(raw) - at) // 4), raw[at:]) if math.isfinite(v)]
a, b = map(points, sys.argv[1:])
assert len(a) == len(b) == 300 and max(abs(x - y) for x, y in zip(a, b)) < 1e-4
END
expect 2 transform compose -t turn.txt --to fsl -o x.mat
says "needs --moving IMAGE and --template IMAGE"
for words in "--moving labels.nii -o x.txt" "--moving labels.nii -t positions.nii -o x.nii.gz" "--template labels.nii --to itk -o x.txt"; do
    # shellcheck disable=SC2086
    expect 2 transform compose -t turn.txt $words
    says "${words%% *}: has no effect on x."
done
expect 2 transform compose -t positions.nii --to afni -o x.nii
expect 2 transform compose -t positions.nii -o x.txt
expect 2 transform compose -t little.txt -t positions.nii -o x.nii
expect 3 transform compose -t positions.nii -t away.txt,inverse -t positions.nii -o x.nii
expect 2 transform lines.tck -t turn.txt --to itk -o x.tck

# --- gradient tables: a quarter turn about z takes x of the moving space to y of the fixed space and back ---
printf '1 0 0 1000\n0 1 0 1000\n0 0 1 2000\n0 0 0 0\n0.6 0 0.8 1000\n' > grad.b
expect 0 transform grad.b -t back.txt -o turned.b
printf '0 1 0 1000\n-1 0 0 1000\n0 0 1 2000\n0 0 0 0\n0 0.6 0.8 1000\n' > want.b
python3 - << 'END' || note "a gradient table that is turned"
a, b = ([[float(v) for v in line.split()] for line in open(name)] for name in ("turned.b", "want.b"))
assert len(a) == 5 and all(abs(x - y) < 1e-9 for p, q in zip(a, b) for x, y in zip(p, q)), a
END
# stretching does not turn, and FSL's axes are those of voxels, x mirrored, which stay the same on one grid
printf '0 1.3 0 3\n-0.7 0 0 5\n0 0 1.1 -2\n' > stretched.txt
expect 0 transform grad.b -t stretched.txt -o stretched.b
same stretched.b turned.b
printf '1 0 0 0 0.6\n0 1 0 0 0\n0 0 1 0 0.8\n' > grad.bvec
expect 0 transform grad.bvec -t back.txt --moving positions.nii --template positions.nii -o turned.bvec
python3 - << 'END' || note "FSL's table that is turned"
a = [[float(v) for v in line.split()] for line in open("turned.bvec")]
want = [[0, 1, 0, 0, 0], [-1, 0, 0, 0, -0.6], [0, 0, 1, 0, 0.8]]
assert all(abs(x - y) < 1e-9 for p, q in zip(a, want) for x, y in zip(p, q)), a
END
expect 2 transform grad.bvec -t back.txt -o x.bvec
says "needs --moving IMAGE, its series, and --template IMAGE"
expect 2 transform grad.b -t back.txt -o x.bvec
says "a table like grad.b ends in .b"
expect 3 transform grad.b -t positions.nii -o x.b
says "one set of directions"
expect 2 transform turn.txt -t back.txt -o x.b

# --- what a file needs beside itself, and maps that cannot be meant ---
cp turn.txt flirt.mat
expect 3 transform lines.tck -t flirt.mat -o x.tck
says "a FLIRT matrix needs both images: give 'flirt.mat,moving=IMAGE,fixed=IMAGE'"
expect 7 transform lines.tck -t coefficients.nii -o x.tck
says "holds coefficients of FNIRT, no field"
expect 3 transform lines.tck -t fsl.nii -o x.tck
says "its positions look like FSL's coordinates"
printf -- '-1 0 0 0\n0 1 0 0\n0 0 1 0\n' > mirror.txt
expect 0 transform lines.tck -t mirror.txt -o mirrored.tck
says "mirror.txt: its matrix mirrors"
printf '1 0 0 900\n0 1 0 0\n0 0 1 0\n' > away.txt
expect 3 transform labels.nii -t away.txt -o x.nii
says "the transform maps no voxel of the fixed grid into this image"

# --- splines and velocities of NiftyReg ---
python3 "$here/niftyreg.py" "$tool" > niftyreg.log 2>&1 || note "transforms of NiftyReg: $(tail -n 1 niftyreg.log)"
expect 3 transform lines.tck -t points.nii -o x.tck
says "need the reference image: give 'points.nii,fixed=IMAGE'"
expect 2 transform lines.tck -t def.nii,fixed=ref.nii -o x.tck
says "does not belong to a field that is read as niftyreg"
for name in shifts linear; do
    expect 7 transform lines.tck -t $name.nii -o x.tck
    says "of a kind ("
done
expect 3 transform lines.tck -t often.nii -o x.tck
says "composed 1e+09 times"
expect 3 transform lines.tck -t flat.nii,fixed=ref.nii -o x.tck
says "an affine map behind its header has no inverse"
expect 0 transform lines.tck -t one_map.nii,fixed=ref.nii -o one_map.tck
expect 3 transform lines.tck -t comment.nii,fixed=ref.nii -o x.tck
says "comment.nii: has an extension of 32 bytes behind its header, where NiftyReg has affine maps of 80"
expect 3 transform lines.tck -t gap.nii,fixed=ref.nii -o x.tck
says "gap.nii: has a number that is not finite at voxel 4,5,5: it is damaged"
expect 3 transform lines.tck -t gap_flow.nii -o x.tck
says "gap_flow.nii: has a number that is not finite at voxel 10,10,9: it is damaged"

# --- matrices of AFNI, which leave out that an image is oblique: its images, where they are given, and those at hand ---
echo "1 0 0 2 0 1 0 0 0 0 1 0" > afni.aff12.1D
expect 0 transform labels.nii -t afni.aff12.1D -o by_afni.nii
expect 0 transform lines.tck -t afni.aff12.1D,moving=labels.nii,fixed=labels.nii -o by_afni.tck
for try in "lines.tck -t afni.aff12.1D,moving=ref.nii -o x.tck" "ref.nii -t afni.aff12.1D --template labels.nii -o x.nii" "labels.nii -t afni.aff12.1D --template ref.nii -o x.nii" \
    "lines.tck -t afni.aff12.1D --template ref.nii -o x.trk"; do
    # shellcheck disable=SC2086
    expect 7 transform $try
    says "ref.nii: is oblique, but "
done
expect 7 density lines.tck x.nii --template labels.nii --contrast scalar_map --image ref.nii -t afni.aff12.1D
says "ref.nii: is oblique, but the transform is of AFNI"

# --- what an image of several fields is follows from its fifth axis, and its values are judged as those of one field ---
python3 - << 'END'
import math, struct
n, step, low = 8, 5.0, -17.5
def nifti(name, dims, values):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, len(dims), *dims, *[1] * (7 - len(dims)))
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, step, step, step, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for a in range(3):
        row = [0.0, 0.0, 0.0, -low / step if len(dims) == 5 else low]  # DIPY writes the inverse
        row[a] = 1 / step if len(dims) == 5 else step
        struct.pack_into("<4f", head, 280 + 16 * a, *row)
    head[344:348] = b"n+1\0"
    open(name, "wb").write(bytes(head) + struct.pack("<%df" % len(values), *values))
def mif(name, layout, values):
    text = "mrtrix image\ndim: 8,8,8,3,4\nvox: 5,5,5,nan,nan\nlayout: %s\ndatatype: Float32LE\n" % layout
    for a in range(3):
        text += "transform: %d,%d,%d,-17.5\n" % tuple(a == c for c in range(3))
    for image in (1, 2):
        for a in range(3):
            text += "linear%d: %d %d %d 0\n" % (image, *(a == c for c in range(3)))
    text += "file: . 1024\nEND\n"
    open(name, "wb").write(text.encode().ljust(1024, b"\0") + struct.pack("<%df" % len(values), *values))
def volumes(value):
    return [value(*(low + step * i for i in (x, y, z)))[a] for a in range(3) for z in range(n) for y in range(n) for x in range(n)]
shift = volumes(lambda x, y, z: (math.sin(y / 9), 1.0, math.cos(x / 9)))
place = volumes(lambda x, y, z: (x + math.sin(y / 9), y + 1, z + math.cos(x / 9)))
nifti("six.nii", (n, n, n, 6), shift + shift)
nifti("twelve.nii", (n, n, n, 12), place * 4)
nifti("both.nii", (n, n, n, 3, 2), shift + shift)
nifti("places.nii", (n, n, n, 3, 2), place + place)
far = list(shift)
far[100] = 1e30
nifti("far.nii", (n, n, n, 3, 2), shift + far)
nifti("none.nii", (n, n, n, 3, 2), shift + [math.nan] * len(shift))
for name, third in (("full", place), ("shifts", shift), ("full_none", [math.nan] * len(place)), ("full_far", [1e20 if i == 7 else v for i, v in enumerate(place)])):
    mif(name + ".mif", "+0,+1,+2,+3,+4", place * 3 + third)
mif("first.mif", "+1,+2,+3,+0,+4", place * 4)
# a voxel that is not finite has no place in a field of MRtrix3; in others it is damage
nifti("gap_place.nii", (n, n, n, 3), [math.nan if i == 7 else v for i, v in enumerate(place)])
nifti("gap_shift.nii", (n, n, n, 3), [math.nan if i == 7 else v for i, v in enumerate(shift)])
# positions far from the origin of the world, as on a grid in micrometres; a voxel without a position; and with marks
low, step = 20000.0, 25.0
atlas = volumes(lambda x, y, z: (x + 8, y, z - 5))
for a in range(3): atlas[a * n ** 3 + 511] = 0.0
nifti("atlas.nii", (n, n, n, 3), atlas)
for a in range(3): atlas[a * n ** 3 + 9] = 2147483647.0
nifti("marks.nii", (n, n, n, 3), atlas)
open("inside.txt", "w").write("1 0 0 20080\n0 1 0 20080\n0 0 1 20080\n0 0 0 0.9999999403953552\n")
END
expect 0 transform lines.tck -t atlas.nii,inverse -t inside.txt,inverse -o by_atlas.tck
says "by_atlas.tck: 5 streamlines of 5"
expect 3 transform lines.tck -t marks.nii,from=mrtrix -o x.tck
says "marks voxels that have no value by 2147483647, as voxel 1,1,0"
says "'warpcorrect FILE OUT -marker 2147483647'"
expect 0 transform lines.tck -t both.nii -o by_both.tck
expect 0 transform lines.tck -t full.mif -o by_full.tck
for name in six:"has 6 volumes, but a field has three" twelve:"has 12 volumes" places:"write_mapping() writes fields of displacements, but its values look like positions" \
    far:"a vector of 1e+30 mm at voxel 4,4,1" none:"not finite at voxel 0,0,0"; do
    expect 3 transform lines.tck -t "${name%%:*}.nii" -o x.tck
    says "${name#*:}"
done
expect 0 transform lines.tck -t gap_place.nii,from=mrtrix -o gap.tck
for name in gap_shift.nii,from=itk gap_shift.nii,from=fnirt,moving=ref.nii gap_place.nii,from=niftyreg; do
    expect 3 transform lines.tck -t $name -o x.tck
    says "has a number that is not finite at voxel 7,0,0: it is damaged"
    # its format was given: no other one is advised
    ! grep -q "from=" stderr || note "$name: $(cat stderr)"
done
for name in shifts:"mrregister -nl_warp_full writes fields of positions, but its values look like displacements" full_none:"is empty" full_far:"a vector of 1e+20 mm at voxel 7,0,0"; do
    expect 3 transform lines.tck -t "${name%%:*}.mif" -o x.tck
    says "${name#*:}"
done
expect 7 transform lines.tck -t first.mif -o x.tck
says "mrconvert IN -strides 1,2,3,4,5 OUT"

# --- options that an input does not have are refused by name ---
printf '1 0 0 1000\n' > one.b
printf '1\n0\n0\n' > one.bvec
for words in "one.b --moving" "one.b --template" "one.bvec --fill" "one.b --interpolation" "lines.tck --interpolation" "lines.tck --fill" "lines.tck --fod" "lines.tck --moving" \
    "positions.nii --outside" "positions.nii --to" "one.bvec --outside" "compose --peaks" "compose --outside"; do
    option=${words#* --}
    case $option in
    moving | template) value=labels.nii ;; fill) value=2 ;; interpolation) value=nearest ;; outside) value=drop ;; to) value=itk ;; *) value= ;;
    esac
    # shellcheck disable=SC2086
    expect 2 transform ${words%% *} -t turn.txt --$option $value -o x.b
    says "--$option"
    says "has no effect on ${words%% *}"
done
# a chain without a field becomes one where OUT is an image
expect 2 transform compose -t turn.txt --to afni --template labels.nii -o x.nii
says "--to: x.nii is an image"

# labels beyond 2^24, which float cannot hold, stay exact, and so does the fill value
python3 - << 'END'
import struct
raw = bytearray(open("positions.nii", "rb").read()[:352])
dim = list(struct.unpack("<8h", raw[40:56]))
raw[40:56] = struct.pack("<8h", 3, *dim[1:4], 1, 1, 1, 1)
raw[70:74] = struct.pack("<2h", 8, 32)
n = dim[1] * dim[2] * dim[3]
open("large.nii", "wb").write(raw + struct.pack(f"<{n}i", *[(16777217, 2147483647)[i % dim[1] // 4 % 2] for i in range(n)]))
END
for how in auto nearest label; do
    expect 0 transform large.nii -t shift.txt -o large_$how.nii --interpolation $how --fill 33554433
    grep -q "whole numbers above" stderr && note "a warning where labels are exact"
    python3 - large_$how.nii << 'END' || note "labels beyond 2^24, $how"
import struct, sys
a, b = (struct.unpack("<%di" % ((len(raw) - 352) // 4), raw[352:]) for raw in (open(name, "rb").read() for name in ("large.nii", sys.argv[1])))
n = 24
assert b == tuple(a[i + 1] if i % n < n - 1 else 33554433 for i in range(len(a)))
END
done
expect 0 transform large.nii -t shift.txt -o large_linear.nii --interpolation linear
says "large.nii: has whole numbers above 16777216, which are rounded here"
python3 - << 'END'
import struct
raw = bytearray(open("large.nii", "rb").read()[:352])
raw[70:74] = struct.pack("<2h", 1024, 64)
dim = struct.unpack("<8h", raw[40:56])
n = dim[1] * dim[2] * dim[3]
open("huge.nii", "wb").write(raw + struct.pack(f"<{n}q", *[2**53 + 2**25 + 2 * (i % 7) for i in range(n)]))
END
expect 3 transform huge.nii -t shift.txt -o huge_nearest.nii --interpolation nearest
says "huge.nii: has the value"
expect 0 transform huge.nii -t shift.txt -o huge_linear.nii --interpolation linear
says "huge.nii: has whole numbers above 16777216, which are rounded here"
expect 0 sample lines.tck large.nii -o x.txt
says "large.nii: has whole numbers above 16777216, which are rounded here"

# what a transform or an image does not need is refused, and so is what an image of labels cannot hold
expect 2 transform large.nii -t shift.txt,moving=large.nii -o x.nii
says "shift.txt: moving=IMAGE and fixed=IMAGE belong to matrices of FLIRT and AFNI"
expect 2 transform large.nii -t positions.nii,fixed=large.nii -o x.nii
says "positions.nii: fixed=IMAGE does not belong to a field"
expect 2 transform large.nii -t ,inverse -o x.nii
says "names no file"
expect 2 transform compose -t shift.txt -o x.nii
says "compose: needs --template IMAGE"
expect 0 transform compose -t shift.txt --template large.nii -o grid.nii
expect 2 transform large.nii -t shift.txt -o x.nii --fill 0.5
says "--fill 0.5: an image of labels has whole numbers"
expect 2 transform large.nii -t shift.txt -o x.nii --fill 3e9
expect 0 transform positions.nii -t shift.txt -o cubic.nii --interpolation cubic
python3 - << 'END' || note "an image with a value that is not finite"
data = bytearray(open("labels.nii", "rb").read())
data[352:356] = b"\0\0\xc0\x7f"
open("hole.nii", "wb").write(data)
END
expect 3 transform hole.nii -t shift.txt -o x.nii --interpolation cubic
says "hole.nii: has values that are not finite (1), and --interpolation cubic needs all of them: take linear"
expect 3 transform positions.nii -t shift.txt -o x.nii --interpolation label
says "positions.nii: has values that are no whole numbers"
expect 2 transform positions.nii -t shift.txt -o x.nii --peaks --interpolation linear
says "--peaks: takes the vectors of the nearest voxel"

finish "spatial transforms"
