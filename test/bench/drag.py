#!/usr/bin/env python3
"""Measures how soon the window follows a seed sphere that is dragged: from the event of the mouse to the picture.

Usage: drag.py GLSLINES FOLDER [CHROMIUM [OPTION ...]]
Makes FODs of order 8 and 20,000 streamlines of the built-in phantom in FOLDER, unless they are there, and drags a sphere of 5 mm with 5,000 seeds
over them. First a client in Python: from the request to the last byte of all seeds, and of a preview. Then, with CHROMIUM, a program that is
started with the options, the page itself: each movement after the picture of the one before, and movements 30 times a second, of which each counts
until a picture shows its place or a later one. The picture is there when the second frame after the streamlines begins and the device has drawn
the first. Without options SwiftShader draws. DEVICE in the environment is the device of GLSLINES; without it that is chosen by itself.
Needs Python alone.
"""
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent / "report")]
from window import start  # noqa: E402
from browser import Browser  # noqa: E402
from view import open_page  # noqa: E402

STEPS, WARM, NSEEDS, RATE = 40, 5, 5000, 30
# Notes in the page when the mouse moved, when the last place was asked for and answered, and when its picture was there, ms.
NOTES = """(() => {
  const notes = window.notes = { moves: 0, at: [], pictures: [], renderer: () => {
    const gl = document.getElementById("canvas").getContext("webgl2"), named = gl.getExtension("WEBGL_debug_renderer_info");
    return gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER); } };
  window.addEventListener("pointermove", (event) => { for (const e of event.getCoalescedEvents()) { notes.moves++; notes.at.push(e.timeStamp); } }, true);
  const asked = new Map(), Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...words) {
      super(...words);
      let answer = null;
      this.addEventListener("message", (event) => {
        const now = performance.now();
        if (typeof event.data === "string") {
          const heard = JSON.parse(event.data);
          if (heard.kind === "track") answer = { ...heard, said: now };
          return;
        }
        if (!answer || new DataView(event.data).getUint32(4, true) !== answer.id) return;
        const picture = { ...asked.get(answer.id), said: answer.said, came: now, server: 1000 * answer.seconds, seeds: answer.seeds, bytes: event.data.byteLength };
        answer = null;
        requestAnimationFrame(() => requestAnimationFrame(() => {
          const gl = document.getElementById("canvas").getContext("webgl2");
          gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
          picture.shown = performance.now();
          notes.pictures.push(picture);
        }));
      });
    }
    send(text) {
      const message = JSON.parse(text);
      if (message.track) asked.set(message.track.id, { sent: performance.now(), move: notes.moves });
      super.send(text);
    }
  };
})()"""


