#!/bin/sh
# Guards: a trigger of any kind that fires too often or not often enough on a process that
# lives, or at another time than the same expression does on its recording.
# triggers.sh TNFWATCH DESK TNFDUMP TRIGGER-RUN [WEBHOOK]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program mkfifo
watch_programs "$1" "$2" "$3"
run=$(realpath "$4")
hook=
[ -z "$5" ] || ! command -v curl >/dev/null || hook="webhook = $TMP/hook"
cp "$SHOP" "$TMP/small"

# Rows of tnfwatch.conf(5)'s table, and the number of each one's trigger.
cat >"$TMP/whens" <<'T'
event probe == "order_end" and id % 5 == 0
duration duration(order) > 200ms
open open(order) > 200ms
few rate(beat) < 1 for 3s
many rate(beat) > 100
silence silence(beat) > 3s
never duration(order) > 1h
T
conf <<T
keep = 600s
$hook
[process desk]
program = $SHOP
enable = order beat
size = 1m
[process small]
program = $TMP/small
enable = spill
size = 128k
$(while read -r name when; do printf '[trigger %s]\nwhen = %s\nafter = 600s\n' "$name" "$when"; done <"$TMP/whens")
[trigger lost]
when = lost() > 0
[trigger ended]
when = ended()
[trigger killed]
when = ended("small") and signal == 11
[trigger status]
when = ended(small) and status == 3
[trigger hand]
[trigger alert]
[trigger signal]
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
watch

# begin PROGRAM: it is told what to do by descriptor 3.
begin() {
	exec 3>&-
	rm -f "$TMP/in"
	mkfifo "$TMP/in" || fail "mkfifo"
	: >"$TMP/said"
	"$1" <"$TMP/in" >"$TMP/said" &
	SHOPPID=$!
	STARTED="$STARTED $SHOPPID"
	exec 3>"$TMP/in"
	name=${1##*/}
	[ "$name" = small ] || name=desk
	is_watched() { answers && grep -q "^$name-$SHOPPID " "$TMP/status"; }
	wait_for 120 is_watched || fail "not watched: $(cat "$TMP/log" "$TMP/status")"
}
tell() {
	echo "$*" >&3
	wait_for 300 grep -qx "$*" "$TMP/said" || fail "not done: $*"
}
# fired TRIGGER N: exactly so often by now.
count() { awk -v t="$1" '$1 == t { print $2 }' "$TMP/status"; }
has_fired() { answers && [ "$(count "$1")" -ge "$2" ]; }
fired() {
	wait_for 120 has_fired "$1" "$2" || fail "$1: $(count "$1") times, not $2: $(cat "$TMP/log")"
	[ "$(count "$1")" -eq "$2" ] || fail "$1: $(count "$1") times, not $2"
}

begin "$SHOP"
desk=$SHOPPID
# None at all since it is watched: once, however long it lasts.
fired silence 1
fired few 1
tell beats 45 100
# Once, wherever the machine stalls between them: 100 before and 101 after it, or the other way round.
tell beats 201 0
fired many 1
fired silence 2
fired few 2
tell orders 13 0
tell orders 3 300
tell orders 4 0
fired event 4
# It fires while it hangs, and not again when it ends.
before=$(count open)
[ "$before" -ge 3 ] || fail "open: $before times"
tell begin
fired open $((before + 1))
tell end
tell orders 1 1

# Lost: the ring is overwritten while nobody reads it.  The desk reads its last line.
begin "$TMP/small"
fired ended 1
tell spills 10
small_read() { answers && grep -q '^small-.*[1-9]' "$TMP/status"; }
wait_for 120 small_read || fail "nothing of the small one: $(cat "$TMP/status")"
kill -STOP "$PID"
suspended() { [ "$(awk '/^State:/ { print $2 }' "/proc/$PID/status")" = T ]; }
wait_for 60 suspended || fail "it is not suspended"
tell spills 20000
kill -CONT "$PID"
wait_for 120 has_fired lost 1 || fail "lost: $(count lost) times: $(cat "$TMP/log")"
kill -SEGV "$SHOPPID"
wait "$SHOPPID" 2>/dev/null
fired ended 2
begin "$TMP/small"
echo 'exit 3' >&3
wait "$SHOPPID"
fired ended 3
# How they ended is told by the kernel's connector alone.
if ! told scan && [ "$(id -u)" -eq 0 ]; then
	fired killed 1
	fired status 1
fi

# From outside.
w fire hand >/dev/null && w fire hand >/dev/null || fail "fire"
fired hand 2
kill -USR1 "$PID"
fired signal 1
if [ -n "$hook" ]; then
	curl -sf --unix-socket "$TMP/hook" -H 'Content-Type: application/json' http://x/ --data-binary \
		'{"alerts":[{"status":"firing","labels":{"alertname":"x","trigger":"alert"}}]}' \
		>"$TMP/out" 2>&1 || fail "webhook: $(cat "$TMP/out" "$TMP/log")"
	fired alert 1
	fired hand 2
fi
fired never 0
# It fires each time that some are found to be lost, and they may be found in two parts.
[ "$(count lost)" -le 2 ] || fail "lost: $(count lost) times"
fired silence 2

# All are of one incident, and at the times that a recording tells.
stop_watch
[ "$(w list | grep -c .)" -eq 1 ] || fail "not one incident: $(w list)"
I=$(incident)
whole "$I"
set --
while read -r name when; do set -- "$@" "$when"; done <"$TMP/whens"
"$run" "$I/desk-$desk.tnf" "$@" >"$TMP/recorded" || fail "trigger-run"
n=0
while read -r name when; do
	# Firings before the first heartbeat belong to no recording.
	case $name in few | silence) skip=1 ;; *) skip=0 ;; esac
	jq -r --arg t "$name" '.firings[] | select(.trigger == $t) | .time' "$I/incident.json" |
		tail -n +$((skip + 1)) >"$TMP/live"
	awk -v n="$n" '$1 == n { print $2 }' "$TMP/recorded" | diff "$TMP/live" - >"$TMP/diff" ||
		fail "$name: live and recorded differ: $(cat "$TMP/diff")"
	echo "$name: $(wc -l <"$TMP/live")"
	n=$((n + 1))
done <"$TMP/whens"
