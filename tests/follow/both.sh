#!/bin/sh
# both.sh - --follow of a process and the kernel at once: in one order of time,
# with the names, calls and symbols that this machine tells while they run; it
# ends with the process.
# usage: both.sh PREX BUSY
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
need_ptrace
prex=$1 busy=$2

trace_begin 4000000 syscall_start syscall_end thread_block
"$prex" -s 1024 -o "$TMP/user.tnf" -c 'enable $all; continue' "$busy" 200 1000 "$TMP/go" \
    >"$TMP/prex.out" 2>&1 &
prexpid=$!
at_exit "kill $prexpid 2>/dev/null"
wait_for 60 pgrep -P "$prexpid" >/dev/null || fail "no target: $(cat "$TMP/prex.out")"
target=$(pgrep -P "$prexpid")
wait_for 60 [ -s "$TMP/user.tnf" ] || fail "no file"
"$kpctl" filter add "$target" && "$kpctl" filter on && "$kpctl" on || fail "cannot trace"
timeout 300 "$tnfdump" --follow kernel --follow "$target" --pretty --columns=+comm \
    -p busy >"$TMP/out" 2>"$TMP/err" &
follower=$!
at_exit "kill $follower 2>/dev/null"
ready() { grep -q tick "$TMP/out" && grep -q thread_block "$TMP/out"; }
wait_for 60 ready || fail "nothing is told: $(head -3 "$TMP/out" "$TMP/err")"
: >"$TMP/go"
wait $follower || fail "--follow: $?: $(cat "$TMP/err")"
wait $prexpid || fail "prex: $(cat "$TMP/prex.out")"
[ ! -s "$TMP/err" ] || fail "says $(cat "$TMP/err")"
equal "ticks" "$(grep -c ' tick ' "$TMP/out")" 200
within "calls by name" "$(grep -c 'sysnum: clock_nanosleep' "$TMP/out")" 80 100000
within "symbols" "$(grep -c 'stack: \[[a-z_0-9.]*+0x' "$TMP/out")" 1 100000
awk '/^-/ { next } $1 ~ /^[0-9.]+$/ { if ($8 != "busy") exit 1; if ($1 < last) exit 1; last = $1 }' \
    "$TMP/out" || fail "another process, or out of order: $(head "$TMP/out")"

# Device names, and who has ended, are of this machine as well; nothing else.
"$kpctl" off
"$tnfdump" --follow kernel -p nosuch >"$TMP/out" 2>"$TMP/err" &
follower=$!
at_exit "kill $follower 2>/dev/null"
wait_for 60 catches_int $follower || fail "--follow kernel -p: it does not begin: $(cat "$TMP/err")"
kill -INT $follower
wait $follower || fail "--follow kernel -p: $(cat "$TMP/err")"
grep -q '^tnfdump: -p nosuch: no event' "$TMP/err" || fail "-p nosuch: $(cat "$TMP/err")"
"$tnfdump" --follow kernel --follow kernel 2>"$TMP/err"
[ $? -eq 2 ] && grep -q 'given twice' "$TMP/err" || fail "twice: $(cat "$TMP/err")"
echo "ok: both, by name"
