#!/bin/sh
# Guards: a target that cuts its trace file, and what it costs the others.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_root
need_ptrace
watch_programs "$1" "$2" "$3"

conf <<T
keep = 60s
[process shop]
program = $SHOP
enable = order
size = 1m
[trigger hand]
after = 0ms
T
shop 1000
honest=$SHOPPID
watch
wait_for 120 watched "$honest" || fail "not watched: $(cat "$TMP/log" "$TMP/status")"
shop cut
told() { grep -q -- "$1" "$TMP/log"; }
wait_for 120 told "shop-$SHOPPID: .*watched no more" || fail "not noticed: $(cat "$TMP/log" "$TMP/status")"
answers || fail "tnfwatch has ended: $(cat "$TMP/log")"
w fire hand >"$TMP/out" || fail "fire"
i=$D/incidents/$(cat "$TMP/out")
wait_for 120 test -e "$i/incident.json" || fail "said: $(cat "$TMP/log")"
"$DUMP" "$i/shop-$honest.tnf" | grep -q order_end || fail "nothing of the honest one"
jq -e --argjson pid "$SHOPPID" '.sources[] | select(.pid == $pid) | .why' "$i/incident.json" >/dev/null ||
	fail "not told of the liar: $(jq .sources "$i/incident.json")"
runs "$honest" || fail "the honest one is stopped"
stop_watch
