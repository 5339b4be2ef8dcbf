#!/usr/bin/env python3
"""The Python package: what it says equals what tnfdump says; no misuse and no
bytes of a file bring it down; nothing leaks.

Usage: test_tnf.py TNFDUMP MKTRACE ODD LIBTNFPROBE STORY [unittest's arguments]
"""
import contextlib
import gc
import glob
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings
import weakref

import tnf

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

TNFDUMP, MKTRACE, ODD, LIBTNFPROBE, STORY = map(os.path.abspath, sys.argv[1:6])
SOURCE = os.environ["TNF_SOURCE"]
sys.path.append(SOURCE + "/tests/why")
import machine
GOLDEN = sorted(glob.glob(SOURCE + "/tests/golden/traces/*.tnf"))
SEEDS = sorted(glob.glob(SOURCE + "/fuzz/seeds/trace/*"))
EVERY = ["time", "pid", "lwpid", "tid", "cpu", "kernel", "probe"]


def dumped(path, *options):
    """What tnfdump --to jsonl prints of the events."""
    done = subprocess.run([TNFDUMP, "--to=jsonl", *options, path], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if "tnf" not in row]


def as_json(value):
    """A value of ours as tnfdump writes it."""
    if isinstance(value, dict):
        return {k: as_json(v) for k, v in value.items()}
    if isinstance(value, list):
        return [as_json(v) for v in value]
    if isinstance(value, bytes):
        return {"$bytes": value.hex(), **({"$cut": True} if hasattr(value, "cut") else {})}
    if isinstance(value, str) and hasattr(value, "cut"):
        return as_json(str(value) + "...")
    if isinstance(value, str):
        raw = value.encode(errors="surrogateescape")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return {"$bytes": raw.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def trace_names(path):
    """Those of the first event's members, as --pretty prints them."""
    return list(dumped(path, "--pretty")[0]["args"].values())


def number(value):
    """'0x1f', as opaque values are written, as a number."""
    if isinstance(value, dict):
        return {k: number(v) for k, v in value.items()}
    if isinstance(value, list):
        return [number(v) for v in value]
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16)
    return value


def quietly(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tnf.open(path, **options)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tmp = tempfile.TemporaryDirectory()
        cls.addClassCleanup(tmp.cleanup)
        cls.dir = tmp.name

    def made(self, name, *command):
        path = os.path.join(self.dir, name)
        subprocess.run([*command, path], check=True)
        return path

    def odd(self, kind):
        return self.made(kind, ODD, kind)


class Values(Case):
    def same(self, path, *options, **opened):
        with quietly(path, **opened) as trace, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            events, rows = list(trace), dumped(path, *options)
        self.assertEqual(len(events), len(rows), path)
        for ev, row in zip(events, rows):
            self.assertEqual(
                [ev.time, ev.pid, ev.lwpid, ev.tid, ev.cpu, as_json(ev.probe.name),
                 [as_json(k) for k in ev.probe.keys]],
                [row["time"], row["pid"], row["lwpid"], number(row["tid"]),
                 row.get("cpu"), row["probe"], row["keys"]])
            self.assertEqual(number(as_json(ev.args)), number(row["args"]), path)
        return events

    def test_golden(self):
        self.assertGreater(len(GOLDEN), 12)
        for path in GOLDEN:
            with self.subTest(path):
                self.same(path)

    def test_odd(self):
        for kind in "line", "circle", "list", "array", "strings", "large", "times":
            with self.subTest(kind):
                self.same(self.odd(kind))

    def test_names(self):
        """Bytes that are not UTF-8 come back as they are."""
        with tnf.open(self.odd("names")) as trace:
            ev, last = trace
        self.assertEqual(os.fsencode(ev.probe.name), b"na\377me")
        self.assertEqual(ev.probe.keys, ("k\udcffy",))
        self.assertEqual(ev.probe.attributes["file"], "f\033.c")
        self.assertEqual(ev["in\udcfft"], 5)
        self.assertEqual(os.fsencode(ev["e\033sc"]), b"va\377lue")
        self.assertEqual(last.args, {"in\udcfft": 6, "e\033sc": "\033[2J\n"})

    def test_many_ways(self):
        """Records that lead into each other: as much of them as tnfdump shows, and said."""
        path = self.odd("graph")
        with tnf.open(path) as trace, self.assertWarnsRegex(tnf.DamageWarning, "records"):
            events = list(trace)
        self.assertEqual(len(events), 201)
        self.same(path)

    def test_where(self):
        path = self.made("ints.tnf", MKTRACE, "-n", "5000", "-t", "3")
        name = next(iter(quietly(path))).probe.members[0][0]
        text = f"{name} % 7 == 0 and pid != 0"
        some = self.same(path, "--where=" + text, where=text)
        self.assertTrue(0 < len(some) < 5000)
        with tnf.open(path, where=lambda ev: ev[name] % 7 == 0 and ev.pid != 0) as trace:
            self.assertEqual([e.time for e in trace], [e.time for e in some])
            self.assertEqual(trace.to_numpy()["time"].tolist() if numpy else
                             [e.time for e in trace], [e.time for e in some])

    def test_files_together(self):
        one = self.made("1.tnf", MKTRACE, "-n", "2000")
        two = self.made("2.tnf", MKTRACE, "-B", "-n", "1000", "-t", "2")
        with tnf.open([one, two]) as trace:
            times = [e.time for e in trace]
            self.assertEqual([f.events for f in trace.files], [2000, 1000])
            self.assertEqual({e.probe.file for e in trace}, {one, two})
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(times), 3000)


