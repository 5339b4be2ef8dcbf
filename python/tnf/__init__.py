"""Read trace files of TNF for Linux and of Solaris.

    import tnf

    with tnf.open("trace.tnf", where="cpu == 0 and latency > 1ms") as trace:
        for ev in trace:
            print(ev.time, ev.pid, ev.probe.name, ev["latency"])
        frame = trace.to_pandas("syscall_end")

Integers are exact.  A string is a str; bytes that are not UTF-8 become lone
surrogates (errors="surrogateescape").  A record is a dict whose "$type" is the
name of its type, an array a list, null None, an opaque value an int.

Objects serve one thread at a time; the interpreter's lock is held throughout.
"""
import difflib as _difflib
import sys as _sys
import warnings as _warnings

from . import reports as _reports
from .reports import why, why_slow
from ._tnf import (DamageWarning, Error, Event, Events, File, LossWarning,
                   Probe, Recorder, Trace as _Trace)

__all__ = ["open", "Trace", "Events", "Event", "Probe", "File", "Error",
           "DamageWarning", "LossWarning", "CutStr", "CutBytes", "probe", "span", "Recorder",
           "why", "why_slow"]

# enum tnf_argument_kind of <tnf/runtime.h>
_KINDS = {"int8": 1, "int16": 2, "int32": 3, "int64": 4, "uint8": 5, "uint16": 6,
          "uint32": 7, "uint64": 8, "float32": 9, "float64": 10, "opaque": 11,
          "string": 12, "text": 13, "blob": 14,
          int: 4, float: 10, str: 13, bytes: 14, bool: 5}


def _make(name, keys, detail, members, frame):
    """The probe, whose place is that of the frame."""
    place = "".join("_" if c < " " or c in ";\x7f" else c for c in frame.f_code.co_filename)
    try:
        members = [(member, _KINDS[kind]) for member, kind in members]
    except (KeyError, TypeError):
        raise ValueError(f"{name}: an argument's type is none that can be recorded") from None
    made = Recorder(name, keys, f"file {place[-200:]};line {frame.f_lineno};{detail}", members)
    if not made.available:
        _warnings.warn("libtnfprobe.so.1 cannot be loaded: probes stay off",
                       RuntimeWarning, stacklevel=3)
    return made


def probe(name, /, keys="", detail="", *, args=None, **types):
    """Make a probe of this program, or find the one made with the same words.

        order_start = tnf.probe("order_start", keys="order", id=int, cake=str)
        order_start(id=7, cake="apple")
        if order_start:                     # on: somebody wants its events
            order_start(7, compute_name())

    'types' are the arguments and what they are: int (64 bits), float, str and
    bytes (up to 64 KiB), bool, or one of "int8" ... "int64", "uint8" ... "uint64",
    "float32", "float64", "opaque", "string" (255 bytes), "text", "blob".  'args',
    a mapping, holds those whose names are no identifiers.

    The probe is off until prex(1) or TNF_ENABLE switches it on; calling it then
    does nothing.  A call never raises: a value that does not fit its type is
    recorded as null or 0, and one that is not given as well.  Without libtnfprobe
    there is a RuntimeWarning, and the probe stays off.
    """
    return _make(name, keys, detail, [*(args or {}).items(), *types.items()], _sys._getframe(1))


class span:
    """A pair of probes: NAME_start with the arguments, and NAME_end with 'error'.

        bake = tnf.span("bake", keys="oven", id=int)
        with bake(id=7):
            ...                             # the span ends with the block

    An exception that leaves the block is the error: its errno, or else 1.  Spans that
    overlap in a thread, as those of coroutines do, need an argument that tells them apart:
    with by="id" the end has it, too, and tnfdump --pair NAME_start,NAME_end,id pairs them.
    """

    def __init__(self, name, /, keys="", *, by=None, **types):
        if by is not None and by not in types:
            raise ValueError(f"{name}: by: {by}: is none of the arguments")
        key = [] if by is None else [(by, types[by])]
        frame = _sys._getframe(1)
        self._by, self._place = by, list(types).index(by) if key else None
        self._start = _make(f"{name}_start", keys, "", types.items(), frame)
        self._end = _make(f"{name}_end", keys, "", [*key, ("error", int)], frame)

    def __call__(self, /, *values, **named):
        self._start(*values, **named)
        if self._by is None:
            return _Begun(self._end)
        return _Begun(self._end, named.get(self._by, (*values, None)[min(self._place, len(values))]))


class _Begun:
    """A span that has begun; its end is when the block ends."""
    __slots__ = ("_end", "_key")

    def __init__(self, end, *key):
        self._end, self._key = end, key

    def __enter__(self):
        return self

    def __exit__(self, kind, exception, where):
        self._end(*self._key, 0 if exception is None else getattr(exception, "errno", 0) or 1)


class CutStr(str):
    """A str that is the beginning of a longer one: more was not recorded, or the
    rest has been overwritten."""

    cut = True


class CutBytes(bytes):
    """The same of bytes."""

    cut = True


