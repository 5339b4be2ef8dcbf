#!/usr/bin/env python3
"""html.py - pages of tnfdump --to html in a browser without any network, used by
mouse and keyboard; what they show is compared with tnfdump's own reports.

usage: html.py TNFDUMP OUT TRACE...     (in a network namespace of its own)

A TRACE that is a directory holds one of each of several machines, for --hosts.

Screenshots go to the directory OUT.
"""
import base64
import json
import os
import subprocess
import sys

from browser import KEYS, Browser

def check(holds, what):
    global bad
    if not holds:
        print("FAIL: " + what)
        bad += 1


def sums(browser):
    return json.loads(browser.run("return document.getElementById('tables').dataset.sums"))


def jsonl(tnfdump, traces):
    text = subprocess.run([tnfdump, "--to", "jsonl", *traces], capture_output=True, check=False).stdout
    lines = [json.loads(line) for line in text.splitlines()]
    return [event for event in lines if "probe" in event]


def compare(browser, tnfdump, traces, what):
    """Counts and durations are those of the text reports."""
    want = {}
    for event in jsonl(tnfdump, traces):
        name = event["probe"]
        if isinstance(name, dict):      # not UTF-8: the page has a character a byte
            name = bytes.fromhex(name["$bytes"]).decode("latin-1")
        want[name] = want.get(name, 0) + 1
    got = sums(browser)
    check(got["events"] == want, "%s: counts: %r, should be %r" % (what, got["events"], want))
    report = subprocess.run([tnfdump, "--stats", "--pretty", *traces], capture_output=True, text=True, check=False).stdout
    spans = {}
    for line in report.splitlines()[1:]:
        words = line.split()
        if len(words) < 10 or not words[0].isdigit():
            break
        spans[words[9]] = [int(words[0]), round(float(words[2]) * 1e6)]
    got["spans"] = {name: figures[:2] for name, figures in got["spans"].items()}
    check(got["spans"] == spans, "%s: durations: %r, should be %r" % (what, got["spans"], spans))


def use(browser, n):
    """Zoom, move, pick, search and select, by mouse and by keyboard."""
    ask = browser.run
    box = ask("const r = document.getElementById('line').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]")
    x, y = int(box[0] + box[2] * 0.6), int(box[1] + box[3] * 0.5)
    span = lambda: ask("return trace.line.to - trace.line.from")
    whole = span()
    browser.wheel(x, y, -400)
    browser.wait("return trace.line.to - trace.line.from < %f" % (whole * 0.6))
    at = ask("return trace.line.from")
    browser.mouse((x, y), (x - 60, y), (x - 120, y))
    check(ask("return trace.line.from") > at, "drag does not move")
    browser.keys("f")
    check(abs(span() - whole) < 1, "f does not fit")
    browser.keys("w")
    check(span() < whole * 0.7, "w does not zoom")
    browser.keys("f", KEYS["right"])
    first = ask("return trace.line.picked.event")
    check(first >= 0 and ask("return document.querySelector('#detail h2').textContent") ==
          ask("return trace.data.probes[trace.data.probe[trace.line.picked.event]].name"), "right arrow picks no event")
    browser.keys(KEYS["right"])
    check(ask("return trace.line.picked.event") != first, "right arrow does not go on")
    # A condition, typed; Enter goes to the first match.
    name = ask("return trace.data.probes[trace.data.probe[trace.data.n - 1]].name")
    want = ask("let n = 0; for (const p of trace.data.probe) n += trace.data.probes[p].name === %s; return n" % json.dumps(name))
    browser.keys("/")
    browser.keys(*('probe == "%s"' % name), KEYS["enter"])
    check(ask("return trace.line.hits.length") == want, "find: not %d matches" % want)
    check(ask("return trace.data.probes[trace.data.probe[trace.line.picked.event]].name") == name, "Enter does not go to a match")
    at = ask("return trace.line.picked.event")
    browser.keys("n")
    check(want == 1 or ask("return trace.line.picked.event") != at, "n does not go on")
    # A stretch of time, by Shift and drag: its own statistics.
    browser.keys(KEYS["escape"], "f")
    left, right = int(box[0] + 200 + (box[2] - 200) * .3), int(box[0] + 200 + (box[2] - 200) * .7)
    browser.mouse((left, y), (right - 10, y), (right, y), shift=True)
    got = ask("return trace.line.range")
    check(got is not None and got[0] < got[1], "Shift and drag selects nothing")
    counted = sum(sums(browser)["events"].values())
    inside = ask("let n = 0; for (const t of trace.data.time) n += t >= trace.line.range[0] && t < trace.line.range[1]; return n")
    check(counted == inside < n, "selection: %d events, should be %d" % (counted, inside))
    # The link restores view, selection and pick.
    browser.keys(KEYS["right"])
    browser.run("document.getElementById('link').click()")
    view = ask("return [trace.line.from, trace.line.to, trace.line.range, trace.line.picked.event].map((x) => JSON.stringify(x))")
    link = ask("return location.href")
    browser.ask("POST", "/url", {"url": "about:blank"})
    browser.ask("POST", "/url", {"url": link})
    browser.wait("return document.body.dataset.ready !== undefined")
    again = ask("return [trace.line.from, trace.line.to, trace.line.range, trace.line.picked.event].map((x) => JSON.stringify(x))")
    near = lambda a, b: a == b or abs(float(a.strip("[]").split(",")[0]) - float(b.strip("[]").split(",")[0])) <= 1
    check(all(map(near, view, again)), "link: %r, was %r" % (again, view))