class Columns(Case):
    def same(self, path):
        with quietly(path) as trace, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            events, columns = list(trace), trace.columns()
        self.assertEqual([c[0] for c in columns[:7]], EVERY)
        for name, fmt, data, missing, categories in columns:
            self.assertEqual(len(data), len(events) if fmt == "O" else
                             len(events) * memoryview(data).itemsize *
                             {"b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "i": 4, "I": 4}.get(fmt, 8))
            items = data if fmt == "O" else memoryview(data).cast(fmt)
            for i, ev in enumerate(events):
                self.check(ev, name, items[i], missing and missing[i], categories)
        return columns

    def check(self, ev, name, item, missing, categories):
        if categories is not None:
            item = categories[item] if item >= 0 else None
        if missing:
            item = None
        if name == "probe":
            wanted = ev.probe.name
        elif name == "cpu":
            wanted = -1 if ev.cpu is None else ev.cpu
        elif name in EVERY:
            wanted = getattr(ev, name)
        else:
            wanted = ev.get(name[5:] if name.startswith("args.") and
                            name[5:] in EVERY else name)
        if not (isinstance(wanted, float) and math.isnan(wanted) and math.isnan(item)):
            self.assertEqual(item, wanted, name)

    def test_golden(self):
        for path in GOLDEN:
            with self.subTest(path):
                self.same(path)

    def test_odd(self):
        for kind in "names", "circle", "list", "array", "strings", "times":
            with self.subTest(kind):
                self.same(self.odd(kind))

    def test_probe(self):
        path = SOURCE + "/tests/golden/traces/kern_events.lp64.tnf"
        with tnf.open(path) as trace:
            of = [e for e in trace if e.probe.name == "syscall_start"]
            for wanted in "syscall_start", ["syscall_start"], {"syscall_start", "none"}:
                columns = {c[0]: c for c in trace.columns(wanted)}
                self.assertEqual(list(memoryview(columns["time"][2]).cast("q")),
                                 [e.time for e in of])
                self.assertEqual(list(columns)[7:], [m[0] for m in of[0].probe.members])
            with self.assertRaises(TypeError):
                trace.columns(5)
        self.assertGreater(len(of), 0)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        path = SOURCE + "/tests/golden/traces/scalars.lp64.tnf"
        with tnf.open(path) as trace:
            events, columns = list(trace), trace.to_numpy()
        for name, array in columns.items():
            self.assertEqual(len(array), len(events), name)
        self.assertEqual(columns["time"].dtype, numpy.dtype("i8"))
        self.assertEqual(columns["probe"].tolist(), [e.probe.name for e in events])
        for name in set(columns) - set(EVERY):
            for got, ev in zip(columns[name].tolist(), events):
                self.check(ev, name, got, None, None)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy_copies_nothing(self):
        """Arrays of numbers are the memory that the reader has filled, one piece a
        column; and no more objects are made for many events than for few."""
        def address(buffer):
            return numpy.frombuffer(buffer, "u1").__array_interface__["data"][0]

        def pointer(array):
            return numpy.ma.getdata(array).__array_interface__["data"][0]

        made = []
        with tempfile.TemporaryDirectory() as directory:
            for n in 2000, 100000:
                path = directory + "/%d.tnf" % n
                subprocess.run([MKTRACE, "-n", str(n), "-t", "4", path], check=True)
                with tnf.open(path) as trace:
                    real, given = trace.columns, {}

                    def columns(probe):
                        for column in real(probe):
                            given[column[0]] = column
                            yield column
                    with unittest.mock.patch.object(type(trace), "columns",
                                                    lambda self, probe, names: columns(probe)):
                        arrays = trace.to_numpy()
                    numbers = [c for c in arrays if arrays[c].dtype != object]
                    self.assertGreaterEqual(len(numbers), 6)
                    for name in numbers:
                        data = given[name][2]
                        self.assertEqual(len(arrays[name]), n)
                        self.assertFalse(numpy.ma.getdata(arrays[name]).flags.owndata, name)
                        self.assertEqual(pointer(arrays[name]), address(data), name)
                    del arrays, given
                    gc.collect()
                    before = sys.getallocatedblocks()
                    kept = [c for c in real(None) if c[0] in numbers]
                    made.append(sys.getallocatedblocks() - before)
                    del kept
        self.assertLess(made[1], made[0] + 200)

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_pandas(self):
        for path in GOLDEN:
            with tnf.open(path) as trace:
                self.assertEqual(len(trace.to_pandas()), trace.files[0].events)


class Damage(Case):
    def answers(self, path):
        """Everything is tried; what is refused is refused in one of our ways."""
        try:
            with quietly(path, salvage=True) as trace, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                n = sum(1 for ev in trace if repr(ev) and ev.args is not None)
                for column in trace.columns():
                    self.assertEqual(len(column), 5)
                self.assertEqual(sum(f.events for f in trace.files), n, path)
            return n
        except (tnf.Error, OSError):
            return 0

    def test_seeds(self):
        self.assertGreater(len(SEEDS), 5)
        self.assertGreater(sum(self.answers(path) for path in SEEDS), 0)

    def test_every_cut(self):
        with open(SOURCE + "/tests/golden/traces/records.lp64.tnf", "rb") as f:
            whole = f.read()
        path = self.dir + "/cut"
        for size in range(1, len(whole), 1021):
            with open(path, "wb") as f:
                f.write(whole[:size])
            self.answers(path)

    def test_flips(self):
        with open(SOURCE + "/tests/golden/traces/records.lp64.tnf", "rb") as f:
            whole = bytearray(f.read())
        path = self.dir + "/flip"
        for at in range(0, len(whole), 487):
            whole[at] ^= 0xff
            with open(path, "wb") as f:
                f.write(whole)
            self.answers(path)
            whole[at] ^= 0xff

    def broken(self):
        """A sound file but for one block of events."""
        path = self.made("sound.tnf", MKTRACE, "-b", "4096", "-n", "20000")
        done = subprocess.run([TNFDUMP, "-r", path], check=True, stdout=subprocess.PIPE)
        self.assertTrue(done.stdout)
        with open(path, "r+b") as f:
            f.seek(-8 * 4096, os.SEEK_END)
            f.write(b"\xff" * 4096)
        return path

    def test_told(self):
        path = self.broken()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with tnf.open(path) as trace:
                n = len(list(trace))
                info = trace.files[0]
        self.assertTrue(0 < n < 20000)
        self.assertEqual(info.events, n)
        self.assertEqual([w.category for w in told], [tnf.DamageWarning])
        w = told[0].message
        self.assertEqual((w.file, info.damage), (path, [(w.offset, w.text)]))
        self.assertEqual(told[0].filename, __file__)
        self.assertIn(f"block at {w.offset:#x}: {w.text}", str(w))

    def test_warning_is_error(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(tnf.DamageWarning):
                tnf.open(self.broken())

    def test_lost(self):
        """What the writer has counted in the header (struct tnf_ext, lost[])."""
        path = self.dir + "/lost"
        shutil.copy(SOURCE + "/fuzz/seeds/trace/kernel-all", path)
        with tnf.open(path) as trace:
            self.assertEqual((trace.files[0].kind, trace.files[0].lost), ("kernel", {}))
        with open(path, "r+b") as f:
            f.seek(64 + 72)
            f.write(struct.pack("<8Q", 3, 0, 0, 4, 0, 0, 0, 2**40))
        with self.assertWarns(tnf.LossWarning) as told:
            trace = tnf.open(path)
        lost = {"no free block": 3, "no room for a definition": 4,
                "came when the file was full": 2**40}
        self.assertEqual(told.warning.lost, lost)
        self.assertEqual(trace.files[0].lost, lost)
        self.assertEqual(told.warning.file, path)
        # Another file of the same buffer tells what it has lost besides.
        later = self.dir + "/later"
        shutil.copy(path, later)
        with open(later, "r+b") as f:
            f.seek(64 + 72)
            f.write(struct.pack("<2Q", 5, 0))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            trace = tnf.open([path, later, later])
        self.assertEqual([(w.message.file, w.message.lost) for w in told],
                         [(path, lost), (later, {"no free block": 2})])
        self.assertEqual(trace.files[2].lost["no free block"], 5)


class Misuse(Case):
    GOOD = SOURCE + "/tests/golden/traces/threads.lp64.tnf"

    def test_errors(self):
        with self.assertRaises(FileNotFoundError) as e:
            tnf.open("/nonexistent/x")
        self.assertEqual(e.exception.filename, "/nonexistent/x")
        for what in "/dev/null", self.dir:
            with self.assertRaises((tnf.Error, IsADirectoryError)):
                tnf.open(what)
        with self.assertRaises(tnf.Error) as e:
            tnf.open(__file__)
        self.assertEqual(e.exception.file, __file__)
        self.assertEqual(str(e.exception), f"{__file__}: {e.exception.reason}")
        for bad in 5, None, [5], [None], object():
            with self.assertRaises(TypeError):
                tnf.open(bad)
        for bad in [], (), "a\0b":
            with self.assertRaises(ValueError):
                tnf.open(bad)
        with self.assertRaisesRegex(ValueError, "column 5"):
            tnf.open(self.GOOD, where="pid )")
        for bad in 5, b"pid == 1", ["pid"]:
            with self.assertRaises(TypeError):
                tnf.open(self.GOOD, where=bad)
        with self.assertRaises(ValueError):
            tnf.open(self.GOOD, where="pid\0")
        for bad in tnf.Event, tnf.Probe, tnf.Events:
            with self.assertRaises(TypeError):
                bad()

    def test_closed(self):
        trace = tnf.open(self.GOOD)
        events = iter(trace)
        first = next(events)
        before = dict(first.args), first.time, first.probe.name
        trace.close()
        trace.close()
        self.assertTrue(trace.closed)
        for use in (lambda: next(events), lambda: iter(trace), trace.columns,
                    trace.__enter__):
            with self.assertRaises(ValueError):
                use()
        del trace, events
        gc.collect()
        self.assertEqual((dict(first.args), first.time, first.probe.name), before)

    def test_twice(self):
        with tnf.open(self.GOOD) as trace:
            a, b = iter(trace), iter(trace)
            pairs = [(x.time, y.time) for x, y in zip(a, b)]
            self.assertEqual(len(pairs), trace.files[0].events)
            self.assertTrue(all(x == y for x, y in pairs))
            self.assertRaises(StopIteration, next, a)
            self.assertRaises(StopIteration, next, a)

    def test_where_misbehaves(self):
        """A function that fails, closes the trace, or reads on."""
        def fails(ev):
            raise RuntimeError("no")
        with tnf.open(self.GOOD, where=fails) as trace:
            self.assertRaises(RuntimeError, list, trace)
            self.assertRaises(RuntimeError, trace.columns)

        def closes(ev):
            trace.close()
            return True
        trace = tnf.open(self.GOOD, where=closes)
        self.assertRaises(ValueError, list, trace)
        trace = tnf.open(self.GOOD, where=closes)
        self.assertEqual(len(trace.columns()[0][2]) % 8, 0)

        def reads(ev):
            return next(events)
        trace = tnf.open(self.GOOD, where=reads)
        events = iter(trace)
        self.assertRaisesRegex(ValueError, "already", next, events)

    def test_members(self):
        with tnf.open(self.GOOD) as trace:
            ev = next(iter(trace))
        self.assertRaises(KeyError, ev.__getitem__, "none")
        self.assertRaises(TypeError, ev.__getitem__, [])
        self.assertNotIn("none", ev)
        self.assertEqual(ev.get("none", 3), 3)
        for name in "time", "args", "cpu":
            with self.assertRaises(AttributeError):
                setattr(ev, name, 1)
        with self.assertRaises(TypeError):
            ev.probe.attributes["x"] = 1

    def test_threads(self):
        """Each its own way through one trace."""
        with tnf.open(self.GOOD) as trace:
            counts = []
            workers = [threading.Thread(target=lambda: counts.append(len(list(trace))))
                       for _ in range(8)]
            for w in workers:
                w.start()
            for w in workers:
                w.join()
            self.assertEqual(counts, [trace.files[0].events] * 8)


class Leaks(Case):
    @staticmethod
    def resident():
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def all_of_it(self):
        for path in self.paths:
            with quietly(path, where="pid != 3") as trace:
                list(trace)
                trace.columns()
                next(iter(trace), None)
            with contextlib.suppress(ValueError):
                tnf.open(path, where="pid ==")
        with contextlib.suppress(tnf.Error):
            tnf.open(__file__)

    def test_counts(self):
        """Neither objects nor blocks of the interpreter's memory grow."""
        self.paths = [SOURCE + "/tests/golden/traces/" + name + ".lp64.tnf"
                      for name in ("records", "scalars", "kern_events")]
        counts = []
        for _ in range(4):
            for _ in range(5):
                self.all_of_it()
            gc.collect()
            counts.append((len(gc.get_objects()), sys.getallocatedblocks()))
        self.assertLess(counts[-1][0] - counts[1][0], 20, counts)
        self.assertLess(counts[-1][1] - counts[1][1], 60, counts)

    def test_mappings(self):
        """Each trace has its files mapped only as long as somebody reads them."""
        path = self.made("large.tnf", MKTRACE, "-n", "200000")
        with open("/proc/self/maps", encoding="ascii", errors="replace") as f:
            before = f.read().count("large.tnf")
        for _ in range(20):
            next(iter(tnf.open(path)))
        gc.collect()
        with open("/proc/self/maps", encoding="ascii", errors="replace") as f:
            self.assertEqual(f.read().count("large.tnf"), before)

    def test_cycles(self):
        """A record changed to hold its event, and a function that holds its trace."""
        class Flag:
            pass
        with tnf.open(SOURCE + "/tests/golden/traces/records.lp64.tnf") as trace:
            ev = next(iter(trace))
            gone = []
            flag = Flag()
            weakref.finalize(flag, gone.append, 1)
            ev["pt"]["self"], ev["pt"]["flag"] = ev, flag
            del ev, flag
            gc.collect()
            self.assertEqual(gone, [1])


class Recording(Case):
    """Probes of a Python program, which records itself."""

    def run_program(self, text, enable="order", ok=True, library=True):
        path = os.path.join(self.dir, "recorded.tnf")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        env = dict(os.environ, TNF_FILE=path, TNF_ENABLE=enable, TNF_SIZE="8m")
        env["LD_LIBRARY_PATH"] = os.path.dirname(LIBTNFPROBE) + ":" + \
            env.get("LD_LIBRARY_PATH", "") if library else "/nowhere"
        done = subprocess.run([sys.executable, "-W", "always", "-c", text], env=env, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode == 0, ok, done.stderr)
        self.said = done.stdout + done.stderr
        if not os.path.exists(path):
            return []
        with tnf.open(path) as trace:
            self.probes = trace.probes
            return list(trace)

    def test_facts(self):
        """What tnfdump --info says of a machine that crashed, File.facts says as well."""
        self.run_program("import tnf; tnf.probe('start', keys='order')()")
        told = {"host": "here", "crashed": "2023-11-14T22:13:20Z", "missing": "3 of 32 blocks",
                "printk": "[ 1.0] one\n[ 2.0] two"}
        text = "TNFCTX 1\n" + "".join(
            f"{k} " + v.replace("\n", "\\012") + "\n" for k, v in told.items()) + "end 1\n"
        path = os.path.join(self.dir, "recorded.tnf")
        with open(path, "r+b") as f:
            end = f.seek(0, os.SEEK_END)
            f.write(text.encode())
            f.seek(64 + 144)    # extra_offset and extra_size of struct tnf_ext
            f.write(struct.pack("=QQ", end, len(text)))
        with tnf.open(path) as trace:
            self.assertEqual(trace.files[0].facts, told)
        info = json.loads(subprocess.run([TNFDUMP, "--info=json", path], check=True,
                                         stdout=subprocess.PIPE).stdout)
        self.assertEqual({k: info.get(k) for k in told}, told)

    def test_values(self):
        """What is given is what is read, also the longest; what does not fit is null."""
        events = self.run_program("""if 1:
            import tnf
            p = tnf.probe("start", keys="order cake", id=int, cake=str, raw=bytes, w=float,
                          ok=bool, small="int8", pointer="opaque")
            assert p and p.available and p.name == "start"
            p(7, "apple", b"\\0\\xff", 1.5, True, -1, 255)
            p(id=-1, raw=bytearray(65536), cake="\\N{EURO SIGN}" * 20000)
            p(raw=b"x" * 65537, cake="y" * 100000)
            p(2 ** 70 + 5, 12, w="no", nosuch=1)
            p("no", None, raw=3, small=300)
            p(cake="\\udcff", raw=memoryview(b"abc"))
            p(cake="\\ud800")
            p(1, 2, 3, 4, 5, 6, 7, 8, 9)
            class Bad:
                def __str__(self): raise RuntimeError
            try:
                raise KeyError("mine")
            except KeyError as e:
                p(Bad(), Bad())
                assert str(e) == "'mine'"
        """)
        self.assertEqual([e.probe.name for e in events], ["start"] * 9)
        self.assertEqual(events[0].args, {"id": 7, "cake": "apple", "raw": b"\0\xff", "w": 1.5,
                                          "ok": 1, "small": -1, "pointer": 255})
        self.assertEqual(events[1]["cake"], "\N{EURO SIGN}" * 20000)
        self.assertEqual(events[1]["raw"], bytes(65536))
        self.assertIs(type(events[1]["raw"]), bytes)
        self.assertEqual(events[2]["cake"], "y" * 65536)
        self.assertTrue(events[2]["cake"].cut and events[2]["raw"].cut)
        self.assertEqual(len(events[2]["raw"]), 65536)
        self.assertEqual((events[3]["id"], events[3]["cake"], events[3]["w"]), (5, "12", 0))
        self.assertEqual((events[4]["id"], events[4]["cake"], events[4]["raw"]), (0, None, None))
        self.assertEqual(events[4]["small"], 44)
        self.assertEqual((events[5]["cake"], events[5]["raw"]), ("\udcff", b"abc"))
        self.assertEqual(events[6]["cake"], "?")
        self.assertEqual(events[8]["cake"], None)
        self.assertEqual(events[0].probe.keys, ("order", "cake"))
        self.assertEqual(events[0].probe.attributes["line"], "3")

    def test_lengths(self):
        """Bytes of any length: also who goes from record to record by their sizes reads them."""
        events = self.run_program("""if 1:
            import tnf
            p = tnf.probe("start", keys="order", cake=str, raw=bytes)
            for n in [*range(17), 231, 232, 233, 255, 256, 463, 464, 465]:
                p("x" * n, bytes(i % 7 for i in range(n)))
        """)
        self.assertEqual(len(events), 25)
        for e in events:
            self.assertEqual(e["raw"], bytes(i % 7 for i in range(len(e["cake"]))))
        steps = os.path.join(os.environ["TNF_SOURCE"], "tests", "writer", "steps.py")
        subprocess.run([sys.executable, steps, os.path.join(self.dir, "recorded.tnf"),
                        "tnf_blob:25", "tnf_padded_bytes:17"], check=True, stdout=subprocess.PIPE)

    def test_off(self):
        """Off, nothing is computed that the program does not compute itself."""
        events = self.run_program("""if 1:
            import tnf
            p = tnf.probe("other", keys="other", n=int)
            assert not p
            p(1); p(n=2); p("x", nosuch=3)
        """)
        self.assertEqual(events, [])

    def test_span(self):
        """A span ends with its block, with the error that left it and the member of by."""
        events = self.run_program("""if 1:
            import tnf
            plain = tnf.span("plain", keys="order", id=int)
            with plain(id=7):
                pass
            for error in OSError(5, "x"), KeyError("x"):
                try:
                    with plain(8): raise error
                except type(error):
                    pass
            by = tnf.span("by", keys="order", by="id", name=str, id=int)
            with by("a", 1), by(id=2, name="b"), by("c"):
                pass
            try:
                tnf.span("by", by="nosuch", id=int)
            except ValueError as e:
                assert "nosuch" in str(e)
        """)
        got = [(e.probe.name, e["id"] if "id" in e.args else None, e.args.get("error")) for e in events]
        self.assertEqual(got, [
            ("plain_start", 7, None), ("plain_end", None, 0), ("plain_start", 8, None), ("plain_end", None, 5),
            ("plain_start", 8, None), ("plain_end", None, 1), ("by_start", 1, None), ("by_start", 2, None),
            ("by_start", 0, None), ("by_end", 0, 0), ("by_end", 2, 0), ("by_end", 1, 0)])
        self.assertEqual({e.probe.attributes["line"] for e in events}, {"3", "11"})

    def test_reports(self):
        """Pairs, states and causes are those that tnfdump prints; its errors are raised."""
        self.run_program("""if 1:
            import tnf
            start = tnf.probe("order_start", keys="order", id=int)
            end = tnf.probe("order_end", keys="order", id=int)
            for i in range(50):
                start(i); end(i)
        """)
        path = os.path.join(self.dir, "recorded.tnf")
        with unittest.mock.patch.dict(os.environ, TNFDUMP=TNFDUMP):
            instance, = tnf.why(path, "order", 7)
            self.assertEqual((instance["pair"], instance["tree"]["to"] - instance["tree"]["from"]),
                             ("order", instance["took"]))
            self.assertEqual(tnf.why([path])[0]["pair"], "order")
            self.assertEqual(tnf.why_slow(path, "order")["seen"], 50)
            with self.assertRaisesRegex(ValueError, "nosuch"):
                tnf.why(path, "nosuch")
            with self.assertRaises(ValueError):
                tnf.why("--help")
            if pandas is None:
                return
            with tnf.open(path) as trace:
                self.assertEqual(repr(trace), f"<tnf.Trace {path}: 2 probes>")
                with self.assertRaisesRegex(KeyError, "no probe is called order_stat: order_start"):
                    trace.to_pandas("order_stat")
                self.assertEqual(len(trace.to_numpy(["order_start"])["time"]), 50)
                pairs, stats, states = trace.pairs(), trace.stats(), trace.states()
        self.assertEqual(len(states), 0)
        self.assertEqual(list(pairs.span), ["order"] * 50)
        self.assertEqual(repr(trace), "<tnf.Trace: closed>")
        self.assertEqual(list(pairs.duration), list(pairs.end - pairs.start))
        self.assertEqual({*pairs["keys"]}, {"order"})
        self.assertTrue(all(pairs.comm.notna()), pairs.comm)
        self.assertLess(abs(pairs.wall.iloc[0].timestamp() - os.stat(path).st_mtime), 100)
        self.assertEqual((stats.loc["order", "count"], stats.loc["order", "total"]), (50, pairs.duration.sum()))
        told = subprocess.run([TNFDUMP, "--stats", path], check=True, stdout=subprocess.PIPE, text=True).stdout
        line = next(words for words in map(str.split, told.splitlines()) if words[-1:] == ["order"])
        self.assertEqual((int(line[0]), float(line[2])), (50, round(pairs.duration.sum() / 1e6, 6)))

    @unittest.skipIf(pandas is None, "pandas is not there")
    def test_wakes(self):
        """Who slept, what for and until when, who ended it, and when it ran again."""
        machine.story = STORY
        with contextlib.ExitStack() as back:
            back.callback(os.chdir, os.getcwd())
            os.chdir(self.dir)
            m = machine.Machine(1, "one", {100: "server", 101: "holder"})
            m.of(0, 101, 0, 100, 0)
            m.switch(1000, 0, 100, 6, 0, 0)
            m.wakeup(9000, 101, 1, 100)
            m.of(9000, 101, 1, 100, 8)
            m.of(9500, 101, 1, 100, 1)
            m.request(9600, 100, "request_start", 1)
            with unittest.mock.patch.dict(os.environ, TNFDUMP=TNFDUMP), tnf.open(m.files()) as trace:
                wake, = trace.wakes().to_dict("records")
        self.assertEqual({**wake, "wall": wake["wall"].value - wake["woken"]},
            dict(start=1000000, woken=9000000, asleep=8000000, delay=500000, pid=100, lwpid=100, comm="server",
                 program=None, cgroup=None, reason="futex", place=None, by="thread", waker_pid=100, waker_lwpid=101,
                 waker_comm="holder", owner_pid=pandas.NA, owner_lwpid=pandas.NA, owner_comm=None,
                 wall=1700000000000000000))

    @unittest.skipIf(pandas is None, "pandas is not there")
    def test_names(self):
        """With names=True numbers are the names that --pretty prints, and digits where there are none."""
        path = os.path.join(self.dir, "names.tnf")
        subprocess.run([STORY, path], check=True, text=True, input="""kernel
kernel-part 0
type tnf_microstate tnf_int32
probe sched.switch sched prev:tnf_int32 flags:tnf_uint64
probe syscall_end syscall errno:tnf_int32
probe thread_state thread state:tnf_microstate
1000 1 1 4097 0 sched.switch 1 5
2000 1 1 4097 0 sched.switch 7 8
3000 1 1 4097 0 syscall_end 2
4000 1 1 4097 0 syscall_end 0
5000 1 1 4097 0 thread_state 7
@values:sched.switch:prev symbolic 0xff 0x1=SLEEPY,0x2=D
@values:sched.switch:flags flags 0xff | 0x1=FAST,0x4=COLD
""")
        with tnf.open(path) as trace:
            frame, plain = trace.to_pandas(names=True), trace.to_pandas()
        for name, want, numbers in (("prev", ["SLEEPY", "7"], [1, 7]), ("flags", ["FAST|COLD", "8"], [5, 8]),
                                    ("errno", ["ENOENT", "0"], [2, 0]), ("state", ["SLEEP"], [7])):
            self.assertEqual((list(frame[name].dropna()), list(plain[name].dropna())), (want, numbers))
        self.assertEqual(trace_names(path), list(frame.prev.dropna())[:1] + list(frame["flags"].dropna())[:1])

    def test_span_processor(self):
        """Spans of OpenTelemetry are records; --to otlp has the ids that the program gave them."""
        events = self.run_program("""if 1:
            import threading, types, tnf.otel
            def span(name, own, above=None, error=None):
                context = types.SimpleNamespace(trace_id=0xabc, span_id=own)
                status = types.SimpleNamespace(description=error,
                    status_code=types.SimpleNamespace(value=2 if error else 1))
                return types.SimpleNamespace(name=name, get_span_context=lambda: context, status=status,
                    parent=above and above.get_span_context())
            p = tnf.otel.SpanProcessor()
            order = span("order", 1)
            bake = span("bake", 2, order, error="burnt")
            p.on_start(order); p.on_start(bake)
            t = threading.Thread(target=p.on_end, args=(order,)); t.start(); t.join()
            p.on_end(bake)
            assert p.force_flush()
            p.shutdown()
        """, enable="otel")
        self.assertEqual([e.probe.name for e in events], ["span_start"] * 2 + ["span_end"] * 2)
        out = subprocess.run([TNFDUMP, "--to", "otlp", os.path.join(self.dir, "recorded.tnf")], check=True,
                             stdout=subprocess.PIPE).stdout.decode()
        spans = {s["name"]: s for line in out.splitlines() for r in json.loads(line)["resourceSpans"]
                 for c in r["scopeSpans"] for s in c["spans"]}
        self.assertEqual({n: (s["traceId"], s["spanId"], s.get("parentSpanId"), s.get("status")) for n, s in spans.items()},
                         {"order": (f"{0xabc:032x}", f"{1:016x}", None, None),
                          "bake": (f"{0xabc:032x}", f"{2:016x}", f"{1:016x}", {"message": "burnt", "code": 2})})

    def test_same(self):
        """The same words make the same probe; threads and children have it, too."""
        events = self.run_program("""if 1:
            import os, threading, tnf
            def make(): return tnf.probe("p", keys="order", n=int)
            make()(0)
            threads = [threading.Thread(target=lambda: make()(1)) for i in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
            if os.fork() == 0:
                make()(2)
                os._exit(0)
            assert os.wait()[1] == 0
        """)
        self.assertEqual(sorted(e["n"] for e in events), [0] + [1] * 8 + [2])
        self.assertEqual(len(self.probes), 1)
        self.assertEqual(len({e.lwpid for e in events}), 10)

    def test_refused(self):
        """Names that cannot be are errors at once."""
        self.run_program("""if 1:
            import tnf
            for bad in [dict(name="a b"), dict(name=""), dict(name="a;b"), dict(keys="a;b"),
                        dict(detail="\\n"), dict(args={"x y": int}), dict(args={"x": "what"}),
                        dict(args={"x": dict}), dict(args={f"a{i}": int for i in range(17)}),
                        dict(args={"x": []})]:
                try:
                    tnf.probe(bad.pop("name", "p"), **bad)
                except ValueError:
                    continue
                raise SystemExit(f"taken: {bad}")
            tnf.probe("gr\\u00fc\\u00dfe<script>", args={"<b>": int})(1)
        """)

    def test_no_library(self):
        """A program runs where there is no libtnfprobe."""
        events = self.run_program("""if 1:
            import tnf
            p = tnf.probe("p", keys="order", n=int)
            p(1)
            print(p.available, bool(p))
        """, library=False)
        self.assertEqual(events, [])
        if "True" not in self.said:  # an installed one was found
            self.assertIn("RuntimeWarning: libtnfprobe.so.1", self.said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
