#!/usr/bin/env python3
"""formats.py - tnfdump's machine formats against outside judges.

usage: formats.py TNFDUMP PROTO FILE...

The judge of each format is a program or library that we did not write.  The
classic text output, which other tests hold against the originals, is what the
values are compared with.
"""
import csv, io, json, os, re, shutil, sqlite3, subprocess, sys, tempfile
from collections import Counter, defaultdict

tnfdump, proto, files = sys.argv[1], sys.argv[2], sys.argv[3:]
failures = []
ran = skipped = 0


def dump(*args, binary=False):
    p = subprocess.run([tnfdump, *args], capture_output=True)
    return p.stdout if binary else p.stdout.decode("latin-1")


def check(what, good, detail=""):
    global ran
    ran += 1
    if not good:
        failures.append(what)
        print(f"FAIL: {what}: {detail}")


def have(program):
    global skipped
    if shutil.which(program):
        return True
    skipped += 1
    print(f"not judged: {program} is not installed")
    return False


EVENT = re.compile(r"^ *(-?[0-9.]+) +(-?[0-9.]+) +(\d+) +(\d+) +(\w+) +(-|\d+) (\S+) *(.*)$", re.S)


def text_events(path):
    """The classic lines: (elapsed ms, pid, lwpid, name, rest)."""
    lines, out = dump(path).split("\n"), []
    start = next((i + 3 for i, l in enumerate(lines) if l.startswith("-------")), len(lines))
    for line in lines[start:]:
        m = EVENT.match(line)
        if m:
            out.append((m[1], int(m[3]), int(m[4]), m[7], m[8]))
        elif line and out:      # a string with a newline in it
            e = out[-1]
            out[-1] = (*e[:4], e[4] + "\n" + line)
    return out


def classic(value, name=None):
    """A JSON value as the classic output prints it; None: it cannot tell."""
    if value is None:
        return "0x0        <NULL>"
    if isinstance(value, str):
        return value if value.startswith("0x") else f'"{value}"'
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, dict) and "$bytes" in value:
        return '"' + bytes.fromhex(value["$bytes"]).decode("latin-1") + '"'
    if isinstance(value, dict):
        inner = [classic(v) for k, v in value.items() if k != "$type"]
        if None in inner:
            return None
        names = [k for k in value if k != "$type"]
        return "{ type: " + value["$type"] + "".join(
            f" {n}: {v}" for n, v in zip(names, inner)) + " }"
    return None


def jsonl(path, events):
    lines = dump("--to", "jsonl", path, binary=True).decode("utf-8").splitlines()
    if not events:
        check(f"{path}: jsonl: no events, no lines", lines == [], lines[:1])
        return []
    head, objects = json.loads(lines[0]), [json.loads(l) for l in lines[1:]]
    check(f"{path}: jsonl: header", head["tnf"] == 1 and head["file"] == path, head)
    check(f"{path}: jsonl: as many as the text has", len(objects) == len(events),
          f"{len(objects)} {len(events)}")
    wrong = 0
    for o, e in zip(objects, events):
        if (o["pid"], o["lwpid"], o["probe"]) != e[1:4]:
            wrong += 1
            continue
        rest = e[4]
        for name, value in o["args"].items():
            if not rest.startswith(f"{name}: "):
                wrong += 1
                break
            rest = rest[len(name) + 2:]
            text = classic(value)
            if text is None:                # an array: "<type>"
                rest = rest[rest.find(">") + 1:].lstrip(" ")
                continue
            if isinstance(value, str) and len(value) == 1 and not rest.startswith('"'):
                text = value                # a char
            if isinstance(value, float) or (isinstance(value, dict) and (
                    "." in text or re.search(r': ".?"', text))):
                break       # %f has six decimals; a char in a record has no quotes
            if isinstance(value, int) and "." in rest.split(" ")[0]:
                if float(rest.split(" ")[0]) != value:
                    wrong += 1
                rest = rest.partition(" ")[2]
                continue
            if not rest.encode("latin-1").startswith(text.encode(
                    "latin-1" if isinstance(value, dict) else "utf-8")):
                wrong += 1
                break
            rest = rest[len(text.encode("utf-8")):].lstrip(" ")
    check(f"{path}: jsonl: values are those of the text", wrong == 0, f"{wrong} wrong")
    if have("jq"):
        n = subprocess.run(["jq", "-c", "select(.probe) | .args | keys | length"],
                           input="\n".join(lines).encode(), capture_output=True)
        check(f"{path}: jq reads it", n.returncode == 0 and
              len(n.stdout.splitlines()) == len(events), n.stderr[:200])
    return objects


