#!/usr/bin/python3
# Guards: a line of README.md or tracing(7) that does not work when somebody types it.
#
# typed.py SOURCE BUILD: in an empty directory, as root, with the kernel's probes at hand.
# Each line in a block of the two pages, each recipe and each command of tnfwatch is in TABLE,
# which says how it is typed: what stands for PIDs and names of the page, and what has to be
# there before.  Lines behind a command are its output: with numbers and strings masked, each
# is among those that it prints.  Nothing else may be printed that sounds like an error.
import glob, json, os, pty, re, shutil, signal, subprocess, sys, time

SOURCE, BUILD = sys.argv[1:]
LIMIT = 120		# seconds; for hangs, not for load
TOOLS = ("prex", "tnfdump", "tnfxtract", "tnfwatch", "systemctl", "redis-cli")
COMPLAINT = re.compile(r"warning|error:|syntax error|not found|No such|"
                       r"^(%s): (?!target process exited|process \d+ has (?:no probes of TNF, but|libtnfprobe now|children: )|--fail-on mean"
                       r"|.*\d+ (?:passed over by the kernel: fewer|events were lost \(skipped by the kernel))" % "|".join(TOOLS))
OFF = "ktrace off; untrace $all; disable $all; buffer dealloc"
started, servers, failures, world = [], [], [], {}


def fail(where, what):
    failures.append(where)
    print("FAIL: %s: %s" % (where, what), flush=True)


# The pages: blocks of (prompt, command, lines shown behind it); without a prompt it is a text.

def block(lines):
    commands = []
    lines = re.sub(r"\\\n *", "", "\n".join(lines)).split("\n")
    prompts = any(re.match(r"(\$|prex>) |# (prex|tnf|\./)", line) for line in lines)
    for line in lines:
        typed = re.match(r"(\$|#|prex>) (.*)" if prompts else r"()((?:%s) .*)" % "|".join(TOOLS), line)
        if typed:
            commands.append((typed[1] or "$", typed[2], []))
        elif commands:
            commands[-1][2].append(line)
        else:
            return [("", "\n".join(lines), [])]
    return commands


def readme():
    text = open(SOURCE + "/README.md").read()
    for found in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text, re.M):
        yield block([line[4:].rstrip() for line in found.rstrip().split("\n")])


def plain(line):
    """What a line of mdoc looks like."""
    return line.replace(r"\e", "\\").replace(r"\ ", " ").replace(r"\&", "").rstrip()


def man():
    text = open(SOURCE + "/man/tracing.7").read()
    for found in re.finditer(r'^\.Bd -literal.*\n((?:.*\n)*?)\.Ed|^\.It .*\n\.Li (.*)\n(?:\.Ar (.*)\n)?|'
                             r'^\.Li "((?:tnfwatch|systemctl) .*)"', text, re.M):
        lines, recipe, argument, command = found.groups()
        if lines is not None:
            yield block([plain(line) for line in lines.rstrip("\n").split("\n")])
            continue
        command = plain(command or recipe.strip('"') + (" " + argument if argument else ""))
        if command.split()[0] in TOOLS:
            yield [("$", command, [])]
        else:		# a recipe for a prompt
            yield [("$", "prex -p 4711", []), ("prex>", command, []), ("prex>", "quit", [])]


# Things that have to be there.

def start(*words, **more):
    started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **more))
    return started[-1].pid


