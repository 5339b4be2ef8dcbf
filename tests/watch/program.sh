#!/bin/sh
# Guards: a program that asks for an incident and is not heard, is heard twice, or with another
# text; a probe that stays off as no section names it.
# program.sh TNFWATCH DESK TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program mkfifo
watch_programs "$1" "$2" "$3"

conf <<T
keep = 60s
[process desk]
program = $SHOP
size = 256k
[trigger says]
when = incident()
after = 300s
[trigger seventh]
when = incident() and text == "checkout 7 is stuck"
after = 300s
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
watch
mkfifo "$TMP/in" || fail "mkfifo"
"$SHOP" <"$TMP/in" >"$TMP/said" &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
exec 3>"$TMP/in"
is_watched() { answers && grep -q "^desk-$SHOPPID " "$TMP/status"; }
wait_for 120 is_watched || fail "not watched: $(cat "$TMP/log" "$TMP/status")"
# Its own probes are seen, without stopping it.
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
grep -q '^.process desk.: 1 process, 1 probe to be on' "$TMP/out" &&
	grep -qx '.trigger says.: of desk tnf_incident' "$TMP/out" || fail "check says: $(cat "$TMP/out")"
for n in 5 6 7; do echo "stuck $n" >&3; done
fired() { awk -v t="$1" '$1 == t { print $2 }' "$TMP/status"; }
all() { answers && [ "$(fired says)" -ge 3 ] && [ "$(fired seventh)" -ge 1 ]; }
wait_for 120 all || fail "not heard: $(cat "$TMP/status" "$TMP/log")"
stop_watch
jq -r '.firings[] | select(.trigger == "says") | .reason' "$(incident)/incident.json" >"$TMP/reasons"
for n in 5 6 7; do echo "checkout $n is stuck in shop ($SHOPPID/$SHOPPID)"; done >"$TMP/want"
diff "$TMP/want" "$TMP/reasons" || fail "other reasons"
[ "$(jq '[.firings[] | select(.trigger == "seventh")] | length' "$(incident)/incident.json")" -eq 1 ] ||
	fail "the seventh: $(jq .firings "$(incident)/incident.json")"

# An order that began before a kill is taken up: it still hangs, and only it does.
conf <<T
keep = 60s
[process desk]
program = $SHOP
enable = order
size = 256k
[trigger hangs]
when = open(order) > 1s
after = 0s
T
sed 's/> 1s/> 1h/' "$CONF" >"$TMP/one.conf" && mv "$TMP/one.conf" "$CONF"
watch
wait_for 120 is_watched || fail "not watched again: $(cat "$TMP/log" "$TMP/status")"
echo "orders 3 0" >&3
echo begin >&3
is_begun() { grep -qx begin "$TMP/said"; }
wait_for 120 is_begun || fail "no order"
kill -9 "$PID"
wait "$PID" 2>/dev/null
sed -i 's/> 1h/> 1s/' "$CONF"
watch
wait_for 120 kept hangs || fail "the hang is forgotten: $(cat "$TMP/status" "$TMP/log")"
jq -e '(.firings | length == 1) and .firings[0].event.args.id == 4' "$(incident)/incident.json" \
	>/dev/null || fail "hangs: $(jq .firings "$(incident)/incident.json")"
stop_watch
echo "$(grep -c . "$TMP/reasons") heard"
