#!/bin/sh
# look-first.sh - to look at the probes of a process makes no trace file, and a
# size and name asked for later count.
#
# usage: look-first.sh PREX VICTIM-ENDS
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") victim=$(realpath "$2")
cd "$TMP" || exit 1
export HOME="$TMP" TMPDIR="$TMP/tmp"
mkdir tmp

mkfifo in
"$victim" < in > out &
pid=$!
exec 3> in
trap 'kill $pid 2>/dev/null; rm -rf "$TMP"' EXIT
wait_for 60 grep -q ready out || fail "the victim does not start"

visit() {
	"$prex" -p $pid "$@" > prex.out 2>&1 || fail "$*: $(cat prex.out)"
}
none() {
	[ -z "$(find . -name '*.tnf' -o -name 'trace-*')" ] ||
		fail "$1: $(find . -name '*.tnf' -o -name 'trace-*')"
}
visit -c 'list values keys; list probes $all; create $x end; quit'
none "listing made a file"
visit -o p.tnf -c 'list tracefile; list sets'
grep -qx "Current trace file is: $TMP/p.tnf" prex.out || fail "$(cat prex.out)"
none "list tracefile made the file"
"$prex" -o p.tnf -c 'list probes $all' "$victim" < /dev/null > prex.out 2>&1
none "a program that was only looked at"

# The first that asks for something to be recorded gets it as it asks.
visit -o q.tnf -s 256 -c 'enable $all; quit'
[ "$(stat -c %s q.tnf)" -ge 262144 ] || fail "-s 256: $(stat -c %s q.tnf)"
[ "$(stat -c %s q.tnf)" -lt 524288 ] || fail "-s 256: $(stat -c %s q.tnf)"
grep -q warning prex.out && fail "a warning: $(cat prex.out)"

# The same again is fine.
visit -o q.tnf -s 256 -c 'list tracefile'
grep -qx "Current trace file is: $TMP/q.tnf" prex.out || fail "$(cat prex.out)"
grep -q warning prex.out && fail "a warning: $(cat prex.out)"

# Another size alone is told: it would cost what has been recorded.
visit -s 1024 -c 'list tracefile'
grep -qx "Current trace file is: $TMP/q.tnf" prex.out &&
	grep -q "warning: -s 1024: .* $TMP/q.tnf has 256 kbytes: .*-o" prex.out ||
	fail "$(cat prex.out)"

# A file that another process records into is replaced, which is told; one that a
# killed process has left is not worth a word.
taken="warning: $TMP/q.tnf: process $pid records into it: "
"$prex" -o q.tnf -c 'enable $all' "$victim" < /dev/null > prex.out 2>&1
grep -qF "$taken" prex.out || fail "a file in use: $(cat prex.out)"
"$prex" -o q.tnf -c 'enable $all' "$victim" < /dev/null > prex.out 2>&1
grep -q warning prex.out && fail "a file that nobody uses: $(cat prex.out)"
exec 3>&-
wait $pid
exit 0
