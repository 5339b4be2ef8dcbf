#!/bin/sh
# tracepoint.sh - tracepoints as probes: what they record is what the kernel's own
# trace of the same time has, members and all; switched off they leave nothing.
. "$(dirname "$0")/kernel.sh"
tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract

# Of ten systems, with all sorts of members: numbers of any width, char arrays,
# strings and arrays of their own length.
events='sched/sched_process_fork sched/sched_process_exec sched/sched_process_exit
	sched/sched_wakeup_new task/task_newtask task/task_rename
	signal/signal_generate signal/signal_deliver
	raw_syscalls/sys_enter raw_syscalls/sys_exit syscalls/sys_enter_openat
	syscalls/sys_exit_openat syscalls/sys_enter_write syscalls/sys_enter_clone
	kmem/rss_stat kmem/mm_page_alloc filemap/mm_filemap_add_to_page_cache
	exceptions/page_fault_user timer/hrtimer_init timer/hrtimer_start
	writeback/writeback_dirty_inode writeback/writeback_mark_inode_dirty
	printk/console net/net_dev_queue net/netif_rx skb/consume_skb
	sock/inet_sock_set_state sock/sk_data_ready napi/napi_poll
	workqueue/workqueue_queue_work cgroup/cgroup_attach_task mmap/vma_store'
have= names=
at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
for e in $events; do
	[ -d "/sys/kernel/tracing/events/$e" ] || continue
	have="$have $e" names="$names ${e%%/*}.${e#*/}"
done
set -- $have
within "tracepoints compared" $# 10 100

"$kpctl" alloc 64000000 >/dev/null || fail "alloc"
"$kpctl" set import_rate 0 || fail "import_rate"
"$kpctl" enable $names || fail "enable"
tracefs_begin $have
echo 65536 >"$ring/buffer_size_kb"
held sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do
	/bin/echo $i >"$0/file"; cat "$0/file" >/dev/null; (exit $i); kill -CONT $$; done' "$TMP"
"$kpctl" on || fail "on"
released
wait "$held" || fail "work"
"$kpctl" off || fail "off"
tracefs_end
"$tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
lost=$("$kpctl" status | sed 's/.* lost \(.*\) most .*/\1/')
[ "$lost" = "0 0 0 0 0 0 0 0" ] || echo "lost: $lost"

# Each event of the process and its children as "TID NAME MEMBER=VALUE ...", from both.
"$tnfdump" --to jsonl "$TMP/trace" >"$TMP/ours" || fail "tnfdump"
python3 "$TNF_SOURCE/tests/kernel/tracepoint.py" "$held" "$TMP/ours" "$TMP/tracefs" \
	/sys/kernel/tracing/events || fail "they differ"

"$kpctl" disable $names || fail "disable"
[ -z "$(ls /sys/fs/bpf/tnf/import)" ] || fail "links are left"
echo "ok: no link is left"
