"""The pages of `glslines view` in a browser, driven by Chromium's DevTools: view.py ADDRESS AXE.js FOLDER DATASET_ADDRESS FOLDER_OF_TOOL

Drags the sphere of seeds and regions with the mouse, sets the controls of tracking and saves what is tracked, moves them by keys and fields, paints, keeps bundles and saves them, looks at
colour schemes, a phone and axe-core's violations; judges participants by keys. Prints what fails and how long a movement
takes; writes view.png, live.png, select.png, paint.png and review.png."""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
from view import read_trx
from browser import Browser

address, axe, folder = sys.argv[1], Path(sys.argv[2]).read_text(), Path(sys.argv[3])
failures = []


def check(passed, *what):
    if not passed:
        failures.append(what)
        print("FAIL:", *what)


def place(browser):
    return browser.value("['x', 'y', 'z', 'r'].map((a) => Number(document.getElementById('seed-' + a).value))")


def command(browser):
    return browser.value("document.getElementById('command').textContent")


def violations(browser, state):
    found = browser.violations(axe)
    check(found == [], "axe-core,", state, found)


def follow(browser):
    """Waits until the command line has the place that the fields have."""
    numbers = ",".join("%.7g" % v for v in place(browser))
    check(browser.wait("document.getElementById('command').textContent.includes('--seed-sphere=" + numbers + " ')"), "the command line does not follow to", numbers, command(browser))


