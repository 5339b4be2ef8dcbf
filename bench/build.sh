#!/bin/sh
# build.sh - a build of this project with every probe of the kernel on, and off.
#
# Seconds on the wall of "ninja prex/prex" in a tree of its own.  Events a second
# and lost ones are of the same builds; the buffer is 64 MiB, and a snapshot is
# taken every two seconds, as somebody would who wants to keep them all.
. "$(dirname "$0")/lib.sh"

top=$(cd "$bench_dir/.." && pwd)
tnfxtract=$BENCH_BUILD/tnfxtract/tnfxtract
command -v ninja >/dev/null || leave "no ninja (Debian package ninja-build)"
kernel_lock || exit 77
out=$(mktemp -d -p /dev/shm) || exit 1
at_exit 'rm -rf "$out"'
events=raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_switch,sched:sched_wakeup
events=$events,sched:sched_process_fork,sched:sched_process_exit,exceptions:page_fault_user

export CCACHE_DISABLE=1		# meson takes a cache of compilations that it finds
meson setup "$out/tree" "$top" --buildtype=release -Dkernel=disabled -Dtests=disabled \
	>/dev/null 2>&1 || leave "meson setup failed"

target=prex/prex
[ -z "${BENCH_QUICK:-}" ] || target=common/libcommon.a
compile()
{
	ninja -C "$out/tree" -t clean >/dev/null
	seconds ninja -C "$out/tree" "$target" 9>&-
}

# Snapshots beside the build; afterwards, those that do not reach back to the
# one before on some CPU: there something may be lost.
drain()
{
	_n=0
	while sleep 2; do
		"$tnfxtract" --no-context "$out/snapshot.$((_n += 1))" 2>/dev/null
	done
}

gaps()
{
	_n=0
	while [ -e "$out/snapshot.$((_n += 1))" ]; do
		"$BENCH_BUILD/tnfdump/tnfdump" --columns mono,cpu "$out/snapshot.$_n" 2>/dev/null |
			awk -v n=$_n '$1 + 0 > 0 { if (!($2 in first)) first[$2] = $1; last[$2] = $1 }
			END { for (cpu in first) print n, cpu, first[cpu], last[cpu] }'
		rm -f "$out/snapshot.$_n"
	done | awk '$1 > 1 && $3 > last[$2] { gaps++ } { last[$2] = $4 } END { print gaps + 0 }'
}

# traced ROUND: the events of the last snapshot, by the time they span
traced()
{
	# shellcheck disable=SC2016 # a word of prex
	kernel_on 64m '$all' || { failed "prex -k"; return; }
	drain 9>&- & drainer=$!
	sample "every kernel probe on" s "$1" compile
	kill $drainer; wait $drainer 2>/dev/null
	"$tnfxtract" "$out/kernel.tnf"
	kernel_off
	row "lost" events "$1" "$(info "$out/kernel.tnf" dropped)"
	row "snapshots with a gap before" CPUs "$1" "$(gaps)"
	row "events a second" k/s "$1" "$(echo "$(info "$out/kernel.tnf" events) \
	    $(info "$out/kernel.tnf" first_ns) $(info "$out/kernel.tnf" last_ns)" |
		awk '{ printf "%.1f", $1 / ($3 - $2) * 1e6 }')"
}

perf_record()
{
	perf record -q -a -m 16M -o "$out/perf" -e "$events" -- sleep 1000 >/dev/null 2>&1 9>&- & _perf=$!
	sleep 1
	compile
	kill -INT $_perf; wait $_perf 2>/dev/null
	rm -f "$out/perf"
}

# The same events in the tracefs ring, with nobody who reads it.
in_ring()
{
	_ring=/sys/kernel/tracing/instances/tnf-bench
	mkdir "$_ring" || return 1
	for _e in $(echo "$events" | tr : / | tr , ' '); do
		echo 1 >"$_ring/events/$_e/enable" || :
	done
	compile
	rmdir "$_ring"
}
no_ring() { [ ! -d /sys/kernel/tracing/instances/tnf-bench ] || rmdir /sys/kernel/tracing/instances/tnf-bench; }
at_exit no_ring

perf=
have perf linux-perf && perf=yes
compile >/dev/null			# files are in memory from here on
while another 150; do
	sample "nothing on" s $round compile
	traced $round
	[ -z "$perf" ] || sample "perf record -a (7 tracepoints)" s $round perf_record
	[ ! -d /sys/kernel/tracing/instances ] || sample "tracefs ring (7 tracepoints)" s $round in_ring
done
table "nothing on" "a build while the kernel's probes are on"