def csv_format(path, objects):
    raw = dump("--to", "csv", path, binary=True).decode("utf-8", "surrogateescape")
    check(f"{path}: csv: every line ends in CRLF (RFC 4180)",
          raw.count("\r\n") >= len(objects) + 1)
    rows = list(csv.DictReader(io.StringIO(raw, newline="")))
    check(f"{path}: csv: rows", len(rows) == len(objects), len(rows))
    wrong = sum(json.loads(r["args"]) != o["args"] or int(r["time_ns"]) != o["time"]
                or r["probe"] != o["probe"] or r["keys"].split() != o["keys"]
                for r, o in zip(rows, objects))
    check(f"{path}: csv: same values as jsonl", wrong == 0, f"{wrong} wrong")
    db = sqlite3.connect(":memory:")
    db.execute("create table t (time_ns integer, probe text, args text)")
    db.executemany("insert into t values (?, ?, ?)",
                   [(r["time_ns"], r["probe"], r["args"]) for r in rows])
    n = dict(db.execute("select probe, count(*) from t group by probe"))
    check(f"{path}: csv: sqlite counts", n == Counter(o["probe"] for o in objects), n)


def naive_pairs(objects):
    """Slices by thread for *_start/_end and the like, matched the slow way."""
    rules = [("_start", "_end"), ("_begin", "_end"), ("_enter", "_exit"),
             ("_start", "_done"), ("_entry", "_return")]
    open_, found = defaultdict(list), Counter()
    for o in objects:
        p, args = o["probe"], o["args"]
        if p in ("strategy", "biodone"):
            key = ("io", args.get("device"), args.get("buf"))
            name, start = "io", p == "strategy"
        else:
            for s, e in rules:
                if p.endswith(s) and len(p) > len(s):
                    name, start = p[:-len(s)], True
                    break
                if p.endswith(e) and len(p) > len(e):
                    name, start = p[:-len(e)], False
                    break
            else:
                continue
            key = (name, o["pid"], o["lwpid"])
        if start:
            open_[key].append(o["time"])
        elif open_[key]:
            open_[key].pop()
            found[name] += 1
    return found


def stats(path, objects):
    text, pairs, counts, where = dump("--stats", path), {}, {}, None
    for line in text.splitlines():
        if line.endswith("  what"):
            where = "pairs"
        elif line.endswith("  event"):
            where = "events"
        elif where and line.strip() and not line.startswith("without"):
            f = line.split()
            (pairs if where == "pairs" else counts)[f[-1]] = int(f[0])
    check(f"{path}: stats: counts", counts == Counter(o["probe"] for o in objects), counts)
    check(f"{path}: stats: pairs as the naive matcher finds them",
          pairs == naive_pairs(objects), f"{pairs} {naive_pairs(objects)}")


def chrome(path, objects):
    trace = json.loads(dump("--to", "chrome", path, binary=True).decode("utf-8"))["traceEvents"]
    phases = Counter(e["ph"] for e in trace)
    bad = [e for e in trace if not isinstance(e.get("ts"), (int, float)) or "pid" not in e
           or "tid" not in e or "name" not in e or (e["ph"] == "X" and e["dur"] < 0)
           or (e["ph"] in "be" and "id" not in e)]
    check(f"{path}: chrome: every entry is complete", not bad, bad[:1])
    # Every event is an instant, or an end of a slice.
    state = [e for e in trace if e.get("cat") == "state"]
    shown = phases["i"] + 2 * (phases["X"] - len(state)) + phases["B"] + sum(
        e["ph"] in "be" for e in trace)
    check(f"{path}: chrome: all events are in it", shown == len(objects),
          f"{shown} {len(objects)} {phases}")
    check(f"{path}: chrome: states are slices of rows of their own",
          all(e["ph"] == "X" and e["tid"] >= 1 << 31 for e in state), state[:1])
    if objects:
        check(f"{path}: chrome: first event is at 0",
              min(e["ts"] for e in trace if e["ph"] != "M") == 0)


