"""Live tracking in a running `glslines view`: view_live.py ADDRESS TOOL FOLDER [GETTER ...]. Prints what fails.

Run it in the folder in which view runs, with an atlas and an image, or with names of getters, which alone are looked at. Each getter that the page offers tracks what its command line tracks, and a save of it
is made again by its script, byte for byte; refused controls change nothing; previews; regions in which streamlines stop."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from view import Server, ask, check, decode, failures, farthest, open_page, read_trx

address, tool, folder, *only = sys.argv[1:]
folder = Path(folder)
program = {**os.environ, "PATH": os.path.dirname(os.path.abspath(tool)) + ":" + os.environ["PATH"]}
server = Server(address)
live = json.loads(server.get("/scene.json")[2])["live"]
getters = live["getters"]
plain = live["controls"]
wall = {"role": "stop", "box": [-2, -50, -50, 2, 50, 50]}
seeds = {"sphere": [0.25, 1, 0, 6], "nseeds": 60, "seed": 3}


def track(page, **body):
    """Tracks; returns the answer and the streamlines."""
    said = ask(page, "track", **{**seeds, **body})
    if "error" in said:
        return said, None
    lines, scale = decode(page.receive()[12:])
    check(len(lines) == said["streamlines"], "streamlines", said, len(lines))
    return said, (lines, scale)


def repeated(said, found, what):
    """Checks that the command line of an answer gives its streamlines."""
    words = shlex.split(said["command"])
    subprocess.run([tool, *words[1:-1], "repeated.trx", "--force", "-q"], check=True)
    away = farthest(found[0], read_trx("repeated.trx"))
    check(away <= found[1] / 2 + 1e-4, what, "the command line gives other streamlines:", away, "mm;", said["command"])


def saved(page, what, name="live", **body):
    """Saves what is tracked; its script has to make the same bytes. Returns the streamlines."""
    said = ask(page, "save", name=name, force=True, track={**seeds, **body})
    check("files" in said, what, "save", said)
    if "files" not in said:
        return []
    first = (folder / f"{name}.trx").read_bytes()
    (folder / f"{name}.trx").unlink()
    subprocess.run(["sh", f"./{folder}/{name}.sh", "--quiet", "--force"], check=True, env=program)
    check((folder / f"{name}.trx").read_bytes() == first, what, "the script makes other bytes")
    check(".part" not in (folder / f"{name}.sh").read_text() + (folder / f"{name}.json").read_text(), what, "files of the hidden folder are named")
    return read_trx(folder / f"{name}.trx")


with open_page(server) as page:
    check(len(getters) >= 5 and live["getter"] in getters, "getters", live)
    seen = {}
    check(set(only) <= set(getters), "getters", getters)
    for getter in only or getters:
        controls = {**plain, "dg": getter}
        said, found = track(page, controls=controls)
        check(found and len(found[0]) > 0, getter, "tracks nothing", said)
        if not found:
            continue
        seen[getter] = found[0]
        lines = saved(page, getter, controls=controls)
        check(farthest(lines, found[0]) <= found[1] / 2 + 1e-4, getter, "the save has others than the page")
    check(len({json.dumps(lines) for lines in seen.values()}) >= len(seen) - 1, "getters with equal streamlines")
    for dg in {"boot", "nonsense"} - set(getters):
        said, _ = track(page, controls={**plain, "dg": dg})
        check(said.get("error", "").startswith("--dg"), "getter", dg, said)

if not only:
    with open_page(server) as page:
        # controls; those that are refused leave the page with what was tracked before
        before, _ = track(page, controls=plain)
        for name, value, why in (("max-angle", "100", "--max-angle: 100 is out of range"), ("max-angle", "x", "--max-angle: 'x' is not a number"), ("step-size", "0", "--step-size: 0 is out of range"),
                                 ("step-size", "1km", "--step-size: '1km' is not a length"), ("cutoff", "-1", "--cutoff: -1 is out of range"), ("max-angle", "--force", "--max-angle: '--force' is not")):
            said, _ = track(page, controls={**plain, name: value})
            check(said.get("error", "").startswith(why), name, value, said)
        said, _ = track(page, controls={**plain, "dg": "ptt", "cutoff": "0.1"})
        check(said.get("error", "").startswith("--cutoff: only --dg "), "a cutoff of ptt", said)
        after, found = track(page)
        check({**after, "seconds": 0} == {**before, "seconds": 0}, "refused controls change", before, after)
        for changes in ({"max-angle": "20"}, {"max-angle": "20", "step-size": "0.3vox"}, {"dg": "ifod2", "cutoff": "0.12"}, {"act": False}, {"act": False, "max-angle": "60"}):
            said, other = track(page, controls={**plain, **changes})
            check(other and all(f"--{name}={value} " in said["command"] for name, value in changes.items() if name != "act") and (" --act " in said["command"]) == changes.get("act", plain["act"]),
                  "controls", changes, said)
            if other:
                repeated(said, other, changes)
                check(farthest(other[0], found[0]) > 0.1, changes, "changes nothing")
                check(said["values"]["max-angle"] == float(changes.get("max-angle", said["values"]["max-angle"])), "values", changes, said)

        # previews: a part of the seeds by the speed of before, never of what is asked for at rest
        said, _ = track(page, nseeds=100000, preview=True)
        check(0 < said["seeds"] < said["of"] == 100000 and "--nseeds 100000 " in said["command"], "a preview", said)
        said, _ = track(page, nseeds=3000)
        # nothing is known of the speed by other controls
        said, _ = track(page, nseeds=100000, preview=True, controls={**plain, "step-size": "0.1"})
        check(said["seeds"] == 200, "a preview after a change of the step", said)
        said, _ = track(page, nseeds=30, preview=True)
        check(said["seeds"] == said["of"] == 30, "a preview of few seeds", said)
        said, found = track(page, nseeds=3000)
        check(said["seeds"] == said["of"] == 3000, "a refinement", said)
        repeated(said, found, "a refinement")
        # the page needs part of the time of a preview; seeds of the same numbers give the same streamlines
        said, part = track(page, nseeds=100000, preview=True, page_seconds=60)
        check(said["seeds"] < said["of"], "a preview for a slow page", said)
        same, all_of_part = track(page, nseeds=said["seeds"])
        check(part[0] == all_of_part[0], "a preview has other streamlines than its number of seeds", said, same)

        # regions in which streamlines stop
        free, _ = track(page)
        stops = [wall, {"role": "stop", "sphere": [8, 6, 0, 5]}]
        for some in (stops[:1], stops, [{"role": "stop", "label": 7}], []):
            said, found = track(page, stop=some)
            check(said.get("command", "").count(" --stop-at=") == len(some) and (said["streamlines"] != free["streamlines"]) == bool(some), "stop", some, said)
            if found:
                repeated(said, found, some)
        said, _ = track(page, stop=[{"role": "stop", "label": 987654}])
        check("987654" in said.get("error", ""), "a label that is not there", said)
        said, found = track(page)
        check({**said, "seconds": 0, "id": 0} == {**free, "seconds": 0, "id": 0}, "a region that is refused stays", said, free)
        saved(page, "stops", stop=stops)
        stroke = {"mask": 0, "replaces": False, "adds": True, "part": False, "plane": None, "low": None, "high": None}
        masks = []
        for at, radius in ([[0, 0, 0]], 7), ([[9, 0, 0]], 5):
            masks.append(ask(page, "paint", **stroke, radius=radius, at=at)["mask"])
            page.receive()
        painted = {"nseeds": 60, "seed": 3, "mask": masks[0], "stop": [{"role": "stop", "mask": masks[1]}, wall]}
        said = ask(page, "track", **painted)
        lines, scale = decode(page.receive()[12:])
        check(re.search(r"--seed-rejection=mask-\d+\.nii\.gz .* --stop-at=mask-\d+\.nii\.gz ", said["command"]) and len(lines) > 0, "painted", said)
        del seeds["sphere"]
        whole = saved(page, "painted", "hand", **{"mask": masks[0], "stop": painted["stop"]})
        check(farthest(whole, lines) <= scale / 2 + 1e-4, "painted: the save has others than the page")
        check({f.name for f in folder.glob("hand*")} == {"hand.trx", "hand.json", "hand.sh", "hand_mask-1.nii.gz", "hand_mask-2.nii.gz"}, "painted files", sorted(folder.glob("hand*")))
        said = ask(page, "save", name="hand", force=False, track={**seeds, "mask": masks[0]})
        check(said.get("exists") is True, "names that are taken", said)

    # all seeds give way to what the page asks for next, and to other messages for the moment
    with open_page(server) as page:
        seeds["sphere"] = [0.25, 1, 0, 6]
        asks = lambda number, **body: page.send(json.dumps({"track": {"id": number, **seeds, **body}}))
        long = {"nseeds": 100000, "controls": {**plain, "step-size": "0.01"}}
        usual = ask(page, "track", **{**seeds, "nseeds": 5000})
        whole = page.receive()
        ask(page, "save", name="live", force=True, track=seeds)
        alone = (folder / "live.trx").read_bytes()
        for other, kind in ((lambda: asks(12, nseeds=30), 1), (lambda: page.send(json.dumps({"paint": {"id": 12, **stroke, "radius": 3, "at": [[0, 0, 0]]}})), 3)):
            asks(11, **long)
            time.sleep(0.3)
            other()
            said = json.loads(page.receive())
            check(said["id"] == 12 and "error" not in said, "what the page asks for next waits for all seeds", said)
            found = page.receive()
            check(found[1] == kind and found[4] == 12, "bytes", found[:12])
        asks(13, nseeds=5000)
        page.send(json.dumps({"save": {"id": 14, "name": "live", "force": True, "track": seeds}}))
        answers, parts = {}, []
        while len(answers) < 2 or not parts:
            part = page.receive()
            answers.update({json.loads(part)["id"]: json.loads(part)} if isinstance(part, str) else {})
            parts += [] if isinstance(part, str) else [part]
        check({**answers[13], "seconds": 0, "id": 3} == {**usual, "seconds": 0} and len(parts) == 1 and parts[0][8:] == whole[8:], "all seeds after a save", answers)
        check("files" in answers[14] and (folder / "live.trx").read_bytes() == alone, "a save during all seeds", answers)

    # a page that is closed ends its run, so that the others do not wait for it
    with open_page(server) as page:
        with open_page(server) as leaving:
            leaving.send(json.dumps({"track": {"id": 1, "sphere": [0, 0, 0, 6], "nseeds": 100000, "seed": 1, "controls": {**plain, "step-size": "0.01"}}}))
            time.sleep(0.5)
        begun = time.monotonic()
        seeds["sphere"] = [0.25, 1, 0, 6]
        track(page)
        check(time.monotonic() - begun < 10, "the run of a page that is closed goes on for", time.monotonic() - begun, "s")
for path in [*folder.glob("live.*"), *folder.glob("hand*"), Path("repeated.trx"), Path("repeated.json")]:
    path.unlink(missing_ok=True)
check(os.listdir(folder) == [], "files that stay", os.listdir(folder))
sys.exit(len(failures) > 0)
