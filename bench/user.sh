#!/bin/sh
# user.sh - a user probe, off and on, beside lttng-ust, USDT and the floor.
#
# CPU nanoseconds per event.  "floor" is a clock read and a 24-byte store into
# a ring of the thread's own; "args" is two ints and a short string.
#
# Each of ours has two rows: the mean of a run, and the least of its 250 pieces, which
# time that is stolen from a virtual machine does not touch.  Goals are for the latter.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/peers/lttng.sh"

loops=${BENCH_LOOPS:-5000000}
b=$BENCH_BUILD/bench

# ours WHAT THREADS LOOPS ROUND [PROGRAM]
# Ratios are to a floor of as many threads: so each number of threads has a unit.  Hits with two
# integers have one, too: the ratio is to a program that is not linked with libtnfotel.
ours()
{
	_what="tnf $1" _unit=ns _round=$4
	[ "$2" = 1 ] || _what="$_what x$2 threads" _unit="ns x$2"
	case $1 in ints|span) _unit="ns ints" ;; esac
	[ $# -lt 5 ] || _what="$_what with libtnfotel"
	# shellcheck disable=SC2046 # the least piece, and the mean
	set -- $("$b/${5:-bench-probe}" --one "$1" "$3" "$2")
	[ $# -eq 2 ] || { failed "$_what"; return; }
	row "$_what" "$_unit" "$_round" "$2"
	row "$_what (least)" "$_unit least" "$_round" "$1"
}

peers_lttng()	# ROUND
{
	[ -x "$b/peer-lttng" ] || return 0
	sample "lttng-ust off" ns "$1" "$b/peer-lttng" none "$loops" 1
	for context in no yes; do
		c=; [ $context = yes ] && c=" +ids"
		for what in none args; do
			lttng_begin snapshot $context || return 0
			sample "lttng-ust $what$c" ns "$1" "$b/peer-lttng" $what $((loops / 5)) 1
			lttng_end
		done
		[ $context = no ] || {
			lttng_begin snapshot yes || return 0
			sample "lttng-ust none +ids x2 threads" ns "$1" "$b/peer-lttng" none $((loops / 5)) 2
			lttng_end
		}
	done
}

peers_usdt()	# ROUND
{
	[ -x "$b/peer-usdt" ] || return 0
	sample "USDT off" ns "$1" "$b/peer-usdt" none "$loops" 1
	[ -n "$bpftrace" ] || return 0
	sample "USDT bpftrace count()" ns "$1" counting "usdt:$b/peer-usdt:bench:none { @ = count(); }" \
		"$b/peer-usdt" none $((loops / 20)) 1
}

have lttng lttng-tools && have lttng-sessiond lttng-tools
[ -x "$b/peer-lttng" ] || echo "$bench: peer missing: lttng-ust (Debian package liblttng-ust-dev)"
[ -x "$b/peer-usdt" ] || echo "$bench: peer missing: USDT (Debian package systemtap-sdt-dev)"
bpftrace=
[ "$(id -u)" = 0 ] && have bpftrace bpftrace && bpftrace=yes

while another 80; do
	for threads in 1 2; do
		for what in empty clock floor off none args; do
			ours $what $threads "$loops" $round
		done
	done
	ours ints 1 "$loops" $round
	ours ints 1 "$loops" $round bench-probe-otel
	ours span 1 "$loops" $round bench-probe-otel
	# With 1,000 a thread has eight blocks.
	for what in floor none args; do
		ours $what 1000 $((loops / 200)) $round
	done
	peers_lttng $round
	peers_usdt $round
done
refs="tnf floor;tnf floor (least);tnf ints;tnf ints (least)"
for threads in 2 1000; do
	refs="$refs;tnf floor x$threads threads;tnf floor x$threads threads (least)"
done
table "$refs" "CPU ns per event; args: two ints and \"hello\""