def waits(browser, tnfdump, trace, what):
    """Each wait, its length and who woke it, as a reading of the events tells; where a request of
    a disk had just ended there, the page names the disk."""
    rows, plain = ([row for row in map(json.loads, subprocess.run([tnfdump, "--to", "jsonl", *option, trace],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.splitlines()) if "tnf" not in row]
        for option in (["--pretty"], []))
    for row, same in zip(rows, plain):      # --pretty writes the thread's name beside its address
        row["args"].update((name, v) for name, v in same["args"].items() if name == "tid")
    owner, blocked, want = {}, {}, []
    for row in rows:
        me = (row["pid"], row["lwpid"])
        if isinstance(row["tid"], str):
            owner[row["tid"]] = me
        if row["probe"] == "thread_block":
            blocked[me] = row["time"]
        elif row["probe"] == "thread_queue" and owner.get(row["args"].get("tid")) in blocked:
            want.append([row["time"] - blocked.pop(owner[row["args"]["tid"]]), me[1]])
    got = browser.run("return trace.data ? [...Array(trace.waits.n).keys()].map((w) => [trace.data.sleep.woken[w] - trace.data.sleep.from[w], "
                      "trace.data.sleep.by[w] === 4 ? 'disk' : trace.waits.waker(w) < 0 ? null : trace.data.threads[trace.waits.waker(w)].lwpid]) : []")
    missing = [w for w in want if w not in got and [w[0], "disk"] not in got]
    check(not missing, "%s: waits: %r are not in %r" % (what, missing[:5], got[:5]))
    if not want:
        return
    # The longest: from the table, and from there to who woke it.
    browser.run("""const t = [...document.querySelectorAll('#tables section')].find((s) => s.querySelector('h2').textContent === 'Waits');
        t.querySelector('tbody tr').click()""")
    text = browser.run("return document.querySelector('#detail .wait').textContent")
    check("waited" in text, "%s: the detail of a wait: %r" % (what, text))
    if browser.run("const b = [...document.querySelectorAll('#detail button')].find((b) => b.textContent === 'go to who woke it');"
                   "if (b) b.click(); return !!b"):
        check(browser.run("const t = trace.data.threads[trace.data.thread[trace.line.picked.event]]; return String(t.lwpid)") in text,
              what + ": not at who woke it")


def marks(browser, tnfdump, trace, what):
    """Each mark is a line of its own with its text, which a click picks."""
    want = [event["args"]["text"] for event in jsonl(tnfdump, [trace]) if event["probe"] == "mark"]
    want = [bytes.fromhex(text["$bytes"]).decode("latin-1") if isinstance(text, dict) else text for text in want]
    got = browser.run("return trace.data ? trace.data.marks.map((m) => m.text) : []")
    check(got == want, "%s: marks: %r, should be %r" % (what, got, want))
    if not want:
        return
    at = browser.run("""const l = trace.line, m = trace.data.marks[trace.data.marks.length >> 1];
        l.view(m.time - 1000, m.time + 1000); l.paint();
        const r = l.canvas.getBoundingClientRect();
        return [r.x + l.x(m.time) + 1, r.y + 24 + 8, m.event]""")
    browser.mouse((at[0], at[1]))
    check(browser.run("return trace.line.picked.event") == at[2], "%s: a click on a mark picks another event" % what)
    check(browser.run("return [...document.querySelectorAll('#tables h2')].some((h) => h.textContent === 'Marks')"),
          what + ": no table of marks")


def printed(browser, what):
    """What a printer gets: head, the timeline as it is on the screen but for white paper, and the
    tables; nothing of them beside the paper, and afterwards the screen is as before."""
    screen = "const l = trace.line; return [l.from, l.to, l.scroll, l.tall, l.canvas.width, l.inks.back, l.rows.length].map(String)"
    view = """const c = trace.line.canvas, p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return [c.width, c.height, p[0], new Set(new Uint32Array(p.buffer)).size]"""
    browser.run("window.drawn = null; addEventListener('beforeprint', () => { window.drawn = (() => { %s })(); });" % view)
    dark = browser.run("const b = document.getElementById('theme'); if (!document.documentElement.classList.contains('dark')) b.click();"
                       "trace.line.paint(); return trace.line.inks.back")
    before = browser.run(screen)
    pdf = base64.b64decode(browser.ask("POST", "/print", {}))
    check(pdf.startswith(b"%PDF"), what + ": cannot be printed")
    width, height, white, colors = browser.run("return window.drawn") or [0] * 4
    check(width == 2000 and white == 255 and colors > 8,
          "%s: printed: %r by %r, white %r, %r colours" % (what, width, height, white, colors))
    check(browser.run(screen) == before and dark != "#fff", what + ": the screen is not as before: %r" % before)
    browser.run("document.getElementById('theme').click()")
    browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print"}})
    browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
        "width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}})
    place = browser.run("const r = document.getElementById('line').getBoundingClientRect(); return [r.left, r.right, r.height]")
    check(0 <= place[0] < place[1] <= 720 and place[2] > 100, "%s: the timeline is not on the paper: %r" % (what, place))
    check(browser.run("return Math.max(0, ...[...document.querySelectorAll('#tables table')].map((t) => t.getBoundingClientRect().right))") <= 720,
          what + ": a table is wider than the paper")
    check(browser.run("""return [...document.querySelectorAll('#tables tbody')].every((b) =>
        [...b.rows].filter((r) => r.offsetHeight > 0).length <= 40)"""), what + ": too many rows on paper")
    browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})
    browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": ""}})


