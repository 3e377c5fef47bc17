"""Checks two running `glslines view` of one data set: view_review.py ADDRESS FOLDER TABLE OTHER_ADDRESS PID. Prints what fails."""

import fcntl
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path

from view import Server, check, failures, open_page

server, folder, table, other = Server(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), Server(sys.argv[4])


def participants():
    return json.loads(server.get("/participants")[2])


def judge(page, number, judgement, note=""):
    page.send(json.dumps({"judge": {"id": 1, "participant": number, "judgement": judgement, "note": note}}))
    return json.loads(page.receive())


# --- participants and pictures, by numbers alone ---
names = sorted(p.name for p in folder.glob("sub-*") if p.is_dir())
check([p["name"] for p in participants() if p["pictures"] or p["judgement"] == "n/a"] == names, "participants", participants())
for number, name in enumerate(names):
    pictures = sorted((folder / name).glob("figures/*.png")) + sorted((folder / name).glob("ses-*/figures/*.png"))
    pictures = [p for p in pictures if p.is_file()]
    check(participants()[number]["pictures"] == [p.name for p in pictures], "pictures of", name)
    for k, picture in enumerate(pictures):
        status, headers, body = server.get(f"/picture/{number}/{k}")
        check(status == 200 and body == picture.read_bytes() and headers["content-type"] == "image/png", "picture", picture, status)
for path in ("/picture/0/99", "/picture/99/0", "/picture/-1/0", "/picture/0", "/picture/0/", "/picture/0/0/", "/picture/00000000000000000000/0", "/picture/0/../../etc/passwd",
             "/picture/0/18446744073709551616", "/picture/0x0/0", "/lines"):
    check(server.get(path)[0] == 404, "path", path, server.get(path)[0])
check(server.get("/picture/0/0", {"Cookie": None})[0] == 403 and server.get("/participants", {"Cookie": None})[0] == 403, "pictures without the token")

