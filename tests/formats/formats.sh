#!/bin/sh
# formats.sh - formats.py over traces made here and the golden ones.
# usage: formats.sh TNFDUMP FORMATS.PY PERFETTO.PROTO
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
scratch
mktrace=$TNF_BUILD/tests/reader/mktrace
"$mktrace" -n 20000 -t 8 "$TMP/user.tnf" || fail "mktrace"
"$mktrace" -k -B -N -n 5000 -t 3 "$TMP/kernel-be32.tnf" || fail "mktrace"
set -- "$1" "$2" "$3" "$TMP/user.tnf" "$TMP/kernel-be32.tnf"
need_golden
set -- "$@" "$TNF_GOLDEN"/*.tnf
tnfdump=$1 script=$2
shift 2
python3 "$script" "$tnfdump" "$@" || exit 1
