#!/bin/sh
# views.sh - traces into programs: the Python package tnf beside babeltrace2's
# Python bindings, which get the same events as CTF; and into a page and a database.
#
# Millions of events a second on the wall, from opening the file to the last
# event; a thread of two ints and a string each.  babeltrace2 gets a part of them.
# go tool trace reads what a Go program wrote by trace.Log(), a part as well: it holds all
# of a trace in memory.  Bytes an event are those of that file, and of ours.
# Recording from Python: nanoseconds of the thread's CPU time a call, the loop left out.
. "$(dirname "$0")/lib.sh"
tnfdump=$BENCH_BUILD/tnfdump/tnfdump mktrace=$BENCH_BUILD/tests/reader/mktrace
python=${BENCH_PYTHON:-/usr/bin/python3}
: "${BENCH_EVENTS:=4000000}"
[ -x "$mktrace" ] || leave "built without the tests (Debian package check)"
export PYTHONPATH="$BENCH_BUILD/python"
"$python" -c 'import tnf' 2>/dev/null || leave "built without the Python package (python3-dev)"
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
at_exit 'rm -rf "$out"'

n=$BENCH_EVENTS few=$((BENCH_EVENTS / 40))
"$mktrace" -n "$n" -t 4 "$out/x.tnf" && "$mktrace" -n "$few" -t 4 "$out/few.tnf" &&
	"$tnfdump" --to ctf -o "$out/ctf" "$out/few.tnf" || exit 1

# into WORD: events a second, in millions, by one way
cat >"$out/into.py" <<'P'
import sys
import time

how, path = sys.argv[1:3]
if how == "bt2":
    import bt2
    start = time.perf_counter()
    n = 0
    for message in bt2.TraceCollectionMessageIterator(path):
        if type(message) is bt2._EventMessageConst:
            event = message.event
            name, fields = event.name, event.payload_field
            n += all(fields[key] is not None for key in fields)
else:
    import tnf
    start = time.perf_counter()
    with tnf.open(path) as trace:
        if how == "iterate":
            n = sum(1 for event in trace if event.probe.name and event.args)
        else:
            getattr(trace, how)()
            n = trace.files[0].events
print(n / (time.perf_counter() - start) / 1e6)
P

# made FORMAT: events a second, in millions, from the trace to the finished file
made()
{
	rm -f "$out/made"
	start=$(date +%s%N)
	"$tnfdump" --to "$1" -o "$out/made" "$out/x.tnf" || return 1
	awk -v n="$n" -v ns=$(($(date +%s%N) - start)) 'BEGIN { print n / ns * 1e3 }'
}

# sized FORMAT: bytes an event, of what was made
sized()
{
	made "$1" >/dev/null && awk -v n="$n" -v size="$(stat -c %s "$out/made")" 'BEGIN { print size / n }'
}

# The cost of a call of a probe of a Python program.
cat >"$out/call.py" <<'P'
import sys
import time

import tnf

probe = tnf.probe("call", keys="bench", id=int, cake=str)


def loop(n):
    for i in range(n):
        pass


def call(n):
    for i in range(n):
        probe(i, "apple")


def asked(n):
    for i in range(n):
        if probe:
            probe(i, "apple")


def cost(f, n=300000):
    best = None
    for _ in range(5):
        start = time.thread_time()
        f(n)
        took = (time.thread_time() - start) / n * 1e9
        best = took if best is None else min(best, took)
    return best


print(cost(asked if sys.argv[1] == "asked" else call) - cost(loop))
P
called()
{
	rm -f "$out/call.tnf"
	LD_LIBRARY_PATH=$BENCH_BUILD/libtnfprobe TNF_ENABLE=$1 TNF_FILE=$out/call.tnf \
		"$python" "$out/call.py" "$2"
}

