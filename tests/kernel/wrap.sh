#!/bin/sh
# wrap.sh - a small buffer under load, round and round: every record is whole.
. "$(dirname "$0")/kernel.sh"
tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract

faults="address_fault anon_zero thread_state"
[ -z "$(unavailable address_fault)" ] || faults="thread_state#1 thread_state#2 thread_state#3"
# shellcheck disable=SC2086 # words are meant
trace_begin 200000 syscall_start syscall_end thread_block thread_queue thread_create \
	thread_exit $faults
# A hit that the kernel itself leaves out, because a program of ours is running on that CPU, is counted and
# told.  That is no damage, and it happens when the machine is busy.
damage() { grep -v 'skipped by the kernel: [0-9]*)$' "$TMP/err" >"$TMP/damage"; }
check() {
	"$tnfdump" -r "$TMP/buf" >"$TMP/raw" 2>"$TMP/err" || fail "raw: $(cat "$TMP/err")"
	! damage || fail "raw: $(cat "$TMP/damage")"
	within "records" "$(grep -c 'time_delta' "$TMP/raw")" 500 20000
}
load() { "$work" threads 200 >"$1" & "$work" pipe 20000 >"$2" & "$work" syscalls 100000; wait; }
for i in 1 2 3; do
	traced load "$TMP/a" "$TMP/b"
	check
done

# From when on: once the buffer has gone round, prex tells it by CPU.
"$TNF_BUILD/prex/prex" -k -c 'buffer; quit' >"$TMP/out" 2>&1
grep -q '^Complete for the last [0-9]*\.[0-9]* seconds$' "$TMP/out" || fail "buffer: $(cat "$TMP/out")"
within "CPUs of it" "$(grep -c '^CPU [0-9]*: [0-9]*\.[0-9]* seconds$' "$TMP/out")" 1 \
	"$(grep -c '^CPU ' "$TMP/out")"

# Readers see whole records while writers run, two of them without an end.
"$kpctl" on
load "$TMP/a" "$TMP/b" >/dev/null & loader=$!
"$work" syscalls 1000000000 >/dev/null & endless=$!
"$work" syscalls 1000000000 >/dev/null & endless="$endless $!"
at_exit "kill $endless 2>/dev/null"
for i in $(seq 50); do
	"$tnfxtract" --no-context "$TMP/buf" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
	"$tnfdump" "$TMP/buf" >"$TMP/dump" 2>"$TMP/err" || fail "tnfdump: $(head -n 3 "$TMP/err")"
	! damage || fail "copy $i: $(head -n 3 "$TMP/damage")"
	[ -s "$TMP/dump" ] || fail "copy $i is empty"
done
# shellcheck disable=SC2086 # words are meant
kill $endless
wait $loader
"$kpctl" off
lost=$("$kpctl" status | sed 's/.* lost \([0-9 ]*\) most .*/\1/')
equal "lost to other reasons than the hook itself" \
	"$(echo "$lost" | awk '{ print $1 + $2 + $3 + $4 + $5 }')" 0
