#!/bin/sh
# filter.sh - the process filter, on: a process has every event that it writes
# and that tells of it, from its first to its last; the kernel's own trace counts.
. "$(dirname "$0")/kernel.sh"
need_program losetup

# filtered THREADS COMMAND...: alone in the set, until all of its threads are gone
filtered() {
	threads=$1; shift
	# A new buffer: addresses of tasks are used again.
	"$kpctl" dealloc 2>/dev/null
	trace_begin 16000000 thread_state#1 thread_state#2 thread_state#3 thread_block \
		thread_exit thread_create strategy biodone
	"$kpctl" filter on || fail "filter on"
	held "$@"
	tracefs_begin sched/sched_switch sched/sched_wakeup sched/sched_wakeup_new \
		sched/sched_process_exit task/task_newtask block/block_bio_queue
	"$kpctl" filter add "$held" && "$kpctl" on || fail "on"
	released
	wait "$held" || fail "$*: $(cat "$TMP/err")"
	wait_for 60 all_gone || fail "threads are left"
	tracefs_end
	"$kpctl" off || fail "off"
	"$kpctl" status | grep -q ' lost 0 0 0 0 0 0 0 0 ' || echo "lost: $("$kpctl" status)"
	dump
}
# Last switches, of all that the process has exits of.
all_gone() {
	cat "$ring/trace" >"$TMP/so-far"
	lwps "$TMP/so-far" >"$TMP/lwps"
	[ "$(sed -n 's/.* prev_pid=\([0-9]*\) .*prev_state=[XZ].*/\1/p' "$TMP/so-far" |
		grep -cxF -f "$TMP/lwps" -)" -ge "$threads" ]
}
# The process's threads, as the kernel's own trace saw them made: CLONE_THREAD is
# 0x10000.
lwps() {
	echo "$held"
	sed -n "s/.*-$held  *\[.* task_newtask: pid=\([0-9]*\) .*clone_flags=[0-9a-f]*[13579bdf][0-9a-f]\{4\} .*/\1/p" "$1"
}

# outside EVENT FIELD: of the process's threads, by the kernel's own trace
outside() {
	grep " $1: " "$TMP/tracefs" | sed -n "s/.* $2=\([0-9]*\) .*/\1/p" |
		grep -cxF -f "$TMP/lwps" -
}
# about FROM TO: events thread_state of these states that others write of the
# process's threads.  The address of a task is used again, by whom need not be in
# the trace: a thread that has exited comes back only if it was switched away.
about() {
	awk -v p="$held" -v from="$1" -v to="$2" '
	NR == FNR { if ($1 == p && $2 == p) owner[$3] = p; next }
	{ owner[$3] = $1 }
	$4 == "thread_create" { owner[$6] = $8; ended[$6] = 0 }
	$4 == "thread_exit" { ended[$3] = 1; away[$3] = 0 }
	$4 == "thread_state" && $5 == "state:" { away[$3] = 1 }
	$4 == "thread_state" && $5 == "tid:" && owner[$6] == p {
		if (ended[$6] && !away[$6])
			next
		if ($8 != 8)
			away[$6] = 0
		n += $8 >= from && $8 <= to
	}
	END { print n + 0 }' "$TMP/events" "$TMP/events"
}

compare() {
	events "$held" thread_exit | awk '{ print $2 }' | sort -u >"$TMP/mine"
	equal "exits" "$(count "$held" thread_exit)" "$(outside sched_process_exit pid)"
	equal "exits of threads" "$(wc -l <"$TMP/mine")" "$threads"
	# It slept when tracing began, so one switch in comes before each away.  (Not
	# all that come from the idle thread are in a tracefs instance.)
	equal "switches in" "$(about 0 7)" "$(outside sched_switch prev_pid)"
	equal "wakeups" "$(about 8 8)" \
		$(($(outside sched_wakeup pid) + $(outside sched_wakeup_new pid)))
	# No state follows the last switch away.
	away=$(grep ' sched_switch: ' "$TMP/tracefs" | grep -v 'prev_state=[XZ]' |
		sed -n 's/.* prev_pid=\([0-9]*\) .*/\1/p' | grep -cxF -f "$TMP/lwps" -)
	equal "switches away" "$(events "$held" thread_state | grep -c 'thread_state state:')" "$away"
	equal "blocks" "$(count "$held" thread_block)" \
		"$(events "$held" thread_state | grep 'thread_state state:' | grep -vc 'state: 8$')"
}

