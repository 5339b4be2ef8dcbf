"""otlp.py - spans of --to otlp are the pairs of the trace, and protobuf says the same as JSON.

usage: otlp.py TNFDUMP STORY OTLP.PROTO
"""
import json, os, re, shutil, subprocess, sys, tempfile

tnfdump, story, proto = map(os.path.realpath, sys.argv[1:4])
bad = 0
WALL = 1_700_000_000_000_000_000


def same(what, got, want):
    global bad
    if got != want:
        bad = 1
        print(f"FAIL: {what}: {got!r}, not {want!r}", file=sys.stderr)


def make(name, lines):
    subprocess.run([story, name], input=lines.encode(), check=True)
    return name


def run(*args, to="otlp"):
    p = subprocess.run([tnfdump, "--to", to, *args], capture_output=True, check=True)
    return p.stdout, p.stderr.decode()


def value(v):
    (kind, v), = v.items()
    return int(v) if kind == "intValue" else v


def attrs(of):
    pairs = [(a["key"], value(a["value"])) for a in of["attributes"]]
    same("each key once", len(pairs), len(dict(pairs)))
    return dict(pairs)


def spans(*args):
    """Each span with its resource, in the order of the output."""
    out = run(*args)[0].decode()
    return [dict(s, resource=attrs(rs["resource"]), args=attrs(s))
            for line in out.splitlines() for rs in json.loads(line)["resourceSpans"]
            for ss in rs["scopeSpans"] for s in ss["spans"]]


HEAD = """process 100
boot 1
probe request_start web id:tnf_int32
probe request_end web id:tnf_int32 errno:tnf_int32
probe query_start db text:tnf_string n:tnf_int32
probe query_end db n:tnf_int32
probe note web n:tnf_int32
probe job_start pool id:tnf_int32
probe job_end pool id:tnf_int32
"""
TAIL = f"""@host web1
@clock 5000000 {WALL + 5000000}
@task 100 100 1 shop
@task 101 100 1 worker
"""


def tree():
    path = make("tree.tnf", HEAD + """900 100 101 1 0 note 0
1000 100 101 1 0 request_start 7
1100 100 101 1 0 note 1
1200 100 101 1 0 query_start SELECT 5
1250 100 101 1 0 note 2
1300 100 101 1 0 query_end 9
1350 100 102 2 0 query_start other 1
1360 100 102 2 0 query_end 1
1400 100 101 1 0 request_end 7 2
2000 100 101 1 0 request_start 8
2500 100 101 1 0 request_end 8 0
3000 100 101 1 0 request_start 9
3500 100 101 1 0 note 3
""" + TAIL)
    got = {(s["name"], s["args"].get("id", s["args"].get("n"))): s for s in spans(path)}
    same("spans", sorted(got), [("query", 1), ("query", 9), ("request", 7), ("request", 8), ("request", 9)])
    outer, inner, other = got["request", 7], got["query", 9], got["query", 1]
    same("resource", {k: outer["resource"].get(k) for k in ("service.name", "host.name", "process.pid")},
         {"service.name": "shop", "host.name": "web1", "process.pid": 100})
    same("times", (int(outer["startTimeUnixNano"]) - WALL, int(outer["endTimeUnixNano"]) - WALL), (1000, 1400))
    same("parent", (inner["parentSpanId"], inner["traceId"]), (outer["spanId"], outer["traceId"]))
    same("a root has no parent", ["parentSpanId" in s for s in (outer, other)], [False, False])
    same("a tree is a trace", len({s["traceId"] for s in got.values()}), 4)
    same("ids differ", len({s["spanId"] for s in got.values()}), 5)
    same("lengths", {(len(s["traceId"]), len(s["spanId"])) for s in got.values()}, {(32, 16)})
    same("a member of both ends is the end's", inner["args"]["n"], 9)
    same("a member of the start", inner["args"]["text"], "SELECT")
    same("thread", (outer["args"]["thread.id"], outer["args"]["thread.name"]), (101, "worker"))
    same("events", [[(e["name"], attrs(e)["n"], int(e["timeUnixNano"]) - WALL) for e in s["events"]]
                    for s in (outer, inner)], [[("note", 1, 1100)], [("note", 2, 1250)]])
    same("failed", [s.get("status", {}).get("code") for s in (outer, got["request", 8])], [2, None])
    last = got["request", 9]
    same("unfinished", (last["args"].get("tnf.open"), int(last["endTimeUnixNano"]) - WALL), (True, 3500))
    same("left out is told", "1 events are left out: no span" in run(path)[1], True)
    same("a second run", run(path)[0], run(path)[0])
    same("a filter keeps the span", [s["name"] for s in spans("--probe", "query*", path)], ["query", "query"])
    same("and its parent is the nearest kept", "parentSpanId" in spans("--probe", "query*", path)[0], False)
    overlap = make("job.tnf", HEAD + """1000 100 101 1 0 request_start 1
1100 100 101 1 0 job_start 4
1200 100 101 1 0 job_start 5
1300 100 101 1 0 request_end 1 0
1400 100 102 2 0 job_end 4
1500 100 102 2 0 job_end 5
""" + TAIL)
    got = spans("--pair", "job_start,job_end,id", overlap)
    same("across threads", [(s["name"], int(s["endTimeUnixNano"]) - WALL, "parentSpanId" in s) for s in got],
         [("request", 1300, False), ("job_start", 1400, True), ("job_start", 1500, True)])
    return path


