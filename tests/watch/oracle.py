#!/usr/bin/env python3
"""What must have fired, by what oracle.c says that it did; what fired, by incident.json.

Usage: oracle.py LOG INCIDENT.JSON...
Prints a table, and fails if a firing is missed, twice or false.  A thing whose times lie on both
sides of a limit may fire or not; it is counted as unsure.
"""
import json
import sys

MS, S = 1_000_000, 1_000_000_000
LATE = 200 * MS

log = [(w[0], int(w[1]), *map(int, w[2:])) for w in (line.split() for line in open(sys.argv[1]))]
incidents = [json.load(open(name)) for name in sys.argv[2:]]
firings = [f for i in incidents for f in i["firings"]]
finish = next(e[2] for e in log if e[0] == "end")


def of(what):
    return sorted((e for e in log if e[0] == what), key=lambda e: e[2])


def spans(what, limit, kinds=None):
    """Must and may: (from, to) of the time at which it fires."""
    must, may = [], []
    for _, kind, a, b, c, d in of(what):
        if kinds is not None and kind not in kinds:
            continue
        if c - b > limit:
            must.append((c, d))
        elif d - a >= limit:
            may.append((c, d))
    return must, may


def opens(what, limit):
    must, may = [], []
    for _, _, a, b, c, d in of(what):
        (must if c - b > limit else may if d - a >= limit else []).append((a + limit, b + limit))
    return must, may


def silences(what, limit):
    times = of(what) + of("end")
    must, may = [], []
    for x, y in zip(times, times[1:]):
        (must if y[2] - x[3] > limit else may if y[3] - x[2] >= limit else []) \
            .append((x[2] + limit, x[3] + limit))
    # It may be watched for so long before the first one.
    return must, may + [(0, times[0][3])]


def rates_at(times, number, hold):
    """More than 'number' in a second, without a break for 'hold'; then a second of peace."""
    need, must = number + 1, []
    since = until = last = None
    armed = True
    for i, t in enumerate(times):
        if since is not None and hold and armed and since + hold < min(t, until):
            must.append(since + hold)
            armed = False
        if not armed and until is not None and t >= until + S:
            armed = True
        if i + 1 < need:
            continue
        new = times[i + 1 - need] + S
        if t <= new:
            if since is None or until < t:
                since = t
            until = new
            if not hold and armed:
                must.append(t)
                armed = False
        else:
            since = None
    if hold and armed and since is not None and since + hold < until:
        must.append(since + hold)
    return must


def rates(what, number, hold=0):
    """The program may have been kept waiting between an event and one of the times beside it."""
    early, late = (rates_at([e[i] for e in of(what)], number, hold) for i in (2, 3))
    if len(early) == len(late):
        return [(min(p), max(p)) for p in zip(early, late)], []
    return [], [(0, finish)]


wants = {
    "event": ([(e[2], e[3]) for e in of("odd") if e[1] == 1], []),
    "duration": spans("pay", 20 * MS),
    "both-ends": spans("pay", 20 * MS, {7}),
    "open": opens("pay", 100 * MS),
    "rate": rates("burst", 200),
    "rate-of": rates("burst", 200),
    "rate-for": rates("flow", 100, S),
    "silence": silences("beat", 700 * MS),
    "incident": ([(e[2], e[3]) for e in of("incident")], []),
}
SLACK = {"rate": 2 * MS, "rate-of": 2 * MS, "rate-for": 2 * MS}

print(f"{'trigger':10} {'must':>5} {'fired':>5} {'missed':>6} {'twice':>5} {'false':>5} {'unsure':>6} "
      f"{'late':>4}  latest")
bad = 0
for name, (must, may) in wants.items():
    got = sorted((f for f in firings if f["trigger"] == name and f["time"] <= finish),
                 key=lambda f: f["time"])
    slack = SLACK.get(name, MS // 10)
    left = list(got)
    missed = twice = 0
    for a, b in must:
        hits = [f for f in left if a - slack <= f["time"] <= b + slack]
        missed += not hits
        twice += len(hits) > 1
        left = [f for f in left if f not in hits]
    unsure = [f for f in left if any(a - slack <= f["time"] <= b + slack for a, b in may)]
    false = len(left) - len(unsure)
    delay = [f["noticed"] - f["time"] for f in got]
    print(f"{name:10} {len(must):5} {len(got):5} {missed:6} {twice:5} {false:5} {len(unsure):6} "
          f"{sum(d > LATE for d in delay):4}  {max(delay, default=0) / MS:.0f} ms")
    bad += missed + twice + false
# A percentile is of a window that moves in steps: it fires once for each time of slow requests.
n = sum(f["trigger"] == "p90" for f in firings)
slow = sum(1 for x, y in zip(of("req"), of("req")[1:]) if y[5] - y[2] > 5 * MS >= x[5] - x[2])
print(f"p90        {n} times; requests became slow {slow} times")
more = sum(i["firings_more"] for i in incidents)
print(len(incidents), "incidents")
if more:
    print(more, "firings are not in the incident: too many for it")
sys.exit(1 if bad or more else 0)
