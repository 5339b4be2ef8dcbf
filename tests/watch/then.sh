#!/bin/sh
# Guards: actions of a trigger that are not done, done twice, or not undone; a condition about
# the start of a system call that never holds; a filter of processes that outlives its
# configuration.
# then.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
watch_kernel_programs "$1" "$2" "$3"
at_exit kernel_off

conf <<T
keep = 5s
[kernel]
buffer = 4m
enable = syscall
pfilter = name=no-such-program
[trigger sleeps]
when = duration(syscall) > 300ms and sysnum == "clock_nanosleep"
after = 0s
limit = 1/hour
[trigger hand]
after = 0s
then = enable name=thread_create for 2s, mark by hand, run echo "\$TNF_TRIGGER \$TNF_REASON" >>$TMP/ran
[trigger stop]
after = 0s
then = freeze
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
for wrong in 'enable io' 'enable for 3s' 'mark' 'page me' 'mark a, run'; do
	sed "s/^then = .*/then = $wrong/" "$CONF" >"$TMP/wrong.conf"
	"$W" check -c "$TMP/wrong.conf" >/dev/null 2>"$TMP/err" && fail "'$wrong' is accepted"
	grep -q ': then: ' "$TMP/err" || fail "said of '$wrong': $(cat "$TMP/err")"
done
watch
kernel_is_there() { answers && grep -q '^kernel ' "$TMP/status"; }
wait_for 120 kernel_is_there || fail "no kernel: $(cat "$TMP/log" "$TMP/status")"

# The filter goes with its line: then a call that lasts is seen, and only such a call.
sleep 0.5
w list | grep . && fail "a program that is filtered out has fired"
sed -i '/^pfilter/d' "$CONF"
kill -HUP "$PID"
wait_for 120 told 'read again' || fail "not read again: $(cat "$TMP/log")"
has_slept() { sleep 0.5; kept sleeps; }
wait_for 60 has_slept || fail "no call is seen: $(cat "$TMP/log" "$TMP/status")"
jq -e '.firings | all(.event.start.probe == "syscall_start" and
	(.event.start.args | has("sysnum")) and (.reason | test("^syscall took [0-9.]+ m?s in")))' \
	"$(incident)/incident.json" >/dev/null || fail "fired: $(jq .firings "$(incident)/incident.json")"

# With the probe on, threads are in an incident.
threads() {
	w fire "$1" --wait >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
	"$DUMP" --to jsonl "$D/incidents/$(cat "$TMP/out")"/kernel*.tnf* 2>/dev/null |
		grep -c '"probe":"thread_create"'
}
sed -i 's/^\[trigger hand\]/[trigger look]\nafter = 0s\n[trigger hand]/' "$CONF"
kill -HUP "$PID"
again() { [ "$(grep -c 'read again' "$TMP/log")" -ge 2 ]; }
wait_for 120 again || fail "not read again: $(cat "$TMP/log")"
sh -c 'sleep 0; sleep 0; :'
[ "$(threads look)" -eq 0 ] || fail "thread_create is on before"
w fire hand --wait >/dev/null || fail "fire: $(cat "$TMP/log")"
created() {
	sh -c 'sleep 0; sleep 0; :'
	[ "$(threads look)" -gt 0 ]
}
wait_for 60 created || fail "thread_create was not switched on: $(cat "$TMP/log")"
wait_for 60 test -s "$TMP/ran" || fail "nothing was run"
[ "$(cat "$TMP/ran")" = "hand fired from outside" ] || fail "run: $(cat "$TMP/ran")"
# It goes off by itself: then no more come.
quiet() {
	before=$(threads look)
	sh -c 'sleep 0; sleep 0; :'
	[ "$(threads look)" -eq "$before" ]
}
wait_for 60 quiet || fail "thread_create stays on"
w fire look --wait >"$TMP/out"
"$DUMP" --to jsonl "$D/incidents/$(cat "$TMP/out")"/tnfwatch-*.tnf* 2>/dev/null |
	grep '"probe":"mark"' | grep -c 'by hand' >"$TMP/marks"
[ "$(cat "$TMP/marks")" -eq 1 ] || fail "$(cat "$TMP/marks") marks"

# The kernel is frozen by a firing from outside, which each place tells, and thawed by a reload.
id=$(w fire stop --wait) || fail "fire: $(cat "$TMP/log")"
jq -e '.sources[] | select(.kind == "kernel") | .frozen.why == "stop: fired from outside"' \
	"$D/incidents/$id/incident.json" >/dev/null || fail "no freeze: $(cat "$D/incidents/$id/incident.json")"
"$DUMP" --info "$D/incidents/$id/kernel.tnf" | grep -q 'frozen: *at .* stop: fired from outside' ||
	fail "--info: $("$DUMP" --info "$D/incidents/$id/kernel.tnf")"
newest() {
	w fire look --wait >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
	"$DUMP" --no-header --columns mono --last 1ms "$D/incidents/$(cat "$TMP/out")/kernel.tnf" | tail -1
}
before=$(newest)
[ -n "$before" ] || fail "no event"
sleep 0.3
[ "$(newest)" = "$before" ] || fail "the kernel records: $before, then $(newest)"
kill -HUP "$PID"
thawed() { [ "$(newest)" != "$before" ]; }
wait_for 60 thawed || fail "the kernel stays frozen: $(cat "$TMP/log")"
stop_watch
echo "done at once, and undone"
