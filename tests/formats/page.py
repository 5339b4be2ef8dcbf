#!/usr/bin/env python3
"""page.py - what people do with the page of tnfdump --to html: each thing by mouse, touch or keys.

Guards: arrows and "woken by" that name another thread than the waker, a search that finds nothing
silently, lanes that cannot be handled, a verdict other than that of tnfdump --why, tables with
figures other than tnfdump's, colours that are one, a phone that cannot zoom.

usage: page.py TNFDUMP STORY OUT     (in a network namespace of its own)
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "why"))
import machine
from browser import KEYS, Browser

bad = 0
USER, SYSTEM, LOCK, SLEEP, WAIT = 0, 1, 6, 7, 8


def check(holds, what, shown=""):
    global bad
    if not holds:
        print("FAIL: %s: %r" % (what, shown))
        bad += 1


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=False).stdout


def traces(directory, writer=0):
    """Twenty requests of 100 us; in the last the server waits 9 ms for a lock of the holder, from
    which the hog takes its CPU for 6 ms.  In each request is a step of 40 us with a text.  'writer' is the
    thread that writes the server's waking: 0 is an idle one, to which the holder has passed it."""
    m = machine.Machine(1, os.path.join(directory, "one%d" % writer), {100: "server", 101: "holder", 102: "hog"})
    m.of(0, 102, 0, 100, USER)
    m.of(0, 102, 1, 101, USER)
    for i in range(20):
        t = 1000 + i * 1000
        m.request(t, 100, "request_start", i)
        m.request(t + 10, 100, "step_start bake" if i else "step_start croissant", i)
        m.request(t + 50, 100, "step_end", i)
        m.request(t + 100, 100, "request_end", i)
    t = 30000
    m.request(t, 100, "request_start", 99)
    m.switch(t + 1000, 0, 100, LOCK, 0, 0)
    m.switch(t + 2000, 1, 101, WAIT, 102, USER)
    m.switch(t + 8000, 1, 102, WAIT, 101, USER)
    m.wakeup(t + 10000, 101, 1, 100)
    m.of(t + 10000, writer, 1, 100, WAIT)
    m.of(t + 10500, 0, 0, 100, SYSTEM)
    m.request(t + 11000, 100, "request_end", 99)
    return [m.file("user", ["request_start r id:tnf_int32", "request_end r id:tnf_int32",
                            "step_start s what:tnf_string id:tnf_int32", "step_end s id:tnf_int32"], m.user),
            m.file("out", ["thread_state thread state:tnf_microstate"], m.out),
            m.file("into", ["thread_state thread tid:tnf_kthread_id state:tnf_microstate",
                            "thread_wakeup wakeup tid:tnf_kthread_id"], m.into)]


def crowd(directory):
    """2,700 threads of 90 processes, each in two states, and one of them busy."""
    path = os.path.join(directory, "crowd")
    lines = ["blocks 3000", "kernel", "kernel-part 0", "boot 2", "type tnf_microstate tnf_int32",
             "probe thread_state thread state:tnf_microstate"]
    for k in range(2700):
        pid, tid = 1000 + k % 90, 5000 + k
        for n, state in enumerate([USER, SLEEP] * (200 if k == 2699 else 1)):
            lines.append("%d %d %d %d 0 thread_state %d" % (1000 + k * 10 + n, pid, tid, tid, state))
    head, events = lines[:6], lines[6:]
    events.sort(key=lambda line: int(line.split()[0]))
    tasks = ["@task %d %d 1 %s" % (5000 + k, 1000 + k % 90, "busy" if k == 2699 else "t%d" % k) for k in range(2700)]
    subprocess.run([machine.story, path], input="\n".join(head + events + tasks) + "\n", text=True, check=True)
    return path