def select(browser):
    """Regions that select, by mouse, keys, fields and labels; bundles that are kept and saved."""
    check(browser.text("selected") == "" and browser.value("!document.getElementById('select').hidden"), "selection before a region")
    browser.click("add-sphere")
    check(browser.wait("/ of [1-9][\\d,]* streamlines in /.test(document.getElementById('selected').textContent)"), "a sphere selects nothing:", browser.text("selected"))
    fields = "[...document.querySelectorAll('#regions input')].map((f) => Number(f.value))"
    x, y, w, h = browser.value("(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('canvas').getBoundingClientRect())")
    # the sphere of seeds is moved away, so that the mouse finds the region, which is in the middle of the streamlines
    browser.value("document.getElementById('stand-superior').click(), true")
    change = "(() => { const f = document.getElementById('seed-x'); f.value = %s; f.dispatchEvent(new Event('input', { bubbles: true })); return true; })()"
    seed = place(browser)[0]
    browser.value(change % 400)
    x, y, before, times = x + w / 2, y + h / 2, browser.value(fields), []
    browser.mouse("mousePressed", x, y)
    for i in range(1, 21):
        last, start = browser.text("edit-command"), time.monotonic()
        browser.mouse("mouseMoved", x + 2 * i, y - i)
        check(browser.wait(f"document.getElementById('edit-command').textContent !== {json.dumps(last)}"), "a movement selects nothing")
        browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        times.append(time.monotonic() - start)
    after = browser.value(fields)
    check(after[0] > before[0] + 0.5 and after[1] > before[1] + 0.2 and after[2:] == before[2:], "the mouse moved the region from", before, "to", after)
    browser.mouse("mouseMoved", x + 40, y + 20, shift=True)
    browser.mouse("mouseReleased", x + 40, y + 20)
    sized = browser.value(fields)
    check(sized[:3] == after[:3] and sized[3] < after[3] - 0.5, "the mouse with Shift changed the region from", after, "to", sized)
    times.sort()
    print("from mouse to selection: median %.0f ms, 95 %% %.0f ms" % (1000 * times[len(times) // 2], 1000 * times[int(0.95 * len(times))]))
    browser.value("document.getElementById('canvas').focus(), true")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="]")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", modifiers=8)
    keyed = browser.value(fields)
    check(abs(keyed[3] / sized[3] - 1.1) < 0.01 and abs(sized[0] - keyed[0] - 1) < 0.02, "keys changed the region from", sized, "to", keyed)
    numbers = ",".join("%.7g" % v for v in keyed)
    check(browser.wait(f"document.getElementById('edit-command').textContent.includes('--include={numbers}')"), "the command line does not follow to", numbers)

    # avoid it; add the label of a click on the axial slice
    browser.value("(() => { const role = document.querySelector('#regions select'); role.value = 'exclude'; role.dispatchEvent(new Event('change')); return true; })()")
    check(browser.wait(f"document.getElementById('edit-command').textContent.includes('--exclude={numbers}')"), "the role is not taken")
    for name in ("x", "y"):
        browser.click("plane-" + name)
    browser.click("pick")
    browser.mouse("mousePressed", x - 40, y - 40)
    browser.mouse("mouseReleased", x - 40, y - 40)
    check(browser.wait("/--include=labels.nii:7( |$)/.test(document.getElementById('edit-command').textContent)"), "a click adds no label:", browser.text("edit-command"), browser.text("selected"))
    check("label 7, Front left" in browser.text("regions"), "name of the label", browser.text("regions"))
    browser.click("add-box")
    check(browser.wait("/--include=-?[\\d.]+(,-?[\\d.]+){5}/.test(document.getElementById('edit-command').textContent)"), "a box")
    violations(browser, "selection")
    browser.wait("/^[1-9]/.test(document.getElementById('selected').textContent)")
    browser.picture(folder / "select.png")
    browser.picture(folder / "select-controls.png", "#live")

    # bundles: kept, changed, saved, refused, replaced
    browser.click("save-bundles")
    check("Name the bundle" in browser.text("saved"), "a save without a name", browser.text("saved"))
    browser.value("document.getElementById('bundle-name').value = 'one', document.getElementById('save-name').value = 'hand', true")
    browser.click("keep")
    check(re.match(r"one: [\d,]+ streamlines", browser.text("kept")) and browser.text("regions") == "" and browser.text("edit-command") == "", "a kept bundle", browser.text("kept"))
    browser.click("add-sphere")
    browser.click("save-bundles")
    check("Name the bundle of these regions" in browser.text("saved") and not (folder / "hand.tsv").exists(), "a save that leaves out regions", browser.text("saved"))
    browser.value("document.getElementById('bundle-name').value = 'two', true")
    browser.wait("document.getElementById('edit-command').textContent !== ''")
    # a field that is out of range selects nothing, and nothing is saved
    field = "(() => { const f = document.querySelector('#regions input'), old = f.value; f.value = %s; f.dispatchEvent(new Event('input', { bubbles: true })); return old; })()"
    was = browser.value(field % 99999)
    browser.click("save-bundles")
    check(browser.text("saved").startswith("sphere ") and ", x: " in browser.text("saved") and browser.text("edit-command") == "", "a wrong field", browser.text("saved"), browser.text("selected"))
    browser.value(field % was)
    browser.wait("document.getElementById('edit-command').textContent !== ''")
    browser.click("save-bundles")
    check(browser.wait("document.getElementById('saved').textContent.startsWith('Saved: ')"), "save", browser.text("saved"))
    table = (folder / "hand.tsv").read_text().splitlines()
    check([row.split("\t")[0] for row in table] == ["bundle", "one", "two"] and "labels.nii:7" in table[1] and (folder / "hand.png").stat().st_size > 1000, "saved", table)
    browser.click("save-bundles")
    check(browser.wait("!document.getElementById('replace').hidden"), "names that are taken", browser.text("saved"))
    violations(browser, "a question")
    browser.click("replace")
    check(browser.wait("document.getElementById('saved').textContent.startsWith('Saved: ')"), "replacing", browser.text("saved"))
    violations(browser, "saved")
    browser.picture(folder / "saved.png", "#select")
    browser.value("document.querySelector('#kept button').click(), true")
    check(browser.value("document.querySelectorAll('#regions fieldset').length") == 3 and browser.value("document.getElementById('bundle-name').value") == "one", "a kept bundle is changed")
    # at the limits of the server it is not asked for more, and the page stays connected
    browser.click("add-box")
    browser.value("(() => { const f = [...document.querySelectorAll('#regions fieldset:last-child input')].slice(0, 3); f.forEach((v) => { v.value = 10000; }); "
                  "f[0].dispatchEvent(new Event('input', { bubbles: true })); return true; })()")
    check(browser.wait("document.getElementById('edit-command').textContent.includes('9990,9990,9990,10010,10010,10010')"), "a box at the limit", browser.text("edit-command"))
    said = browser.value("(() => { for (let i = 0; i < 33; i++) document.getElementById('add-sphere').click(); return document.getElementById('selected').textContent; })()")
    check(said == "There may be 32 regions." and browser.value("document.querySelectorAll('#regions fieldset').length") == 32 and browser.text("connection") == "", "33 regions", said, browser.text("connection"))
    while browser.value("document.querySelectorAll('#regions fieldset').length"):
        browser.value("document.querySelector('#regions button').click(), true")
    check(browser.text("selected") == "", "the last region is gone, and the selection stays", browser.text("selected"))
    for name in ("plane-x", "plane-y"):
        browser.click(name)
    browser.value(change % seed)


def paint(browser):
    """A painted region by mouse and keys: brush, eraser, parts, values; undone and redone; saved, and its script run again."""
    change = "(() => { const f = document.getElementById('%s'); f.value = '%s'; f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change')); return true; })()"
    seed = place(browser)[0]
    browser.value(change % ("seed-x", 400))
    for name in ("plane-x", "plane-y", "stand-superior", "add-paint"):
        browser.click(name)
    browser.value("scrollTo(0, 0), true")
    check(browser.value("!document.getElementById('painting').hidden"), "no tools to paint with")
    voxels = lambda: int(browser.value("(document.querySelector('#regions output') || { textContent: '0' }).textContent").split()[0].replace(",", ""))
    x, y, w, h = browser.value("(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('canvas').getBoundingClientRect())")
    x, y, seen = x + w / 2, y + h / 2, []

    def settled(what, wanted=lambda before, now: now != before):
        """Waits until the number of voxels is another one, and the selection is of it."""
        end, before = time.monotonic() + 20, seen[-1] if seen else 0
        while time.monotonic() < end and not wanted(before, voxels()):
            time.sleep(0.02)
        time.sleep(0.3)
        now = voxels()
        check(wanted(before, now), what, "leaves", now, "voxels of", before, browser.text("painted"))
        seen.append(now)
        return now

    def drag(*way):
        browser.mouse("mousePressed", x + way[0][0], y + way[0][1])
        for dx, dy in way[1:]:
            browser.mouse("mouseMoved", x + dx, y + dy)
        browser.mouse("mouseReleased", x + way[-1][0], y + way[-1][1])

    # a region without voxels is no bundle
    browser.value("document.getElementById('bundle-name').value = 'none', true")
    bundles = browser.text("kept")
    for name in ("keep", "save-bundles"):
        browser.click(name)
        check("is empty" in browser.text("saved") and "painted region" in browser.text("saved") and browser.text("kept") == bundles, "a bundle of an empty region,", name, browser.text("saved"))
    browser.value("document.getElementById('bundle-name').value = '', true")
    browser.value(change % ("brush-r", 5))
    drag(*((-30 + 3 * i, 30) for i in range(21)))
    first = settled("the brush", lambda before, now: now > 20)
    check(browser.wait("/--include=mask-\\d+\\.nii\\.gz/.test(document.getElementById('edit-command').textContent)"), "a painted region selects nothing", browser.text("selected"))
    check(browser.wait("/^[1-9][\\d,]* of /.test(document.getElementById('selected').textContent)"), "no streamline is selected", browser.text("selected"))
    selected = browser.text("selected").split(" in ")[0]
    violations(browser, "painting")
    browser.picture(folder / "paint.png")
    browser.picture(folder / "paint-controls.png", "#select")
    browser.value(change % ("tool", "erase"))
    drag((0, 30), (2, 32))
    settled("the eraser", lambda before, now: 0 < now < before)
    # limits of values above all that there are leave all as it is; then a part is filled in all slices
    browser.value(change % ("tool", "brush"))
    browser.value(change % ("low", 1000))
    drag((0, 30), (10, 30))
    check(browser.wait("document.getElementById('painted').textContent !== ''"), "values beyond the limits")
    check(voxels() == seen[-1], "values beyond the limits are painted", voxels())
    browser.value(change % ("low", 0.01))
    browser.value(change % ("tool", "fill"))
    browser.click("flat")
    drag((0, 0))
    filled = settled("a part", lambda before, now: now > before)
    browser.value(change % ("tool", "clear"))
    drag((0, 0))
    settled("an erased part", lambda before, now: now < before)
    def step(act):
        """Goes back or forth, and waits until there are other voxels; some changes have the same."""
        end, before = time.monotonic() + 2, voxels()
        act()
        while time.monotonic() < end and voxels() == before:
            time.sleep(0.02)

    # keys: back to the stroke of the brush, and forth
    for _ in range(20):
        if voxels() == first or browser.value("document.getElementById('undo').disabled"):
            break
        browser.value("document.getElementById('canvas').focus(), true")
        step(lambda: browser.call("Input.dispatchKeyEvent", type="keyDown", key="z", modifiers=2))
    settled("undoing by keys", lambda before, now: now == first)
    check(browser.wait(f"document.getElementById('selected').textContent.startsWith({json.dumps(selected)} + ' in ')"), "undoing selects", browser.text("selected"), "not", selected)
    for _ in range(20):
        if voxels() == filled:
            break
        step(lambda: browser.click("redo"))
    settled("redoing", lambda before, now: now == filled)
    while not browser.value("document.getElementById('undo').disabled") and voxels() != first:
        step(lambda: browser.click("undo"))
    settled("undoing", lambda before, now: now == first)
    browser.click("flat")
    browser.value(change % ("low", ""))
    browser.value(change % ("tool", "brush"))
    browser.value("document.getElementById('canvas').focus(), true")
    for _ in range(8):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowUp", modifiers=8)
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="]")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter")
    settled("the brush by keys", lambda before, now: now > before)
    # other regions are undone, too: a sphere that was added, moved and removed
    browser.click("add-sphere")
    rows = "document.querySelectorAll('#regions fieldset').length"
    browser.value("document.querySelectorAll('#regions button')[document.querySelectorAll('#regions button').length - 1].click(), true")
    check(browser.value(rows) == 1, "a sphere is removed")
    browser.click("undo")
    check(browser.wait(rows + " === 2"), "undoing brings no sphere back")
    browser.click("undo")
    check(browser.wait(rows + " === 1") and voxels() == seen[-1], "undoing leaves the sphere")
    # saved, and made again by the script
    browser.value("document.getElementById('bundle-name').value = 'painted', document.getElementById('save-name').value = 'brushed', true")
    while browser.value("document.querySelectorAll('#kept li').length"):
        browser.value("document.querySelectorAll('#kept button')[1].click(), true")
    browser.click("save-bundles")
    check(browser.wait("document.getElementById('saved').textContent.startsWith('Saved: ')") and "brushed_mask-1.nii.gz" in browser.text("saved"), "save", browser.text("saved"))
    files = {name: (folder / name).read_bytes() for name in ("brushed.tsv", "brushed.trx", "brushed.png", "brushed_mask-1.nii.gz", "brushed.sh")}
    for name in ("brushed.trx", "brushed.png", "brushed.json"):
        (folder / name).unlink()
    subprocess.run(["sh", "./brushed.sh", "--quiet"], check=True, cwd=folder, env={**os.environ, "PATH": sys.argv[5] + ":" + os.environ["PATH"]})
    for name, data in files.items():
        check((folder / name).read_bytes() == data, "the script makes another", name)
    # seeds
    browser.value("(() => { const role = document.querySelector('#regions select'); role.value = 'seed'; role.dispatchEvent(new Event('change')); return true; })()")
    check(browser.wait("/--seed-rejection=mask-\\d+\\.nii\\.gz /.test(document.getElementById('command').textContent)"), "a painted region gives no seeds", command(browser))
    check(re.match(r"[1-9][\d,]* streamlines from ", browser.text("tracked")), "seeds in a painted region", browser.text("tracked"))
    violations(browser, "painted seeds")
    browser.picture(folder / "paint-seeds.png")
    # seeds alone are no bundle; their region is saved beside those that are kept
    browser.value("document.getElementById('bundle-name').value = 'seeds', document.getElementById('save-name').value = 'sown', true")
    browser.click("keep")
    check("needs a region that streamlines meet" in browser.text("saved") and "seeds" not in browser.text("kept"), "a bundle of seeds", browser.text("saved"))
    browser.click("save-bundles")
    check(browser.wait("document.getElementById('saved').textContent.startsWith('Saved: ')") and "sown_mask-1.nii.gz" in browser.text("saved"), "a save beside seeds", browser.text("saved"))
    # a region that is removed while the brush is down ends the stroke, so that all can be undone
    remove = "[...document.querySelectorAll('#regions button')].pop().click(), true"
    browser.mouse("mousePressed", x - 20, y - 20)
    browser.mouse("mouseMoved", x - 10, y - 20)
    browser.value(remove)
    browser.mouse("mouseReleased", x - 10, y - 20)
    time.sleep(0.5)
    browser.click("undo")
    check(browser.wait(rows + " === 1"), "a region that was removed during a stroke does not come back")
    browser.value("scrollTo(0, 0), true")
    # the wheel with Shift moves the slice
    before = browser.text("mm-z")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200, modifiers=8)
    check(browser.wait(f"document.getElementById('mm-z').textContent !== {json.dumps(before)}", 5), "the wheel with Shift leaves the slice at", before)
    browser.value(remove)
    check(browser.value("document.getElementById('painting').hidden") and browser.text("selected") == "", "the painted region is gone, and its tools stay")
    for name in ("plane-x", "plane-y"):
        browser.click(name)
    browser.value(change % ("seed-x", seed))


