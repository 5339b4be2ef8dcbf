#!/bin/sh
# syscall.sh - every system call of a process, and what it returned.
. "$(dirname "$0")/kernel.sh"

n=5000
trace_begin 8000000 syscall_start syscall_end
traced "$work" syscalls $n
pid=$(said pid)

case $(uname -m) in
aarch64) getppid=173 ;;
*)	getppid=110 ;;
esac
equal "getppid begins" "$(events "$pid" syscall_start | grep -c "sysnum: $getppid\$")" $n
equal "close fails with EBADF" \
	"$(events "$pid" syscall_end | grep -c 'rval1: -1 rval2: 0 errno: 9$')" $n
# Only exit_group() has no end; execve() began before tracing or ends in it.
starts=$(count "$pid" syscall_start)
within "ends" "$(count "$pid" syscall_end)" $((starts - 1)) "$starts"

# In one thread they take turns.
awk -v p="$pid" '$1 == p && $4 ~ /^syscall/ { if ($4 == last) bad++; last = $4 }
	END { exit bad > 0 }' "$TMP/events" || fail "two starts or two ends in a row"
echo "ok: starts and ends alternate"

[ "$(uname -m)" = x86_64 ] || exit 0	# elsewhere no program makes calls of both
# Calls of the 32-bit table, and numbers that 16 bits cannot say, are told apart.
traced "$work" calls32 20
pid=$(said pid)
equal "getppid of the 32-bit table" "$(events "$pid" syscall_start | grep -c 'sysnum: 64 abi: 1$')" 20
equal "a number of 16 bits" "$(events "$pid" syscall_start | grep -c 'sysnum: 40000 abi: 0$')" 1
equal "numbers of other calls" "$(events "$pid" syscall_start | grep -cE 'sysnum: (-.*|64)$')" 0
equal "its name" "$("$tnfdump" --pretty "$TMP/buf" | grep -c 'sysnum: getppid abi: 1$')" 20

# All probes begin at one moment, imported ones with the others: before a thread's first
# event of one kind it writes one of the other at most.
"$kpctl" dealloc
trace_begin 32000000 syscall_start
if "$kpctl" enable raw_syscalls.sys_enter 2>/dev/null; then
	sh -c 'while :; do read -r x <&-; done' 2>/dev/null 9>&- & busy=$!
	at_exit "kill $busy 2>/dev/null"
	traced sleep 0.2
	kill $busy
	awk -v p=$busy '$1 != p { next }
		$4 == "sys_enter" || $4 == "raw_syscalls.sys_enter" { imported++; exit }
		$4 == "syscall_start" { own++ }
		END { print own + 0, imported + 0 }' "$TMP/events" >"$TMP/n"
	read -r own imported <"$TMP/n"
	equal "imported events" "$imported" 1
	within "events of others before the first" "$own" 0 1
fi