def quietly(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def bakery():
    """The server with probes that 4711 and 24506 mean; it ends with its block."""
    if not servers:
        pid = start("bakery", "-s", "100000")
        wait_for(lambda: os.readlink("/proc/%d/exe" % pid).endswith("bakery"))
        servers.append(started.pop())
    return servers[0].pid


def both():
    """One program and the kernel at the same time."""
    pid = bakery()
    quietly("prex", "-k", "-c", "buffer alloc 4m; pfilter add %d; pfilter on; enable thread syscall; "
            "trace thread syscall; ktrace on" % pid)
    quietly("prex", "-p", str(pid), "-o", "both.tnf", "-c", "enable $all")
    wait_for(lambda: quietly("tnfdump", "both.tnf").count(" order_end ") > 20)
    quietly("prex", "-k", "-c", "ktrace off")
    quietly("tnfxtract", "kernel.tnf")


def two_runs():
    for name in "last.tnf", "this.tnf":
        quietly("prex", "-o", name, "-c", "enable order; continue", "bakery", "-n", "20")


def thread():
    """One that has slept while kernel.tnf was recorded."""
    return quietly("tnfdump", "--no-header", "--columns", "tid", "--probe", "thread_block", "kernel.tnf").split()[0]


def incident():
    quietly("tnfwatch", "-c", "watch.conf", "fire", "slow-order")
    wait_for(lambda: "slow-order" in quietly("tnfwatch", "-c", "watch.conf", "list"))


def cgroup():
    """A cgroup in place of a service's; None where there is no cgroup2."""
    mounted = re.search(r"^\S+ (\S+) cgroup2 ", open("/proc/mounts").read(), re.M)
    try:
        world["made"] = mounted[1] + "/typed-%d" % os.getpid()
        os.mkdir(world["made"])
    except (OSError, TypeError):
        return None
    return "/typed-%d" % os.getpid()


def postgres():
    """The directory of PostgreSQL's programs, with a server running; None without it."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found or os.path.exists("db"):
        return world.get("postgres")
    os.chmod(".", 0o755)
    os.mkdir("db")
    subprocess.run(["chown", "postgres", "db"], check=True)
    run = ["runuser", "-u", "postgres", "--"]
    quietly(*run, found[-1] + "/initdb", "-D", os.getcwd() + "/db")
    with open("db/postgresql.conf", "a") as conf:
        conf.write("listen_addresses = ''\nunix_socket_directories = '%s/db'\n" % os.getcwd())
    quietly(*run, "sh", "-c", "'%s/pg_ctl' -D db -w -l db/log start >db/started 2>&1" % found[-1])
    return found[-1]


def redis():
    """The process of a redis-server with a few keys; None without it."""
    if shutil.which("redis-server") is None or os.path.exists("redis.sock"):
        return world.get("redis")
    pid = start("redis-server", "--port", "0", "--unixsocket", os.getcwd() + "/redis.sock", "--save", "")
    wait_for(lambda: quietly("redis-cli", "-s", "redis.sock", "set", "cake", "danish") == "OK\n")
    return pid


def queries():
    for _ in range(3):
        quietly("runuser", "-u", "postgres", "--", "psql", "-h", os.getcwd() + "/db", "-c", "select 1")


# Texts that are no commands: each of these returns what is wrong with one.

def code(text):
    """It compiles where o and error are."""
    lines = [line for line in text.split("\n") if not line.startswith("#") and line.strip() != "..."]
    with open("code.c", "w") as c:
        c.write("#include <tnf/probe.h>\nstruct order { int id; char *cake; };\n"
                "void bake(struct order o, int error);\n"
                "void bake(struct order o, int error)\n{\n(void)error;\n%s\n}\n" % "\n".join(lines))
    return quietly("cc", "-std=gnu11", "-I" + SOURCE + "/include", "-fsyntax-only", "code.c")


def several_languages(text):
    """Python takes its line; the other packages have the names (tests/bindings runs them)."""
    lines = dict(reversed(re.split(r" +(?:#|//) ", line)) for line in text.split("\n"))
    names = {"Rust": ("rust/src/lib.rs", "macro_rules! span"), "Node": ("node/index.js", "class Span"),
             "Java": ("java/src/tnf/Span.java", "public Span("), "Go": ("go/tnf.go", "func NewSpan(")}
    missing = [language for language, (path, name) in names.items()
               if name not in open(SOURCE + "/bindings/" + path).read() or language not in lines]
    if missing or not os.path.exists(BUILD + "/python"):
        return " ".join(missing)
    return quietly("env", "PYTHONPATH=" + BUILD + "/python", "python3", "-W", "ignore", "-c", "import tnf\n" + lines["Python"])


def json_text(text):
    """It is JSON, and names a program of ours."""
    told = json.loads(text)["mcpServers"]["tnf"]
    return "" if os.path.exists(SOURCE + "/python/" + told["command"]) else told["command"]


def provider(text):
    """Our file of the provider has these lines."""
    ours = [line.split() for line in open(SOURCE + "/providers/postgresql")]
    return "\n".join(line for line in text.split("\n") if line[0] != "#" and line.split() not in ours)


def config(text):
    """tnfwatch takes it, and watches bakery as the page's shop."""
    kept = os.getcwd() + "/kept"
    end(started)
    text = text.replace("/usr/bin/shop", BUILD + "/examples/bakery")
    with open("watch.conf", "w") as conf:
        conf.write("[watch]\ndirectory = %s\nrun = %s/run\n%s\n" % (kept, kept, text.replace("[watch]\n", "")))
    wrong = quietly("tnfwatch", "-c", "watch.conf", "check")
    if ": right: " not in wrong:
        return wrong
    start("bakery", "-s", "100000")
    start("tnfwatch", "-c", "watch.conf", stderr=open("watch.log", "w"))
    watched = lambda: re.search(r"^shop-\d+ +[1-9]", quietly("tnfwatch", "-c", "watch.conf", "status"), re.M)
    return "" if wait_for(watched) else "it does not watch: " + open("watch.log").read() + \
        quietly("tnfwatch", "-c", "watch.conf", "status")


# How a line is typed: what is replaced in it, what has to be there before, with which status
# it may end, what must sooner or later be in its output; text for one that is no command, why
# for one that is not typed.
def how(replace=(), before=None, status=(0,), has="", text=None, why=None):
    return {"replace": dict(replace), "before": before, "status": status, "has": has, "text": text, "why": why}


POSTGRES = {"/usr/lib/postgresql/15/bin/postgres": "{postgres}/postgres", "4711": "{postmaster}"}
REDIS = {"$(pidof redis-server)": "{redis}", "/tmp/": "", "redis-cli": "redis-cli -s redis.sock"}
WATCH = {"tnfwatch": "tnfwatch -c watch.conf"}
RUN = how(why="the numbers of one run: tests/why/causes.sh judges such verdicts")
FLEET = how(why="takes a nats-server and three machines: tests/fleet/example.sh")
POD = how(why="takes a node of Kubernetes: tests/watch/node.sh")
TABLE = dict.fromkeys((
    # README.md
    "prex -p 24506 -o live.tnf", "list name keys probes io", "enable io", "quit",
    'prex -k -c "buffer alloc; enable name=net.net_dev_xmit; trace name=net.net_dev_xmit; ktrace on"',
    # tracing(7): a program, the kernel
    "prex -o bakery.tnf bakery -n 200", "list name keys probes order", "enable order", "continue",
    "prex -o bakery.tnf -c 'enable order; continue' bakery -n 200",
    "prex -o live.tnf -p 4711", "prex -k", "buffer alloc 4m", "trace syscall thread",
    "enable syscall thread", "ktrace on", "tnfxtract kernel.tnf", 
    "prex -k -c 'ktrace off; disable $all; untrace $all; buffer dealloc'", 
    "buffer alloc 16m", "tnfxtract server.tnf", 
    "pfilter on", "enable sched.sched_process_exec net.net_dev_xmit name=syscall_path",
    "trace sched.sched_process_exec name=syscall_path", "trace net.net_dev_xmit where 'len > 1000'",
    "tnfdump --pretty server.tnf", "prex -k -c 'ktrace off; buffer dealloc'",
    "prex -k -c 'buffer alloc 64m; trace $always; enable $always; ktrace on'", "tnfdump bakery.tnf kernel.tnf",
    # the questions
    "prex -k -c 'buffer alloc 32m; trace $all; enable $all; ktrace on'", "prex -k -c 'ktrace off'",
    "prex -k -c 'disable $all; untrace $all; buffer dealloc'",
    "tnfdump --stats=sysnum,comm --probe 'syscall*' kernel.tnf",
    "tnfdump --tree --pretty --probe strategy,biodone kernel.tnf",
    "tnfdump --stats=comm,pid --probe address_fault kernel.tnf", "tnfdump --states kernel.tnf",
    # why it was slow
    "prex -k -c 'buffer alloc 64m; trace $why; enable $why; ktrace on'",
    "prex -o slow.tnf -c 'enable $all; continue' slow lock",
    # the recipes
    "prex -p 4711", "enable name=/^order/",
    "prex -p 4711 -c 'enable cache; untrace cache; connect &debug cache'",
    "prex -k -c 'pfilter add 4711; pfilter on'",
), how())
TABLE.update({
    # README.md
    "tools/demo      build, trace an example, keep a stall of it and (as root) the kernel: a minute":
        how(why="they build the tree and run all tests, this one too"),
    'TNF_PROBE_2(order_start, "order", "", tnf_int, id, o.id, tnf_string, cake, o.cake);': how(text=code),
    "tnfdump both.tnf kernel.tnf": how(before=both),
    "prex -k -c \"import '/usr/lib/postgresql/15/bin/postgres'; buffer alloc 16m; trace keys=postgresql; "
    "enable keys=postgresql; ktrace on\"": how(POSTGRES, postgres),
    "tnfxtract pg.tnf; tnfdump pg.tnf | grep query__start": how(before=queries, has="query__start"),
    "[process shop]": how(text=config),
    "meson setup build && ninja -C build && sudo meson install -C build": how(why="tests/install/install.sh"),
    "sudo apt-get build-dep ./ && dpkg-buildpackage -us -uc -b && sudo apt install ../*tnf*.deb":
        how(why="takes the network: tests/install/packages.sh"),
    "prex -p $(pidof redis-server) -o redis.tnf -c 'enable function=/Command$/'": how(REDIS, redis),
    "tnfdump redis.tnf": how(REDIS, redis),
    # tracing(7)
    "#include <tnf/probe.h>": how(text=code),
    "tnfdump --pretty kernel.tnf": how(has=" syscall_start "),
    "tnfdump server.tnf": how(has=" postgresql.query__start "),
    "tnfdump kernel.tnf": how(has=" syscall_start "),
    "tnfdump live.tnf": how(has=" ledger_start "),
    "tnfdump bakery.tnf": how(has=" order_start "),
    "tnfdump --pretty --two-line --probe thread_block --tid 4711 kernel.tnf": how({"4711": "{thread}"}, thread),
    "tnfdump --why=request slow.tnf kernel.tnf": how(has="Waited "),
    "tnfdump --why-slow=request slow.tnf kernel.tnf": how(has="futex of logger"),
    "request 36.843 ms, slow 8461; typical 0.028 ms (40 seen)": RUN,
    "request 15.401 ms, slow 1031; typical 1.034 ms (40 seen)": RUN,
    "request 6.295 ms, slow 1610; typical 2.261 ms (40 seen)": RUN,
    "request: 40 seen, 8 typical 1.034 ms, 3 slow 11.908 ms (few: an anecdote)": RUN,
    "prex -k --run -o kernel.tnf make": how({"make": "bakery -n 5"}),
    "prex -p 4711 -c 'list name slots probes keys=usdt'": how(POSTGRES, postgres),
    "import '/usr/lib/postgresql/15/bin/postgres'": how(POSTGRES),
    "trace keys=postgresql": how(),
    "enable name=postgresql.query__start name=postgresql.query__done": how(),
    "# comment": how(text=provider),
    "prex --set fast_returns=on -p $(pidof redis-server) -s 65536 -o /tmp/redis.tnf "
    "-c 'enable function=/Command$/ function=call function=beforeSleep'": how(REDIS, redis),
    "redis-cli keys '*' >/dev/null": how(REDIS, redis),
    "tnfdump --tree --last 1s /tmp/redis.tnf": how(REDIS, redis, has=" keysCommand"),
    "prex -p $(pidof redis-server) -c 'disable keys=function'": how(REDIS, redis),
    "pfilter add cgroup=/system.slice/nginx.service": how({"/system.slice/nginx.service": "{cgroup}"}, cgroup),
    "prex -s 65536 -o /var/tmp/server.tnf -c 'enable request; quit' -p 4711":
        how({"/var/tmp/": "", "request": "order"}),
    "tnfxtract /var/tmp/incident-$(date +%s).tnf": how({"/var/tmp/": ""}),
    "tnfdump --pretty --columns +comm --from 03:12:18 --until 03:12:20 kernel.tnf":
        how({"03:12:18": "{before}", "03:12:20": "{now}"}),
    "tnfdump --diff --fail-on 'mean(order) > +10%' last.tnf this.tnf": how(before=two_runs, status=(0, 4)),
    "prex -c 'list name keys slots probes $all; quit' program": how({" program": " bakery -n 1"}),
    "prex -c 'list values keys; quit' program": how({" program": " bakery -n 1"}),
    r"enable file=/parse\.c$/": how({"parse": "bakery"}),
    "tnfdump --to html -o trace.html file ...": how({"file ...": "bakery.tnf kernel.tnf"}),
    "tnfdump --to sqlite -o trace.db file ...": how({"file ...": "bakery.tnf kernel.tnf"}),
    "tnfdump --info file": how({" file": " bakery.tnf"}),
    "[watch]": how(text=config),
    "systemctl start tnfwatch": how(why="takes systemd: tests/install/units.sh"),
    "tnfwatch list": how(WATCH, incident),
    "tnfwatch show": how({"tnfwatch show": "tnfwatch -c watch.conf show 2"}),
    "tnfwatch status": how(WATCH),
    "tnfwatch mark 'deploy 812 begins'": how(WATCH),
    "tnfdump --to otlp-pb bakery.tnf | curl --data-binary @- -H 'Content-Type: application/x-protobuf' "
    "http://localhost:4318/v1/traces":
        how({"| curl --data-binary @- -H 'Content-Type: application/x-protobuf' http://localhost:4318/v1/traces":
             "2> /dev/null | grep -ac order > posted"}),
    'order = tnf.span("order", keys="order", id=int)           # Python': how(text=several_languages),
    '{"mcpServers": {"tnf": {"command": "tnf-mcp", "args": ["/var/lib/tnf"]}}}': how(text=json_text),
    "tnfdump --columns +span --where 'span == \"b7ad6b7169203331\"' shop.tnf kernel.tnf":
        how(why="takes the servers of examples/otel/shop: tests/otel/shop.sh"),
    "pfilter add pod=shop-7d9f                       # the kernel's events of one pod": POD,
    "tnfdump --columns +pod,container kernel.tnf": POD,
    "./fleet up -c": FLEET, "./fleet load 20": FLEET, "./fleet ask --last 60s -o stall": FLEET,
    "tnfdump --hosts --where 'request == 7' --columns host,order,elapsed,probe,args stall/*": FLEET,
    "tnfdump --hosts --message call,took,message --message reply,back,message --where 'request == 7' "
    "--columns host,elapsed,probe,args stall/*": FLEET,
})


def end(processes):
    while processes:
        process = processes.pop()
        process.terminate()
        process.wait()


# Typing.

class Prompt:
    """A command at a terminal, that asks."""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp("bash", ["bash", "-c", "exec " + command])

    def answer(self, line=None):
        """What it prints until it asks again, or ends."""
        if line is not None:
            os.write(self.fd, line.encode() + b"\n")
        seen = b""
        signal.alarm(LIMIT)
        try:
            while not seen.endswith(b"prex> "):
                seen += os.read(self.fd, 4096) or b"prex> "
        except OSError:		# EIO: it has ended
            pass
        signal.alarm(0)
        seen = seen.decode(errors="replace").replace("\r", "").split("\n")
        return seen[1 if line is not None else 0:]

    def end(self):
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def masked(line):
    line = re.sub(r'"[^"]*"', '""', line)
    return re.sub(r"\s+", " ", re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?", "9", line)).strip()


def compare(where, shown, printed, said=None):
    """What is printed has what the page shows; what is said besides is no complaint."""
    said = printed if said is None else said
    have = {masked(line) for line in printed + said}
    want = [line for line in shown if line.strip() not in ("", "...")]
    for line in want:
        if masked(line) not in have:
            fail(where, "the page shows, and it is not printed: %s\n%s" % (line, "\n".join(printed[:40])))
    for line in said:
        if COMPLAINT.search(line) and masked(line) not in map(masked, want):
            fail(where, "it says: " + line)


def bound(text, entry):
    """The line as it is typed, with what is there in place of what the page names."""
    if entry["before"]:
        world[entry["before"].__name__] = entry["before"]()
    now = time.time()
    names = {"postmaster": open("db/postmaster.pid").readline().strip() if os.path.exists("db/postmaster.pid") else "",
             "before": time.strftime("%H:%M:%S", time.localtime(now - 60)),
             "now": time.strftime("%H:%M:%S", time.localtime(now + 1))}
    names.update(world)
    for old, new in entry["replace"].items():
        text = text.replace(old, re.sub(r"\{(\w+)\}", lambda m: str(names[m[1]]), new))
    return re.sub(r"\b(4711|24506)\b", lambda m: str(bakery()), text)


def type_block(page, commands):
    prompt = absent = None
    for mark, text, shown in commands:
        name = text if mark else text.split("\n")[0]
        where = "%s: %s" % (page, name)
        entry = TABLE.get(name)
        used.add(name)
        if entry is None:
            fail(where, "a new line: TABLE has to say how it is typed")
            continue
        if absent:
            print("not typed: %s: no %s here" % (where, absent))
            continue
        if entry["why"]:
            print("not typed: %s: %s" % (where, entry["why"]))
            continue
        if entry["text"]:
            wrong = entry["text"](text)
            print("%s: %s" % (entry["text"].__name__, where))
            if wrong:
                fail(where, wrong)
            continue
        line = bound(text, entry)
        if entry["before"] in (postgres, redis, cgroup) and not world[entry["before"].__name__]:
            absent = entry["before"].__name__
            if prompt:
                prompt.end()
            continue
        print(mark, line, flush=True)
        if mark == "prex>":
            compare(where, shown, prompt.answer(line))
        elif any(mark == "prex>" for mark, _, _ in commands) and not re.search(r" -c |^tnf", line):
            prompt = Prompt(line)
            compare(where, shown, prompt.answer())
        else:
            done = None

            def has():
                nonlocal done
                done = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, errors="replace", timeout=LIMIT)
                return entry["has"] in done.stdout
            if not wait_for(has):
                fail(where, "no %s in its output" % entry["has"])
            compare(where, shown, done.stdout.split("\n"), done.stderr.split("\n"))
            if done.returncode not in entry["status"]:
                fail(where, "status %d: %s" % (done.returncode, done.stderr))
        if "quit" in text.split("\n") and prompt:
            prompt.end()
            prompt = None
        if any(shown_line.strip() == "..." for shown_line in shown):
            queries() if world.get("postgres") else quietly("ls", "/")
    end(servers)
    quietly("prex", "-k", "-c", OFF)


used = set()
os.environ["PATH"] = ":".join(BUILD + "/" + d for d in ("prex", "tnfdump", "tnfxtract", "tnfwatch", "examples")) + \
    ":" + os.environ["PATH"]
os.environ.update(TERM="dumb", HOME=os.getcwd(), TNF_PROVIDERS=SOURCE + "/providers",
                  LD_LIBRARY_PATH=BUILD + "/libtnfprobe")
try:
    for page, blocks in ("README.md", readme()), ("tracing(7)", man()):
        for commands in blocks:
            type_block(page, commands)
        end(started)
    for line in set(TABLE) - used:
        fail(line, "TABLE has it, and no page")
finally:
    end(servers + started)
    if os.path.exists("db/postmaster.pid"):
        postmaster = int(open("db/postmaster.pid").readline())
        os.kill(postmaster, signal.SIGQUIT)
        wait_for(lambda: not os.path.exists("/proc/%d" % postmaster))
    quietly("prex", "-k", "-c", OFF)
    if world.get("cgroup"):
        os.rmdir(world["made"])
print("%d lines are typed or named" % len(used))
sys.exit(1 if failures else 0)