def make(program, folder):
    """The arguments of `glslines view` for FODs and streamlines of the phantom, which are made unless they are there."""
    device = ["--device", os.environ["DEVICE"]] if "DEVICE" in os.environ else []
    series = [str(folder / name) for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
    fods = ["--sh", str(folder / "fit_sh.nii.gz"), "--fa", str(folder / "fit_fa.nii.gz"), "--mask", series[3], "--dg", "prob", *device]
    for made, words in ((series[0], ["phantom", str(folder), "--shape", "60", "78", "56", "--directions", "64", "--b0s", "4"]),
                        (fods[1], ["fit", *series, str(folder / "fit"), "--model", "csd", "--sh-order", "8"]),
                        (str(folder / "all.trx"), ["track", *fods, "--select", "20000", "-o", str(folder / "all.trx")])):
        if not Path(made).exists():
            subprocess.run([program, *words, "-q"], check=True)
    return [str(folder / "all.trx"), "--nseeds", str(NSEEDS), "--", *fods]


def tell(what, values):
    values = sorted(values)
    print(f"{what}: median {statistics.median(values):.0f} ms, 95 % {values[int(0.95 * (len(values) - 1))]:.0f} ms of {len(values)}")


def way(step):
    """The place of the sphere in each step, mm: a circle through the crossing bundles."""
    angle = 2 * math.pi * step / STEPS
    return [15 * math.cos(angle), 15 * math.sin(angle), 0, 5]


def drag_client(server, preview):
    """Asks as the page does, one place after the other."""
    seconds, at_work, seeds = [], [], []
    with open_page(server) as page:
        for step in range(-WARM, STEPS):
            begun = time.monotonic()
            page.send(json.dumps({"track": {"id": step + WARM + 1, "sphere": way(step), "nseeds": NSEEDS, "seed": 0, "preview": preview}}))
            said = json.loads(page.receive())
            if "error" in said:
                sys.exit(f"error: {said['error']}")
            page.receive()
            if step >= 0:
                seconds.append(1e3 * (time.monotonic() - begun))
                at_work.append(1e3 * said["seconds"])
                seeds.append(said["seeds"])
    tell(f"client, {'previews' if preview else 'all seeds'}, {statistics.median(seeds):.0f} seeds in the median, {min(seeds)} at least", seconds)
    tell("  of it the server", at_work)


def parts(pictures, at):
    for what, of in (("mouse to request", lambda p: p["sent"] - at[p["move"] - 1]), ("request to answer", lambda p: p["came"] - p["sent"]),
                     ("  of it the server", lambda p: p["server"]), ("answer to picture", lambda p: p["shown"] - p["came"])):
        tell("  " + what, [of(p) for p in pictures])
    seeds = [p["seeds"] for p in pictures]
    print(f"  {statistics.median(seeds):.0f} seeds in the median, {min(seeds)} at least; {statistics.mean(p['bytes'] for p in pictures) / 1e3:.0f} kB in the mean")


def drag_page(browser, address):
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=NOTES)
    browser.call("Page.navigate", url=address)
    if not browser.wait("window.notes && notes.pictures.length > 0"):
        sys.exit("error: the page shows nothing: " + browser.value("document.body.innerText"))
    print("the page draws with", browser.value("notes.renderer()"))
    x, y, w, h = browser.value("(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('canvas').getBoundingClientRect())")
    x, y, around = x + w / 2, y + h / 2, h / 8
    place = lambda step: (x + around * math.sin(2 * math.pi * step / STEPS), y + around * (1 - math.cos(2 * math.pi * step / STEPS)))
    browser.mouse("mousePressed", x, y)
    for step in range(1, WARM + STEPS + 1):
        if step == WARM + 1:
            browser.value("notes.pictures.length = 0, true")
        browser.mouse("mouseMoved", *place(step))
        # no question is asked meanwhile, which would take time of the page
        shown = browser.value("new Promise((done) => { const look = () => notes.pictures.some((p) => p.move === notes.moves) ? done(true) : setTimeout(look, 4); look(); })")
        assert shown
    at, pictures = browser.value("notes.at"), browser.value("notes.pictures")
    first = {}
    for p in pictures:
        first.setdefault(p["move"], p)
    tell("page, each movement after the picture before", [p["shown"] - at[p["move"] - 1] for p in first.values()])
    parts(list(first.values()), at)

    browser.value("notes.pictures.length = 0, true")
    begun, before = time.monotonic(), browser.value("notes.moves")
    for step in range(2 * STEPS):
        time.sleep(max(0.0, begun + step / RATE - time.monotonic()))
        cx, cy = place(step + WARM + STEPS + 1)
        browser.post("Input.dispatchMouseEvent", type="mouseMoved", x=cx, y=cy, button="left", buttons=1)
    browser.mouse("mouseReleased", *place(3 * STEPS + WARM))
    browser.value("new Promise((done) => { const look = () => notes.pictures.some((p) => p.move === notes.moves) ? done(true) : setTimeout(look, 4); look(); })")
    at, pictures = browser.value("notes.at"), browser.value("notes.pictures")
    late = [min(p["shown"] for p in pictures if p["move"] > move) - at[move] for move in range(before, len(at)) if any(p["move"] > move for p in pictures)]
    tell(f"page, {RATE} movements a second", late)
    parts([p for p in pictures if p["move"] > before], at)
    print(f"  {len(pictures) / (time.monotonic() - begun):.1f} pictures a second")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, folder, chromium, options = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:4], sys.argv[4:]
    folder.mkdir(parents=True, exist_ok=True)
    process, server = start(program, make(program, folder))
    try:
        for preview in (False, True):
            drag_client(server, preview)
    finally:
        process.terminate()
        process.wait()
    if not chromium:
        return
    process, server = start(program, make(program, folder))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, contextlib.ExitStack() as ends:
        ends.callback(process.terminate)
        browser = Browser(profile, chromium[0], options)
        ends.callback(browser.process.terminate)
        drag_page(browser, f"http://{server.host}/?token={server.token}")


if __name__ == "__main__":
    main()
