#!/bin/sh
# Guards: lost() and "missed" that count what never was, when more threads write than the ring has
# blocks; a firing for each look at the ring.
# crowd.sh TNFWATCH CROWD TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program mkfifo
watch_programs "$1" "$2" "$3"

conf <<T
keep = 60s
[process crowd]
program = $SHOP
enable = tick
size = 128k
[trigger lost]
when = lost() > 0
after = 3000s
page = no
[trigger rest]
when = open(rest) > 2s
after = 3000s
page = no
T
watch
mkfifo "$TMP/in" || fail "mkfifo"
"$SHOP" <"$TMP/in" >"$TMP/said" &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
exec 3>"$TMP/in"
is_watched() { answers && grep -q "^crowd-$SHOPPID " "$TMP/status"; }
wait_for 120 is_watched || fail "not watched: $(cat "$TMP/log" "$TMP/status")"
echo >&3
is_done() { grep -q 'done' "$TMP/said" || ! kill -0 "$SHOPPID"; }
wait_for 240 is_done || fail "it is not done"
grep -q 'done' "$TMP/said" || skip "no room for 1,500 threads"
dropped() { "$DUMP" --info "$@" 2>/dev/null | awk '$1 == "dropped:" { print $2 }'; }
all_told() { [ "$(w metrics | awk '/source_lost_total.*crowd/ { print $2 }')" = "$(dropped "$D"/rings/crowd-*.tnf)" ]; }
wait_for 120 all_told || echo "not all are told"
# The trigger fires for the last of them a second later: before a rest has lasted for two.
echo >&3
rested() { answers && [ "$(awk '$1 == "rest" { print $2 }' "$TMP/status")" = 1 ]; }
wait_for 120 rested || fail "no rest: $(cat "$TMP/status")"
stop_watch
J=$(incident)/incident.json
lost=$(dropped "$(incident)"/crowd-*.tnf)
told=$(jq '.sources[] | select(.name == "crowd") | .events_lost' "$J")
blocks=$(jq '.sources[] | select(.name == "crowd") | .blocks_not_read' "$J")
fired=$(jq '[.firings[] | select(.trigger == "lost") | .reason | split(" ")[0] | tonumber] | add' "$J")
n=$(jq '(.firings | length) - 1 + .firings_more' "$J")
seconds=$(jq '((.firings[-1].time - .firings[0].time) / 1e9 | floor) + 2' "$J")
echo "lost $lost, told $told; fired $n times for $fired; $blocks blocks"
[ "${lost:-0}" -gt 1000 ] || fail "nothing was lost: the ring is too large for this test"
[ "$told" -eq "$lost" ] || fail "told $told of $lost"
# The ring has 256 blocks.
[ "$blocks" -le 512 ] || fail "$blocks blocks not read"
[ "$fired" -ge "$lost" ] && [ "$fired" -le $((lost + blocks)) ] || fail "fired for $fired of $lost"
[ "$n" -le "$seconds" ] || fail "fired $n times in $seconds s"