echo "== a process of 21 threads"
filtered 21 "$work" threads 20
compare
equal "threads made" "$(events "$held" thread_create | grep -c "pid: $held ")" 20

echo "== two processes that wake each other, one in the set"
filtered 1 "$work" pipe 300
compare
child=$(said child)
leader=$(awk -v p="$held" '$1 == p { print $3; exit }' "$TMP/events")
equal "what the other writes tells of ours" \
	"$(awk -v p="$child" '$1 == p' "$TMP/events" | grep -vc "tid: $leader ")" 0

echo "== block I/O: whoever is interrupted when it is done"
image=${TNF_TEST_DIR:-$TNF_BUILD}/filter-image.$$
at_exit "[ -z \$loop ] || losetup -d \$loop; rm -f $image"
loop=
truncate -s 64M "$image" || skip "no room for an image"
loop=$(losetup -f --show "$image" 2>/dev/null) || skip "no loop device"
dev=$(awk -F: '{ print $1 * 1048576 + $2 }' "/sys/block/${loop#/dev/}/dev")
mine() { grep -c " $1 device: $dev " "$TMP/events"; }
dd if="$loop" of=/dev/null bs=4k count=16000 iflag=direct 2>/dev/null & noise=$!
at_exit "kill $noise 2>/dev/null"
filtered 1 dd if="$loop" of=/dev/null bs=4k count=200 iflag=direct
kill $noise 2>/dev/null
bios=$(grep -c -- "-$held  *\[.* block_bio_queue: $(tr : , <"/sys/block/${loop#/dev/}/dev") " "$TMP/tracefs")
equal "requests" "$(mine strategy)" "$bios"
equal "requests done" "$(mine biodone)" "$bios"
equal "requests of others" "$(grep " strategy device: $dev " "$TMP/events" | awk -v p="$held" '$1 != p' | wc -l)" 0

echo "== a process that was left out; its threads get stacks of others, who still are"
# A thread that is left out is known by its stack (left-out.bpf.h).
case $(uname -m) in x86_64) getppid=110 exit=60 ;; *) getppid=173 exit=93 ;; esac
# turned EXCEPT WORK SYSNUM: so often as it says the process $held does it
turned() {
	"$kpctl" dealloc 2>/dev/null
	trace_begin 67108864 syscall_start
	"$kpctl" set filter_except "$1" && "$kpctl" filter on || fail "filter on"
	noise=
	for _n in 1 2; do
		"$work" threads 1000000 >/dev/null & noise="$noise $!"
		[ "$1" = 0 ] || "$kpctl" filter add $!
	done
	"$kpctl" on || fail "on"
	held "$work" "$2" 1000
	[ "$1" = 1 ] || "$kpctl" filter add "$held"
	released
	wait "$held" || fail "$2: $(cat "$TMP/err")"
	"$kpctl" off
	kill $noise
	dump
	equal "calls ($2), except $1" "$(events "$held" syscall_start | grep -c "sysnum: $3\$")" 1000
	equal "calls of who is left out" \
		"$(awk -v p="$noise" 'index(" " p " ", " " $1 " ")' "$TMP/events" | wc -l)" 0
}
noise=
at_exit 'kill $noise 2>/dev/null'
turned 0 syscalls $getppid
turned 0 threads $exit
turned 1 threads $exit
"$kpctl" set filter_except 0

equal "the set is empty in the end" "$("$kpctl" filter list | wc -l)" 0
