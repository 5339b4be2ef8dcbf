#!/bin/sh
# Guards: a fire --wait that says "kept" of what is not; a removed directory that costs every
# incident from then on; a lost incident of which nobody hears; cost of children that is hidden;
# a page that was not wanted; a note of a window that outlives an end in order.
# wait.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf <<T
keep = 2s
lost = echo "\$TNF_INCIDENT" >>$TMP/lost
[process shop]
program = $SHOP
enable = order
size = 256k
[trigger hand]
after = 0ms
page = no
then = mark by hand, run echo "\$TNF_TRIGGER \$TNF_INCIDENT \$TNF_REASON" >>$TMP/ran
[trigger once]
after = 0ms
once = yes
[trigger slowly]
after = 0ms
page = no
run = sleep 2 #
T
watch
shop 1000
shop_watched
id=$(w fire hand --wait) || fail "not kept: $(cat "$TMP/log")"
[ -e "$D/incidents/$id/incident.json" ] || fail "$id is not there"
# The action that is to be done at once has been done.
wait_for 120 grep -q . "$TMP/ran" || fail "nothing was run"
[ "$(cat "$TMP/ran")" = "hand $id fired from outside" ] || fail "run: $(cat "$TMP/ran")"
"$DUMP" --to jsonl "$D/incidents/$id"/tnfwatch-*.tnf* 2>/dev/null >"$TMP/own"
[ "$(grep '"probe":"mark"' "$TMP/own" | grep -c 'by hand')" -eq 1 ] || fail "no mark: $(cat "$TMP/own")"
# The same trigger keeps only one, and that is told.
page=$(w fire once --wait) || fail "not kept: $(cat "$TMP/log")"
w fire once --wait >"$TMP/out" 2>"$TMP/err" && fail "a second one is kept: $(cat "$TMP/out")"
grep -q 'its limit, once' "$TMP/err" || fail "said: $(cat "$TMP/err")"
wait_for 120 test -e "$D/incidents/$page/report.html" || fail "no page"
[ ! -e "$D/incidents/$id/report.html" ] || fail "a page that was not wanted"
# Why the slowest operation was slow stands beside the page, and at the head of "show".
why=$D/incidents/$page/why.txt
[ "$(stat -c %a "$why")" = 600 ] || fail "why.txt: $(ls -l "$D/incidents/$page")"
head -1 "$why" | grep -q '^order .* ms, ' || fail "why: $(cat "$why")"
[ "$(w show "$page" | sed -n 2p)" = "$(head -1 "$why")" ] || fail "show: $(w show "$page" | head -4)"
[ ! -e "$D/incidents/$id/why.txt" ] || fail "a reason that was not wanted"

# Equal causes are one line, and one archive has all of an incident.
w list --causes >"$TMP/out" || fail "list --causes"
[ "$(awk '{ print $1, $4 }' "$TMP/out" | sort)" = "$(printf '1 hand\n1 once')" ] || fail "$(cat "$TMP/out")"
w fire hand --wait >/dev/null || fail "not kept"
w list --causes | awk '$4 == "hand" && $1 == 2 && $2 <= $3 { found = 1 } END { exit !found }' ||
	fail "not together: $(w list --causes)"
w show "$id" | sed -n 1p | grep -q '^hand: fired from outside: 2 times, first 20' || fail "$(w show "$id")"
w export "$id" "$TMP/x.tar.gz" || fail "export"
tar -tzf "$TMP/x.tar.gz" | sort >"$TMP/archive"
(cd "$D/incidents" && find "$id" -type d -printf '%p/\n' -o -printf '%p\n') | sort | diff "$TMP/archive" - ||
	fail "the archive lacks something"
