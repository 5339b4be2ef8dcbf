/*
 * programs.h - the BPF programs: name, kind, the tracepoint they hang on.
 *
 * They are attached in this order: a program that remembers something for others comes
 * before the programs that ask for it.
 */
#ifndef KERNEL_PROBES_PROGRAMS_H
#define KERNEL_PROBES_PROGRAMS_H

/* Kinds: BTF and RAW tracepoints, software event on every CPU (FAULTS, CLOCK), and
   an iterator that runs when the buffer is made or read, or tracing ends (ITER). */
#define KP_PROGRAMS(X)							\
	X(find_nodes,		ITER,	"")				\
	X(filter_exit,		BTF,	"sched_process_free")		\
	X(filter_fork,		BTF,	"task_newtask")			\
	X(filter_name,		BTF,	"task_rename")			\
	X(filter_group,		BTF,	"cgroup_attach_task")		\
	X(remember_fork,	BTF,	"task_newtask")			\
	X(remember_exec,	BTF,	"sched_process_exec")		\
	X(begin_tasks,		ITER,	"")				\
	X(remember_exit,	BTF,	"sched_process_exit")		\
	X(object_exec,		BTF,	"sched_process_exec")		\
	X(object_exit,		BTF,	"sched_process_exit")		\
	X(remember_name,	BTF,	"task_rename")			\
	X(lock_wait,		BTF,	"contention_begin")		\
	X(lock_done,		BTF,	"contention_end")		\
	X(lock_refused,		BTF,	"posix_lock_inode")		\
	X(flock_refused,	BTF,	"flock_lock_inode")		\
	X(file_fault,		BTF,	"mm_filemap_fault")		\
	X(user_fault,		BTF,	"page_fault_user")		\
	X(kernel_fault,		BTF,	"page_fault_kernel")		\
	X(thread_create,	BTF,	"task_newtask")			\
	X(thread_exit,		BTF,	"sched_process_exit")		\
	X(wakeup,		BTF,	"sched_wakeup")			\
	X(wakeup_new,		BTF,	"sched_wakeup_new")		\
	X(migrate,		BTF,	"sched_migrate_task")		\
	X(context_switch,	BTF,	"sched_switch")			\
	X(context_switch3,	BTF,	"sched_switch")			\
	X(syscall_start,	RAW,	"sys_enter")			\
	X(syscall_end,		RAW,	"sys_exit")			\
	X(page_alloc,		BTF,	"mm_page_alloc")		\
	X(cache_add,		BTF,	"mm_filemap_add_to_page_cache")	\
	X(cache_delete,		BTF,	"mm_filemap_delete_from_page_cache") \
	X(fault_counted,	BTF,	"count_memcg_events")		\
	X(minor_done,		FAULTS,	"page-faults-min")		\
	X(major_done,		FAULTS,	"page-faults-maj")		\
	X(lru_isolate,		RAW,	"mm_vmscan_lru_isolate")	\
	X(kswapd_wake,		BTF,	"mm_vmscan_kswapd_wake")	\
	X(kswapd_sleep,		BTF,	"mm_vmscan_kswapd_sleep")	\
	X(direct_begin,		BTF,	"mm_vmscan_direct_reclaim_begin") \
	X(direct_end,		BTF,	"mm_vmscan_direct_reclaim_end")	\
	X(memcg_begin,		BTF,	"mm_vmscan_memcg_reclaim_begin") \
	X(memcg_end,		BTF,	"mm_vmscan_memcg_reclaim_end")	\
	X(swap_count,		BTF,	"rss_stat")			\
	X(swap_write,		RAW,	"mm_vmscan_write_folio")	\
	X(swap_write_page,	RAW,	"mm_vmscan_writepage")		\
	X(forget_requests,	ITER,	"")				\
	X(bio_queue,		BTF,	"block_bio_queue")		\
	X(request_done,		RAW,	"block_rq_complete")		\
	X(bio_done,		RAW,	"block_bio_complete")		\
	X(irq_end,		BTF,	"irq_handler_exit")		\
	X(irq_begin,		BTF,	"irq_handler_entry")		\
	X(softirq_end,		BTF,	"softirq_exit")			\
	X(softirq_begin,	BTF,	"softirq_entry")		\
	X(softirq_raised,	BTF,	"softirq_raise")		\
	X(hrtimer_end,		BTF,	"hrtimer_expire_exit")		\
	X(hrtimer_begin,	BTF,	"hrtimer_expire_entry")		\
	X(timer_end,		BTF,	"timer_expire_exit")		\
	X(timer_begin,		BTF,	"timer_expire_entry")		\
	X(waking,		BTF,	"sched_waking")			\
	X(signal_sent,		BTF,	"signal_generate")		\
	X(sample_take,		CLOCK,	"cpu-clock")			\
	X(physio_start,		BTF,	"sys_enter")			\
	X(physio_end,		BTF,	"sys_exit")			\
	X(remember_living,	ITER,	"")				\
	X(tell_tasks,		ITER,	"")

enum kp_program {
#define X(name, kind, hook) KP_PROGRAM_##name,
	KP_PROGRAMS(X)
#undef X
	KP_PROGRAM_COUNT
};

enum kp_kind { KP_KIND_BTF, KP_KIND_RAW, KP_KIND_FAULTS, KP_KIND_CLOCK, KP_KIND_ITER };

#endif /* KERNEL_PROBES_PROGRAMS_H */
