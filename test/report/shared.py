"""Two pages of `glslines view` in browsers of their own: shared.py ADDRESS READ_ONLY_ADDRESS AXE.js. A region that one adds and moves appears in the other, which
changes nothing. Prints what fails."""

import json
import sys
import tempfile
from pathlib import Path

from browser import Browser
from view import check, failures

address, look, axe = sys.argv[1:]
script = Path(axe).read_text()
ready = "document.getElementById('canvas') && %s"
centre = "[...document.querySelectorAll('#regions input')].slice(0, 3).map((f) => Number(f.value)).join()"


def wait(browser, expression, what):
    check(browser.wait(f"(() => {{ try {{ return {ready % f'({expression})'}; }} catch {{ return false; }} }})()"), what, browser.text("connection"), browser.text("selected"))


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as a, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as b:
    writer, looker = Browser(a), Browser(b)
    try:
        writer.call("Page.navigate", url=address)
        wait(writer, "/ streamlines from /.test(document.getElementById('tracked').textContent)", "nothing is tracked")
        looker.call("Page.navigate", url=look)
        wait(looker, "document.getElementById('changes').disabled && / streamlines from /.test(document.getElementById('tracked').textContent)", "a read-only page shows nothing")
        check("read-only" in looker.text("connection"), "a read-only page does not say so", looker.text("connection"))
        writer.click("add-sphere")
        wait(looker, "document.querySelectorAll('#regions fieldset').length === 1", "a region does not appear")
        writer.value("(() => { const f = document.querySelector('#regions input'); f.value = '3.5'; f.dispatchEvent(new Event('input', { bubbles: true })); return true; })()")
        wait(looker, centre + ".startsWith('3.5,')", "a region that is moved stays")
        wait(writer, "/ of .* streamlines in /.test(document.getElementById('selected').textContent)", "nothing is selected")
        wait(looker, "document.getElementById('edit-command').textContent.includes('--include=3.5,')", "the selection does not follow")
        check(looker.text("edit-command") == writer.text("edit-command"), "two selections")
        writer.put("max-angle", "33")
        wait(looker, "document.getElementById('max-angle').value === '33' && document.getElementById('command').textContent.includes('--max-angle=33')", "controls do not follow")

        # the read-only page: its fields and keys change nothing, here and there
        enabled = looker.value("[...document.querySelectorAll('#live input, #live select, #live button, #select input, #select select, #select button')].filter((f) => !f.matches(':disabled')).length")
        check(enabled == 0, enabled, "controls of a read-only page can be used")
        check(looker.value("getComputedStyle(document.getElementById('add-sphere')).opacity") < writer.value("getComputedStyle(document.getElementById('add-sphere')).opacity"),
              "buttons that cannot be used look as others do")
        place = "document.getElementById('%s').getBoundingClientRect().top"
        check(looker.value(place % "connection") < looker.value(place % "canvas"), "the state of the connection stands below the view")
        for key in ("ArrowRight", "PageUp"):
            looker.value("document.getElementById('canvas').focus(), true")
            looker.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=8)
        looker.call("Input.dispatchKeyEvent", type="keyDown", key="z", modifiers=2)
        check(looker.value(centre).startswith("3.5,") and writer.value(centre).startswith("3.5,"), "keys of a read-only page move a region")
        for browser, name in ((writer, "a page"), (looker, "a read-only page")):
            found = browser.violations(script)
            check(found == [], "axe,", name, found)

        # each undo names the scene that the page shows; steps that wait are no longer meant when another page has changed it
        sent = writer.value("""(() => {
            const sent = [], seen = (id, version, taken = false) => ({ id, kind: "scene", writes: true, taken, version, past: 3, future: 0 });
            const scene = glslinesShared({ read: () => ({}), apply() {}, post: (kind, body) => sent.push([kind, body.base]), joined() {}, say() {} });
            scene.take(seen(1, 5), "join");
            scene.note("");
            scene.take(seen(2, 6, true), "scene");
            for (let i = 0; i < 3; i++) scene.undo(false);
            scene.take(seen(3, 7, true), "undo");
            scene.take(seen(0, 8));
            scene.take(seen(4, 8), "undo");
            // the answer to a refused step has the number of a step that counts: it stands for the scene of another page, too
            for (let i = 0; i < 2; i++) scene.undo(false);
            scene.take(seen(5, 9), "undo");
            return sent;
        })()""")
        check(sent == [["scene", 5], ["undo", 6], ["undo", 7], ["undo", 8]], "steps of undo", sent)

        # undo, and a page that is loaded again
        for _ in range(3):
            writer.click("undo")
        wait(looker, "document.querySelectorAll('#regions fieldset').length === 0", "undo does not appear")
        for _ in range(2):
            writer.click("redo")
        wait(looker, centre + ".startsWith('3.5,')", "redo does not appear")
        writer.call("Page.reload")
        wait(writer, centre + ".startsWith('3.5,') && document.getElementById('edit-command').textContent.includes('--include=3.5,')", "a page that is loaded again is empty")
        for browser in (writer, looker):
            faults = [e["params"] for e in browser.events if e.get("method") == "Runtime.exceptionThrown"]
            check(faults == [], "errors of the page:", json.dumps(faults)[:400])
    finally:
        for browser in (writer, looker):
            browser.process.terminate()
            browser.process.wait()
sys.exit(len(failures) > 0)
