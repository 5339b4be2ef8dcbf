# told.py TNFDUMP STORY - what --why says of traces whose events are written down here: verdict,
# tree, JSON, folded stacks, table, what is missing, and a request that crosses two machines.
import json, os, re, sqlite3, subprocess, sys, tempfile
import machine

tnfdump, story = map(os.path.realpath, sys.argv[1:3])
machine.story = story
Machine = machine.Machine
bad = 0


def check(what, good, shown=""):
    global bad
    if not good:
        bad = 1
        print(f"FAIL: {what}: {shown}", file=sys.stderr)


def run(*args):
    p = subprocess.run([tnfdump, *args], capture_output=True, text=True)
    return p.stdout, p.stderr, p.returncode


def tiles(node):
    at = node["from"]
    for c in node["children"]:
        if c["from"] != at or not tiles(c):
            return False
        at = c["to"]
    return not node["children"] or at == node["to"]


scratch = tempfile.TemporaryDirectory(prefix="tnf-test.")
os.chdir(scratch.name)
USER, SYSTEM, LOCK, SLEEP, WAIT = 0, 1, 6, 7, 8

# Twenty requests of 100 us; in the last the server waits 9 ms for a lock of the holder, from
# which the hog takes its CPU for 6 ms.
m = Machine(1, "one", {100: "server", 101: "holder", 102: "hog"})
m.of(0, 102, 0, 100, USER)
m.of(0, 102, 1, 101, USER)
for i in range(20):
    t = 1000 + i * 1000
    m.request(t, 100, "request_start", i)
    m.request(t + 100, 100, "request_end", i)
t = 30000
m.request(t, 100, "request_start", 99)
m.switch(t + 1000, 0, 100, LOCK, 0, 0)
m.switch(t + 2000, 1, 101, WAIT, 102, USER)
m.switch(t + 8000, 1, 102, WAIT, 101, USER)
m.wakeup(t + 10000, 101, 1, 100)
m.of(t + 10000, 101, 1, 100, WAIT)
m.of(t + 10500, 0, 0, 100, SYSTEM)
m.request(t + 11000, 100, "request_end", 99)
files = m.files()

# The sleeps in a database: whose, what for, from when to when, how long until it had a CPU,
# and who ended it; of the filtered ones those of the threads that are left, and what these ended.
def sleeps(what, *options):
    run("--to", "sqlite", "-o", "x.db", *options, *files)
    return sqlite3.connect("x.db").execute(f"SELECT {what} FROM sleeps").fetchall()


if "  sqlite " in run("--help")[0]:     # built with it
    rows = sleeps("lwpid, reason, start, woken, delay, \"by\", waker_pid, waker_lwpid, owner_lwpid")
    check("sleeps", rows == [(100, "futex", 31000000, 40000000, 500000, "thread", 100, 101, None)], rows)
    for tid, n in (100, 1), (101, 1), (102, 0):
        got = sleeps("count(*)", f"--tid={tid}")[0][0]
        check(f"sleeps with --tid {tid}", got == n, got)
text, err, rc = run("--why=request", *files)
check("verdict and tree", text == """\
request 11.000 ms, server 100; typical 0.100 ms (21 seen)
Waited 9.000 ms (82 %) for holder 101 (futex): 6.000 ms runnable, CPU: hog 102; 3.000 ms on the CPU.
Spent 1.500 ms (14 %) on the CPU.
   at ms       ms
   0.000    1.000 on the CPU
   1.000    9.000 waits for a lock (futex), woken by holder 101, which
   1.000    1.000   on the CPU
   2.000    6.000   runnable: CPU taken by hog 102
   8.000    2.000   on the CPU
  10.000    0.500 runnable: CPU taken by nobody
  10.500    0.500 on the CPU
""", text + err)
for option in "--why", "--why=request_start", "--why=request --id=99", "--why --id=slowest":
    check(option, run(*option.split(), *files)[0] == text, run(*option.split(), *files))