# --- judgements: written at once, those of before are kept ---
with open_page(server) as page:
    check(judge(page, 1, "bad", "moved; =1+1 \"ghost\"")["table"] == str(table), "table")
    check(judge(page, 0, "good")["id"] == 1, "answer")
    rows = table.read_text().splitlines()
    check(rows[0] == "participant_id\tjudgement\tnote" and rows[1] == names[0] + "\tgood\tn/a" and rows[2].startswith(names[1] + "\tbad\t"), "table", rows)
    check("sub-gone\tdoubtful\tof before" in rows, "a judgement of before", rows)
    judge(page, 0, "n/a")
    check(names[0] not in table.read_text(), "a judgement that was taken back")
    check("error" in judge(page, 99, "good"), "a participant who is not there")
    check(participants()[1]["judgement"] == "bad" and participants()[1]["note"] == "moved; =1+1 \"ghost\"", "the list after a judgement", participants()[1])
    for kind, body in (("track", {"sphere": [0, 0, 0, 1], "nseeds": 1, "seed": 0}), ("select", {"shown": 1, "regions": [{"role": "include", "sphere": [0, 0, 0, 1]}]}),
                       ("pick", {"at": [0, 0, 0]}), ("save", {"name": "x", "force": True, "bundles": [{"name": "a", "regions": [{"role": "include", "sphere": [0, 0, 0, 1]}]}]})):
        page.send(json.dumps({kind: {"id": 1, **body}}))
        check("error" in json.loads(page.receive()), kind, "of a data set")
    for judgement, note in (("fine", ""), ("good", "x" * 601), (1, ""), ("good", None)):
        check(judge(page, 0, judgement, note).get("error", "").startswith("message: "), "a judgement that is none", judgement)
    check(names[0] not in table.read_text(), "a judgement that was refused is written", table.read_text())

    # --- a table that others write meanwhile: their rows stay, and those that they removed stay away ---
    before = table.read_text()
    table.write_text("participant_id\tjudgement\tnote\nsub-gone\tbad\tchanged by hand\n" + names[2] + "\tgood\t'=by hand\n")
    judge(page, 0, "doubtful")
    rows = table.read_text().splitlines()
    check(sorted(rows[1:]) == sorted([names[0] + "\tdoubtful\tn/a", "sub-gone\tbad\tchanged by hand", names[2] + "\tgood\t'=by hand"]), "a table that was edited", rows)
    table.write_text("participant_id\tjudgement\n" + names[2] + "\tgood\n")
    check("has not the columns" in judge(page, 0, "good").get("error", "") and table.read_text().count("\n") == 2, "a table of another form is replaced")
    check([p["note"] for p in participants() if p["name"] == "sub-gone"] == ["changed by hand"], "a refused judgement makes the page forget the others", participants())
    table.unlink()
    judge(page, 0, "bad")
    rows = table.read_text().splitlines()
    check(len(rows) == 4 and names[0] + "\tbad\tn/a" in rows and "sub-gone\tbad\tchanged by hand" in rows, "a table that is not there for a moment", rows)
    rows = 'participant_id\tjudgement\tnote\n"sub ""gone"""\tgood\tn/a\n"sub-a\tb"\tbad\ttabbed\n"""sub-q"\tdoubtful\tn/a\n'
    table.write_text(rows)
    for judgement in ("good", "n/a"):
        said = judge(page, 0, judgement)
        check("table" in said, "a table of names with quotes and tabs", said, table.read_text())
    check(sorted(table.read_text().splitlines()) == sorted(rows.splitlines()), "names with quotes and tabs", table.read_text())
    quoted = [i for i, name in enumerate(names) if '"' in name]
    check(len(quoted) == 1 and "table" in judge(page, quoted[0], "good") and "table" in judge(page, quoted[0], "n/a"), "a folder with a quote", names)
    table.write_text(before)

    # --- a program that keeps the lock of the folder: pages get an error soon, and the others are served ---
    held = os.open(table.parent, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    begun = time.monotonic()
    said = judge(page, 0, "bad")
    check("try again" in said.get("error", "") and str(table) in said["error"] and time.monotonic() - begun < 5, "a table that is locked", said, time.monotonic() - begun, "s")
    check(server.get("/")[0] == 200 and table.read_text() == before, "pages while the table is locked")
    os.close(held)
    check("table" in judge(page, 0, "n/a"), "a table that was locked")
    table.write_text(before)

    # --- a table that cannot be written, as on a full disk, in a folder that is gone or read-only: all or nothing ---
    def refused(what):
        said = judge(page, 0, "bad", "not to be lost")
        check("table" not in said and str(table) in said.get("error", ""), what, said)
        check(participants()[0]["judgement"] == "n/a" and server.get("/")[0] == 200, what, participants()[0])

    pid, files = int(sys.argv[5]), sorted(os.listdir(table.parent))
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (8, resource.RLIM_INFINITY))
    refused("a full disk")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    check(table.read_text() == before and sorted(os.listdir(table.parent)) == files, "a full disk leaves", os.listdir(table.parent), table.read_text())
    away = table.parent.with_name("away")
    table.parent.rename(away)
    refused("a folder that is gone")
    check(not table.parent.exists(), "a folder that is gone is made")
    away.rename(table.parent)
    if os.geteuid() != 0:
        table.parent.chmod(0o555)
        refused("a folder that is read-only")
        table.parent.chmod(0o755)
    check(table.read_text() == before and "table" in judge(page, 0, "n/a"), "a table that could not be written", table.read_text())
    table.write_text(before)

    # --- two servers that write the table at the same time ---
    def judge_often(address, number):
        with open_page(address) as one:
            for i in range(40):
                said = judge(one, number, "good", f"note {i}")
                check("table" in said, "a judgement beside another server", said)

    threads = [threading.Thread(target=judge_often, args=a) for a in ((server, 0), (other, 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = table.read_text().splitlines()
    check(rows.count(names[0] + "\tgood\tnote 39") == 1 and rows.count(names[2] + "\tgood\tnote 39") == 1, "two servers", rows)
    table.write_text(before)

    # --- notes: 200 letters of any script; blanks for what is no text ---
    check('id="note" maxlength="200"' in server.get("/")[2].decode(), "length of a note in the page")
    for note, wanted in (("\u6f22" * 200, "\u6f22" * 200), ("\U0001f9e0" * 100, "\U0001f9e0" * 100), ("a\tb\nc\x7f\x85\u2028\u202ed\0e", "a b c    d"), ("\\x80", " ")):
        said = judge(page, 0, "good", note)
        check("table" in said and participants()[0]["note"] == wanted, "a note", ascii(note), said, ascii(participants()[0]["note"]))
        check(table.read_text(encoding="utf-8").splitlines()[1].split("\t")[2].strip('"') == wanted.strip() or wanted.strip() == "", "a note in the table", ascii(note))
    judge(page, 0, "n/a")
sys.exit(len(failures) > 0)