# Without texts: a trace with all events, and numbers.
mkdir "$TMP/plain" "$TMP/red"
w export "$id" "$TMP/r.tar.gz" --redact || fail "export --redact"
tar -xzf "$TMP/x.tar.gz" -C "$TMP/plain" && tar -xzf "$TMP/r.tar.gz" -C "$TMP/red" || fail "not unpacked"
red=$(echo "$TMP"/red/incident-*)
events() { "$DUMP" --no-header --columns mono,pid,lwpid,probe "$@" 2>/dev/null | sort; }
events "$TMP/plain/$id"/*.tnf* >"$TMP/want"
events "$red/trace.tnf" | cmp - "$TMP/want" && [ -s "$TMP/want" ] || fail "--redact: other events"
[ "$(jq '[.number, .time, .wall, .sources[].pid]' "$red/incident.json")" = \
	"$(jq '[.number, .time, .wall, .sources[].pid]' "$TMP/plain/$id/incident.json")" ] || fail "--redact: $(cat "$red/incident.json")"
cat "$red"/* "$TMP"/red/incident-* >"$TMP/all" 2>/dev/null
zstd -qdc "$TMP/plain/$id"/*.zst >"$TMP/unpacked" 2>/dev/null
for text in 'by hand' "$(uname -n)" "$TMP" "$(uname -r)" shop.c; do
	cat "$TMP/plain/$id"/* "$TMP/unpacked" | grep -aqF -- "$text" || fail "$text is nowhere anyway"
	! grep -aqF -- "$text" "$TMP/all" || fail "--redact leaves $text: $(grep -aoF -- "$text" "$TMP/all" | head -3)"
done
grep -rq . "$red/why.txt" 2>/dev/null && fail "--redact leaves why.txt"
w export --redact >/dev/null 2>&1 && fail "export of nothing"
w list --cause >/dev/null 2>&1 && fail "an option that is none"

# Somebody removes everything that was kept.
rm -rf "${D:?}/incidents" "${D:?}/segments"
id=$(w fire hand --wait) || fail "lost after a removal: $(cat "$TMP/log")"
whole "$D/incidents/$id"
segments() { [ -d "$D/segments" ]; }
wait_for 120 segments || fail "no directory of segments"

# A file has the name of the directory: nothing can be kept.
rm -rf "${D:?}/incidents"
: >"$D/incidents"
w fire hand --wait >"$TMP/out" 2>"$TMP/err" && fail "kept: $(cat "$TMP/out")"
grep -q 'not kept: the log' "$TMP/err" || fail "said: $(cat "$TMP/err")"
wait_for 120 grep -q -- '-hand$' "$TMP/lost" || fail "nobody was told"
rm "$D/incidents"
w fire hand --wait >/dev/null || fail "lost again: $(cat "$TMP/log")"

answers || fail "it does not answer"
grep -Eq '^its longest look took [0-9]+ ms; the latest began [0-9]+ ms late' "$TMP/status" || fail "status: $(cat "$TMP/status")"
grep -q '^of that its children [0-9.]* %' "$TMP/status" || fail "status: $(cat "$TMP/status")"
w metrics >"$TMP/metrics" || fail "metrics"
for line in 'incidents_total{what="kept"} 5' 'incidents_total{what="lost"} 1' \
	'trigger_fired_total{trigger="hand"} 5' 'trigger_suppressed_total{trigger="once"} 1'; do
	grep -qF "tnfwatch_$line" "$TMP/metrics" || fail "no $line: $(cat "$TMP/metrics")"
done
awk '/^tnfwatch_cpu_seconds_total.*children/ && $2 > 0 { found = 1 } END { exit !found }' \
	"$TMP/metrics" || fail "cost of children: $(cat "$TMP/metrics")"
# It ends while a command of an incident that is whole still runs: nothing is to be taken up again.
w fire slowly >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
wait_for 120 test -e "$D/incidents/$(cat "$TMP/out")/incident.json" || fail "not kept: $(cat "$TMP/log")"
stop_watch
[ -z "$(find "$D/run" -name 'window-*')" ] || fail "the note of a window is left"
echo "$(grep -c . "$TMP/metrics") metrics"
