#!/bin/sh
# tracepoint.sh - tracepoints as probes: what they record is what the kernel's own
# trace of the same time has, members and all; switched off they leave nothing.
. "$(dirname "$0")/kernel.sh"
tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_program python3

# Events of ten systems and more, with all sorts of members: numbers of any width, char
# arrays, strings and arrays that tell their own length.  Work that interrupts do often
# (to free memory, to raise others) is not among them: it belongs to no thread.
events='sched/sched_process_fork sched/sched_process_exec sched/sched_process_exit
	sched/sched_process_wait sched/sched_process_free sched/sched_wakeup_new
	sched/sched_waking sched/sched_switch sched/sched_prepare_exec
	task/task_newtask task/task_rename signal/signal_generate signal/signal_deliver
	raw_syscalls/sys_enter raw_syscalls/sys_exit syscalls/sys_enter_openat
	syscalls/sys_exit_openat syscalls/sys_enter_write syscalls/sys_enter_clone
	syscalls/sys_enter_mmap syscalls/sys_exit_mmap syscalls/sys_enter_execve
	kmem/rss_stat kmem/mm_page_alloc filemap/mm_filemap_add_to_page_cache
	filemap/mm_filemap_fault exceptions/page_fault_user
	timer/hrtimer_start timer/timer_start timer/hrtimer_setup
	writeback/writeback_mark_inode_dirty writeback/writeback_dirty_inode
	ext4/ext4_da_write_begin ext4/ext4_da_write_end ext4/ext4_es_lookup_extent_enter
	net/net_dev_queue net/net_dev_xmit net/netif_rx skb/consume_skb skb/kfree_skb
	sock/inet_sock_set_state sock/sk_data_ready tcp/tcp_probe tcp/tcp_rcv_space_adjust
	udp/udp_fail_queue_rcv_skb workqueue/workqueue_queue_work mmap/vma_store
	mmap/vm_unmapped_area maple_tree/ma_op maple_tree/ma_write rcu/rcu_utilization
	oom/oom_score_adj_update cgroup/cgroup_transfer_tasks
	lock/contention_begin lock/contention_end capability/cap_capable
	percpu/percpu_alloc_percpu notifier/notifier_run vmalloc/alloc_vmap_area'

# Where the record follows from the tracepoint's arguments, a hit is not missing that comes while a
# program runs on the same CPU.  Interrupts cannot come in these, or are not hit by themselves.
raws='irq/softirq_entry irq/softirq_exit irq/softirq_raise irq/irq_handler_entry irq/irq_handler_exit
	irq/tasklet_entry irq/tasklet_exit sched/sched_waking sched/sched_wakeup sched/sched_wakeup_new
	sched/sched_migrate_task sched/sched_stat_runtime timer/hrtimer_start timer/hrtimer_cancel
	timer/hrtimer_expire_entry timer/hrtimer_expire_exit timer/timer_expire_exit
	irq_vectors/local_timer_entry irq_vectors/local_timer_exit
	irq_vectors/reschedule_entry irq_vectors/reschedule_exit'
# These may be hit again in an interrupt of their own program.
nested='rcu/rcu_utilization net/net_dev_queue net/net_dev_xmit net/netif_rx net/netif_receive_skb
	skb/consume_skb kmem/kmem_cache_free workqueue/workqueue_queue_work workqueue/workqueue_activate_work
	workqueue/workqueue_execute_start kmem/kfree lock/contention_begin lock/contention_end
	timer/timer_cancel'
# Before Linux 6.12 programs of perf events record them all, and one hides another's hits.
[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ] || raws='' nested=''
events=$(printf '%s\n' $events $raws $nested | sort -u)

at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
have='' names=''
for e in $events; do
	[ -d "/sys/kernel/tracing/events/$e" ] || continue
	have="$have $e" names="$names ${e%%/*}.${e#*/}"