# go_trace: the Go runtime's own trace of as many events, at $out/go.trace
go_trace()
{
	have go golang-go || return 1
	cat >"$out/log.go" <<'G'
package main

import (
	"context"
	"os"
	"runtime/trace"
	"strconv"
)

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	f, err := os.Create(os.Args[1])
	if err != nil || trace.Start(f) != nil {
		os.Exit(1)
	}
	ctx, task := trace.NewTask(context.Background(), "order")
	for i := 0; i < n; i++ {
		trace.Log(ctx, "cake", "apple")
	}
	task.End()
	trace.Stop()
	f.Close()
}
G
	export GO111MODULE=off GOFLAGS='' GOCACHE="$out/go-cache"
	go build -o "$out/log" "$out/log.go" >/dev/null 2>&1 && "$out/log" "$out/go.trace" "$few" ||
		not_measured "a Go program's trace"
}
# Its page needs a browser that asks for each part; -d is its whole reading, as text.
go_read() { rate "$few" go tool trace -d "$out/go.trace"; }
bytes_of() { awk -v n="$2" -v size="$(stat -c %s "$1")" 'BEGIN { print size / n }'; }

bt2=yes
"$python" -c 'import bt2' 2>/dev/null || { bt2=; echo "$bench: peer missing: bt2 (Debian package python3-bt2)"; }
ref="tnf: iterate with name and members"
[ -z "$bt2" ] || ref="babeltrace2: iterate with name and members"
while another 60; do
	[ -z "$bt2" ] || sample "babeltrace2: iterate with name and members" Mevents/s $round \
		"$python" "$out/into.py" bt2 "$out/ctf"
	sample "tnf: iterate with name and members" Mevents/s $round "$python" "$out/into.py" iterate "$out/x.tnf"
	for how in columns to_numpy to_pandas; do
		"$python" -c 'import numpy, pandas' 2>/dev/null || [ $how = columns ] || continue
		sample "tnf: $how" Mevents/s $round "$python" "$out/into.py" $how "$out/x.tnf"
	done
done

# SQLite makes the rows and indexes of such a database anew, from the tables of the first one.
cat >"$out/copy.py" <<'P'
import os, sqlite3, sys, time
start = time.perf_counter()
db = sqlite3.connect(sys.argv[1] + ".copy", isolation_level=None)
db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA temp_store = MEMORY; PRAGMA page_size = 16384; PRAGMA cache_size = -65536;")
db.execute("ATTACH ? AS old", sys.argv[1:])
db.execute("BEGIN")
for kind, name, sql in db.execute("SELECT type, name, sql FROM old.sqlite_master"
        " WHERE sql IS NOT NULL AND type != 'view' ORDER BY type DESC").fetchall():
    db.execute(sql)
    if kind == "table":
        columns = db.execute("PRAGMA old.table_info('%s')" % name).fetchall()
        # Expressions, since of bare columns SQLite would copy whole records.
        db.execute('INSERT INTO "%s" SELECT %s FROM old."%s"' % (name,
            ", ".join('likely("%s")' % c[1] for c in columns), name))
db.execute("COMMIT")
print("%.3f" % (db.execute("SELECT count(*) FROM events").fetchone()[0] / (time.perf_counter() - start) / 1e6))
os.unlink(sys.argv[1] + ".copy")
P

go=
go_trace && go=yes
sample "a trace of tnf: size" bytes/event 1 bytes_of "$out/x.tnf" "$n"
[ -z "$go" ] || sample "a trace of Go's runtime: size" bytes/event 1 bytes_of "$out/go.trace" "$few"
while another 60; do
	[ -z "$go" ] || sample "go tool trace: reading" Mevents/s $round go_read
	for format in html sqlite; do
		sample "tnfdump --to $format" Mevents/s $round made $format
		[ $round -gt 1 ] || sample "tnfdump --to $format: size" bytes/event $round sized $format
	done
	sample "SQLite alone: the same rows" Mevents/s $round "$python" "$out/copy.py" "$out/made"
done

while another 15; do
	sample "tnf.probe: off and asked first" ns $round called none asked
	sample "tnf.probe: off" ns $round called none call
	sample "tnf.probe: on with an int and a str" ns $round called bench call
done
table "$ref" "events a second into a Python program, a page, a database; ns a call from Python"
