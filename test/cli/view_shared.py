"""Pages of a running `glslines view` that share its scene, and a read-only one: view_shared.py ADDRESS READ_ONLY_ADDRESS SAVED PID. Prints what fails."""

import json
import os
import signal
import struct
import sys

from view import Server, ask, check, decode, failures, open_page

address, look, saved, pid = sys.argv[1:]
writer, looker = Server(address), Server(look)
check(writer.token != looker.token and writer.port == looker.port, "the read-only address", look)

# --- tokens: each gives its own cookie, and one that allows less does not replace that of before ---
for server, before, wanted in ((looker, None, looker), (looker, writer, writer), (writer, looker, writer)):
    status, headers, _ = server.get("/?token=" + server.token, {"Cookie": before and before.cookie})
    check(status == 200 and headers.get("set-cookie", "").startswith(wanted.cookie + ";"), "the cookie after", before, status, headers)
wrong = ("0" if looker.token[0] != "0" else "1") + looker.token[1:]
check(writer.get("/lines", {"Cookie": f"glslines-{looker.port}={wrong}"})[0] == 403, "a wrong read-only token")
check(looker.get("/lines")[0] == looker.get("/scene.json")[0] == 200, "files for the read-only page")

seeds = {"sphere": [0.25, 1, 0, 6], "nseeds": 60, "seed": 3}
controls = json.loads(writer.get("/scene.json")[2])["live"]["controls"]
ball = {"name": "region 1", "role": "include", "sphere": [0, 0, 0, 5]}


def scene(page, base, joins=False, **changes):
    body = {"base": base, "joins": joins, "regions": [ball], "bundles": [], "track": {**seeds, "controls": controls}, **changes}
    return ask(page, "scene", **{name: value for name, value in body.items() if value is not None})


def heard(page, version, what):
    """The message of the scene of a version to a page that asked for nothing; newer ones replace those before."""
    while True:
        answer = json.loads(page.receive())
        check(answer.get("kind") == "scene" and answer["id"] == 0 and answer["version"] <= version, what, answer)
        if answer.get("version", version) >= version:
            return answer


def seen(page, kind):
    """The next result of another page: its text and its streamlines."""
    said, data = json.loads(page.receive()), page.receive()
    check(list(said) == ["seen"] and said["seen"].get("kind") == kind, "a result of another page", said)
    check(struct.unpack("<I", data[4:8]) == (0,), "the number of a result of another page")
    return said["seen"], decode(data[12:])[0]


def rest(page):
    """Reads until nothing has come for a second. Returns the command of the last selection, and its streamlines."""
    command, lines, last = None, None, None
    page.s.settimeout(1)
    try:
        while True:
            said = page.receive()
            if isinstance(said, str):
                last = json.loads(said)
                last = last.get("seen", last)
            elif "selected" in last:
                command, lines = last["command"], decode(said[12:])[0]
    except TimeoutError:
        page.s.settimeout(20)
    return command, lines