def live(browser):
    """The controls of tracking: those that are refused, previews, a region to stop in, a save that its script repeats."""
    change = "(() => { const f = document.getElementById('%s'); f.value = '%s'; f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change', { bubbles: true })); return true; })()"
    has = "document.getElementById('command').textContent.includes(%s)"
    getters = browser.value("[...document.getElementById('getter').options].map((o) => o.value)")
    check({"prob", "ifod2", "fact"} <= set(getters) and "boot" not in getters, "getters", getters)
    began = {name: browser.value(f"document.getElementById('{name}').value") for name in ("seed-x", "seed-y", "seed-z", "seed-r", "getter", "nseeds")}
    for name, value in (("seed-x", 0), ("seed-y", 0), ("seed-z", 0), ("seed-r", 5), ("nseeds", 300)):
        browser.value(change % (name, value))
    browser.value(change % ("getter", "ifod2"))
    check(browser.wait(has % "'--dg=ifod2 '"), "the getter is not taken", command(browser), browser.text("tracked"))
    check(browser.wait("document.getElementById('max-angle').placeholder === '45' && document.getElementById('step-size').placeholder.endsWith('mm')"), "values in use",
          browser.value("document.getElementById('max-angle').placeholder"))
    last = command(browser)
    browser.value(change % ("max-angle", 100))
    check(browser.wait("document.getElementById('tracked').textContent.startsWith('--max-angle: 100 is out of range')"), "an angle of 100", browser.text("tracked"))
    check(command(browser) == last and browser.text("connection") == "", "a refused angle changes", command(browser))
    violations(browser, "a refusal")
    browser.value(change % ("max-angle", 40))
    browser.value(change % ("cutoff", 0.04))
    browser.value(change % ("step-size", "0.9mm"))
    check(browser.wait(has % "'--max-angle=40 --cutoff=0.04 --step-size=0.9mm --act '"), "the controls are not taken", command(browser), browser.text("tracked"))
    check(browser.value("!document.getElementById('tissue').hidden && document.getElementById('act').checked"), "no control of tissue")
    browser.click("act")
    check(browser.wait("!" + has % "'--act '"), "tissue is not put out", command(browser))

    # a preview while the sphere moves, all seeds when it rests
    said = "new MutationObserver(() => seen.push(document.getElementById('tracked').textContent)).observe(document.getElementById('tracked'), { childList: true }), true"
    browser.value("window.seen = []; " + said)
    browser.value(change % ("nseeds", 40000))
    for i in range(4):
        last = command(browser)
        browser.value(change % ("seed-x", i / 2 + 0.5))
        browser.wait(f"document.getElementById('command').textContent !== {json.dumps(last)}")
    check(browser.wait("/^[1-9][\\d,]* streamlines from 40,000 seeds in /.test(document.getElementById('tracked').textContent)"), "no refinement", browser.text("tracked"))
    seen = browser.value("seen")
    check(sum(re.match(r"preview, [1-9][\d,]* of 40,000 seeds: ", t) is not None for t in seen) >= 3, "previews", seen)

    # the same for the controls
    browser.value("seen.length = 0, true")
    browser.value(change % ("max-angle", 41))
    check(browser.wait("/^[1-9][\\d,]* streamlines from 40,000 seeds in /.test(document.getElementById('tracked').textContent)"), "no refinement of a control", browser.text("tracked"))
    check(re.match(r"preview, [1-9][\d,]* of 40,000 seeds: ", browser.value("seen.find((t) => t !== 'tracking ...')")), "a control gives no preview", browser.value("seen"))
    browser.value(change % ("max-angle", 40))

    # a region to stop in is one of tracking alone
    browser.value(change % ("nseeds", 300))
    browser.click("add-box")
    browser.value("(() => { const f = document.querySelector('#regions input'); f.value = 17; f.dispatchEvent(new Event('input', { bubbles: true })); return true; })()")
    browser.wait("document.getElementById('edit-command').textContent !== ''")
    browser.value("(() => { const role = document.querySelector('#regions select'); role.value = 'stop'; role.dispatchEvent(new Event('change')); return true; })()")
    check(browser.wait(has % "' --stop-at='"), "a region to stop in is not taken", command(browser), browser.text("tracked"))
    check(browser.text("edit-command") == "" and browser.text("selected") == "", "a region to stop in selects", browser.text("selected"))
    # it is of no bundle, and stays when one is kept or changed
    browser.click("add-sphere")
    browser.wait("/^[1-9]/.test(document.getElementById('selected').textContent)")
    browser.value("document.getElementById('bundle-name').value = 'beside', document.getElementById('save-name').value = 'beside', true")
    browser.click("keep")
    rows = "document.querySelectorAll('#regions fieldset').length"
    check(browser.text("kept").startswith("beside") and browser.value(rows) == 1, "a bundle beside a region to stop in", browser.text("saved"), browser.value(rows))
    # two saves at once: each answer beside its button
    browser.value("document.getElementById('track-name').value = 'twice', true")
    browser.click("save-bundles")
    browser.click("save-tracks")
    check(browser.wait("document.getElementById('saved').textContent.startsWith('Saved: ./beside')"), "a save beside another one", browser.text("saved"))
    check("a save goes on" in browser.text("tracks-saved"), "the other save", browser.text("tracks-saved"))
    browser.click("save-bundles")
    check(browser.wait("!document.getElementById('replace').hidden"), "a save beside a region to stop in", browser.text("saved"))
    browser.value("document.querySelector('#kept button').click(), true")
    check(browser.value(rows) == 2, "a bundle that is changed takes the place of a region to stop in", browser.value(rows))
    browser.value("[...document.querySelectorAll('#kept button')].pop().click(), [...document.querySelectorAll('#regions button')].pop().click(), true")
    check(browser.text("kept") == "" and browser.value(rows) == 1, "the bundle is gone", browser.text("kept"), browser.value(rows))
    for name in ("bundle-name", "track-name", "save-name"):
        browser.value(change % (name, ""))
    violations(browser, "live tracking")
    browser.picture(folder / "live.png", "#live")

    # the save has the streamlines of the page, and its script makes them again
    browser.value(change % ("nseeds", -3))
    browser.click("save-tracks")
    check(browser.text("tracks-saved").startswith("seeds: "), "a save of -3 seeds", browser.text("tracks-saved"))
    browser.value(change % ("nseeds", 300))
    check(browser.wait("/ from 300 seeds in /.test(document.getElementById('tracked').textContent) && !document.getElementById('tracked').textContent.startsWith('preview')"), "300 seeds", browser.text("tracked"))
    browser.click("save-tracks")
    check("Name the files" in browser.text("tracks-saved"), "a save without a name", browser.text("tracks-saved"))
    browser.value("document.getElementById('track-name').value = 'tracked', true")
    browser.click("save-tracks")
    check(browser.wait("document.getElementById('tracks-saved').textContent.startsWith('Saved: ')"), "save of what is tracked", browser.text("tracks-saved"))
    tracked = (folder / "tracked.trx").read_bytes()
    n = int(browser.text("tracked").split()[0].replace(",", ""))
    check(len(read_trx(folder / "tracked.trx")) == n > 0, "the save has not the", n, "streamlines of the page")
    browser.click("save-tracks")
    check(browser.wait("!document.getElementById('replace-tracks').hidden"), "names that are taken", browser.text("tracks-saved"))
    (folder / "tracked.trx").unlink()
    subprocess.run(["sh", "./tracked.sh", "--quiet", "--force"], check=True, cwd=folder, env={**os.environ, "PATH": sys.argv[5] + ":" + os.environ["PATH"]})
    check((folder / "tracked.trx").read_bytes() == tracked, "the script tracks others")
    browser.value("document.querySelector('#regions button').click(), true")
    for name, value in (*began.items(), ("max-angle", ""), ("cutoff", ""), ("step-size", "")):
        browser.value(change % (name, value))
    browser.click("act")
    check(browser.wait(f"/ from {int(began['nseeds']):,} seeds in /.test(document.getElementById('tracked').textContent)"), "the controls of before", browser.text("tracked"))
    browser.value("scrollTo(0, 0), true")


