"""steps.py - the records of files, gone over as the original reader does: from one to the
next by the size that the record or its type tells, which is not rounded.

usage: steps.py FILE [TYPE:RECORDS]...     each type has at least so many records
"""
import collections
import struct
import sys

ROOT, STRUCTS = "tnf_struct_type", ("tnf_struct_type", "tnf_probe_type")


class File:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.size, self.directory, self.blocks = struct.unpack_from("=III", self.bytes, 24)
        self.shift = self.u32(16)
        self.known = {}

    def u32(self, at):
        return struct.unpack_from("=I", self.bytes, at)[0]

    def follow(self, at):
        """Where the reference at 'at' leads, by way of forwarding words."""
        while True:
            word = self.u32(at)
            to = word & 0x7ffffffc if word >> 31 else (at + (word & 0x7ffffffc)) % (1 << self.shift)
            if self.u32(to) == 0 or self.u32(to) & 3 != 0:
                return to
            at = to

    def type_of(self, at):
        """Name and size of the records whose tag is at 'at'; the size is None for arrays."""
        word = self.u32(at)
        if word & 3 == 1:
            half = word >> 16
            assert half & 3 in (0, 1), f"{at:#x}: tag of an event"
            half = half & ~3 if half & 3 == 1 else at + (half ^ 0x8000) - 0x8000
            to = self.follow(half)
        else:
            to = self.follow(at)
        if to not in self.known:
            name = self.text(self.follow(to + 4))
            meta = self.text(self.follow(self.follow(to) + 4))
            self.known[to] = name, self.u32(to + 16) if meta in STRUCTS else None
        return self.known[to]

    def text(self, at):
        return self.bytes[at + 8:at + self.u32(at + 4)].split(b"\0")[0].decode(errors="replace")

    def steps(self, block, seen):
        used = struct.unpack_from("=H", self.bytes, block + 8)[0]
        at, end = block, block + used
        while at < end:
            kind = self.u32(at) & 3
            if kind == 0:
                at += 4
                continue
            assert kind != 3, f"{at:#x}: no record where one should be"
            name, size = self.type_of(at)
            if size is None:
                size = self.u32(at + 4)
            assert size >= 4 and size % 4 == 0, f"{at:#x}: {name} of {size} bytes"
            seen[name] += 1
            at += size
        assert at == end, f"{block:#x}: a step beyond the end of what is used"

    def all(self):
        seen = collections.Counter()
        for n in range(self.directory // self.size, self.blocks):
            block = n * self.size
            if self.u32(block) != 0 and self.u32(block + 4) != 0:
                self.steps(block, seen)
        return seen


def main():
    seen = File(sys.argv[1]).all()
    for word in sys.argv[2:]:
        name, least = word.split(":")
        assert seen[name] >= int(least), f"{name}: {seen[name]} records, not {least}"
    print(f"ok: {sum(seen.values())} records by their sizes")


main()
