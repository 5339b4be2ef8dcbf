#!/bin/sh
# why.sh - how long tnfdump takes to say why a request was slow, among a million events; and what
# samples take of a CPU.
#
# The events are those of a server and three threads behind it, each of which waits for the
# next; every hundredth request takes ten times as long, in the last of them.  For samples, a
# loop that never sleeps runs with and without them, in turns; at a high rate, since at 99 a second
# its own scatter is larger.
. "$(dirname "$0")/lib.sh"
tnfdump=$BENCH_BUILD/tnfdump/tnfdump story=$BENCH_BUILD/tests/dump/story prex=$BENCH_BUILD/prex/prex
: "${BENCH_EVENTS:=1000000}" "${BENCH_LOOPS:=3000000}"
[ -x "$story" ] || leave "built without the tests (Debian package check)"
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
at_exit 'rm -rf "$out"'

# events FILE: its lines, of the requests, of threads that leave a CPU, or of those that get one
events()
{
	awk -v file="$1" -v cycles=$((BENCH_EVENTS / 24)) '
	function put(to, us, tid, cpu, rest) {
		if (to == file)
			printf "%d000 100 %d %d %d %s\n", us, tid, tid + 4096, cpu, rest
	}
	BEGIN {
		print "blocks 16384"
		print file == "user" ? "process 100" : "kernel\nkernel-part 0"
		print "boot 1\ntype tnf_microstate tnf_int32\ntype tnf_kthread_id tnf_uint64\ntype tnf_opaque tnf_uint64"
		if (file == "user")
			print "probe request_start r id:tnf_int32\nprobe request_end r id:tnf_int32"
		else if (file == "out")
			print "probe thread_state thread state:tnf_microstate\nprobe thread_block sched reason:tnf_opaque"
		else
			print "probe thread_state thread tid:tnf_kthread_id state:tnf_microstate\n" \
			    "probe thread_wakeup wakeup tid:tnf_kthread_id"
		for (i = t = 1; i <= cycles; i++) {
			put("user", t, 100, -1, "request_start " i)
			for (k = 100; k < 103; k++) {
				put("out", t += 2, k, k % 2, "thread_state 7")
				put("out", t, k, k % 2, "thread_block 4096")
				put("into", t, k, k % 2, "thread_state " k + 4097 " 0")
			}
			t += i % 100 ? 2 : 200
			for (k = 103; k > 100; k--) {
				put("into", t += 2, k, k % 2, "thread_wakeup " k + 4095)
				put("into", t, k, k % 2, "thread_state " k + 4095 " 8")
				put("out", t += 1, k, k % 2, "thread_state 7")
				put("out", t, k, k % 2, "thread_block 4096")
				put("into", t, k, k % 2, "thread_state " k + 4095 " 0")
			}
			put("user", t += 2, 100, -1, "request_end " i)
		}
		for (k = 100; k < 104; k++)
			print "@task " k " 100 1 stage" k - 100
	}'
}

explain() { seconds "$tnfdump" "$@" "$out/user" "$out/out" "$out/into"; }
for file in user out into; do
	events $file | "$story" "$out/$file" || exit 1
done
while another 30; do
	sample "jsonl of the same" s $round explain --to jsonl
	sample "why: the slowest of $((BENCH_EVENTS / 24)) requests" s $round explain --why=request
	sample "why-slow: all of them" s $round explain --why-slow=request
done

# CPU milliseconds of a loop in a shell.
loop() { "$BENCH_BUILD/bench/elapsed" -c sh -c 'i=0; while [ $i -lt '"$BENCH_LOOPS"' ]; do i=$((i + 1)); done' 2>&1; }
sampled()	# STACK: 1 with the words of the stack, for unwinding later
{
	"$prex" -k --set sample_rate=5000 --set sample_stack="$1" -c 'buffer alloc 64m; trace profile; enable profile; ktrace on' </dev/null >/dev/null 2>&1
	loop
	"$prex" -k -c 'ktrace off; buffer dealloc' --set sample_rate=99 --set sample_stack=0 </dev/null >/dev/null 2>&1
}
if [ -x "$prex" ] && [ -x "$BENCH_BUILD/tests/kernel/kpctl" ] && kernel_lock; then
	while another 40; do
		off=$(loop | tail -n 1)
		row "a loop without samples" ms $round "$off"
		for stack in 0 1; do
			with=
			[ $stack = 0 ] || with=" with stacks"
			on=$(sampled $stack | tail -n 1)
			row "the loop with 5000 samples$with a second" ms $round "$on"
			# At 5000 a second of the time without them; a sample has the same cost at 99.
			row "samples$with at 99 a second: of a CPU" "%" $round "$(awk -v a="$off" -v b="$on" \
			    'BEGIN { printf "%.3f\n", 100 * (b - a) / b / 5000 * 99 }')"
		done
	done
fi
table "jsonl of the same;a loop without samples" "tnfdump --why, and samples"
