#!/usr/bin/env python3
"""page.py - how long a page of tnfdump --to html takes: to write, to open, to zoom; its memory.

usage: bench/page.py TNFDUMP FILE...     (as many events as the page is to have; --last 6s may stand
                                          among the files)

Opens the page in Chromium three times and prints the least.  A zoom step is the time in which the
timeline is painted, over 80 steps; the first step makes the rows of the lanes that it shows.
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tests", "formats"))
from browser import Browser

STEPS = """window.steps = []; window.done = false; (async () => {
    const l = trace.line, frame = () => new Promise((done) => requestAnimationFrame(done));
    for (let i = 0; i < 80; i++) {
        l.zoom(i < 40 ? .75 : 1 / .75, l.from + (l.to - l.from) * .4);
        await frame(); await frame();
        steps.push(l.drawn.ms);
    }
    done = true;
})()"""


def opened(page):
    browser = Browser(1920, 1200, False)
    try:
        began = time.time()
        browser.open(page)
        took = time.time() - began
        browser.ask("POST", "/goog/cdp/execute", {"cmd": "HeapProfiler.collectGarbage", "params": {}})
        heap = browser.ask("POST", "/goog/cdp/execute", {"cmd": "Runtime.getHeapUsage", "params": {}})
        browser.run(STEPS)
        browser.wait("return window.done")
        steps = sorted(browser.run("return steps"))
        used = heap["usedSize"] + heap.get("backingStorageSize", 0) + heap.get("embedderHeapUsedSize", 0)
        return took, used / 1e6, steps[40], steps[-2], steps[-1], browser.run("return trace.data.n")
    finally:
        browser.close()


def main():
    tnfdump, *files = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        page = os.path.join(directory, "page.html")
        began = time.time()
        subprocess.run([tnfdump, "--to", "html", "-o", page, *files], stderr=subprocess.DEVNULL, check=False)
        wrote = time.time() - began
        runs = [opened(page) for _ in range(3)]
        took, used, middle, late, most = (min(run[k] for run in runs) for k in range(5))
        print("%d events: page %.1f MB, written in %.1f s, opened in %.1f s, %.0f MB of memory; a zoom step %.1f ms "
              "(median), %.1f ms (all but the longest), %.1f ms (the longest)" %
              (runs[0][5], os.path.getsize(page) / 1e6, wrote, took, used, middle, late, most))


main()
