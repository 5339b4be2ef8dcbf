#!/bin/sh
# Guards: a trigger of any kind that does not fire, fires twice, or without a cause, while the
# program is busy: what the program did itself decides, and not how fast this machine is.
# oracle.sh TNFWATCH ORACLE TNFDUMP [SECONDS [PER_SECOND]]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program mkfifo
need_program python3
watch_programs "$1" "$2" "$3"
conf <<T
keep = 5s
limit = 8g
[process oracle]
program = $SHOP
enable = order odd pay burst flow beat req closing
size = 64m
$(while read -r name when; do printf '[trigger %s]\nwhen = %s\nafter = 60s\npage = no\n' "$name" "$when"; done <<K
event probe == "odd" and n == 1
duration duration(pay) > 20ms
both-ends duration(pay) > 20ms and kind == 7
open open(pay) > 100ms
rate rate(burst) > 200
rate-of rate(burst) of oracle > 200
rate-for rate(flow) > 100 for 1s
silence silence(beat) > 700ms
p90 p90(req, 1s) > 5ms for 500ms
incident incident()
closing probe == "closing"
K
)
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
watch
mkfifo "$TMP/in" || fail "mkfifo"
"$SHOP" "${4:-20}" "${5:-20000}" "$TMP/did" <"$TMP/in" >"$TMP/said" &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
exec 3>"$TMP/in"
is_watched() { answers && grep -q "^oracle-$SHOPPID " "$TMP/status"; }
wait_for 120 is_watched || fail "not watched: $(cat "$TMP/log" "$TMP/status")"
echo go >&3
is_done() { grep -q "done" "$TMP/said"; }
wait_for $((${4:-20} + 240)) is_done || fail "it is not done"
# Events are fed in the order of their times: with the last one all have been.
closed() { answers && [ "$(awk '$1 == "closing" { print $2 }' "$TMP/status")" = 1 ]; }
wait_for 120 closed || fail "the last event is not seen: $(cat "$TMP/status")"
stop_watch
python3 "$TNF_SOURCE/tests/watch/oracle.py" "$TMP/did" "$D"/incidents/*/incident.json || {
	cat "$TMP/status"
	fail "what fired is not what was done"
}
# The page of an incident opens at what fired by what tnfwatch notes in its own trace.
"$DUMP" --to jsonl "$(incident)"/tnfwatch-*.tnf* 2>/dev/null | jq -c 'select(.probe == "fired") | .args' >"$TMP/noted"
jq -e -s --argjson pid "$SHOPPID" '[.[] | select(.trigger == "duration")] | length > 0 and
	all(.ago >= 0 and .lasted > 20000000 and .thread >= $pid)' "$TMP/noted" >/dev/null ||
	fail "noted: $(head -3 "$TMP/noted")"
sed -n '1,3p; /^oracle-/p' "$TMP/status"
