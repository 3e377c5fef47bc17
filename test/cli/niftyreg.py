"""Transforms of NiftyReg, made by formulas, against where reg_transform of NiftyReg 1.5.70 takes the same points: niftyreg.py TOOL.
test/peer/transform_niftyreg.py has more of them, made by NiftyReg itself; KEPT is what `reg_transform -ref ref.nii -def FILE` says of these,
for velocities in double precision: in single precision it is wrong by up to 0.0006 mm, because rounding doubles with each squaring."""

import math
import struct
import subprocess
import sys

tool = sys.argv[1]
SHAPE = (12, 11, 10)
AFFINE = [[-3.0, 0.3, 0.2, 17], [0.4, 3.1, -0.5, -15], [0.2, 0.45, 3.4, -17]]
HALF = [[1.02, -0.03, 0.02, 1.5], [0.04, 0.98, 0.01, -0.75], [-0.02, 0.03, 1.01, 0.5]]
VOXELS = ((1, 2, 3), (5, 5, 5), (6, 4, 3), (10, 9, 8))
KEPT = {
    "def.nii": ((11.24889, -8.573268, -4.743003), (4.5, 2.427402, 7.249862), (-0.1619076, 0.5242369, -0.2351706), (-4.847123, 8.269591, 15.90045)),
    "disp.nii": ((11.24889, -8.573267, -4.743001), (4.5, 2.427402, 7.249863), (-0.1619065, 0.524236, -0.2351699), (-4.847122, 8.26959, 15.90045)),
    "points.nii": ((12.99952, -9.844426, -5.072651), (4.451169, 0.4495539, 5.96332), (0.2353738, -1.319864, -1.40664), (-6.487461, 10.28479, 16.01532)),
    "both.nii": ((16.96535, -9.892419, -6.043814), (7.682271, -0.6286306, 6.812453), (3.078619, -2.614794, -0.4125005), (-3.655875, 8.076206, 18.72687)),
    "flow.nii": ((11.40199, -8.281406, -3.939035), (4.973953, 1.445667, 7.229239), (0.4998197, 0.8171207, -0.334402), (-4.905181, 8.320089, 16.80065)),
    "velocity.nii": ((13.00705, -9.774069, -4.747962), (4.489736, 0.1301942, 5.953269), (0.3050538, -1.21052, -1.464101), (-6.471169, 10.31473, 16.38489)),
    "backward.nii": ((21.45177, -9.769583, -5.748499), (8.123136, -1.48216, 1.38529), (4.618663, -3.206571, -5.702323), (-8.378117, 13.11961, 18.91723)),
    "auto.nii": ((5.033927, -2.751472, 6.85655), (4.515388, -3.326018, 19.87253), (4.412958, 3.675992, 11.28107), (2.923428, 2.098422, 25.84316)),
}


def apply(map, p):
    return [sum(m * c for m, c in zip(row, p)) + row[3] for row in map]


def save(name, dim, affine, volumes=1, value=None, kind=None, squarings=0, maps=()):
    """value: three numbers at a place; kind: what a file of NiftyReg holds; maps: affine maps behind the header."""
    head = bytearray(348) + bytes([bool(maps), 0, 0, 0])
    for map in maps:
        head += struct.pack("<2i16f8x", 80, 0, *[v for row in map for v in row], 0, 0, 0, 1)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, *((5, *dim, 1, 3, 1, 1) if value else (3, *dim, 1, 1, 1, 1)))
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, *[math.sqrt(sum(row[a] ** 2 for row in affine)) for a in range(3)], 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, len(head), 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for r in range(3):
        struct.pack_into("<4f", head, 280 + 16 * r, *affine[r])
    if kind is not None:
        struct.pack_into("<2fxxxxh", head, 56, kind, squarings, 1007)
        head[328:338] = b"NREG_TRANS"
    head[344:348] = b"n+1\0"
    places = [apply(affine, (x, y, z)) for z in range(dim[2]) for y in range(dim[1]) for x in range(dim[0])]
    values = [value(p)[a] for a in range(3) for p in places] if value else [0.0] * len(places)
    with open(name, "wb") as out:
        out.write(head + struct.pack("<%df" % len(values), *values))


