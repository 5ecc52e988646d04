"""Chromium, driven through a pipe: no package beside Debian's chromium.

`--remote-debugging-pipe` reads DevTools messages from descriptor 3 and writes
answers to 4, each ended by a NUL.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
         "--disable-extensions", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--mute-audio"]


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix="prony-browser-")
        to_child, ours_out = os.pipe()
        ours_in, from_child = os.pipe()
        self.out, self.inp = ours_out, ours_in

        def wire():
            os.dup2(to_child, 63)
            os.dup2(from_child, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        env = dict(os.environ, HOME=self.home)
        self.process = subprocess.Popen(
            [program, *FLAGS, "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(self.home, "profile"),
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=wire,
            start_new_session=True, env=env)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.events = b"", 0, []

    def _read(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, seconds=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        until = time.monotonic() + seconds
        while True:
            answer = self._read(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait(self, method, session, seconds=60):
        until = time.monotonic() + seconds
        while True:
            for e in self.events:
                if e.get("method") == method and e.get("sessionId") == session:
                    return e
            self.events.append(self._read(until))

    def page(self, url, width, height=900, dark=False, script=True):
        return Page(self, url, width, height, dark, script)

    def close(self):
        try:
            self.call("Browser.close", seconds=10)
        except (TimeoutError, EOFError, OSError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.home, ignore_errors=True)


class Page:
    """A file in a tab of its own; what it asked for and complained about."""

    def __init__(self, browser, url, width, height, dark, script):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")
        self.target = target["targetId"]
        self.session = browser.call("Target.attachToTarget", flatten=True,
                                    targetId=self.target)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.call("Page.navigate", url=url)
        browser.wait("Page.loadEventFired", self.session)

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def run(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def _mine(self, *methods):
        return [e["params"] for e in self.browser.events
                if e.get("sessionId") == self.session and
                e.get("method") in methods]

    def requests(self):
        """Addresses it asked for, without its own."""
        return [p["request"]["url"]
                for p in self._mine("Network.requestWillBeSent")][1:]

    def complaints(self):
        return self._mine("Runtime.exceptionThrown", "Log.entryAdded",
                          "Runtime.consoleAPICalled")

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=code,
                      **({"text": "\r"} if name == "Enter" and
                         kind == "keyDown" else {}))

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip=dict(x=0, y=0, width=size["width"],
                                   height=min(size["height"], 8000), scale=1))
        with open(path, "wb") as f:
            f.write(base64.b64decode(data["data"]))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(data["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
