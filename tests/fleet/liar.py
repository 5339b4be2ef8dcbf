# liar.py - says on the wire what nobody should: a NATS client of a few lines.
# usage: liar.py HOST:PORT flood | reply | agent NAME | crowd N AT-ONCE
#
# flood: garbage, half messages and path-like names to all subjects, then an empty line.
# reply: a question whose answer is to go where it means something to others, and one that
#	carries more than a question; only the second one is answered, and without that.
# agent: a host that registers and answers with what it should not: "greedy" has too much,
# "drip" sends less than it was asked for, "slow" a byte at a time for ever, "far" lies behind
# a link over which 128 KiB come in time, and more do not; others just lie.
# crowd: N hosts that have nothing, and say so only when so many of them are asked at once.
import json, os, random, re, select, socket, sys, time, zlib

address, mode = sys.argv[1], sys.argv[2]
host, port = address.rsplit(":", 1)
s = socket.create_connection((host, int(port)))
f = s.makefile("rb")
f.readline()
s.sendall(b'CONNECT {"verbose":false,"headers":true}\r\n')

def pub(subject, body, reply=None):
    s.sendall(b"PUB " + subject.encode() + b" " + (reply.encode() + b" " if reply else b"") +
        str(len(body)).encode() + b"\r\n" + body + b"\r\n")

def message(**words):
    body = words.pop("body", b"")
    lines = ["tnf-fleet 1"]
    for name, value in words.items():
        for v in value if isinstance(value, list) else [value]:
            lines.append("%s %s" % (name, v))
    return "\n".join(lines).encode() + b"\n\n" + body

def wait_pong():
    s.sendall(b"PING\r\n")
    for line in f:
        if line.startswith(b"PING"):
            s.sendall(b"PONG\r\n")
        elif line.startswith(b"PONG"):
            return

# Until the server has kept them: it answers when it has.
def register(hosts):
    inbox = "_INBOX.kept.%d" % os.getpid()
    s.sendall(b"SUB %s 9\r\n" % inbox.encode())
    for h in hosts:
        pub("$KV.tnf-hosts." + h, message(kind="lease", host=h, until=4000000000000000000), inbox)
    kept = 0
    while kept < len(hosts):
        line = f.readline()
        if not line:
            sys.exit("the connection is lost")
        if line.startswith(b"PING"):
            s.sendall(b"PONG\r\n")
        elif re.match(rb"H?MSG _INBOX\.kept\.[0-9]+ ", line):
            f.read(int(line.split()[-1]) + 2)
            kept += 1
    s.sendall(b"UNSUB 9\r\n")

if mode == "flood":
    random.seed(7)
    good = message(kind="ask", question="q1", hosts="*")
    wait_pong()
    for i in range(3000):
        kind = i % 6
        if kind == 0:
            body = os.urandom(random.randrange(2000))
        elif kind == 1:
            body = good[:random.randrange(len(good))]
        elif kind == 2:
            body = bytes(b ^ (1 << random.randrange(8)) if random.random() < .05 else b for b in good)
        elif kind == 3:
            body = message(kind="ask", question="../../etc/owned", hosts="*")
        elif kind == 4:
            body = message(kind="get", question=["q", "../q", ".new"][i % 3], host="good",
                file="../../good.conf", offset=0, length=100)
        else:
            body = message(kind="get", host="good", question="q1", file="x" * random.randrange(3000),
                offset=9 * 10 ** 30, has=["1 a"] * 600)
        pub(["tnf.ask", "tnf.host.good", "$KV.tnf-hosts.x%d" % i][i % 3], body, "_INBOX.nobody.%d" % i)
    wait_pong()
    sys.exit(0)

if mode == "reply":
    s.sendall(b"SUB elsewhere 1\r\nSUB _INBOX.mine.> 2\r\n")
    pub("tnf.ask", message(kind="ask", question="reply-1", hosts="*"), "elsewhere")
    pub("tnf.ask", message(kind="ask", question="reply-2", hosts="*", has="7 ballast.tnf",
        body=b"ballast"), "_INBOX.mine")
    # Questions are answered one after the other.
    for line in f:
        if line.startswith(b"PING"):
            s.sendall(b"PONG\r\n")
        elif re.match(rb"H?MSG ", line):
            part = line.split()
            data = f.read(int(part[-1]) + 2)
            sys.exit("answered elsewhere" if part[1] != b"_INBOX.mine.good" else
                "sent back" if b"ballast" in data else
                "no answer" if b"kind pinned" not in data else 0)
    sys.exit("the connection is lost")