def requests(directory):
    """Three events that are no samples, with stacks: two of one place, and one of another."""
    path = os.path.join(directory, "requests")
    lines = ["kernel", "kernel-part", "probe note a", "probe strategy io stack:tnf_symbols",
             "500 7 7 0x100 0 note"]
    for t, address in ((1000, "81001010"), (2000, "81001020"), (3000, "81002010")):
        lines.append("%d 7 7 0x100 0 strategy 0xffffffff%s 0xffffffff81003010 0 0" % (t, address))
    lines += ["@task 7 7 1 dd", "@symbol ffffffff81001000 ffffffff81001fff - submit_bio",
              "@symbol ffffffff81002000 ffffffff81002fff - discard", "@symbol ffffffff81003000 ffffffff81003fff - do_call"]
    subprocess.run([machine.story, path], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def alone(tnfdump, directory):
    """Without thread_wakeup and without the program's file: who writes thread_state is the waker."""
    path = os.path.join(directory, "alone.tnf")
    subprocess.run([tnfdump, "--to", "tnf", "-o", path, "--where", 'probe == "thread_state"', *traces(directory, 101)[1:]],
                   stderr=subprocess.DEVNULL, check=True)
    return path


class Page:
    def __init__(self, browser, tnfdump, files, path):
        self.browser, self.ask = browser, browser.run
        subprocess.run([tnfdump, "--to", "html", "-o", path, *files], stderr=subprocess.DEVNULL, check=False)
        browser.open(path)
        errors = [entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"]
        check(errors == [], path, errors)

    def slice(self, name, nth=-1):
        """The number of the nth slice of a name in the order of time."""
        return self.ask("""const { data } = trace, name = data.spans.indexOf(%s);
            return [...data.slice.name.keys()].filter((s) => data.slice.name[s] === name)
                .sort((a, b) => data.slice.start[a] - data.slice.start[b]).at(%d)""" % (json.dumps(name), nth))

    def lane(self, title):
        """The row of a lane or group by the beginning of its title, with its place on the screen."""
        return self.ask("""const l = trace.line, r = l.rows.find((r) => r.title.startsWith(%s));
            if (!r) return null;
            const box = l.canvas.getBoundingClientRect();
            return { title: r.title, x: box.x, y: box.y + l.top + r.y - l.scroll, height: r.height, width: box.width }""" % json.dumps(title))

    def scroll_to(self, title):
        self.ask("""const l = trace.line; l.scroll = l.rows.find((r) => r.title.startsWith(%s)).y - 100; l.paint()""" % json.dumps(title))

    def click_slice(self, s, part=.5):
        at = self.ask("""const l = trace.line, s = %d, d = trace.data.slice, lane = trace.lanes.byThread.get(d.thread[s]);
            l.lanes.reveal(lane); l.layout(); l.prepare();
            const box = l.canvas.getBoundingClientRect(), x0 = Math.max(l.label, l.x(d.start[s])), x1 = Math.min(l.width, l.x(d.start[s] + d.duration[s]));
            return [box.x + x0 + (x1 - x0) * %f, box.y + l.top + lane.y - l.scroll + l.placesOf(lane).slices + d.depth[s] * 15 + 6]""" % (s, part))
        self.browser.mouse(at)

    def fit(self):
        self.browser.keys(KEYS["escape"], "f")
        self.paint()

    def paint(self):
        self.ask("trace.line.paint()")

    def detail(self):
        return self.ask("return document.getElementById('detail').innerText")

    def type(self, field, text):
        self.ask("const f = document.getElementById('%s'); f.focus(); f.select()" % field)
        self.browser.keys(*text)

    def found(self):
        return self.ask("return document.getElementById('found').textContent")

    def press(self, text, within="detail"):
        got = self.ask("""const b = [...document.getElementById('%s').querySelectorAll('button')].find((b) => b.textContent.includes(%s));
            if (b) b.click(); return !!b""" % (within, json.dumps(text)))
        check(got, "no button " + text)


def wakes(page, alone):
    """Arrows from who woke to who was woken, and in words; the idle thread that wrote the event is not it."""
    page.fit()
    page.browser.keys("f")
    page.paint()
    arrows = page.ask("""return trace.line.drawn.arrows.map((a) => [trace.waits.wakerText(a.wait),
        trace.data.threads[trace.data.sleep.thread[a.wait]].comm, a.x, a.y0, a.y1])""")
    if alone:
        check([a[1] for a in arrows] == ["server"], "arrows of thread_state alone", arrows)
        return
    check(len(arrows) == 1 and arrows[0][:2] == ["holder 101", "server"] and arrows[0][3] > arrows[0][4],
          "arrows: one, up from the holder to the server", arrows)
    state = page.ask("""const l = trace.line, w = trace.line.drawn.arrows[0].wait, lane = trace.lanes.byThread.get(trace.data.sleep.thread[w]);
        const box = l.canvas.getBoundingClientRect();
        return [box.x + l.x(trace.data.sleep.from[w] + 4e6), box.y + l.top + lane.y - l.scroll + l.placesOf(lane).state + 3]""")
    page.browser.mouse(state)
    text = page.detail()
    check("USER_LOCK" in text and "woken by holder 101" in text and "500.000 us for a CPU" in text, "woken by", text)
    page.press("go to who woke it")
    check(page.ask("return trace.data.threads[trace.data.thread[trace.line.picked.event]].comm") == "holder", "not at who woke it")
    page.ask("document.getElementById('wakes').click()")
    page.paint()
    check(page.ask("return trace.line.drawn.arrows.length") == 0, "arrows cannot be put away")
    page.ask("document.getElementById('wakes').click()")


def find(page):
    for text, hits, says in (("croissant", 1, "event"), ("bake", 19, "event"), ("request", 42, "slice"), ("hog", 1, "thread"),
                             ("WAIT_CPU", 3, "event"), ("812", 0, "nothing has")):
        page.type("find", text)
        page.browser.keys(KEYS["enter"])
        got = page.ask("return trace.line.hits.length")
        check(got == hits and says in page.found() + " nothing has" * (hits == 0), "find " + text, (got, page.found()))
    page.type("find", "duration > 500us")
    page.browser.keys(KEYS["enter"])
    check(page.ask("return [trace.line.hits.length, trace.line.picked.slice]") == [1, page.slice("request")], "find a duration",
          page.found())
    page.type("find", "nosuch == 3")
    page.browser.keys(KEYS["enter"])
    check(page.found() == "no probe has a member nosuch", "find an unknown member", page.found())
    page.type("find", "request")
    page.browser.keys(KEYS["enter"])
    times = []
    for _ in range(5):
        times.append(page.ask("return trace.line.pickedTime()"))
        page.browser.keys("n")
    check(times == sorted(times) and len(set(times)) == 5, "n does not go on in the order of time", times)
    at = page.ask("return trace.line.pickedTime()")
    page.browser.keys("N")
    check(page.ask("return trace.line.pickedTime()") < at, "N does not go back")
    page.type("find", 'probe == "req')
    names = page.ask("return [...document.getElementById('names').options].map((o) => o.value)")
    check('probe == "request_start' in names, "completion", names)
    page.fit()


def lanes(page, tnfdump, path):
    names = lambda: page.ask("return trace.line.rows.map((r) => r.title)")
    check(page.ask("return trace.data.threads.length") == 2700, "not 2,700 threads")
    check(len(names()) < 160, "too many rows at first", len(names()))
    first = page.ask("return trace.lanes.groups.find((g) => g.kind === 'process').lanes[0].title")
    check(first == "busy 7699", "the busiest is not first", first)
    at = page.lane("t89 1089")
    check(at is not None, "the busiest process", names()[:8])
    page.browser.mouse((at["x"] + 60, at["y"] + 8))
    folded = page.lane("t89 1089")
    page.browser.mouse((folded["x"] + 60, folded["y"] + 8))
    more = page.ask("return trace.line.rows.filter((r) => r.kind === 'more').map((r) => r.title)")
    check(more == ["5 more threads"] or more == [], "a process of 30 threads", more)
    check(page.ask("return trace.lanes.groups.find((g) => g.title === 't89 1089').open") is True, "a click on a process does not open it again")
    # A name filter, a pin by click, and by drag another order.
    page.type("lanes", "t26")
    check(page.lane("t2601") is not None and page.lane("t5 5005") is None and len(names()) < 250, "filter of lanes", names()[:5])
    page.ask("const f = document.getElementById('lanes'); f.value = ''; f.dispatchEvent(new Event('input'))")
    page.scroll_to("5 more threads")
    more = page.lane("5 more threads")
    page.browser.mouse((more["x"] + 60, more["y"] + 8))
    for title in ("t2609", "t2519"):
        page.scroll_to(title)
        at = page.lane(title)
        page.browser.mouse((at["x"] + 60, at["y"] + 5))
    check(names()[:3] == ["Pinned", "t2609 7609", "t2519 7519"], "pin", names()[:4])
    page.ask("trace.line.scroll = 0; trace.line.paint()")
    a, b = page.lane("t2519"), page.lane("t2609")
    page.browser.mouse((b["x"] + 60, b["y"] + 5), (a["x"] + 60, a["y"] + 2), (a["x"] + 60, a["y"] + a["height"] - 2))
    check(names()[1:3] == ["t2519 7519", "t2609 7609"], "drag to another place", names()[:4])
    # Tables have 200 rows, and count the rest.
    rest = page.ask("return [...document.querySelectorAll('#tables .rest')].map((p) => p.textContent).filter(Boolean)")
    rows = page.ask("return Math.max(...[...document.querySelectorAll('#tables tbody')].map((b) => b.rows.length))")
    check("and 2,500 rows more" in rest and rows == 200, "a table of 2,700 rows", (rest, rows))
    check(run(tnfdump, "--states", path).count("\n") >= 2700, "--states")


def panel(page, tnfdump, files):
    """A click on the slow slice: its members, times and rank; why, with the words of --why."""
    s = page.slice("request")
    page.click_slice(s, .9)
    check(page.ask("return trace.line.picked.slice") == s, "a click on a slice picks another", page.ask("return trace.line.picked"))
    text = page.detail()
    for words in ("11.000 ms", "request_start", "request_end", "99", "slower than 95.2 % of 21; number 1 from the slowest",
                  "USER_LOCK", "81.8 %", "WAIT_CPU"):
        check(words in text, "the slice's panel has no " + words, text)
    told = run(tnfdump, "--why=request", *files).splitlines()
    head = told.index("   at ms       ms")
    check(page.ask("return trace.line.chain.verdict").strip() == "\n".join(told[:head]).strip(), "verdict",
          page.ask("return trace.line.chain.verdict"))
    lines = page.ask("""const c = trace.line.chain, d = trace.data;
        return Array.from({ length: c.n }, (_, k) => [d.line.from[c.first + k] - d.slice.start[c.slice], d.line.ns[c.first + k],
            d.line.depth[c.first + k], d.texts[d.line.text[c.first + k] - 1]])""")
    printed = ["%8.3f %8.3f %s%s" % (at / 1e6, ns / 1e6, "  " * depth, words) for at, ns, depth, words in lines]
    check(printed == told[head + 1:], "the explanation is not that of --why", printed)
    check("holder 101 (futex)" in text and "runnable: CPU taken by hog 102" in text, "why, in words", text)
    # The chain is drawn below the slice; a click on a line of it goes to the thread whose time it is.
    at = page.ask("""const l = trace.line, c = l.chain, box = l.canvas.getBoundingClientRect(), k = c.rows[1].index[1];
        l.prepare();
        return [box.x + l.x(trace.data.line.from[k] + trace.data.line.ns[k] / 2), box.y + l.top + c.lane.y - l.scroll + l.placesOf(c.lane).chain + 15 + 6]""")
    page.browser.mouse(at)
    check(page.ask("return trace.data.threads[trace.data.thread[trace.line.picked.event]].comm") == "holder",
          "a click on the chain does not go to the holder", page.ask("return trace.line.picked"))
    # Neighbours of its name, by button and by key; the time within that no other slice has.
    page.ask("trace.go({ slice: %d })" % s)
    page.press("\u25c0 request")
    check(page.ask("return trace.line.picked.slice") == page.slice("request", -2), "the neighbour before")
    check("of which self\t60.000 us" in page.detail() and "step" in page.detail(), "self time and children", page.detail())
    page.browser.keys(KEYS["right"])
    check(page.ask("return trace.line.picked.slice") == s, "the arrow key does not go on to the next of its name")
    check(page.ask("return document.querySelector('.chart').dataset.marked") == "11000000", "the histogram does not mark it")
    page.ask("trace.go({ slice: %d })" % page.slice("step", 3))
    page.browser.keys("e")
    check(page.ask("return trace.line.picked.slice") == page.slice("request", 3), "e does not go to the slice around")


def flame(page):
    total = lambda: page.ask("return [trace.flame.root.total, trace.flame.top.name, trace.flame.at.name]")
    page.fit()
    took = 20 * 100e3 + 11e6
    check(total() == [took, "all", "all"], "the flame graph's total", total())
    where = page.ask("""const f = trace.flame, b = f.boxes.find((b) => b.node.name === 'step'); f.canvas.scrollIntoView();
        const box = f.canvas.getBoundingClientRect(); return [box.x + b.x + b.width / 2, box.y + b.y + 8, b.node.total]""")
    check(where[2] == 20 * 40e3, "time of the inner slices", where)
    page.browser.mouse(where[:2])
    check(total()[1] == "step", "a click does not zoom", total())
    page.browser.keys("\ue003")
    check(total()[1] == "request", "Backspace does not zoom out", total())
    page.browser.keys(KEYS["escape"], "\ue013", "\ue015", KEYS["enter"])
    check(total()[1] in ("server", "request"), "keys", total())
    # The flame graph of a selection, and compared with the whole.
    page.press("compare others with the whole", "flame")
    page.ask("trace.line.select([0, 10e6])")
    check(total()[0] == 9 * 100e3, "the flame graph of a selection", total())
    text = page.ask("const f = trace.flame; f.at = [...[...f.root.children.values()][0].children.values()][0]; f.tell(); return f.says.textContent")
    check("request" in text and "there 100.0 %" in text, "differential", text)
    page.press("waits", "flame")
    page.ask("trace.line.select(null)")
    check(page.ask("return trace.flame.root.total") >= 9e6, "the waits' flame graph", total())
    page.press("do not compare", "flame")
    frames = page.ask("return framesOf('[kernel+0x1 f+0x2 (inlined: inner in operator()) main+0x3]')")
    check(frames == ["main", "f", "operator()", "inner", "kernel"], "frames with what is inlined", frames)
    page.press("slices", "flame")
    page.fit()


def tables(page, tnfdump, files):
    report = run(tnfdump, "--stats", "--pretty", *files)
    want = {}
    for line in report.splitlines()[1:]:
        words = line.split()
        if len(words) < 10:
            break
        want[words[9]] = [int(words[0]), round(float(words[2]) * 1e6)] + [round(float(w) * 1000) for w in words[3:9]]
    got = json.loads(page.ask("return document.getElementById('tables').dataset.sums"))["spans"]
    check(got == want and want, "statistics: %r" % want, got)
    # Microseconds of --states by thread and state.
    head, *rows = run(tnfdump, "--states", *files).splitlines()
    names = head.split()[4:-1]
    states = {int(row.split()[1]): [float(v) for v in row.split()[3:3 + len(names)]] for row in rows if row.split()[:1] and row.split()[0].isdigit()}
    mine = dict(page.ask("""return [...statesOf(trace.data, 0, Infinity)].map(([t, v]) => [trace.data.threads[t].lwpid, [...v].map((x) => x / 1e6)])""")) \
        if page.ask("return typeof statesOf") == "function" else {}
    for tid, row in mine.items():
        # The column of interrupts is left out where there are none.
        check([round(v, 6) for v in row[:len(names)]] == states.get(tid) and not any(row[len(names):]), "states of thread %s" % tid, (row, states.get(tid)))
    check(mine, "no states")
    column = lambda: page.ask("return [...document.querySelectorAll('#spans tbody tr')].map((r) => r.cells[8].textContent)")
    page.press("what", "spans")
    check(column() == sorted(column()), "a table does not sort by text", column())
    page.press("count", "spans")
    counts = page.ask("return [...document.querySelectorAll('#spans tbody tr')].map((r) => Number(r.cells[0].textContent))")
    check(counts == sorted(counts, reverse=True), "a table does not sort by number", counts)
    # The chart over time: a click goes to the nearest dot.
    page.ask("[...document.querySelectorAll('#spans tbody tr')].find((r) => r.cells[8].textContent === 'request').click()")
    spot = page.ask("""const c = document.querySelectorAll('.chart')[1]; c.scrollIntoView({ block: 'center' });
        const box = c.getBoundingClientRect(); return [box.x + box.width - 9, box.y + 15]""")
    page.browser.mouse(spot)
    check(page.ask("return trace.line.picked.slice") == page.slice("request"), "a click on a dot over time")


def looks(page):
    """No two states look alike, to people who do not see red or green either."""
    states = page.ask("return Object.entries(STATE_LOOKS).map(([n, l]) => [n, l.color, l.pattern || ''])")

    def seen(color, kind):
        r, g, b = (int(color[k:k + 2], 16) / 255 for k in (1, 3, 5))
        if kind == "deuteranopia":
            return (.367 * r + .861 * g - .228 * b, .280 * r + .673 * g + .047 * b, -.012 * r + .043 * g + .969 * b)
        if kind == "protanopia":
            return (.152 * r + 1.053 * g - .205 * b, .115 * r + .786 * g + .099 * b, -.004 * r - .048 * g + 1.052 * b)
        return (r, g, b)
    for kind in ("all colours", "deuteranopia", "protanopia"):
        for i, (a, ca, pa) in enumerate(states):
            for b, cb, pb in states[i + 1:]:
                apart = sum((x - y) ** 2 for x, y in zip(seen(ca, kind), seen(cb, kind))) ** .5
                check(apart > .2 or pa != pb, "%s and %s look alike to people with %s" % (a, b, kind), apart)


def hands(page):
    """A processor's slice, hovering, buttons, two fingers, counters, the browser's Back."""
    page.fit()
    cpu = page.lane("CPU 1")
    middle = page.ask("const l = trace.line; return l.canvas.getBoundingClientRect().x + l.x(35e6)")
    page.browser.mouse((middle, cpu["y"] + 7))
    check(page.ask("return trace.data.threads[trace.data.thread[trace.line.picked.event]].comm") in ("holder", "hog"), "a processor's slice cannot be picked")
    page.browser.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"},
                     "actions": [{"type": "pointerMove", "x": int(middle), "y": int(cpu["y"] + 8), "duration": 20}]}]})
    tip = page.ask("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")
    check(re.search(r"(hog|holder) 10\d\n.*ms from", tip) is not None, "hovering tells nothing", tip)
    span = lambda: page.ask("return trace.line.to - trace.line.from")
    whole = span()
    page.ask("document.getElementById('in').click()")
    check(abs(span() - whole / 2) < 1, "the button + does not zoom")
    page.ask("document.getElementById('out').click()")
    box = page.ask("const r = trace.line.canvas.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]")
    x, y = int(box[0] + 200 + (box[2] - 200) / 2), int(box[1] + 100)
    fingers = [{"type": "pointer", "id": "f%d" % k, "parameters": {"pointerType": "touch"}, "actions": [
        {"type": "pointerMove", "x": x + side * 40, "y": y, "duration": 0}, {"type": "pointerDown", "button": 0},
        {"type": "pointerMove", "x": x + side * 80, "y": y, "duration": 100}, {"type": "pointerMove", "x": x + side * 120, "y": y, "duration": 100},
        {"type": "pointerUp", "button": 0}]} for k, side in enumerate((-1, 1))]
    page.fit()
    before = page.ask("return [trace.line.to - trace.line.from, trace.line.time(%d - trace.line.canvas.getBoundingClientRect().x)]" % x)
    page.browser.ask("POST", "/actions", {"actions": fingers})
    after = page.ask("return [trace.line.to - trace.line.from, trace.line.time(%d - trace.line.canvas.getBoundingClientRect().x)]" % x)
    check(.25 < after[0] / before[0] < .45, "two fingers do not zoom", (before, after))
    check(abs(after[1] - before[1]) < before[0] * .02, "what is between two fingers does not stay", (before, after))
    # A selection without a keyboard.
    page.fit()
    page.ask("document.getElementById('select').click()")
    page.browser.mouse((x - 50, y), (x, y), (x + 50, y))
    check(page.ask("return trace.line.range !== null"), "the button Select does not select")
    # Counters: the run queue from the states, a member by its button.
    queue = page.ask("const c = trace.lanes.all.find((l) => l.title === 'Threads that wait for a CPU').counter; return [c.most, c.value.length]")
    check(queue == [2, 6], "the run queue", queue)
    page.ask("trace.go({ event: trace.data.probe.findIndex((p) => trace.data.probes[p].name === 'step_end') })")
    page.press("\u223f")
    check(page.ask("return trace.lanes.pinned[0].title") == "step_end: id" and
          page.ask("return [...trace.lanes.pinned[0].counter.value].join()") == ",".join(map(str, range(20))), "a member as a lane")
    page.ask("trace.lanes.pin(trace.lanes.pinned[0]); trace.line.arrange()")
    # Back and forward.
    page.fit()
    slow, other = page.slice("request"), page.slice("request", 2)
    page.ask("trace.go({ slice: %d }); trace.go({ slice: %d })" % (slow, other))
    page.ask("history.back()")
    page.browser.wait("return trace.line.picked.slice === %d" % slow)
    page.ask("history.forward()")
    page.browser.wait("return trace.line.picked.slice === %d" % other)


