#!/usr/bin/env python3
"""evil.py - what nobody would write, in every format: it is there, whole, and nothing
comes of it: no format is left, nothing is run, no terminal gets a command.

usage: evil.py TNFDUMP PROTO PYTHON-DIR FILE...     (FILE: what evil.c has recorded)
"""
import csv
import io
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

tnfdump, proto, package, trace = sys.argv[1:5]
csv.field_size_limit(1 << 30)
tests = failures = 0


def check(good, what, detail=""):
    global tests, failures
    tests += 1
    if not good:
        failures += 1
        print("FAIL: %s: %s" % (what, str(detail)[:300]))


def dump(*args):
    done = subprocess.run([tnfdump, *args, trace], capture_output=True, check=False, timeout=120)
    check(done.returncode == 0, " ".join(args), done.stderr[:200])
    return done.stdout


def plain(value):
    """A string's bytes, however a format of JSON has them."""
    if isinstance(value, dict):
        return bytes.fromhex(value["$bytes"])
    return value.encode()


# The names and values as they were recorded: of each kind of string all is there.
events = [json.loads(line) for line in dump("--to", "jsonl").decode("utf-8").splitlines()][1:]
marks = [plain(e["args"]["text"]) for e in events if e["probe"] == "mark"]
probes = [e for e in events if e["probe"] != "mark"]
for wanted in (b"</script><script>window.evil=1</script>", "\u202ertl\u202c".encode(), b"\xff\xfe\x80", b"__proto__",
               b"\x1b[2J\x1b]0;window.evil=1\x07", b"a\nb 0.0 0.0 1 1 1 - c\rd\te", b"=cmd|'/C'!A0", b"a\"'`onload=window.evil=1"):
    check(wanted in marks, "jsonl: a mark", wanted)
check(len(probes) == 13 and len(marks) == 16, "jsonl: events", (len(probes), len(marks)))
for e in probes:
    name = plain(e["probe"])
    members = list(e["args"].values())
    key = next(iter(e["args"]))
    check(key.encode("latin-1" if isinstance(e["probe"], dict) else "utf-8") == name, "jsonl: name of a member", key)
    check([plain(k) for k in e["keys"]] == [name], "jsonl: keys", e["keys"])
    check(len(plain(members[0])) == 60 * 1024 and plain(members[0]).startswith(name), "jsonl: 60 KiB", name)
    check(plain(members[2]) == name, "jsonl: a string", name)
values = [e["args"] for e in events]

# CSV: one row an event, whatever is in a value.
rows = list(csv.DictReader(io.StringIO(dump("--to", "csv").decode("utf-8"), newline="")))
check([json.loads(row["args"]) for row in rows] == values, "csv: arguments")

# Chrome: every event an instant with the same arguments.
entries = [e for e in json.loads(dump("--to", "chrome").decode("utf-8"))["traceEvents"] if e["ph"] == "i"]
check([e["args"] for e in entries] == values, "chrome: arguments")