check("--id 3", run("--why", "--id", "3", *files)[0].startswith("request 0.100 ms"))
check("no such id", run("--why", "--id", "77", *files)[2] == 1)
check("--follow", run("--why", "--follow", files[0])[2] == 2)
check("no such pair", "there are request" in run("--why=nosuch", *files)[1])
# Filters choose the instances, and not what explains them.
check("filtered", run("--why", "--where", "probe == 'request_start' and id == 99", *files)[0]
      .splitlines()[1:] == text.splitlines()[1:], run("--why", "--where", "id == 99", *files))
check("by duration", run("--why", "--where", "duration < 1ms", *files)[0].startswith("request 0.100 ms"))

tree = json.loads(run("--why=json", *files)[0])
check("json", tree["took"] == 11000000 and tiles(tree["tree"]) and tree["verdict"] in text, tree)
check("json is jsonl", json.loads(run("--why=request", "--to", "jsonl", *files)[0]) == tree)
check("ran", tree["tree"]["children"][1]["children"][1]["ran"] ==
      [{"thread": {"pid": 100, "lwpid": 102, "name": "hog"}, "ns": 6000000}], tree)
folded = [line.rsplit(" ", 1) for line in run("--why", "--to", "folded", *files)[0].splitlines()]
check("folded", sum(int(n) for _, n in folded) == 13000000 and
      {s.split(";")[1] for s, _ in folded} == {"waits", "on_the_CPU"}, folded)

table = run("--why-slow=request", *files)[0]
check("table", table.startswith("request: 21 seen, ") and "(few: an anecdote)" in table and
      any(row.startswith("futex of holder: runnable, CPU: hog ") and row.endswith("2.000     2.000  1/3")
          for row in table.splitlines()), table)
slow = json.loads(run("--why-slow", "--to", "jsonl", *files)[0])
more = sum(c["slow_ms"] - c["typical_ms"] for c in slow["causes"])
check("differences add up", abs(more - (slow["slow_ms"] - slow["typical_ms"])) < 1e-5, slow)

# Without the kernel's trace: the duration, and what is missing.
text, err, rc = run("--why=request", files[0])
check("no kernel", rc == 0 and text.startswith("request 11.000 ms") and "prex -k" in text, text)
# The kernel's trace begins in the middle of the request.
late = Machine(1, "late", m.tasks)
late.user, late.out, late.into = m.user, [e for e in m.out if e[0] > 31500], \
    [e for e in m.into if e[0] > 31500]
text = run("--why=request", *late.files())[0]
check("not known", "Not known are " in text, text)

# A timer interrupts the server, a softirq interrupts that; then the server's CPU is taken.
i = Machine(1, "interrupted", {100: "server", 102: "hog"})
i.of(0, 102, 0, 100, USER)
i.request(1000, 100, "request_start", 5)
for us, what in ((2000, "irq_vectors.local_timer_entry"), (2300, "irq.softirq_entry"), (2900, "irq.softirq_exit"),
                 (3000, "irq_vectors.local_timer_exit"), (4000, "irq.softirq_entry"), (4500, "irq.softirq_exit")):
    i.interrupt(us, 100, 0, what)
i.switch(6000, 0, 100, WAIT, 102, USER)
i.interrupt(6500, 102, 0, "irq.softirq_entry")
i.switch(7000, 0, 102, WAIT, 100, USER)
i.request(8000, 100, "request_end", 5)
text = run("--why", *i.files())[0]
check("interrupts", text.endswith("""\
   0.000    5.000 on the CPU, 1.500 ms of it taken by interrupts
   5.000    1.000 runnable: CPU taken by hog 102
   6.000    1.000 on the CPU
"""), text)
tree = json.loads(run("--why=json", *i.files())[0])["tree"]["children"]
check("interrupts in json", [n.get("interrupts") for n in tree] == [1500000, None, 0], tree)

# The noise wakes the server for nothing, twice; in the end it is the holder.
n = Machine(1, "noise", {100: "server", 101: "holder", 103: "noise"})
n.of(0, 0, 0, 100, USER)
n.of(0, 0, 1, 101, USER)
n.request(1000, 100, "request_start", 5)
for us, waker in ((1000, 103), (4000, 103), (7000, 101)):
    n.sleep(us, 100, 0, LOCK, 512)
    n.wakeup(us + 2980, waker, 1, 100)
    n.of(us + 2980, waker, 1, 100, WAIT)
    n.of(us + 2990, 0, 0, 100, USER)
