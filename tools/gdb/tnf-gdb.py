# tnf-gdb.py - the trace of a stopped program or of a core, in gdb.
#
# gdb loads this file with libtnfprobe.so.1 (its auto-load directory); in a program that is linked
# statically: source PREFIX/share/tnf/tnf-gdb.py.  tnfdump(1), "Debuggers and cores", has the commands.
import os
import re
import subprocess
import tempfile

import gdb

MAGIC = (b"TNF\0", b"\0FNT")	# the first bytes of a trace, by byte order
PIECE = 1 << 20
COLUMNS = "elapsed,lwpid,cpu,comm,probe,args"


def mappings():
    """(start, end) of each file of which the program has mapped the beginning."""
    for line in gdb.execute("info proc mappings", to_string=True).splitlines():
        found = re.match(r"\s*(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+0x[0-9a-f]+\s+0x0\s+(?:[-rwxsp]{4}\s+)?(\S.*)$", line)
        if found and not found[3].startswith("["):
            yield int(found[1], 16), int(found[2], 16)


def trace():
    """A file that is gone when it is closed, with what the program has recorded."""
    inferior = gdb.selected_inferior()
    if not inferior.threads():
        raise gdb.GdbError("tnf: no program: start or attach to one, or read its core")
    for start, end in mappings():
        try:
            head = inferior.read_memory(start, 4).tobytes()
        except gdb.MemoryError:
            continue
        if head not in MAGIC:
            continue
        out = tempfile.NamedTemporaryFile(prefix="tnf-gdb.")
        for at in range(start, end, PIECE):
            out.write(inferior.read_memory(at, min(PIECE, end - at)).tobytes())
        out.flush()
        return out
    raise gdb.GdbError("tnf: the program has no trace file mapped: was it recorded?  "
                       "Of a core the file must still be there (core(5): coredump_filter)")


def tnfdump(file, *options):
    try:
        done = subprocess.run(["tnfdump", *options, file.name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, text=True, errors="replace")
    except OSError as e:
        raise gdb.GdbError("tnf: tnfdump cannot be run: %s" % e.strerror)
    said = "\n".join(line.replace(file.name, "the program's trace") for line in done.stderr.splitlines())
    if said:
        gdb.write(said + "\n", gdb.STDERR)
    return done.stdout


class Tnf(gdb.Command):
    """Events that the program has recorded with TNF."""

    def __init__(self):
        super().__init__("tnf", gdb.COMMAND_DATA, prefix=True)


class Last(gdb.Command):
    """tnf last [N] [thread]: the last N events (by default 10) of the program, or of the selected thread."""

    def __init__(self):
        super().__init__("tnf last", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        mine = "thread" in words
        numbers = [word for word in words if word != "thread"] or ["10"]
        if len(numbers) > 1 or not numbers[0].isdigit():
            raise gdb.GdbError("tnf last: wanted: [N] [thread]")
        options = []
        if mine:
            options = ["--tid", str(gdb.selected_thread().ptid[1])]
        with trace() as file:
            lines = tnfdump(file, "--no-header", "--columns", COLUMNS, "--reverse", *options).splitlines()
        gdb.write("".join(line + "\n" for line in reversed(lines[:int(numbers[0])])))


class Dump(gdb.Command):
    """tnf dump [OPTION...]: what tnfdump prints of the program's trace, such as tnf dump --stats."""

    def __init__(self):
        super().__init__("tnf dump", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        with trace() as file:
            gdb.write(tnfdump(file, *gdb.string_to_argv(argument)))


Tnf()
Last()
Dump()
