#!/bin/sh
# Guards: a configuration with a mistake that is taken up; a gap when it is read again;
# two at once; marks and firings from outside that are not kept; a program that starts
# again; a file that the target names and we remove, or whose name is what
# a source is called.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

configure() {
	conf <<T
keep = 3s
[process shop]
program = $SHOP
enable = order
size = 1m
[trigger hand]
after = 10ms
run = echo "\$TNF_TRIGGER" >>$TMP/ran; echo
[trigger $1]
when = $2
after = 10ms
limit = 1/hour
T
}
configure first 'probe == "order_end" and id > 10'
shop 500
watch
shop_watched
wait_for 120 kept first || fail "nothing fired: $(cat "$TMP/status" "$TMP/log")"
whole "$(incident)"
first=$(incident)

# Another one with the same directory is refused.
"$W" -c "$CONF" >"$TMP/out" 2>&1 && fail "two at once"
grep -q 'another tnfwatch has it' "$TMP/out" || fail "said: $(cat "$TMP/out")"
answers || fail "the second one has disturbed the first"

# With a mistake the old one stays in force; without it takes up the new one.
configure second 'probe = "order_end"'
kill -HUP "$PID"
wait_for 120 told 'what was in force stays' || fail "said: $(cat "$TMP/log")"
told "watch.conf:.*when: " || fail "the mistake is not told: $(cat "$TMP/log")"
answers
grep -q '^first' "$TMP/status" || fail "not in force: $(cat "$TMP/status")"
before=$(awk -v s="shop-$SHOPPID" '$1 == s' "$TMP/status" | wc -l)
[ "$before" -eq 1 ] || fail "sources: $(cat "$TMP/status")"
configure second 'probe == "order_start"'
kill -HUP "$PID"
wait_for 120 told 'read again' || fail "said: $(cat "$TMP/log")"
wait_for 120 kept second || fail "nothing fired: $(cat "$TMP/status" "$TMP/log")"
[ "$(grep -c "^shop-$SHOPPID" "$TMP/status")" -eq 1 ] || fail "sources: $(cat "$TMP/status")"
runs "$SHOPPID" || fail "the shop is stopped"

# A ring that is read again has no gap: all orders from the first one on are there.
i=$(incident)
whole "$i"
"$DUMP" --to jsonl "$i"/shop-*.tnf* 2>/dev/null |
	jq -r 'select((.probe // .name) == "order_end") | .args.id // .id' | sort -n >"$TMP/ids"
[ $(($(tail -1 "$TMP/ids") - $(head -1 "$TMP/ids") + 1)) -eq "$(wc -l <"$TMP/ids")" ] ||
	fail "holes"

# From outside: a note, a mark, a command; a name that is none.
w mark 'deploy 812 begins' || fail "mark"
w fire hand --note 'a note' >"$TMP/out" || fail "fire"
id=$(cat "$TMP/out")
written() { [ -e "$D/incidents/$id/incident.json" ]; }
wait_for 120 written || fail "not written: $(cat "$TMP/log")"
jq -e '.firings[0].note == "a note"' "$D/incidents/$id/incident.json" >/dev/null || fail "note"
"$DUMP" "$D/incidents/$id"/tnfwatch-*.tnf | grep -q 'deploy 812 begins' || fail "mark is not there"
wait_for 120 test -s "$TMP/ran" || fail "run: $(cat "$TMP/log")"
w fire nobody 2>"$TMP/err" && fail "fired what is none"
grep -q 'no such trigger' "$TMP/err" || fail "said: $(cat "$TMP/err")"
kill -USR1 "$PID"
wait_for 120 kept -signal || fail "SIGUSR1: $(cat "$TMP/log")"

# show, pin, rm.
w show "$id" | grep -q '"note": "a note"' || fail "show"
w pin "$id" || fail "pin"
w list | grep "$id" | grep -q pinned || fail "not pinned"
w rm "$id" || fail "rm"
! kept "$id" || fail "not removed"
[ -d "$first" ] || fail "rm took another one"

# It ends and starts again: both are sources, and the old ring goes with its time.
kill "$SHOPPID"
old=$SHOPPID
shop 500
shop_watched again
gone() { [ ! -e "$D/rings/shop-$old.tnf" ]; }
wait_for 120 gone || fail "the ring of $old stays: $(ls "$D/rings")"
runs "$SHOPPID" || fail "the shop is stopped"

# One that names its file itself, as if it were one of ours: it is left alone.
TNF_ENABLE=order TNF_FILE="$D/rings/../own.tnf" TNF_SIZE=1m "$SHOP" 500 >/dev/null &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
shop_watched "with a file of its own"
kill "$SHOPPID"
forgotten() { answers && ! grep -q "^shop-$SHOPPID" "$TMP/status"; }
wait_for 120 forgotten || fail "the ended one is kept: $(cat "$TMP/status")"
[ -e "$D/own.tnf" ] || fail "the target's own file was removed"

# One whose file's name is a line of the status: it has no say in what it is called.
export SHOP D
# shellcheck disable=SC2016  # what is to be expanded there
TNF_ENABLE=order TNF_SIZE=1m sh -c 'TNF_FILE="$D/rings/a
kernel 5-$$.tnf" exec "$SHOP" 500' >/dev/null &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
shop_watched "with a file of two lines"
grep '^kernel' "$TMP/status" && fail "a forged line: $(cat "$TMP/status")"
kill "$SHOPPID"
wait_for 120 forgotten || fail "the ended one is kept: $(cat "$TMP/status")"
stop_watch
