#!/bin/sh
# sanitized.sh - programs with AddressSanitizer can be started like any other.
#
# usage: sanitized.sh PREX TNFDUMP PROGRAM...
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") dump=$(realpath "$2"); shift 2
unset ASAN_OPTIONS LSAN_OPTIONS LD_PRELOAD
export HOME="$TMP"

for program; do
	program=$(realpath "$program")
	rm -f "$TMP/t"
	"$prex" -o "$TMP/t" -c 'enable $all; continue' "$program" \
		> "$TMP/out" 2> "$TMP/err" < /dev/null ||
		fail "$program: status $?: $(cat "$TMP/err")"
	grep -qx unharmed "$TMP/out" || fail "$program: $(cat "$TMP/err")"
	[ "$("$dump" "$TMP/t" | grep -c ' hello ')" -eq 1 ] ||
		fail "$program: no event"
done