def program_ids():
    trace, a, b = "0123456789abcdef" * 2, "1111111111111111", "2222222222222222"
    head = """process 100
probe span_start otel span:tnf_string
probe span_end otel span:tnf_string
"""
    path = make("ids.tnf", head + f"1000 100 101 1 0 span_start {a}\n1100 100 101 1 0 span_end {a}\n" + TAIL)
    got = spans("--pair", "span_start,span_end,span", path)
    same("an id without a trace is not used", got[0]["spanId"] == a, False)
    same("no trace", got[0]["traceId"] == trace, False)
    same("no parent", b in got[0].values(), False)


def current():
    """Spans of a thread that is in a span of OpenTelemetry are below it, the kernel's too."""
    high, low = 0x0af7651916cd43dd, 0x8448eb211c80319c
    trace = f"{high:016x}{low:016x}"
    context = "probe otel_context otel trace_high:tnf_uint64 trace_low:tnf_uint64 span:tnf_uint64\n"
    program = make("current.tnf", HEAD + context + f"""1000 100 101 1 0 query_start before 1
1050 100 101 1 0 query_end 1
1100 100 101 1 0 otel_context {high} {low} {0xb7ad6b7169203331}
1100 100 101 1 0 request_start 7
1200 100 101 1 0 query_start within 2
1250 100 101 1 0 query_end 2
1300 100 101 1 0 otel_context {high} {low} 17
1300 100 101 1 0 query_start other 3
1350 100 101 1 0 query_end 3
1400 100 101 1 0 otel_context 0 0 0
1400 100 101 1 0 request_end 7 0
1500 100 102 1 0 query_start thread 4
1600 100 102 1 0 query_end 4
""" + TAIL)
    kernel = make("calls.tnf", """kernel
boot 1
probe syscall_start syscall sysnum:tnf_int32
probe syscall_end syscall rval1:tnf_int32 errno:tnf_int32
1210 100 101 1 0 syscall_start 0
1220 100 101 1 0 syscall_end 1 0
1510 100 102 1 0 syscall_start 0
1520 100 102 1 0 syscall_end 1 0
""" + TAIL)
    got = {s["args"].get("text", s["name"]): s for s in spans(program)}
    request, within, other = got["request"], got["within"], got["other"]
    same("a context is no event", sum(len(s["events"]) for s in got.values()), 0)
    same("below the span", (request["traceId"], request["parentSpanId"]), (trace, "b7ad6b7169203331"))
    same("nested", (within["traceId"], within["parentSpanId"]), (trace, request["spanId"]))
    same("below another span", (other["traceId"], other["parentSpanId"]), (trace, f"{17:016x}"))
    for name in "before", "thread":
        same(f"{name}: in none", (got[name]["traceId"] == trace, "parentSpanId" in got[name]), (False, False))
    calls = [s for s in spans("--probe", "syscall*", program, kernel) if s["name"] == "syscall"]
    same("system calls", [(s["traceId"] == trace, s.get("parentSpanId")) for s in calls],
         [(True, "b7ad6b7169203331"), (False, None)])
    p = subprocess.run([tnfdump, "--no-header", "--columns", "probe,trace,span", "--where",
                        f'span == "b7ad6b7169203331" and trace == "{trace}" and probe != "otel_context"', program, kernel],
                       capture_output=True, text=True, check=True)
    same("--where and columns", [line.split() for line in p.stdout.splitlines()],
         [[name, trace, "b7ad6b7169203331"] for name in
          ("request_start", "query_start", "syscall_start", "syscall_end", "query_end")])


