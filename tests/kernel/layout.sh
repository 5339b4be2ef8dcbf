#!/bin/sh
# layout.sh LAYOUT TNFDUMP - an empty buffer is a good file with 34 probes.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
"$1" "$TMP/empty" || fail "layout"
"$2" "$TMP/empty" >"$TMP/dump" 2>"$TMP/err" || fail "tnfdump: $(cat "$TMP/err")"
[ "$(grep -c '^probe' "$TMP/dump")" -eq 34 ] || fail "not 34 probes"
"$2" -r "$TMP/empty" >"$TMP/raw" 2>>"$TMP/err" || fail "tnfdump -r: $(cat "$TMP/err")"
[ ! -s "$TMP/err" ] || fail "$(cat "$TMP/err")"
