#!/bin/sh
# Guards: an incident that is lost when tnfwatch is killed within its window; one that is
# made twice, or again at each start; half a ring that stays.
# resumed.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 5s 1m 300s
cat >>"$CONF" <<T
[trigger now]
after = 0s
T
watch
shop 1000
shop_watched
w fire now >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
wait_for 120 kept now || fail "not written: $(cat "$TMP/log")"
ended() { [ -z "$(find "$D/run" -name 'window-*')" ]; }
wait_for 120 ended || fail "notes: $(ls "$D/run")"
w fire hand >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
kill -9 "$PID"
wait "$PID" 2>/dev/null
[ ! -e "$D/incidents/$(cat "$TMP/out")" ] || fail "it was written already"
# A ring that was begun when its maker was killed goes, one that somebody makes now stays.
: >"$D/rings/.trace-0123456789abcdef"
exec 4>"$D/rings/.trace-made"

watch
[ ! -e "$D/rings/.trace-0123456789abcdef" ] || fail "half a ring is left"
[ -e "$D/rings/.trace-made" ] || fail "a ring is removed while it is made"
exec 4>&-
wait_for 120 kept hand || fail "lost: $(cat "$TMP/log" "$TMP/status")"
i=$D/incidents/$(w list | awk '/-hand / { print $1 }')
whole "$i"
jq -r .firings[0].reason "$i/incident.json" >"$TMP/reason"
grep -q 'killed before this was kept' "$TMP/reason" || fail "said: $(cat "$TMP/reason")"
# The events before the firing are in it.
"$DUMP" --to jsonl "$i"/shop-*.tnf* >"$TMP/events" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
[ "$(grep -c order_start "$TMP/events")" -gt 0 ] || fail "no events: $(ls "$i")"
wait_for 120 ended || fail "notes: $(ls "$D/run")"
stop_watch

# It is made once.
watch
stop_watch
[ "$(w list | grep -c .)" -eq 2 ] || fail "one too many: $(w list)"

# All firings of the window are remembered, with their source and event.
conf_shop 5s 1m
printf '[trigger tenth]\nwhen = duration(order) > 0ns and id %% 10 == 0\nafter = 300s\n' >>"$CONF"
watch
shop 100
shop_watched
has_three() { answers && [ "$(awk '$1 == "tenth" { print $2 }' "$TMP/status")" -ge 3 ]; }
wait_for 120 has_three || fail "not fired: $(cat "$TMP/status")"
kill -9 "$PID"
wait "$PID" 2>/dev/null
sed -i 's/after = 300s/after = 0s/; s/id % 10 == 0/id == -1/' "$CONF"
watch
wait_for 120 kept tenth || fail "lost: $(cat "$TMP/log" "$TMP/status")"
i=$D/incidents/$(w list | awk '/-tenth / { print $1 }')
jq -e '[.firings[] | select((.source | startswith("shop-")) and .event.args.id % 10 == 0 and
	.event.start.probe == "order_start" and .event.start.args.id == .event.args.id and
	.noticed >= .time and .time == .event.time)] | length >= 3' "$i/incident.json" >/dev/null ||
	fail "not all firings: $(jq .firings "$i/incident.json")"
stop_watch
echo "$(grep -c order_start "$TMP/events") orders, one incident"
