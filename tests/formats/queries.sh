#!/bin/sh
# queries.sh - each of the ten example queries answers as tnfdump's own reports do.
# usage: queries.sh TNFDUMP STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
tnfdump=$(realpath "$1") story=$(realpath "$2")
need_program sqlite3 jq
need_golden
scratch
cd "$TMP" || exit 1
bad=0 asked=0

# A shop with two processes, orders of all lengths within each other, and losses.
awk 'BEGIN {
	print "process 300"; print "lost 1 7"; print "lost 3 2"
	print "probe order_start order id:tnf_int32"; print "probe order_end order id:tnf_int32"
	print "probe look_start shelf id:tnf_int32"; print "probe look_end shelf id:tnf_int32"
	print "probe tick clock"
	t = 1000000000
	for (i = 0; i < 60; i++) {
		who = (300 + i % 2) " " (300 + i % 3) " " (300 + i % 3) " 0"
		d = 1000 + i * i * 977 % 400000
		print t, who, "order_start", i; print t + 101 + i, who, "look_start", i
		print t + 300 + 3 * i, who, "look_end", i; print t + d, who, "order_end", i
		t += d + i % 7 * 60000 + i
		if (i % 9 == 0) print t += 17, who, "tick"
	}
}' | "$story" shop.tnf || fail "story"

query() { sqlite3 -readonly -separator ' ' x.db < "$TNF_SOURCE/examples/sql/$1.sql"; }
sql() { sqlite3 -readonly -separator ' ' x.db "$@"; }
dump() { "$tnfdump" "$@" "$trace" 2>/dev/null; }

# answers NAME: got and want are the same, and are not empty
answers()
{
	asked=$((asked + 1))
	cmp -s got want && return
	echo "FAIL: $trace: $1" >&2
	diff got want | head -5 >&2
	bad=1
}

ten()
{
	rm -f x.db
	dump --to sqlite -o x.db || fail "$trace: no database"
	dump --to jsonl | jq -c 'select(.probe)' >events
	dump --to chrome >slices
	dump --stats >stats

	query counts | sort >got
	awk '/rate\/s *event/ { on = 1; next } on && !NF { exit } on { print $3, $1 }' stats | sort >want
	answers counts

	query durations | awk '{ printf "%s %d %.6f %.3f %.3f %.3f\n", $1, $2, $3 / 1e6, $4 / 1e3, $5 / 1e3, $6 / 1e3 }' |
		sort >got
	awk 'NR > 1 && !NF { exit } NR > 1 { print $10, $1, $3, $4, $5, $9 }' stats | sort >want
	answers durations

	query states | awk '$4 > 0 { printf "%d %d %s %.6f\n", $1, $2, $3, $4 / 1e6 }' | sort >got
	dump --states | awk 'NR == 1 { for (i = 5; i < NF; i++) name[i] = $i; next }
		{ for (i = 4; i < NF; i++) if ($i > 0) print $1, $2, name[i + 1], $i }' | sort >want
	answers states

	query waiting | awk '{ printf "%d %d %.6f\n", $1, $2, $(NF - 1) / 1e6 }' | sort >got
	grep ' WAIT_CPU ' want | awk '{ print $1, $2, $4 }' | sort >want.some
	mv want.some want
	answers waiting

	query losses | awk '{ n = $NF; $1 = $NF = ""; gsub(/^ +| +$/, ""); print $0 ":" n }' | sort >got
	dump --info=json | jq -r '.dropped_by_reason // {} | to_entries[] | select(.value > 0) | "\(.key):\(.value)"' |
		sort >want
	answers losses

	query processes | awk '{ printf "%d %d\n", $1, $(NF - 1) }' | sort >got
	dump --stats=pid | awk '/rate\/s *event/ { on = 1; next }
		on && !NF { on = 0 } on { sub(/.*pid=/, "", $NF); n[$NF] += $1 } END { for (p in n) print p, n[p] }' | sort >want
	answers processes

	query rate >got
	jq -s -r '.[0].time as $first | map((.time - $first) / 100000000 | floor) | group_by(.)[] |
		"\(.[0]) \(length)"' events >want
	answers rate

	query gaps | awk '{ printf "%.6f\n", $2 / 1e6 }' >got
	dump --columns delta --no-header | awk 'NR > 1 { print $1 }' | sort -rn | head -10 >want
	answers gaps

	query slowest | awk '$1 != "io" { print $1, $3 }' >got
	jq -r '.traceEvents[] | select(.ph == "X" and .cat != "state") | "\(.name) \(.dur * 1000 | round)"' slices |
		sort -k1,1 -k2,2nr | awk 'n[$1]++ < 10' >want
	answers slowest

	query inside >got
	sql 'SELECT start, "end", lwpid FROM pairs ORDER BY duration DESC LIMIT 1' >slow
	read -r start end lwpid <slow
	jq -r "select(.time >= $start and .time <= $end and .lwpid == $lwpid) | \"\(.time) \(.probe)\"" events >want
	answers inside
}

for trace in shop.tnf "$TNF_GOLDEN"/kern_events.lp64.tnf "$TNF_GOLDEN"/kern_live.lp64.tnf "$TNF_GOLDEN"/threads.lp64.tnf; do
	ten
done
[ "$asked" -eq 40 ] || fail "$asked answers, not 40"
exit $bad
