#!/bin/sh
# startup.sh - what tracing adds to a start; attaching; the first kernel event.
#
# Milliseconds on the wall, from exec to exit.  "prex -k" ends when every probe
# of system calls is on: its own exit is among the events.
. "$(dirname "$0")/lib.sh"

b=$BENCH_BUILD
prex=$b/prex/prex elapsed=$b/bench/elapsed many=$b/tests/victims/victim-many sdt=$b/tests/imports/sdt
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
mkfifo "$out/open" || exit 1
victim=
at_exit '[ -z "$victim" ] || kill $victim 2>/dev/null; rm -rf "$out"'

attach()	# COMMANDS [PROGRAM ARG]: to a process with 1,000 probes, a new one each time
{
	"${2:-$many}" "${3:-0}" <"$out/open" >/dev/null 2>&1 9>&- & victim=$!
	exec 8>"$out/open"	# it ends with its input
	sleep 0.3
	"$elapsed" "$prex" -p $victim -o "$out/many" -c "$1" </dev/null
	_status=$?
	exec 8>&-
	kill $victim 2>/dev/null
	wait $victim 2>/dev/null
	victim=
	rm -f "$out/many"
	return $_status
}

# The standstill that a target of 50 threads and 1,000 probes sees in a visit.
still() { "$b/bench/attach" "$1" 9 | grep -Eo '[0-9]+\.[0-9]+' | head -n 1; }

# A process as its distribution ships it, of which 10,000 functions go on and off as fast probes; beside that
# what their pages take.
functions()	# ROUND
{
	redis-server --port 0 --unixsocket "$out/redis" --save '' --dir "$out" >/dev/null 2>&1 9>&- & victim=$!
	sleep 0.5
	"$b/bench/still" $victim 10000 5 >"$out/stood" 2>"$BENCH_TMP/err" ||
		failed "functions on ($(tail -n 1 "$BENCH_TMP/err"))"
	kill $victim 2>/dev/null
	wait $victim 2>/dev/null
	victim=
	while IFS=, read -r what value; do
		row "redis stands still: $what" ms "$1" "$value"
	done <"$out/stood"
}

starts()	# ROUND
{
	sample "true alone" ms "$1" "$elapsed" true
	sample "prex true" ms "$1" "$elapsed" "$prex" -o "$out/f" -c continue true
	sample "true with the library" ms "$1" env LD_PRELOAD="$b/libtnfprobe/libtnfprobe.so.1" "$elapsed" true
	[ -z "$strace" ] || sample "strace true" ms "$1" "$elapsed" strace -o "$out/s" true
	[ -z "$gdb" ] || sample "gdb: run true" ms "$1" "$elapsed" gdb -nx -batch -ex run true
	[ -z "$perf" ] || sample "perf record true" ms "$1" "$elapsed" perf record -q -o "$out/p" true
	[ -z "$bpftrace" ] || sample "bpftrace true" ms "$1" "$elapsed" bpftrace -c /bin/true \
		-e 'tracepoint:raw_syscalls:sys_enter { @ = count(); }'
	[ ! -x "$many" ] || {
		sample "prex -p: 1000 probes" ms "$1" attach quit
		sample "the same and list" ms "$1" attach 'list name probes keys=many; quit'
		# shellcheck disable=SC2016 # a word of prex
		sample "the same and enable \$all" ms "$1" attach 'enable $all; quit'
	}
	[ ! -x "$sdt" ] || sample "prex -p: USDT probes listed" ms "$1" attach \
		'list name probes keys=usdt; quit' "$sdt" -w
	[ ! -x "$b/bench/attach" ] || {
		sample "target stands still: attach" ms "$1" still open
		sample "target stands still: enable 1000" ms "$1" still enable
	}
	[ -z "$redis" ] || functions "$1"
	[ -z "$kernel" ] || {
		sample "prex -k to the first event" ms "$1" "$elapsed" "$prex" -k -c \
			'buffer alloc 16m; trace syscall; enable syscall; ktrace on'
		kernel_off
	}
}

kernel='' strace='' gdb='' perf='' bpftrace='' redis=''
have strace strace && strace=yes
have redis-server redis-server && [ "$(uname -m)" = x86_64 ] && [ -x "$b/bench/still" ] && redis=yes
have gdb gdb && gdb=yes
[ "$(id -u)" = 0 ] && have perf linux-perf && perf=yes
[ "$(id -u)" = 0 ] && have bpftrace bpftrace && bpftrace=yes
kernel_lock && kernel=yes

while another 60; do
	starts $round
done </dev/null
table "true alone" "milliseconds from exec to exit"
