#!/bin/sh
# imports.sh - what imported probes cost: a tracepoint, a USDT probe, a function.
#
# CPU nanoseconds that are added to one getppid(2) by its record of
# raw_syscalls:sys_enter, beside the kernel's own ring with the same event, a program
# that does nothing at the same place, and a bpftrace program that only counts it.
# The goal is 0.7 of the ring's cost and an empty program together.
#
# And those that are added to a hit of a USDT probe with two arguments, to a call of a
# function and to its return, each with its record written, beside a bpftrace program
# that only counts them; the goal is 1.1 of that.  And what the same costs where the program
# records it itself (a fast probe), beside a probe of TNF in the source: the goal is 1.2 of that.
. "$(dirname "$0")/lib.sh"

b=$BENCH_BUILD
kpctl=$b/tests/kernel/kpctl loop=$b/bench/kernel/kernel-loop floor=$b/bench/kernel/kernel-floor
sites=$b/bench/kernel/kernel-sites prex=$b/prex/prex
calls=${BENCH_LOOPS:-1000000}
hits=$((calls / 10))
cpu=$(($(nproc) - 1))

[ -x "$kpctl" ] && [ -x "$loop" ] || leave "built without the kernel's probes"
kernel_lock || exit 77

# added WHAT ROUND BARE CMD...: what CMD prints, less BARE; its unit is $unit
unit=ns
added()
{
	_w=$1 _r=$2 _bare=$3
	shift 3
	_v=$("$@" 2>"$BENCH_TMP/err" | awk '/^[0-9.]+$/ { v = $1 } END { print v }')
	[ -n "$_v" ] || { failed "$_w ($(tail -n 1 "$BENCH_TMP/err"))"; return; }
	added=$(echo "$_v $_bare" | awk '{ printf "%.1f", $1 - $2 }')
	row "$_w" "$unit" "$_r" "$added"
}

stop_ours() { "$kpctl" off >/dev/null 2>&1; "$kpctl" dealloc >/dev/null 2>&1; }
at_exit stop_ours
"$kpctl" alloc 16777216 >/dev/null || exit 1
"$kpctl" set import_rate 0
ring=/sys/kernel/tracing/instances/tnf-bench.$$
have bpftrace bpftrace && bpftrace=yes

ours()	# ROUND BARE WHAT PROBE
{
	"$kpctl" enable "$4" && "$kpctl" on || return 1
	added "$3" "$1" "$2" "$loop" "$calls" "$cpu"
	"$kpctl" off
	"$kpctl" disable "$4"
}

tracepoints()	# ROUND
{
	unit=ns in_ring=
	bare=$("$loop" "$calls" "$cpu" | awk '/^[0-9.]+$/ { v = $1 } END { print v }')
	ours "$1" "$bare" "raw_syscalls.sys_enter recorded" raw_syscalls.sys_enter
	"$kpctl" where raw_syscalls.sys_enter 'id = 1'
	ours "$1" "$bare" "the same where id = 1 (none)" raw_syscalls.sys_enter
	"$kpctl" where raw_syscalls.sys_enter ''
	if mkdir "$ring" 2>/dev/null; then
		echo 1 >"$ring/events/raw_syscalls/sys_enter/enable"
		added "the kernel's ring with it" "$1" "$bare" "$loop" "$calls" "$cpu" &&
			in_ring=$added
		rmdir "$ring"
	fi
	added "an empty program there" "$1" "$bare" "$floor" empty -t "$loop" "$calls" "$cpu" &&
		[ -n "$in_ring" ] && row "0.7 of the ring + an empty program" ns "$1" \
		"$(echo "$in_ring $added" | awk '{ printf "%.1f", 0.7 * $1 + $2 }')"
	[ -z "$bpftrace" ] || added "bpftrace counting it" "$1" "$bare" \
		counting 'tracepoint:raw_syscalls:sys_enter { @ = count(); }' "$loop" "$calls" "$cpu"
}

# recording PROBE CMD...: PROBE is the one of $sites that is on meanwhile
recording()
{
	_probe=$1
	shift
	"$prex" -k -c "import '$sites'; list name probes function=sites_called; trace name=$_probe; \
		enable name=$_probe; ktrace on" </dev/null >"$BENCH_TMP/err" 2>&1 || return 1
	"$@"
	"$prex" -k -c "ktrace off; untrace name=$_probe; disable name=$_probe" </dev/null >/dev/null 2>&1
}

# site ROUND KIND WHAT PROBE BPFTRACE'S
site()
{
	unit=ns/$3
	bare=$("$sites" "$2" "$hits" "$cpu")
	added "$3 recorded" "$1" "$bare" recording "$4" "$sites" "$2" "$hits" "$cpu"
	[ -z "$bpftrace" ] || added "$3 counted by bpftrace" "$1" "$bare" \
		counting "$5 { @ = count(); }" "$sites" "$2" "$hits" "$cpu"
}

# alone COMMAND SITE: $sites under a prex that switches a probe of the process itself on
alone()
{
	rm -f "$BENCH_TMP/own"
	"$prex" --set fast_returns="${3:-off}" -s 8192 -o "$BENCH_TMP/own" -c "$1; continue" \
		"$sites" "$2" "$calls" "$cpu" </dev/null
}

own()	# ROUND
{
	[ "$(uname -m)" = x86_64 ] || return 0
	unit=ns/USDT
	bare=$("$sites" usdt "$calls" "$cpu")
	added "USDT recorded by the process" "$1" "$bare" alone 'enable keys=sites' usdt
	unit=ns/entry
	bare=$("$sites" function "$calls" "$cpu")
	added "entry recorded by the process" "$1" "$bare" alone 'enable function=sites_called' function &&
		row "function recorded by the process" ns/hit "$1" "$added"
	unit=ns/hit
	bare=$("$sites" probe "$calls" "$cpu")
	added "TNF_PROBE_2 recorded" "$1" "$bare" alone 'enable name=sites_probe' probe
	added "function on and not traced" "$1" "$("$sites" function "$calls" "$cpu")" \
		alone 'enable function=sites_called; untrace keys=function' function
	added "call and return recorded by the process" "$1" "$("$sites" function "$calls" "$cpu")" \
		alone 'enable function=sites_called' function on
}

programs()	# ROUND
{
	site "$1" usdt USDT sites.hit "usdt:$sites:sites:hit"
	site "$1" function entry sites_called_entry "uprobe:$sites:sites_called"
	site "$1" function return sites_called_return "uretprobe:$sites:sites_called"
}

[ -x "$sites" ] && [ -e /sys/bus/event_source/devices/uprobe ] ||
	not_measured "programs: built without <sys/sdt.h>, or no uprobes" || sites=
while another 90; do
	tracepoints $round
	[ -z "$sites" ] || programs $round
	[ -z "$sites" ] || own $round
done
table "0.7 of the ring + an empty program;USDT counted by bpftrace;entry counted by bpftrace;return counted by bpftrace;TNF_PROBE_2 recorded" \
	"CPU ns added to a system call, to a hit of a probe in a program"
