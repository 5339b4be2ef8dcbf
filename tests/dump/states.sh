#!/bin/sh
# states.sh - --states charges each thread with its own time and no more: not
# after its end, not while another has its CPU, and in one row.
# Usage: states.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
scratch
cd "$TMP" || exit 1

# tell FILE: a kernel's trace of the lines on standard input, in ms
tell() {
	{
		cat <<'M'
kernel
kernel-part
probe thread_state thread tid:tnf_kthread_id state:tnf_int32
probe thread_create thread tid:tnf_kthread_id pid:tnf_pid
probe thread_exit thread
probe syscall_start syscall sysnum:tnf_int32
probe note thread
M
		awk '/^@/ { print; next } { $1 = $1 * 1000000; print }'
	} | "$story" "$1" || fail "story $1"
}
# row FILE PID LWPID: "total user system sleep wait", in whole ms
row() {
	"$tnfdump" --states "$1" | awk -v p="$2" -v l="$3" '$1 == p && $2 == l {
		printf "%d %d %d %d %d\n", $3, $4, $5, $11, $12 }'
}
same() { [ "$2" = "$3" ] || fail "$1: $2, not $3"; }

# Preempted after its exit: nothing from 20 on.  At 50 its task is a new thread.
tell exit <<'M'
10 7 7 0x100 0 thread_state 0x100 0
20 7 7 0x100 0 thread_exit
21 7 7 0x100 0 thread_state 0x100 8
22 1 1 0x900 0 thread_state 0x100 0
50 1 1 0x900 0 thread_create 0x100 8
51 1 1 0x900 0 thread_state 0x100 8
60 1 1 0x900 0 thread_state 0x100 0
61 8 8 0x100 0 syscall_start 1
70 8 8 0x100 0 thread_state 0x100 7
100 1 1 0x900 1 note
M
same "ended" "$(row exit 7 7)" "10 10 0 0 0"
same "next" "$(row exit 8 8)" "49 1 9 30 9"

# Woken and given the CPU by others, before it writes itself: one row.
tell late <<'M'
10 1 1 0x900 0 thread_state 0x100 8
14 1 1 0x900 0 thread_state 0x100 0
17 7 9 0x100 0 syscall_start 1
20 7 9 0x100 0 thread_state 0x100 7
30 1 1 0x900 0 note
@task 9 7 1 worker
M
same "late" "$(row late 7 9)" "20 3 3 10 4"
[ "$("$tnfdump" --states late | grep -c 0x100)" -eq 0 ] || fail "late: two rows"

# Its switch away is not in the trace: another writes on its CPU.
tell cpu <<'M'
10 7 7 0x100 0 thread_state 0x100 0
30 8 8 0x200 1 note
40 8 8 0x200 0 note
60 8 8 0x200 0 note
M
same "run" "$(row cpu 7 7)" "30 30 0 0 0"
# It has moved to another one.
tell moved <<'M'
10 7 7 0x100 0 thread_state 0x100 0
20 7 7 0x100 1 syscall_start 1
40 8 8 0x200 0 note
60 8 8 0x200 0 note
M
same "moved" "$(row moved 7 7)" "50 10 40 0 0"

# A name with a new line in it makes no row of its own.
tell forged <<'M'
10 7 7 0x100 0 thread_state 0x100 0
20 7 7 0x100 0 thread_state 0x100 7
30 7 7 0x100 0 note
@task 7 7 1 a\012    9       9
M
[ "$("$tnfdump" --states forged | wc -l)" -eq 2 ] || fail "forged states"
[ "$("$tnfdump" --stats=comm forged | wc -l)" -eq 3 ] || fail "forged stats"
"$tnfdump" --stats=comm forged | grep -q 'comm=a\\n ' || fail "stats: no name"

# Viewers: a row for each thread's states, in its process.
tell two <<'M'
10 7 7 0x100 0 thread_state 0x100 0
11 7 8 0x200 1 thread_state 0x200 0
20 7 7 0x100 0 thread_state 0x100 7
21 7 8 0x200 1 thread_state 0x200 7
M
rows=$("$tnfdump" --to chrome two | grep '"cat":"state"' |
    sed 's/.*\("pid":7,"tid":[0-9]*\).*/\1/' | sort | uniq -c | awk '{ print $1 }')
[ "$rows" = "2
2" ] || fail "chrome: $rows"
"$tnfdump" --to chrome two | grep -q '"name":"thread_name","args":{"name":"state of 8"}' ||
	fail "chrome: no name of the row"
echo "each thread has its own time"
