#!/bin/sh
# Guards: a program that overwrites its ring many times between two looks, and costs tnfwatch a whole
# CPU; a size that would do and is not told.
# laps.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 10s 128k
cat >>"$CONF" <<T
[trigger slow]
when = duration(order) > 60s
[trigger open]
when = open(order) > 60s
T
shop 1000000000		# as fast as it can
watch
shop_watched
told_size() { answers && grep -q "^shop-$SHOPPID .*size = [0-9]*k would do" "$TMP/status"; }
wait_for 60 told_size || fail "no size is told: $(cat "$TMP/status")"
# ms of CPU time that tnfwatch has taken, with its threads and without its children
taken() {
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / hz) }' "/proc/$PID/stat"
}
before=$(taken)
sleep 5
took=$(($(taken) - before))
answers
[ "$took" -le 250 ] || fail "$took ms of CPU time in 5 s: $(cat "$TMP/status")"
stop_watch
echo "$took ms of CPU time in 5 s; $(sed -n "s/^shop-$SHOPPID .*\\(size = .*\\)/\\1/p" "$TMP/status")"
