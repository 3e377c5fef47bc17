"""Saves a bundle in a running `glslines view`, and runs its script again: view_save.py ADDRESS TOOL FOLDER NAME [LABEL]. Prints what fails.

Run it in the folder in which view runs. The bundle is that of a sphere of 9 mm in the middle, without the label."""

import json
import math
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from view import Server, ask, check, decode, failures, open_page, read_trx

address, tool, folder, name, *label = sys.argv[1:]
folder = Path(folder)


regions = [{"role": "include", "sphere": [0, 0, 0, 9]}, *({"role": "exclude", "label": int(number)} for number in label)]
program = {**os.environ, "PATH": os.path.dirname(os.path.abspath(tool)) + ":" + os.environ["PATH"]}
server = Server(address)
shown, _ = decode(server.get("/lines")[2])
check(len(shown) > 20 and all(math.isfinite(v) for line in shown for point in line for v in point), "streamlines of the page")
with open_page(server) as page:
    selected = ask(page, "select", shown=0, regions=regions)
    check(selected.get("selected", 0) > 20, "select", selected)
    page.receive()
    words = shlex.split(selected["command"])
    said = ask(page, "save", name=name, force=False, bundles=[{"name": "one", "regions": regions}])
    files = [folder / (name + suffix) for suffix in (".tsv", ".trx", ".json", ".png", ".sh")]
    check([os.path.normpath(f) for f in said.get("files", [])] == [str(f) for f in files], "save", said)
    if "files" in said:
        first = {f: f.read_bytes() for f in files}
        line = json.loads(first[files[2]])["command_line"]
        check("--nthreads" in line and line[line.index("--nthreads") + 1] == "1", "number of threads of view --nthreads 1", line)
        for f in files[1:4]:
            f.unlink()
        script = str(files[4])
        subprocess.run(["sh", "./" + script, "--quiet"], check=True, env=program)
        for f in files[:2] + files[3:4]:
            check(f.read_bytes() == first[f], "the script makes another", f)
        check(len(read_trx(files[1])) == selected["selected"], "the bundle has", len(read_trx(files[1])), "streamlines:", selected)
        # files that are replaced behind symbolic links, which stay; a picture of before goes where there is none now
        (folder / "behind").mkdir()
        for f in files[:1] + files[4:]:
            f.rename(folder / "behind" / f.name)
            f.symlink_to(Path("behind") / f.name)
        said = ask(page, "save", name=name, force=True, bundles=[{"name": "two", "regions": regions}])
        check("files" in said and files[0].is_symlink() and files[4].is_symlink(), "saving over links", said)
        check((folder / "behind" / files[0].name).read_text().startswith("bundle\tinclude\texclude\ntwo\t"), "the file behind a link is that of before")
        said = ask(page, "save", name=name, force=True, bundles=[{"name": "none", "regions": [{"role": "include", "sphere": [500, 0, 0, 1]}]}])
        check("note" in said and not files[3].exists() and files[1].exists(), "replacing a picture by none", said)
        check(".part" not in said.get("note", "") and not [f for f in folder.iterdir() if f.name.startswith(".")], "files of a save that stay", said)
        # the sidecar and errors name the files, not those in the hidden folder
        check(str(files[1]) in [os.path.normpath(w) for w in line] and b".part" not in first[files[2]], "the sidecar names", line)
        said = ask(page, "save", name=name, force=True, bundles=[{"name": "one", "regions": [{"role": "include", "label": 987654}]}])
        check("987654" in said.get("error", "") and ".part" not in said["error"], "an error of a save", said)
        shutil.rmtree(folder / "behind")
        for f in (files[0], files[4]):
            f.unlink()
    edit = [w if w not in ("selected.trx", "selected.tck") else "./" + str(folder / ("edited" + w[-4:])) for w in words[1:]]
    subprocess.run([tool, *edit, "--quiet", "--force"], check=True)
    counted = subprocess.run([tool, "info", edit[2], "--count", "--json"], check=True, capture_output=True, text=True).stdout
    counted = json.loads(counted)["tractograms"][0]["streamlines"]
    check(counted == selected["selected"], "the command line selects", counted, "others:", selected)
sys.exit(len(failures) > 0)
