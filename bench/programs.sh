# programs.sh - the programs that pay while the whole machine is recorded.  Needs lib.sh.

# BENCH_UNDER: as "chrt -f 50", where others use the machine as well.
program_cpu="${BENCH_UNDER:-} $BENCH_BUILD/bench/elapsed -c"
program_top=$(cd "$bench_dir/.." && pwd)
program_last=$(($(nproc) - 1))
program_sock=$BENCH_TMP/redis.sock

# A compilation takes 40 ms, of which recording adds one or two, so it is measured this
# many times for each time that one of the others is.
how_often() { case $1 in build) echo "${BENCH_BUILDS:-8}" ;; *) echo 1 ;; esac; }

once()		# NAME: its CPU milliseconds; nothing if it fails
{
	case $1 in
	# One file: driver, compiler, assembler.  A long build has the host's noise of all
	# its parts; of many short ones some have none.
	build)	$program_cpu taskset -c "$program_last" cc -O2 -D_GNU_SOURCE -I"$program_top/include" \
		-I"$program_top" -c "$program_top/libtnf/file.c" -o "$BENCH_TMP/o" ;;
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
