#!/bin/sh
# refused.sh PROGRAM - some programs are refused by the verifier (refused.c).
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_kernel
TMP=; trap test_end EXIT
"$1" || fail "programs that are refused"