with tempfile.TemporaryDirectory() as tmp:
    # SQLite: no table comes or goes by a name; the values are the recorded bytes.
    db = os.path.join(tmp, "x.db")
    dump("--to", "sqlite", "-o", db)
    con = sqlite3.connect(db)
    con.text_factory = bytes
    check(con.execute("PRAGMA integrity_check").fetchone() == (b"ok",), "sqlite: integrity")
    check([row[0] for row in con.execute('SELECT text FROM mark ORDER BY id')] == marks, "sqlite: marks")
    check(con.execute("SELECT count(*) FROM events").fetchone() == (len(events),), "sqlite: events")
    # A trace file of its own has the same events.
    again = os.path.join(tmp, "again.tnf")
    done = subprocess.run([tnfdump, "--to", "tnf", "-o", again, trace], capture_output=True, check=False)
    second = subprocess.run([tnfdump, "--to", "jsonl", again], capture_output=True, check=False).stdout
    same = [json.loads(line)["args"] for line in second.decode("utf-8").splitlines()[1:]]
    check(same == values, "tnf: arguments", done.stderr)
    # CTF, by babeltrace2.
    if shutil.which("babeltrace2"):
        dump("--to", "ctf", "-o", os.path.join(tmp, "ctf"))
        done = subprocess.run(["babeltrace2", os.path.join(tmp, "ctf")], capture_output=True, check=False)
        # A value's line breaks are its own.
        check(done.returncode == 0 and len(re.findall(rb"^\[", done.stdout, re.M)) == len(events), "ctf: babeltrace2",
              done.stderr[-300:])
        check(b"</script><script>window.evil=1" in done.stdout, "ctf: a value")
    else:
        print("not judged: no babeltrace2")
    # Perfetto, by protoc.
    if shutil.which("protoc"):
        done = subprocess.run(["protoc", "--decode=Trace", "-I", os.path.dirname(proto), proto],
                              input=dump("--to", "perfetto"), capture_output=True, check=False)
        check(done.returncode == 0 and done.stdout.count(b"type: TYPE_INSTANT") == len(events), "perfetto: protoc",
              done.stderr)
        check(not re.search(rb"^\s*\d+[ :]", done.stdout, re.M), "perfetto: a field that the schema lacks")
    else:
        print("not judged: no protoc")
    # Python has the bytes, too.
    code = ("import sys, tnf\nfor e in tnf.open(sys.argv[1]):\n"
            "    if e.probe.name == 'mark':\n        s = e.args['text']\n"
            "        print((s if isinstance(s, bytes) else s.encode('utf-8', 'surrogateescape')).hex())")
    env = {**os.environ, "PYTHONPATH": package}
    if "PYTHON_PRELOAD" in env:
        env.update(LD_PRELOAD=env["PYTHON_PRELOAD"], ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([sys.executable, "-c", code, trace], capture_output=True, text=True, check=False, env=env)
    if "No module named" in done.stderr:
        print("not judged: no Python package")
    else:
        check([bytes.fromhex(line) for line in done.stdout.split()] == marks, "python: marks", done.stderr)

# Folded stacks: a frame has no separator in it, and a count at its end.
for line in dump("--to", "folded").splitlines():
    check(re.fullmatch(rb"[^;]+(;[^;]+)* \d+", line) is not None, "folded: a line", line)
check(json.loads(dump("--info=json").decode("utf-8"))["events"] == len(events), "info: JSON")
# No report has a character that moves a cursor.
for report in (["--stats"], ["--stats=text"], ["--info"], ["--tree"]):
    check(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", dump(*report)) is None, report[0] + ": a control character")


# Sequences that tnfdump itself sends to a terminal: colours, and --top's screen.
OWN = re.compile(rb"\x1b\[([0-9;]*m|H|J|K|\?25[hl]|\?1049[hl])")


def on_terminal(*args):
    """What a terminal gets, the commands and line ends of tnfdump's own taken away."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(tnfdump, [tnfdump, *args, trace])
    out = []
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        out.append(part)
    os.waitpid(pid, 0)
    os.close(fd)
    return re.sub(rb"\r+\n", b"\n", OWN.sub(b"", b"".join(out)))


# A report of values and names, as text and as they are.
template = tempfile.NamedTemporaryFile("w", suffix=".tnffmt")
template.write('mark { "{text} {text:S} {text:40S} {probe} {keys}" }\ndefault { "{string} {string:-40S} {probe:S}" }\n')
template.flush()
for args in ([], ["--pretty"], ["-r"], ["--two-line"], ["--columns", "+keys,+src"], ["--stats"], ["--tree"], ["--info"],
             ["-t", template.name], ["--follow"], ["--pretty", "--follow"], ["--stats", "--follow"], ["--top", "--follow"]):
    text = on_terminal(*args)
    found = re.search(rb".{0,20}([\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]).{0,20}", text)
    check(len(text) > 100 and found is None, "terminal %s: a control character" % args, found)
    turned = next((c for c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" if c.encode() in text), None)
    check(turned is None, "terminal %s: the direction of the text is turned" % args, repr(turned))
print("%d checks, %d wrong" % (tests, failures))
sys.exit(failures > 0)
