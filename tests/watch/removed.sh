#!/bin/sh
# Guards: a directory that somebody has removed, after which nothing is kept, no program is watched
# and nobody answers; a firing that makes no incident, and an exit status that says it did.
# removed.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 5s 256k 0s
echo 'limit = 3/hour' >>"$CONF"
watch
shop 1000
shop_watched "at first"
rm -rf "$D"
# The socket was there, too.
wait_for 120 answers || fail "nobody answers: $(cat "$TMP/log")"
w fire hand --wait >"$TMP/out" 2>&1 || fail "not kept: $(cat "$TMP/out" "$TMP/log")"
whole "$D/incidents/$(cat "$TMP/out")"
rm -rf "$D/rings" "$D/incidents"
shop 1000
shop_watched "after its directory was removed"
w fire hand --wait >"$TMP/out" 2>&1 || fail "not kept again: $(cat "$TMP/out" "$TMP/log")"
w fire hand >"$TMP/out" || fail "the third"
wait_for 120 test -e "$D/incidents/$(cat "$TMP/out")/incident.json" || fail "the third is not kept"
# Its limit is reached.
w fire hand >"$TMP/out" 2>"$TMP/err" && fail "a firing without an incident: $(cat "$TMP/out")"
grep -q 'hand: no incident: its limit' "$TMP/err" && [ ! -s "$TMP/out" ] || fail "said: $(cat "$TMP/err")"
stop_watch
