#!/bin/sh
# Guards: a program that nobody has prepared is not watched by its functions, or only until it is
# started again; what another program does is taken for its own; its end is not told.
# plain.sh TNFWATCH PLAIN TNFDUMP
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
watch_kernel_programs "$1" "$2" "$3"
need_program mkfifo
at_exit kernel_off
need_buffer
cp "$SHOP" "$TMP/other" && cp "$SHOP" "$TMP/third" && cp "$SHOP" "$TMP/fast" || fail "no copies"

conf <<T
keep = 5s
[process plain]
program = $SHOP
enable = function=work
[process other]
program = $TMP/other
enable = name=work_entry name=work_return
[process third]
program = $TMP/third
[trigger slow]
when = duration(work) > 40ms and ms == 60
of = plain
after = 3000s
[trigger others]
when = duration(work) > 40ms
of = other
[trigger silent]
when = silence(work_entry) > 3s
of = plain
[trigger ended]
when = ended() and signal != 0
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
watch

# begin NAME PROGRAM: its commands go to the file NAME.in.
begin() {
	[ -p "$TMP/$1.in" ] || mkfifo "$TMP/$1.in" || fail "mkfifo"
	"$2" <"$TMP/$1.in" >"$TMP/$1.said" &
	BEGUN=$!
	STARTED="$STARTED $BEGUN"
}
is_watched() { answers && grep -q "^$1-$2 " "$TMP/status"; }
# does NAME COMMAND: it is done when this returns.
does() {
	echo "$2" >>"$TMP/$1.wants"
	echo "$2"
	_d=$1 _want=$(wc -l <"$TMP/$1.wants")
	wait_for 120 has_done >&2 || fail "not done: $2"
}
has_done() { [ "$(wc -l <"$TMP/$_d.said")" -ge "$_want" ]; }
fired() { awk -v t="$1" '$1 == t { print $2 }' "$TMP/status"; }
has_fired() { answers && [ "$(fired "$1")" -ge "$2" ]; }

begin plain "$SHOP"
FIRST=$BEGUN
exec 3>"$TMP/plain.in"
begin other "$TMP/other"
exec 4>"$TMP/other.in"
for p in "plain $FIRST" "other $BEGUN"; do
	wait_for 120 is_watched $p || fail "$p: not watched: $(cat "$TMP/log" "$TMP/status")"
done
# Those that run are looked up.
sed 's/function=work/function=work sohp/; s/silence(work_entry)/silence(wrok_entry)/' "$CONF" >"$TMP/some.conf"
"$W" check -c "$TMP/some.conf" >"$TMP/out" 2>"$TMP/err" || fail "check: $(cat "$TMP/err")"
for say in '.process plain.: 1 process, 2 probes to be on' '.process third.: no process of it runs now' \
	'.trigger slow.: of plain work_entry work_return' '.trigger others.: of other work_entry work_return' \
	'.trigger silent.: no probe that is known now'; do
	grep -qx "$say" "$TMP/out" || fail "check does not say $say: $(cat "$TMP/out")"
done
[ "$(grep -c . "$TMP/err")" -eq 2 ] && grep -q 'process plain.: enable: keys=sohp: none of' "$TMP/err" &&
	grep -q 'trigger silent.: .*no probe' "$TMP/err" || fail "check says: $(cat "$TMP/err")"
: >"$TMP/plain.wants"
: >"$TMP/other.wants"
does plain 'work 200 0' >&3
does plain 'work 3 60' >&3
does plain 'work 2 50' >&3
does other 'work 4 60' >&4
wait_for 120 has_fired slow 3 || fail "slow: $(cat "$TMP/status" "$TMP/log")"
wait_for 120 has_fired others 4 || fail "others: $(cat "$TMP/status")"

# It is silent, then killed: that is no silence.
wait_for 120 has_fired silent 1 || fail "silent: $(cat "$TMP/status")"
kill -9 "$FIRST"
wait_for 120 has_fired ended 1 || fail "ended: $(cat "$TMP/status" "$TMP/log")"
exec 3>&-
# A program without any probe is watched for its end.
"$TMP/third" </dev/null >/dev/null & wait $!
mkfifo "$TMP/third.in"
"$TMP/third" <"$TMP/third.in" >/dev/null &
THIRD=$!
STARTED="$STARTED $THIRD"
exec 5>"$TMP/third.in"
wait_for 120 is_watched third $THIRD || fail "third: $(cat "$TMP/status" "$TMP/log")"
kill -6 $THIRD
wait_for 120 has_fired ended 2 || fail "third ended: $(cat "$TMP/status")"
exec 5>&-

# The next process of the program is watched, too.
begin plain "$SHOP"
exec 3>"$TMP/plain.in"
wait_for 120 is_watched plain $BEGUN || fail "not watched again: $(cat "$TMP/log" "$TMP/status")"
: >"$TMP/plain.wants"
does plain 'work 5 60' >&3
wait_for 120 has_fired slow 8 || fail "slow again: $(cat "$TMP/status")"
sleep 0.5
answers
for t in 'slow 8' 'others 4' 'silent 1' 'ended 2'; do
	set -- $t
	[ "$(fired "$1")" -eq "$2" ] || fail "$1 has fired $(fired "$1") times, not $2: $(cat "$TMP/status")"
done
stop_watch
whole "$(incident)"
jq -e --argjson pid "$FIRST" '.firings[0] | .source == "kernel" and .event.args.value == 60 and
	.event.pid == $pid and .start.args.ms == 60' "$(incident)/incident.json" >/dev/null ||
	jq -e '.firings[0].reason | test("^work took 6")' "$(incident)/incident.json" >/dev/null ||
	fail "told: $(jq '.firings[0]' "$(incident)/incident.json")"

# It records itself; and the kernel does, in all processes of a file.
conf <<T
keep = 5s
[process fast]
program = $TMP/fast
enable = function=work
fast = yes
[kernel]
import = $TMP/third
enable = function=work
[trigger self]
when = probe == "work_entry" and ms == 1
of = fast
after = 3000s
[trigger all]
when = duration(work) > 40ms
of = kernel
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
watch
begin fast "$TMP/fast"
exec 3>"$TMP/fast.in"
wait_for 120 is_watched fast $BEGUN || fail "fast: not watched: $(cat "$TMP/log" "$TMP/status")"
begin third "$TMP/third"
exec 5>"$TMP/third.in"
wait_for 120 kernel_watched || fail "no kernel: $(cat "$TMP/log" "$TMP/status")"
: >"$TMP/fast.wants"
: >"$TMP/third.wants"
does fast 'work 7 1' >&3
does third 'work 2 60' >&5
wait_for 120 has_fired self 7 || fail "self: $(cat "$TMP/status" "$TMP/log")"
wait_for 120 has_fired all 2 || fail "all: $(cat "$TMP/status" "$TMP/log")"
stop_watch
whole "$(incident)"
n=$("$DUMP" --to jsonl "$(incident)"/fast-*.tnf 2>/dev/null | jq -c 'select(.probe == "work_entry") | .args' | grep -c .)
[ "$n" -eq 7 ] || fail "in the ring: $n calls of 7"
echo "watched without probes"
