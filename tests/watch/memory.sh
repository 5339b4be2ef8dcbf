#!/bin/sh
# Guards: memory that a busy moment took and that stays when it is over.
# memory.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
getconf GNU_LIBC_VERSION >/dev/null 2>&1 || skip "the limits are glibc's"
[ "$(getconf PAGESIZE)" -eq 4096 ] || skip "the bar is of pages of 4 KiB"
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
# There have been four: on a slow disk the first ones are gone before the last is there.
segments() {
	[ -n "$(find "$D/segments" -name "shop-$SHOPPID.*.zst*" | sed 's/.*\.\([0-9]*\)\.tnf\.zst.*/\1/' |
		awk '$1 >= 4')" ]
}
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