done
alone=0 raw=
for e in $raws $nested; do
	[ ! -d "/sys/kernel/tracing/events/$e" ] || alone=$((alone + 1))
done
for e in $raws; do raw="$raw ${e%%/*}.${e#*/}"; done
set -- $have
within "tracepoints" $# 20 100

# Both see the threads of one process and its children, and nothing else.
"$kpctl" alloc 32000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$kpctl" set import_rate 0 || fail "import_rate"
"$kpctl" enable $names || fail "enable"
tracefs_begin
echo 1 >"$ring/options/event-fork"
cat >"$TMP/load.sh" <<'L'
for i in 1 2 3; do
	sh -c 'echo $$ >>"$0/pids"; echo x >"$0/file"; cat "$0/file" >/dev/null
		(exit 3); kill -CONT $$' "$1"
done
python3 -c '
import os, socket, sys
print(os.getpid(), file=open(sys.argv[1] + "/pids", "a"))
s = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(s.getsockname())
c.send(b"x" * 100)
s.accept()[0].recv(100)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.sendto(b"y", ("127.0.0.1", 9))
' "$1"
L
# On one CPU: by process, tracefs does not see all of a thread that moves.
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/.*[-,]//')
held taskset -c "$cpu" sh "$TMP/load.sh" "$TMP"
taskset -cp "$cpu" "$held" >/dev/null || fail "taskset"
echo "$held" >"$ring/set_event_pid"
"$kpctl" filter follow "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
for e in $have; do echo 1 >"$ring/events/$e/enable" || fail "tracefs: $e"; done
equal "programs of one tracepoint alone" "$(find /sys/fs/bpf/tnf/prog -name 'import_raw-*' | wc -l)" $alone
released
wait "$held" || fail "load: $(cat "$TMP/err")"
"$kpctl" off || fail "off"
echo 0 >"$ring/tracing_on"
[ "$(cat "$ring"/per_cpu/cpu*/stats | sed -n 's/^overrun: //p' | sort -n | tail -n 1)" = 0 ] ||
	fail "tracefs has lost events"
mkdir "$TMP/raw"
for c in "$ring"/per_cpu/cpu*; do
	dd if="$c/trace_pipe_raw" of="$TMP/raw/${c##*/}" bs=4096 iflag=nonblock 2>/dev/null
done
rmdir "$ring" || fail "rmdir"
lost=$("$kpctl" status | awk '{ for (i = 1; i < NF; i++) if ($i == "lost") print $(i + 6) }')
"$tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
"$tnfdump" --to jsonl "$TMP/trace" >"$TMP/ours" || fail "tnfdump"
# shellcheck disable=SC2046 # one word a process
RAW=$raw python3 "$TNF_SOURCE/tests/kernel/tracepoint.py" "$TMP/ours" "$TMP/raw" \
	/sys/kernel/tracing/events "$lost" $(cat "$TMP/pids") || fail "they differ"
echo "ok: as the kernel's own trace"

# Arrays of any length, strings and names: by their own sizes, as the original reader goes.
python3 "$TNF_SOURCE/tests/writer/steps.py" "$TMP/trace" tnf_string:100 tnf_kernel_schedule:1 ||
	fail "a record's size"

# Values that have names: a thread that sleeps does so in S, one that ends is a zombie.
"$tnfdump" --pretty "$TMP/trace" | sed -n 's/.* sched\.sched_switch .* prev_state: \([^ ]*\) .*/\1/p' |
	sort -u >"$TMP/states"
grep -qx S "$TMP/states" && grep -qx Z "$TMP/states" || fail "states: $(cat "$TMP/states")"
echo "ok: values have names"

# Switched off, they are gone, whatever was on; definitions stay as they are.
"$kpctl" disable $names || fail "disable"
[ -z "$(ls /sys/fs/bpf/tnf/import)" ] || fail "links are left: $(ls /sys/fs/bpf/tnf/import)"
echo "ok: no link is left"
