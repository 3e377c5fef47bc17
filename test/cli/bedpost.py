"""Scenes of samples as bedpostX writes them, and what is counted in their streamlines: bedpost.py write FOLDER SCENE | check WHAT FILE | map WHAT MAP WAYTOTAL."""
import math
import os
import struct
import sys

SHAPE = (24, 7, 7)
N = SHAPE[0] * SHAPE[1] * SHAPE[2]


def nifti(path, volumes, shape=SHAPE, sign=1):
    """Volumes are lists of values, x fastest. sign: of the determinant of the affine."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, *shape, len(volumes), 1, 1, 1)
    struct.pack_into("<hh", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, 1, 1, 1, 1, 1, 1, 1)
    struct.pack_into("<f", head, 108, 352)
    head[123] = 2
    struct.pack_into("<hh", head, 252, 0, 1)
    struct.pack_into("<12f", head, 280, sign, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    head[344:348] = b"n+1\0"
    with open(path, "wb") as f:
        f.write(head)
        for v in volumes:
            f.write(struct.pack("<%df" % len(v), *v))


def voxels(test):
    return [float(test(i % SHAPE[0], i // SHAPE[0] % SHAPE[1], i // (SHAPE[0] * SHAPE[1]))) for i in range(N)]


def scene(folder, fibres, sign=1, samples=5):
    """fibres: theta, phi and fraction of each, the same in all samples; a function gives one of each voxel."""
    os.makedirs(folder, exist_ok=True)
    nifti(folder + "/nodif_brain_mask.nii", [voxels(lambda x, y, z: 2 <= x <= 21 and 1 <= y <= 5 and 1 <= z <= 5)], sign=sign)
    for k, (th, ph, f) in enumerate(fibres, 1):
        for name, value in (("th", th), ("ph", ph), ("f", f)):
            volume = voxels(value) if callable(value) else [value] * N
            nifti(f"{folder}/merged_{name}{k}samples.nii", [volume] * samples, sign=sign)


def voxel(path, *at, sign=1):
    nifti(path, [voxels(lambda x, y, z: (x, y, z) in at)], sign=sign)


def streamlines(path):
    data = open(path, "rb").read()
    offset = int(data[:2000].split(b"file: . ")[1].split()[0])
    lines, line = [], []
    for x, y, z in struct.iter_unpack("<3f", data[offset:]):
        if math.isinf(x):
            break
        if math.isnan(x):
            lines.append(line)
            line = []
        else:
            line.append((x, y, z))
    return lines


def write():
    flat = math.pi / 2
    scene("row", [(flat, 1e-4, 1)])
    scene("still", [(flat, lambda *at: 0 if at == (12, 3, 3) else 1e-4, 1)])
    for sign in (1, -1):
        scene(f"oblique{sign}", [(flat, .3, 1)], sign)
    scene("crossing", [(flat, 1.4, .3), (flat, .2, .005), (flat, .05, .3)])
    scene("weak", [(flat, 1e-4, .3), (flat, .2, .005)])
    scene("gap", [(flat, lambda *at: math.nan if at == (12, 3, 3) else 1e-4, 1)])
    scene("large", [(flat, 1e-4, lambda *at: 1.5 if at == (12, 3, 3) else 1)])
    scene("many", [(flat, 1e-4, 1)], samples=50)
    scene("degrees", [(90, 10, 1)])
    scene("none", [(flat, 1e-4, 0)])
    voxel("seed.nii", (12, 3, 3))
    voxel("seed-1.nii", (12, 3, 3), sign=-1)
    voxel("x18.nii", *[(18, y, z) for y in range(7) for z in range(7)])
    voxel("x5.nii", *[(5, y, z) for y in range(7) for z in range(7)])


def far(line):
    return max(p[0] for p in line), min(p[0] for p in line)


def check(what, path):
    lines = streamlines(path)
    if what == "still":
        assert len(lines) == 200 and all(len(line) == 1 for line in lines), len(lines)
    elif what == "row":
        # 19 points to 21, because halves round to voxel 22, and 22 points to 1.5; the seed is one of either
        assert len(lines) == 200 and all(len(line) == 40 for line in lines)
        assert all(far(line) == (21, 1.5) for line in lines), [far(line) for line in lines[:5]]
        assert all(abs(p[1] - 3) < .01 and p[2] == 3 for line in lines for p in line)
        assert all(abs(a[0] - b[0]) == .5 or abs(abs(a[0] - b[0]) - .5) < 1e-5 for line in lines for a, b in zip(line, line[1:]))
    elif what.startswith("oblique"):
        # in FSL x is mirrored where the determinant is positive; with either sign dy / dx is the same in mm
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for line in lines for a, b in zip(line, line[1:])]
        # no point lies in a voxel outside the mask; expected are 16.66 points a half, the seed in both, 32.3 in all
        assert all(abs(p[1] - 3) < 2.5 for line in lines for p in line)
        mean = sum(map(len, lines)) / len(lines)
        assert abs(mean - 32.3) < .5, mean
        assert slopes and all(abs(s + math.tan(.3)) < 2e-3 for s in slopes), slopes[:5]
    elif what == "crossing":
        # the first fibre starts; it is the only one within the angle, so that it goes on
        assert all(abs(abs(b[1] - a[1]) - .5 * math.sin(1.4)) < 2e-3 for line in lines for a, b in zip(line, line[1:]))
    elif what == "weak":
        assert len(lines) == 200 and all(abs(p[1] - 3) < .01 for line in lines for p in line)
    elif what == "ball":
        starts = [min(line, key=lambda p: abs(p[0] - 12)) for line in lines]
        assert all(math.dist(s[1:], (3, 3)) < .41 for s in starts) and len({s[1] for s in starts}) > 150
    elif what == "any":
        # the two fibres above the threshold start alike, and a half goes on along the one that it began with
        first = [abs(line[-1][1] - line[-2][1]) > .3 for line in lines if len(line) > 1]
        assert .35 < sum(first) / len(first) < .65, sum(first) / len(first)
    print(what, len(lines), "streamlines")


def check_map(what, path, total):
    data = open(path, "rb").read()
    assert struct.unpack_from("<h", data, 70) == (8,)  # int32
    counts = struct.unpack_from("<%di" % N, data, int(struct.unpack_from("<f", data, 108)[0]))
    row = [counts[x + SHAPE[0] * (3 + SHAPE[1] * 3)] for x in range(SHAPE[0])]
    assert sum(counts) == sum(row)
    assert row == [0] * 24 if what == "still" else row[2:22] == [200] * 20, row
    assert open(total).read() == "200\n"


if sys.argv[1] == "write":
    write()
elif sys.argv[1] == "map":
    check_map(*sys.argv[2:])
else:
    check(*sys.argv[2:])
