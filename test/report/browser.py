"""A tab of a headless Chromium for tests, driven by DevTools with the standard library alone."""

import base64
import json
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
from view import Page


class Browser:
    """A tab of a headless Chromium. options: what draws; none: SwiftShader."""

    def __init__(self, profile, program="chromium", options=()):
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", *(options or ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")), "--hide-scrollbars", "--remote-debugging-port=0",
             "--window-size=1000,1300", f"--user-data-dir={profile}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = next(m for line in self.process.stderr if (m := re.search(r"ws://([\d.]+):(\d+)(/\S+)", line)))
        host, port, path = found.groups()
        self.socket = Page(host, int(port), path, f"Host: {host}:{port}\r\n")
        self.socket.s.settimeout(60)
        self.n, self.session, self.events = 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def post(self, method, **parameters):
        """Sends a command, whose answer call() may skip."""
        self.n += 1
        message = {"id": self.n, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))

    def call(self, method, **parameters):
        self.post(method, **parameters)
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.n:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.events.append(answer)

    def value(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script, seconds=60):
        """Waits until an expression is true; returns whether it is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.value(script):
                    return True
            except AssertionError as error:
                # the page leads to another one just now
                if "navigated" not in str(error):
                    raise
            time.sleep(0.005)
        return False

    def mouse(self, kind, x, y, shift=False):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, modifiers=8 * shift, button="left", buttons=int(kind != "mouseReleased"), clickCount=1)

    def text(self, name):
        """The text of the element with an id."""
        return self.value(f"document.getElementById('{name}').textContent")

    def click(self, name):
        self.value(f"document.getElementById('{name}').click(), true")

    def put(self, name, value):
        """Gives a field a value as a user does."""
        self.value("((f, v) => { if (f.type === 'checkbox') f.checked = v; else f.value = v; for (const kind of ['input', 'change']) "
                   f"f.dispatchEvent(new Event(kind, {{ bubbles: true }})); return true; }})(document.getElementById('{name}'), {json.dumps(value)})")

    def picture(self, path, top="h1"):
        """Writes a picture of the page from an element on."""
        self.value(f"document.querySelector('{top}').scrollIntoView(), true")
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        self.value("scrollTo(0, 0), true")

    def violations(self, axe):
        """What axe-core finds; axe: its script."""
        if not self.value("typeof axe === 'object'"):
            self.value(axe + "; true")
        return self.value("axe.run(document, {}).then((r) => r.violations.map((v) => v.id + ' ' + v.nodes.map((n) => n.target).join(' ')))")
