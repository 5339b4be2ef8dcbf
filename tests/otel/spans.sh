#!/bin/sh
# spans.sh - each event is in the span in which its thread was, wherever the variable of that
# span is, and a process tells attributes and its TRACEPARENT.
#
# usage: spans.sh TNFDUMP LIBTNFPROBE LINKED LATE LIBRARY...
. "${TNF_SOURCE:-../..}/tests/lib.sh"
tnfdump=$1 linked=$3 late=$4
LD_LIBRARY_PATH=$(dirname "$2")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
shift 4
scratch
bad=0
trace=0af7651916cd43dd8448eb211c80319c

# Each hit has the number of its span as its argument; 0 is in none.
look() {
	name=$1
	shift
	rm -f "$TMP/t.tnf"
	TNF_ENABLE=test TNF_FILE=$TMP/t.tnf "$@" || { echo "FAIL: $name: status $?" >&2; bad=1; return; }
	"$tnfdump" --no-header --to jsonl --where 'probe == "hit" and n >= 0' "$TMP/t.tnf" | grep -c '"probe":"hit"' > "$TMP/count"
	"$tnfdump" --no-header --columns trace,span,args --where 'probe == "hit" and n >= 0' "$TMP/t.tnf" |
	    awk -v t=$trace '{ want = $4 == 0 ? "- -" : sprintf("%s %016x", t, $4); got = $1 " " $2
		if (got != want) { print got, "not", want; exit 1 } n[$4]++ }
		END { for (i in n) k++; if (NR != 1219 || k != 15) print NR, "hits in", k, "spans" }' > "$TMP/log"
	[ ! -s "$TMP/log" ] || { echo "FAIL: $name: $(head -3 "$TMP/log")" >&2; bad=1; }
	n=$("$tnfdump" --no-header --columns args --where "probe == \"hit\" and span == \"0000000000000101\" and trace == \"$trace\"" "$TMP/t.tnf" | sort | tr -d '\n')
	[ "$n" = "n: -1n: 257" ] || { echo "FAIL: $name: in span 0x101: $n" >&2; bad=1; }
	# Once a change, and once a block.
	n=$("$tnfdump" --no-header --probe otel_context "$TMP/t.tnf" | wc -l)
	[ "$n" -gt 28 ] && [ "$n" -lt 120 ] || { echo "FAIL: $name: $n contexts" >&2; bad=1; }
}

look linked "$linked"
for library; do
	look "$(basename "$library")" "$late" "$library"
done
# One that nobody has is no span, and costs no record.
TNF_ENABLE=test TNF_FILE=$TMP/none.tnf "$late" "$library" none || bad=1
[ -z "$("$tnfdump" --no-header --probe otel_context "$TMP/none.tnf" 2> /dev/null)" ] || { echo "FAIL: no library" >&2; bad=1; }
exit "$bad"
