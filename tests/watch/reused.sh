#!/bin/sh
# Guards: the ring of a process whose number another one has got since, which is in no
# incident and stays for ever; two sources of one name, whose segments and files overwrite
# each other's; files that the description does not name since there are many;
# a process that counts as ended with another one.
# reused.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 600s 128k 0s
# 128 KiB are 1.3 seconds of a thousand orders: an emulated machine makes fewer.
rate=$((1000 / ${TNF_SLOW:-1}))
watch
shop $rate
old=$SHOPPID
shop_watched
sold() { "$DUMP" "$D/rings/shop-$old.tnf" 2>/dev/null | grep -q order_end; }
wait_for 60 sold || fail "no orders in the ring"
kill -9 "$PID"
kill "$old"
wait 2>/dev/null
# The kernel's clock for a start has ticks, and the ring must be a second older.
older() { [ $(($(date +%s) - $(stat -c %Y "$D/rings/shop-$old.tnf"))) -ge 2 ]; }
wait_for 60 older || fail "the ring stays young"
shop $rate
mv "$D/rings/shop-$old.tnf" "$D/rings/shop-$SHOPPID.tnf" || fail "no ring: $(ls "$D/rings")"

watch
both() { answers && [ "$(grep -c "^shop-${SHOPPID}[. ]" "$TMP/status")" -eq 2 ]; }
wait_for 120 both || fail "not both: $(cat "$TMP/log" "$TMP/status")"
segments() { [ "$(find "$D/segments" -name 'shop-*.zst' | wc -l)" -ge 2 ]; }
wait_for 120 segments || fail "no segments: $(cat "$TMP/log" "$TMP/status")"
fire hand
i=$I
whole "$i"
jq -r '.sources[].files[]' "$i/incident.json" | sort | uniq -d >"$TMP/twice"
[ ! -s "$TMP/twice" ] || fail "one name twice: $(cat "$TMP/twice")"
# orders FILE...: their numbers
orders() {
	"$DUMP" --to jsonl "$@" 2>/dev/null |
		jq -r 'select((.probe // .name) == "order_end") | .args.id // .id' | sort -n
}
orders "$i/shop-$SHOPPID.tnf" >"$TMP/old"
[ -s "$TMP/old" ] || fail "nothing of the old one: $(ls "$i")"
jq -e '.sources[] | select(.files | index("shop-'"$SHOPPID"'.tnf")) | .ended' "$i/incident.json" >/dev/null ||
	fail "the old one's is not told to have ended: $(cat "$i/incident.json")"
orders "$i/shop-$SHOPPID".2.*tnf* >"$TMP/new"
[ -s "$TMP/new" ] || fail "no orders: $(ls "$i")"
[ -z "$(uniq -d "$TMP/new")" ] || fail "twice: $(uniq -d "$TMP/new" | head -3)"
# On a busy machine the ring may go round before it is read; then that is told.
[ $(($(tail -1 "$TMP/new") - $(head -1 "$TMP/new") + 1)) -eq "$(wc -l <"$TMP/new")" ] ||
	jq -e '.sources[] | select(.files | index("shop-'"$SHOPPID"'.2.tnf")) |
		select(.blocks_not_read > 0 or (.why // "" | test("overwritten")))' "$i/incident.json" >/dev/null ||
	fail "holes, and none is told: $(cat "$TMP/status")"

# The old one goes with its time, and the other stays.
conf_shop 1s 128k 0s
kill -HUP "$PID"
gone() { [ ! -e "$D/rings/shop-$SHOPPID.tnf" ]; }
wait_for 120 gone || fail "it stays: $(ls "$D/rings"; cat "$TMP/log")"
[ -e "$D/rings/shop-$SHOPPID.2.tnf" ] || fail "the other one is gone"
answers && grep -q "^shop-$SHOPPID.2 " "$TMP/status" || fail "not watched: $(cat "$TMP/status")"
stop_watch
kill "$SHOPPID"

# Each file is in the description, however many there are.
conf_shop 600s 128k 0s
sed -i '/^keep/a segments = memory' "$CONF"
shop 100000
watch
many() {
	answers && awk '/^shop-.* segments/ { sub(/ segments.*/, ""); n = $NF > n ? $NF : n }
		END { exit !(n > 260) }' "$TMP/status"
}
wait_for 120 many || fail "no segments: $(cat "$TMP/log" "$TMP/status")"
fire hand
lists_all "$I"
stop_watch
kill "$SHOPPID"

# One ends while an incident's command runs: the next one has not ended.
conf_shop 60s 128k 0s
echo "run = while ! [ -e $TMP/go ]; do sleep 0.1; done; :" >>"$CONF"
shop 500
watch
shop_watched
fire hand
kill "$SHOPPID"
ended() { answers && grep -q "^shop-$SHOPPID .*ended" "$TMP/status"; }
wait_for 120 ended || fail "not ended: $(cat "$TMP/status")"
shop 500
shop_watched next
for _ in 1 2 3; do
	ended && fail "another one's end: $(cat "$TMP/status")"
done
touch "$TMP/go"
stop_watch
echo "$(wc -l <"$TMP/old") old orders, $(wc -l <"$TMP/new") new ones"