def started():
    """TRACEPARENT of the environment names the trace and the parent of outermost spans."""
    trace, parent = "0123456789abcdef" * 2, "1111111111111111"
    lines = "1000 100 101 1 0 request_start 7\n1100 100 101 1 0 request_end 7 0\n"
    got, = spans(make("started.tnf", HEAD + lines + TAIL + f"@traceparent/100 00-{trace}-{parent}-01\n"))
    same("TRACEPARENT", (got["traceId"], got["parentSpanId"]), (trace, parent))
    got, = spans(make("wrong.tnf", HEAD + lines + TAIL + f"@traceparent/100 00-{trace}-{parent[:9]}-01\n"))
    same("not one", (got["traceId"] == trace, "parentSpanId" in got), (False, False))


def kernel():
    path = make("kernel.tnf", """kernel
probe syscall_start syscall sysnum:tnf_int32
probe syscall_end syscall rval1:tnf_int32 errno:tnf_int32
1000 100 101 1 0 syscall_start 0
1100 100 101 1 0 syscall_end 1 0
""" + TAIL)
    out, err = run(path)
    same("the kernel's pairs only if asked", (out, "2 events of the kernel" in err), (b"", True))
    same("asked", [s["name"] for s in spans("--probe", "syscall*", path)], ["syscall"])


def budget():
    lines = ["1000 100 101 1 0 request_start 1"]
    for i in range(12000):
        lines += [f"{2000 + 10 * i} 100 101 1 0 query_start x 1", f"{2005 + 10 * i} 100 101 1 0 query_end 1"]
    lines += ["900000 100 101 1 0 request_end 1 0"]
    path = make("many.tnf", HEAD.replace("process 100", "blocks 400\nprocess 100") + "\n".join(lines) + "\n" + TAIL)
    got = spans(path)
    same("spans of a tree", (len(got), got[0]["args"].get("tnf.spans_left_out")), (10000, 2001))
    same("told", "2001 spans are left out" in run(path)[1], True)


def links():
    for name, n, lines in (("web", 1, "1000 100 101 1 0 request_start 7\n1100 100 101 1 0 ask 7\n1500 100 101 1 0 request_end 7 0\n"),
                           ("app", 2, "1200 100 101 1 0 query_start x 1\n1250 100 101 1 0 got 7\n1300 100 101 1 0 query_end 1\n")):
        make(name + ".tnf", HEAD.replace("boot 1", f"boot {n}") + "probe ask net id:tnf_int32\nprobe got net id:tnf_int32\n" +
             lines + TAIL.replace("web1", name))
    got = {s["name"]: s for s in spans("--hosts", "--message", "ask,got,id", "web.tnf", "app.tnf")}
    sender, receiver = got["request"], got["query"]
    same("link", receiver["links"], [{"traceId": sender["traceId"], "spanId": sender["spanId"]}])
    same("the sender has none", sender["links"], [])
    same("machines", [s["resource"]["host.name"] for s in (sender, receiver)], ["web", "app"])


def protobuf(path):
    if shutil.which("protoc") is None:
        print("otlp.py: no protoc: protobuf is not judged", file=sys.stderr)
        return
    p = subprocess.run(["protoc", "--decode=Trace", "-I", os.path.dirname(proto), proto],
                       input=run(path, to="otlp-pb")[0], capture_output=True, check=True)
    text = p.stdout.decode()
    same("no field that the schema lacks", re.findall(r"^\s*\d+[ :].*", text, re.M), [])
    out = run(path)[0].decode()
    for field, name in (("start_time_unix_nano: (\\d+)", '"startTimeUnixNano":"(\\d+)"'),
                        ("end_time_unix_nano: (\\d+)", '"endTimeUnixNano":"(\\d+)"'),
                        ('key: "(.*)"', '"key":"(.*?)"'), ("int_value: (-?\\d+)", '"intValue":"(-?\\d+)"'),
                        ('string_value: "(.*)"', '"stringValue":"(.*?)"'), (' name: "(.*)"', '[{,]"name":"(.*?)"')):
        same(field, re.findall(field, text), re.findall(name, out))
    ids = [bytes(t, "latin-1").decode("unicode_escape").encode("latin-1").hex()
           for t in re.findall(r' span_id: "(.*)"', text)]
    same("ids", ids, re.findall('"spanId":"(.*?)"', out))


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    protobuf(tree())
    program_ids()
    current()
    started()
    kernel()
    budget()
    links()
sys.exit(bad)
