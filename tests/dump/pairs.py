"""pairs.py - what begins and ends is matched on the whole trace, then filters choose: the
figures of every report and format are those that follow from all events.

usage: pairs.py TNFDUMP STORY
"""
import base64
import json
import os
import random
import re
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

TNFDUMP, STORY = sys.argv[1:]
THREADS = [(10, 10, "postgres"), (10, 11, "checkpointer"), (20, 20, "dd"), (30, 30, "sh")]
NAMED = {"syscall_start": "syscall", "syscall_end": "syscall", "strategy": "io", "biodone": "io",
         "order_start": "order", "order_end": "order"}


def story(path):
    """A kernel's trace in which requests end in the context of whoever is interrupted."""
    pick, lines, t = random.Random(1), [], 1000
    nested, requests = {}, []  # of each thread: viewers nest what is in one
    for i in range(3000):
        t += pick.randrange(1, 2000)
        who = pick.randrange(len(THREADS))
        head = f"{t} {THREADS[who][0]} {THREADS[who][1]} {0x100 * (who + 1):#x} {pick.randrange(2)}"
        what = pick.randrange(8)
        inner = nested.setdefault(who, [])
        if what == 0 and "syscall" not in inner:
            inner.append("syscall")
            lines.append(f"{head} syscall_start {pick.randrange(4)}")
        elif what <= 1 and inner[-1:] == ["syscall"]:
            inner.pop()
            lines.append(f"{head} syscall_end 0 0 {pick.choice((0, 0, 5))}")
        elif what == 2:
            requests.append(i)
            lines.append(f"{head} strategy 7 {i} {pick.randrange(4096)}")
        elif what == 3 and requests:
            lines.append(f"{head} biodone 7 {requests.pop(pick.randrange(len(requests)))}")
        elif what == 4 and len(inner) < 5:
            inner.append("order")
            lines.append(f"{head} order_start {i}")
        elif what in (5, 6) and inner[-1:] == ["order"]:
            inner.pop()
            lines.append(f"{head} order_end {i}")
        else:
            about = pick.randrange(len(THREADS))
            lines.append(f"{head} thread_state {0x100 * (about + 1):#x} {pick.choice((0, 1, 7, 8))}")
    text = """kernel
blocks 400
kernel-part
probe syscall_start syscall sysnum:tnf_int32
probe syscall_end syscall rval1:tnf_int64 rval2:tnf_int64 errno:tnf_int32
probe strategy io device:tnf_uint64 buf:tnf_uint64 size:tnf_uint64
probe biodone io device:tnf_uint64 buf:tnf_uint64
probe order_start order id:tnf_int32
probe order_end order id:tnf_int32
probe thread_state thread tid:tnf_kthread_id state:tnf_int32
""" + "\n".join(lines) + "\n" + "".join(
        f"@task {lwp} {pid} 1 {name}\n" for pid, lwp, name in THREADS)
    subprocess.run([STORY, path], input=text, text=True, check=True)


