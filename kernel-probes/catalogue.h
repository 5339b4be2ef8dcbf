/*
 * catalogue.h - the kernel's probes: one row has all that there is to know of each, of the BPF
 * programs that record the events, and of how the buffer defines them.
 */
#ifndef KERNEL_PROBES_CATALOGUE_H
#define KERNEL_PROBES_CATALOGUE_H

#include "format/core.h"
#include "kernel-probes/record.h"

/* The programs are attached in this order: one that remembers something for others comes before
   those that ask for it.  Kinds: BTF and RAW tracepoints, software event on every CPU (FAULTS, CLOCK), and
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

#define KP_MEMBERS_MAX	5

struct kp_member {
	const char *type;
	const char *name;
};

struct kp_row {
	const char	*name;
	const char	*keys;
	const char	*file;		/* where the event is written */
	int		 line;
	struct kp_member member[KP_MEMBERS_MAX + 1];	/* a null name ends */
	unsigned	 size;		/* of the event */
	/* Programs that must run; in 'extra': those that improve it if they can run. */
	uint64_t	 needs, extra;
};

extern const struct kp_row kp_catalogue[KP_PROBES];	/* by enum kp_id */

struct kp_program_row {
	const char	*name;
	enum kp_kind	 kind;
	const char	*hook;
};

extern const struct kp_program_row kp_programs[KP_PROGRAM_COUNT];

/*
 * The part of the buffer that never changes: header, directory, types.
 */
struct kp;
struct kp_import;

struct kp_defs {
	uint32_t sched_tag;	/* tag word of tnf_kernel_schedule */
	uint32_t symbols_tag;	/* of tnf_symbols */
	uint32_t next;		/* where a definition that comes later goes */
	uint32_t record_tag[KP_RECORDS];
	uint32_t type[KP_TYPES_MAX];	/* where each is, by enum tnf_core */
	uint64_t sum;		/* of all that is the same in each buffer of this release */
};

/* Writes them into the buffer's first KP_DATA bytes, which are zero.  Returns
   0, or -ENOSPC: the catalogue has outgrown the reserve. */
int kp_defs_write(char *buf, size_t size, uint64_t cookie, struct kp_defs *ret);

/* Adds an imported probe while events are written and read: readers see all of it
   or nothing.  -ENOSPC: no block can be spared any more. */
int kp_defs_add(struct kp *, char *buf, const struct kp_import *);

/* Adds the type of a row's events with stacks, unless the buffer has it. */
int kp_defs_add_stacked(struct kp *, char *buf, unsigned id);
/* The places at which these events have their references. */
uint32_t kp_defs_stacks_at(const struct kp_row *);

/* The size of a member of a scalar type in an event; 0: the type is a record, of which the
   event has a reference.  Its enum kp_record; -1: the type is no record. */
uint32_t kp_defs_scalar(const char *type);
int kp_defs_record(const char *type);

#endif /* KERNEL_PROBES_CATALOGUE_H */
