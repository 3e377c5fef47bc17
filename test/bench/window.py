#!/usr/bin/env python3
"""Measures how soon `glslines view` answers: a seed sphere that moves, or a sphere that selects streamlines.

Usage: window.py GLSLINES track|select ARGUMENTS...
ARGUMENTS are those of `glslines view`; for track, with the options of `glslines track` behind --. Prints when the address came, how long the
streamlines of the page took, the median and the 95th percentile of the time from a request to its last byte at this client, and the memory of the
server. The time in which a browser draws the picture is not in it. Needs Python alone.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from view import Server, open_page  # noqa: E402

REQUESTS, WARM = 60, 5
NSEEDS, SEED_RADIUS, REGION_RADIUS = 5000, 5.0, 10.0
SHOWN = (2000, 20000)  # selected streamlines that are sent at most: the page asks for 2000 while a region moves


def start(program, arguments):
    begun = time.time()
    process = subprocess.Popen([program, "view", "-q", *arguments], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        for word in line.split():
            if word.startswith("http://"):
                print(f"address after {time.time() - begun:.2f} s")
                return process, Server(word)
    sys.exit(f"error: {program} view {' '.join(arguments)}: no address")


def request(kind, number, centre, shown):
    if kind == "track":
        return {"track": {"id": number, "sphere": [*centre, SEED_RADIUS], "nseeds": NSEEDS, "seed": 0}}
    return {"select": {"id": number, "shown": shown, "regions": [{"role": "include", "sphere": [*centre, REGION_RADIUS]}]}}


def measure(page, kind, shown=0):
    rng, seconds, lines = random.Random(1), [], 0
    for number in range(REQUESTS):
        begun = time.time()
        page.send(json.dumps(request(kind, number, [rng.uniform(-30, 30) for _ in range(3)], shown)))
        said = json.loads(page.receive())
        if "error" in said:
            sys.exit(f"error: {said['error']}")
        page.receive()
        seconds.append(time.time() - begun)
        lines += said["streamlines" if kind == "track" else "selected"]
    seconds = sorted(seconds[WARM:])
    median, late = statistics.median(seconds), seconds[int(0.95 * (len(seconds) - 1))]
    print(f"{kind}{f', up to {shown} sent' if shown else ''}: median {1e3 * median:.0f} ms, 95 % {1e3 * late:.0f} ms of {len(seconds)}; {lines / REQUESTS:.0f} streamlines in the mean")


def main():
    if len(sys.argv) < 4 or sys.argv[2] not in ("track", "select"):
        sys.exit(__doc__)
    program, kind, *arguments = sys.argv[1:]
    process, server = start(program, arguments)
    try:
        begun = time.time()
        size = len(server.get("/lines")[2])
        print(f"streamlines of the page: {size} bytes in {time.time() - begun:.2f} s")
        with open_page(server) as page:
            for shown in SHOWN if kind == "select" else [0]:
                measure(page, kind, shown)
        for line in open(f"/proc/{process.pid}/status"):
            if line.startswith(("VmHWM", "RssAnon")):
                print(" ".join(line.split()))
    finally:
        process.terminate()


if __name__ == "__main__":
    main()
