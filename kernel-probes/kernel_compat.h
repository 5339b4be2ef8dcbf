/*
 * kernel_compat.h - where kernels differ, each with the version that changed.
 *
 * A comment names the mainline commit if we know it for certain, otherwise its title or
 * version.  Distributions carry some of these changes in older
 * versions: therefore we ask for members, never for versions.  A shim may be removed
 * with the last kernel that needs it.  Which hooks exist is the loader's business
 * (catalogue.h, hooks.c).
 */
#ifndef KERNEL_PROBES_KERNEL_COMPAT_H
#define KERNEL_PROBES_KERNEL_COMPAT_H

#include "kernel-probes/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "kernel-probes/record.h"

extern volatile struct kp_shared state;

/*
 * Each kind of machine has a file in arch/ with what the programs need:
 *
 *	struct pt_regs___kernel	registers that a thread entered the kernel with
 *	regs_ip()		of user mode; REGS_SP and REGS_IP are members
 *	regs_call()		number of the system call; negative: a fault, an interrupt
 *	call_abi()		the table that the number is from
 *	find_call()		the call with its arguments
 *	first_call()		what a new thread runs first
 *	fault_error()		x86's bits, from what the machine says of a fault
 *	is_kernel_address()
 *	store_barrier()		stores reach other CPUs in the order of the program
 *	load_barrier()		loads are done in the order of the program
 *	NR_*, NR32_* (of the 32-bit table, where the machines differ), O_DIRECT, PAGE_SHIFT, KERNEL_STACK_SIZE
 */

/* A system call as its table's 64-bit sibling would have it. */
struct call {
	long nr;		/* of the 64-bit table; -1: none of those here */
	bool narrow;		/* its structures in memory have 32-bit words */
	u64 arg[4];
};

/* The first thing that a new thread will do. */
struct first_call {
	u64 function;		/* 0: it returns to user mode, ... */
	u64 argument;
	u64 otherwise;		/* ... by way of this */
};

#define ERROR_PROTECTION	0x01	/* the page was there */
#define ERROR_WRITE		0x02
#define ERROR_INSTRUCTION	0x10

static __always_inline long number_of_32(u32 nr);

#if defined(__TARGET_ARCH_x86)
#include "kernel-probes/arch/x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kernel-probes/arch/arm64.bpf.h"
#else
#error "no file for this machine in kernel-probes/arch"
#endif

static __always_inline long number_of_32(u32 nr)
{
	switch (nr) {
	case 3:		return NR_read;
	case 4:		return NR_write;
	case 143:	return NR_flock;
	case 145:	return NR_readv;
	case 146:	return NR_writev;
	case 180:	return NR_pread64;
	case 181:	return NR_pwrite64;
	case NR32_preadv:	return NR_preadv;
	case NR32_pwritev:	return NR_pwritev;
	case NR32_preadv2:	return NR_preadv2;
	case NR32_pwritev2:	return NR_pwritev2;
	case 240:			/* futex, futex_time64 */
	case 422:	return NR_futex;
	case NR_futex_waitv:
	case NR_futex_wait:
		return nr;
	}
	return -1;
}

struct bpf_map;

#define PF_EXITING	0x00000004
#define PF_KSWAPD	0x00020000
#define PF_KTHREAD	0x00200000
#define PF_IO_WORKER	0x00000010
#define PF_MEMALLOC	0x00000800
#define PF_USER_WORKER	0x00004000	/* 6.4; unused before */

#define TASK_ON_RQ_MIGRATING	2
/* Stopped, traced, and, from 6.1 on, frozen by a control group or for suspend. */
#define TASK_STOPPED		(4 | 8 | 0x8000)
#define TASK_DEAD		0x80

#define MM_SWAPENTS	2

/* They keep the common path in one piece: a program is called so rarely that its code has
   left the nearest cache. */
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define read_once(x)	(*(volatile typeof(x) *)&(x))
#define write_once(x, v) (*(volatile typeof(x) *)&(x) = (v))

/* task_struct.cpu moved to thread_info in 5.16 (bcf9033e5449).  Kernels that have
   both and use task_struct.cpu, as 5.14 of Rocky Linux 9.3, are not supported. */
