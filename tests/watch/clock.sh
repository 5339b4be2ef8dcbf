#!/bin/sh
# Guards: a clock that is set, so that newer incidents count as older and go first; two of
# one second that become one; a trigger that fires for it, or for which the hour begins
# again.
# clock.sh TNFWATCH SHOP TNFDUMP CLOCK
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program python3
watch_programs "$1" "$2" "$3"
clock=$(realpath "$4")

# A sanitizer's library has to come first.
first=$(ldd "$W" | awk '/lib(asan|ubsan|tsan)/ { printf "%s:", $3 }')
printf '#!/bin/sh\nexec env LD_PRELOAD=%s%s FAKE_CLOCK=%s "%s" "$@"\n' "$first" "$clock" "$TMP/clock" "$W" \
	>"$TMP/faked"
chmod +x "$TMP/faked"
W=$TMP/faked
# set_clock NS: so much is added; odd, the time itself.
set_clock() { python3 -c 'import struct, sys; open(sys.argv[1], "r+b").write(struct.pack("q", int(sys.argv[2])))' "$TMP/clock" "$1"; }
printf '\0\0\0\0\0\0\0\0' >"$TMP/clock"
day=86400000000000

configure() {
	conf <<-T
	keep = 60s
	limit = $1
	[process shop]
	program = $SHOP
	enable = order
	size = 128k
	[trigger hand]
	after = 0s
	[trigger few]
	after = 0s
	limit = 2/hour
	[trigger slow]
	when = duration(order) > 1h
	[trigger open]
	when = open(order) > 1h
	[trigger rate]
	when = rate(order_end) < 0.01 for 1h
	[trigger silence]
	when = silence(order_end) > 1h
	T
}
configure 1g
shop 500
watch
shop_watched
# fire_next TRIGGER: ID is its incident's name.
fire_next() {
	fire "$1"
	ID=${I##*/}
	echo "$ID" >>"$TMP/ids"
}
in_order() {
	w list | awk '{ print $1 }' >"$TMP/list"
	diff "$TMP/ids" "$TMP/list" >"$TMP/diff" || fail "$1: not in their order: $(cat "$TMP/diff")"
}
fire_next hand
fire_next few
set_clock $day
fire_next hand
case $ID in
"$(date -u -d tomorrow +%Y%m%d)"T* | "$(date -u -d yesterday +%Y%m%d)"T*) ;;
*) [ "${ID%%T*}" != "$(date -u +%Y%m%d)" ] || fail "$ID: the clock is not faked" ;;
esac
fire_next few
set_clock -$day
fire_next hand
in_order "set back"

# The hour is one of the machine, not of the clock.
! w fire few >"$TMP/out" 2>"$TMP/err" || fail "fire says nothing of the limit"
[ -z "$(cat "$TMP/out")" ] || fail "a third one: $(cat "$TMP/out")"

# A second that does not pass, so that all have one name.
set_clock 1700000000500000001
for _ in 1 2 3; do fire_next hand; done
second=20231114T221320Z-hand
printf '%s\n' $second $second.2 $second.3 >"$TMP/names"
tail -3 "$TMP/ids" | diff "$TMP/names" - >"$TMP/diff" || fail "names: $(cat "$TMP/diff")"
in_order "standing still"
set_clock 0
answers || fail "it does not answer: $(cat "$TMP/log")"
for t in slow open rate silence; do
	grep -Eq "^$t +0 " "$TMP/status" || fail "$t has fired: $(cat "$TMP/status")"
done
while read -r i; do whole "$D/incidents/$i"; done <"$TMP/ids"

# Started again it knows the order, and it is the newest that stays.
stop_watch
set_clock -$day
configure 1
watch
shop_watched
fire_next hand
alone() { [ "$(w list | awk '{ print $1 }')" = "$ID" ]; }
wait_for 120 alone || fail "not $ID: $(w list; cat "$TMP/log")"
stop_watch
echo "$(wc -l <"$TMP/ids") incidents"
