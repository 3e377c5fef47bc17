"""Strokes and saves of a running `glslines view` that must leave files and regions as they are: view_guard.py ADDRESS WHAT [ARGUMENTS]. Prints what fails.

WHAT is `inputs NAME...`: no save of these names is made; `moved`: nothing can be painted; `grid`: the image is another one by now; `tilted IMAGE.nii`: flat strokes
are those that are found here; `stripes PID`: strokes on 160 x 160 x 160 voxels, in stripes, until a signal."""

import json
import os
import signal
import struct
import sys
import time

from view import Closed, Server, ask, check, failures, open_page

address, what, *rest = sys.argv[1:]


def paint(page, at, **changes):
    """Paints, and returns the answer and its voxels."""
    said = ask(page, "paint", **{"mask": 0, "replaces": False, "adds": True, "part": False, "plane": None, "radius": 6, "low": None, "high": None, "at": at, **changes})
    numbers = struct.iter_unpack("<2I", page.receive()[12:]) if "error" not in said else ()
    return said, {v for first, n in numbers for v in range(first, first + n)}


with open_page(Server(address)) as page:
    if what == "inputs":
        mask = paint(page, [[0, 0, 0]], radius=9)[0]["mask"]
        for name in rest:
            said = ask(page, "save", name=name, force=True, bundles=[{"name": "a", "regions": [{"role": "include", "mask": mask}]}])
            check("is an input" in said.get("error", ""), "a save over an input,", name, said)
    elif what == "moved":
        check("paint" not in json.loads(Server(address).get("/scene.json")[2]), "a page that paints")
        said = paint(page, [[0, 0, 0]])[0]
        check("no --transform" in said.get("error", ""), "painting beside a transform", said)
    elif what == "grid":
        said = paint(page, [[0, 0, 0]])[0]
        check("has changed" in said.get("error", ""), "painting on another grid", said)
    elif what == "tilted":
        head = open(rest[0], "rb").read(352)
        dim = struct.unpack("<3h", head[42:48])
        rows = [struct.unpack("<4f", head[280 + 16 * r : 296 + 16 * r]) for r in range(3)]
        grid = [(x, y, z) for z in range(dim[2]) for y in range(dim[1]) for x in range(dim[0])]
        centres = [[sum(a * b for a, b in zip(row, v)) + row[3] for row in rows] for v in grid]
        half = [sum(abs(x) for x in row[:3]) / 2 for row in rows]
        nearest = lambda p: min(range(len(centres)), key=lambda v: sum((a - b) ** 2 for a, b in zip(centres[v], p)))
        for plane in range(3):
            for radius in (0.5, 2, 7):
                at = [0.3, 0.2, 0.1]
                cut = {v for v, c in enumerate(centres) if -half[plane] < c[plane] - at[plane] <= half[plane]}
                wanted = {v for v in cut if sum((centres[v][a] - at[a]) ** 2 for a in range(3) if a != plane) <= radius**2}
                said, voxels = paint(page, [at], plane=plane, radius=radius)
                check(voxels == wanted | {nearest(at)} & cut and voxels, "a flat brush of", radius, "mm across axis", plane, "paints", len(voxels), "voxels, not", len(wanted))
    elif what == "stripes":
        # a region that is to replace another one, and has too many runs of voxels, replaces none
        first, _ = paint(page, [[0, 0, 0]], radius=5)
        said, _ = paint(page, [[0, 0, 0]], radius=50, low=0.5, mask=first["mask"], replaces=True)
        check("paint less" in said.get("error", ""), "a region of too many runs", said)
        said, _ = paint(page, [[0, 0, 0]], radius=1, adds=False, mask=first["mask"])
        check("error" not in said and 0 < said["voxels"] < first["voxels"], "a failed stroke takes away the region before", said)
        # a long way ends with a signal
        page.send(json.dumps({"paint": {"id": 4, "mask": 0, "replaces": False, "adds": True, "part": False, "plane": None, "radius": 50, "low": None, "high": None,
                                        "at": [[-60, -60, -60], [60, 60, 60]] * 32}}))
        time.sleep(1)
        begun = time.monotonic()
        os.kill(int(rest[0]), signal.SIGTERM)
        try:
            while "error" not in (said := json.loads(page.receive())):
                pass
        except (Closed, ConnectionError):
            said = None
        check(time.monotonic() - begun < 6, "the end of a stroke takes", time.monotonic() - begun, "s", said)
sys.exit(len(failures) > 0)
