#!/bin/sh
# path.sh - the path of a hit, instruction by instruction, and what models of processors
# say of it: predictions by llvm-mca, not measurements.
#
# The common case of a probe without arguments: what tnf_probe_alloc() and
# tnf_probe_commit() run when nothing is to be prepared.  The models do not know how long
# the clock takes to be read (user.sh measures that), what is in the caches, nor when a
# store reaches a load.  The listings go to build-bench/path.*; stalls are cycles in which
# something waits to be dispatched: SCHEDQ because the scheduler is full of operations that
# wait for values, RCU for retirement, LQ and SQ for the queues of loads and stores.
. "$(dirname "$0")/lib.sh"

have llvm-mca llvm || leave "no llvm-mca"
lib=$BENCH_BUILD/libtnfprobe/libtnfprobe.so

# From the function's beginning to its first return; jumps out of it are not taken.
straight()
{
	objdump -d --no-show-raw-insn --disassemble="$1" "$lib" |
		sed -n 's/^ *[0-9a-f]*:\t//p' | sed 's/ *[#<].*//; /^endbr64/d; s/^\(j[a-z]*\) .*/\1 elsewhere/' |
		awk '/^ret/ { exit } { print }'
}
{ straight tnf_probe_alloc; straight tnf_probe_commit; } >"$BENCH_TMP/path.s"
row "instructions" instructions 1 "$(wc -l <"$BENCH_TMP/path.s")"
grep -v '^rdtsc' "$BENCH_TMP/path.s" >"$BENCH_TMP/rest.s"
for model in znver3 znver2 skylake-avx512 icelake-server; do
	out=$BENCH_BUILD/path.$model
	llvm-mca -mtriple=x86_64 -mcpu=$model -iterations=100 -timeline -timeline-max-iterations=1 \
		-all-stats "$BENCH_TMP/rest.s" >"$out" 2>"$BENCH_TMP/err" ||
		{ not_measured "$model: $(tail -n 1 "$BENCH_TMP/err")"; continue; }
	row "without the clock's: $model" cycles 1 \
	    "$(sed -n 's/^Total Cycles: *//p' "$out" | awk '{ print $1 / 100 }')"
	# By the first cause that the model finds; what waits for a value fills the scheduler.
	sed -n 's/^\([A-Z]*\) *- [^:]*: *\([0-9][0-9]*\) .*/\1 \2/p' "$out" | while read -r cause n; do
		[ "$n" -eq 0 ] || row "of these stalled by $cause: $model" cycles 1 "$(echo "$n" | awk '{ print $1 / 100 }')"
	done
	row "micro-operations: $model" uops 1 \
	    "$(sed -n 's/^Total uOps: *//p' "$out" | awk '{ print $1 / 100 }')"
done
table "instructions" "a hit without arguments, as models of processors predict it"