def machines(browser, tnfdump, files, what):
    """Lanes by machine, marks of an order that is not certain, the machine as a word."""
    rows = jsonl(tnfdump, ["--hosts", *files])
    hosts = sorted({row["host"] for row in rows})
    check(len(hosts) > 1, what + ": one machine only")
    titles = browser.run("return trace.line.rows.map((r) => r.title)")
    titles = [title for title in titles if title]
    for host in hosts:
        check(any(title.startswith(host + ": ") for title in titles), "%s: no lane of %s: %r" % (what, host, titles))
    got = browser.run("return [...trace.data.probe].map((p, i) => [trace.data.threads[trace.data.thread[i]].host, "
                      "trace.data.probes[p].name, trace.data.unordered.has(i)])")
    want = [[row["host"], row["probe"], row.get("unordered", False)] for row in rows]
    check(got == want, "%s: events: %r, should be %r" % (what, got, want))
    doubtful = [i for i, row in enumerate(want) if row[2]]
    check(doubtful and len(doubtful) < len(want), what + ": all events are in order, or none is")
    for i in range(len(want)):
        browser.run("trace.line.pick({ event: %d }, true)" % i)
        text = browser.run("return document.querySelector('#detail').innerText")
        check(("within the error of the clocks" in text) == want[i][2] and want[i][0] in text,
              "%s: the detail of event %d: %r" % (what, i, text))
    # Typed: the machine as a word of the conditions.
    for host in hosts:
        browser.keys("/")
        browser.run("document.activeElement.select()")
        browser.keys(*('host == "%s"' % host), KEYS["enter"])
        check(browser.run("return trace.line.hits.length") == sum(row[0] == host for row in want),
              "%s: host == %s" % (what, host))
    browser.keys(KEYS["escape"], "f")


def main():
    tnfdump, out, *traces = sys.argv[1:]
    browser = Browser(1280, 800, False)
    for trace in traces:
        what = os.path.basename(trace)
        page = os.path.join(out, what + ".html")
        files = [os.path.join(trace, name) for name in sorted(os.listdir(trace))] if os.path.isdir(trace) else None
        subprocess.run([tnfdump, "--to", "html", "-o", page, *(["--hosts", *files] if files else [trace])], stderr=subprocess.DEVNULL, check=False)
        browser.open(page)
        asked = [url for url in browser.requests() if url not in ("about:blank", "file://" + page)]
        check(asked == [], "%s: asks for %r" % (what, asked))
        errors = [entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"]
        check(errors == [], "%s: %r" % (what, errors))
        n = browser.run("return trace.data ? trace.data.n : 0")
        if files:
            machines(browser, tnfdump, files, what)
            browser.picture(os.path.join(out, what + ".png"))
            continue
        compare(browser, tnfdump, [trace], what)
        waits(browser, tnfdump, trace, what)
        marks(browser, tnfdump, trace, what)
        check(browser.run("return document.querySelectorAll('script').length") == 1 and
              not browser.run("return window.evil !== undefined"), what + ": a string has become markup")
        if what.startswith(("kern_events.lp64", "threads.lp64")):
            use(browser, n)
            printed(browser, what)
        browser.picture(os.path.join(out, what + ".png"))
    browser.close()
    browser = Browser(2560, 1440, True)
    browser.open(os.path.join(out, os.path.basename(traces[0]) + ".html"))
    check(browser.run("return document.documentElement.classList.contains('dark')"), "not dark where that is preferred")
    browser.picture(os.path.join(out, "dark.png"))
    browser.close()
    print("%d pages, %d wrong" % (len(traces), bad))
    sys.exit(bad > 0)


bad = 0
if __name__ == "__main__":
    main()
