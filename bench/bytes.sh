#!/bin/sh
# bytes.sh - what an event takes on disk, beside lttng, perf and trace-cmd.
#
# "args" is two ints and "hello", kernel events are both ends of getppid.  Used
# blocks of ours, files of the others, divided by the events that are in them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/peers/lttng.sh"
. "$(dirname "$0")/peers/kernel.sh"

probe=$BENCH_BUILD/bench/bench-probe
loop=$BENCH_BUILD/bench/kernel/kernel-loop
events=${BENCH_LOOPS:-400000}
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
at_exit 'rm -rf "$out"'

per_event()	# WHAT BYTES EVENTS
{
	[ "${3:-0}" -gt 0 ] || { failed "$1: no events"; return; }
	row "$1" bytes 1 "$(echo "$2 $3" | awk '{ printf "%.2f", $1 / $2 }')"
}

ours()		# WHAT FILE
{
	_blocks=$(($(info "$2" blocks_data) + $(info "$2" blocks_tag)))
	per_event "$1" $((_blocks * $(info "$2" block_size))) "$(info "$2" events)"
}

of_directory() { find "$1" -type f ! -name metadata ! -name '*.idx' -printf '%s\n' | awk '{ s += $1 } END { print s }'; }

user_lttng()
{
	have lttng lttng-tools && have lttng-sessiond lttng-tools &&
	    have babeltrace2 babeltrace2 && [ -x "$BENCH_BUILD/bench/peer-lttng" ] || return
	for what in none args; do
		for ids in no yes; do
			lttng_begin stream $ids || return
			"$BENCH_BUILD/bench/peer-lttng" $what "$events" 1 >/dev/null
			lttng_end
			c=; [ $ids = no ] || c=" +ids"
			per_event "lttng-ust $what$c" "$(of_directory "$lttng_out")" \
			    "$(babeltrace2 "$lttng_out" 2>/dev/null | wc -l)"
		done
	done
}

kernel_ours()
{
	kernel_on 64m syscall && "$loop" "$events" 0 >/dev/null
	"$BENCH_BUILD/prex/prex" -k -c 'ktrace off' </dev/null >/dev/null 2>&1
	"$BENCH_BUILD/tnfxtract/tnfxtract" "$out/kernel.tnf" && ours "tnf system call" "$out/kernel.tnf"
	kernel_off
}

for what in none args; do
	"$probe" --trace "$out/$what.tnf" $what "$events" >/dev/null &&
		ours "tnf $what" "$out/$what.tnf"
done
user_lttng
if [ "$(id -u)" = 0 ] && [ -x "$loop" ]; then
	have perf linux-perf && perf_file "$out/perf" $((events / 2)) &&
		per_event "perf.data system call" "$(stat -c %s "$out/perf")" \
		    "$(perf script -i "$out/perf" 2>/dev/null | wc -l)"
	# The list of symbols in it is not counted.
	have trace-cmd trace-cmd && tracecmd_file "$out/none" 10 &&
	    tracecmd_file "$out/dat" $((events / 2)) &&
		per_event "trace.dat system call" \
		    $(($(stat -c %s "$out/dat") - $(stat -c %s "$out/none"))) \
		    "$(trace-cmd report "$out/dat" 2>/dev/null | grep -c sys_)"
	kernel_lock && kernel_ours
else
	echo "$bench: system calls: not measured: needs root, a build with the kernel's probes"
fi
table "tnf args" "bytes an event takes in a file"
