#!/bin/sh
# Guards: a stall that is in no incident, or in two; a firing without a stall; a ring
# that ends too early; an event that is in an incident twice or not at all.
# stalls.sh TNFWATCH SHOP TNFDUMP [ORDERS]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"
orders=${4:-8000}

conf_shop 60s 512k
cat >>"$CONF" <<T
[trigger stalled]
when = probe == "order_end" and stalled == 1
after = 100ms
T
watch
shop 1000 "$orders" 400 "$TMP/go"
is_watched() { answers && grep -q "^shop-$SHOPPID " "$TMP/status"; }
wait_for 120 is_watched || fail "not watched: $(cat "$TMP/log" "$TMP/status")"
: >"$TMP/go"
wait "$SHOPPID"
sort -n "$TMP/shop.log" >"$TMP/stalls"
[ "$(wc -l <"$TMP/stalls")" -eq $((orders / 400)) ] || fail "the shop did not end"

# All that fired is written, when no window is open and no writer at work.
fired() { answers && [ "$(awk '/^stalled/ { print $2 }' "$TMP/status")" = "$1" ]; }
wait_for 120 fired $((orders / 400)) || cat "$TMP/status"
quiet() { answers && ! grep -q '^open:' "$TMP/status" &&
	[ "$(awk '/^stalled/ { print $3 }' "$TMP/status")" = "$(w list | grep -c .)" ]; }
wait_for 120 quiet || fail "not all is written: $(cat "$TMP/status" "$TMP/log")"

# Each one is there once, unless incident.json tells of blocks that could not be read in time.
for i in "$D"/incidents/2*; do
	whole "$i"
	jq -r '.firings[].event.args.id' "$i/incident.json"
done | sort -n >"$TMP/firings"
comm -13 "$TMP/firings" "$TMP/stalls" >"$TMP/missing"
uniq "$TMP/firings" | cmp -s - "$TMP/firings" || fail "in two: $(uniq -d "$TMP/firings")"
[ "$(comm -23 "$TMP/firings" "$TMP/stalls" | wc -l)" -eq 0 ] || fail "firings without stalls"
unread=$(jq '.sources[] | select(.name == "shop") | .blocks_not_read' "$D"/incidents/2*/incident.json |
	sort -n | tail -n 1)
[ ! -s "$TMP/missing" ] || [ "$unread" -gt 0 ] || fail "stalls in no incident: $(cat "$TMP/missing")"

# The last incident has all that came before, each event once.
i=$(incident)
"$DUMP" --to jsonl "$i"/shop-*.tnf* >"$TMP/events" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
# An event is written as jsonl writes it.
jq -cS 'select(.probe != null) | del(.wall, .comm, .cgroup)' "$TMP/events" | sort >"$TMP/lines"
jq -cS '.firings[].event | del(.wall)' "$i/incident.json" | sort >"$TMP/firings"
[ -s "$TMP/firings" ] && [ -z "$(comm -23 "$TMP/firings" "$TMP/lines")" ] ||
	fail "not as in jsonl: $(comm -23 "$TMP/firings" "$TMP/lines" | head -n 3)"
jq -r 'select((.probe // .name) == "order_end") | .args.id // .id' "$TMP/events" | sort -n >"$TMP/ids"
[ -s "$TMP/ids" ] || fail "no events: $(head -2 "$TMP/events")"
uniq -d "$TMP/ids" | grep -q . && fail "twice: $(uniq -d "$TMP/ids" | head -3)"
from=$(head -1 "$TMP/ids") to=$(tail -1 "$TMP/ids")
kept=$(jq '.sources[] | select(.name == "shop") | .promise_kept' "$i/incident.json")
if [ "$kept" = true ]; then
	[ $((to - from + 1)) -eq "$(wc -l <"$TMP/ids")" ] ||
		fail "holes: $from to $to, $(wc -l <"$TMP/ids") events"
	ls "$i"/shop-*.zst >/dev/null 2>&1 || fail "no segments: the ring was not overwritten"
else
	jq '.sources[]' "$i/incident.json"
	[ "$unread" -gt 0 ] || fail "the promise is broken"
fi
runs "$PID" || fail "tnfwatch is stopped"
stop_watch
echo "$(wc -l <"$TMP/firings") stalls, $(w list | wc -l) incidents, $(wc -l <"$TMP/ids") orders"
