#!/bin/sh
# Guards: a target that cuts its trace file, and what it costs the others.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_root
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 60s 1m 0ms
shop 1000
honest=$SHOPPID
watch
shop_watched
shop cut
wait_for 120 told "shop-$SHOPPID: .*watched no more" || fail "not noticed: $(cat "$TMP/log" "$TMP/status")"
answers || fail "tnfwatch has ended: $(cat "$TMP/log")"
fire hand
"$DUMP" "$I/shop-$honest.tnf" | grep -q order_end || fail "nothing of the honest one"
jq -e --argjson pid "$SHOPPID" '.sources[] | select(.pid == $pid) | .why' "$I/incident.json" >/dev/null ||
	fail "not told of the liar: $(jq .sources "$I/incident.json")"
runs "$honest" || fail "the honest one is stopped"
stop_watch