n.request(10000, 100, "request_end", 5)
text = run("--why", *n.files())[0]
check("woken for nothing", "Waited 8.940 ms (99 %) for holder 101 (futex): 8.940 ms on the CPU.\n" in
      text, text)

# The server looks three times whether something has come about, and sleeps in between.
p = Machine(1, "polls", {100: "server"})
p.of(0, 0, 0, 100, USER)
p.request(1000, 100, "request_start", 5)
for us in 1000, 4000, 7000:
    p.sleep(us, 100, 0, SLEEP, 512)
    p.of(us + 2980, 0, 0, 100, WAIT)
    p.of(us + 2990, 0, 0, 100, USER)
p.request(10000, 100, "request_end", 5)
text = run("--why", *p.files())[0]
check("polls", "\nWaited 8.940 ms (99 %) for: wait, ended by an interrupt, 3 times.\n" in text, text)

# The same, and each time the holder has the file locked: another reason than that of the sleep.
for reason, told in (77, ", as it was refused a lock of a file, which holder 101 had, 3 times"), (512, ", 3 times"):
    f = Machine(1, "refused", {100: "server", 101: "holder"})
    f.of(0, 0, 0, 100, USER)
    f.of(0, 0, 1, 101, USER)
    f.state(100, 101, 1, WAIT)
    f.request(1000, 100, "request_start", 5)
    for us in 1000, 4000, 7000:
        f.owner(us, 100, 0, 101, reason)
        f.sleep(us, 100, 0, SLEEP, 512)
        f.wakeup(us + 2980, 0, 0, 100, 3)
        f.of(us + 2980, 0, 0, 100, WAIT)
        f.of(us + 2990, 0, 0, 100, USER)
    f.request(10000, 100, "request_end", 5)
    text = run("--why", *f.files())[0]
    check("a lock that was refused", f"\nWaited 8.940 ms (99 %) for: sleep until a timer{told}.\n" in text, text)

# The server's request goes to the disk late, begun by a worker of the kernel; or at once, by itself.
for begun, told in (8000, "disk 253:0, held back 7.000 ms before the device (a limit of its control group?)"), \
        (1000, "disk 253:0"):
    d = Machine(1, "held", {100: "server", 101: "worker"})
    d.of(0, 0, 0, 100, USER)
    d.of(0, 0, 1, 101, USER)
    d.request(1000, 100, "request_start", 5)
    d.disk(begun, 101 if begun > 1000 else 100, 1 if begun > 1000 else 0, "strategy", 9)
    d.sleep(1000, 100, 0, SLEEP, 512)
    d.disk(9990, 101, 1, "biodone", 9)
    d.wakeup(9990, 101, 1, 100, 4, 9)
    d.of(9990, 101, 1, 100, WAIT)
    d.of(9995, 0, 0, 100, USER)
    d.request(10000, 100, "request_end", 5)
    text = run("--why", *d.files())[0]
    check("a request that is held back", f" for: {told}.\n" in text or f" for: wait, {told}.\n" in text, text)

# The server waits for its child, which gives back much memory when it exits.
e = Machine(1, "exits", {100: "server", 101: "child"})
e.of(0, 0, 0, 100, USER)
e.of(0, 0, 1, 101, USER)
e.request(1000, 100, "request_start", 5)
e.sleep(1000, 100, 0, SLEEP, 512)
e.exit(2000, 101, 1)
e.wakeup(9000, 101, 1, 100)
e.of(9000, 101, 1, 100, WAIT)
e.of(9010, 0, 0, 100, USER)
e.request(9100, 100, "request_end", 5)
text = run("--why", *e.files())[0]
check("a thread that exits", "for child 101 (wait): 7.000 ms on the CPU, as it exits; 1.000 ms on the CPU.\n" in
      text, text)

