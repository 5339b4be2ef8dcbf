#!/bin/sh
# sched.sh - states of threads, why they block, and who waits in the queue.
. "$(dirname "$0")/kernel.sh"

# Faults have a test of their own.
trace_begin 64000000 thread_state#1 thread_state#2 thread_state#3 thread_block thread_queue thread_create

# A mutex: 20 times three threads sleep on it in user-lock state, and the reason is it.
traced "$work" mutex 20
pid=$(said pid)
mutex=$(said mutex)
blocks=$(events "$pid" thread_block | grep -c "reason: $mutex ")
locks=$(events "$pid" thread_state | grep -c 'thread_state state: 6$')
# One that is woken may find it taken again.
within "blocks on the mutex" "$blocks" 60 120
# pthread_join() sleeps in a futex as well, on the thread's own.
within "user-lock states" "$locks" "$blocks" $((blocks + 60))
events "$pid" thread_block | grep -v 'stack: 0x0' | grep -q '<tnf_symbols>' || fail "no stack"
echo "ok: stacks"

# Every sleep is an event; after the process has asked for their number it may
# sleep a few times more, until it is gone: for its program's pages, say.
within "sleeps, by getrusage" "$(count "$pid" thread_block)" "$(said sleeps)" $(($(said sleeps) + 10))

# A pipe: the same for two processes.
traced "$work" pipe 200
pid=$(said pid) child=$(said child)
within "sleeps of the parent" "$(count "$pid" thread_block)" "$(said sleeps)" $(($(said sleeps) + 10))
within "sleeps of the child" "$(count "$child" thread_block)" $(($(said childsleeps) - 1)) \
	$(($(said childsleeps) + 10))
# --pretty names the thread that an event is about, once it has written one itself: the two
# sides wake each other.  The events may be those of an idle CPU, if each side has its own.
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
"$tnfdump" --pretty --probe thread_state "$TMP/trace" >"$TMP/pretty" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
within "states of the other side, with its name" "$(grep -c "tid: $child(work)" "$TMP/pretty")" 50 100000
# The wait queue is found on the stack: two pipes, two reasons.  Some sleeps are for other
# things: for pages of the program (which a file system in user space has in a queue of
# its own), or in a queue that the waker of another CPU has taken them out of by then.
{ events "$pid" thread_block; events "$child" thread_block; } |
	sed 's/.*reason: \([^ ]*\).*/\1/' | sort | uniq -c | sort -rn >"$TMP/reasons"
all=$(awk '{ n += $1 } END { print n }' "$TMP/reasons")
grep -vE ' (0x)?0$' "$TMP/reasons" >"$TMP/queues"
within "sleeps on the pipes' two queues" "$(awk 'NR <= 2 { n += $1 } END { print n + 0 }' "$TMP/queues")" \
	$((all * 4 / 5)) "$all"
# How often each side gets to sleep is for the scheduler to say.
within "sleeps on one of them" "$(awk 'NR == 2 { n = $1 } END { print n + 0 }' "$TMP/queues")" \
	1 $((all / 2))

# The 32-bit table's futex is one, too; and no sleep on an object is without it.
if [ "$(uname -m)" = x86_64 ]; then
	traced "$work" calls32 20
	pid=$(said pid)
	equal "futexes of the 32-bit table" \
		"$(events "$pid" thread_block | grep -c "reason: $(said futex) ")" 20
	equal "user-lock states of them" \
		"$(events "$pid" thread_state | grep -c 'thread_state state: 6$')" 20
fi
traced "$work" waits 20
pid=$(said pid)
events "$pid" thread_block | sed 's/.*reason: \([^ ]*\).*/\1/' | sort | uniq -c | sort -rn >"$TMP/reasons"
events "$pid" thread_block | grep -E 'reason: (0x)?0( |$)'
# A waker takes a thread that is going to sleep from the queue, and nobody finds that
# any more; and one who is woken for nothing, as the kernel may do, sleeps again.
within "sleeps without an object" "$(awk '$2 == "0" || $2 == "0x0" { n = $1 } END { print n + 0 }' "$TMP/reasons")" 0 4
within "poll and select of a pipe" "$(awk 'NR == 1 { print $1 }' "$TMP/reasons")" 38 52
within "msgrcv" "$(awk 'NR == 2 { print $1 }' "$TMP/reasons")" 18 26
within "semop" "$(awk 'NR == 3 { print $1 }' "$TMP/reasons")" 18 26

