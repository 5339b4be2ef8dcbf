#!/bin/sh
# Guards: an incident that loses a source, with its segments, when a configuration without
# it is read while the incident is open; a source that stays for ever then; room that
# counts as taken by segments that went with a source; another keep that does not count; a ring
# that is kept twice when its section gets another name.
# dropped.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

configure() {
	conf <<-T
	keep = $1
	[trigger hand]
	after = 600s
	[file none]
	path = $TMP/none.tnf
	T
}
# with_shop KEEP [NAME]: of the section.
with_shop() {
	configure "$1"
	cat >>"$CONF" <<-T
	[process ${2:-shop}]
	program = $SHOP
	enable = order
	size = 128k
	T
}
n=0
again() { [ "$(grep -c 'read again$' "$TMP/log")" -ge "$n" ]; }
reload() {
	n=$((n + 1))
	kill -HUP "$PID"
	wait_for 120 again || fail "not read again: $(cat "$TMP/log")"
}
with_shop 600s
shop 1000
watch
shop_watched
segments() { [ "$(find "$D/segments" -name 'shop-*.zst' | wc -l)" -ge 2 ]; }
wait_for 120 segments || fail "no segments: $(cat "$TMP/log" "$TMP/status")"

# No incident is open: it goes, and comes back.
gone() { answers && ! grep -q "^shop-$SHOPPID" "$TMP/status"; }
configure 600s
reload
wait_for 120 gone || fail "it stays: $(cat "$TMP/status")"
[ -z "$(find "$D/segments" -name 'shop-*')" ] || fail "its segments stay: $(ls "$D/segments")"
with_shop 600s
reload
shop_watched again
wait_for 120 segments || fail "no segments: $(cat "$TMP/log" "$TMP/status")"

# One is open.
w fire hand >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
# Its section has another name: it is no second source.
with_shop 600s store
cat >>"$CONF" <<T
[trigger sold]
when = probe == "order_end"
T
reload
sold() { answers && grep -q '^sold  *[1-9]' "$TMP/status"; }
wait_for 120 sold || fail "not watched as \"store\": $(cat "$TMP/log" "$TMP/status")"
[ "$(grep -c "^[a-z]*-$SHOPPID" "$TMP/status")" -eq 1 ] || fail "twice: $(cat "$TMP/status")"
configure 600s
reload
answers
grep -q '^open: ' "$TMP/status" || fail "the incident is not open: $(cat "$TMP/status")"
stop_watch
i=$D/incidents/$(cat "$TMP/out")
whole "$i"
ls "$i"/shop-*.tnf "$i"/shop-*.zst >/dev/null || fail "not all: $(ls "$i"; cat "$TMP/log")"
"$DUMP" --to jsonl "$i"/shop-*.tnf* 2>/dev/null |
	jq -r 'select((.probe // .name) == "order_end") | .args.id // .id' | sort -n >"$TMP/ids"
[ -s "$TMP/ids" ] || fail "no orders"
[ -z "$(uniq -d "$TMP/ids")" ] || fail "twice: $(uniq -d "$TMP/ids" | head -3)"
# On a busy machine the ring may go round before it is read; then that is told.
[ $(($(tail -1 "$TMP/ids") - $(head -1 "$TMP/ids") + 1)) -eq "$(wc -l <"$TMP/ids")" ] ||
	jq -e '.sources[] | select(.blocks_not_read > 0 or (.why // "" | test("overwritten")))' \
		"$i/incident.json" >/dev/null ||
	fail "holes, and none is told: $(cat "$i/incident.json")"

# A promise of before is not kept for ever.
with_shop 600s
watch
n=$(grep -c 'read again$' "$TMP/log")
wait_for 120 segments || fail "no segments: $(cat "$TMP/log" "$TMP/status")"
oldest=$(find "$D/segments" -name 'shop-*.zst' | sort | head -1)
with_shop 1s
reload
shorter() { [ ! -e "$oldest" ]; }
wait_for 120 shorter || fail "$oldest stays: $(cat "$TMP/status")"
stop_watch
runs "$SHOPPID" || fail "the shop is stopped"
echo "$(wc -l <"$TMP/ids") orders"
