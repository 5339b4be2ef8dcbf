#!/usr/bin/env python3
"""Traces that zstd has compressed are read as they are: in one frame or in several;
cut short or damaged, with what came before; and not if they would fill the machine.
Parts of one writer's trace print each event once.  A page of a moment does not take the memory
of an hour.

Usage: zstd.py TNFDUMP STORY
"""
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

tnfdump, story = map(os.path.realpath, sys.argv[1:])
EXT, BLOCK = 64, 4096
if shutil.which("zstd") is None:
    print("SKIP: no zstd")
    sys.exit(77)


def fail(*what):
    sys.exit("FAIL: " + " ".join(map(str, what)))


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


def dump(*paths):
    r = subprocess.run([tnfdump, "--no-header", *paths], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    return r.stdout.splitlines(), r.stderr, r.returncode


def save(name, data):
    with open(name, "wb") as f:
        f.write(data)
    return name


def make(name, lines):
    subprocess.run([story, name], input="\n".join(lines), check=True, text=True)
    with open(name, "rb") as f:
        return bytearray(f.read())


def whole(plain, data):
    want = dump("plain.tnf")
    packed = zstd(data)
    for name, bytes_ in {
            "one.tnf.zst": packed,
            "checksum.tnf.zst": zstd(data, "--check", "-19"),
            "without-size.tnf.zst": zstd(data, "--no-content-size"),
            # Frames of any size, one behind another, with a note between them.
            "frames.tnf.zst": b"".join(zstd(bytes(data[i:i + 10007]))
                                       for i in range(0, len(data), 10007)),
            "skipped.tnf.zst": struct.pack("<II", 0x184D2A53, 5) + b"hello" + packed,
    }.items():
        if dump(save(name, bytes_)) != want:
            fail(name, "is not read as the file that it was")
    with open("one.tnf.zst", "rb") as f:
        piped = subprocess.run([tnfdump, "--no-header", "-"], stdin=f, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines()
    if piped != want[0]:
        fail("a compressed trace through standard input")


def cut(data):
    """Cut anywhere: a beginning of the events, and a word about it."""
    def numbers(lines):
        return [line.split()[-1] for line in lines]     # columns of times depend on the rest
    want = set(numbers(dump("plain.tnf")[0]))
    packed = b"".join(zstd(bytes(data[i:i + BLOCK])) for i in range(0, len(data), BLOCK))
    random.seed(14)
    most = 0
    for n in sorted(random.sample(range(5, len(packed) - 1), 10)):
        lines, said, status = dump(save("cut.tnf.zst", packed[:n]))
        if "bad TNF file" in said or "not a TNF file" in said:
            if n > len(packed) // 2:
                fail("cut at", n, "of", len(packed), "is refused:", said)
            continue
        # The events that a frame still had must be there, in order.
        if not set(numbers(lines)) <= want or status == 0:
            fail("cut at", n, ": other events, or no word:", said, lines[:3])
        if "the compressed data ends early" not in said:
            fail("cut at", n, "says", said)
        most = max(most, len(lines))
    if most < len(want) // 2:
        fail("at most", most, "of", len(want), "events of cut files")
    broken = bytearray(packed)
    broken[len(broken) * 3 // 4] ^= 0xff
    lines, said, status = dump(save("broken.tnf.zst", broken))
    if "compressed" not in said and "block" not in said or status == 0:
        fail("a damaged frame says", said)


def bombs(data):
    head = bytes(data[:BLOCK])
    for name, bomb, says in (
            ("zeros", b"".join([zstd(bytes(64 << 20))] * 66), "too large when it is unpacked"),
            ("ones", b"".join([zstd(b"\1" * (16 << 20))] * 20), "too large when it is unpacked"),
            ("trace", zstd(head) + b"".join([zstd(b"\1" * (16 << 20))] * 20),
             "too large when it is unpacked"),
            ("text", zstd(b"hello, world"), "not a TNF file"),
            ("half", zstd(os.urandom(300000))[:200000], "not a TNF file"),
            ("nothing", zstd(b""), "not a TNF file"),
            ("garbage", b"\x28\xb5\x2f\xfd" + os.urandom(1000), "not a TNF file")):
        lines, said, status = dump(save(name + ".zst", bomb))
        if lines or status == 0 or says not in said:
            fail(name, "says", said, status)


def parts():
    """Two parts overlap: what is in both is printed once, what is in one is there."""
    lines = ["blocks 24", "process 100", "boot 7", "probe bake io n:tnf_int32"]
    for i in range(3000):
        # Some events of one thread share their time.
        lines.append(f"{1000 + i // 3} 100 {100 + i % 2} {1 + i % 2} 0 bake {i}")
    data = make("all.tnf", lines)
    struct.pack_into("<q", data, EXT + 40, 4711)         # start_mono: a writer is known by it
    if struct.unpack_from("<i", data, EXT + 36)[0] != 100:
        fail("the extension is laid out otherwise")
    save("all.tnf", data)
    want = dump("all.tnf")[0]
    # The last blocks that are not empty hold events.
    blocks = [b for b in range(len(data) // BLOCK) if any(data[b * BLOCK:(b + 1) * BLOCK])][-10:]
    if len(want) != 3000 or len(blocks) < 10:
        fail(len(want), "events in", len(blocks), "blocks")
    first, second = bytearray(data), bytearray(data)
    for b in blocks[-4:]:
        first[b * BLOCK:(b + 1) * BLOCK] = bytes(BLOCK)
    for b in blocks[:4]:
        second[b * BLOCK:(b + 1) * BLOCK] = bytes(BLOCK)
    save("a.tnf", first)
    save("b.tnf.zst", zstd(second))
    if len(dump("a.tnf")[0]) >= 3000 or len(dump("b.tnf.zst")[0]) >= 3000:
        fail("a part is the whole")
    for files in ("a.tnf", "b.tnf.zst"), ("b.tnf.zst", "a.tnf"), ("a.tnf", "b.tnf.zst", "all.tnf"):
        got = dump(*files)[0]
        if sorted(map(int, (line.split()[-1] for line in got))) != list(range(3000)):
            fail(*files, "print", len(got), "events, not 3000")
    struct.pack_into("<q", second, EXT + 40, 4712)       # another writer's
    save("c.tnf", second)
    if len(dump("a.tnf", "c.tnf")[0]) != len(dump("a.tnf")[0]) + len(dump("c.tnf")[0]):
        fail("files of two writers are taken for one's")


def page_within(limit, *args):
    """The page, of a tnfdump that may ask for so much memory; None: that is not enough."""
    r = subprocess.run([tnfdump, "--to", "html", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    return r.stdout if r.returncode == 0 else None


def times():
    """Files with nothing of the time that is asked for stay in memory no longer than a look."""
    names = []
    for second in range(1, 21):
        trace = make("time.tnf", ["blocks 900", "process 100", "boot 7", "probe bake io n:tnf_int32"] +
                     [f"{second * 10**9 + i} 100 {100 + i % 2} {1 + i % 2} 0 bake {i}"
                      for i in range(160000)])
        names.append(save(f"s{second}.tnf.zst", zstd(trace)))
    span = ["--from=@9000159000", "--until=@9000160000"]
    page = page_within(resource.RLIM_INFINITY, *span, names[8])
    # The sanitizers ask for far more.
    limit = resource.RLIM_INFINITY if "ASAN_OPTIONS" in os.environ else 28 << 20
    same = page_within(limit, *span, *names)
    if same is None or abs(len(page) - len(same)) > 500:
        fail("a page of two events does not fit into", limit, "bytes")


with tempfile.TemporaryDirectory() as where:
    os.chdir(where)
    trace = make("plain.tnf", ["blocks 24", "process 100", "boot 7", "probe bake io n:tnf_int32"] +
                 [f"{1000 + i} 100 {100 + i % 2} {1 + i % 2} 0 bake {i}" for i in range(3000)])
    if subprocess.run([tnfdump, save("try.zst", zstd(trace))], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE).returncode != 0:
        fail("a compressed trace is not read")
    whole("plain.tnf", trace)
    cut(trace)
    bombs(trace)
    times()
    parts()
