"""browser.py - a Chromium without a window, driven by its chromedriver over WebDriver's HTTP."""
import base64
import json
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"right": "\ue014", "escape": "\ue00c", "enter": "\ue007", "shift": "\ue008"}


class Browser:
    """One session of chromedriver, over WebDriver's HTTP."""

    def __init__(self, width, height, dark):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        port = None
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                port = found.group(1)
                break
        assert port, "chromedriver does not start"
        self.profile = tempfile.TemporaryDirectory()
        self.base = "http://127.0.0.1:%s/session" % port
        args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                "--disable-background-networking", "--disable-component-update",
                "--user-data-dir=" + self.profile.name, "--window-size=%d,%d" % (width, height)]
        if dark:
            args += ["--blink-settings=preferredColorScheme=0"]
        answer = self.ask("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}}})
        self.base += "/" + answer["sessionId"]

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError("%s: %s" % (body, json.load(e)["value"]["message"])) from e

    def close(self):
        self.ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()
        self.profile.cleanup()

    def run(self, script):
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def open(self, path):
        self.ask("POST", "/url", {"url": "about:blank"})
        self.requests()
        self.ask("POST", "/url", {"url": "file://" + path})
        self.wait("return document.body.dataset.ready !== undefined")
        assert self.run("return document.body.dataset.ready") == "1", self.run("return document.body.innerText")

    def wait(self, script):
        for _ in range(1200):
            if self.run(script):
                return
            time.sleep(0.05)
        raise AssertionError("never: " + script)

    def log(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def requests(self):
        """What the page asked for, its own file apart."""
        asked = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return asked

    def keys(self, *keys):
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def mouse(self, *moves, shift=False):
        """Press at the first point, go to the others, let go."""
        pointer, key = [], []
        for i, (x, y) in enumerate(moves):
            pointer.append({"type": "pointerMove", "x": int(x), "y": int(y), "duration": 20})
            if i == 0:
                pointer.append({"type": "pointerDown", "button": 0})
        pointer.append({"type": "pointerUp", "button": 0})
        if shift:
            key = [{"type": "keyDown", "value": KEYS["shift"]}] + [{"type": "pause"}] * len(pointer)
            pointer.insert(0, {"type": "pause"})
            key.append({"type": "keyUp", "value": KEYS["shift"]})
        sources = [{"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": pointer}]
        if key:
            sources.append({"type": "key", "id": "k", "actions": key})
        self.ask("POST", "/actions", {"actions": sources})

    def wheel(self, x, y, by):
        self.ask("POST", "/actions", {"actions": [{"type": "wheel", "id": "w", "actions": [
            {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": by, "duration": 0, "origin": "viewport"}]}]})

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.ask("GET", "/screenshot")))