# Two that wait for the lock of one file name it alike.
if command -v flock >/dev/null; then
	# The one who has it lets go when the kernel says that both wait.
	cat >"$TMP/flocks" <<'L'
exec 8>"$0"
flock 8
flock "$0" true 8>&- & w=$!
flock "$0" true 8>&- & s=$!
until [ "$(grep -cE -- "-> .* ($w|$s) " /proc/locks)" -eq 2 ] || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
flock -u 8
wait
echo waiter $w
echo second $s
L
	traced sh "$TMP/flocks" 9>&-
	for w in waiter second; do
		events "$(said $w)" thread_block | sed 's/.*reason: \([^ ]*\).*/\1/' | grep -v '^0x0$' | sort -u >"$TMP/$w"
	done
	within "reasons of both who wait for a file's lock" "$(comm -12 "$TMP/waiter" "$TMP/second" | wc -l)" 1 3
fi

# SIGSTOP, three times.
traced "$work" stop 3
child=$(said child)
equal "stopped states" "$(events "$child" thread_state | grep -c 'thread_state state: 9$')" 3
within "preempted or woken: waits" \
	"$(events - thread_state | grep -c 'thread_state tid: .* state: 8$')" 3 100000

# queued N PRIORITY PRIO: "work spin"; each time that one of its threads wakes a thread
# of kernel priority PRIO, or leaves the CPU to wait itself, is an event, and so is each
# that it moves to another queue: tracefs counts those together with moves at a wake-up.
queued() {
	tracefs_begin sched/sched_wakeup sched/sched_wakeup_new sched/sched_switch sched/sched_migrate_task
	traced "$work" spin "$1" "$2"
	tracefs_end
	# Not what the kernel's own trace has, but we have overwritten.
	is_whole || skip "64 MB are too few for all that goes on here"
	pid=$(said pid)
	awk -v p="$pid" '$1 == p { print $2 }' "$TMP/events" | sort -u >"$TMP/tids"
	# Before 5.18 tracefs says R of a thread that sleeps and is being woken already, too.
	old=$(uname -r | awk -F . '{ print $1 < 5 || ($1 == 5 && $2 < 18) }')
	awk -v prio="$3" -v old="$old" 'FILENAME ~ /tids$/ { ours[$1] = 1; next }
		match($0, /-[0-9]+ +\[/) && substr($0, RSTART + 1, RLENGTH - 2) + 0 in ours {
			queued += / sched_wakeup(_new)?: / && $0 ~ " prio=" prio " " ||
			    / sched_switch: / && /prev_state=R/ && $0 ~ " prev_prio=" prio " "
			perhaps += old && / sched_switch: / && /prev_state=R / &&
			    $0 ~ " prev_prio=" prio " "
			moved += / sched_migrate_task: / && $0 ~ " prio=" prio " "
		}
		END { print queued - perhaps, queued + moved }' "$TMP/tids" "$TMP/tracefs" >"$TMP/n"
	read -r least most <"$TMP/n"
	within "put on queues, kernel priority $3" \
		"$(events "$pid" thread_queue | grep -c "priority: $((139 - $3)) ")" "$least" "$most"
	[ "$least" -ge "$1" ] || fail "$least in tracefs: $1 threads were made"
}

# Threads on one CPU, on whose queue others may wait.
queued 4 0 $((120 + $(nice)))
within "longest queue seen" "$(events "$pid" thread_queue |
	sed -n 's/.*cpuid: 0 .*queue_length: //p' | sort -n | tail -n 1)" 3 1000
queued 2 20 79

# The remains of earlier calls in a stack lead nowhere: the search asks only for memory that
# is there, and whoever else traces the kernel's faults sees none of ours.  A few in
# thousands of sleeps are not explained; without the look there are hundreds.
if [ -d /sys/kernel/tracing/events/exceptions/page_fault_kernel ]; then
	tracefs_begin exceptions/page_fault_kernel
	traced sh -c '"$0" waits 200; "$0" mutex 200; "$0" pipe 2000; "$0" threads 50' "$work"
	tracefs_end
	within "sleeps" "$(count - thread_block)" 2000 10000000
	within "page faults of reading the stack" \
		"$(grep -c 'page_fault_kernel:.*ip=copy_from_kernel_nofault' "$TMP/tracefs")" 0 20
fi