def dump(*args, status=0):
    done = subprocess.run([TNFDUMP, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == status, (args, done.stderr.decode())
    return done.stdout


def match(events):
    """(start, end) of all that began and ended, and the starts that did not end."""
    open_, pairs = {}, []
    for e in events:
        name = NAMED.get(e["probe"])
        if name is None:
            continue
        key = (name, e["args"]["buf"]) if name == "io" else (name, e["lwpid"])
        if e["probe"].endswith(("_start", "strategy")):
            open_.setdefault(key, []).append(e)
        elif open_.get(key):
            pairs.append((open_[key].pop(), e))
    return pairs, [e for starts in open_.values() for e in starts]


def stats(*args):
    """{name: (count, total ns)}, {probe: count}, how many have no end."""
    spans, counts, head = {}, {}, None
    unended = 0
    for line in dump("--stats", *args).decode().splitlines():
        word = line.split()
        if not word:
            continue
        if word[0] == "count":
            head = word[-1]
        elif word[0] == "without":
            unended = int(word[3].rstrip(","))
        elif head == "what":
            spans[word[-1]] = int(word[0]), round(float(word[2]) * 1e6)
        else:
            counts[word[-1]] = int(word[0])
    return spans, counts, unended


def chrome(first, *args):
    """(name, start, duration) of slices; asynchronous ones by their two ends."""
    begun, slices = {}, []
    def ns(us):
        return round(us * 1000)
    for e in json.loads(dump("--to", "chrome", *args))["traceEvents"]:
        if e.get("cat") == "state":
            continue
        if e["ph"] == "X":
            slices.append((e["name"], ns(e["ts"]), ns(e["dur"]), e["pid"]))
        elif e["ph"] == "b":
            begun[e["id"]] = e
        elif e["ph"] == "e":
            b = begun.pop(e["id"])
            slices.append((e["name"], ns(b["ts"]), ns(e["ts"]) - ns(b["ts"]), b["pid"]))
    return sorted((n, t + first, d, p) for n, t, d, p in slices)


def fields(data):
    """(number, value) of a Protobuf message: integers, or bytes."""
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
        else:
            n = varint()
            at += n
            yield key >> 3, data[at - n:at]


def perfetto(*args):
    """As chrome(), without processes: packets may come in any order of time."""
    packets = [dict(fields(p)) for _, p in fields(dump("--to", "perfetto", *args))]
    events = sorted(((p[8], dict(fields(p[11]))) for p in packets if 11 in p), key=lambda e: e[0])
    open_, slices = {}, []
    for time, e in events:
        if e[9] == 1:
            open_.setdefault(e[11], []).append((time, e.get(23, b"").decode()))
        elif e[9] == 2:
            start, name = open_[e[11]].pop()
            slices.append((name, start, time - start))
    return sorted(s for s in slices if not s[0].isupper())


def html(first, *args):
    page = dump("--to", "html", *args)
    data = zlib.decompress(base64.b64decode(re.search(rb'<script id=.data.[^>]*>([^<]*)<', page).group(1)))
    size = struct.unpack_from("=I", data)[0]
    meta = json.loads(data[8:8 + size])
    base = 8 + (size + 7) // 8 * 8
    letters = {"u8": "B", "u16": "H", "u32": "I", "i8": "b", "i16": "h", "i32": "i", "f64": "d"}
    def column(name):
        kind, at, n = meta["slices"][name]
        return struct.unpack_from(f"={n}{letters[kind]}", data, base + at)
    def times(name, summed):
        """Distances from the time before; one that does not fit 32 bits has its time among the late ones."""
        late, wide, at, out = iter(column(name + "_late")), meta["slices"][name][0] == "u32", 0, []
        for d in column(name):
            out.append(next(late) if wide and d == 2 ** 32 - 1 else at + d)
            at = out[-1] if summed else 0
        return out
    start, took = times("start", True), times("duration", False)
    assert all(0 <= t and t + d <= meta["duration"] for t, d in zip(start, took)), "beyond the page"
    return sorted((meta["spans"][n], int(t) + first, int(d), meta["threads"][w]["pid"]) for n, t, d, w in
                  zip(column("name"), start, took, column("thread")))


def sqlite(path, *args):
    if os.path.exists(path):
        os.unlink(path)
    dump("--to", "sqlite", "-o", path, *args)
    with sqlite3.connect(path) as db:
        wrong = db.execute("SELECT count(*) FROM pairs LEFT JOIN events e ON e.id = start_event"
                           " WHERE start_event IS NOT NULL AND e.time IS NOT start").fetchone()[0]
        assert wrong == 0, f"{wrong} pairs with another's start"
        return sorted(db.execute("SELECT span, start, duration, pid FROM pairs"))


def tree(*args):
    """Durations at the ends that are printed."""
    lines = dump("--tree", *args).decode().splitlines()
    return sorted(round(float(m.group(1)) * 1000) for m in
                  (re.search(r" \[([0-9.]+) usec\]$", line) for line in lines) if m)


def states(*args):
    rows = {}
    for line in dump("--states", *args).decode().splitlines()[1:]:
        word = line.split()
        rows[word[1]] = [round(float(w) * 1e6) for w in word[2:13]]
    return rows


def mix(h, v):
    """As analysis/pairs.c mixes what tells instances apart."""
    h = (h ^ v) * 0x9e3779b97f4a7c15 % 2 ** 64
    return h ^ h >> 29


def instances(path):
    """Instances are told apart by their values: equal ones wherever they lie, and no others."""
    begun = mix(0, ord("a"))
    keys = [(n, mix(begun, n) ^ mix(begun, 1) ^ 77) for n in (1, 2, 3)]
    assert len({mix(mix(begun, x), y) for x, y in keys}) == 1
    lines = [f"{1000 * i} 7 7 0x100 0 a {x} {y}" for i, (x, y) in enumerate(keys, 1)]
    lines += [f"{10000 * i} 7 7 0x100 0 b {x} {y}" for i, (x, y) in enumerate(keys, 1)]
    stacks = ["0x10 0x20 0x30 0x40", "0x10 0x20 0x30 0x41"]
    lines += [f"{100000 + 1000 * i} 7 7 0x100 0 c {s}" for i, s in enumerate(stacks)]
    lines += [f"{110000 + 10000 * i} 7 7 0x100 0 d {s}" for i, s in enumerate(stacks)]
    subprocess.run([STORY, path], text=True, check=True, input="""kernel
kernel-part
probe a k x:tnf_uint64 y:tnf_uint64
probe b k x:tnf_uint64 y:tnf_uint64
probe c k stack:tnf_symbols
probe d k stack:tnf_symbols
""" + "\n".join(lines) + "\n")
    got = sqlite(path + ".db", "--pair", "a,b,x,y", "--pair", "c,d,stack", path)
    want = [("a", 1000 * i, 9000 * i, 7) for i in (1, 2, 3)] + \
        [("c", 100000 + 1000 * i, 10000 + 9000 * i, 7) for i in (0, 1)]
    assert got == want, got


def figures(path, pairs):
    """Mean, percentiles and the rest are the same everywhere, and exact."""
    printed = {line.split()[-1]: line.split() for line in dump("--stats", "--deviation", path).decode().splitlines() if line}
    compared = {line.split()[-1]: line.split() for line in dump("--diff", path, path).decode().splitlines()}
    for name in set(NAMED.values()):
        took = sorted(e["time"] - s["time"] for s, e in pairs if NAMED[s["probe"]] == name)
        rank = [took[-(-len(took) * p // 100) - 1] for p in (50, 90, 99)]
        mean = (2 * sum(took) + len(took)) // (2 * len(took))
        want = [f"{ns / 1000:.3f}" for ns in (took[0], mean, *rank, took[-1])]
        assert printed[name][3:9] == want, (name, printed[name], want)
        spread = statistics.stdev(took) / 1000
        assert abs(float(printed[name][9]) - spread) < 0.001, (name, printed[name], spread)
        got = [compared[name][i] for i in (3, 4, 6, 7, 9, 10)]
        assert got == [w for w in (want[1], want[2], want[4]) for _ in "AB"], (name, got, want)


def around(path):
    """A request of the disk belongs to the operation and the call that began it, whoever ends it."""
    user, kernel = path + ".user", path + ".kernel"
    subprocess.run([STORY, user], text=True, check=True, input="""probe order_start order id:tnf_int32
probe order_end order id:tnf_int32
probe bake_start order id:tnf_int32
probe bake_end order id:tnf_int32
1000 7 7 7 0 order_start 1
2000 7 7 7 0 bake_start 1
5000 7 7 7 0 bake_end 1
9000 7 7 7 0 order_end 1
""")
    subprocess.run([STORY, kernel], text=True, check=True, input="""kernel
kernel-part
probe syscall_start syscall sysnum:tnf_int32
probe syscall_end syscall rval1:tnf_int64 rval2:tnf_int64 errno:tnf_int32
probe strategy io device:tnf_uint64 block:tnf_uint64 size:tnf_uint64 buf:tnf_uint64
probe biodone io device:tnf_uint64 block:tnf_uint64 buf:tnf_uint64
probe block.block_rq_issue tracepoint dev:tnf_uint64 sector:tnf_uint64 nr_sector:tnf_uint64
3000 7 7 0x100 0 syscall_start 0
3100 7 7 0x100 0 strategy 5 100 4096 50
3200 7 7 0x100 0 strategy 5 108 4096 51
3300 7 7 0x100 0 block.block_rq_issue 5 100 12
3400 7 7 0x100 0 block.block_rq_issue 5 112 4
3500 7 7 0x100 0 block.block_rq_issue 6 100 4
4000 7 7 0x100 0 syscall_end 0 0 0
6000 8 8 0x200 0 biodone 5 100 50
7000 8 8 0x200 0 biodone 5 108 51
""")
    rows = {line.split("  ")[-1] for line in dump("--stats=operation,syscall", user, kernel).decode().splitlines()}
    for row in ("io operation=bake syscall=0", "syscall operation=bake syscall=0", "bake operation=order syscall=-",
                "order operation=- syscall=-", "biodone operation=- syscall=-"):
        assert row in rows, (row, rows)
    kept = dump("--no-header", "--columns", "probe", "--where", 'syscall == "0"', user, kernel).decode().split()
    assert kept == ["syscall_start", "strategy", "strategy"] + ["block.block_rq_issue"] * 3 + ["syscall_end"], kept
    chains = [line for line in dump("--link", kernel).decode().splitlines() if line[0] != " "]
    assert chains == ["block 100, 4096 bytes: 3 events, 0.002900 ms, merged with 1",
                      "block 108, 4096 bytes: 4 events, 0.003800 ms, split into 2, merged with 1"], chains
    chains = [line for line in dump("--link=id", user).decode().splitlines() if line[0] != " "]
    assert chains == ["id 1: 4 events, 0.008000 ms"], chains


def no_start(path):
    """What no probe starts is no end, though it is called so; what one starts is."""
    subprocess.run([STORY, path], text=True, check=True, input="""kernel
kernel-part
probe thread_exit thread
probe work_enter work
probe work_exit work
1000 7 7 0x100 0 thread_exit
2000 8 8 0x200 0 work_exit
""")
    last = dump("--stats", path).decode().splitlines()[-1]
    assert last == "without an end: 0, without a start: 1", last


def always(_):
    return True


def main():
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "k.tnf")
        instances(path)
        no_start(path)
        around(path)
        story(path)
        events = [e for e in map(json.loads, dump("--to", "jsonl", "--no-header", path).splitlines())
                  if "probe" in e]
        pairs, unended = match(events)
        low, high = events[900]["time"], events[2100]["time"]
        # Options; whose the start has to be, when, and what start or end has to be.
        filters = [
            ([], always, always, always),
            (["-p", "postgres"], lambda e: e["pid"] == 10, always, always),
            (["-p", "postgres", "--probe", "strategy,biodone"], lambda e: e["pid"] == 10, always,
             lambda e: e["probe"] in ("strategy", "biodone")),
            (["--tid", "11"], lambda e: e["lwpid"] == 11, always, always),
            (["--cpu", "1"], lambda e: e["cpu"] == 1, always, always),
            (["--probe", "biodone"], always, always, lambda e: e["probe"] == "biodone"),
            (["--probe", "strategy"], always, always, lambda e: e["probe"] == "strategy"),
            (["--key", "order"], always, always, lambda e: e["probe"].startswith("order")),
            (["--where", "errno != 0"], always, always, lambda e: e["args"].get("errno", 0) != 0),
            (["--where", "size > 2000"], always, always, lambda e: e["args"].get("size", 0) > 2000),
            (["-p", "20", "--where", "errno != 0"], lambda e: e["pid"] == 20, always,
             lambda e: e["args"].get("errno", 0) != 0),
            (["--from", f"@{low}"], always, lambda e: e["time"] >= low, always),
            (["--until", f"@{high}"], always, lambda e: e["time"] <= high, always),
            (["--from", f"@{low}", "--until", f"@{high}", "--cpu", "0"], lambda e: e["cpu"] == 0,
             lambda e: low <= e["time"] <= high, always),
        ]
        figures(path, pairs)
        whole = states(path)
        for options, who, when, what in filters:
            told = "filter " + " ".join(options)
            want = sorted((NAMED[s["probe"]], s["time"], e["time"] - s["time"], s["pid"]) for s, e in pairs
                          if who(s) and when(s) and (what(s) or what(e)))
            kept = [e for e in events if who(e) and when(e) and what(e)]
            spans, counts, open_ = stats(*options, path)
            for name in set(NAMED.values()):
                took = [d for n, _, d, _ in want if n == name]
                assert spans.get(name, (0, 0)) == (len(took), sum(took)), (told, name, spans.get(name), len(took))
            for name in {e["probe"] for e in events}:
                assert counts.get(name, 0) == sum(e["probe"] == name for e in kept), (told, name)
            assert open_ == sum(e in kept for e in unended), (told, open_)
            first = next(e["time"] for e in events if who(e) and when(e))
            calls = {("io" if n == "io" else "order" if n == "order" else "syscall", t, d, p) for n, t, d, p in want}
            for form, got in (("chrome", chrome(first, *options, path)), ("html", html(first, *options, path))):
                got = {(n if n in ("io", "order") else "syscall", t, d, p) for n, t, d, p in got}
                assert got == calls, (told, form, len(got), len(calls), list(got ^ calls)[:3])
            got = {(n if n in ("io", "order") else "syscall", t, d) for n, t, d in perfetto(*options, path)}
            assert got == {c[:3] for c in calls}, (told, "perfetto", list(got ^ {c[:3] for c in calls})[:3])
            assert sqlite(os.path.join(where, "db"), *options, path) == want, (told, "sqlite")
            ends = [e["time"] - s["time"] for s, e in pairs if who(e) and when(e) and what(e)]
            assert tree(*options, path) == sorted(ends), (told, "tree")
            # Times in states: those of the whole, for the threads that an event is kept of.
            if options and "--from" not in options and "--until" not in options:
                rows = states(*options, path)
                assert rows == {str(t): whole[str(t)] for t in {e["lwpid"] for e in kept}}, (told, "states")
        parts = [states("--until", f"@{low}", path), states("--from", f"@{low}", path)]
        for t, row in whole.items():
            both = [a + b for a, b in zip(*(p.get(t, [0] * 11) for p in parts))]
            assert both == row, ("states before and after", t, both, row)
        print(f"ok: {len(filters)} filters, {len(pairs)} pairs")


main()
