"""printk.py - pages of a kernel that has printed, behind raw memory.

    printk.py RAW IMAGE LINES [DAMAGED [x86_64|arm64]]

RAW and these pages become IMAGE: VMCOREINFO's lines, page tables of x86-64 (arm64: none,
but what its addresses are away from physical ones), the kernel's ring of messages after
many more than it holds.  LINES gets what dmesg would still show.
IMAGE.1 to IMAGE.DAMAGED are the same, with two bytes of these pages changed.  IMAGE.core
is an ELF core with the same memory, and before it parts of these pages that end within.

The ring is filled as the kernel does it (its documentation, printk_ringbuffer.h): numbers
and positions begin right before they wrap.
"""
import random
import struct
import sys

PAGE = 4096
COUNT_BITS, TEXT_BITS = 5, 12
COUNT, RING = 1 << COUNT_BITS, 1 << TEXT_BITS
NUMBERS, WORD = (1 << 62) - 1, (1 << 64) - 1
MAP, KERNEL, DIRECT = 0xffffffff80000000, 0xffffffff91000000, 0xffff888000000000
COMMITTED, FINALIZED, REUSABLE = 1, 2, 3
NO_TEXT = 3

INFO, ROOT, UPPER, MIDDLE, LOWER, DIRECT_UPPER, DATA, RECORDS, TEXT_B, TEXT_A, PAGES = range(11)
ARM_KERNEL, ARM_DIRECT, ARM_DISTANCE = 0xffff800080010000, 0xffff000000000000, 0x60000000
DESC, INFO_SIZE, INFOS = 24, 56, 800

PLACES = """\
OFFSET(printk_ringbuffer.desc_ring)=8
OFFSET(printk_ringbuffer.text_data_ring)=64
OFFSET(prb_desc_ring.count_bits)=0
OFFSET(prb_desc_ring.descs)=8
OFFSET(prb_desc_ring.infos)=16
OFFSET(prb_desc_ring.head_id)=24
OFFSET(prb_desc_ring.tail_id)=32
OFFSET(atomic_long_t.counter)=0
SIZE(prb_desc)=24
OFFSET(prb_desc.state_var)=0
OFFSET(prb_desc.text_blk_lpos)=8
OFFSET(prb_data_blk_lpos.begin)=0
OFFSET(prb_data_blk_lpos.next)=8
SIZE(printk_info)=56
OFFSET(printk_info.ts_nsec)=8
OFFSET(printk_info.text_len)=16
OFFSET(prb_data_ring.size_bits)=0
OFFSET(prb_data_ring.data)=8
"""


