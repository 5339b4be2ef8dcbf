#!/bin/sh
# asked.sh - the question of another machine and a trigger of our own in one incident: the
# trigger's run = is run, and its after = counts; a question itself runs nothing, also if
# there is a [trigger asked].
# Usage: asked.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_program python3
watch_programs "$1" "$2" "$3"
conf <<T
[file none]
path = $TMP/none.tnf
[trigger asked]
run = echo "\$TNF_TRIGGER" >>$TMP/asked; echo
[trigger hand]
after = 1s
run = echo "\$TNF_TRIGGER" >>$TMP/hand; echo
[trigger rare]
after = 10ms
limit = 1/hour
run = echo "\$TNF_TRIGGER" >>$TMP/rare; echo
T
cd "$TMP" || exit 1
watch

# A question alone.
control() {
	python3 - "$D/run/watch.sock" "$PID" "$@" <<'T'
import os, signal, socket, sys
path, pid = sys.argv[1], int(sys.argv[2])
socks = []
# All are there when it looks: nothing goes by meanwhile.
os.kill(pid, signal.SIGSTOP)
try:
    for text in sys.argv[3:]:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        s.sendall(text.replace(' ', '\t').encode() + b'\n')
        socks.append(s)
finally:
    os.kill(pid, signal.SIGCONT)
for s in socks:
    print(s.makefile().read().split()[1])
T
}
control 'pin question-1' > id || fail "pin: $(cat id "$TMP/log")"
id=$(cat id)
written() { [ -e "$D/incidents/$id/incident.json" ]; }
wait_for 120 written || fail "pin: not kept: $(cat "$TMP/log")"
jq -e '.trigger.name == "asked" and .trigger.after_ns == 0' "$D/incidents/$id/incident.json" \
	> /dev/null || fail "pin: $(cat "$D/incidents/$id/incident.json")"

# together TRIGGER: a question, and while its incident is open the trigger; id is its.  On
# a slow machine the incident may be complete before: tried again.
together() {
	for _i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		control "pin question-$1-$_i" "fire $1" > id || fail "$1: $(cat id "$TMP/log")"
		id=$(head -1 id)
		wait_for 120 written || fail "$1: not kept: $(cat "$TMP/log")"
		[ "$id" != "$(tail -1 id)" ] || return 0
	done
	fail "$1: never together with a question"
}
together hand
jq -e '[.firings[].trigger] == ["asked", "hand"]' "$D/incidents/$id/incident.json" > /dev/null ||
	fail "hand: $(jq .firings "$D/incidents/$id/incident.json")"
jq -e '.end - .firings[1].time >= 1000000000' "$D/incidents/$id/incident.json" > /dev/null ||
	fail "hand: its \"after\" was cut short"
ran() { grep -q "^$1\$" "$TMP/$1" 2>/dev/null; }
wait_for 120 ran hand || fail "hand: its command was not run: $(cat "$TMP/log")"
# Its limit is the trigger's also together with a question.
w fire rare > id || fail "rare"
id=$(cat id)
wait_for 120 written || fail "rare: not kept: $(cat "$TMP/log")"
together rare
# When tnfwatch has ended, whatever was to be run has been.
stop_watch
[ "$(wc -l < "$TMP/rare")" -eq 1 ] || fail "rare: run beyond its limit"
[ ! -e "$TMP/asked" ] || fail "a question runs a command"
