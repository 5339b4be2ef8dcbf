#!/usr/bin/env python3
"""speedscope.py - what speedscope reads in tnfdump's folded stacks and Chrome traces.

usage: speedscope.py INDEX.HTML FOLDED CHROME SQLITE    (others.sh calls it)
"""
import base64
import importlib.util
import json
import os
import re
import sqlite3
import sys
import time

index, folded, chrome, database = sys.argv[1:]
spec = importlib.util.spec_from_file_location("page", os.path.join(os.path.dirname(__file__), "html.py"))
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)


def table(browser, path):
    """The rows of the table "Sandwich": total, self and symbol; and the row of tabs."""
    with open(path, "rb") as f, open("load.js", "w", encoding="utf-8") as js:
        js.write("speedscope.loadFileFromBase64(%s, %s)" % (json.dumps(os.path.basename(path)),
                 json.dumps(base64.b64encode(f.read()).decode())))
    browser.ask("POST", "/url", {"url": "about:blank"})
    browser.ask("POST", "/url", {"url": "file://%s#localProfilePath=%s" % (index, os.path.abspath("load.js"))})
    browser.wait("return document.title.includes(%s)" % json.dumps(os.path.basename(path)))
    while "Symbol Name" not in browser.run("return document.body.innerText"):
        browser.keys("3")
        time.sleep(0.1)
    rows = browser.run("return [...document.querySelectorAll('tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))")
    complaints = [e["message"] for e in browser.log("browser") if "Doing nothing" in e["message"] or
                  "still open" in e["message"]]
    return [row for row in rows if len(row) == 3], browser.run("return document.body.innerText"), complaints


browser = page.Browser(1600, 4000, False)
bad = 0
want = {}
for line in open(folded, encoding="utf-8"):
    stack, n = line.rsplit(" ", 1)
    name = stack.split(";")[-1]
    want[name] = want.get(name, 0) + int(n)
rows, _, _ = table(browser, folded)
got = {row[2]: int(re.sub(r"[ ,(].*", "", row[1].replace(",", ""))) for row in rows if row[1][:1].isdigit()}
got = {name: n for name, n in got.items() if n > 0}
print("speedscope, folded: %d of %d symbols with the same counts" %
      (sum(want[name] == got.get(name) for name in want), len(want)))
bad += want != got
_, text, complaints = table(browser, chrome)
threads = sqlite3.connect(database).execute("SELECT count(DISTINCT lwpid) FROM pairs").fetchone()[0]
found = re.search(r"\(\d+/(\d+)\)", text)
print("speedscope, chrome: %s rows for %d threads with slices, %d complaints" %
      (found and found.group(1), threads, len(complaints)))
bad += found is None or int(found.group(1)) != threads or len(complaints) > 0
browser.close()
sys.exit(bad > 0)
