"""kdump.py - raw memory as a compressed dump, or any file flattened.

    kdump.py zlib|snappy|zstd|none|large RAW DUMP [PAGES LEFT OUT: N means every Nth]
    kdump.py flat FILE DUMP
    kdump.py spoil FILE DUMP SEED

The layout is makedumpfile's (its documentation, IMPLEMENTATION): a header and a
sub-header of a block each, two bitmaps, a descriptor for each page, the pages.  "large" is
zlib with pages of 64 KiB of a kernel that has smaller ones, as QEMU writes it of arm64.
"""
import random
import re
import struct
import sys
import zlib

PAGE, MACHINE = 4096, b"x86_64"
INFO = (b"OSRELEASE=6.1.0-test-amd64\nPAGESIZE=4096\nSYMBOL(_stext)=ffffffff91000000\n"
        b"CRASHTIME=1700000000\n")


def pieces(page):
    """The page as runs of one byte and what is between them."""
    at = 0
    for run in re.finditer(rb"(.)\1{15,}", page, re.S):
        if run.start() > at:
            yield False, page[at:run.start()]
        yield True, run.group()
        at = run.end()
    if at < len(page):
        yield False, page[at:]


def snappy(page):
    out = b"\x80\x20"				# 4096 bytes
    for run, data in pieces(page):
        text = data[:1] if run else data
        out += struct.pack("<BH", 61 << 2, len(text) - 1) + text
        for n in range(len(data) - len(text), 0, -64):
            out += struct.pack("<BH", min(n, 64) - 1 << 2 | 2, 1)
    return out


def zstd(page):
    out = struct.pack("<IBH", 0xfd2fb528, 0x60, PAGE - 256)
    parts = list(pieces(page))
    for i, (run, data) in enumerate(parts):
        head = len(data) << 3 | run << 1 | (i + 1 == len(parts))
        out += struct.pack("<I", head)[:3] + (data[:1] if run else data)
    return out


# By name: makedumpfile's flag, and the function.
COMPRESSED = {"zlib": (1, zlib.compress), "snappy": (4, snappy), "zstd": (32, zstd)}


def padded(data, size):
    return data + b"\0" * (size - len(data))


def bitmap(pages):
    bits = bytearray((len(pages) + 7) // 8)
    for i, page in enumerate(pages):
        if page is not None:
            bits[i // 8] |= 1 << i % 8
    blocks = -(-len(bits) // PAGE)
    return padded(bytes(bits), blocks * PAGE)


def header(pages, blocks):
    uts = b"".join(padded(s, 65) for s in (
        b"Linux", b"crashed-host", b"6.1.0-test-amd64", b"#1", MACHINE, b"(none)"))
    h = b"KDUMP   " + struct.pack("<i", 6) + uts
    h = padded(h, -(-len(h) // 8) * 8)
    h += struct.pack("<qqIiiIIIIIii", 1700000000, 0, 1, PAGE, 1, 2 * blocks,
                     len(pages), 0, 0, 0, 0, 1)
    info, note = (PAGE + 512, len(INFO)), (0, 0)
    text = INFO
    if MACHINE == b"Unknown":			# in an ELF note instead
        text = struct.pack("<III12s", 11, len(INFO), 0, b"VMCOREINFO") + INFO
        info, note = (0, 0), (PAGE + 512, len(text) + 3 & ~3)
    sub = struct.pack("<qiiQQqQqQqQQQQ", 0, 31, 0, 0, 0, *info, *note, 0, 0, 0, 0, len(pages))
    return padded(h, PAGE) + padded(padded(sub, 512) + text, PAGE)


def dump(raw, how, every):
    flag, compress = COMPRESSED.get(how, (0, None))
    pages = [raw[i:i + PAGE] for i in range(0, len(raw), PAGE)]
    if every:
        pages = [None if i % every == every - 1 else p for i, p in enumerate(pages)]
    bits = bitmap(pages)
    out = header(pages, len(bits) // PAGE) + bits + bits
    there = [p for p in pages if p is not None]
    at = len(out) + 24 * len(there)
    table, data = [], []
    for page in there:
        small = compress(page) if compress else page
        flags = flag if len(small) < PAGE else 0
        if not flags:
            small = page
        table.append(struct.pack("<qIIQ", at, len(small), flags, 0))
        data.append(small)
        at += len(small)
    return out + b"".join(table) + b"".join(data)


def flat(data):
    """Pieces of odd sizes, the last first."""
    size = 100003
    out = padded(padded(b"makedumpfile", 16) + struct.pack(">qq", 1, 1), PAGE)
    for at in reversed(range(0, len(data), size)):
        piece = data[at:at + size]
        out += struct.pack(">qq", at, len(piece)) + piece
    return out + struct.pack(">qq", -1, -1)


def spoil(data, seed):
    """Bytes behind the first pages, which say what it is, at random."""
    data, numbers = bytearray(data), random.Random(seed)
    for _ in range(len(data) // 4000):
        data[numbers.randrange(2 * PAGE, len(data))] = numbers.randrange(256)
    return data


def main():
    global PAGE, MACHINE
    how, source, target = sys.argv[1:4]
    with open(source, "rb") as f:
        data = f.read()
    if how == "large":
        how, PAGE, MACHINE = "zlib", 65536, b"Unknown"
        data += bytes(-len(data) % PAGE)
    with open(target, "wb") as f:
        f.write(flat(data) if how == "flat" else
                spoil(data, int(sys.argv[4])) if how == "spoil" else
                dump(data, how, int(sys.argv[4]) if len(sys.argv) > 4 else 0))


main()
