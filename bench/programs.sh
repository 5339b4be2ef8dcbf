# programs.sh - the programs that pay while the whole machine is recorded.  Needs lib.sh.

program_cpu="$BENCH_BUILD/bench/elapsed -c"
program_top=$(cd "$bench_dir/.." && pwd)
program_last=$(($(nproc) - 1))
program_sock=$BENCH_TMP/redis.sock

once()		# NAME: its CPU milliseconds; nothing if it fails
{
	case $1 in
	build)	$program_cpu sh -c 'for f in "$1"/libtnf/[a-c]*.c; do
			cc -O2 -D_GNU_SOURCE -I"$1/include" -I"$1" -c "$f" -o "$2" || exit 1
		done' sh "$program_top" "$BENCH_TMP/o" ;;
	# On one CPU: between two, what a wake-up costs depends on how deep the other sleeps.
	pipe)	$program_cpu taskset -c "$program_last" perf bench sched pipe -l 20000 ;;
	hackbench) $program_cpu perf bench sched messaging -g 2 -l 100 ;;
	calls)	$program_cpu perf bench syscall basic -l 500000 ;;
	redis)	$program_cpu sh -c 'redis-server --port 0 --unixsocket "$1" --save "" >/dev/null & p=$!
		while [ ! -S "$1" ]; do sleep 0.02; done
		redis-benchmark -q -s "$1" -c 20 -n 30000 -t set,get
		kill $p; wait $p; rm -f "$1"' sh "$program_sock" ;;
	esac 2>"$BENCH_TMP/err" | awk '/^[0-9.]+$/ { v = $1 } END { if (v) print v }'
}
