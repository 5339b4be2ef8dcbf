"""stacks.py - a stack loses frames, their order, their names or what is inlined on the way to folded
stacks, Perfetto or pprof; or it is one that pprof itself does not read.

usage: stacks.py TNFDUMP STORY PROGRAM PPROF.PROTO PERFETTO.PROTO

PROGRAM has outer_function(), at whose beginning inlined_function() is inlined, and known_function().
"""
import gzip, os, re, shutil, subprocess, sys, tempfile

tnfdump, story, program, pprof_proto, perfetto_proto = map(os.path.realpath, sys.argv[1:6])
bad = 0


def same(what, got, want):
    global bad
    if got != want:
        bad = 1
        print(f"FAIL: {what}: {got!r}, not {want!r}", file=sys.stderr)


def run(*command, stdin=b""):
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


def dump(to):
    return run(tnfdump, "--to", to, "k.tnf")


def decode(proto, message, data):
    text = run("protoc", "--decode=" + message, "-I", os.path.dirname(proto), proto, stdin=data).decode()
    same(message + ": no field that the schema lacks", re.findall(r"^\s*\d+[ :].*", text, re.M), [])
    return text


def make():
    """A thread that slept and was sampled: twice in the program, once in the kernel."""
    symbols = {f[2]: int(f[0], 16) for f in map(str.split, run("nm", program).decode().splitlines()) if len(f) == 3}
    loads = [f for f in map(str.split, run("readelf", "-lW", program).decode().splitlines())
             if f and f[0] == "LOAD" and "E" in f[6:-1]]
    (offset, address), size = (int(x, 16) for x in loads[0][1:3]), int(loads[0][4], 16)
    build = re.search(r"Build ID: (\w+)", run("readelf", "-n", program).decode())[1]
    start = 0x555500000000
    outer, known = (start + symbols[name] - address for name in ("outer_function", "known_function"))
    inlined, caller = outer + 1, known + 2
    lines = f"""kernel
kernel-part
probe note a
probe thread_block thread stack:tnf_symbols
probe sample profile stack:tnf_symbols
1000 7 7 0x100 0 note
2000 7 7 0x100 0 thread_block 0xffffffff81001010 0xffffffff81002010 0xffffffff81002020 0
3000 7 7 0x100 0 sample {inlined:#x} {caller:#x} 0x1234 0
4000 7 7 0x100 0 sample {inlined:#x} {caller:#x} 0x1234 0
5000 7 7 0x100 0 sample 0xffffffff81002000 {caller:#x} 0 0
@clock 1000 1700000000000000000
@task 7 7 1 shop
@symbol ffffffff81001000 ffffffff81001fff - schedule
@symbol ffffffff81002000 ffffffff81002fff - entry_read
@object 7 {start:x} {start + size:x} {offset:x} {build} {program}
"""
    run(story, "k.tnf", stdin=lines.encode())
    return inlined, caller - 1, build


def judge_pprof(packed, inlined, caller, build):
    """pprof of Go: -raw has the tables, -traces the stacks by name."""
    if not shutil.which("go"):
        print("no go: pprof itself has not read it", file=sys.stderr)
        return
    with open("p.pb.gz", "wb") as f:
        f.write(packed)
    env = dict(os.environ, HOME=os.getcwd(), GOFLAGS="-mod=mod", PPROF_TMPDIR=os.getcwd())
    raw = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-raw", "p.pb.gz"], capture_output=True, env=env)
    same("pprof reads it", raw.returncode, 0) if raw.returncode == 0 else same("pprof", raw.stderr, b"")
    raw = raw.stdout.decode()
    same("types", re.findall(r"\S+/count\S*", raw), ["thread_block/count", "sample/count[dflt]"])
    samples = re.findall(r"^ +(\d+) +(\d+): ([\d ]+)$", raw, re.M)
    same("values", sorted(s[:2] for s in samples), [("0", "1"), ("0", "2"), ("1", "0")])
    same("the mapping", f"{program} {build} [FN]" in raw, True)
    where = dict(re.findall(r"^ +(\d+): (0x[0-9a-f]+) M=", raw, re.M))
    same("addresses", {f"{inlined:#x}", f"{caller:#x}"} <= set(where.values()), True)
    traces = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-traces", "p.pb.gz"], capture_output=True,
                            env=env, check=True).stdout.decode()
    stacks = {tuple(f[-1] if f[-1] != "(inline)" else f[-2] + " inline" for f in map(str.split, t.splitlines())
                    if f and not f[0].endswith(":")) for t in traces.split("-" * 11 + "+" + "-" * 55)[1:]}
    same("pprof -traces", ("inlined_function inline", "outer_function", "known_function", "<unknown>") in stacks, True)
    same("pprof -traces, kernel", ("entry_read", "known_function") in stacks, True)


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    inlined, caller, build = make()
    same("folded", sorted(dump("folded").decode().splitlines()), [
        "shop;0x1234;known_function;outer_function;inlined_function;sample 2",
        "shop;entry_read;entry_read;schedule;thread_block 1",
        "shop;known_function;entry_read;sample 1",
        "shop;note 1"])
    packed = dump("pprof")
    same("the same in each run", dump("pprof"), packed)
    judge_pprof(packed, inlined, caller, build)
    if shutil.which("protoc"):
        text = decode(pprof_proto, "Profile", gzip.decompress(packed))
        same("pprof: when", re.search(r"time_nanos: (\d+)", text)[1], str(1_700_000_000_000_000_000 + 1000))
        same("pprof: how long", re.search(r"duration_nanos: (\d+)", text)[1], "3000")
        stacks = [re.findall(r'function_name: "([^"]*)"', s) for s in
                  decode(perfetto_proto, "Trace", dump("perfetto")).split("packet {")]
        same("perfetto", sorted(s for s in stacks if s), sorted(
            [["entry_read", "entry_read", "schedule"], ["known_function", "entry_read"]] +
            2 * [["0x1234", "known_function", "outer_function", "inlined_function"]]))
    none = subprocess.run([tnfdump, "--to", "pprof", "--probe", "note", "k.tnf"], capture_output=True, check=False)
    same("no stack", (none.returncode != 0, b"no event has a stack" in none.stderr, none.stdout), (True, True, b""))
sys.exit(bad)
