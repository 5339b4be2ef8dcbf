#!/bin/sh
# Guards: a test of rows that uses the kernel's probes while others do, or without them.
# usage: rows.sh PYTHON user|kernel
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program cc mandoc nm
if [ "$2" = kernel ]; then
	need_kernel
	"$TNF_BUILD/prex/prex" -k -c 'buffer alloc; buffer dealloc' >/dev/null 2>&1 || skip "no buffer in the kernel"
else
	need_ptrace
fi
exec "$1" "$TNF_SOURCE/tests/rows/rows.py" "$TNF_SOURCE" "$TNF_BUILD" "$2"
