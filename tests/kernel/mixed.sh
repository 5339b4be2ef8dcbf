#!/bin/sh
# mixed.sh - of ten seconds of a mixed load, perf(1) has an event that we lack, with all on that
# makes an event more than a number: stacks, arguments of calls, members, interrupts, conditions.
#
# These rules were fixed before the first run:
#  - Each thread marks its begin and its end by a call.  Between the two its system calls are
#    the same in both, one by one: number, arguments, begin or end, result.
#  - Of its switches, faults, interrupts, requests and forks we have each that perf has.  As one
#    may come between two recorders' hooks of a mark, ours are taken from the outer ends of the
#    marks and perf's from the inner ones.
#  - perf writes a record twice, with the same time, if it comes while perf asks a second time how
#    much there is to read.  Those are counted.  Any other difference is a fault of ours.
#  - Events that we have and perf has not are told.  A round in which perf has lost records is
#    repeated with a larger buffer.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex
need_program perf python3
perf record -q -o "$TMP/perf" -e raw_syscalls:sys_enter true >/dev/null 2>"$TMP/err" ||
	skip "perf cannot record here: $(head -n 1 "$TMP/err")"
[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ] || skip "members of tracepoints need Linux 6.12"
need_buffer
events='' lacking=''
for e in raw_syscalls:sys_enter raw_syscalls:sys_exit sched:sched_switch sched:sched_process_fork \
	exceptions:page_fault_user block:block_rq_issue irq:softirq_entry irq:softirq_exit; do
	if [ -d "/sys/kernel/tracing/events/$(echo $e | tr : /)" ]; then
		events="$events -e $e"
	else
		lacking="$lacking ${e#*:}"
	fi
done
faults='exceptions.page_fault_user ustack=8'
[ -d /sys/kernel/tracing/events/exceptions ] || faults='name=address_fault ustack=8'
# On a disk: requests are part of the load.
file=${TNF_TEST_DIR:-$TMP}/mixed.$$
at_exit "rm -f $file"
dd if=/dev/zero of="$file" bs=64k count=4 2>/dev/null || fail "$file"

# round: both record the load
round() {
	"$prex" -k >"$TMP/prex" 2>&1 <<X || fail "prex -k: $(cat "$TMP/prex")"
buffer alloc 256m
enable name=/^syscall_[sea]/ name=thread_state irq.softirq_entry irq.softirq_exit irq.irq_handler_entry irq.irq_handler_exit
trace name=/^syscall_[ea]/ name=thread_state irq.softirq_entry irq.softirq_exit irq.irq_handler_entry irq.irq_handler_exit
trace name=syscall_start stack=8 ustack=4
enable ${faults% *} block.block_rq_issue sched.sched_process_fork sched.sched_switch
trace $faults
trace block.block_rq_issue sched.sched_process_fork stack=16
trace sched.sched_switch args 'prev->pid, prev->comm, next->pid, prev->mm->owner->pid'
enable raw_syscalls.sys_exit syscalls.sys_exit_getpriority
trace raw_syscalls.sys_exit where 'ret < 0 and ret > -4096'
trace syscalls.sys_exit_getpriority where 'ret > 0' then freeze
X
	"$kpctl" set import_rate 0 || fail "import_rate"
	held "$work" mixed 10 "$file"
	"$kpctl" filter follow "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
	rm -f "$TMP/control" "$TMP/ack"
	mkfifo "$TMP/control" "$TMP/ack"
	exec 7<>"$TMP/control" 8<>"$TMP/ack"
	# shellcheck disable=SC2086 # words are meant
	perf record -q -p "$held" -k CLOCK_MONOTONIC -m $((8 << tries))M -o "$TMP/perf" $events -D -1 --control fd:7,8 \
		>"$TMP/perf.said" 2>&1 9>&- &
	recorder=$!
	echo enable >&7
	timeout 60 head -c 4 <&8 >"$TMP/acked" || fail "perf does not begin: $(cat "$TMP/perf.said")"
	released
	wait "$held" || fail "load: $(cat "$TMP/err")"
	kill -INT $recorder 2>/dev/null
	wait $recorder
	"$kpctl" status >"$TMP/status"
	"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/buf" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
	kernel_off
	perf script --ns --show-lost-events -F tid,cpu,time,event,trace -i "$TMP/perf" >"$TMP/theirs" 2>"$TMP/err" ||
		fail "perf script: $(cat "$TMP/err")"
}

tries=0
round
while grep -q PERF_RECORD_LOST "$TMP/theirs"; do
	[ $((tries += 1)) -lt 3 ] || skip "perf loses records of this load"
	round
done
grep -q ' lost 0 0 0 0 0 0 0 0 ' "$TMP/status" && is_whole || fail "events are lost: $(cat "$TMP/status")"
"$tnfdump" --to jsonl "$TMP/buf" >"$TMP/ours" || fail "tnfdump"
# shellcheck disable=SC2086 # words are meant
python3 "$TNF_SOURCE/tests/kernel/mixed.py" "$TMP/ours" "$TMP/theirs" $lacking || fail "perf has what we lack"

# The load's last call ended the recording, within one event; what interrupts took is a state.
"$tnfdump" --info "$TMP/buf" >"$TMP/info" || fail "tnfdump --info"
grep -q 'frozen: .* syscalls.sys_exit_getpriority where ret > 0$' "$TMP/info" || fail "not frozen: $(head -n 20 "$TMP/info")"
grep '"probe"' "$TMP/ours" | tail -n 4 | grep -q '"syscalls.sys_exit_getpriority"' ||
	fail "events behind the last: $(tail -n 4 "$TMP/ours")"
"$tnfdump" --states "$TMP/buf" | awk '{ for (i = 1; i <= NF; i++) if ($i == "INTERRUPT") n = i - 1 }
	n { ms += $n } END { exit !(ms > 0) }' || fail "no interrupts among the states"
echo "ok: frozen by the last call, interrupts as states"
