"""Paints in a running `glslines view`: view_paint.py ADDRESS TOOL TRACKS.trx IMAGE.nii.gz SAVED. Prints what fails.

Compares strokes with voxels that are found here, selections and seeds with those of the command line by the images that were
saved, and runs the script of a save again."""

import gzip
import json
import os
import re
import shlex
import struct
import subprocess
import sys

from view import Server, ask, check, decode, failures, farthest, open_page, read_trx

address, tool, tracks, image, saved = sys.argv[1:]
server = Server(address)
program = {**os.environ, "PATH": os.path.dirname(os.path.abspath(tool)) + ":" + os.environ["PATH"]}


def read_nifti(path):
    """Dimensions, rows of the sform, and the values of a NIfTI image of float32 or uint8."""
    with gzip.open(path) as f:
        data = f.read()
    dim, kind = struct.unpack("<3h", data[42:48]), struct.unpack("<h", data[70:72])[0]
    rows = [struct.unpack("<4f", data[280 + 16 * r : 296 + 16 * r]) for r in range(3)]
    n, letter = dim[0] * dim[1] * dim[2], {2: "B", 16: "f"}[kind]
    return dim, rows, struct.unpack(f"<{n}{letter}", data[352 : 352 + n * struct.calcsize(letter)])


dim, rows, values = read_nifti(image)
nx, ny, nz = dim
centres = [[r[0] * (v % nx) + r[1] * (v // nx % ny) + r[2] * (v // (nx * ny)) + r[3] for r in rows] for v in range(nx * ny * nz)]
half = [sum(abs(x) for x in row[:3]) / 2 for row in rows]


def paint(page, at, **changes):
    """Paints, and returns the answer and its voxels."""
    body = {"mask": 0, "replaces": False, "adds": True, "part": False, "plane": None, "radius": 6, "low": None, "high": None, "at": at, **changes}
    said = ask(page, "paint", **body)
    if "error" in said:
        return said, set()
    data = page.receive()
    numbers = struct.unpack(f"<{(len(data) - 12) // 4}I", data[12:])
    voxels = {v for first, n in zip(numbers[::2], numbers[1::2]) for v in range(first, first + n)}
    check(data[:4] == b"\1\3\0\0" and data[4:8] == b"\3\0\0\0" and 2 * struct.unpack("<I", data[8:12])[0] == len(numbers), "head of the answer", data[:12])
    check(len(voxels) == sum(numbers[1::2]) == said["voxels"] and list(numbers[::2]) == sorted(numbers[::2]), "voxels", said, len(voxels))
    return said, voxels


def near(at, radius):
    """The voxels whose centres are within a radius of places, and those of the places."""
    found = {v for v, c in enumerate(centres) for p in at if sum((a - b) ** 2 for a, b in zip(c, p)) <= radius**2}
    return found | {min(range(len(centres)), key=lambda v: sum((a - b) ** 2 for a, b in zip(centres[v], p))) for p in at}


def part(seed, fits):
    """The voxels that hang together with one, through faces, and fit."""
    found, waiting = {seed}, [seed]
    while waiting:
        v = waiting.pop()
        x, y, z = v % nx, v // nx % ny, v // (nx * ny)
        for inside, w in ((x > 0, v - 1), (x < nx - 1, v + 1), (y > 0, v - nx), (y < ny - 1, v + nx), (z > 0, v - nx * ny), (z < nz - 1, v + nx * ny)):
            if inside and w not in found and fits(w):
                found.add(w)
                waiting.append(w)
    return found


scene = json.loads(server.get("/scene.json")[2])["paint"]
check(tuple(scene["dim"]) == dim, "grid", scene)
place, other = [0.4, -0.3, 0.2], [0.4, 9.1, 0.2]
seed = max(near([place], 8), key=lambda v: values[v])
# found before the page opens, because the server closes a page that does not answer its pings for a minute
steps = [[p + (q - p) * i / 200 for p, q in zip(place, other)] for i in range(201)]
most, least, nearest = near(steps, 2.01), near(steps, 1.99), near(steps, 0)
with open_page(server) as page:
    # the brush: a ball, a way, a slice, values, and the eraser; each makes another region, and those before stay
    ball, voxels = paint(page, [place])
    check(voxels == near([place], 6) and len(voxels) > 10, "a ball has", len(voxels), "voxels, not", len(near([place], 6)))
    way, voxels = paint(page, [place, other], radius=2)
    check(near([place, other], 2) < voxels and voxels <= most and least <= voxels | nearest, "a way", len(voxels))
    flat, voxels = paint(page, [place], plane=2)
    check(voxels == {v for v in near([[*place[:2], centres[v][2]] for v in near([place], 0)], 6)
                     if -half[2] <= centres[v][2] - place[2] < half[2]}, "a slice", len(voxels))
    wide, _ = paint(page, [place], radius=13)
    low = sorted(values[v] for v in near([place], 6))[len(near([place], 6)) // 2]
    bright, voxels = paint(page, [place], low=low, high=1)
    check(voxels == {v for v in near([place], 6) if low <= values[v] <= 1} and 0 < len(voxels) < ball["voxels"], "values", len(voxels))
    erased, voxels = paint(page, [place], mask=ball["mask"], adds=False, radius=4)
    check(voxels == near([place], 6) - near([place], 4), "the eraser", len(voxels))
    again, voxels = paint(page, [place], mask=ball["mask"], radius=0)
    check(voxels == near([place], 6) and again["mask"] != ball["mask"], "a region of before", again, len(voxels))
    # parts: by values, up to what is painted, and erased again
    some, voxels = paint(page, [centres[seed]], part=True, low=values[seed] / 2)
    check(voxels == part(seed, lambda v: values[v] >= values[seed] / 2) and len(voxels) > 3, "a part", len(voxels))
    shell, _ = paint(page, [place], mask=ball["mask"], adds=False, radius=4)
    filled, voxels = paint(page, [place], mask=shell["mask"], part=True)
    check(voxels == near([place], 6), "a part in a shell", len(voxels))
    nothing, voxels = paint(page, [place], mask=filled["mask"], adds=False, part=True)
    check(voxels == set() and nothing["voxels"] == 0, "an erased part", nothing)
    for said, words in ((paint(page, [place], mask=filled["mask"], part=True), "painted already"), (paint(page, [place], adds=False, part=True), "not painted"),
                        (paint(page, [[900, 0, 0]], part=True), "outside the image"), (paint(page, [place], part=True, low=5e8), "limits"),
                        (paint(page, [place], mask=4000000000), "not known"), (paint(page, [place], low=3, high=1), "low must not be above high")):
        check(words in said[0].get("error", ""), "an error without", words, said[0])
    replaced, _ = paint(page, [place], mask=way["mask"], replaces=True)
    check("not known" in paint(page, [place], mask=way["mask"])[0].get("error", ""), "a region that was replaced is there", replaced)
    said = ask(page, "select", shown=1, regions=[{"role": "include", "mask": nothing["mask"]}])
    check("is empty" in said.get("error", ""), "an empty region selects", said)
    said = ask(page, "save", name="x", force=False, bundles=[{"name": "a", "regions": [{"role": "include", "mask": nothing["mask"]}]}])
    check("is empty" in said.get("error", "") and not os.listdir(saved), "an empty region is saved", said)

    # as many regions as there may be: sets of streamlines that are searched again replace none of the same request
    many = [{"role": "include", "mask": paint(page, [[i - 16, 0, 0]], radius=18)[0]["mask"]} for i in range(32)]

    def count(regions):
        said = ask(page, "select", shown=0, regions=regions)
        page.receive()
        return said["selected"]

    wanted = count(many), count(many[:18])
    for n in range(2, 33):
        count([{"role": "include", "sphere": [i + n / 10, 0, 0, 20]} for i in range(n)])
        found = count(many), count(many[:18])
        check(found == wanted and found[1] > 0, "after", n, "spheres 32 and 18 regions select", found, "not", wanted)

    # selections, and saving: the images select the same streamlines, and the script makes the same files
    def region(role, answer):
        return {"role": role, "mask": answer["mask"]}

    sphere, box = {"role": "end", "sphere": [0, 0, 0, 14]}, {"role": "exclude", "box": [-500, -500, -500, -9, 500, 500]}
    bundles = [[region("include", ball)], [region("include", bright), box], [region("exclude", bright), region("include", shell)], [sphere],
               [sphere, region("end", wide)], [{"role": "include", "label": 2000}, region("include", some)]]
    chosen = []
    for regions in bundles:
        said = ask(page, "select", shown=100000, regions=regions)
        chosen.append((said, decode(page.receive()[12:])))
    said = ask(page, "save", name="hand", force=False, bundles=[{"name": f"b{i}", "regions": regions} for i, regions in enumerate(bundles)])
    masks = ["hand_mask-%d.nii.gz" % k for k in range(1, 6)]
    names = [*("hand" + s for s in (".tsv", ".trx", ".json", ".png", ".sh")), *masks]
    check(sorted(os.path.basename(f) for f in said.get("files", [])) == sorted(names) == sorted(os.listdir(saved)), "save", said, os.listdir(saved))
    first = {name: open(os.path.join(saved, name), "rb").read() for name in os.listdir(saved)}
    check(b"\t../labels.nii:2000;" in first["hand.tsv"], "the table names the labels so that it cannot be moved with them", first["hand.tsv"])
    numbers = dict(zip((ball["mask"], bright["mask"], shell["mask"], wide["mask"], some["mask"]), masks))
    check(read_nifti(os.path.join(saved, masks[0]))[:2] == (dim, rows) and
          {v for v, x in enumerate(read_nifti(os.path.join(saved, masks[0]))[2]) if x} == near([place], 6), "the image of a region")
    counts = set()

    def named(word):
        """A word of a command line with the names that painted regions got when they were saved."""
        return re.sub(r"mask-(\d+)\.nii\.gz", lambda m: os.path.join(saved, numbers[int(m[1])]), word)

    for i, (said, (lines, scale)) in enumerate(chosen):
        words = [named(w) for w in shlex.split(said["command"])]
        subprocess.run([tool, *["again.trx" if w == "selected.trx" else w for w in words[1:]], "--force", "-q"], check=True)
        wanted = read_trx("again.trx")
        away = farthest([[a[0], a[-1]] for a in lines], [[a[0], a[-1]] for a in wanted]) if len(lines) == len(wanted) else float("inf")
        check(away <= scale / 2 + 1e-4, "the command line selects others:", away, "mm;", len(lines), "and", len(wanted), words)
        counts.add(said["selected"])
    check(len(counts) >= len(bundles) - 1 and min(counts) > 0, "numbers of streamlines", counts)
    os.remove("again.trx")
    os.remove("again.json")
    table = first["hand.tsv"].decode()
    check(table.startswith("bundle\tinclude\texclude\tstart\tend\n") and "\t" + masks[0] + "\t" in table, "table", table)
    check(b".part" not in first["hand.json"] and b".part" not in first["hand.sh"], "names in the hidden folder", first["hand.sh"])
    for name in ("hand.trx", "hand.png", "hand.json"):
        os.remove(os.path.join(saved, name))
    subprocess.run(["sh", os.path.join(saved, "hand.sh"), "--quiet"], check=True, env=program)
    for name in set(names) - {"hand.json"}:
        check(open(os.path.join(saved, name), "rb").read() == first[name], "the script makes another", name)
    listed = json.loads(subprocess.run([tool, "info", os.path.join(saved, "hand.trx"), "--json"], check=True, capture_output=True, text=True).stdout)
    check(all(f'"b{i}"' in json.dumps(listed) for i in range(len(bundles))), "groups", listed)
    # all or nothing: an image that is in the way is a question; a save that fails leaves all as it is
    kept = {name: open(os.path.join(saved, name), "rb").read() for name in os.listdir(saved)}
    said = ask(page, "save", name="hand", force=False, bundles=[{"name": "a", "regions": bundles[0]}])
    check(said.get("exists") is True, "names that are taken", said)
    said = ask(page, "save", name="hand", force=True, bundles=[{"name": "a", "regions": [region("include", replaced), {"role": "include", "label": 987654}]}])
    check("987654" in said.get("error", "") and {name: open(os.path.join(saved, name), "rb").read() for name in os.listdir(saved)} == kept, "a save that fails", said)

    # fewer regions: the images of the others go
    said = ask(page, "save", name="hand", force=True, bundles=[{"name": "a", "regions": bundles[0]}])
    check("files" in said and [n for n in sorted(os.listdir(saved)) if "mask" in n] == masks[:1], "images of a save of before", said, os.listdir(saved))
    # an image that no save has made stays, whatever its name
    foreign = os.path.join(saved, masks[1])
    with open(foreign, "w") as f:
        f.write("mine")
    said = ask(page, "save", name="hand", force=True, bundles=[{"name": "a", "regions": bundles[0]}])
    check("files" in said and os.path.exists(foreign) and open(foreign).read() == "mine", "a save removes an image that is not its own", said)
    os.remove(foreign)
    # the region of the seeds is saved, too
    said = ask(page, "save", name="sown", force=False, seeds=wide["mask"], bundles=[{"name": "a", "regions": [region("include", bright)]}])
    check([n for n in sorted(os.listdir(saved)) if "sown_mask" in n] == ["sown_mask-1.nii.gz", "sown_mask-2.nii.gz"], "a save of seeds", said)
    check({v for v, x in enumerate(read_nifti(os.path.join(saved, "sown_mask-2.nii.gz"))[2]) if x} == near([place], 13), "the image of the seeds")
    # a save of the other kind replaces all files, so that no table is left without its images
    for body, ends in ({"track": {"mask": wide["mask"], "nseeds": 50, "seed": 1}}, {".trx", ".json", ".sh", "_mask-1.nii.gz"}), ({"bundles": [{"name": "a", "regions": [region("include", bright)]}]}, {".tsv", ".trx", ".json", ".png", ".sh", "_mask-1.nii.gz"}):
        said = ask(page, "save", name="sown", force=True, **body)
        check("files" in said and {n for n in os.listdir(saved) if n.startswith("sown")} == {"sown" + end for end in ends}, "a save of another kind", said, os.listdir(saved))

    # seeds
    page.send(json.dumps({"track": {"id": 3, "mask": ball["mask"], "nseeds": 300, "seed": 2}}))
    said = json.loads(page.receive())
    lines, scale = decode(page.receive()[12:])
    words = [named(w) for w in shlex.split(said["command"])]
    subprocess.run([tool, *words[1:-1], "again.trx", "--force", "-q"], check=True)
    away = farthest(lines, read_trx("again.trx"))
    check(len(lines) > 20 and away <= scale / 2 + 1e-4, "the command line tracks others:", away, "mm;", len(lines), said["command"])
    os.remove("again.trx")
    os.remove("again.json")
sys.exit(len(failures) > 0)
