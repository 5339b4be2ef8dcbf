#!/bin/sh
# Guards: a target that is suspended and is set going by us, or holds up the others; many
# processes of one program that are not all watched, or one of them left stopped.
# stopped.sh TNFWATCH SHOP TNFDUMP [PROCESSES]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 2s 256k 10ms

# Suspended before it is found, and while it is watched: both stay as they are.
state() { awk '/^State:/ { print $2 }' "/proc/$1/status"; }
suspended() { [ "$(state "$1")" = T ]; }
shop 200
first=$SHOPPID
kill -STOP "$first"
wait_for 60 suspended "$first" || fail "it is not suspended"
shop 200
second=$SHOPPID
watch
shop_watched
suspended "$first" || fail "who was suspended runs: $(state "$first")"
kill -STOP "$second"
wait_for 60 suspended "$second" || fail "it is not suspended"

# An incident is complete without them, and later ones too.
fire hand
whole "$I"
suspended "$second" || fail "who was suspended runs: $(state "$second")"
kill -CONT "$first" "$second"
wait_for 120 watched "$first" || fail "not watched when it goes on: $(cat "$TMP/log" "$TMP/status")"
runs "$second" || fail "the second one does not go on"

# As many as there are, and all of them run.
n=${4:-60}
all=
for _ in $(seq "$n"); do
	shop 20
	all="$all $SHOPPID"
done
all_watched() { answers && [ "$(grep -c '^shop-' "$TMP/status")" -ge $((n + 2)) ]; }
wait_for 300 all_watched || fail "$(grep -c '^shop-' "$TMP/status") of $((n + 2)) are watched: $(tail -3 "$TMP/log")"
for p in $all; do
	all_run() { runs "$p"; }
	wait_for 60 all_run || fail "$p is left stopped"
done
fire hand
[ "$(jq '[.sources[] | select(.name == "shop")] | length' "$I/incident.json")" -ge "$n" ] ||
	fail "sources are missing"
stop_watch
for p in $all; do kill -0 "$p" || fail "$p has ended with tnfwatch"; done
echo "$n processes, all run"
