#!/bin/sh
# kernel.sh - what a system call costs while both its ends are recorded.
#
# CPU nanoseconds that are added to one getppid(2), beside an empty pair of
# programs at the same places, perf, trace-cmd and bpftrace, in the same run.
. "$(dirname "$0")/lib.sh"

b=$BENCH_BUILD
kpctl=$b/tests/kernel/kpctl loop=$b/bench/kernel/kernel-loop floor=$b/bench/kernel/kernel-floor
calls=${BENCH_LOOPS:-1000000}
cpu=$(($(nproc) - 1))

[ -x "$kpctl" ] && [ -x "$floor" ] || leave "built without the kernel's probes"
kernel_lock || exit 77

# added WHAT ROUND BARE CMD...: what CMD prints, less BARE
added()
{
	_w=$1 _r=$2 _bare=$3
	shift 3
	_v=$("$@" 2>"$BENCH_TMP/err" | awk '/^[0-9.]+$/ { v = $1 } END { print v }')
	[ -n "$_v" ] || { echo "$bench: $_w: failed ($(tail -n 1 "$BENCH_TMP/err"))" >&2; return 1; }
	row "$_w" ns "$_r" "$(echo "$_v $_bare" | awk '{ printf "%.1f", $1 - $2 }')"
}

ours()	# ROUND BARE WHAT PROBE...
{
	_round=$1 _bare0=$2 _what=$3
	shift 3
	"$kpctl" enable "$@" && "$kpctl" on || return 1
	added "$_what" "$_round" "$_bare0" "$loop" "$calls" "$cpu"
	"$kpctl" off
	"$kpctl" disable "$@"
}

stop_ours() { "$kpctl" off >/dev/null 2>&1; "$kpctl" dealloc >/dev/null 2>&1; }
at_exit stop_ours
"$kpctl" alloc 16777216 >/dev/null || exit 1

have perf linux-perf && perf=yes
have trace-cmd trace-cmd && tracecmd=yes
ring=/sys/kernel/tracing/instances/tnf-bench.$$
have bpftrace bpftrace && bpftrace=yes

counting()	# bpftrace needs a moment to attach
{
	bpftrace -e 'tracepoint:raw_syscalls:sys_enter { @a = count(); }
		tracepoint:raw_syscalls:sys_exit { @b = count(); }' >/dev/null 2>&1 &
	_pid=$!
	sleep 3
	"$loop" "$calls" "$cpu"
	kill $_pid
	wait $_pid 2>/dev/null
}

# The ring that trace-cmd reads from, without the reader.
in_ring()
{
	mkdir "$ring" && echo 1 >"$ring/events/raw_syscalls/enable" || return 1
	"$loop" "$calls" "$cpu"
	rmdir "$ring"
}
no_ring() { stop_ours; [ ! -d "$ring" ] || rmdir "$ring"; }
at_exit no_ring

round=0
while [ $((round += 1)) -le "$BENCH_ROUNDS" ]; do
	bare=$("$loop" "$calls" "$cpu")
	row "getppid alone" ns/call $round "$bare"
	added "empty pair" $round "$bare" "$floor" "$loop" "$calls" "$cpu"
	ours $round "$bare" "syscall_start + syscall_end" syscall_start syscall_end
	ours $round "$bare" "syscall_start" syscall_start
	"$kpctl" filter on
	ours $round "$bare" "both filtered out" syscall_start syscall_end
	"$kpctl" filter off
	added "everything off" $round "$bare" "$loop" "$calls" "$cpu"
	[ -z "$perf" ] || added "perf record" $round "$bare" perf record -q -a -o "$BENCH_TMP/perf" \
		-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit "$loop" $((calls / 5)) "$cpu"
	[ ! -d /sys/kernel/tracing/instances ] || added "tracefs ring" $round "$bare" in_ring
	[ -z "$tracecmd" ] || added "trace-cmd record" $round "$bare" \
		sh "$bench_dir/peers/trace-cmd.sh" record -q \
		-o "$BENCH_TMP/trace" -e raw_syscalls "$loop" $((calls / 5)) "$cpu"
	[ -z "$bpftrace" ] || added "bpftrace count()" $round "$bare" counting
done
"$kpctl" status | sed 's/.* lost \(.*\) most.*/lost, by reason: \1/'
table "empty pair" "CPU ns added to a system call"
