# lib.sh - what the benchmark scripts share: rows, medians, ratios.
#
# A row is "bench,what,unit,round,value" in $BENCH_CSV.  Scripts add rows with
# row or sample, in interleaved rounds (A B A B ...), and end with table, which
# prints for each what the median, the spread and the ratio to a reference that
# was measured in the same run.

: "${BENCH_BUILD:?build directory}" "${BENCH_CSV:?file for the rows}"
: "${BENCH_ROUNDS:=5}"
bench=$(basename "$0" .sh)

# row WHAT UNIT ROUND VALUE
row()
{
	printf '%s,%s,%s,%s,%s\n' "$bench" "$1" "$2" "$3" "$4" >>"$BENCH_CSV"
}

# sample WHAT UNIT ROUND CMD...: the last word that CMD prints is the value
sample()
{
	_what=$1 _unit=$2 _round=$3
	shift 3
	if ! _out=$("$@" 2>"$BENCH_TMP/err"); then
		echo "$bench: $_what: failed: $* ($(tail -n 1 "$BENCH_TMP/err"))" >&2
		return 1
	fi
	row "$_what" "$_unit" "$_round" "$(printf '%s\n' "$_out" | awk 'NF { v = $NF } END { print v }')"
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

# table REFERENCE [TITLE]: this script's rows; the ratio is against REFERENCE
table()
{
	echo "== $bench${2:+: $2}"
	grep "^$bench," "$BENCH_CSV" | sort -s -t, -k2,2 -k5,5g | awk -F, -v ref="$1" '
	function flush() {
		if (n == 0)
			return
		med[what] = v[int((n + 1) / 2)]; lo[what] = v[1]; hi[what] = v[n]
		unit[what] = u; order[++names] = what; n = 0
	}
	$2 != what { flush(); what = $2; u = $3 }
	{ v[++n] = $5 }
	END {
		flush()
		printf "%-36s %12s %-10s %25s %9s\n", "", "median", "", "min .. max", "ratio"
		for (i = 1; i <= names; i++) {
			w = order[i]
			r = (ref in med) && med[ref] > 0 && unit[w] == unit[ref] ? \
			    sprintf("%.2f", med[w] / med[ref]) : "-"
			printf "%-36s %12.2f %-10s %12.2f ..%10.2f %9s\n", w, med[w], unit[w], lo[w], hi[w], r
		}
		if (ref != "")
			printf "(ratio to: %s)\n", ref
	}'
}

BENCH_TMP=$(mktemp -d) || exit 1
cleanup_hooks=
at_exit() { cleanup_hooks="$1; $cleanup_hooks"; }
trap 'eval "$cleanup_hooks"; rm -rf "$BENCH_TMP"' EXIT
trap 'exit 130' INT TERM
