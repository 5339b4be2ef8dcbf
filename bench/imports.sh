#!/bin/sh
# imports.sh - what a tracepoint costs as an imported probe.
#
# CPU nanoseconds that are added to one getppid(2) by its record of
# raw_syscalls:sys_enter, beside the kernel's own ring with the same event, and a
# bpftrace program that only counts it.
. "$(dirname "$0")/lib.sh"

b=$BENCH_BUILD
kpctl=$b/tests/kernel/kpctl loop=$b/bench/kernel/kernel-loop
calls=${BENCH_LOOPS:-1000000}
cpu=$(($(nproc) - 1))

[ -x "$kpctl" ] && [ -x "$loop" ] || leave "built without the kernel's probes"
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

stop_ours() { "$kpctl" off >/dev/null 2>&1; "$kpctl" dealloc >/dev/null 2>&1; }
at_exit stop_ours
"$kpctl" alloc 16777216 >/dev/null || exit 1
"$kpctl" set import_rate 0
ring=/sys/kernel/tracing/instances/tnf-bench.$$
have bpftrace bpftrace && bpftrace=yes

counting()	# bpftrace needs a moment to attach
{
	bpftrace -e 'tracepoint:raw_syscalls:sys_enter { @a = count(); }' >/dev/null 2>&1 &
	_pid=$!
	sleep 3
	"$loop" "$calls" "$cpu"
	kill $_pid
	wait $_pid 2>/dev/null
}

ours()	# ROUND BARE WHAT PROBE
{
	"$kpctl" enable "$4" && "$kpctl" on || return 1
	added "$3" "$1" "$2" "$loop" "$calls" "$cpu"
	"$kpctl" off
	"$kpctl" disable "$4"
}

round=0
while [ $((round += 1)) -le "$BENCH_ROUNDS" ]; do
	bare=$("$loop" "$calls" "$cpu" | awk '/^[0-9.]+$/ { v = $1 } END { print v }')
	ours "$round" "$bare" "raw_syscalls.sys_enter recorded" raw_syscalls.sys_enter
	"$kpctl" where raw_syscalls.sys_enter 'id = 1'
	ours "$round" "$bare" "the same where id = 1 (none)" raw_syscalls.sys_enter
	"$kpctl" where raw_syscalls.sys_enter ''
	if mkdir "$ring" 2>/dev/null; then
		echo 1 >"$ring/events/raw_syscalls/sys_enter/enable"
		added "the kernel's ring with it" "$round" "$bare" "$loop" "$calls" "$cpu"
		rmdir "$ring"
	fi
	[ -z "$bpftrace" ] || added "bpftrace counting it" "$round" "$bare" counting
done
table "the kernel's ring with it" "CPU ns added to a system call"
