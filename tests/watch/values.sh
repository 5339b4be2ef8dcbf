#!/bin/sh
# Guards: an incident in which values of the kernel's tracepoints have numbers where the
# machine had names for them, or threads no names: each of its files is read alone somewhere.
# values.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
watch_kernel_programs "$1" "$2" "$3"
alone=shop$$
mv "$SHOP" "$TMP/$alone"
SHOP=$TMP/$alone

at_exit kernel_off
"$kpctl" alloc 262144 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$kpctl" set import_rate 0 || fail "import_rate"
"$kpctl" enable sched.sched_switch >/dev/null 2>"$TMP/err" || skip "no tracepoint: $(cat "$TMP/err")"
conf <<T
keep = 60s
segments = memory
[kernel]
enable = syscall
pfilter = name=$alone
[trigger hand]
after = 0s
T
watch
wait_for 120 kernel_watched || w status >/dev/null
shop 3000
# The first may be short, without a switch.
segments() { answers && grep -Eq '^kernel .* ([3-9]|[1-9][0-9]+) segments' "$TMP/status"; }
wait_for 120 segments || fail "too few segments: $(cat "$TMP/log" "$TMP/status")"
fire hand
whole "$I"
n=0
# labels FILE...: what its switches say of the state of who leaves.
labels() {
	"$DUMP" --pretty "$@" 2>"$TMP/err" |
		sed -n 's/.* sched\.sched_switch .* prev_state: \([^ ]*\) .*/\1/p' | sort -u
}
for f in "$I"/kernel*.tnf*; do
	labels "$f" >"$TMP/states"
	[ -s "$TMP/states" ] || continue
	# To sleep is 1, and is told as S.  A short file may have no sleep at all: all of them
	# together are asked for one below.
	! grep -qx 1 "$TMP/states" || fail "${f##*/}: $(cat "$TMP/states")"
	"$DUMP" --to csv "$f" 2>/dev/null | grep -q "$alone" || fail "${f##*/}: no names of threads"
	n=$((n + 1))
done
[ $n -ge 2 ] || fail "$n files with switches: $(ls "$I")"
labels "$I"/kernel*.tnf* | grep -qx S || fail "all together: $(cat "$TMP/states" "$TMP/err")"
stop_watch
echo "$n files, each with names"
