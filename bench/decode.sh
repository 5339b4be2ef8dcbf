#!/bin/sh
# decode.sh - traces to text: tnfdump beside babeltrace2, perf script, trace-cmd.
#
# Millions of events a second on the wall, each into a pipe that is read.  User
# events have two ints and "hello"; kernel events are both ends of getppid.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/peers/lttng.sh"
. "$(dirname "$0")/peers/kernel.sh"

tnfdump=$BENCH_BUILD/tnfdump/tnfdump
probe=$BENCH_BUILD/bench/bench-probe
loop=$BENCH_BUILD/bench/kernel/kernel-loop
n=${BENCH_EVENTS:-4000000}
few=$((n / 4))			# for those that take long
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
at_exit 'rm -rf "$out"'

lttng_file()	# the events that arrived, in $lttng_n
{
	have lttng lttng-tools && have lttng-sessiond lttng-tools &&
	    have babeltrace2 babeltrace2 || return 1
	[ -x "$BENCH_BUILD/bench/peer-lttng" ] || return 1
	lttng_begin stream yes || return 1
	"$BENCH_BUILD/bench/peer-lttng" args "$few" 1 >/dev/null
	lttng_end
	lttng_n=$(babeltrace2 "$lttng_out" 2>/dev/null | wc -l)
	[ "$lttng_n" -gt 0 ]
}

"$probe" --trace "$out/user.tnf" args "$n" >/dev/null || exit 1
lttng_n='' perf_n='' tracecmd_n=''
lttng_file || { lttng_n=; echo "$bench: peer missing: a trace of lttng-ust"; }
if [ "$(id -u)" != 0 ] || [ ! -x "$loop" ]; then
	echo "$bench: peers missing: perf and trace-cmd trace system calls (needs root, a build with the kernel's probes)"
else
	have perf linux-perf && perf_file "$out/perf" $((few / 2)) &&
		perf_n=$(perf script -i "$out/perf" 2>/dev/null | wc -l)
	have trace-cmd trace-cmd && tracecmd_file "$out/dat" $((few / 2)) &&
		tracecmd_n=$(trace-cmd report "$out/dat" 2>/dev/null | grep -c raw_syscalls\\\|sys_)
fi

while another 80; do
	sample "tnfdump" Mevents/s $round rate "$n" "$tnfdump" "$out/user.tnf"
	[ -z "$lttng_n" ] || sample "babeltrace2 (lttng-ust with ids)" Mevents/s $round \
		rate "$lttng_n" babeltrace2 "$lttng_out"
	[ -z "$perf_n" ] || sample "perf script (raw_syscalls)" Mevents/s $round \
		rate "$perf_n" perf script -i "$out/perf"
	[ -z "$tracecmd_n" ] || sample "trace-cmd report (raw_syscalls)" Mevents/s $round \
		rate "$tracecmd_n" trace-cmd report "$out/dat"
	for to in jsonl csv chrome perfetto stats tnf; do
		sample "tnfdump --to $to" Mevents/s $round \
			rate "$n" "$tnfdump" --to $to "$out/user.tnf"
	done
	sample "tnfdump --where 'a == 1'" Mevents/s $round \
		rate "$n" "$tnfdump" --where 'a == 1' "$out/user.tnf"
	[ $round -gt 1 ] || sample "tnfdump --raw" Mevents/s $round rate "$n" "$tnfdump" --raw "$out/user.tnf"
done
ref=tnfdump
[ -z "$lttng_n" ] || ref="babeltrace2 (lttng-ust with ids)"
table "$ref" "events a second, to text in a pipe that is read"
