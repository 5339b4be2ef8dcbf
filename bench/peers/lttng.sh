# lttng.sh - a private lttng session for benchmarks.  Sourced after lib.sh.

# lttng_begin MODE CONTEXT: MODE stream or snapshot, CONTEXT yes or no
lttng_begin()
{
	export LTTNG_HOME="$BENCH_TMP/lttng"
	mkdir -p "$LTTNG_HOME"
	if [ -z "${lttng_daemon:-}" ]; then
		lttng-sessiond --daemonize --no-kernel --pidfile "$BENCH_TMP/sessiond.pid" \
		    >/dev/null 2>&1 || return 1
		lttng_daemon=1
		# shellcheck disable=SC2016 # expanded at exit
		at_exit 'kill "$(cat "$BENCH_TMP/sessiond.pid")" 2>/dev/null'
	fi
	lttng_out="$BENCH_TMP/lttng-out"
	rm -rf "$lttng_out"
	if [ "$1" = snapshot ]; then
		lttng -n create --snapshot bench --output="$lttng_out" >/dev/null
	else
		lttng -n create bench --output="$lttng_out" >/dev/null
	fi &&
	lttng -n enable-event -u 'bench:*' >/dev/null &&
	{ [ "$2" = no ] || lttng -n add-context -u -t vpid -t vtid >/dev/null; } &&
	lttng -n start >/dev/null
}

lttng_end()
{
	lttng -n stop >/dev/null
	lttng -n destroy bench >/dev/null
}