class Ring:
    def __init__(self):
        self.records, self.texts = bytearray(PAGE), bytearray(RING)
        self.first = self.next = -COUNT - 1 & NUMBERS
        self.begin, self.oldest = -RING & WORD, []

    def desc(self, number, state, begin, end):
        at = number % COUNT * DESC
        struct.pack_into("<QQQ", self.records, at, state << 62 | number, begin, end)

    def drop(self):
        number, begin, end, _ = self.oldest.pop(0)
        self.desc(number, REUSABLE, begin, end)
        self.first = number + 1 & NUMBERS

    def place(self, size):
        """Positions of a block; what is in the way goes."""
        begin = self.begin
        end = begin + size & WORD
        if begin >> TEXT_BITS != end >> TEXT_BITS:
            end = (end >> TEXT_BITS << TEXT_BITS) + size & WORD
        while any(b != NO_TEXT and end - b & WORD > RING for _, b, _, _ in self.oldest):
            self.drop()
        self.begin = end
        return begin, end

    def put(self, time, text, state):
        number, self.next = self.next, self.next + 1 & NUMBERS
        if len(self.oldest) == COUNT:
            self.drop()
        begin = end = NO_TEXT
        if text:
            begin, end = self.place(8 + len(text) + 7 & ~7)
            at = begin % RING if begin >> TEXT_BITS == end - 1 >> TEXT_BITS else 0
            struct.pack_into("<Q", self.texts, at, number)
            self.texts[at + 8:at + 8 + len(text)] = text
        struct.pack_into("<8xQH", self.records, INFOS + number % COUNT * INFO_SIZE, time, len(text))
        self.desc(number, state, begin, end)
        lines = [b"[%5d.%06d] %s\n" % (time // 10**9, time % 10**9 // 1000, line)
                 for line in text.split(b"\n") if text] if state else []
        self.oldest.append((number, begin, end, lines))


def filled():
    ring, chance = Ring(), random.Random(1)
    for i in range(400):
        text = b"message %d " % i + b"x" * chance.randrange(0, 240)
        if i % 17 == 0:
            text = b""
        if i % 23 == 0:
            text += b"\nsecond line of %d" % i
        ring.put(i * 1234567891, text, COMMITTED if i == 399 else FINALIZED)
    ring.put(400 * 1234567891, b"is being written", 0)
    return ring


def tables(page, at):
    """Page tables of x86-64; returns VMCOREINFO's lines."""
    def entry(table, index, target, flags=1):
        struct.pack_into("<Q", page[table], index * 8, target | flags | 0x62)

    root = MAP + 0x11800000
    entry(ROOT, 511, at[UPPER])
    entry(UPPER, 510, at[MIDDLE])
    entry(MIDDLE, (KERNEL >> 21) % 512, at[LOWER])
    entry(LOWER, 0, at[DATA])
    entry(LOWER, 1, at[TEXT_A])
    entry(LOWER, 2, at[TEXT_B])
    entry(ROOT, (DIRECT >> 39) % 512, at[DIRECT_UPPER])
    entry(DIRECT_UPPER, 0, 0, 0x81)
    return ("SYMBOL(init_top_pgt)=%x\nNUMBER(phys_base)=%d\nNUMBER(pgtable_l5_enabled)=0\n"
            % (root, at[ROOT] - (root - MAP)))


def distances(at):
    """Of arm64, whose first memory may be below 0."""
    return ("NUMBER(VA_BITS)=48\nNUMBER(kimage_voffset)=%#x\nNUMBER(PHYS_OFFSET)=%#x\n"
            % (ARM_KERNEL - at[DATA], -ARM_DISTANCE & WORD))


def pages(first, machine):
    """The pages, which begin at this physical address."""
    page = [bytearray(PAGE) for _ in range(PAGES)]
    at = [first + i * PAGE for i in range(PAGES)]
    # Half of the texts is in each of two pages.
    if machine == "arm64":
        kernel, direct, (one, two) = ARM_KERNEL, ARM_DIRECT + ARM_DISTANCE, (TEXT_B, TEXT_A)
        texts = kernel + (TEXT_B - DATA) * PAGE + 0x800
        where = distances(at)
    else:
        kernel, direct, (one, two) = KERNEL, DIRECT, (TEXT_A, TEXT_B)
        texts = kernel + PAGE + 0x800
        where = tables(page, at)
    info = ("OSRELEASE=6.1.0-test\nPAGESIZE=4096\nSYMBOL(_stext)=%x\nSYMBOL(prb)=%x\n"
            % (kernel, kernel + 0x10) + where + PLACES).encode()
    page[INFO][:len(info)] = info

    ring = filled()
    records = direct + at[RECORDS]
    struct.pack_into("<Q", page[DATA], 0x10, kernel + 0x100)
    struct.pack_into("<IxxxxQQQQ", page[DATA], 0x108, COUNT_BITS, records, records + INFOS,
                     ring.next - 1 & NUMBERS, ring.first)
    struct.pack_into("<IxxxxQ", page[DATA], 0x140, TEXT_BITS, texts)
    page[RECORDS][:] = ring.records[:PAGE]
    page[one][0x800:] = ring.texts[:0x800]
    page[two][:0x800] = ring.texts[0x800:]
    return b"".join(page), b"".join(line for r in ring.oldest for line in r[3])


def core(image, first, machine):
    """ELF: the latter pages cut at 3 KiB, all of the memory, then its first page again."""
    parts = [(at, 3076) for at in range(first, len(image), PAGE)]
    parts += [(0, len(image)), (0, PAGE)]
    begin = 64 + 56 * len(parts) + PAGE - 1 & -PAGE
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4,
                       183 if machine == "arm64" else 62, 1, 0, 64, 0, 0, 64, 56,
                       len(parts), 0, 0, 0)
    for at, size in parts:
        head += struct.pack("<IIQQQQQQ", 1, 0, begin + at, 0, at, size, size, 0)
    return head.ljust(begin, b"\0") + image


def main():
    raw, image, lines = sys.argv[1:4]
    with open(raw, "rb") as f:
        data = f.read()
    data += bytes(-len(data) % PAGE)
    machine = sys.argv[5] if len(sys.argv) > 5 else "x86_64"
    more, printed = pages(len(data), machine)
    with open(image, "wb") as f:
        f.write(data + more)
    with open(image + ".core", "wb") as f:
        f.write(core(data + more, len(data), machine))
    # Most of these bytes are nothing: changed are those that are something.
    chance, used = random.Random(2), [i for i, b in enumerate(more) if b]
    for n in range(int(sys.argv[4]) if len(sys.argv) > 4 else 0):
        bad = bytearray(more)
        for _ in range(2):
            bad[chance.choice(used)] = chance.randrange(256)
        with open("%s.%d" % (image, n + 1), "wb") as f:
            f.write(data + bad)
    with open(lines, "wb") as f:
        f.write(printed)


main()
