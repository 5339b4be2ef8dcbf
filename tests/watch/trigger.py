#!/usr/bin/env python3
"""Triggers on recorded files fire as often as a second reckoning, made here from
tnfdump's JSON lines, says.

Usage: trigger.py TNFDUMP TRIGGER-RUN FILE...
"""
import json
import subprocess
import sys

tnfdump, run, files = sys.argv[1], sys.argv[2], sys.argv[3:]
ENDINGS = [("_start", "_end")]


def output(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout.splitlines()


def spans(events, name):
    """Durations, and the starts that have no end, within a thread."""
    open_, ended = {}, []
    for e in events:
        stack = open_.setdefault((e.get("pid"), e.get("lwpid")), [])
        if e["probe"] == name + "_start":
            stack.append(e["time"])
        elif e["probe"] == name + "_end" and stack:
            ended.append(e["time"] - stack.pop())
    return ended, [t for s in open_.values() for t in s]


def largest_gap(times):
    return max((b - a for a, b in zip(times, times[1:])), default=0)


total = 0
for path in files:
    events = [e for e in map(json.loads, output(tnfdump, "--to", "jsonl", path)) if "probe" in e]
    if not events:
        continue
    wants = []
    probes = sorted({e["probe"] for e in events})
    last = events[-1]["time"]
    for p in probes:
        times = [e["time"] for e in events if e["probe"] == p]
        wants.append((f'probe == "{p}"', len(times)))
        wants.append((f'probe == "{p}" and pid == {events[0]["pid"]}',
                      sum(e["probe"] == p and e["pid"] == events[0]["pid"] for e in events)))
        for ns in (1000, 1000000):
            late = sum(b - a > ns for a, b in zip(times, times[1:])) + 1
            wants.append((f'silence("{p}") > {ns}ns', late))
    for name in {p[:-6] for p in probes if p.endswith("_start")} & \
            {p[:-4] for p in probes if p.endswith("_end")}:
        ended, open_ = spans(events, name)
        for ns in sorted({0, 1, *ended}):
            wants.append((f'duration("{name}") > {ns}ns', sum(d > ns for d in ended)))
            # An end at the very time of its start may be either.
            wants.append((f'open("{name}") > {ns}ns', sum(d > ns for d in ended) + len(open_)))
    for at in range(0, len(wants), 50):
        part = wants[at:at + 50]
        fired = [0] * len(part)
        for line in output(run, path, *(w for w, _ in part)):
            fired[int(line.split()[0])] += 1
        for (when, n), f in zip(part, fired):
            total += 1
            if f != n:
                sys.exit(f"FAIL: {path}: {when}: fired {f} times, not {n}")
print(total, "triggers on", len(files), "files")
if total < 200:
    sys.exit("FAIL: too few")
