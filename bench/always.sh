#!/bin/sh
# always.sh - what programs pay for $always, the probes that may be left on.
#
# CPU time of the programs of system.sh.  A pair is one run with nothing on and one with
# $always on, in turns which of them is first; between two pairs nothing is loaded or
# taken away, recording is only switched on and off.  A row is what the second takes
# more, in %; "least", what the least of all runs with it takes more than the least of
# those without.  BENCH_PAIRS (15) of each; BENCH_WORK chooses programs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/programs.sh"

prex=$BENCH_BUILD/prex/prex
kernel_lock || exit 77
[ "${BENCH_WORK:-}" = build ] || have perf linux-perf || leave "no perf: three of the programs are its"
have redis-server redis-server && have redis-benchmark redis-tools && redis=redis
: "${BENCH_WORK:=pipe calls hackbench build $redis}" "${BENCH_PAIRS:=15}"

ask() { "$prex" -k -c "$1" </dev/null >/dev/null 2>"$BENCH_TMP/err" ||
	leave "prex -k: $1: $(cat "$BENCH_TMP/err")"; }

run()		# off|on WORK
{
	[ "$1" = off ] || ask 'ktrace on'
	once "$2" >"$BENCH_TMP/$1"
	[ "$1" = off ] || ask 'ktrace off'
	cat "$BENCH_TMP/$1" >>"$BENCH_TMP/$2.$1"
}

more()		# WORK N: a row of the two numbers in on and off
{
	paste "$BENCH_TMP/off" "$BENCH_TMP/on" | awk 'NF == 2 && $1 > 0 {
		printf "%.2f", 100 * ($2 - $1) / $1 }' >"$BENCH_TMP/more"
	[ ! -s "$BENCH_TMP/more" ] || row "$1" "% more" "$2" "$(cat "$BENCH_TMP/more")"
}

ask 'buffer alloc 64m; trace $always; enable $always'
n=0
while [ $((n += 1)) -le "$BENCH_PAIRS" ]; do
	for w in $BENCH_WORK; do
		k=0
		while [ $((k += 1)) -le "$(how_often "$w")" ]; do
			[ $((k % 2)) -eq $((n % 2)) ] || run on "$w"
			run off "$w"
			[ $((k % 2)) -ne $((n % 2)) ] || run on "$w"
			more "$w" "$n"
		done
	done
done
for w in $BENCH_WORK; do
	for mode in off on; do
		sort -n "$BENCH_TMP/$w.$mode" | head -n 1 >"$BENCH_TMP/$mode"
	done
	more "$w (least)" 1
	row "$w: takes" "ms" 1 "$(cat "$BENCH_TMP/off")"
done
table "${BENCH_WORK%% *}: takes" "CPU time that \$always adds to a program"
