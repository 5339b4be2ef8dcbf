#!/bin/sh
# thread.sh - threads and processes are made and end, and wait for a CPU.
. "$(dirname "$0")/kernel.sh"

n=50
trace_begin 8000000 thread_create thread_exit thread_queue thread_state#1
traced "$work" threads $n
pid=$(said pid)

# A thread's pid is its process's: the creator's own, or the child's.
equal "threads of the process" \
	"$(events "$pid" thread_create | grep -c "pid: $pid ")" $n
equal "children" "$(events "$pid" thread_create | grep -vc "pid: $pid ")" $n
for child in $(sed -n 's/^child //p' "$TMP/said"); do
	[ "$(events "$pid" thread_create | grep -c "pid: $child ")" -eq 1 ] ||
		fail "child $child: not made once"
	[ "$(count "$child" thread_exit)" -eq 1 ] || fail "child $child: no exit"
done
echo "ok: each child is made and exits once"
equal "exits of the process" "$(count "$pid" thread_exit)" $((n + 1))

# All start in the same place: ret_from_fork.
pc=$(events "$pid" thread_create | sed 's/.*start_pc: //' | sort -u)
[ "$(echo "$pc" | wc -l)" -eq 1 ] || fail "start_pc differs: $pc"
grep -qE "^${pc#0x} .*ret_from_fork" /proc/kallsyms ||
	fail "start_pc $pc is no ret_from_fork"
echo "ok: start_pc is ret_from_fork"

# A woken thread waits for a CPU: one queue event, then one state event.
events "$pid" thread_create | sed 's/.* tid: \(0x[0-9a-f]*\).*/\1/' | sort -u >"$TMP/tids"
while read -r tid; do
	grep -q "thread_queue tid: $tid " "$TMP/events" || fail "$tid: never queued"
	grep -q "thread_state tid: $tid state: 8" "$TMP/events" || fail "$tid: never waits"
done <"$TMP/tids"
echo "ok: each new thread is queued and waits"
