"""What the page of `glslines view` shows, in a browser: shown.py ADDRESS AXE.js FOLDER TOOL

The server has marked.trx, fa.nii.gz, slopes.nii (values from below to above 0), labels.nii and ODFs of FOLDER. Values under the pointer are those of
the files; images lie behind and over each other in their windows and colours; criteria select what the command line selects; glyphs are drawn;
each slice has a window of its own. Prints what fails; writes values.png, images.png, criteria.png, glyphs.png and divided.png."""

import gzip
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser
import picture
from view import read_trx

address, axe, folder = sys.argv[1], Path(sys.argv[2]).read_text(), Path(sys.argv[3])
failures = []


def check(passed, *what):
    if not passed:
        failures.append(what)
        print("FAIL:", *what)


def read(path):
    """A NIfTI image of one volume or more along the axes of the world: dimensions, rows of the affine, values of the first volume."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    dim, kind = struct.unpack("<3h", raw[42:48]), {16: "f", 4: "h"}[struct.unpack("<h", raw[70:72])[0]]
    rows, n = [struct.unpack("<4f", raw[280 + 16 * i : 296 + 16 * i]) for i in range(3)], dim[0] * dim[1] * dim[2]
    at = int(struct.unpack("<f", raw[108:112])[0])
    return dim, rows, struct.unpack(f"<{n}{kind}", raw[at : at + n * struct.calcsize(kind)])


def value(image, place):
    """Voxel and value at a place, mm."""
    dim, rows, data = image
    v = [round((p - row[3]) / row[a]) for a, (p, row) in enumerate(zip(place, rows))]
    return v, data[(v[2] * dim[1] + v[1]) * dim[0] + v[0]]


def canvas(browser):
    return browser.value("(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('canvas').getBoundingClientRect())")


def values(browser):
    """Values under the pointer, and where the slices cross, of the files."""
    fa, labels = read(folder / "fa.nii.gz"), read(folder / "labels.nii")
    browser.click("stand-superior")
    for name in ("plane-x", "plane-y"):
        browser.click(name)
    x, y, w, h = canvas(browser)
    seen = set()
    for dx, dy in ((0, 0), (-60, 40), (55, -70), (-35, -45)):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + w / 2 + dx, y=y + h / 2 + dy, buttons=0)
        last = browser.wait("/fa.nii.gz, voxel/.test(document.getElementById('cursor').textContent)") and browser.text("cursor")
        browser.value("new Promise((done) => setTimeout(() => done(true), 150))")
        said = browser.text("cursor")
        found = re.match(r"([-\d.]+), ([-\d.]+), ([-\d.]+) mm \(RAS\); fa.nii.gz, voxel (\d+) (\d+) (\d+): ([-\d.e]+)", said)
        check(found, "under the pointer:", said, last)
        if not found:
            continue
        place, voxel, v = [float(t) for t in found.groups()[:3]], [int(t) for t in found.groups()[3:6]], float(found[7])
        centre = [row[a] * k + row[3] for a, (row, k) in enumerate(zip(fa[1], voxel))]
        check(all(abs(p - c) <= 1.051 for p, c in zip(place, centre)), "voxel", voxel, "is not that of", place)
        check(struct.pack("<f", v) == struct.pack("<f", value(fa, centre)[1]), "value", v, "and in the file", value(fa, centre))
        label = value(labels, centre)[1]
        check((f"label {label}" in said) == (label > 0), "label", label, "in", said)
        seen.add(tuple(voxel))
    check(len(seen) == 4, "places", seen)
    # to the right on the screen from above is right in the body, up is front
    browser.put("at-x", 3)
    browser.put("at-y", -5)
    browser.put("at-z", 1)
    browser.value("document.getElementById('canvas').focus(), true")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="v")
    browser.wait("document.getElementById('told').textContent !== ''")
    voxel, v = value(fa, (3, -5, 1))
    check(browser.text("told").startswith("3.0, -5.0, 1.0 mm (RAS); fa.nii.gz, voxel %d %d %d: " % tuple(voxel)), "told by a key:", browser.text("told"))
    check(abs(float(re.search(r"fa.nii.gz, voxel [\d ]+: ([-\d.e]+)", browser.text("told"))[1]) - v) < 1e-5, "value told by a key:", browser.text("told"), v)
    for kind in ("mousePressed", "mouseReleased") * 2:
        browser.call("Input.dispatchMouseEvent", type=kind, x=x + w / 2 - 60, y=y + h / 2 + 40, button="left", clickCount=2)
    check(browser.wait("Number(document.getElementById('at-x').value) < 0 && !document.getElementById('told').textContent.startsWith('3.0')"), "a double click", browser.text("told"))
    check(browser.text("scale").endswith(" mm") and browser.value("document.getElementById('scale').clientWidth") > 20, "scale", browser.text("scale"))
    browser.value("document.getElementById('canvas').focus(), true")
    for key, n in (("-", 8), ("Home", 1)):
        for _ in range(n):
            browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        time.sleep(0.3)
        check(browser.value("document.getElementById('scale').scrollWidth <= document.getElementById('scale').clientWidth"), "the text of the scale is cut after", key, browser.text("scale"))
    check(browser.value("!document.getElementById('axis-L').hidden && document.getElementById('axis-L').getBoundingClientRect().x < document.getElementById('axis-R').getBoundingClientRect().x"),
          "letters of the sides")
    for found in browser.violations(axe):
        check(False, "axe-core, values", found)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + w / 2 + 20, y=y + h / 2 + 20, buttons=0)
    browser.wait("document.getElementById('cursor').textContent !== ''")
    browser.picture(folder / "values.png")
    for name in ("plane-x", "plane-y"):
        browser.click(name)


def pixels(browser, name):
    """A picture of the canvas, and the function that gives the pixel at a share of its width and height."""
    time.sleep(0.3)
    browser.picture(folder / name, "#stage")
    x, y, w, h = browser.value("(() => { document.querySelector('#stage').scrollIntoView(); const { x, y, width, height } = "
                               "document.getElementById('canvas').getBoundingClientRect(); scrollTo(0, 0); return [x, y, width, height]; })()")
    _, _, step, rows = picture.pixels(str(folder / name))
    return lambda u, v: tuple(rows[int(y + v * h)][int(x + u * w) * step : int(x + u * w) * step + 3])


def near(browser):
    """The axial slice from above, as large as the view: the streamlines are of a larger data set."""
    browser.click("stand-superior")
    browser.value("document.getElementById('canvas').focus(), true")
    for _ in range(6):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="+")


def images(browser):
    """One image behind, another one over it; windows, colours, opacity; labels over both."""
    for name in ("plane-x", "plane-y"):
        browser.click(name)
    near(browser)
    browser.put("length-to", 0)
    names = browser.value("[...document.getElementById('front').options].map((o) => o.textContent)")
    check(names == ["none", "fa.nii.gz", "slopes.nii"], "images", names)
    maps = browser.value("[...document.getElementById('front-map').options].map((o) => o.textContent)")
    check({"grey", "hot", "viridis", "redblue"} <= set(maps), "colour maps", maps)
    places = [(0.42, 0.55), (0.58, 0.55), (0.5, 0.35), (0.46, 0.62)]
    before = pixels(browser, "back.png")
    check(all(max(before(*p)) - min(before(*p)) <= 2 for p in places), "the image behind is grey", [before(*p) for p in places])
    # a voxel of it has a huge value
    check(max(max(before(*p)) for p in places) > 60, "the image behind is black", [before(*p) for p in places])
    # the image with values below 0: blue at the left, red at the right
    browser.put("front", "1")
    check(browser.wait("document.getElementById('front-map').selectedOptions[0].textContent === 'redblue'"), "colours of an image with values below 0")
    browser.put("front-opacity", 100)
    time.sleep(0.5)
    after = pixels(browser, "over.png")
    check(after(0.42, 0.55)[2] > after(0.42, 0.55)[0] + 40 and after(0.58, 0.55)[0] > after(0.58, 0.55)[2] + 40, "red and blue", after(0.42, 0.55), after(0.58, 0.55))
    # above the first value of its window alone
    browser.put("front-low", 0)
    browser.put("front-map", str(maps.index("hot")))
    cut = pixels(browser, "cut.png")
    check(cut(0.42, 0.55) == before(0.42, 0.55) and cut(0.58, 0.55) != before(0.58, 0.55), "the window of the image over it", cut(0.42, 0.55), before(0.42, 0.55))
    browser.put("front-opacity", 50)
    half = pixels(browser, "images.png")
    check(all(abs(h - (c + b) / 2) <= 4 for h, c, b in zip(half(0.58, 0.55), cut(0.58, 0.55), before(0.58, 0.55))), "opacity", half(0.58, 0.55), cut(0.58, 0.55), before(0.58, 0.55))
    browser.put("labels-opacity", 100)
    named = pixels(browser, "labelled.png")
    check(len({named(*p) for p in places}) > 1 and any(max(named(*p)) - min(named(*p)) > 100 for p in places), "labels", [named(*p) for p in places])
    # two labels have colours in the table, and the legend has them; the others have hues of their own
    found = [named(x, y) for x, y in ((0.42, 0.4), (0.58, 0.4), (0.42, 0.6))]
    check(all(max(abs(a - b) for a, b in zip(f, w)) <= 2 for f, w in zip(found, ((200, 40, 160), (20, 90, 210)))) and len(set(found)) == 3, "colours of labels", found)
    browser.value("document.querySelector('#labels-legend summary').click(), true")
    check(browser.wait("document.querySelectorAll('#labels-legend li').length === 4", 5), "the legend of labels", browser.text("labels-legend"))
    rows = browser.value("[...document.querySelectorAll('#labels-legend li')].map((e) => [e.textContent, getComputedStyle(e.firstChild).backgroundColor])")
    check(rows[:2] == [["7 Front-<b>left", "rgb(200, 40, 160)"], ["8 Front-right", "rgb(20, 90, 210)"]], "the legend of labels", rows)
    check([r[0] for r in rows[2:]] == ["2000 Back-left", "2001"] and rows[2][1] == "rgb(%d, %d, %d)" % found[2], "the legend of labels without colours", rows, found)
    for found in browser.violations(axe):
        check(False, "axe-core, images", found)
    browser.put("labels-opacity", 0)
    browser.put("front", "")
    # the other image behind; a window without extent is no window
    browser.put("back", "1")
    check(browser.wait("document.querySelector('#slices legend').textContent === 'slices of slopes.nii'"), "the name of the image behind")
    other = pixels(browser, "other.png")
    check(max(other(0.58, 0.55)) - max(other(0.42, 0.55)) > 60, "the other image behind", other(0.42, 0.55), other(0.58, 0.55))
    high = browser.value("document.getElementById('back-high').value")
    browser.put("back-high", -1000)
    check(browser.value("!document.getElementById('back-high').checkValidity()") and pixels(browser, "other.png")(0.58, 0.55) == other(0.58, 0.55), "a window that ends below its begin")
    browser.put("back-high", high)
    browser.put("back", "0")
    browser.wait("document.querySelector('#slices legend').textContent === 'slices of fa.nii.gz'")
    check(pixels(browser, "back.png")(0.58, 0.55) == before(0.58, 0.55), "the first image again")
    browser.put("length-to", 1000)
    for name in ("plane-x", "plane-y"):
        browser.click(name)


def criteria(browser, tool):
    """Length, a value, groups and roles of ends: the command line beside a selection selects the same number."""
    def selected(what):
        last = browser.text("edit-command")
        what()
        check(browser.wait(f"document.getElementById('edit-command').textContent !== {last!r}", 20), "criteria select nothing new", browser.text("selected"))
        time.sleep(0.3)
        words = shlex.split(browser.text("edit-command"))
        subprocess.run([tool, *["chosen.trx" if w == "selected.trx" else w for w in words[1:]], "--force", "-q"], check=True, cwd=folder)
        n = int(browser.text("selected").split(" of ")[0].replace(",", ""))
        check(n == len(read_trx(folder / "chosen.trx")), "the command line selects others:", n, words)
        return n

    check(browser.text("edit-command") == "", "a selection before criteria")
    counts = [selected(lambda: browser.put("criteria-length-from", 12)), selected(lambda: browser.put("criteria-length-to", 30))]
    group = "(() => { const s = [...document.querySelectorAll('#criteria-groups label')].find((l) => l.textContent.startsWith('upper half')).querySelector('select'); " \
            "s.value = '%s'; s.dispatchEvent(new Event('input', { bubbles: true })); return true; })()"
    counts.append(selected(lambda: browser.value(group % "groups")))
    counts.append(selected(lambda: browser.value(group % "not_groups")))
    counts.append(selected(lambda: (browser.put("criteria-column", "mark"), browser.put("criteria-value-from", 3))))
    counts.append(selected(lambda: browser.click("add-sphere")))
    role = "(() => { const s = document.querySelector('#regions select'); s.value = 'both-ends'; s.dispatchEvent(new Event('change')); return true; })()"
    counts.append(selected(lambda: browser.value(role)))
    check("--include-both-ends=" in browser.text("edit-command") and counts[0] > counts[1] > counts[2] > 0 and counts[4] < counts[3], "criteria", counts)
    for found in browser.violations(axe):
        check(False, "axe-core, criteria", found)
    browser.picture(folder / "criteria.png", "#select")
    browser.put("criteria-length-to", 5)
    check(browser.value("!document.getElementById('criteria').checkValidity()"), "limits the wrong way round")
    check("length to: must not be below the first value" in browser.text("selected") and browser.text("edit-command") == "", "wrong criteria select", browser.text("selected"))
    browser.put("bundle-name", "wrong")
    browser.put("save-name", "wrong")
    browser.click("save-bundles")
    check("length to: must not be" in browser.text("saved") and not list(folder.glob("wrong*")), "wrong criteria are saved", browser.text("saved"))
    browser.click("keep")
    check("length to: must not be" in browser.text("saved") and browser.text("kept") == "", "wrong criteria are kept", browser.text("kept"))
    # a kept bundle is counted by the criteria of before
    selected(lambda: browser.put("criteria-length-to", 40))
    browser.click("keep")
    check(re.match(r"wrong: \d+ streamlines", browser.text("kept")), "a kept bundle", browser.text("kept"), browser.text("saved"))
    browser.put("criteria-length-to", 30)
    check(browser.text("kept").startswith("wrong change"), "the number of before other criteria", browser.text("kept"))
    browser.value("document.querySelectorAll('#kept button')[1].click(), true")
    browser.click("add-sphere")
    browser.wait("document.getElementById('edit-command').textContent.includes('--include')")
    browser.value("document.querySelector('#regions button').click(), true")
    for name in ("criteria-length-from", "criteria-length-to", "criteria-value-from", "criteria-column"):
        browser.put(name, "")
    browser.value(group % "")
    check(browser.wait("document.getElementById('edit-command').textContent === ''"), "the selection stays", browser.text("edit-command"))


def glyphs(browser):
    """ODFs on the slice in front: coloured by direction, larger with the control, of the part in view."""
    for name in ("plane-x", "plane-y"):
        browser.click(name)
    near(browser)
    browser.put("length-to", 0)
    coloured = lambda: sum(max(p) - min(p) > 60 for p in (at(0.25 + 0.5 * i / 150, 0.1 + 0.8 * k / 150) for i in range(150) for k in range(150)))
    at = pixels(browser, "glyphs.png")
    bare = coloured()
    browser.put("fods-shown", True)
    check(browser.wait("/^[1-9]\\d* glyphs/.test(document.getElementById('fods-said').textContent)"), "glyphs", browser.text("fods-said"))
    time.sleep(1)
    at = pixels(browser, "glyphs.png")
    full = coloured()
    check(full > bare + 200, "glyphs colour", full, "pixels, and there were", bare)
    for found in browser.violations(axe):
        check(False, "axe-core, glyphs", found)
    browser.put("fods-scale", -2)
    time.sleep(1)
    at = pixels(browser, "small.png")
    small = coloured()
    check(bare <= small < full / 2, "smaller glyphs colour", small, "pixels, and larger ones", full)
    browser.put("fods-scale", 0)
    n = int(browser.text("fods-said").split()[0])
    browser.value("document.getElementById('canvas').focus(), true")
    for _ in range(10):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="+")
    check(browser.wait(f"/^[1-9]/.test(document.getElementById('fods-said').textContent) && !document.getElementById('fods-said').textContent.startsWith('{n} ')"), "a part of the slice", browser.text("fods-said"))
    time.sleep(1)
    check(int(browser.text("fods-said").split()[0]) < n, "a part of the slice has more glyphs", browser.text("fods-said"), n)
    pixels(browser, "near.png")
    browser.put("fods-shown", False)
    time.sleep(0.5)
    near(browser)
    at = pixels(browser, "small.png")
    check(coloured() == bare, "glyphs that were put out", coloured(), bare)
    browser.put("length-to", 1000)
    for name in ("plane-x", "plane-y"):
        browser.click(name)


def divided(browser):
    """Each slice from its front beside the view: places under the pointer, letters, zoom of one of them."""
    browser.click("four")
    for name, at in (("at-x", -6), ("at-y", 4), ("at-z", 1)):
        browser.put(name, at)
    letters = "[...document.querySelectorAll('#stage span')].filter((s) => /^[LRPAIS]$/.test(s.textContent)).length"
    at = pixels(browser, "divided.png")
    check(browser.value(letters) == 24, "letters of four windows", browser.value(letters))
    x, y, w, h = canvas(browser)
    for (u, v), axis, place in (((0.25, 0.25), 2, 1), ((0.75, 0.25), 1, 4), ((0.25, 0.75), 0, -6)):
        grey = sum(min(at(u + i / 200, v + k / 100)) > 60 for i in range(-15, 16) for k in range(-15, 16))
        check(grey > 50, "slice", axis, "shows", grey, "bright pixels")
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + u * w + 8, y=y + v * h + 4, buttons=0)
        time.sleep(0.4)
        found = [float(t) for t in re.match(r"([-\d.]+), ([-\d.]+), ([-\d.]+) mm", browser.text("cursor") or "9, 9, 9 mm").groups()]
        check(found[axis] == place and all(abs(p - q) < 8 for k, (p, q) in enumerate(zip(found, (0, 0, 0))) if k != axis), "place in the window of axis", axis, found)
    # the wheel changes the window under the pointer alone
    before = pixels(browser, "divided.png")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x + 0.25 * w, y=y + 0.25 * h, deltaX=0, deltaY=-500)
    after = pixels(browser, "zoomed.png")
    spots = lambda left, top: [(left + i / 60, top + k / 60) for i in range(5, 25) for k in range(5, 25)]
    check(sum(before(*p) != after(*p) for p in spots(0, 0)) > 20 and all(before(*p) == after(*p) for p in spots(0.5, 0)), "the wheel over one of four windows")
    for found in browser.violations(axe):
        check(False, "axe-core, four windows", found)
    browser.click("four")
    check(browser.value(letters) == 6, "letters of one window", browser.value(letters))


def regions(browser):
    """A region begins where the slices cross that were moved; its outline stands out from the streamlines; the view stays beside the controls of a wide window."""
    for name, at in (("at-x", -5), ("at-y", 3), ("at-z", 2)):
        browser.put(name, at)
    browser.click("stand-superior")
    blue = lambda at: sum((lambda r, g, b: b > 120 and 0.25 < r / b < 0.5 and 0.68 < g / b < 0.88)(*at(i / 400, k / 400)) for i in range(400) for k in range(400))
    before = blue(pixels(browser, "no-outline.png"))
    browser.click("add-sphere")
    check(browser.wait("/^[1-9].* of /.test(document.getElementById('selected').textContent)"), "a sphere where the slices cross selects nothing", browser.text("selected"))
    found = browser.value("[...document.querySelectorAll('#regions input')].map((f) => Number(f.value))")
    check(found == [-5, 3, 2, 10], "a region begins at", found)
    # three circles, two of them seen as lines, three pixels wide; samples are as many as there are in the picture of 400 x 400
    _, _, w, h = canvas(browser)
    mm = browser.value("parseFloat(document.getElementById('scale').style.width) / parseFloat(document.getElementById('scale').textContent)")
    drawn, length = (blue(pixels(browser, "outline.png")) - before) * w * h / 160000, (2 * 3.14 + 4) * 10 * mm
    check(drawn > 1.5 * length, "the outline of a region has", drawn, "pixels on", length)
    browser.call("Emulation.setDeviceMetricsOverride", width=1366, height=768, deviceScaleFactor=1, mobile=False)
    browser.value("document.getElementById('save-name').scrollIntoView(), true")
    top, bottom = browser.value("(({ top, bottom }) => [top, bottom])(document.getElementById('canvas').getBoundingClientRect())")
    check(0 <= top < bottom <= 768, "the view of a wide window lies from", top, "to", bottom, "of 768 pixels")
    for found in browser.violations(axe):
        check(False, "axe-core, a wide window", found)
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.value("document.querySelector('#regions button').click(), scrollTo(0, 0), true")


def opened(browser, tool):
    """The file with which --open starts a browser leads to the scene, and goes."""
    stub, got = folder.absolute() / "browser.sh", folder.absolute() / "opened.txt"
    stub.write_text(f"#!/bin/sh\nprintf %s \"$1\" > '{got}.part' && mv '{got}.part' '{got}'\n")
    stub.chmod(0o755)
    got.unlink(missing_ok=True)
    with subprocess.Popen([tool, "view", folder / "marked.trx", "--open", "-q"], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "DISPLAY": ":0", "BROWSER": str(stub)}) as server:
        try:
            address = server.stdout.readline().strip()
            end = time.monotonic() + 20
            while not got.exists() and time.monotonic() < end:
                time.sleep(0.02)
            url = got.read_text()
            check(url.startswith("file:///") and os.path.exists(url[7:]), "--open gives", url)
            browser.call("Page.navigate", url=url)
            check(browser.wait(f"location.href === {address.partition('?')[0]!r} && document.getElementById('regions') && !document.getElementById('select').hidden", 20),
                  "the file of --open leads to", browser.value("location.href + ' ' + document.body.textContent.slice(0, 99)"))
            check(not os.path.exists(url[7:]), "the file of --open is left")
            check(not any("token=" in e["url"] for e in browser.call("Page.getNavigationHistory")["entries"] if address.partition("?")[0] in e["url"]), "the token is in the history")
        finally:
            server.terminate()


def early(browser):
    """Graphics that the browser takes away while the page loads, and again while it gives them back: the view waits for them."""
    def state():
        return browser.text("status"), browser.value("document.getElementById('save').disabled")

    def back():
        browser.value("window.taken.restoreContext(), true")
        check(browser.wait("document.getElementById('status').textContent.startsWith('All ')", 10), "the graphics do not come back", *state())
        check(browser.value("!document.getElementById('save').disabled && !document.getElementById('stage').hidden"), "the view that came back", *state())

    away = "document.getElementById('status') && document.getElementById('status').textContent.includes('They come back')"
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source="""(() => {
        const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (...words) {
            const gl = get.apply(this, words);
            if (gl && words[0] === "webgl2" && !window.taken) (window.taken = gl.getExtension("WEBGL_lose_context")).loseContext();
            return gl;
        };
    })()""")["identifier"]
    browser.call("Page.navigate", url=address)
    check(browser.wait(f"document.readyState === 'complete' && {away}", 10), "graphics that are lost while the page loads", *state())
    time.sleep(1)
    check(state()[1] and "They come back" in state()[0], "a page that waits for its graphics", *state())
    back()
    # in the midst of the shaders that are made anew
    browser.value("window.taken.loseContext(), true")
    check(browser.wait(away, 5), "lost graphics are not said", *state())
    browser.value("""(() => {
        const gl = document.getElementById("canvas").getContext("webgl2");
        gl.linkProgram = (program) => { delete gl.linkProgram; window.taken.loseContext(); gl.linkProgram(program); };
        window.taken.restoreContext();
        return true;
    })()""")
    check(browser.wait("!Object.hasOwn(document.getElementById('canvas').getContext('webgl2'), 'linkProgram')", 5), "nothing is made anew")
    time.sleep(0.5)
    check(state()[1] and "They come back" in state()[0], "graphics that are lost again while they are made anew", *state())
    back()
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def lost(browser):
    """Graphics that the browser takes away and gives back: the view is as before, and shows what has changed meanwhile."""
    def seen(name):
        time.sleep(1)
        at = pixels(browser, name)
        return [at(i / 300, k / 300) for i in range(300) for k in range(300)]

    def change(z, x):
        browser.put("at-z", z)
        browser.value("((f) => { f.value = %s; f.dispatchEvent(new Event('input', { bubbles: true })); return true; })(document.querySelector('#regions input'))" % x)
        check(browser.wait(f"document.getElementById('edit-command').textContent.includes('--include={x},')"), "a region that is moved", browser.text("edit-command"))

    for name, v in (("labels-opacity", 40), ("fods-shown", True), ("fods-scale", 1), ("length-to", 1000)):
        browser.put(name, v)
    for name in ("four", "add-sphere", "add-paint", "paint-here"):
        browser.click(name)
    check(browser.wait("document.querySelector('#regions output') && /^[1-9]/.test(document.querySelector('#regions output').textContent)"), "nothing is painted", browser.text("painted"))
    browser.value("((s) => { s.value = 'exclude'; s.dispatchEvent(new Event('change')); return true; })([...document.querySelectorAll('#regions select')].pop())")
    check(browser.wait("document.getElementById('edit-command').textContent.includes('--exclude=') && /^[1-9]/.test(document.getElementById('selected').textContent)"),
          "nothing is selected", browser.text("selected"))
    browser.put("tool", "")  # who paints sees the slices in front of ODFs
    change(5, 3)
    moved = seen("moved.png")
    change(1, 1)
    held, said = seen("held.png"), browser.text("status")
    check(len(set(held)) > 100 and held != moved, "a view before its graphics are lost", len(set(held)))
    for place, wanted in (((1, 1), held), ((5, 3), moved)):
        browser.value("(window.taken = document.getElementById('canvas').getContext('webgl2').getExtension('WEBGL_lose_context')).loseContext(), true")
        check(browser.wait("document.getElementById('status').textContent.includes('3-D graphics')", 5), "lost graphics are not said", browser.text("status"))
        check(browser.value("document.getElementById('save').disabled"), "a picture of lost graphics can be saved")
        change(*place)
        time.sleep(0.5)
        browser.value("window.taken.restoreContext(), true")
        check(browser.wait(f"document.getElementById('status').textContent === {said!r}", 5), "the graphics do not come back", browser.text("status"))
        # the page has not heard of it yet
        saved = browser.value("""(() => {
            const click = HTMLAnchorElement.prototype.click, saved = [];
            HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
            document.getElementById("save").click();
            window.taken.loseContext();
            document.getElementById("save").click();
            HTMLAnchorElement.prototype.click = click;
            return saved;
        })()""")
        check(saved == ["tractogram.png"], "an empty picture of lost graphics is saved", saved)
        check(browser.wait("document.getElementById('save').disabled", 5), "lost graphics are not said", browser.text("status"))
        browser.value("window.taken.restoreContext(), true")
        check(browser.wait(f"document.getElementById('status').textContent === {said!r}", 5), "the graphics do not come back", browser.text("status"))
        found = seen("restored.png")
        check(found == wanted, "graphics that came back show another view", place, sum(a != b for a, b in zip(found, wanted)))


def moved(browser):
    """A handle that moves in the view of lost(): in each of the four windows its outline alone is drawn, of 18 copies, over one picture that is kept."""
    calls = browser.value("""new Promise((done) => {
        const gl = document.getElementById("canvas").getContext("webgl2"), calls = [0, 0], radius = document.getElementById("brush-r");
        ["drawElements", "drawArrays"].forEach((name, i) => {
            gl[name] = (...words) => { calls[i]++; WebGL2RenderingContext.prototype[name].apply(gl, words); };
        });
        radius.value = Number(radius.value) + 2;
        radius.dispatchEvent(new Event("input", { bubbles: true }));
        requestAnimationFrame(() => requestAnimationFrame(() => { delete gl.drawElements; delete gl.drawArrays; done(calls); }));
    })""")
    check(calls == [4 * 18, 1], "a handle that moves draws other things again", calls, browser.text("selected"))


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    tab = Browser(profile)
    try:
        early(tab)
        tab.call("Page.navigate", url=address)
        check(tab.wait("document.getElementById('regions') && !document.getElementById('select').hidden"), "the page")
        values(tab)
        images(tab)
        criteria(tab, sys.argv[4])
        glyphs(tab)
        divided(tab)
        regions(tab)
        lost(tab)
        moved(tab)
        faults = [e["params"] for e in tab.events if e.get("method") == "Runtime.exceptionThrown" or
                  (e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error" and "favicon" not in e["params"]["entry"].get("url", ""))]
        check(faults == [], "errors of the page:", faults)
        opened(tab, sys.argv[4])
    finally:
        tab.process.terminate()
        tab.process.wait()
sys.exit(len(failures) > 0)