def moves(p, size=4):
    return [size * math.sin(p[1] / 7), size * math.cos(p[2] / 6) - 1, size * math.sin(p[0] / 8 + 1)]


def moved(p, size=4):
    return [c + d for c, d in zip(p, moves(p, size))]


LATTICE = [[4 * row[0], 4 * row[1], 4 * row[2], row[3] - 4 * (row[0] + row[1] + row[2])] for row in AFFINE]
save("ref.nii", SHAPE, AFFINE)
save("def.nii", SHAPE, AFFINE, value=moved, kind=0)
save("disp.nii", SHAPE, AFFINE, value=moves, kind=1)
save("points.nii", (6, 6, 6), LATTICE, value=moved, kind=2)
save("both.nii", (6, 6, 6), LATTICE, value=moved, kind=2, maps=(HALF, HALF))
save("flow.nii", SHAPE, AFFINE, value=moved, kind=3, squarings=5)
save("velocity.nii", (6, 6, 6), LATTICE, value=moved, kind=5, squarings=6)
save("backward.nii", (6, 6, 6), LATTICE, value=moved, kind=5, squarings=-6, maps=(HALF, HALF))
save("auto.nii", (6, 6, 6), LATTICE, value=lambda p: moved(p, 25), kind=5)
save("one_map.nii", (6, 6, 6), LATTICE, value=moved, kind=2, maps=(HALF,))
for name, source in (("comment.nii", "both.nii"), ("padded.nii", "one_map.nii"), ("gap.nii", "velocity.nii"), ("gap_flow.nii", "flow.nii")):
    data = bytearray(open(source, "rb").read())
    if name == "comment.nii":  # in front of the maps, which NiftyReg itself then does not find
        data[352:352] = struct.pack("<2i24s", 32, 6, b"by hand")
        struct.pack_into("<f", data, 108, 352 + 32 + 160)
    if name == "padded.nii":  # zeros between the map and the values
        data[432:432] = bytes(16)
        struct.pack_into("<f", data, 108, 448)
    if name.startswith("gap"):
        struct.pack_into("<f", data, len(data) - 8, math.nan)
    open(name, "wb").write(data)
save("shifts.nii", SHAPE, AFFINE, value=moves, kind=4)
save("linear.nii", (6, 6, 6), LATTICE, value=moved, kind=6)
save("often.nii", SHAPE, AFFINE, value=moved, kind=3, squarings=1e9)
save("flat.nii", (6, 6, 6), LATTICE, value=moved, kind=2, maps=([[0.0] * 4] * 3, HALF))


def positions(text):
    """Where the voxels go, by a field of ITK that compose makes on the grid of ref.nii."""
    words = ["transform", "compose", "-t", text, "--template", "ref.nii", "-o", "field.nii", "--force", "-q"]
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (text, done.stderr))
    n, found = SHAPE[0] * SHAPE[1] * SHAPE[2], []
    raw = open("field.nii", "rb").read()
    values = struct.unpack_from("<%df" % (3 * n), raw, int(struct.unpack_from("<f", raw, 108)[0]))
    for x, y, z in VOXELS:
        v = x + SHAPE[0] * (y + SHAPE[1] * z)
        found.append([c + sign * values[a * n + v] for a, (c, sign) in enumerate(zip(apply(AFFINE, (x, y, z)), (-1, -1, 1)))])
    return found


if __name__ == "__main__":
    for name, kept in KEPT.items():
        found = positions(name + ("" if name in ("def.nii", "disp.nii", "flow.nii") else ",fixed=ref.nii"))
        far = max(abs(a - b) for p, q in zip(found, kept) for a, b in zip(p, q))
        print("%s: %.2g mm" % (name, far))
        if not far < 1e-4:
            sys.exit("%s: differs" % name)
    if positions("padded.nii,fixed=ref.nii") != positions("one_map.nii,fixed=ref.nii"):
        sys.exit("padded.nii: differs")
