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
save("mirrored.nii", N, S, lambda x, y, z: head(x, -y, z))
save("series.nii", N, S, head, volumes=2)
save("constant.nii", N, S, lambda x, y, z: 7.0)
save("nan.nii", N, S, lambda x, y, z: math.nan if z < 4 else head(x, y, z))
save("some_nan.nii", N, S, lambda x, y, z: math.nan if z < -30 else head(x, y, z))
save("far.nii", N, S, lambda x, y, z: head(x - 441, y - 48, z - 39), origin=[400.0, 0.0, 0.0])
save("slab.nii", (28, 32, 3), S, lambda x, y, z: head(x, y, z - 20))
save("empty.nii", N, S, lambda x, y, z: 0.0)
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

# --- input that is not right ---
expect 0 register mirrored.nii fixed.nii -o m --type rigid --levels 8,6
says "mirrored front to back"
expect 0 register mirrored.nii fixed.nii -o m --type rigid --levels 8,6 --header trust --force
grep -q "mirrored front" stderr && note "--header trust checks the header"
expect 0 register far.nii fixed.nii -o far --type rigid --levels 8,6
says "by their headers they are"
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
expect 3 register slab.nii fixed.nii -o x --type rigid --levels 8
says "do not overlap"
expect 0 register moving.nii slab.nii -o slab --type rigid --levels 8
says "only 3 voxels along an axis"
expect 2 register moving.nii fixed.nii
says "needs --output PREFIX"
expect 2 register moving.nii -o x
expect 2 register moving.nii fixed.nii -o x --levels 4,8
expect 2 register moving.nii fixed.nii -o x --iterations 3,2
expect 2 register moving.nii fixed.nii -o x --channel moving.nii
expect 2 register moving.nii fixed.nii -o x --type rigid --radius 3
expect 2 register moving.nii fixed.nii -o x --init one_warp.nii.gz
expect 4 register moving.nii fixed.nii -o one
finish "registration"