with open_page(writer) as first, open_page(writer) as second, open_page(looker) as third:
    # --- one scene ---
    joined = ask(first, "join")
    check({k: joined[k] for k in ("writes", "version", "past", "future")} == {"writes": True, "version": 0, "past": 0, "future": 0} and "message" not in joined, "the first page", joined)
    check(joined["taken"] is False, "a page that joins has changed something", joined)
    answer = scene(first, 0)
    check(answer["version"] == 1 and answer["taken"] is True, "a scene", answer)
    for page, writes in ((second, True), (third, False)):
        joined = ask(page, "join")
        check(joined["writes"] == writes and joined["version"] == 1 and joined["message"]["scene"]["regions"] == [ball], "a page that comes later", joined)
    moved = {**ball, "sphere": [1, 0, 0, 5]}
    check(scene(first, 1, regions=[moved])["version"] == 2, "a change")
    for page in (second, third):
        answer = heard(page, 2, "a change of another page")
        check(answer["message"]["scene"]["regions"] == [moved] and answer["past"] == 1, "a change of another page", answer)

    # a change of a scene that is not that of now is not taken, and its page is sent the scene of now
    stale = scene(second, 1, regions=[])
    check(stale["version"] == 2 and stale["taken"] is False and stale["message"]["scene"]["regions"] == [moved], "a change of a scene of before", stale)
    # a change that goes on with the last one of the same page takes its place; with that of another page it does not
    check(scene(first, 2, joins=True, regions=[{**ball, "sphere": [2, 0, 0, 5]}])["past"] == 1, "a change that goes on")
    heard(second, 3, "a change that goes on")
    check(scene(second, 3, joins=True, regions=[])["past"] == 2, "a change that goes on with that of another page")
    heard(first, 4, "a change that goes on with that of another page")
    # undo goes back over the changes of all pages
    answer = ask(first, "undo", base=4, forward=False)
    check(answer["message"]["scene"]["regions"][0]["sphere"] == [2, 0, 0, 5] and answer["past"] == answer["future"] == 1, "undo", answer)
    for page in (second, third):
        answer = heard(page, 5, "undo on another page")
        check(answer["message"]["scene"]["regions"][0]["sphere"] == [2, 0, 0, 5], "undo on another page", answer)
    check(ask(first, "undo", base=5, forward=True)["future"] == 0 and ask(first, "undo", base=6, forward=True)["version"] == 6, "redo, and nothing to redo")
    for page in (second, third):
        check(heard(page, 6, "redo")["message"]["scene"]["regions"] == [], "redo on another page")
    # two pages that take back, or bring again, the same step at once do so once, and the other page hears that its step did not count:
    # the server finds both when it wakes up, and its answer takes the place of the scene that it had not sent yet
    for base, forward, past in ((6, False, 1), (7, True, 2)):
        os.kill(int(pid), signal.SIGSTOP)
        for page in (first, second):
            page.send(json.dumps({"undo": {"id": 400, "base": base, "forward": forward}}))
        os.kill(int(pid), signal.SIGCONT)
        answers = []
        for page in (first, second):
            answer = {"id": 0}
            while answer["id"] == 0:
                answer = json.loads(page.receive())
            check(answer["version"] == base + 1 and answer["past"] == past and answer["future"] == 2 - past, "a step of two pages at once", forward, answer)
            answers.append(answer["taken"])
        check(sorted(answers) == [False, True], "steps of two pages at once that counted", forward, answers)
        heard(third, base + 1, "a step of two pages at once, on another page")
    for wrong in ({"forward": False}, {"base": -1, "forward": False}, {"base": 8}):
        check(ask(first, "undo", **wrong).get("error", "").startswith("message: "), "an undo that cannot be taken", wrong)

    # --- results: what one page asks for, all show; a page that comes later gets the last ones ---
    selected = ask(first, "select", shown=5000, regions=[{"role": "include", "sphere": [0, 0, 0, 8]}])
    lines = decode(first.receive()[12:])[0]
    check(len(lines) == selected["selected"] > 0, "a selection", selected)
    for page in (second, third):
        said, found = seen(page, "select")
        check(found == lines and said["command"] == selected["command"], "the selection of another page")
    tracked = ask(second, "track", **seeds)
    followed = decode(second.receive()[12:])[0]
    for page in (first, third):
        check(seen(page, "track")[1] == followed and len(followed) == tracked["streamlines"] > 0, "what another page tracks")
    for server in (writer, looker):
        with open_page(server) as late:
            check(ask(late, "join")["version"] == 8, "a late page")
            check(seen(late, "track")[1] == followed and seen(late, "select")[1] == lines, "results for a late page")

    # a page that joins many times is sent what is kept: nothing is tracked again, which would take another time
    for _ in range(10):
        ask(third, "join")
        said, found = seen(third, "track")
        check(said["seconds"] == tracked["seconds"] and found == followed, "a page that joins again", said)
        seen(third, "select")

    # two pages that select at once end with the same streamlines: both send before either reads
    for k in range(3):
        for page, radius in ((first, 6), (second, 3 + k)):
            page.send(json.dumps({"select": {"id": 500, "shown": 5000, "regions": [{"role": "include", "sphere": [0, 0, 0, radius]}]}}))
        said, found = rest(first), rest(second)
        check(said[0] == found[0] and said[1] == found[1], "two selections at once", said[0], found[0])
        check(rest(third)[0] == said[0], "two selections at once, on another page")

    # the selection of a scene that was refused stays with its page, which is sent that of the others again
    now = ask(first, "join")["version"]
    rest(first)
    check(scene(second, now - 1)["version"] == now, "a stale scene")
    shown = said[0]
    second.send(json.dumps({"select": {"id": 500, "shown": 5000, "regions": [{"role": "include", "sphere": [1, 1, 1, 9]}]}}))
    check(rest(second)[0] == shown, "a selection of a scene that was refused")
    with open_page(looker) as late:
        ask(late, "join")
        check(rest(late)[0] == shown, "a selection of a scene that was refused, on a page that comes later")
    check(ask(second, "join")["version"] == now, "a page that takes part again")
    rest(second)

    # voxels that another page has painted
    painted = ask(first, "paint", mask=0, replaces=False, adds=True, part=False, plane=None, radius=5, low=None, high=None, at=[[0, 0, 0]])
    runs = first.receive()[12:]
    for page in (second, third):
        said = ask(page, "voxels", mask=painted["mask"])
        check(said["voxels"] == painted["voxels"] and page.receive()[12:] == runs, "voxels of another page", said)
    check("not known" in ask(third, "voxels", mask=99999).get("error", ""), "voxels of no region")

    # --- the read-only page looks at places, and changes nothing ---
    check("error" not in ask(third, "pick", at=[0, 0, 0]), "a place")
    before, files = ask(first, "join")["version"], sorted(os.listdir(saved))
    seen(first, "track")
    seen(first, "select")
    region = {"role": "include", "sphere": [0, 0, 0, 8]}
    for kind, body in (("track", seeds), ("select", {"shown": 5, "regions": [region]}), ("undo", {"base": before, "forward": False}),
                       ("paint", {"mask": 0, "replaces": False, "adds": True, "part": False, "plane": None, "radius": 5, "low": None, "high": None, "at": [[0, 0, 0]]}),
                       ("save", {"name": "x", "force": True, "bundles": [{"name": "a", "regions": [region]}]}),
                       ("save", {"name": "x", "force": True, "track": seeds}), ("judge", {"participant": 0, "judgement": "good", "note": ""})):
        said = ask(third, kind, **body)
        check("read-only" in said.get("error", "") and list(said) == ["id", "error"], "a read-only page may", kind, said)
    check("read-only" in scene(third, before).get("error", ""), "a read-only page may change the scene")
    check(sorted(os.listdir(saved)) == files, "a read-only page has written files")

    # --- scenes that cannot be taken are answered with the reason, and change nothing ---
    box = {"name": "region 2", "role": "stop", "box": [0, 0, 0, 1, 1, 1]}
    for changes in ({"regions": None}, {"bundles": None}, {"regions": [{"role": "include", "sphere": [0, 0, 0, 5]}]}, {"regions": [{**ball, "name": ""}]}, {"regions": [{**ball, "role": "x"}]},
                    {"regions": [{**ball, "more": 1}]}, {"regions": [ball] * 33}, {"track": []}, {"track": {**seeds, "id": 1}}, {"bundles": [{"name": "../x", "regions": []}]},
                    {"bundles": [{"name": "a", "regions": [], "count": -1}]}, {"criteria": {"length": 1}}, {"base": -1}, {"joins": 1}, {"more": 1},
                    {"regions": [{**ball, "role": "seed"}]}, {"regions": [{"name": "a", "role": "nonsense", "mask": 1}]}, {"regions": [{"name": "a", "role": "nonsense", "mask": 0}]}):
        said = scene(first, **{"base": before, **changes})
        check(said.get("error", "").startswith("message: "), "a scene that cannot be taken", changes, said)
    taken = scene(first, before, regions=[ball, box, {"name": "region 3", "role": "seed", "mask": 2}, {"name": "region 4", "role": "include", "mask": 0}],
                  bundles=[{"name": "a", "regions": [{"name": "region 5", "role": "end", "label": 7}], "count": 3}], criteria={"length": [5, None]}, track=None)
    check(taken.get("version") == before + 1, "a scene with all kinds of regions", taken)

# --- read-only pages leave room for others ---
pages = []
for _ in range(9):
    pages.append(open_page(looker))
check([page.status for page in pages][0] == 101 and pages[-1].status == 503, "read-only pages", [page.status for page in pages])
with open_page(writer) as page:
    check(page.status == 101, "a page beside many read-only ones", page.status)
for page in pages:
    page.close()
sys.exit(len(failures) > 0)
