#!/bin/sh
# evil.sh - evil.py over a trace whose names and strings are as bad as can be.
# usage: evil.sh TNFDUMP EVIL.PY PERFETTO.PROTO EVIL
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3 sqlite3
scratch
# shellcheck disable=SC2016  # prex's word
TNF_ENABLE='$all' TNF_FILE="$TMP/evil" TNF_SIZE=8m "$(realpath "$4")" || fail "evil"
python3 "$2" "$(realpath "$1")" "$3" "$TNF_BUILD/python" "$TMP/evil"