def _values(numpy, fmt, data, categories):
    """A column as an array; of strings as objects."""
    if fmt == "O":
        return _objects(numpy, data)
    array = numpy.frombuffer(data, numpy.dtype(fmt))
    if categories is None:
        return array
    # Index -1, no value, takes the last.
    return _objects(numpy, [*categories, None])[array]


def _objects(numpy, values):
    array = numpy.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _series(numpy, pandas, fmt, data, missing, categories):
    """A column as pandas keeps it best."""
    if categories is not None and all(type(c) is str for c in categories):
        return pandas.Categorical.from_codes(numpy.frombuffer(data, numpy.dtype(fmt)),
                                             categories)
    values = _values(numpy, fmt, data, categories)
    if missing is None or values.dtype == object:
        return values
    mask = numpy.frombuffer(missing, bool)
    if values.dtype.kind == "f":
        values[mask] = numpy.nan
        return values
    return pandas.arrays.IntegerArray(values, mask)


class Trace(_Trace):
    """Open trace files.  Made by tnf.open().

    Each iter() is a new way through all events, in order of time.
    """

    def __repr__(self):
        if self.closed:
            return "<tnf.Trace: closed>"
        names = ", ".join(map(str, self._paths()))
        return f"<tnf.Trace {names}: {len({p.name for p in self.probes})} probes>"

    def _known(self, probe):
        """The names as they are, or as a list; KeyError if one of them is of no probe."""
        if probe is None:
            return None
        names, probe = {p.name for p in self.probes}, [probe] if isinstance(probe, str) else list(probe)
        for name in probe:
            if name not in names:
                near = _difflib.get_close_matches(name, names, 1)
                raise KeyError(f"no probe is called {name}" + (f": {near[0]}?" if near else ""))
        return probe

    def to_numpy(self, probe=None, names=False):
        """The events as a dict of arrays, one item an event.

        probe: the name of a probe, or several: their events only; None: all.  A name
        that no probe of the files has is a KeyError.
        names: numbers that have names (a system call, an error, a state, a value that the
        trace itself names) are strings: these names, or the digits.

        Columns are time, pid, lwpid, tid, cpu (-1: not told), kernel, probe, and
        one for each name that a member of those probes has; a member that is
        called like one of the first is "args.NAME".  Strings are objects.  Where
        some events have no value for a column of numbers, it is a masked array;
        among objects they are None.
        """
        import numpy
        probe = self._known(probe)
        columns = {}
        for name, fmt, data, missing, categories in self.columns(probe, names):
            values = _values(numpy, fmt, data, categories)
            if missing is not None and values.dtype != object:
                values = numpy.ma.MaskedArray(values, numpy.frombuffer(missing, bool))
            columns[name] = values
        return columns

    def to_pandas(self, probe=None, names=False):
        """The same as a pandas.DataFrame.

        Strings are categories, and integers without a value are pandas.NA.
        """
        import numpy
        import pandas
        probe = self._known(probe)
        return pandas.DataFrame(
            {name: _series(numpy, pandas, *rest) for name, *rest in self.columns(probe, names)})

    def pairs(self, *rules):
        """What began and ended, as a pandas.DataFrame: span (its name), start, end and
        duration (ns), pid, lwpid, and of the thread comm, program and cgroup; keys of the
        probe of the start, and wall, the start on the wall clock (UTC).

        rules: "START,END[,MEMBER...]" as of tnfdump --pair, before the built-in ones.
        """
        rules = [word for rule in rules for word in ("--pair", rule)]
        return _reports.pairs(self._paths(), *rules)

    def states(self):
        """The microstates of threads, as a pandas.DataFrame: tid, pid, lwpid, state, start,
        duration (ns), and comm, program, cgroup and wall as pairs() has them."""
        return _reports.states(self._paths())

    def wakes(self):
        """The sleeps that ended, as a pandas.DataFrame in order of their ends: start, woken,
        asleep and delay (from being woken to having a CPU; ns); pid, lwpid, and comm, program
        and cgroup of the sleeper; reason, place (the function of the kernel that tells it); by
        ("thread", "timer", "disk", ...), waker_pid, waker_lwpid and waker_comm; owner_pid,
        owner_lwpid and owner_comm of the lock it was for; wall, when it was woken.  Facts that
        the trace does not tell are missing."""
        return _reports.wakes(self._paths())

    def stats(self, *rules):
        """Statistics of pairs(), as a pandas.DataFrame by their names: count, and total, min,
        mean, max, p50, p90 and p99 of the durations (ns)."""
        return _reports.statistics(self.pairs(*rules))

    def _paths(self):
        return [file.name for file in self.files]


def open(files, where=None, *, salvage=False):
    """Open one trace file, or several to be read as one; return a Trace.

    files: a path, or an iterable of paths.
    where: only events for which this holds: an expression, as for
        tnfdump --where (tnfexpr(5)), or a function of an Event.
    salvage: accept files that have been cut off.

    Raises OSError, tnf.Error for what is no TNF file, ValueError for an
    expression that is wrong.  Warns with DamageWarning of blocks that cannot be
    read, and with LossWarning of events that the writer could not record; both
    are also in Trace.files.
    """
    return Trace(files, where, salvage=salvage)
