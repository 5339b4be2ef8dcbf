#!/bin/sh
# Guards: memory that a busy moment took and that stays when it is over.
# memory.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 2s 2m 0s
watch
# KiB of its own
own() { awk '/^RssAnon/ { print $2 }' "/proc/$PID/status"; }
start=$(own)
[ "$start" -lt 10000 ] || {
	echo "not asked: a sanitizer keeps what is freed ($start KiB at first)"
	stop_watch
	exit 0
}
segments() { [ "$(find "$D/segments" -name "shop-$SHOPPID.*.zst" | wc -l)" -ge 4 ]; }
small() { [ "$(own)" -lt $((start + 3000)) ]; }
for round in 1 2 3; do
	shop 60000
	shop_watched "in round $round"
	wait_for 120 segments || fail "no segments: $(cat "$TMP/log" "$TMP/status")"
	fire hand
	kill "$SHOPPID"
	echo "round $round: $(own) KiB"
	wait_for 60 small || fail "round $round: $(own) KiB, $start at first: $(cat "$TMP/status")"
done
stop_watch
