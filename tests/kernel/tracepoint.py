"""tracepoint.py OURS RAW EVENTS LOST PID...: is what we recorded what the kernel's own
trace has?

OURS is what tnfdump --to jsonl made of our trace; RAW a directory with the pages of
the kernel's ring, one file a CPU; EVENTS the directory of the formats.  Events of the
processes are compared, thread by thread and probe by probe, in their order, each
member by its declaration.  For an event that comes while a program runs on its CPU the
kernel only counts that it did: LOST may be missing, but none of the probes in $RAW.  Before 6.7 it does not count them:
there 3 % may be missing of events that an interrupt did, by the flags of the kernel's own record, and none
that the thread did itself.  The kernel's ring leaves
out a few of a thread that begins or ends (1 % at most, here).
"""
import collections
import difflib
import json
import os
import re
import struct
import sys

PAGE = 4096
IN_INTERRUPT = 0x08 | 0x10 | 0x40    # flags of a record: an interrupt, a softirq, an NMI
FIELD = re.compile(r'\tfield:(.*?);\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d);')
SIZES = {'char': 1, 'u8': 1, '__u8': 1, 'u16': 2, '__u16': 2, 'short': 2, 'u32': 4, '__u32': 4,
         'int': 4, 'unsigned int': 4, 'u64': 8, '__u64': 8, 'long': 8, 'unsigned long': 8}


class Format:
    def __init__(self, path):
        with open(path) as f:
            text = f.read()
        self.id = int(re.search(r'^ID: (\d+)', text, re.M).group(1))
        self.fields = []
        for decl, offset, size, signed in FIELD.findall(text):
            if int(offset) < 8:
                continue
            m = re.match(r'(.*?)\s*(\w+)(?:\[(.*?)\])?$', decl.strip())
            self.fields.append((m.group(1), m.group(2), m.group(3), int(offset),
                                int(size), signed == '1'))


def integers(data, size, signed):
    return [int.from_bytes(data[i:i + size], 'little', signed=signed)
            for i in range(0, len(data) - size + 1, size)]


def text_of(data):
    return data.split(b'\0')[0][:255]


def element(decl):
    words = [w for w in decl.replace('__data_loc', '').replace('[]', '').split() if w != 'const']
    return SIZES.get(' '.join(words), SIZES.get(words[-1] if words else '', 1))


def value(record, field):
    decl, _, count, offset, size, signed = field
    data = record[offset:offset + size]
    is_char = 'char' in decl.split() + decl.replace('[', ' ').split() and 'unsigned' not in decl \
        and '*' not in decl
    if '__data_loc' in decl:
        where = struct.unpack('<I', data)[0]
        data = record[where & 0xffff:(where & 0xffff) + (where >> 16)]
        if is_char:
            return text_of(data)
        n = element(decl)
        return integers(data[:256], n, signed)
    if count is not None:
        if is_char:
            return text_of(data)
        n = size // int(count) if count.isdigit() and int(count) else 1
        return integers(data[:256], n, signed)
    if size in (1, 2, 4, 8):
        return int.from_bytes(data, 'little', signed=signed)
    return integers(data, 1, False)


def events_of_page(page):
    commit = struct.unpack_from('<Q', page, 8)[0] & 0xfffff
    at, end = 16, 16 + commit
    while at + 4 <= end:
        head = struct.unpack_from('<I', page, at)[0]
        kind = head & 31
        if kind == 29:
            if head >> 5 == 0:
                return
            at += 4 + struct.unpack_from('<I', page, at + 4)[0]
            continue
        if kind in (30, 31):
            at += 8
            continue
        if kind == 0:
            size = struct.unpack_from('<I', page, at + 4)[0]
            yield page[at + 8:at + 4 + size]
            at += 4 + ((size + 3) & ~3)
        else:
            yield page[at + 4:at + 4 + kind * 4]
            at += 4 + kind * 4


