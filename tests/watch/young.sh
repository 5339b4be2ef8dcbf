#!/bin/sh
# Guards: a promise that is told as broken although the history goes back to where the
# program began; one that is told as kept although a part of that was overwritten.
# young.sh TNFWATCH DESK TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program mkfifo
watch_programs "$1" "$2" "$3"

conf <<T
keep = 600s
[process shop]
program = $SHOP
enable = spill beat
size = 128k
[trigger hand]
after = 0s
[trigger seen]
when = probe == "beat"
after = 0s
limit = 1/hour
T
watch
mkfifo "$TMP/in" || fail "mkfifo"
"$SHOP" <"$TMP/in" >"$TMP/said" &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
exec 3>"$TMP/in"
is_watched() { answers && grep -q "^shop-$SHOPPID " "$TMP/status"; }
wait_for 120 is_watched || fail "not watched: $(cat "$TMP/log" "$TMP/status")"

# tell LINE: the program has done it.
lines=0
tell() {
	lines=$((lines + 1))
	echo "$*" >&3
	wait_for 300 is_said || fail "not done: $*"
}
is_said() { [ "$(wc -l <"$TMP/said")" -ge "$lines" ]; }
seen() { awk '$1 == "seen" { print $2 + $4 }' "$TMP/status"; }
# tnfwatch has read all and copied what is due.
settle() {
	for _i in 1 2; do
		answers
		before=$(seen)
		tell beats 1 0
		wait_for 120 has_seen || fail "not read: $(cat "$TMP/log" "$TMP/status")"
	done
}
has_seen() { answers && [ "$(seen)" -gt "$before" ]; }
shop_says() { jq -r '.sources[] | select(.name == "shop") | '"$1" "$I/incident.json"; }
spills() { "$DUMP" --to jsonl "$@" 2>"$TMP/err" | grep -c '"spill"'; }

# Its probes are on.
begins() { tell beats 1 0 && answers && [ "$(seen)" -gt 0 ]; }
wait_for 120 begins || fail "nothing of it: $(cat "$TMP/log" "$TMP/status")"
settle
settle
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	tell spills 1500
	settle
done
fire hand
whole "$I"
[ "$(spills "$I/shop-$SHOPPID.tnf")" -lt 18000 ] || fail "the ring was not overwritten"
n=$(spills "$I"/shop-*.tnf*)
[ "$n" -eq 18000 ] || fail "$n events of 18000: $(cat "$TMP/err" "$TMP/status")"
[ "$(shop_says .promise_kept)" = true ] || fail "all is there, and: $(shop_says .why)"
answers
grep -q "^shop-.*[0-9]s!" "$TMP/status" && fail "status: $(cat "$TMP/status")"

# The ring is overwritten while nobody copies it.
kill -STOP "$PID"
is_stopped() { [ "$(awk '/^State:/ { print $2 }' "/proc/$PID/status")" = T ]; }
wait_for 60 is_stopped || fail "it is not suspended"
tell spills 40000
kill -CONT "$PID"
settle
fire hand
[ "$(shop_says .promise_kept)" = false ] || fail "kept, without $((58000 - $(spills "$I"/shop-*.tnf*))) events"
shop_says .why | grep -q overwritten || fail "why: $(shop_says .why)"
answers
grep -q "^shop-.*[0-9]s!.*  less than keep: .*size" "$TMP/status" || fail "status: $(cat "$TMP/status")"
runs "$SHOPPID"
stop_watch
echo "$n events of a ring that went round; then: $(shop_says .why)"
