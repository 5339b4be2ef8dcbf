#!/bin/sh
# watch-killed.sh - kill -9 of tnfwatch at 200 random moments: from its first instruction on,
# while it attaches, follows, copies, writes and reads its configuration again.
#
# usage: watch-killed.sh [ROUNDS [SEED]]
#
# After each kill: no incident that is not whole, the program runs and nobody holds it.  At the
# end: one ring, which has all orders that it had room for; nothing half written is left.
# $TNF_BUILD (default: build) is tested.  Not part of tools/check.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
TNF_BUILD=$(realpath "$TNF_BUILD")
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program python3
watch_programs "$TNF_BUILD/tnfwatch/tnfwatch" "$TNF_BUILD/tests/watch/shop" "$TNF_BUILD/tnfdump/tnfdump"
rounds=${1:-200}
python3 - "$rounds" "${2:-1}" >"$TMP/moments" <<'T'
import random, sys
random.seed(int(sys.argv[2]))
for _ in range(int(sys.argv[1])):
    print("%.4f" % random.uniform(0, 1.5))
T

conf_shop 3s 512k 0ms
cat >>"$CONF" <<T
[trigger often]
when = probe == "order_end" and id % 500 == 0
after = 50ms
limit = 100000/hour
T
shop 2000
begun=0 hung_up=0 whole=0 held=0 left=0
while read -r moment; do
	"$W" -c "$CONF" >>"$TMP/log" 2>&1 &
	PID=$!
	STARTED="$SHOPPID $PID"
	# Meanwhile these happen: a firing from outside, the configuration read again.
	(
		sleep "0.$((PID % 9))"
		w fire hand >/dev/null 2>&1
		kill -HUP "$PID" 2>/dev/null
	) &
	sleep "$moment"
	# SIGHUP ends one that has not come to catching it.
	kill -9 "$PID" 2>/dev/null || hung_up=$((hung_up + 1))
	wait "$PID" 2>/dev/null
	wait $! 2>/dev/null
	begun=$((begun + 1))
	# Its writers go on: what they are at has no name yet.
	for i in "$D"/incidents/2*; do
		[ -d "$i" ] || continue
		whole "$i"
		whole=$((whole + 1))
		rm -r "$i"
	done
	runs_again() { runs "$SHOPPID"; }
	runs_again || held=$((held + 1))
	wait_for 30 runs_again || fail "after $begun kills: the shop is held"
	left=$((left + $(find "$D/incidents" -maxdepth 1 -name '.tmp-*' 2>/dev/null | wc -l)))
done <"$TMP/moments"
echo "$((begun - hung_up)) kills, and $hung_up that SIGHUP had ended just before: $whole incidents, each whole; $left were half written then, and had no name;" \
	"the shop was held $held times for a moment"

grep 'another tnfwatch' "$TMP/log" && fail "it did not begin"
watch
shop_watched "at last"
[ "$(find "$D/rings" -name "shop-$SHOPPID*.tnf" | wc -l)" -eq 1 ] || fail "rings: $(ls "$D/rings")"
stop_watch
[ -z "$(find "$D/incidents" -maxdepth 1 -name '.tmp-*')" ] || fail "left: $(ls -a "$D/incidents")"
[ -z "$(find "$D/run" -name 'window-*')" ] || fail "left: $(ls -a "$D/run")"
[ -z "$(find "$D/rings" -name '.*' -type f)" ] || fail "left: $(ls -a "$D/rings")"
# The ring was never interrupted: what it has is without a gap.
"$DUMP" --to jsonl "$D/rings/shop-$SHOPPID.tnf" 2>/dev/null |
	jq -r 'select(.probe == "order_end") | .args.id' | sort -n >"$TMP/ids"
n=$(wc -l <"$TMP/ids")
[ $(($(tail -1 "$TMP/ids") - $(head -1 "$TMP/ids") + 1)) -eq "$n" ] || fail "gaps in the ring"
echo "the ring has orders $(head -1 "$TMP/ids") to $(tail -1 "$TMP/ids"), without a gap"