def perfetto(path, objects):
    if not have("protoc"):
        return
    p = subprocess.run(["protoc", "--decode=Trace", "-I", os.path.dirname(proto), proto],
                       input=dump("--to", "perfetto", path, binary=True), capture_output=True)
    check(f"{path}: protoc decodes it", p.returncode == 0, p.stderr[:200])
    text = p.stdout.decode("latin-1")
    check(f"{path}: perfetto: no field that the schema lacks",
          not re.search(r"^\s*\d+[ :]", text, re.M))
    begins, ends = text.count("type: TYPE_SLICE_BEGIN"), text.count("type: TYPE_SLICE_END")
    instants = text.count("type: TYPE_INSTANT")
    states = 2 * sum(e["cat"] == "state" for e in json.loads(
        dump("--to", "chrome", path, binary=True).decode())["traceEvents"] if "cat" in e)
    check(f"{path}: perfetto: all events are in it",
          begins + ends + instants - states == len(objects),
          f"{begins} + {ends} + {instants} - {states}, {len(objects)}")


def ctf(path, objects, directory):
    if not have("babeltrace2") or not objects:
        return
    out = os.path.join(directory, "ctf")
    p = subprocess.run([tnfdump, "--to", "ctf", "--output", out, path], capture_output=True)
    check(f"{path}: ctf: written", p.returncode == 0, p.stderr)
    p = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", out], capture_output=True)
    check(f"{path}: babeltrace2 reads it without a word", p.returncode == 0 and
          not p.stderr, p.stderr[:300])
    lines = [l for l in p.stdout.decode("latin-1").split("\n") if re.match(r"\[\d{10}", l)]
    check(f"{path}: ctf: events", len(lines) == len(objects), len(lines))
    wrong = sum(int(l[1:21]) != o["time"] or f"] {o['probe']}: " not in l
                for l, o in zip(lines, objects))
    check(f"{path}: ctf: times and names", wrong == 0, wrong)
    shutil.rmtree(out)


def folded(path, objects):
    lines = dump("--to", "folded", path).splitlines()
    check(f"{path}: folded: counts add up",
          sum(int(l.rpartition(" ")[2]) for l in lines) == len(objects))


def tree(path, objects):
    lines = dump("--tree", path, binary=True).decode("utf-8").splitlines()[1:]
    check(f"{path}: tree: a line for each event", len(lines) == len(objects), len(lines))


def differ(path):
    p = subprocess.run([tnfdump, "--diff", "--fail-on", "count(nothing) > 1", path, path],
                       capture_output=True)
    check(f"{path}: diff: a name that is not there fails", p.returncode == 4, p.returncode)
    p = subprocess.run([tnfdump, "--diff", path, path], capture_output=True)
    changes = re.findall(rb"[+-][0-9.]+%|new", p.stdout)
    check(f"{path}: diff: no change against itself", p.returncode == 0 and
          all(c == b"+0.0%" for c in changes), changes[:3])


with tempfile.TemporaryDirectory() as directory:
    for path in files:
        events = text_events(path)
        objects = jsonl(path, events)
        csv_format(path, objects)
        stats(path, objects)
        chrome(path, objects)
        perfetto(path, objects)
        ctf(path, objects, directory)
        folded(path, objects)
        if objects:
            tree(path, objects)
            differ(path)
print(f"{ran - len(failures)} checks passed, {len(failures)} failed, {skipped} not judged")
sys.exit(1 if failures or ran == 0 else 0)
