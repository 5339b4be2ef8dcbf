#!/bin/sh
# coverage.sh SHARED TNFDUMP - from when on a kernel's trace is complete: a CPU of
# which nothing was overwritten does not matter, however late its first event came.
. "${TNF_SOURCE:?}/tests/lib.sh"
shared=$(realpath "$1") tnfdump=$(realpath "$2")
scratch
"$shared" "$TMP/file" || fail "no file"
"$tnfdump" --info=json "$TMP/file" >"$TMP/info" || fail "tnfdump"
number() { sed -n "s/.*$1\\(-*[0-9][0-9]*\\).*/\\1/p" "$TMP/info" | head -n 1; }
from=$(number '"complete_from_ns":')
busy=$(number '"cpu":0,"events":[0-9]*,"first_ns":')
late=$(number '"cpu":1,"events":[0-9]*,"first_ns":')
[ -n "$busy" ] && [ -n "$late" ] && [ "$late" -gt "$busy" ] || fail "CPUs: $(cat "$TMP/info")"
[ "$from" = "$busy" ] || fail "complete from $from, should be $busy, CPU 1 from $late"
echo "ok: complete from the first event of the CPU that has overwritten some"