struct task_struct___cpu {
	unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline u32 task_on_cpu(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return ((struct task_struct___cpu *)t)->cpu;
}

/* The lock that a thread sleeps on.  The kernel notes it for the hung task detector since
   "hung_task: replace blocker_mutex with encoded blocker" (April 2025).  Older kernels, and
   those without the detector, tell it by the hook contention_begin alone. */
struct task_struct___blocker {
	unsigned long blocker;
	void *blocked_on;
} __attribute__((preserve_access_index));

static __always_inline u64 task_blocker(struct task_struct *task)
{
	struct task_struct___blocker *t = (void *)task;
	u64 lock = 0;

	/* The low bits say what kind of lock it is. */
	if (bpf_core_field_exists(t->blocker)) {
		lock = t->blocker & ~3ull;
		if (lock == 0 && bpf_core_field_exists(t->blocked_on))
			lock = (u64)t->blocked_on;
	}
	return lock;
}

/*
 * A control group has no quota left.  Since "sched/fair: Switch to task based throttle model"
 * (6.18) each of its threads is stopped where it would return to user mode, and has a mark;
 * before, the queue of the group is taken away with all threads in it.
 */
struct task_struct___throttled {
	bool throttled;
} __attribute__((preserve_access_index));
struct cfs_rq___throttled {
	int throttle_count;
} __attribute__((preserve_access_index));

static __always_inline bool queue_throttled(struct task_struct *task)
{
	struct task_struct___throttled *t = (void *)task;
	struct cfs_rq___throttled *queue = (void *)task->se.cfs_rq;

	return !bpf_core_field_exists(t->throttled) &&
	    bpf_core_field_exists(queue->throttle_count) && queue->throttle_count > 0;
}

static __always_inline bool task_throttled(struct task_struct *task)
{
	struct task_struct___throttled *t = (void *)task;

	return bpf_core_field_exists(t->throttled) ? t->throttled : queue_throttled(task);
}

/* The flags are a struct memdesc_flags_t since 6.18 ("mm: introduce memdesc_flags_t"), an unsigned
   long before.  The flags are the first word of either. */
static __always_inline u64 folio_flags(struct folio *f)
{
	u64 flags = 0;

	bpf_probe_read_kernel(&flags, sizeof flags, f);
	return flags;
}

#define has_flag(flags, name) \
	((flags) >> bpf_core_enum_value(enum pageflags, name) & 1)

/* A folio was a page before 5.16, with the same members. */
struct page___folio {
	struct address_space *mapping;
	unsigned long index;
} __attribute__((preserve_access_index));

/* A member of a folio: 'known' to the verifier as one, or just an address. */
#define folio_member(folio, known, member)				\
	(!bpf_core_type_exists(struct folio) ?				\
	    BPF_CORE_READ((struct page___folio *)(folio), member) :	\
	    (known) ? (folio)->member : BPF_CORE_READ(folio, member))

/* The member was called _folio_nr_pages before 6.15; before that, the second page had it. */
struct folio___nr {
	unsigned int _nr_pages;
} __attribute__((preserve_access_index));
struct folio___folio_nr {
	unsigned int _folio_nr_pages;
} __attribute__((preserve_access_index));
struct page___second {
	unsigned int compound_nr;
} __attribute__((preserve_access_index));

static __always_inline u32 folio_pages(struct folio *folio)
{
	struct folio___nr *f = (void *)folio;
	struct folio___folio_nr *old = (void *)folio;
	struct page___second *second = (void *)folio + bpf_core_type_size(struct page);

	if (!has_flag(folio_flags(folio), PG_head))
		return 1;
	if (bpf_core_field_exists(f->_nr_pages))
		return BPF_CORE_READ(f, _nr_pages);
	if (bpf_core_field_exists(old->_folio_nr_pages))
		return BPF_CORE_READ(old, _folio_nr_pages);
	if (bpf_core_field_exists(second->compound_nr))
		return BPF_CORE_READ(second, compound_nr);
	return 1;
}

/* bd_inode was removed in 6.10 (203c1ce0bb06); bd_mapping, its i_mapping, is there
   instead. */
struct block_device___mapping {
	struct address_space *bd_mapping;
} __attribute__((preserve_access_index));
struct block_device___inode {
	struct inode *bd_inode;
} __attribute__((preserve_access_index));

static __always_inline u64 device_inode(struct block_device *bdev)
{
	struct block_device___mapping *b = (void *)bdev;
	struct block_device___inode *old = (void *)bdev;

	if (bpf_core_field_exists(b->bd_mapping))
		return (u64)BPF_CORE_READ(b, bd_mapping, host);
	if (bpf_core_field_exists(old->bd_inode))
		return (u64)BPF_CORE_READ(old, bd_inode);
	return 0;
}

/* A member of a run queue: 'known' to the verifier as one, or just an address. */
#define rq_member(rq, known, member) \
	((known) ? (rq)->member : BPF_CORE_READ(rq, member))

/*
 * A thread whose dequeue is delayed still counts in nr_running, but is not
 * runnable.  If "sched/fair: Add new cfs_rq.h_nr_runnable" is in the kernel (it
 * came after 6.12, and into 6.12.37), the classes' own counts are added up; older
 * kernels have nr_running alone.
 */
static __always_inline u64 rq_runnable(struct rq *rq, const bool known)
{
	if (bpf_core_field_exists(rq->cfs.h_nr_runnable))
		return (u64)rq_member(rq, known, cfs.h_nr_runnable) +
		    rq_member(rq, known, rt.rt_nr_running) +
		    rq_member(rq, known, dl.dl_nr_running);
	return rq_member(rq, known, nr_running);
}

/*
 * Before 6.2 (f1a7941243c1) a thread collected changes of its process's counters
 * and handed them in later.  So one call of the hook may stand for several pages from
 * swap; swapped_in_late() tells how many.
 */
struct task_rss_stat___old {
	int count[4];
} __attribute__((preserve_access_index));
struct task_struct___rss {
	struct task_rss_stat___old rss_stat;
} __attribute__((preserve_access_index));

static __always_inline bool counts_late(void)
{
	return bpf_core_field_exists(((struct task_struct___rss *)0)->rss_stat);
}

static __always_inline u32 swapped_in_late(struct task_struct *task)
{
	int n = BPF_CORE_READ((struct task_struct___rss *)task, rss_stat.count[MM_SWAPENTS]);

	return n < 0 ? -n : 0;
}

/* A kernel thread's own data: task_struct.worker_private since 5.17; before, the member
   set_child_tid, which other threads use for their end. */
struct task_struct___set_child_tid {
	void *set_child_tid;
} __attribute__((preserve_access_index));

static __always_inline struct kthread *task_kthread(struct task_struct *t)
{
	if (bpf_core_field_exists(t->worker_private))
		return (struct kthread *)BPF_CORE_READ(t, worker_private);
	return (struct kthread *)BPF_CORE_READ((struct task_struct___set_child_tid *)t,
	    set_child_tid);
}

/*
 * bpf_loop() came in 5.17, and has the body verified once.  Without it each turn of a loop is
 * verified, so that there are fewer turns.  'turn' is a function that returns 1 to stop.
 */
#define TURNS_FOLLOWED	512

#define repeat(turns, turn, data) do {						\
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))	\
		bpf_loop(turns, turn, data, 0);					\
	else									\
		for (u32 n_ = 0; n_ < TURNS_FOLLOWED && n_ < (turns); n_++)	\
			if (turn(n_, data) != 0)				\
				break;						\
} while (0)

