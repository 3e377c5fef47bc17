"""Begins a save that cannot end in a running `glslines view`: view_stop.py ADDRESS [ATLAS FOLDER]. Prints what fails.

The commands of the save wait for the atlas, which becomes a pipe without a writer. Meanwhile the server answers other pages. The caller ends the
server, and looks whether FOLDER is as FOLDER.before. Without ATLAS, saves files of the same names, and ends."""

import filecmp
import json
import os
import shutil
import sys
import time

from view import Server, ask, check, failures, open_page

server = Server(sys.argv[1])


if len(sys.argv) == 2:
    with open_page(server) as page:
        said = ask(page, "save", name="x", force=True, bundles=[{"name": "a", "regions": [{"role": "include", "sphere": [0, 0, 0, 9]}]}])
        check("files" in said, "a save over the files of a server that was killed", said)
    sys.exit(len(failures) > 0)

atlas, folder = sys.argv[2:]
save = {"name": "x", "bundles": [{"name": "a", "regions": [{"role": "include", "label": 7}]}]}
with open_page(server) as page, open_page(server) as other:
    check("files" in ask(page, "save", force=False, **save), "the first save")
    shutil.copytree(folder, folder + ".before")
    os.remove(atlas)
    os.mkfifo(atlas)
    page.send(json.dumps({"save": {"id": 4, "force": True, **save}}))
    begun = time.monotonic()
    said = ask(other, "select", shown=0, regions=[{"role": "include", "sphere": [0, 0, 0, 9]}])
    check(said.get("selected", 0) > 0 and time.monotonic() - begun < 5, "a selection during a save", said, time.monotonic() - begun, "s")
    other.receive()
    said = ask(other, "save", force=True, **save)
    check("a save goes on" in said.get("error", ""), "a second save", said)
    end = time.monotonic() + 10
    while len(os.listdir(folder)) == len(os.listdir(folder + ".before")) and time.monotonic() < end:
        time.sleep(0.05)
    hidden = [name for name in os.listdir(folder) if name.startswith(".x.tsv.")]
    check(len(hidden) == 1, "the folder of a save that goes on", os.listdir(folder))
    for name in os.listdir(folder + ".before"):
        paths = [os.path.join(place, name) for place in (folder, folder + ".before")]
        check(os.path.exists(paths[0]) and filecmp.cmp(*paths, shallow=False), "during a save", name, "is not the file of before")
sys.exit(len(failures) > 0)
