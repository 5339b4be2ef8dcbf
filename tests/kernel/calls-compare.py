#!/usr/bin/python3
"""calls-compare.py - are the calls that tnfdump --calls prints those that strace -yy prints?

Usage: calls-compare.py STRACE CALLS [32]
Both have the calls between two calls of getppid.  Lines are made equal in what differs between two
runs: addresses, numbers of inodes, ports that the kernel chose.  Contents of memory that strace shows
and that no event has (the buffer of read, struct stat) count as the address that is given to the call;
the last line says of how many arguments that is so.  Of a program of 32 bits (the third word) no event
has the sizes of buffers.  Lines that differ are printed.
"""
import re, sys

MEMORY = "<memory>"
NARROW = sys.argv[3:] == ["32"]
# Their texts are contents of a buffer, not a name.
BUFFERS = ("read", "write", "pread64", "pwrite64", "readlink", "readlinkat", "sendto", "recvfrom",
           "setxattr", "lsetxattr", "fsetxattr", "getrandom")
# Their results are others in each run.
OTHERS = ("getpid", "gettid", "getpgid", "getpgrp", "getsid", "time", "times", "getppid")


def split(text):
    """Arguments at the commas that are in no bracket and in no string."""
    out, depth, quoted, at, i = [], 0, False, 0, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c == "<" and text[i - 1].isdigit() or c in "{[(":
            depth += 1
        elif c in ")]}" or c == ">" and text[i - 1] != "-" and depth:
            depth -= 1
        elif c == "," and depth == 0:
            out.append(text[at:i].strip())
            at = i + 1
        i += 1
    return out + [text[at:].strip()] if text.strip() else []


def descriptor(text):
    """What is between < and >, without what is another number in each run."""
    text = re.sub(r"UNIX(-\w+)?:|NETLINK:|socket:", "socket:", text)
    text = re.sub(r"->(0\.0\.0\.0|\[::\]):0", "", text)
    text = re.sub(r"\[[0-9]+[^\]]*\]", "[N]", text) if not text.startswith("TCP") else "TCP"
    return text


def address(text):
    m = re.search(r'AF_UNIX, (?:sun_path=)?@?("[^"]*")', text)
    if m:
        return "unix " + m[1]
    m = re.search(r'htons\((\d+)\).*?"([0-9a-f.:]+)"', text) or None
    if m:
        return f"inet {m[2]} {m[1]}"
    m = re.search(r"AF_INET6?, \[?([0-9a-f.:]+?)\]?:(\d+)\}", text)
    return f"inet {m[1]} {m[2]}" if m else None


def number(text):
    text = re.sub(r"^0(?=[0-7]+$)", "0o", text)
    try:
        n = int(text, 0)
    except ValueError:
        return None
    if 0x8048000 <= n < 0xFFFFE000 if NARROW else n >> 63 == 0 and n > 1 << 40:
        return MEMORY
    return str(n if 0 < n >> 32 < 1 << 31 else n & 0xFFFFFFFF)


def argument(text):
    if text.startswith("AT_FDCWD"):
        return "AT_FDCWD"
    m = re.fullmatch(r"(-?\d+)<(.*)>", text)
    if m:
        return m[1] + " " + descriptor(m[2])
    if text.startswith("{") and address(text):
        return address(text)
    if "iov_len" in text:
        return "sizes " + " ".join(re.findall(r"iov_len=(\d+)", text))
    if text.startswith("{tv_sec"):
        return text
    if text == "NULL":
        return "0"
    text = re.sub(r" /\* .* \*/", "", text)
    if text[:1] in "{[" or text.startswith("~["):
        return MEMORY
    if text.startswith('"'):
        return text
    if number(text):
        return number(text)
    return "|".join(sorted(number(w) or w for w in text.split("|")))


def call(line):
    line = re.sub(r"^\s*[\d.]+\s+\d+\s+\d+ \S+\s+(?=\w+\()", "", line.rstrip("\n"))
    line = re.sub(r" <[\d.]+>$", "", line)
    m = re.match(r"(\w+)\((.*)\)\s+= (.*)$", line)
    if m is None:
        return None
    result = re.sub(r"^(-?\w+)<.*>", r"\1", m[3])
    words = result.split()
    value = "N" if m[1] in OTHERS else number(words[0]) or words[0]
    error = words[1] if len(words) > 1 and words[1].startswith("E") else ""
    return m[1], split(m[2]), value, error, line


def between(path):
    calls = [c for c in map(call, open(path)) if c]
    at = [i for i, c in enumerate(calls) if c[0] == "getppid"]
    if len(at) < 2:
        raise SystemExit(f"calls-compare.py: {path}: {len(at)} calls of getppid instead of 2")
    return calls[at[0] + 1:at[1]]


def same(a, b, memory):
    """Are two calls the same?  Counts the arguments of which only the address is there."""
    args = list(zip(map(argument, a[1]), map(argument, b[1])))
    for x, y in args:
        if y == MEMORY and (x.startswith("{tv_") or NARROW and x.startswith("sizes") or
                            x.startswith('"') and a[0] in BUFFERS):
            memory.append(a[0])
        elif x != y:
            return False
    return a[0] == b[0] and len(a[1]) == len(b[1]) and a[2:4] == b[2:4]


def main():
    strace, ours, memory, differ = between(sys.argv[1]), between(sys.argv[2]), [], 0
    for a, b in zip(strace, ours):
        if not same(a, b, memory):
            differ += 1
            print("strace: ", a[4], "\ntnfdump:", b[4])
    names = len({c[0] for c in strace})
    equal = min(len(strace), len(ours)) - differ
    print(f"{equal} of {len(strace)} calls equal, of {names} different ones; {len(ours)} are in the trace; "
          f"{len(memory)} arguments as an address where strace shows memory")
    return 0 if len(ours) == len(strace) and equal >= 0.95 * len(strace) and names >= 200 else 1


sys.exit(main())
