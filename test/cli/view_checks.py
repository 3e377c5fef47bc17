"""Checks a running `glslines view`: view_checks.py ADDRESS TOOL TRACKS.trx ATLAS. Prints what fails."""

import gzip
import json
import os
import random
import re
import shlex
import socket
import struct
import subprocess
import sys
import zipfile

from view import Closed, Server, ask, check, decode, failures, farthest, open_page, read_trx

address, tool, tracks, atlas = sys.argv[1:]
server = Server(address)
random.seed(1)


def request(**changes):
    track = {"id": 7, "sphere": [0, 0, 0, 6], "nseeds": 20, "seed": 0, **changes}
    return json.dumps({"track": track})


# --- only this machine reaches the server ---
listening = []
for name in ("tcp", "tcp6"):
    for line in open("/proc/net/" + name).readlines()[1:]:
        local, state = line.split()[1], line.split()[3]
        if state == "0A" and int(local.split(":")[1], 16) == server.port:
            listening.append(local.split(":")[0])
check(listening and set(listening) <= {"0100007F", "0" * 24 + "01000000"}, "it listens on", listening)

# --- the token moves into a cookie ---
status, headers, body = server.get("/?token=" + server.token, {"Cookie": None})
cookie = headers.get("set-cookie", "")
check(status == 200 and b'http-equiv="refresh" content="0; url=/"' in body and b"script" not in body, "first request", status, body)
check("default-src 'self'" in headers.get("content-security-policy", "") and headers.get("cache-control") == "no-store", "headers of the first answer", headers)
check(cookie == f"{server.cookie}; httponly; samesite=strict; path=/", "cookie", cookie)
changed = ("0" if server.token[0] != "0" else "1") + server.token[1:]
# headers beyond libwebsockets' room: it ends the connection, or says why; 0 is no answer, which nothing else may have
TOO_LARGE = (0, 413, 431)
for token in (changed, "", server.token[:-1], server.token + "0", "x" * 5000):
    wanted = TOO_LARGE if len(token) > 4000 else (403,)
    status, headers, _ = server.get("/?token=" + token, {"Cookie": None})
    check(status in wanted and "set-cookie" not in headers, "token", token[:40], status)
    status, _, _ = server.get("/lines", {"Cookie": f"glslines-{server.port}={token}"})
    check(status in wanted, "cookie", token[:40], status)
check(server.get("/lines", {"Cookie": "a=b; " + server.cookie + "; c"})[0] == 200, "a cookie among others")
check(server.get("/lines?token=" + server.token, {"Cookie": None})[0] == 403, "the token with another path")

# --- names of the machine and of the site ---
for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port % 60000 + 1}", f"127.0.0.1.evil.example:{server.port}", "", None):
    for path in ("/", "/?token=" + server.token):
        status, headers, _ = server.get(path, {"Host": host})
        check(status == 403 and "set-cookie" not in headers, "Host", host, status)
check(server.get("/", {"Host": f"localhost:{server.port}"})[0] == 200, "Host: localhost")
if "0" * 24 + "01000000" in listening:
    check(server.get("/", {"Host": f"[::1]:{server.port}"}, family=socket.AF_INET6)[0] == 200, "Host: [::1]")
for origin in ("http://evil.example", "null", f"https://{server.host}", f"http://localhost:{server.port}", "http://" + server.host + ".evil.example"):
    check(server.get("/lines", {"Origin": origin})[0] == 403, "Origin", origin)
check(server.get("/lines", {"Origin": "http://" + server.host})[0] == 200, "its own Origin")