/* bpf_find_vma() came in 5.17; the areas of a process were a tree until 6.1. */
struct mm_struct___areas {
	struct rb_root mm_rb;
} __attribute__((preserve_access_index));
struct vm_area_struct___areas {
	struct rb_node vm_rb;
} __attribute__((preserve_access_index));

#define AREAS_DEPTH	34	/* of a tree of 65,530, more than a process may have */

/* The area with 'address', or NULL; for a thread that holds the lock of its areas. */
static __always_inline struct vm_area_struct *area_in_tree(struct task_struct *t, u64 address)
{
	struct mm_struct___areas *mm = (void *)t->mm;
	u64 link = (u64)bpf_core_field_offset(struct vm_area_struct___areas, vm_rb);
	struct rb_node *node = BPF_CORE_READ(mm, mm_rb.rb_node);
	struct vm_area_struct *v;

	for (u32 i = 0; i < AREAS_DEPTH && node != NULL; i++) {
		v = (void *)node - link;
		if (BPF_CORE_READ(v, vm_end) <= address)
			node = BPF_CORE_READ(node, rb_right);
		else if (BPF_CORE_READ(v, vm_start) > address)
			node = BPF_CORE_READ(node, rb_left);
		else
			return v;
	}
	return NULL;
}

/*
 * True if a thread is in a system call, by the registers that it entered the kernel with.
 * False: in a fault or an interrupt.
 */
static __always_inline bool in_syscall(const struct pt_regs___kernel *regs)
{
	return regs_call(regs) >= 0;
}

/* Declares a function of the kernel that is in KP_CALLS, as call_NAME: the headers of libbpf 1.4 and
   later declare some of them themselves. */
#define KERNEL_CALL(result, name, ...)	\
	static result (*const call_##name)(__VA_ARGS__) = (void *)(KP_CALL_MARK + KP_CALL_##name)

/* An argument of a hook of SEC("tnf/...") as a number, for functions that the verifier checks on their
   own: these accept no kernel pointer. */
static __always_inline u64 hook_argument(void *ctx, u32 n)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof v, (u64 *)ctx + n);
	return v;
}

#endif /* KERNEL_PROBES_KERNEL_COMPAT_H */