if mode == "crowd":
    hosts = ["c%d" % i for i in range(int(sys.argv[3]))]
    register(hosts)
    s.sendall(b"SUB tnf.ask 1\r\nSUB tnf.host.* 2\r\n")
    wait_pong()
    print("ready", flush=True)
    waiting = {}
    for line in f:
        if line.startswith(b"PING"):
            s.sendall(b"PONG\r\n")
        if not re.match(rb"H?MSG ", line):
            continue
        part = line.split()
        data = f.read(int(part[-1]) + 2)[:-2]
        question = re.search(rb"^question (.*)$", data, re.M).group(1).decode()
        if part[1] == b"tnf.ask":
            for h in hosts:
                pub("%s.%s" % (part[3].decode(), h), message(kind="pinned", question=question, host=h, incident="i"))
            continue
        waiting[part[1].decode().split(".")[-1]] = part[3].decode()
        if len(waiting) >= int(sys.argv[4]):
            for h, reply in waiting.items():
                pub("%s.%s" % (reply, h), message(kind="kept", complete=1, question=question, host=h))
            sys.argv[4] = 1
            waiting = {}
    sys.exit("the connection is lost")

# An agent that lies.
me = sys.argv[3]
files = {"greedy": "5000000000 e.tnf", "drip": "1000 e.tnf", "slow": "100000000 e.tnf",
    "far": "200000 e.tnf"}
register([me])
pub("$KV.tnf-hosts.other", message(kind="lease", host="../liar", until=4000000000000000000))
s.sendall(b"SUB tnf.ask 1\r\nSUB tnf.host.%s 2\r\n" % me.encode())
wait_pong()
print("ready", flush=True)
n = 0
while True:
    line = f.readline()
    if not line:
        break
    if line.startswith(b"PING"):
        s.sendall(b"PONG\r\n")
    if not re.match(rb"H?MSG ", line):
        continue
    part = line.split()
    data = f.read(int(part[-1]) + 2)[:-2]
    reply = part[-2].decode() if len(part) > 4 else None
    if part[0] == b"HMSG":
        reply, data = part[-3].decode() if len(part) > 5 else None, data[int(part[-2]):]
    # Answers to where another one's would go are none; the rest are lies of our own.
    if reply:
        pub(reply, message(kind="kept", complete=1, question="q", host=me))
        pub(reply + ".good", message(kind="pinned", question="q", host=me))
        reply += "." + me
    words = dict(l.split(" ", 1) for l in data.split(b"\n\n")[0].decode().split("\n")[1:] if " " in l)
    if part[1] == b"tnf.ask":
        q = words["question"]
        for name in ["../evil", "a/b", "/etc/evil", ".hidden", "..", "x" * 500, "e\x1b[31mvil"]:
            pub(reply, message(kind="pinned", question=q, host=name, incident="i"))
        pub(reply, message(kind="pinned", question="another", host="stranger", incident="i"))
        pub(reply, message(kind="pinned", question=q, host=me, incident="i"))
        pub(reply, os.urandom(300))
        continue
    n += 1
    out = dict(question=words["question"], host=me)
    if me in files:
        if words["kind"] == "list":
            pub(reply, message(kind="kept", complete=1, has=files[me], length=me == "slow" and 1 or 262144, **out))
        elif me == "far":
            body = bytes(int(words["length"]))
            if len(body) <= 131072:
                pub(reply, message(kind="chunk", size=200000, body=body, length=len(body),
                    crc=zlib.crc32(body), file="e.tnf", offset=words.get("offset", 0), **out))
        else:
            pub(reply, message(kind="chunk", size=1000, body=b"x", length=1, crc=zlib.crc32(b"x"),
                file=words["file"], offset=words.get("offset", 0), **out))
        continue
    if words["kind"] == "list":
        lies = [["5 ../../evil.tnf"], ["5 /tmp/evil.tnf"], ["5 .evil.tnf"], ["-5 e.tnf"],
            ["99999999999999999999 e.tnf"]]
        if n <= 5:
            pub(reply, message(kind="kept", complete=1, has=lies[n - 1], **out))
        elif n == 6:
            pub(reply, message(kind="kept", complete=1, has=["10 e.tnf"], question=words["question"], host="another"))
        else:
            pub(reply, message(kind="kept", complete=1, has=["10 e.tnf", "20 f.tnf"], **out))
        continue
    body = b"0123456789"
    lies = [dict(length=10, crc=1), dict(length=20, crc=zlib.crc32(body)), dict(length=5, crc=zlib.crc32(body)),
        dict(length=10, crc=zlib.crc32(body), offset=1000000), dict(length=10, crc=zlib.crc32(body), packed=1),
        dict(length=10, crc=zlib.crc32(body), file="../e.tnf")]
    words.setdefault("file", "e.tnf")
    lie = lies[n % len(lies)]
    lie = dict(file=words["file"], **lie) if "file" not in lie else lie
    pub(reply, message(kind="chunk", size=10, body=body, **out, **lie))
