"""Every format that `glslines transform compose --to` writes is read again, and means the same: round_trips.py TOOL.

The formats are the choices of the option, as the help gives them; a new one is tried without a change here."""

import json
import math
import re
import struct
import subprocess
import sys

tool = sys.argv[1]
GRIDS = {"fixed.nii": ((9, 8, 7), [[-2.8, 0.3, 0.2, 13], [0.4, 3.1, -0.5, -11], [0.2, 0.45, 3.4, -9]]),
         "moving.nii": ((8, 9, 6), [[3.0, -0.2, 0.4, -10], [0.3, 2.9, 0.1, -12], [-0.5, 0.2, 4.1, -12]])}
MAP = [[1.02, -0.07, 0.03, 2.5], [0.06, 0.97, -0.1, -1.25], [-0.02, 0.09, 1.05, 3.75], [0, 0, 0, 1]]


def save(name, dim, affine, volumes=1, values=()):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, *dim, volumes, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, *[math.sqrt(sum(row[a] ** 2 for row in affine)) for a in range(3)], 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for r in range(3):
        struct.pack_into("<4f", head, 280 + 16 * r, *affine[r])
    head[344:348] = b"n+1\0"
    values = values or [0.0] * (dim[0] * dim[1] * dim[2] * volumes)
    with open(name, "wb") as out:
        out.write(head + struct.pack("<%df" % len(values), *values))


def run(*words):
    return subprocess.run([tool, *words, "--force", "-q"], capture_output=True, text=True)


def compose(chain, to, out):
    field, both = out.endswith(".nii"), to in ("fsl", "lta")
    grids = (["--template", "fixed.nii"] if field or both else []) + (["--moving", "moving.nii"] if both and not field else [])
    return run("transform", "compose", *[w for text in chain for w in ("-t", text)], "--to", to, *grids, "-o", out)


def images_of(name):
    """The images that a file needs behind its name, by the message of the program that it lacks them."""
    said = run("transform", "compose", "-t", name, "-o", "unused.txt").stderr
    return ",moving=moving.nii,fixed=fixed.nii" if re.search(r"moving=IMAGE,fixed=IMAGE", said) else ""


def matrix(text):
    done = compose([text], "mrtrix", "read.txt")
    if done.returncode:
        sys.exit("%s: %s" % (text, done.stderr))
    return [[float(w) for w in line.split()] for line in open("read.txt") if not line.startswith("#")]


def field(text):
    """Positions to which a field takes its voxels."""
    done = compose([text], "mrtrix", "read.nii")
    if done.returncode:
        sys.exit("%s: %s" % (text, done.stderr))
    raw = open("read.nii", "rb").read()[352:]
    return struct.unpack("<%df" % (len(raw) // 4), raw)


for name, (dim, affine) in GRIDS.items():
    save(name, dim, affine)
with open("map.txt", "w") as out:
    out.writelines(" ".join("%.17g" % v for v in row) + "\n" for row in MAP)
dim, affine = GRIDS["fixed.nii"]
places = [[sum(affine[r][c] * v for c, v in enumerate((x, y, z))) + affine[r][3] for r in range(3)] for z in range(dim[2]) for y in range(dim[1]) for x in range(dim[0])]
bent = [p[r] + 2 * math.sin(p[(r + 1) % 3] / 7 + r) for r in range(3) for p in places]
save("bent.nii", dim, affine, 3, bent)

options = [c for c in json.loads(subprocess.run([tool, "help", "--format", "json"], capture_output=True, text=True).stdout)["commands"] if c["name"] == "transform"][0]["options"]
words = [o for o in options if o["name"].strip("-") == "to"][0]["choices"]
affine_trips = field_trips = 0
for word in words:
    given = "" if word == "auto" else ",from=" + word
    done = compose(["map.txt"], word, "written.txt")
    if done.returncode:
        sys.exit("%s: %s" % (word, done.stderr))
    text = "written.txt" + given + images_of("written.txt" + given)
    for chain, want in ((text, MAP), (text + ",inverse", None)):
        got = matrix(chain)
        if want is None:  # the inverse of the inverse
            with open("inverse.txt", "w") as out:
                out.writelines(" ".join("%.17g" % v for v in row) + "\n" for row in got)
            got = matrix("inverse.txt,inverse")
        apart = max(abs(sum((got[r][c] - MAP[r][c]) * (p + [1])[c] for c in range(4))) for p in places for r in range(3))
        if not apart < 1e-5:
            sys.exit("%s: points are %g mm apart" % (chain, apart))
    affine_trips += 1
    done = compose(["bent.nii,from=mrtrix"], word, "written.nii")
    if done.returncode:
        if "written for" not in done.stderr:
            sys.exit("%s: %s" % (word, done.stderr))
        continue
    apart = max(abs(a - b) for a, b in zip(field("written.nii" + given), bent))
    if not apart < 1e-5:
        sys.exit("%s: a field differs by %g mm" % (word, apart))
    field_trips += 1
print("round trips: %d affine maps, %d fields" % (affine_trips, field_trips))
sys.exit(affine_trips < 5 or field_trips < 2)