def stacks(page):
    """The flame graph of any probe with stacks counts its events."""
    page.press("strategy", "flame")
    graph = page.ask("""const tree = (n) => [n.name, n.total, [...n.children.values()].map(tree)]; return tree(trace.flame.root)""")
    check(graph == ["all", 3, [["dd", 3, [["do_call", 3, [["submit_bio", 2, []], ["discard", 1, []]]]]]]], "stacks of requests", graph)


def main():
    tnfdump, machine.story, out = sys.argv[1:4]
    files, many = traces(out), crowd(out)
    browser = Browser(1280, 800, False)
    page = Page(browser, tnfdump, files, os.path.join(out, "page.html"))
    wakes(page, False)
    find(page)
    panel(page, tnfdump, files)
    browser.picture(os.path.join(out, "page-slice.png"))
    flame(page)
    tables(page, tnfdump, files)
    looks(page)
    hands(page)
    wakes(Page(browser, tnfdump, [alone(tnfdump, out)], os.path.join(out, "alone.html")), True)
    lanes(Page(browser, tnfdump, [many], os.path.join(out, "crowd.html")), tnfdump, many)
    browser.picture(os.path.join(out, "page-crowd.png"))
    stacks(Page(browser, tnfdump, [requests(out)], os.path.join(out, "requests.html")))
    browser.close()
    browser = Browser(390, 780, True)
    page = Page(browser, tnfdump, files, os.path.join(out, "page.html"))
    check(page.ask("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "a phone scrolls sideways",
          page.ask("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"))
    browser.picture(os.path.join(out, "page-phone.png"))
    browser.close()
    print("%d wrong" % bad)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