def review(browser):
    """A data set: judged by keys, by mouse and with a note."""
    browser.call("Page.navigate", url=sys.argv[4])
    check(browser.wait("document.getElementById('name') && document.getElementById('name').textContent === 'sub-01'"), "no participant")
    check(browser.wait("[...document.images].length === 1 && document.images[0].complete && document.images[0].naturalWidth > 100"), "no picture")
    check(browser.wait("!document.querySelector('fieldset').disabled"), "the page may not judge")
    table = folder / "set/desc-qc_participants.tsv"

    def key(name):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=name)

    def written(*rows):
        end = time.monotonic() + 20
        while time.monotonic() < end and not (table.exists() and table.read_text().splitlines()[1:] == list(rows)):
            time.sleep(0.05)
        check(table.read_text().splitlines()[1:] == list(rows), "table", table.read_text())

    key("d")
    written("sub-01\tdoubtful\tn/a")
    check(browser.text("name") == "sub-02" and browser.wait("document.images[0].alt === 'left.png' && document.images[0].complete"), "the key d does not go on")
    check(browser.text("count") == "2 of 3, 1 judged", "count", browser.text("count"))
    key("n")
    for letter in "bad g":
        browser.call("Input.dispatchKeyEvent", type="char", text=letter)
        key(letter)
    check(browser.text("name") == "sub-02" and browser.value("document.getElementById('note').value") == "bad g", "letters of a note judge")
    browser.value("document.querySelector('input[value=good]').click(), document.getElementById('note').blur(), true")
    written("sub-01\tdoubtful\tn/a", "sub-02\tgood\tbad g")
    violations(browser, "data set")
    (folder / "review.png").write_bytes(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))
    browser.click("next")
    check(browser.text("name") == "sub-03" and browser.text("pictures") == "There is no picture.", "a participant without pictures")
    violations(browser, "no picture")
    browser.value("document.activeElement.blur(), true")
    key("ArrowLeft")
    key("ArrowLeft")
    check(browser.text("name") == "sub-01" and browser.value("document.querySelector('input[value=doubtful]').checked"), "arrow keys")
    key("0")
    written("sub-02\tgood\tbad g")
    # a table that is not written: the page says so, and shows what is there
    kept = table.read_text()
    table.write_text("another\ttable\n")
    key("b")
    check(browser.wait("document.getElementById('saved').textContent.startsWith('Not written: ')"), "a table that cannot be written", browser.text("saved"))
    key("ArrowLeft")
    check(browser.wait("document.getElementById('count').textContent === '1 of 3, 1 judged'", 10), "a judgement that was not written is shown", browser.text("count"))
    violations(browser, "not written")
    table.write_text(kept)
    browser.call("Page.reload")
    check(browser.wait("document.getElementById('count') && document.getElementById('count').textContent === '1 of 3, 1 judged'"), "judgements after loading again")
    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=2, mobile=True)
    wide = browser.value("document.documentElement.scrollWidth - innerWidth")
    check(wide <= 0, "the page of a data set is", wide, "pixels too wide for a phone")
    browser.call("Emulation.clearDeviceMetricsOverride")


