"""A head with skull for tests of anatomies: T1, b=0, series, template and labels, and images that cannot be used. Run as a program it writes them here."""
import functools
import math
import struct

# 0 air, 1 scalp, 2 skull, 3 fluid, 4 grey, 5 white, 6 deep grey
@functools.lru_cache(1 << 17)  # more than the voxels of an image
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
LARGE = (0, 16777217, 16777218, 16777219, 2147483646, 2147483647)  # in place of 0 to 5

if __name__ == "__main__":
    save("sub-7_T1w.nii", shift(t1))
    save("b0.nii", b0)
    save("brain.nii", brain)
    save("wide.nii", lambda x, y, z: brain(0.92 * x, 0.93 * y, 0.92 * z))  # with a part of the skull
    save("narrow.nii", lambda x, y, z: brain(1.15 * x, 1.15 * y, 1.15 * z))  # without the fluid around the brain
    save("beside.nii", lambda x, y, z: brain(x - 5, y - 5, z + 4))
    save("tpl-Head_T1w.nii", bend(t1))
    save("mask.nii", bend(brain))
    save("alone.nii", bend(lambda x, y, z: t1(x, y, z) * brain(x, y, z)), n=(34, 44, 32))
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
    save("large.nii", bend(lambda x, y, z: LARGE[labels(x, y, z)]), kind=8)
    save("percent.nii", lambda x, y, z: 90.0)
    save("slab.nii", lambda x, y, z: t1(x, y, z + 60), n=(40, 50, 9))
