# lib.sh - what the benchmark scripts share: rows, medians, ratios.
#
# A row is "bench,what,unit,round,value" in $BENCH_CSV.  Scripts add rows with
# row or sample, in interleaved rounds (A B A B ...), and end with table, which
# prints for each what the median, the spread and the ratio to a reference that
# was measured in the same run.

# A script may also be called by itself: then with the build that tools/bench made.
bench=$(basename "$0" .sh)
bench_dir=$(cd "$(dirname "$0")" && pwd)
: "${BENCH_BUILD:=$(dirname "$bench_dir")/build-bench}"
: "${BENCH_CSV:=$BENCH_BUILD/bench.csv}"
[ -d "$BENCH_BUILD" ] || {
	echo "$bench: nothing is built in $BENCH_BUILD: run tools/bench, or name a build in BENCH_BUILD" >&2
	exit 2
}
# tools/bench --quick: the shortest form of each script.  Its figures say nothing; that they
# are there says that everything is measured.
if [ -n "${BENCH_QUICK:-}" ]; then
	: "${BENCH_LOOPS:=20000}" "${BENCH_EVENTS:=100000}" "${BENCH_MILLIONS:=1}" "${BENCH_WORK:=build}"
	BENCH_ROUNDS=1 BENCH_PAIRS=1 BENCH_BUILDS=1 BENCH_PIECES=1
fi

# another SECONDS: begins a $round, of BENCH_ROUNDS.  Without BENCH_ROUNDS there are five, or as
# many as are likely to end within the seconds, but one always.
round=0
another()
{
	[ $round -gt 0 ] || _began=$(date +%s)
	if [ $round -ge "${BENCH_ROUNDS:-5}" ] || { [ $round -gt 0 ] && [ -z "${BENCH_ROUNDS:-}" ] &&
	    [ $((($(date +%s) - _began) * (round + 1))) -gt $(($1 * round)) ]; }; then
		round=0
		return 1
	fi
	round=$((round + 1))
}

# row WHAT UNIT ROUND VALUE: without a comma
row()
{
	case $1 in *,*) echo "$bench: $1: a comma in the name of a row" >&2; exit 1 ;; esac
	printf '%s,%s,%s,%s,%s\n' "$bench" "$1" "$2" "$3" "$4" >>"$BENCH_CSV"
}

# sample WHAT UNIT ROUND CMD...: the last word that CMD prints is the value.  Where CMD fails,
# table says in the end that the script has failed.
sample()
{
	_what=$1 _unit=$2 _round=$3
	shift 3
	if ! _out=$("$@" 2>"$BENCH_TMP/err"); then
		failed "$_what: $* ($(tail -n 1 "$BENCH_TMP/err"))"
		return
	fi
	row "$_what" "$_unit" "$_round" "$(printf '%s\n' "$_out" | awk 'NF { v = $NF } END { print v }')"
}

# failed WHAT: the others are measured nevertheless
failed()
{
	echo "$bench: failed: $1" >&2
	: >"$BENCH_TMP/failed"
	return 1
}

# have PROGRAM PACKAGE: names what is missing instead of leaving it out in silence
have()
{
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "$bench: peer missing: $1 (Debian package $2)"
	return 1
}

# seconds CMD...: prints the wall-clock seconds that CMD takes
seconds()
{
	_t0=$(date +%s%N)
	"$@" >/dev/null 2>&1
	_t1=$(date +%s%N)
	echo "$_t0 $_t1" | awk '{ printf "%.4f\n", ($2 - $1) / 1e9 }'
}

# rate EVENTS CMD...: millions of events a second, into a pipe that is read
rate()
{
	_n=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	_s=$(seconds sh -c '"$@" | cat' rate "$@")
	echo "$_n $_s" | awk '{ printf "%.3f\n", $1 / $2 / 1e6 }'
}

# info FILE NAME: a number of what tnfdump says about the whole file
info()
{
	"$BENCH_BUILD/tnfdump/tnfdump" --info=json "$1" |
		grep -o "\"$2\":[0-9]*" | sed -n '1s/.*://p'
}

# counting SCRIPT CMD...: CMD, once bpftrace runs SCRIPT beside
counting()
{
	: >"$BENCH_TMP/bpftrace"	# else it is the last one that is found to be ready
	bpftrace -e "BEGIN { printf(\"ready\\n\"); } $1" >"$BENCH_TMP/bpftrace" 2>&1 9>&- &
	_pid=$! _n=0
	shift
	# On a busy machine bpftrace takes a minute to compile.
	until grep -q ready "$BENCH_TMP/bpftrace" || [ $((_n += 1)) -gt 3000 ]; do sleep 0.1; done
	if grep -q ready "$BENCH_TMP/bpftrace"; then
		"$@"
	else
		echo "bpftrace is not ready after 300 s: $(tail -n 1 "$BENCH_TMP/bpftrace")" >&2
	fi
	kill $_pid
	wait $_pid 2>/dev/null
}

# leave REASON: this benchmark cannot be run here
leave()
{
	not_measured "$1"
	exit 77
}

not_measured()
{
	echo "$bench: not measured: $1"
	return 1
}

# There is one buffer of kernel probes on a machine: not beside a test of them,
# nor beside somebody who traces: then it fails.  Programs that stay must not inherit fd 9.
kernel_lock()
{
	[ "$(id -u)" = 0 ] || not_measured "needs root" || return
	exec 9>"${TMPDIR:-/tmp}/tnf-kernel-test.lock"
	flock -w "${BENCH_WAIT:-600}" 9 && [ ! -e /sys/fs/bpf/tnf/state ] ||
		not_measured "the kernel's probes are in use" || return
	at_exit kernel_off
}

kernel_off()
{
	"$BENCH_BUILD/prex/prex" -k -c 'ktrace off' </dev/null >/dev/null 2>&1
	"$BENCH_BUILD/prex/prex" -k -c 'untrace $all; disable $all; buffer dealloc' \
	    </dev/null >/dev/null 2>&1
}

# kernel_on BUFFER PROBES: everything about them on
kernel_on()
{
	"$BENCH_BUILD/prex/prex" -k -c "buffer alloc $1; trace $2; enable $2; ktrace on" \
	    </dev/null >/dev/null 2>&1
}

# print_table BENCH REFERENCES [markdown]
print_table()
{
	grep "^$1," "$BENCH_CSV" | awk -F, '
	!($2 in nth) { nth[$2] = ++n }
	{ printf "%d,%s,%s,%s\n", nth[$2], $2, $3, $5 }' | sort -t, -k1,1n -k4,4g |
		awk -v refs="$2" -v markdown="${3:+1}" -f "$bench_dir/table.awk"
}

# table REFERENCES TITLE: this script's rows; the ratios are against the
# references (separated by ";"), each for the rows of its unit
table()
{
	echo "== $bench: $2"
	print_table "$bench" "$1"
	printf '%s\t%s\t%s\n' "$bench" "$1" "$2" >>"${BENCH_CSV%.csv}.tables"
	[ ! -e "$BENCH_TMP/failed" ]
}

BENCH_TMP=$(mktemp -d) || exit 1
cleanup_hooks=
at_exit() { cleanup_hooks="$1; $cleanup_hooks"; }
trap 'eval "$cleanup_hooks"; rm -rf "$BENCH_TMP"' EXIT
trap 'exit 130' INT TERM