def run(browser):
    browser.call("Page.navigate", url=address)
    check(browser.wait("document.getElementById('command') && document.getElementById('command').textContent"), "nothing is tracked:",
          browser.value("document.body.innerText"))
    check(browser.value("location.search + document.cookie") == "", "the token is seen by scripts")
    check(re.match(r"(All )?[\d,]+ ", browser.value("document.getElementById('status').textContent")), "status")
    check(re.match(r"[1-9][\d,]* streamlines from ", browser.value("document.getElementById('tracked').textContent")), "no streamline is tracked")

    # the mouse: from the sphere, which is in the middle of the canvas; each step gives other streamlines
    x, y, w, h = browser.value("(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('canvas').getBoundingClientRect())")
    x, y, before, times = x + w / 2, y + h / 2, place(browser), []
    browser.mouse("mousePressed", x, y)
    for i in range(1, 21):
        last, start = command(browser), time.monotonic()
        browser.mouse("mouseMoved", x + 3 * i, y - i)
        check(browser.wait(f"document.getElementById('command').textContent !== {json.dumps(last)}"), "a movement gives no streamlines")
        browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        times.append(time.monotonic() - start)
    browser.mouse("mouseReleased", x + 60, y - 20)
    after = place(browser)
    check(after[0] - before[0] > 1 and after[1] - before[1] > 0.3 and after[2:] == before[2:], "the mouse moved the sphere from", before, "to", after)
    follow(browser)
    times.sort()
    print("from mouse to picture: median %.0f ms, 95 %% %.0f ms" % (1000 * times[len(times) // 2], 1000 * times[int(0.95 * len(times))]))

    # a sphere that is not shown is not moved; its streamlines come back with it
    browser.click("live-shown")
    browser.mouse("mousePressed", x + 60, y - 20)
    browser.mouse("mouseMoved", x + 80, y - 20)
    browser.mouse("mouseReleased", x + 80, y - 20)
    check(place(browser) == after, "a sphere that is not shown moves")
    for name in ("stand-superior", "live-shown"):
        browser.click(name)

    # beside the sphere the mouse turns the view
    browser.mouse("mousePressed", x - w / 2 + 20, y - h / 2 + 20)
    browser.mouse("mouseMoved", x - w / 2 + 60, y - h / 2 + 20)
    browser.mouse("mouseReleased", x - w / 2 + 60, y - h / 2 + 20)
    check(place(browser) == after, "turning moves the sphere")

    # keys, along the screen from above: right, up, towards the viewer
    browser.value("document.getElementById('stand-superior').click(), document.getElementById('canvas').focus(), true")
    for key in ("ArrowRight", "ArrowUp", "PageUp"):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=8)
    moved = place(browser)
    check(all(abs(a - b - 1) < 0.02 for a, b in zip(moved[:3], after[:3])), "keys moved the sphere from", after, "to", moved)
    follow(browser)

    # fields; a wrong number asks for nothing
    change = "(() => { const f = document.getElementById('%s'); f.value = '%s'; f.dispatchEvent(new Event('input', { bubbles: true })); return true; })()"
    browser.value(change % ("seed", "7"))
    check(browser.wait("document.getElementById('command').textContent.includes('--seed-seed 7 ')"), "the random seed is not taken")
    last = command(browser)
    browser.value(change % ("seed-r", "-1"))
    time.sleep(0.3)
    check(command(browser) == last and browser.value("document.getElementById('connection').textContent") == "", "a radius of -1 was asked for")
    browser.value(change % ("seed-r", str(after[3])))

    live(browser)
    select(browser)
    paint(browser)

    # both colour schemes; a phone; the picture for the manual
    for scheme in ("dark", "light"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        violations(browser, scheme)
    browser.value("(() => { scrollTo(0, 0); return true; })()")  # the keys of the selection have scrolled to its fields
    time.sleep(0.5)
    (folder / "view.png").write_bytes(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))
    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=2, mobile=True)
    wide = browser.value("document.documentElement.scrollWidth - innerWidth")
    check(wide <= 0, "the page is", wide, "pixels too wide for a phone")
    violations(browser, "phone")
    faults = [e["params"] for e in browser.events if e.get("method") == "Runtime.exceptionThrown" or
              (e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error" and "favicon" not in e["params"]["entry"].get("url", ""))]
    check(faults == [], "errors of the page:", faults)


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    tab = Browser(profile)
    try:
        review(tab)
        run(tab)
    finally:
        tab.process.terminate()
        tab.process.wait()
sys.exit(len(failures) > 0)