# A crowd takes the holder's CPU in turns, each for less than a twentieth of the time: the wait
# for the holder is told though none of its causes is large, and so is a wait for a CPU.
for waits in "holder 101 (futex)", "a CPU":
    c = Machine(1, "crowd", {100: "server", 101: "holder", **{200 + i: f"taker-{i}" for i in range(24)}})
    c.of(0, 0, 0, 100, USER)
    c.of(0, 0, 1, 101, USER)
    c.request(1000, 100, "request_start", 5)
    own = waits == "a CPU"
    late = 100 if own else 101
    if not own:
        c.sleep(1000, 100, 0, LOCK, 512)
    c.switch(1010, 1, late, WAIT, 200, USER)
    for n in range(1, 24):
        c.switch(1000 + n * 400, 1, 199 + n, WAIT, 200 + n, USER)
    c.switch(10600, 1, 223, WAIT, late, USER)
    if not own:
        c.wakeup(10700, 101, 1, 100)
        c.of(10700, 101, 1, 100, WAIT)
        c.of(10710, 0, 0, 100, USER)
    c.request(10800, 100, "request_end", 5)
    text = run("--why", *c.files())[0]
    check("crowd", re.search(r"\nWaited 9\.\d+ ms \(\d+ %\) for " + re.escape(waits) +
          r": 9\.\d+ ms of many small causes\.\n", text), text)

# The request goes from the client's queue to a worker.
q = Machine(1, "queue", {100: "client", 101: "worker", 102: "hog"})
q.of(0, 102, 0, 100, USER)
q.of(0, 102, 1, 101, USER)
q.request(1000, 100, "request_start", 7)
q.request(6000, 101, "request_taken", 7)
q.switch(7000, 1, 101, WAIT, 102, USER)
q.switch(8000, 1, 102, WAIT, 101, USER)
q.request(9000, 101, "request_end", 7)
text = run("--why", "--pair", "request_start,request_end,id", *q.files())[0]
check("queue", "Was 5.000 ms (62 %) in the queue of worker 101: 5.000 ms on the CPU.\n" in text and
      "   0.000    5.000 queued for worker 101, which\n   0.000    5.000   on the CPU\n"
      "   5.000    1.000 on the CPU\n   6.000    1.000 runnable: CPU taken by hog 102\n" in text, text)

# The server asks another machine, which is slow: its hog has the CPU.
front = Machine(1, "front", {100: "server"})
back = Machine(2, "back", {100: "store", 102: "hog"})
front.of(500, 102, 0, 100, USER)
front.request(1000, 100, "request_start", 1)
front.request(2000, 100, "sent", 1)
front.switch(2000, 0, 100, SLEEP, 0, 0)
back.of(500, 102, 0, 100, USER)
back.switch(3000, 0, 100, WAIT, 102, USER)
back.switch(8000, 0, 102, WAIT, 100, USER)
back.request(9000, 100, "sent", 2)
front.of(9500, 0, 0, 100, WAIT)
front.of(9500, 0, 0, 100, USER)
front.request(9600, 100, "got", 2)
front.request(10000, 100, "request_end", 1)
text, err, rc = run("--why=request", "--hosts", "--message", "sent,got,id", *front.files(), *back.files())
check("two machines", "Waited 7.500 ms (83 %) for store 100 (message): 5.000 ms runnable, CPU: hog 102; "
      "2.000 ms on the CPU; 0.500 ms of others.\n" in text and "   8.000    0.500   network\n" in text, text + err)

# It has to sleep again for the rest of the answer, until another packet comes.
front.user.pop(), front.user.pop()
front.switch(9550, 0, 100, SLEEP, 0, 0)
front.of(9700, 0, 0, 100, WAIT)
front.of(9700, 0, 0, 100, USER)
front.request(9800, 100, "got", 2)
front.request(10000, 100, "request_end", 1)
text, err, rc = run("--why=request", "--hosts", "--message", "sent,got,id", *front.files(), *back.files())
check("two packets", "Waited 7.500 ms (83 %) for store 100 (message): 5.000 ms runnable, CPU: hog 102; "
      in text, text + err)

print("FAILED" if bad else "ok")
sys.exit(bad)
