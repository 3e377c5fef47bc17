"""A server of `glslines view --open`: view_open.py TOOL TRACKS.trx. What the browser gets, and what is left. Prints what fails."""

import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

from view import Server, check, failures, open_page

tool, tracks = sys.argv[1:]
place, stubs = Path("place %").absolute(), Path("stubs").absolute()
place.mkdir()
stubs.mkdir()
STUB = """#!/bin/sh
[ $# -eq %d ] || exit 9
[ "$(cut -d " " -f 6 /proc/$$/stat)" = $$ ] || exit 8
tr '\\0' '\\n' < /proc/$$/cmdline > got.words
readlink /proc/$$/fd/* | grep -v "$0" > got.streams
for page; do case $page in file:*) break ;; esac; done
file=$(python3 -c 'import sys; from urllib.request import url2pathname; print(url2pathname(sys.argv[1][7:]))' "$page")
stat -c '%%a %%u' "$file" "$(dirname "$file")" > got.modes
cp "$file" got.html
echo noise
echo noise >&2
%s
: > got.all
exit %d
"""


def write(name, *values):
    (stubs / name).write_text(STUB % values)
    (stubs / name).chmod(0o755)


def start(*words, **variables):
    """Starts a server with variables of the environment; returns it and its address."""
    for path in Path().glob("got.*"):
        path.unlink()
    environment = {**{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "XDG_RUNTIME_DIR")},
                   "PATH": f"{stubs}:{os.environ['PATH']}", "TMPDIR": str(place), **variables}
    process = subprocess.Popen([tool, "view", tracks, "--max-streamlines", "9", "--open", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    address = process.stdout.readline().strip()
    return process, address


def wait(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def end(process):
    """Ends a server; returns all that it wrote."""
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=20)
    check(process.returncode == 0, "exit code", process.returncode, said)
    check(list(place.iterdir()) == [], "files are left:", list(place.iterdir()))
    return said


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


# --- xdg-open gets a file of this user alone, nothing of the program's streams, and no token ---
write("xdg-open", 1, "", 0)
for display in ("DISPLAY", "WAYLAND_DISPLAY"):
    process, address = start(**{display: ":0"})
    check(wait(lambda: os.path.exists("got.all")), display, "xdg-open was not started")
    server = Server(address)
    check(Path("got.modes").read_text().split() == ["600", str(os.getuid()), "700", str(os.getuid())], "modes", Path("got.modes").read_text())
    words = Path("got.words").read_text().split()
    check(words[-1].startswith(f"file://{place}/glslines-view-".replace(" ", "%20").replace("%/", "%25/")) and server.token not in " ".join(words), "words", words)
    check(set(Path("got.streams").read_text().split()) == {"/dev/null"}, "streams", Path("got.streams").read_text())
    page = Path("got.html").read_text()
    check(f'content="0; url={address}"' in page and "script" not in page, "page", page)
    status, headers, body = server.get(re.search(r"url=http://[\d.:]+(/\?token=\w+)", page)[1], {"Cookie": None})
    check(status == 200 and b'content="0; url=/"' in body and headers["set-cookie"].startswith(server.cookie), "the address of the page", status, headers)
    check(server.get("/lines")[0] == 200 and len(list(place.iterdir())) == 1, "the file is gone before a page came")
    check(wait(lambda: not children(process)), "a child is left", children(process))
    with open_page(server):
        check(wait(lambda: not list(place.iterdir())), "the file is there after a page came")
        said = end(process)
    check("--open" not in said[1] and "noise" not in said[0] + said[1], "it says", said)

# --- the first command of $BROWSER, which may go on: the server does not wait for it ---
write("mine", 3, "sleep 2", 0)
for browser in ("mine --new %s end", " mine  --new  end:xdg-open"):
    process, address = start("-q", DISPLAY=":0", BROWSER=browser, XDG_RUNTIME_DIR=str(place), TMPDIR="/absent")
    check(wait(lambda: os.path.exists("got.html")) and Server(address).get("/lines")[0] == 200, "$BROWSER", browser)
    words = Path("got.words").read_text().split()
    check([word.startswith("file://") for word in words[-3:]] == [False, "%s" in browser, "%s" not in browser], "words of $BROWSER", words)
    check(len(list(place.iterdir())) == 1, "$XDG_RUNTIME_DIR has no file", words)
    check(len(children(process)) == 1, "the browser goes on", children(process))
    check(end(process) == ("", ""), "-q")
    check(wait(lambda: os.path.exists("got.all")), "the browser ends with the server")

# --- a browser that fails, or is not there; no desktop ---
write("xdg-open", 1, "", 3)
for variables, line in (({"DISPLAY": ":0"}, "the browser has failed (exit code 3): open the address above"),
                        ({"DISPLAY": ":0", "BROWSER": "absent-browser"}, "absent-browser: No such file or directory: open the address above"),
                        ({}, "there is no desktop (DISPLAY and WAYLAND_DISPLAY are not set): open the address above"),
                        ({"DISPLAY": "", "BROWSER": "mine"}, "there is no desktop")):
    process, address = start(**variables)
    time.sleep(2)
    check(Server(address).get("/lines")[0] == 200, "the server beside", line)
    check(os.path.exists("got.all") == ("exit code" in line), "a browser was started:", line)
    said = end(process)[1]
    check(said.count("--open: ") == 1 and line in said, "it says", said)

other = subprocess.run([tool, "view", tracks, "--open", "--listen", "./o.sock"], capture_output=True, text=True, env={**os.environ, "DISPLAY": ":0"})
check(other.returncode == 2 and "--open: no browser reaches the socket" in other.stderr and not os.path.lexists("o.sock"), "a socket", other)
for path in Path().glob("got.*"):
    path.unlink()
for path in stubs.iterdir():
    path.unlink()
stubs.rmdir()
place.rmdir()
sys.exit(len(failures) > 0)
