"""Pictures of the window for the manual: manual.py GLSLINES PICTURES NAME... in a folder with the phantom of pictures.sh, its fits, streamlines and parcels.

NAME: view, view-select, view-paint, view-review. Each shows a window of 1200 x 720 pixels; Chromium draws it."""

import collections
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from browser import Browser
import picture

program, pictures, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
LIVE = ["--", "--sh", "maps_sh.nii.gz", "--fa", "maps_fa.nii.gz", "--mask", "data/mask.nii.gz", "--dg", "prob"]
SELECT = ["tracks.trx", "maps_fa.nii.gz", "--atlas", "parcels.nii.gz", "--lut", "names.txt"]


def ready(browser, name):
    """Waits until an element says how many streamlines there are, and the view shows them."""
    assert browser.wait(f"document.getElementById('{name}') && /^[1-9][\\d,]* /.test(document.getElementById('{name}').textContent)"), browser.text(name)
    time.sleep(1)


def place(browser, region, *numbers):
    """Types the numbers of a region."""
    browser.value(f"document.querySelectorAll('#regions fieldset')[{region}].querySelectorAll('input').forEach((f, i) => {{ f.value = {list(numbers)}[i]; "
                  "f.dispatchEvent(new Event('input', { bubbles: true })); }), true")
    time.sleep(0.5)


def role(browser, region, value):
    browser.value(f"((f) => {{ f.value = '{value}'; f.dispatchEvent(new Event('change')); return true; }})(document.querySelectorAll('#regions fieldset')[{region}].querySelector('select'))")


def live(browser):
    ready(browser, "tracked")
    browser.click("stand-left")
    for name, shown in (("plane-x", True), ("plane-y", False), ("plane-z", False)):
        browser.put(name, shown)
    browser.value("document.getElementById('canvas').focus(), true")
    for key in ["ArrowLeft"] * 5 + ["ArrowUp"] * 3 + ["+"]:
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
    browser.value("document.activeElement.blur(), true")
    ready(browser, "tracked")
    return "live"


def select(browser):
    for name, at in (("at-x", -27), ("at-y", -5), ("at-z", -9)):
        browser.put(name, at)
    browser.put("label", "26")
    browser.click("add-label")
    browser.click("add-sphere")
    browser.click("add-box")
    place(browser, 2, 0, -8, 20, 4, 90, 60)
    role(browser, 2, "exclude")
    browser.click("four")
    ready(browser, "selected")
    return "select"


def paint(browser):
    browser.click("stand-superior")
    for name, shown in (("plane-x", False), ("plane-y", False)):
        browser.put(name, shown)
    browser.put("at-z", 14)
    time.sleep(0.5)
    browser.click("add-paint")
    x, y, w, h = browser.value("(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('canvas').getBoundingClientRect())")
    browser.mouse("mousePressed", x + w / 2 - 70, y + h / 2 + 10)
    for i in range(1, 21):
        browser.mouse("mouseMoved", x + w / 2 - 70 + i, y + h / 2 + 10 - 2 * i)
    browser.mouse("mouseReleased", x + w / 2 - 50, y + h / 2 - 30)
    ready(browser, "selected")
    return "select"


def review(browser):
    assert browser.wait("document.querySelector('img') && document.querySelector('img').complete")
    # judges the first participant, and goes back to it
    for key in ("g", "ArrowLeft"):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        time.sleep(1)
    return None


def shrink(path):
    """Writes a picture again with 256 colours: boxes of colours are cut in two where they are longest, as long as there are fewer."""
    width, height, step, rows = picture.pixels(str(path))
    coarse = [[tuple(v >> 2 for v in row[i * step : i * step + 3]) for i in range(width)] for row in rows]
    boxes = [sorted({c for row in coarse for c in row})]
    spread = lambda box: max((max(c[a] for c in box) - min(c[a] for c in box), a) for a in range(3))
    widths = [spread(boxes[0])]
    while len(boxes) < 256 and max(widths)[0] > 0:
        worst = max(range(len(boxes)), key=lambda i: widths[i][0] * len(boxes[i]) ** 0.5)
        axis, box = widths[worst][1], boxes[worst]
        middle = (min(c[axis] for c in box) + max(c[axis] for c in box)) / 2
        parts = [c for c in box if c[axis] <= middle], [c for c in box if c[axis] > middle]
        boxes[worst : worst + 1] = parts
        widths[worst : worst + 1] = map(spread, parts)
    counts = collections.Counter(c for row in coarse for c in row)
    mean = lambda box: bytes(round(sum(counts[c] * c[a] for c in box) * 255 / 63 / sum(counts[c] for c in box)) for a in range(3))
    index = {colour: i for i, box in enumerate(boxes) for colour in box}
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 3, 0, 0, 0)) +
                     chunk(b"PLTE", b"".join(map(mean, boxes))) +
                     chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(index[c] for c in row) for row in coarse), 9)) + chunk(b"IEND", b""))


def draw(name, shows, arguments):
    """Serves a window, does in it what the manual shows, and writes its picture."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, subprocess.Popen([program, "view", "-q", *arguments], stdout=subprocess.PIPE, text=True) as server:
        browser = Browser(profile)
        try:
            browser.call("Emulation.setDeviceMetricsOverride", width=1200, height=720, deviceScaleFactor=1, mobile=False)
            browser.call("Page.navigate", url=server.stdout.readline().strip())
            assert browser.wait("document.querySelector('main') && document.readyState === 'complete'")
            time.sleep(1.5)
            part = shows(browser)
            browser.picture(pictures / (name + ".png"), f"#{part}" if part else "h1")
            shrink(pictures / (name + ".png"))
        finally:
            browser.process.terminate()
            browser.process.wait()
            server.terminate()


for name, shows, arguments in (("view", live, ["tracks.trx", "maps_fa.nii.gz", "--seed-sphere=-12,-8,12,4", *LIVE]), ("view-select", select, SELECT),
                               ("view-paint", paint, SELECT[:2]), ("view-review", review, ["set"])):
    if name in names:
        draw(name, shows, arguments)
