#!/bin/sh
# syscall.sh - every system call of a process, and what it returned.
. "$(dirname "$0")/kernel.sh"

n=5000
trace_begin 8000000 syscall_start syscall_end
traced "$work" syscalls $n
pid=$(said pid)

equal "getppid begins" "$(events "$pid" syscall_start | grep -c 'sysnum: 110$')" $n
equal "close fails with EBADF" \
	"$(events "$pid" syscall_end | grep -c 'rval1: -1 rval2: 0 errno: 9$')" $n
# Only exit_group() has no end; execve() began before tracing or ends in it.
starts=$(count "$pid" syscall_start)
within "ends" "$(count "$pid" syscall_end)" $((starts - 1)) "$starts"

# In one thread they take turns.
awk -v p="$pid" '$1 == p && $4 ~ /^syscall/ { if ($4 == last) bad++; last = $4 }
	END { exit bad > 0 }' "$TMP/events" || fail "two starts or two ends in a row"
echo "ok: starts and ends alternate"
