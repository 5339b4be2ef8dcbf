"""mixed.py OURS THEIRS: do we have each event that perf has?

OURS is what tnfdump --to jsonl made of our trace, THEIRS what perf script printed.  The rules are
on top of mixed.sh.
"""
import collections
import gc
import json
import re
import sys

BEGIN, END = '7e57be61', '7e57be6e'    # first argument of the calls that mark a thread's begin and end
LINE = re.compile(r' *(-?\d+) \[\d+\] +([\d.]+): +\w+:(\w+): (.*)')
ENTER = re.compile(r'NR (-?\d+) \((.*)\)')
EXIT = re.compile(r'NR (-?\d+) = (-?\d+)')
OTHERS = {
    'sched_switch': (r'prev_comm=(.*) prev_pid=(\d+) .* next_pid=(\d+)', ('prev_comm', 'prev_pid', 'next_pid')),
    'sched_process_fork': (r'.* child_pid=(\d+)', ('child_pid',)),
    'page_fault_user': (r'address=(\w+) ip=(\w+) error_code=(\w+)', ('address', 'ip', 'error_code')),
    'block_rq_issue': (r'\S+ (\w+) (\d+) \(.*\) (\d+) \+', ('rwbs', 'bytes', 'sector')),
    'softirq_entry': (r'vec=(\d+)', ('vec',)),
    'softirq_exit': (r'vec=(\d+)', ('vec',)),
}


def plain(text):
    """A number, however it is written; other text as it is."""
    try:
        return int(text, 0)
    except (TypeError, ValueError):
        return text


def theirs(path):
    """Events by thread, in the order of time, and how many there were twice."""
    threads, seen, repeated = collections.defaultdict(list), set(), 0
    for line in open(path):
        m = LINE.match(line)
        if m is None:
            continue
        if line in seen:
            repeated += 1
            continue
        seen.add(line)
        tid, name, text = int(m[1]), m[3], m[4]
        if name == 'sys_enter':
            e = ENTER.match(text)
            event = 'enter', int(e[1]), tuple(int(a, 16) for a in e[2].split(', '))
        elif name == 'sys_exit':
            e = EXIT.match(text)
            event = 'exit', int(e[2]), int(e[1])
        else:
            pattern, _ = OTHERS[name]
            event = name, *map(plain, re.match(pattern, text).groups())
        threads[tid].append(event)
    return threads, repeated


def ours(path):
    """The same, and how many events of a name have a stack, or none."""
    threads, half, stacks = collections.defaultdict(list), {}, collections.Counter()
    for line in open(path):
        if '"probe"' not in line or '"thread_state"' in line:
            continue
        e = json.loads(line)
        name, args, tid = e['probe'].split('.')[-1], e['args'], e['lwpid']
        if 'stack' in args:
            stacks[name, bool(args['stack'] or args['user'])] += 1
        if name in ('syscall_start', 'syscall_args'):
            # Two events tell of a begin, and either may be the first.
            other = half.pop(tid, None)
            if other is None:
                half[tid] = e
                continue
            if name == 'syscall_start':
                args = other['args']
            event = 'enter', args['sysnum'], tuple(int(args['arg%d' % i], 16) for i in range(6))
            if other['probe'] == e['probe'] or args['sysnum'] != other['args']['sysnum']:
                event = 'enter', 'of two calls', ()
        elif name == 'syscall_end':
            event = 'exit', -args['errno'] if args['errno'] else args['rval1'], None
        elif name == 'sys_exit':
            event = 'refused', args['ret'], args['id']
        elif name in OTHERS:
            event = name, *(plain(args[k]) for k in OTHERS[name][1])
        else:
            continue
        threads[tid].append(event)
    return threads, stacks


def cut(events):
    """The places of a thread's marks: begin and end of its first, and of its last."""
    def mark(which):
        begin = next((i for i, e in enumerate(events) if e[0] == 'enter' and e[2][:1] == (int(which, 16),)), None)
        if begin is None:
            return None
        return begin, next((i for i in range(begin, len(events)) if events[i][0] == 'exit'), None)
    first, last = mark(BEGIN), mark(END)
    return None if first is None or last is None or None in first + last else first + last


def calls(events):
    return [e[:2] if e[0] == 'exit' else e for e in events if e[0] in ('enter', 'exit')]


def differ(tid, what, a, b):
    """Says where two lists of one thread differ first, if they do."""
    if a == b:
        return 0
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    print('# thread %d: %s: ours and perf\'s from %d on: %s, %s' % (tid, what, at, a[at:at + 3], b[at:at + 3]))
    return 1


def main():
    gc.disable()    # a million tuples, and no cycle
    mine, stacks = ours(sys.argv[1])
    other, repeated = theirs(sys.argv[2])
    faults = compared = equal = only = 0
    found = collections.Counter()
    for tid, b in sorted(other.items()):
        a, at = mine[tid], cut(b)
        if at is None:
            continue
        here = cut(a)
        if here is None:
            print('# thread %d: its marks are missing' % tid)
            faults += 1
            continue
        compared += 1
        inner_a, inner_b = a[here[1] + 1:here[2]], b[at[1] + 1:at[2]]
        faults += differ(tid, 'system calls', calls(inner_a), calls(inner_b))
        faults += differ(tid, 'results below 0', [e[1:] for e in inner_a if e[0] == 'refused'],
                         [e[1:] for e in inner_b if e[0] == 'exit' and -4096 < e[1] < 0])
        equal += len(calls(inner_b))
        want = collections.Counter(e for e in inner_b if e[0] in OTHERS)
        missing = want - collections.Counter(a[here[0]:here[3] + 1])
        for e in missing:
            print('# thread %d: missing: %s' % (tid, e))
        faults += sum(missing.values())
        found.update(e[0] for e in want.elements())
        only += sum((collections.Counter(e for e in inner_a if e[0] in OTHERS) -
                     collections.Counter(b[at[0]:at[3] + 1])).values())
    print('# %d threads, %d begins and ends of calls equal; %s' % (compared, equal, dict(found)))
    print('# perf has %d records twice; %d of our events are not in perf' % (repeated, only))
    print('# with stacks: %s' % {n: '%d of %d' % (stacks[n, True], stacks[n, True] + stacks[n, False])
                                 for n in sorted({n for n, _ in stacks})})
    few = [n for n in OTHERS if found[n] == 0 and n not in sys.argv[3:]]
    bare = [n for n, has in stacks if not has and n not in ('page_fault_user', 'block_rq_issue')]
    if few or bare or compared < 100 or equal < 10000:
        print('# too little to compare: %s; without stacks: %s' % (few, bare))
    return 1 if faults or few or bare or compared < 100 or equal < 10000 else 0


sys.exit(main())
