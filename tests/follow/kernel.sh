#!/bin/sh
# kernel.sh - --follow kernel: each event of a known process once and in order,
# as the buffer has them in the end; over several laps of the buffer all that
# is not told to be missing.
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
mkfifo "$TMP/go" || fail "mkfifo"

# follow N: a process of its own makes N calls of getppid() while we follow
follow() {
	# shellcheck disable=SC2016
	sh -c 'read -r go <"$0"; exec "$1" syscalls "$2"' "$TMP/go" "$work" "$1" \
	    >/dev/null &
	pid=$!
	"$kpctl" filter add $pid && "$kpctl" filter on && "$kpctl" on ||
		fail "cannot trace process $pid"
	: >"$TMP/seen"
	"$tnfdump" --follow kernel --no-header >"$TMP/seen" 2>"$TMP/err" &
	follower=$!
	at_exit "kill $follower 2>/dev/null"
	echo >"$TMP/go"
	wait $pid || fail "work: $?"
	wait_for 60 ended || fail "the end of $pid is not seen: $(cat "$TMP/err")"
	"$kpctl" off
	kill -INT $follower
	wait $follower || fail "--follow kernel: $?: $(cat "$TMP/err")"
	begins=$(grep -c 'sysnum: 110$' "$TMP/seen")
}
# exit_group() is its last call.
ended() { grep -q 'sysnum: 231$' "$TMP/seen"; }

trace_begin 8000000 syscall_start syscall_end
follow 3000
[ ! -s "$TMP/err" ] || fail "$(cat "$TMP/err")"
equal "getppid begins" "$begins" 3000
"$kpctl" copy "$TMP/buf" || fail "copy"
"$tnfdump" --no-header "$TMP/buf" >"$TMP/all" || fail "tnfdump"
cmp "$TMP/seen" "$TMP/all" || fail "followed and stored events differ"
echo "ok: all $(wc -l <"$TMP/all") events once, in order"

kernel_off
"$kpctl" alloc 8000000 >/dev/null && "$kpctl" enable syscall_start syscall_end ||
	fail "second buffer"
follow 150000
"$kpctl" copy "$TMP/buf" || fail "copy"
echo "told: $(cat "$TMP/err")"
within "laps" "$("$tnfdump" --info "$TMP/buf" | awk '$1 == "laps:" { print $2 }')" 2 100
if [ -s "$TMP/err" ]; then
	grep -q 'fell behind: [0-9]* blocks' "$TMP/err" || fail "$(cat "$TMP/err")"
	within "getppid begins" "$begins" 1 149999
else
	equal "getppid begins" "$begins" 150000
fi
awk '{ if ($1 + 0 < last) exit 1; last = $1 + 0 }' "$TMP/seen" || fail "out of order"
# One thread: a start and its end take turns, so none comes twice.
awk '$7 == before && !told { exit 1 } { before = $7 }' told="$(wc -l <"$TMP/err")" \
    "$TMP/seen" || fail "an event twice"
echo "ok: in order, once"
