#!/bin/sh
# site.sh - what a probe that is off adds to code: bytes and instructions.
#
# Bytes that each of ten more probes adds to a function: up to its return, and
# with the code behind that, which is jumped to.  Instructions as callgrind counts
# them, per turn of a loop.
. "$(dirname "$0")/lib.sh"

top=$(cd "$bench_dir/.." && pwd)
probe=$BENCH_BUILD/bench/bench-probe
cc=${CC:-cc}

# functions COUNT: a source with as many probes in one function
functions()
{
	echo '#include <tnf/probe.h>'
	echo 'void hit(int i) {'
	for i in $(seq "$1"); do
		echo "TNF_PROBE_2(p$i, \"k\", \"\", tnf_int, a, i, tnf_string, s, \"x\");"
	done
	echo '}'
}

# bytes COUNT END: of the code up to the first return, or of all
bytes()
{
	functions "$1" >"$BENCH_TMP/site.c"
	# shellcheck disable=SC2086 # may be two words
	$cc -std=gnu11 -O2 -I"$top/include" -c -o "$BENCH_TMP/site.o" "$BENCH_TMP/site.c" || return 1
	objdump -d --no-show-raw-insn "$BENCH_TMP/site.o" | awk -v end="$2" '
	/^ *[0-9a-f]+:/ {
		if (seen && end == "return") { print at($1); exit }
		if ($2 ~ /^ret/) seen = 1
		last = at($1)
	}
	END { if (end != "return") print last }
	function at(s,  i, v) {
		for (i = 1; i < length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}'
}

a_site()	# END
{
	_one=$(bytes 1 "$1") && _more=$(bytes 11 "$1") &&
		echo "$_one $_more" | awk '{ printf "%.1f\n", ($2 - $1) / 10 }'
}

instructions()	# WHAT
{
	for n in 600000 700000; do	# both in 250 pieces
		valgrind --tool=callgrind --callgrind-out-file="$BENCH_TMP/callgrind" \
			"$probe" --one "$1" $n 1 2>&1 | sed -n 's/.*Collected *: *//p'
	done | awk '{ v[NR] = $1 } END { printf "%.2f\n", (v[2] - v[1]) / 100000 }'
}

command -v objdump >/dev/null || leave "no objdump (Debian package binutils)"
sample "a site: bytes in the path" bytes 1 a_site return
sample "a site: with what is jumped to" bytes 1 a_site all
if have valgrind valgrind; then
	for what in empty off; do
		sample "$what" instructions 1 instructions $what
	done
fi
table "a site: bytes in the path;empty" "what a probe that is off adds to code"