def theirs(directory, formats, pids):
    """The events, and which of them came in an interrupt."""
    found = collections.defaultdict(list)
    interrupts = collections.defaultdict(list)
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), 'rb') as f:
            pages = f.read()
        for i in range(0, len(pages), PAGE):
            for record in events_of_page(pages[i:i + PAGE]):
                probe = formats.get(struct.unpack_from('<H', record, 0)[0])
                pid = struct.unpack_from('<i', record, 4)[0]
                if probe is None or pid not in pids:
                    continue
                fields = probe[1].fields
                found[pid, probe[0]].append({f[1]: value(record, f) for f in fields})
                interrupts[pid, probe[0]].append(record[2] & IN_INTERRUPT != 0)
    return found, interrupts


def plain(v):
    """As our output has it: bytes that are no text, addresses."""
    if isinstance(v, dict):
        return bytes.fromhex(v['$bytes'])
    if isinstance(v, str):
        return int(v, 16) if re.fullmatch('0x[0-9a-f]+', v) else v.encode()
    return v


def canonical(v):
    """The same for both: a text that was cut, one that looks like an address."""
    if isinstance(v, list):
        return tuple(v)
    if isinstance(v, bytes):
        if re.fullmatch(b'0x[0-9a-f]+', v):
            return int(v, 16)
        return v[:252] if len(v) == 255 else v
    return v


def keys(events):
    return [tuple(sorted((k, canonical(v)) for k, v in e.items())) for e in events]


def main(ours, raw, directory, lost, pids):
    pids = set(pids)
    mine = collections.defaultdict(list)
    probes = set()
    with open(ours) as f:
        for line in f:
            e = json.loads(line)
            if 'probe' in e and 'time' in e:
                probes.add(e['probe'])
                if e['lwpid'] in pids:
                    mine[e['lwpid'], e['probe']].append(
                        {k: plain(v) for k, v in e['args'].items()})
    formats = {}
    for system in os.listdir(directory):
        top = os.path.join(directory, system)
        for event in os.listdir(top) if os.path.isdir(top) else []:
            name = system + '.' + event
            if name in probes:
                f = Format(os.path.join(top, event, 'format'))
                formats[f.id] = (name, f)
    members = events = missing = extra = of_raw = 0
    raw_probes = os.environ.get('RAW', '').split()
    lost = int(lost)
    counted = tuple(map(int, os.uname().release.split('.')[:2])) >= (6, 7)
    excused = 0
    other, interrupts = theirs(raw, formats, pids)
    kinds = set()
    for key in sorted(set(mine) | set(other)):
        a, b = mine[key], other[key]
        kinds.add(key[1])
        match = difflib.SequenceMatcher(None, keys(a), keys(b), autojunk=False)
        equal = sum(block.size for block in match.get_matching_blocks())
        if equal < len(a):
            x = [e for e in a if e not in b][:1]
            print('# %d %s: %d of %d only here: %s' % (*key, len(a) - equal, len(a), x))
        at = sorted(set(range(len(b))) - {block.b + i for block in match.get_matching_blocks()
                                          for i in range(block.size)})
        if at:
            print('# %d %s: %d of %d missing: %s: %s' % (*key, len(at), len(b), at[:8], b[at[0]]))
        of_raw += len(at) if key[1] in raw_probes else 0
        events += equal
        members += equal * len(a[0] if a else ())
        hidden = 0 if counted else sum(interrupts[key][i] for i in at)
        excused += hidden
        missing += len(at) - hidden
        extra += len(a) - equal
    print('# %d probes, %d events, %d members equal, %d missing, %d known to be, %d only here'
          % (len(kinds), events, members, missing, lost, extra))
    if not counted:
        print('# %d missing that came in an interrupt, which this kernel does not count' % excused)
    print('# %d missing of those that no program may hide' % of_raw)
    return 1 if (events < 1000 or of_raw > 0 or missing > lost or extra > events // 100 or
                 excused > events * 3 // 100) else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:5], map(int, sys.argv[5:])))
