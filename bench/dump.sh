#!/bin/sh
# dump.sh - tnfdump: events a second, memory, first line of a large file.
# The traces are made by tests/reader/mktrace; their text is read by a pipe.
. "$(dirname "$0")/lib.sh"
tnfdump=$BENCH_BUILD/tnfdump/tnfdump mktrace=$BENCH_BUILD/tests/reader/mktrace
: "${BENCH_EVENTS:=4000000}"
[ -x "$mktrace" ] || leave "built without the tests (Debian package check)"
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
at_exit 'rm -rf "$out"'

# MiB of memory of its own (mapped files left out), at most
own_memory() {
	"$@" >/dev/null & _p=$!
	_max=0
	while _now=$(awk '/^RssAnon/ { print $2 }' "/proc/$_p/status" 2>/dev/null) &&
	    [ -n "$_now" ]; do
		[ "$_now" -le "$_max" ] || _max=$_now
		sleep 0.02
	done
	echo "$_max" | awk '{ printf "%.1f\n", $1 / 1024 }'
}

# each MILLIONS: ns an event of x.tnf
each() {
	seconds "$tnfdump" "$out/x.tnf" | awk -v n="$1" '{ printf "%.1f\n", $1 * 1000 / n }'
}

first_line() {
	seconds sh -c '"$1" "$2" | head -n 9' first "$tnfdump" "$1"
}

n=$BENCH_EVENTS
"$mktrace" -n "$n" -t 4 "$out/string.tnf" &&
"$mktrace" -n "$n" -t 4 -p ints "$out/ints.tnf" &&
"$mktrace" -n "$n" -t 4 -p none "$out/none.tnf" &&
"$mktrace" -n "$n" -k -b 4096 -t 2 "$out/kernel.tnf" &&
"$mktrace" -n "$n" -B -t 4 "$out/big.tnf" || exit 1
while another 20; do
	sample "two ints and a string" Mevents/s $round rate "$n" "$tnfdump" "$out/string.tnf"
	sample "two ints" Mevents/s $round rate "$n" "$tnfdump" "$out/ints.tnf"
	sample "no arguments" Mevents/s $round rate "$n" "$tnfdump" "$out/none.tnf"
	sample "kernel file" Mevents/s $round rate "$n" "$tnfdump" "$out/kernel.tnf"
	sample "other byte order" Mevents/s $round rate "$n" "$tnfdump" "$out/big.tnf"
	sample "two files merged" Mevents/s $round rate $((2 * n)) "$tnfdump" "$out/string.tnf" "$out/big.tnf"
done
rm -f "$out"/*.tnf

# Time grows with events.
for millions in ${BENCH_MILLIONS:-1 4 16 64}; do
	"$mktrace" -n ${millions}000000 -t 8 -p none "$out/x.tnf" || exit 1
	while another 20; do
		sample "no arguments: $millions M events" "ns/event" $round each $millions
	done
done
"$mktrace" -n $((n * 17 / 4)) -t 8 "$out/x.tnf" || exit 1
mib=$(($(stat -c %s "$out/x.tnf") >> 20))
while another 10; do
	sample "first line of $mib MiB" s $round first_line "$out/x.tnf"
done
sample "own memory for $mib MiB" MiB 1 own_memory "$tnfdump" "$out/x.tnf"
table "two ints and a string;no arguments: 1 M events" "tnfdump, into a pipe that is read"
