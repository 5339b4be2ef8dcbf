#!/bin/sh
# Guards: a line of README.md or tracing(7) that does not work; typed.py says more.
. "$TNF_SOURCE/tests/lib.sh"
need_kernel
scratch
cd "$TMP" || exit 1
"$1" "$TNF_SOURCE/tests/install/typed.py" "$TNF_SOURCE" "$TNF_BUILD"
