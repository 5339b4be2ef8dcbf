"""The reports of tnfdump as Python's objects: the same C code computes them, in that program.

    import tnf
    for instance in tnf.why(["server.tnf", "kernel.tnf"], "order"):
        print(instance["verdict"])
    with tnf.open("kernel.tnf") as trace:
        frame = trace.pairs()
"""
import json as _json
import os as _os
import shutil as _shutil
import sqlite3 as _sqlite3
import subprocess as _subprocess
import tempfile as _tempfile

__all__ = ["why", "why_slow"]


def _tnfdump(files, *options):
    """Standard output of tnfdump; OSError if the program is not there, ValueError with its
    message if it ends with an error."""
    files = [files] if isinstance(files, (str, bytes, _os.PathLike)) else list(files)
    program = _os.environ.get("TNFDUMP") or _shutil.which("tnfdump")
    if program is None:
        raise FileNotFoundError("tnfdump: not in PATH: the environment's TNFDUMP can name the program")
    done = _subprocess.run([program, *options, "--", *map(_os.fspath, files)], stdin=_subprocess.DEVNULL,
                           stdout=_subprocess.PIPE, stderr=_subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        raise ValueError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "surrogateescape")


def _objects(text):
    return [_json.loads(line) for line in text.splitlines() if line]


def why(files, pair=None, id=None, *, where=None):
    """Why an instance of a pair took as long as it did: a list of dicts, the slowest first.

    files: a path, or several that are read as one: of the programs and of the kernel.
    pair: the name of what begins and ends; None: the one with the longest instance.
    id: the value of a member of the instances' starts: at most ten; None: the slowest one.
    where: an expression (tnfexpr(5)): instances that it keeps.

    Each dict has pair, took and typical (ns), verdict (text) and tree: nodes with thread, from
    and to (ns), kind, reason, and children that tile them (tnfdump(1), "Why something was
    slow").
    """
    options = ["--to", "jsonl", "--why" if pair is None else f"--why={pair}"]
    options += [] if id is None else [f"--id={id}"]
    options += [] if where is None else [f"--where={where}"]
    return _objects(_tnfdump(files, *options))


def why_slow(files, pair=None, *, where=None):
    """The causes of slow instances of a pair beside those of typical ones, as a dict.

    causes is a list of dicts with cause, typical_ms and slow_ms (means), and in how many of
    the slow instances the cause takes more than 5 %.
    """
    options = ["--to", "jsonl", "--why-slow" if pair is None else f"--why-slow={pair}"]
    options += [] if where is None else [f"--where={where}"]
    return _objects(_tnfdump(files, *options))[0]


# Who, from the thread's row; when on the wall clock, from the file of the start.
_PAIRS = """SELECT p.span, p.start, p."end", p.duration, p.pid, p.lwpid, t.comm, t.program, t.cgroup,
    r.keys, p.start + f.clock AS wall FROM pairs p LEFT JOIN threads t ON t.pid = p.pid AND t.lwpid = p.lwpid
    LEFT JOIN events e ON e.id = p.start_event LEFT JOIN probes r ON r.id = e.probe
    LEFT JOIN files f ON f.id = e.file ORDER BY p.id"""
_STATES = """SELECT s.tid, s.pid, s.lwpid, s.state, s.start, s.duration, t.comm, t.program, t.cgroup,
    s.start + (SELECT clock FROM files WHERE clock IS NOT NULL LIMIT 1) AS wall
    FROM states s LEFT JOIN threads t ON t.pid = s.pid AND t.lwpid = s.lwpid ORDER BY s.rowid"""

_WAKES = """SELECT s.start, s.woken, s.woken - s.start AS asleep, s.delay, s.pid, s.lwpid, t.comm, t.program, t.cgroup,
    s.reason, s.place, s."by", s.waker_pid, s.waker_lwpid, w.comm AS waker_comm, s.owner_pid, s.owner_lwpid,
    o.comm AS owner_comm, s.woken + (SELECT clock FROM files WHERE clock IS NOT NULL LIMIT 1) AS wall FROM sleeps s
    LEFT JOIN threads t ON t.pid = s.pid AND t.lwpid = s.lwpid
    LEFT JOIN threads w ON w.pid = s.waker_pid AND w.lwpid = s.waker_lwpid
    LEFT JOIN threads o ON o.pid = s.owner_pid AND o.lwpid = s.owner_lwpid ORDER BY s.woken, s.rowid"""
# Not every row has them, and whole numbers they stay.
_MISSING = ["start", "asleep", "waker_pid", "waker_lwpid", "owner_pid", "owner_lwpid"]


def _query(files, query, *options):
    """The rows of a query of --to sqlite as a pandas.DataFrame; "wall" as times of UTC."""
    import pandas
    with _tempfile.TemporaryDirectory(prefix="tnf-") as directory:
        path = _os.path.join(directory, "trace.db")
        _tnfdump(files, "--to", "sqlite", "-o", path, *options)
        db = _sqlite3.connect(path)
        try:
            frame = pandas.read_sql_query(query, db)
        finally:
            db.close()
    frame["wall"] = pandas.to_datetime(frame["wall"], utc=True)
    return frame


def pairs(files, *options):
    return _query(files, _PAIRS, *options)


def states(files):
    return _query(files, _STATES)


def wakes(files):
    frame = _query(files, _WAKES)
    return frame.astype({name: "Int64" for name in _MISSING})


def statistics(pairs):
    """Count, total, least, mean, percentiles and most of durations by the pairs' names (ns)."""
    by = pairs.groupby("span")["duration"]
    frame = by.agg(["count", "sum", "min", "mean", "max"]).rename(columns={"sum": "total"})
    for p in (50, 90, 99):
        frame[f"p{p}"] = by.quantile(p / 100, interpolation="lower")
    return frame.sort_values("total", ascending=False)
