#!/bin/sh
# refused.sh PROGRAM - some programs are refused by the verifier (refused.c).
. "$(dirname "$0")/kernel.sh"
need_buffer
"$1" || fail "programs that are refused"
