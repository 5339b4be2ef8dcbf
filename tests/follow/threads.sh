#!/bin/sh
# threads.sh THREADS - a ring of 64 blocks, and one so large that numbers are taken in runs
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
"$1" "$TMP/small.tnf" 131072 200 20000 6 || fail "small ring"
"$1" "$TMP/large.tnf" 2097152 20000 1000000 1 || fail "large ring"