# --- methods and paths ---
for method in ("POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "NONSENSE"):
    status, _, body = server.get("/lines", {"Content-Length": "0"}, method)
    # methods that libwebsockets does not know have no path, and no cookie either
    check(status == (403 if method in ("TRACE", "NONSENSE") else 405) and b"\0" not in body, "method", method, status)
status, _, _ = server.get("/lines", {}, "CONNECT")
check(status == 405, "method CONNECT", status)
for path in ("/x", "/lines/", "/../etc/passwd", "/..%2f..%2fetc/passwd", "/etc/passwd", "/view.html", "/.", "/" + "x" * 3000, "*", "http://evil.example/"):
    status, _, body = server.get(path)
    check(status == {"/.": 200, "*": 403, "http://evil.example/": 403}.get(path, 404), "path", path[:40], status)
    check(b"root:" not in body, "path", path[:40], body[:40])
check(server.raw(b"GET /lines HTTP/1.1\r\n" + server.headers({"X": "x" * 50000}).encode() + b"\r\n")[0] in TOO_LARGE, "a large header")

# --- headers of each answer; no code in the page ---
for path, changes, wanted in (("/", {}, 200), ("/stage.js", {}, 200), ("/view.js", {}, 200), ("/report.css", {}, 200), ("/lines", {}, 200), ("/columns", {}, 200),
                              ("/slices/0", {}, 200), ("/scene.json", {}, 200), ("/labels", {}, 200), ("/x", {}, 404), ("/", {"Cookie": None}, 403)):
    status, headers, body = server.get(path, changes)
    policy = headers.get("content-security-policy", "")
    check(status == wanted, path, status)
    check("default-src 'self';" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, path, policy)
    check(headers.get("x-content-type-options") == "nosniff" and not any(h.startswith("access-control") for h in headers), path, headers)
    check(server.token.encode() not in body, path, "has the token")
    if path == "/" and status == 200:
        page = body.decode()
        check(not re.search(r"<script[^>]*>[^<]|<style|\son[a-z]+=|\sstyle=|javascript:", page), "code in the page")

# --- WebSockets of others ---
for changes, path in (({"Cookie": None}, "/live"), ({"Cookie": server.cookie[:-1] + "g"}, "/live"), ({"Origin": None}, "/live"), ({"Origin": "http://evil.example"}, "/live"),
                      ({"Host": f"evil.example:{server.port}", "Origin": f"http://evil.example:{server.port}"}, "/live"), ({}, "/"), ({}, "/lines"), ({}, "/live/x")):
    with open_page(server, changes, path) as page:
        check(page.status == (403 if path == "/live" else 404), "WebSocket", changes, path, page.status)


# --- messages that are none end the connection with a reason ---
def refused(send, code, what):
    with open_page(server) as page:
        check(page.status == 101, what, "is not taken", page.status)
        try:
            send(page)
            message = page.receive()
            check(False, what, "was answered", message[:80])
        except Closed as closed:
            check(closed.code == code and (closed.reason or code != 1002), what, closed.code, closed.reason)
        except ConnectionError:
            check(code is None, what, "was cut off")


bundle = {"name": "a", "regions": [{"role": "include", "label": 1}]}
controls = {"dg": "", "max-angle": "", "cutoff": "", "step-size": "", "act": False}
stop = {"role": "stop", "sphere": [0, 0, 0, 5]}
bad = ["", "x", request()[:-1], request() + "x", "[" * 4000, "{" * 4000, request(nseeds=float("nan")), request(seed=float("inf"))]
for text in bad:
    refused(lambda page, text=text: page.send(text), 1002, "message " + text[:60])
refused(lambda page: page.send(request().encode()), 1003, "a binary message")
refused(lambda page: page.send("x" * 65537), 1009, "a message of 65537 bytes")
refused(lambda page: page.send("x" * 1000000), 1009, "a message of a megabyte")
refused(lambda page: [page.send("x" * 40000, 1, False), page.send("x" * 40000, 0)], 1009, "a message of two large parts")
refused(lambda page: page.send(b"\xff\xfe{}", 1), 1002, "text that is not UTF-8")
refused(lambda page: page.send(b'{"pick": {"id": 1, "at": "\xff"}}', 1), 1002, "JSON that is not UTF-8")

# --- messages that ask for too much or for something else are answered, and the page goes on ---
stroke = {"id": 1, "mask": 0, "replaces": False, "adds": True, "part": False, "plane": None, "radius": 3, "low": None, "high": None, "at": [[0, 0, 0]]}
wrong = ["{}", "[]", "null", '{"track": 1}', '{"track": {}}', '{"save": "/etc/passwd"}',
       request().replace("}}", '}, "more": 1}'), request(more=1), request(nseeds=0), request(nseeds=-1), request(nseeds=100001), request(nseeds=1.5), request(nseeds="20"),
       request(id=-1), request(id=2**32), request(seed=-1), request(seed=2**60), request(sphere=[0, 0, 0]),
       *(json.dumps({"select": {"id": 1, "shown": shown, "regions": regions}}) for shown, regions in (
           (1, []), (1, [{}]), (1, [{"role": "include"}]), (1, [{"role": "seed", "sphere": [0, 0, 0, 1]}]), (1, [{"role": "include", "sphere": [0, 0, 0, 1], "box": [0, 0, 0, 1, 1, 1]}]),
           (1, [{"role": "include", "box": [0, 0, 0, 1, 1, 0]}]), (1, [{"role": "include", "file": "/etc/passwd"}]), (1, [{"role": "include", "label": 0}]), (1, [{"role": "include", "label": 1.5}]),
           (-1, [{"role": "include", "label": 1}]), (100001, [{"role": "include", "label": 1}]), (1, 33 * [{"role": "include", "label": 1}]), (1, "all"))),
       *(json.dumps({"save": {"id": 1, "name": name, "force": force, "bundles": bundles}}) for name, force, bundles in (
           ("../x", False, [bundle]), ("", False, [bundle]), ("-x", False, [bundle]), ("x", 0, [bundle]), ("x", False, []), ("x", False, 2 * [bundle]),
           ("x", False, [{**bundle, "name": "a;b"}]), ("x" * 64, False, [bundle]), ("x", False, [{**bundle, "name": f"a{i}"} for i in range(33)]),
           ("x", False, [{"name": f"a{i}", "regions": 32 * bundle["regions"]} for i in range(9)]), ("x", False, [{"name": "a", "regions": 33 * bundle["regions"]}]))),
       *(json.dumps({"select": {"id": 1, "shown": 1, "regions": regions}}) for regions in (
           [{"role": "include", "mask": 0}], [{"role": "include", "mask": 2**32}], [{"role": "include", "mask": "1"}], 3 * [{"role": "end", "label": 7}], [{"role": "stop", "label": 7}])),
       *(json.dumps({"paint": {**stroke, **change}}) for change in (
           {"more": 1}, {"mask": -1}, {"mask": 1.5}, {"adds": 1}, {"replaces": None}, {"part": "no"}, {"plane": 3}, {"plane": -1}, {"plane": 0.5}, {"radius": -1}, {"radius": 51},
           {"radius": None}, {"low": "0"}, {"low": 1e10}, {"high": [1]}, {"at": []}, {"at": [[0, 0]]}, {"at": [0, 0, 0]}, {"at": 65 * [[0, 0, 0]]}, {"at": [[0, 0, 1e9]]}, {"at": None})),
       '{"track": {"id": 1, "mask": 0, "nseeds": 1, "seed": 0}}', '{"track": {"id": 1, "mask": 1, "sphere": [0, 0, 0, 1], "nseeds": 1, "seed": 0}}',
       *(request(controls={**controls, **change}) for change in ({"dg": 1}, {"act": 0}, {"more": ""}, {"max-angle": "1" * 32}, {"cutoff": "0 1"}, {"step-size": "1\n"}, {"dg": "\u00e4"})),
       request(controls={"dg": ""}), request(controls=[0] * 5), request(controls=None), request(preview=1), request(page_seconds=1), request(preview=True, page_seconds=61), request(preview=True, page_seconds="1"), request(preview=False, page_seconds=1), request(stop=stop), request(stop=33 * [stop]),
       *(request(stop=[{**stop, **change}]) for change in ({"role": "include"}, {"role": "seed"}, {"sphere": [0, 0, 0, 0]}, {"label": 7})),
       *(json.dumps({"save": {"id": 1, "name": "x", "force": False, "track": track}}) for track in (
           {}, [], {"sphere": [0, 0, 0, 5], "nseeds": 1}, {"sphere": [0, 0, 0, 5], "nseeds": 1, "seed": 0, "preview": True}, {"id": 1, "sphere": [0, 0, 0, 5], "nseeds": 1, "seed": 0})),
       json.dumps({"save": {"id": 1, "name": "../x", "force": False, "track": {"sphere": [0, 0, 0, 5], "nseeds": 1, "seed": 0}}}),
       *(json.dumps({"glyphs": {"id": 1, "axis": 2, "at": 0, "low": [0, 0, 0], "high": [1, 1, 1], **change}}) for change in (
           {"axis": 3}, {"axis": -1}, {"axis": 0.5}, {"at": None}, {"at": 1e9}, {"low": [0, 0]}, {"high": [0, 0, 1e9]}, {"high": None}, {"more": 1})),
       '{"pick": {"id": 1, "at": [0, 0]}}', '{"pick": {"id": 1}}',
       request(sphere=[0, 0, 0, 0]), request(sphere=[0, 0, 0, -1]), request(sphere=[1e9, 0, 0, 5]), request(sphere=[10001, 0, 0, 5]), request(sphere=["0", 0, 0, 5]), request(sphere=None)]
with open_page(server) as page:
    for text in wrong:
        page.send(text)
        said = json.loads(page.receive())
        whole = json.loads(text)
        inner = next(iter(whole.values()), None) if isinstance(whole, dict) and len(whole) == 1 else None
        asked = inner.get("id", 0) if isinstance(inner, dict) else 0
        check(said.get("error", "").startswith("message: ") and said["id"] == (asked if 0 <= asked < 2**32 else 0), "message", text[:100], said)
    check(not os.listdir("saved"), "a message that was refused has saved files", os.listdir("saved"))
    # the limits of the page are those of the server
    most = json.loads(server.get("/scene.json")[2])["most"]
    html = server.get("/")[2].decode()
    check('id="seed-x" min="-10000" max="10000"' in html and 'id="seed-r" min="0.001" max="1000"' in html and 'id="seed" min="0" max="9007199254740992"' in html
          and 'id="nseeds" min="1" max="100000"' in html and html.count('maxlength="63"') == 3 and html.count('maxlength="31"') == 3 and "{{" not in html, "limits of fields")
    edge = most["place"] + most["radius"]
    ends = {"role": "exclude", "box": [most["place"] - most["radius"]] * 3 + [edge] * 3}
    page.send(json.dumps({"select": {"id": 1, "shown": most["shown"], "regions": most["regions"] * [ends]}}))
    said = json.loads(page.receive())
    check(said.get("selected") == said["of"] and page.receive(), "a selection at the limits", said)

# --- streamlines: those of the command line ---
def track(page, **changes):
    page.send(request(**changes))
    said = json.loads(page.receive())
    return said, page.receive()


with open_page(server) as page:
    seen = []
    for changes in ({"nseeds": 60}, {"nseeds": 60, "seed": 5}, {"sphere": [-9.123456789, 4.5, 2.25, 7.5], "id": 4294967295, "nseeds": 300}):
        said, data = track(page, **changes)
        check(said["id"] == changes.get("id", 7) and data[:4] == b"\1\1\0\0" and int.from_bytes(data[4:8], "little") == said["id"], "head of the answer", said, data[:12])
        lines, scale = decode(data[12:])
        check(len(lines) == said["streamlines"] == int.from_bytes(data[8:12], "little") > 20, "streamlines", said, len(lines))
        words = shlex.split(said["command"])
        check(words[0] == "glslines" and words[-2:] == ["-o", "tracks.trx"], "command", said["command"])
        subprocess.run([tool, *words[1:-1], "again.trx", "--force", "-q"], check=True)
        away = farthest(lines, read_trx("again.trx"))
        check(away <= scale / 2 + 1e-4, "the command line gives other streamlines:", away, "mm;", said["command"])
        seen.append(lines)
    # other random seeds give other streamlines, so that equal ones are no chance
    check(farthest(seen[0], seen[1]) > 1, "random seed 5 gives the streamlines of 0")
    said, data = track(page, sphere=[900, 900, 900, 1])
    check(said["streamlines"] == 0 and decode(data[12:])[0] == [], "a sphere outside", said)

# --- the tractogram: a sample in the order of the file, whose ends are exact ---
lines, scale = decode(server.get("/lines")[2])
whole = read_trx(tracks)
check(len(lines) == 200 < len(whole), "sample of", len(lines), "of", len(whole))
at, found = -1, []
for line in lines:
    at = next((i for i in range(at + 1, len(whole)) if farthest([[line[0], line[-1]]], [[whole[i][0], whole[i][-1]]]) <= scale / 2 + 1e-4), len(whole))
    found.append(at)
check(found[-1] < len(whole), "a streamline of the sample is not in the file")
check(max(b - a for a, b in zip(found, found[1:])) <= 2 * len(whole) / len(lines) + 1, "the sample is not even:", found[:10])

# --- selections: those of the command line, by all streamlines and not by the sample ---
def sphere(*numbers, role="include"):
    return {"role": role, "sphere": list(numbers)}


def box(*numbers, role="include"):
    return {"role": role, "box": list(numbers)}


def label(number, role="include"):
    return {"role": role, "label": number}


def ask_all(page, kind, **body):
    """Asks, and returns the answer, and of a selection its streamlines."""
    said = ask(page, kind, **body)
    check(said["id"] == 3, "number of the answer", said)
    return (said, page.receive()) if kind == "select" and "error" not in said else (said, None)


def share_in_box(line, low, high):
    """Whether a straight line between points meets a box: its parameter is cut at each pair of planes."""
    for a, b in zip(line, line[1:]):
        t = [0.0, 1.0]
        for u, v, x, y in zip(a, b, low, high):
            if u == v:
                t = t if x <= u < y else [1.0, 0.0]
                continue
            p, q = sorted(((x - u) / (v - u), (y - u) / (v - u)))
            t = [max(t[0], p), min(t[1], q)]
        if t[0] < t[1]:
            return True
    return False


names = [number for number, _ in json.loads(server.get("/labels")[2])]
check(len(names) >= 2, "labels", names)
with open_page(server) as page:
    counts = set()
    for regions in ([sphere(0, 0, 0, 5)], [sphere(0.5, 0, 0, 5)], [box(-5, -4.5, -5, 5, 5, 4)], [label(names[0])], [sphere(0, 0, 0, 9, role="exclude")],
                    [sphere(0, 0, 0, 9), label(names[-1]), box(-30, -30, -30, 0, 30, 30, role="exclude")], [label(names[0]), label(names[1], "exclude"), sphere(0, 0, 0, 12)],
                    [sphere(0.5, 0, 0, 5), sphere(0.5, 0, 0, 5), label(names[1])], [sphere(500, 0, 0, 5)], [box(-500, -500, -500, 500, 500, 500)]):
        said, data = ask_all(page, "select", shown=100000, regions=regions)
        check(data[:4] == b"\1\2\0\0" and data[4] == 3, "head of the selection", data[:12])
        lines, scale = decode(data[12:])
        check(said["of"] == len(whole) and len(lines) == said["selected"] == said["shown"], "selection", said, len(lines))
        words = shlex.split(said["command"])
        check(words[:3] == ["glslines", "edit", tracks], "command", said["command"])
        subprocess.run([tool, *["again.trx" if w == "selected.trx" else w for w in words[1:]], "--force", "-q"], check=True)
        wanted = read_trx("again.trx")
        same = [(a[0], a[-1]) for a in wanted]
        away = farthest([[a[0], a[-1]] for a in lines], [list(ends) for ends in same]) if len(lines) == len(same) else float("inf")
        check(away <= scale / 2 + 1e-4, "the command line selects others:", away, "mm;", len(lines), "and", len(same), said["command"])
        counts.add(said["selected"])
        if regions == [box(-5, -4.5, -5, 5, 5, 4)]:
            inside = sum(share_in_box(line, (-5, -4.5, -5), (5, 5, 4)) for line in whole)
            check(inside == said["selected"] > 0, "a box:", said["selected"], "and by its planes", inside)
    # so that equal numbers are no chance
    check(len(counts) >= 7 and 0 in counts and len(whole) in counts, "numbers of streamlines", sorted(counts))
    said, data = ask_all(page, "select", shown=10, regions=[box(-500, -500, -500, 500, 500, 500)])
    check(said["shown"] == len(decode(data[12:])[0]) == 10, "a sample of the selection", said)
    said, _ = ask_all(page, "pick", at=[500, 0, 0])
    check(said["label"] == 0, "label outside", said)
    check(said["values"] == [None], "values outside", said)
    # the value of the voxel that holds a place is that of the file, which has voxels of 2 mm along the axes, the first one turned round
    raw = gzip.open("fit_fa.nii.gz").read()
    dim, rows = struct.unpack("<3h", raw[42:48]), [struct.unpack("<4f", raw[280 + 16 * i : 296 + 16 * i]) for i in range(3)]
    for place in ([0.3, -3.2, 2.9], [-7.6, 4.4, -1.2], [8.9, -8.1, 6.6]):
        said, _ = ask_all(page, "pick", at=place)
        voxel = [round((p - row[3]) / row[a]) for a, (p, row) in enumerate(zip(place, rows))]
        (wanted,) = struct.unpack_from("<f", raw, 352 + 4 * ((voxel[2] * dim[1] + voxel[1]) * dim[0] + voxel[0]))
        check(said["values"] == [{"voxel": voxel, "value": wanted}], "value at", place, said, voxel, wanted)
    said, _ = ask_all(page, "select", shown=1, regions=[label(987654)])
    check("987654" in said.get("error", ""), "a label that is not there", said)

    # --- saving: files that the recipe makes again, byte for byte ---
    bundles = [{"name": "middle", "regions": [sphere(-1, 0, 0, 5), label(names[0], "exclude")]}, {"name": "box-2", "regions": [box(-5, -4.5, -5, 5, 5, 4)]}]
    said, _ = ask_all(page, "save", name="hand", force=False, bundles=bundles)
    check(said.get("files") == ["saved/hand" + s for s in (".tsv", ".trx", ".json", ".png", ".sh")], "save", said)
    first = {name: open("saved/" + name, "rb").read() for name in sorted(os.listdir("saved"))}
    check(len(first) == 5 and all(first.values()), "saved", list(first))
    for bundle, regions in ((b["name"], b["regions"]) for b in bundles):
        selected, _ = ask_all(page, "select", shown=0, regions=regions)
        with zipfile.ZipFile("saved/hand.trx") as z:
            members = z.getinfo(f"groups/{bundle}.uint32").file_size // 4
        check(members == selected["selected"] > 0, "group", bundle, members, selected)
    said, _ = ask_all(page, "save", name="hand", force=False, bundles=bundles[:1])
    check(said.get("exists") is True and "hand.tsv" in said["error"], "names that are taken", said)
    check({name: open("saved/" + name, "rb").read() for name in os.listdir("saved")} == first, "a save that was refused has changed files")
    said, _ = ask_all(page, "save", name="none", force=False, bundles=[{"name": "a", "regions": [label(987654)]}])
    check("987654" in said.get("error", "") and len(os.listdir("saved")) == 5, "a save that fails leaves files", said, os.listdir("saved"))
    for name in ("hand.trx", "hand.png", "hand.json"):
        os.remove("saved/" + name)
    subprocess.run(["sh", "saved/hand.sh", "--quiet"], check=True, env={**os.environ, "PATH": os.path.dirname(os.path.abspath(tool)) + ":" + os.environ["PATH"]})
    for name in ("hand.trx", "hand.png", "hand.tsv"):
        check(open("saved/" + name, "rb").read() == first[name], "the recipe makes another", name)
    said, _ = ask_all(page, "save", name="hand", force=True, bundles=bundles[:1])
    check("files" in said and open("saved/hand.tsv").read().count("\n") == 2, "replacing", said)
    kept = {name: open("saved/" + name, "rb").read() for name in os.listdir("saved")}
    said, _ = ask_all(page, "save", name="hand", force=True, bundles=[{"name": "a", "regions": [label(987654)]}])
    check("987654" in said.get("error", ""), "a save that replaces files and fails", said)
    check({name: open("saved/" + name, "rb").read() for name in os.listdir("saved")} == kept, "a save that fails has changed files", os.listdir("saved"))
    os.mkdir("saved/folder.tsv")
    said, _ = ask_all(page, "save", name="folder", force=False, bundles=bundles[:1])
    check("exists" not in said and "folder.tsv" in said.get("error", ""), "a folder of the name of a file", said)
    os.rmdir("saved/folder.tsv")
    said, _ = ask_all(page, "save", name="empty", force=False, bundles=[{"name": "a", "regions": [sphere(500, 0, 0, 1)]}])
    check("note" in said and "saved/empty.trx" in said["files"] and "saved/empty.png" not in said["files"], "a bundle without streamlines", said)
    many = [{"name": f"b{i}", "regions": 8 * [box(-9999.123456789, -9999.123456789, -9999.123456789, 9999.123456789, 9999.123456789, 9999.123456789)]} for i in range(most["bundles"])]
    said, _ = ask_all(page, "save", name="many", force=False, bundles=many)
    check("files" in said and open("saved/many.tsv").read().count(";") == 7 * most["bundles"], "a save at the limits", said)

# --- whatever comes, it lives ---
half = server.connect()
half.sendall(b"GET / HTT")
silent = open_page(server)
for i in range(50):
    silent.send(request(id=i, nseeds=200))
for _ in range(1000):
    with open_page(server) as page:
        if page.status != 101:
            check(False, "refused", page.status)
            break
        try:
            kind = random.randrange(4)
            if kind == 0:
                page.send(random.randbytes(random.randrange(200)), random.choice((1, 2)))
            elif kind == 1:
                text = list(request(nseeds=1))
                for _ in range(random.randrange(1, 4)):
                    text[random.randrange(len(text))] = chr(random.randrange(32, 127))
                page.send("".join(text))
            elif kind == 2:
                page.send(random.randbytes(random.randrange(200)), random.randrange(16), random.random() < 0.5)
            else:
                page.s.sendall(random.randbytes(random.randrange(1, 300)))
        except ConnectionError:
            pass
pages = [open_page(server) for _ in range(100)]
check(sum(page.status == 101 for page in pages) == 15, "pages beside the silent one:", sum(page.status == 101 for page in pages))
for page in pages:
    page.close()
with open_page(server) as page:
    check(page.status == 101, "a page after 100 others", page.status)
    if page.status == 101:
        check(track(page)[0]["streamlines"] > 0, "tracking after 1,000 random messages")
check(server.get("/lines")[0] == 200, "files after 1,000 random messages")
sys.exit(len(failures) > 0)
