"""Scenes of samples as bedpostX writes them, and what is counted in their streamlines: bedpost.py write FOLDER SCENE | check WHAT FILE | map WHAT MAP WAYTOTAL | matrices FOLDER TCK SEEDS LENGTHS."""
import math
import os
import struct
import sys

SHAPE = (24, 7, 7)
N = SHAPE[0] * SHAPE[1] * SHAPE[2]


FOUR = (6, 12, 13, 16)
LONG = 621  # halves of 622 points, as probtrackx2 counts them; upward the last one lies outside of the image and is left out


def nifti(path, volumes, shape=SHAPE, sign=1, size=1):
    """Volumes are lists of values, x fastest. sign: of the determinant of the affine."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, *shape, len(volumes), 1, 1, 1)
    struct.pack_into("<hh", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, size, size, size, 1, 1, 1, 1)
    struct.pack_into("<f", head, 108, 352)
    head[123] = 2
    struct.pack_into("<hh", head, 252, 0, 1)
    struct.pack_into("<12f", head, 280, sign * size, 0, 0, 0, 0, size, 0, 0, 0, 0, size, 0)
    head[344:348] = b"n+1\0"
    with open(path, "wb") as f:
        f.write(head)
        for v in volumes:
            f.write(struct.pack("<%df" % len(v), *v))


def voxels(test):
    return [float(test(i % SHAPE[0], i // SHAPE[0] % SHAPE[1], i // (SHAPE[0] * SHAPE[1]))) for i in range(N)]


def scene(folder, fibres, sign=1, samples=5):
    """Writes a scene. fibres: theta, phi and fraction of each fibre, the same in all samples; or a function that returns them
    for a voxel."""
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


def bend(x, y):
    return .02 if x < 16 else math.pi / 3 if y < 3 else math.pi * 2 / 3


def write():
    flat = math.pi / 2
    scene("row", [(flat, 1e-4, 1)])
    scene("still", [(flat, lambda *at: 0 if at == (12, 3, 3) else 1e-4, 1)])
    for sign in (1, -1):
        scene(f"oblique{sign}", [(flat, .3, 1)], sign)
    scene("crossing", [(flat, 1.4, .3), (flat, .2, .005), (flat, .05, .3)])
    for sign in (1, -1):
        # a turn along x, which FSL counts from the other side if the determinant is positive; then turns of 60 degrees
        scene(f"turn{sign}", [(flat, lambda x, y, z: bend(23 - x if sign > 0 else x, y), 1)], sign)
    scene("weak", [(flat, 1e-4, .3), (flat, .2, .005)])
    scene("gap", [(flat, lambda *at: math.nan if at == (12, 3, 3) else 1e-4, 1)])
    scene("large", [(flat, 1e-4, lambda *at: 1.5 if at == (12, 3, 3) else 1)])
    scene("many", [(flat, 1e-4, 1)], samples=50)
    # a long row: its mask covers the whole image, and the seed lies in the middle
    os.makedirs("long", exist_ok=True)
    for name, value in ("nodif_brain_mask", 1), ("merged_th1samples", flat), ("merged_ph1samples", 1e-4), ("merged_f1samples", 1):
        nifti(f"long/{name}.nii", [[value] * (LONG * 9)] * (1 if value == 1 and name[0] == "n" else 5), (LONG, 3, 3))
    nifti("middle.nii", [[float(i == LONG // 2 + 4 * LONG) for i in range(LONG * 9)]], (LONG, 3, 3))
    scene("degrees", [(90, 10, 1)])
    scene("none", [(flat, 1e-4, 0)])
    scene("even", [(flat, 1e-4, .5)])
    scene("second", [(flat, 1e-4, lambda *at: float(at != (12, 3, 3))), (flat, 2e-4, 1)])
    nifti("coarse.nii", [[float(i in (2 + 8 * 4, 5 + 8 * 4)) for i in range(72)]], (8, 3, 3), size=3)
    voxel("seed.nii", (12, 3, 3))
    for sign in (1, -1):
        voxel(f"low{sign}.nii", (12, 2, 3), sign=sign)
    voxel("five.nii", (5, 3, 3))
    voxel("seed-1.nii", (12, 3, 3), sign=-1)
    voxel("four.nii", *[(x, 3, 3) for x in FOUR])
    voxel("block.nii", *[(x, y, 3) for x in range(8, 17) for y in range(2, 5)])
    nifti("labels.nii", [voxels(lambda x, y, z: 7 if 8 <= x <= 16 else {5: 3, 18: 9}.get(x, 0))])
    voxel("far.nii", (12, 1, 1))
    voxel("x18.nii", *[(18, y, z) for y in range(7) for z in range(7)])
    voxel("x5.nii", *[(5, y, z) for y in range(7) for z in range(7)])


def after_loops(line, start, sign):
    """Returns the parts that the loop check leaves of the two halves of a line."""
    left = []
    for points, reverse in ((line[start:], None), (line[start::-1], line[start:start + 2])):
        cube, kept, d = {}, [], None
        for k, p in enumerate(points):
            v = (23 - p[0] if sign > 0 else -p[0], p[1], p[2])
            b = tuple(math.floor(x / 5 + .5) for x in v)
            if k:
                d = [y - x for x, y in zip(points[k - 1], p)]
            if d and b in cube and sum(x * y for x, y in zip(d, cube[b])) < 0:
                break
            if d:
                cube[b] = d
            kept.append(p)
        left.append(kept)
    return left[1][:0:-1] + left[0]


def check_loops(path, seeds, checked, sign):
    starts = [int(line.split(",")[1]) for line in open(seeds) if line[0] != "#"]
    lines, short = streamlines(path), streamlines(checked)
    want = [after_loops(line, start, int(sign)) for line, start in zip(lines, starts)]
    assert len(lines) == len(short) == 1000 and sum(a != b for a, b in zip(want, lines)) > 10
    assert want == short, [(len(a), len(b)) for a, b in zip(want, short) if a != b][:9]
    print("loops", sum(map(len, lines)), "points,", sum(map(len, short)), "left")


def far(line):
    return max(p[0] for p in line), min(p[0] for p in line)


def check(what, path):
    lines = streamlines(path)
    if what == "still":
        assert len(lines) == 200 and all(len(line) == 1 for line in lines), len(lines)
    elif what == "row":
        # 19 points to 21, because halves round up to voxel 22, and 22 points to 1.5; either one has the seed
        assert len(lines) == 200 and all(len(line) == 40 for line in lines)
        assert all(far(line) == (21, 1.5) for line in lines), [far(line) for line in lines[:5]]
        assert all(abs(p[1] - 3) < .01 and p[2] == 3 for line in lines for p in line)
        assert all(abs(a[0] - b[0]) == .5 or abs(abs(a[0] - b[0]) - .5) < 1e-5 for line in lines for a, b in zip(line, line[1:]))
    elif what == "long":
        assert len(lines) == 200 and all(len(line) == 622 + 621 - 1 and far(line) == (LONG - 1, -.5) for line in lines), far(lines[0])
    elif what == "cut":
        # 500 mm in all: no half has more than 1000 points behind the seed
        assert len(lines) == 200 and all(len(line) == 1001 for line in lines), {len(line) for line in lines}
    elif what.startswith("oblique"):
        # in FSL x is mirrored where the determinant is positive; with either sign dy / dx is the same in mm
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for line in lines for a, b in zip(line, line[1:])]
        # no point lies in a voxel outside the mask; expected are 16.66 points a half, the seed in both, 32.3 in all
        assert all(abs(p[1] - 3) < 2.5 for line in lines for p in line)
        mean = sum(map(len, lines)) / len(lines)
        assert abs(mean - 32.3) < .5, mean
        assert slopes and all(abs(s + math.tan(.3)) < 2e-3 for s in slopes), slopes[:5]
    elif what == "even":
        # each point ends its half with a chance of one half: points behind the seed are 0, 1, 2 ... with 1/2, 1/4, 1/8
        single, one = sum(len(line) == 1 for line in lines), sum(len(line) == 2 for line in lines)
        assert len(lines) == 200 and abs(single - 50) < 25 and abs(one - 50) < 25, (single, one)
        assert abs(sum(map(len, lines)) - 600) < 4 * 28.3, sum(map(len, lines))
    elif what == "second":
        assert len(lines) == 200 and all(len(line) == 1 for line in lines)
    elif what == "avoid":
        # the half that goes up is rejected, the other one stays with its 22 points
        assert len(lines) == 200 and all(len(line) == 22 and far(line) == (12, 1.5) for line in lines)
    elif what == "waypoint":
        # a first half that goes down is rejected; a second one stays, because the first one has met the region
        both = sum(len(line) == 40 for line in lines)
        assert len(lines) == 200 and all(len(line) in (19, 40) for line in lines) and 70 < both < 130, both
    elif what == "one_way":
        # only the half that goes up meets the region, and nothing lets the other half meet it
        assert len(lines) == 200 and all(len(line) == 19 and far(line)[1] == 12 for line in lines)
    elif what.startswith("leaving"):
        low = 4.5 if what == "leaving2" else 1.5
        assert len(lines) == 200 and all(far(line) == (18, low) and len(line) == 2 * (18 - low) + 1 for line in lines), lines[0]
    elif what == "backward":
        # as above, with the half that goes down
        both = sum(len(line) == 40 for line in lines)
        assert len(lines) == 200 and all(len(line) in (22, 40) for line in lines) and 70 < both < 130, both
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


def volume(path, volumes=1):
    data = open(path, "rb").read()
    kind = {8: "i", 16: "f", 768: "I"}[struct.unpack_from("<h", data, 70)[0]]
    return kind, struct.unpack_from(f"<{N * volumes}{kind}", data, int(struct.unpack_from("<f", data, 108)[0]))


def check_map(what, path, total):
    kind, counts = volume(path)
    row = [counts[x + SHAPE[0] * (3 + SHAPE[1] * 3)] for x in range(SHAPE[0])]
    # upward a voxel is first met at its lower face, downward at its centre, because halves round upward
    far = [12 - x if x <= 12 else x - 12.5 for x in range(2, 22)]
    if what == "mean":
        assert kind == "f" and row[2:22] == far, row
    elif what == "corrected":
        assert kind == "f" and row[2:22] == [200 * l for l in far], row
    elif what == "still":
        # either half has one point, the path has two, both in the voxel of the seed
        assert kind == "i" and row == [200 * (x == 12) for x in range(24)], row
    else:
        assert kind == "i" and row == [0] * 2 + [200] * 20 + [0] * 2, row
    assert math.isclose(sum(counts), sum(row))
    assert open(total).read() == "200\n"


def matrix(path):
    """Reads a sparse matrix: its values, and its size. Columns ascend in each row, and rows ascend."""
    rows = [line.split() for line in open(path)]
    cells = [(int(c), int(r)) for r, c, _ in rows[:-1]]
    assert cells == sorted(set(cells)) and rows[-1][2] == "0", path
    return {(int(r), int(c)): float(v) for r, c, v in rows[:-1]}, tuple(map(int, rows[-1][:2]))


def nearest(p):
    at = [math.floor(x + .5 + 1e-5) for x in p]
    return at[0] + SHAPE[0] * (at[1] + SHAPE[1] * at[2]) if all(0 <= a < n for a, n in zip(at, SHAPE)) else -1


def tell(m, row, column, value):
    m[row, column] = m.get((row, column), 0) + value


def check_matrices(folder, tck, seeds, by_length):
    """Counts the streamlines of a file again, by the rules, and compares all matrices."""
    step, pd = .5, by_length == "yes"
    number = {}  # values of each voxel of a mask
    for name in "block", "four":
        inside = [v for v, x in enumerate(volume(name + ".nii")[1]) if x > 0]
        number[name] = {v: i for i, v in enumerate(inside, 1)}
    label = [{0: 0, 3: 1, 7: 2, 9: 3}[int(x)] for x in volume("labels.nii")[1]]
    one, two, three, network, total = {}, {}, {}, [[0] * 3 for _ in range(3)], [0] * 3
    starts = [int(line.split(",")[1]) for line in open(seeds) if line[0] != "#"]
    for line, start in zip(streamlines(tck), starts):
        halves = [[nearest(p) for p in line[start:]], [nearest(p) for p in line[start::-1]]]
        seed, met1, met2, met3, met = halves[0][0], {}, set(), {}, {}
        # in a network a half counts only where it meets another region
        halves = [h if any(v >= 0 and label[v] not in (0, label[seed]) for v in h[1:]) else [] for h in halves]
        for h, half in enumerate(halves):
            lag, first = step, {}
            for k, v in enumerate(half):
                if v in number["four"] and v not in met2:
                    met2.add(v)
                    tell(two, number["block"][seed], number["four"][v], lag if pd else 1)
                    lag += step
                if k == 0:
                    continue
                if v in number["block"] and v != seed:
                    length = (k - 1) * step if k > 1 else step if h else 1
                    met1[v] = min(length, met1.get(v, length))
                if v in number["four"]:
                    length = -k * step if h else k * step
                    met3[v] = min(length, met3.get(v, length))
                if v >= 0 and label[v] not in (0, label[seed]):
                    first.setdefault(label[v], k * step)
            for r, length in first.items():
                met.setdefault(r, []).append(length)
        for v, length in met1.items():
            tell(one, number["block"][seed], number["block"][v], length if pd else 1)
        order = sorted(met3)
        for i, v in enumerate(order):
            for w in order[i + 1:]:
                tell(three, number["four"][v], number["four"][w], abs(met3[v] - met3[w]) if pd else 1)
        if label[seed]:
            total[label[seed] - 1] += bool(met)
            for r, lengths in met.items():
                network[label[seed] - 1][r - 1] += sum(lengths) / len(lengths) if pd else 1
    for name, want, size in ("1", one, ("block", "block")), ("2", two, ("block", "four")), ("3", three, ("four", "four")):
        got, shape = matrix(f"{folder}/fdt_matrix{name}.dot")
        want = {k: v for k, v in want.items() if v}
        assert len(want) > 3 and got.keys() == want.keys() and shape == tuple(len(number[s]) for s in size), (name, shape)
        assert all(math.isclose(v, want[k], rel_tol=1e-8) for k, v in got.items()), name
    rows = [list(map(float, line.split())) for line in open(folder + "/fdt_network_matrix")]
    assert all(math.isclose(a, b, rel_tol=1e-8) for r, s in zip(rows, network) for a, b in zip(r, s)), (rows, network)
    assert sum(map(sum, rows)) > 0 and open(folder + "/waytotal").read() == "".join(f"{n}\n" for n in total), total
    for name, mask in ("coords_for_fdt_matrix1", "block"), ("tract_space_coords_for_fdt_matrix2", "four"):
        rows = [list(map(int, line.split())) for line in open(f"{folder}/{name}")]
        assert [x + SHAPE[0] * (y + SHAPE[1] * z) for x, y, z, _, _ in rows] == list(number[mask])
        assert [r[3:] for r in rows] == [[1, i] for i in range(len(rows))]
    print(len(starts), "streamlines in matrices")


def check_targets(path, by_length):
    """Streamlines of a row from x = 6, 12, 13 and 16 that meet the labels at 5, 8 to 16, and 18."""
    kind, values = volume(path, 3)
    # upward a voxel is first met at its lower face, downward at its centre
    met = {6: (1, 1.5, 11.5), 12: (7, 0, 5.5), 13: (8, 0, 4.5), 16: (11, 0, 1.5)}
    want = [200 * (met[v % 24][r] if by_length else 1) * (v % 24 in met and v // 24 % 7 == 3 and v // 168 == 3) if v % 24 in met else 0
            for r in range(3) for v in range(N)]
    assert kind == ("f" if by_length else "i") and list(values) == want, [(i, x) for i, x in enumerate(values) if x]


def check_columns(path, by_length):
    """Computes the row of voxels 6, 12, 13 and 16 that are met from 4.5 to 7.5 and from 13.5 to 16.5, from x = 12 and with the
    smallest lengths."""
    rows, columns = (-6.5, -.5, .5, 3.5), (-7.5, 1.5)
    want = {(i, k): 200 * (abs(r - c) if by_length else 1) for i, r in enumerate(rows, 1) for k, c in enumerate(columns, 1)}
    assert matrix(path) == (want, (4, 2)), matrix(path)
    assert open(path.replace("lr", "tract_space_coords_for_lr").replace(".dot", "")).read() == "2  1  1  1  0\n5  1  1  1  1\n"


def check_four():
    """Computes the matrices of four voxels of a row by hand: seeds at x = 12, lengths in place of counts, the first half
    upward."""
    want = {"1": {(2, 1): 5.5, (2, 3): .5, (2, 4): 3.}, "2": {(1, 1): .5, (1, 2): .5, (1, 3): 1., (1, 4): 1.5},
            "3": {(1, 2): 6., (1, 3): 7., (1, 4): 10., (2, 3): 1., (2, 4): 4., (3, 4): 3.}}
    for name, cells in want.items():
        got = {k: v / 200 for k, v in matrix(f"hand/fdt_matrix{name}.dot")[0].items() if name != "1" or k[0] == 2}
        assert got == cells, (name, got)


# Writes the TOM of a bundle along a quarter of a circle as TractSeg does, with voxels of 2 mm and x mirrored. Returns its
# radius in voxels and its thickness.
ARC, THICK = 18, 2


def write_tom():
    shape = (26, 26, 5)
    at = [(i % 26, i // 26 % 26, i // 676) for i in range(26 * 26 * 5)]
    inside = [x > 0 and y > 0 and abs(math.hypot(x, y) - ARC) <= THICK and 1 <= z <= 3 for x, y, z in at]
    # the tangent in scanner axes: the x axis of the image is the negative x axis of the scanner
    volumes = [[v / math.hypot(x, y) if i else math.nan for i, (x, y, z) in zip(inside, at) for v in [(y, x, 0)[a]]] for a in range(3)]
    write = lambda name, v: nifti(name, v, shape, -1, 2)
    write("tom.nii", volumes)
    write("tom_mask.nii", [[float(i) for i in inside]])
    write("tom_b.nii", [[float(i and y <= 2) for i, (x, y, z) in zip(inside, at)]])
    write("tom_e.nii", [[float(i and x <= 2) for i, (x, y, z) in zip(inside, at)]])


def walk_tom(rng, n):
    """Tracks that TOM as TractSeg does from n seeds, mm: steps of 0.7 voxels with noise of 0.15, in either sense to the edge of
    the mask. Returns the numbers of steps, at least 20, of the streamlines that have an end in each region."""
    def inside(x, y, z):
        return x > 0 and 0 < y < 26 and x < 26 and abs(math.hypot(x, y) - ARC) <= THICK and 1 <= z <= 3

    # positions have voxel centres at whole numbers
    voxels, kept = [(x, y, z) for x in range(26) for y in range(26) for z in range(5) if inside(x, y, z)], []
    for _ in range(n):
        seed, ends, steps = [v + rng.random() - .5 for v in rng.choice(voxels)], [], 0
        sense = rng.choice((1, -1))
        for sign in sense, -sense:
            p, last = seed, None
            while True:
                x, y, _ = (math.floor(a + .5) for a in p)
                d = [.7 * v / math.hypot(x, y) for v in (-y, x, 0)]
                turned = sign if last is None else -1 if sum(a * b for a, b in zip(d, last)) < 0 else 1
                last = [turned * a + rng.gauss(0, .15) for a in d]
                q = [a + b for a, b in zip(p, last)]
                if not inside(*(math.floor(a + .5) for a in q)):
                    break
                p, steps = q, steps + 1
            ends.append([math.floor(a + .5) for a in p])
        if steps >= 20 and min(e[0] for e in ends) <= 2 and min(e[1] for e in ends) <= 2:
            kept.append(steps)
    return kept


def check_noise(path, n):
    """Compares a file of n seeds with the walk: how many streamlines are kept, how long they are, and whether steps have the
    length that they should have."""
    import random

    lines, walk = streamlines(path), walk_tom(random.Random(1), int(n))
    steps = [len(line) - 1 for line in lines]
    share = len(walk) / int(n)
    assert abs(len(lines) - len(walk)) < 3 * math.sqrt(2 * int(n) * share * (1 - share)) and len(walk) > 100, (len(lines), len(walk))
    mean, other = sum(steps) / len(steps), sum(walk) / len(walk)
    deviation = math.sqrt(sum((s - other) ** 2 for s in walk) / len(walk))
    assert abs(mean - other) < 3 * deviation * math.sqrt(1 / len(steps) + 1 / len(walk)), (mean, other)
    counts = [[sum(s <= m for s in group) / len(group) for m in range(200)] for group in (steps, walk)]
    apart = max(abs(a - b) for a, b in zip(*counts))
    assert apart < 1.63 * math.sqrt(1 / len(steps) + 1 / len(walk)), apart
    lengths = [math.dist(a, b) / 2 for line in lines for a, b in zip(line, line[1:])]
    # a step of 0.7 and noise of 0.15 along each axis: the mean of the square
    square = sum(x * x for x in lengths) / len(lengths)
    assert abs(square - (.49 + 3 * .15 ** 2)) < .01, square
    print("noise", len(lines), "streamlines,", len(walk), "of the walk; steps", round(mean, 1), round(other, 1), "apart", round(apart, 3))


def check_arc(path):
    lines = streamlines(path)
    assert len(lines) == 200
    for line in lines:
        ends = sorted((line[0], line[-1]))
        assert ends[0][1] < 5 and -5 < ends[1][0], ends
        assert all(abs(math.hypot(p[0], p[1]) - 2 * ARC) < 2 * THICK + 2 for p in line)
        length = sum(math.dist(a, b) for a, b in zip(line, line[1:]))
        # inner and outer arc, without the part that is missing at either end
        assert 40 < length < math.pi * (ARC + THICK + 1), length
    print("arc", len(lines), "streamlines")


if sys.argv[1] == "write":
    write()
elif sys.argv[1] == "tom":
    write_tom()
elif sys.argv[1] == "noise":
    check_noise(*sys.argv[2:])
elif sys.argv[1] == "arc":
    check_arc(sys.argv[2])
elif sys.argv[1] in ("targets", "columns"):
    (check_targets if sys.argv[1] == "targets" else check_columns)(sys.argv[2], sys.argv[3] == "yes")
elif sys.argv[1] == "four":
    check_four()
elif sys.argv[1] == "loops":
    check_loops(*sys.argv[2:])
elif sys.argv[1] == "matrices":
    check_matrices(*sys.argv[2:])
elif sys.argv[1] == "map":
    check_map(*sys.argv[2:])
else:
    check(*sys.argv[2:])
