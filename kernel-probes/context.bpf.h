/*
 * context.bpf.h - the context of a thread, which one hook leaves for another.
 */
#ifndef KERNEL_PROBES_CONTEXT_BPF_H
#define KERNEL_PROBES_CONTEXT_BPF_H

#include "kernel-probes/write.bpf.h"

enum fault_kind { FAULT_NONE, FAULT_USER, FAULT_KERNEL };

struct context {
	u32 fault;		/* enum fault_kind */
	u32 error;		/* error code of the CPU */
	u64 address;
	u64 ip;			/* of user mode */
	u32 decided;		/* the fault's first page has been seen */
	u32 page;		/* the probe for that page, written when the fault ends; or 0 */
	u32 order;		/* of the pages that the fault allocated last */
	u32 reclaim;
	u64 mapping;		/* file_fault: of the missing page */
				/* each fault needs the members above: one line of the cache */
	u64 index;
	u64 major;		/* fault_number() of the latest major_fault */
	u64 file_ip;		/* of user mode, at that time */
	u64 lock;		/* contention_begin, with its kind (waits.bpf.h) */
	u64 scanned;		/* pages since reclaim began */
	u32 physio;
	u32 device;		/* of the physio */
	u64 call;		/* when its system call began, if somebody asks for long ones; or 0 */
};

struct kp_map_context {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct context);
};

extern struct kp_map_context tnf_context SEC(".maps");

/*
 * Each program of a page fault needs the context, and a look at a task's storage costs a
 * call and 20 ns.  So an array of slots, indexed by the last bits of the thread's number,
 * comes before the storage.  A thread keeps the slot that it found empty until it exits; one that
 * finds its slot taken uses the storage.  A slot names its owner by the task's address
 * and start time, since the kernel gives the address to another task later.
 */
#define SLOTS		2048
#define SLOT_EMPTY	0ull
#define SLOT_BUSY	1ull	/* a thread is taking it */

struct slot {
	u64 task;
	u64 started;
	struct context context;
	u64 pad;		/* two lines of the cache */
};

struct kp_map_slots {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);	/* so that the first begins a page */
	__uint(max_entries, SLOTS);
	__type(key, u32);
	__type(value, struct slot);
};

extern struct kp_map_slots tnf_slots SEC(".maps");

static __always_inline struct slot *slot_of(struct task_struct *t)
{
	u32 n = t->pid & (SLOTS - 1);

	return bpf_map_lookup_elem(&tnf_slots, &n);
}

static __always_inline bool slot_is_of(const struct slot *s, struct task_struct *t)
{
	return s->task == (u64)t && s->started == t->start_time;
}

/* The context in a thread's storage, or NULL.  Until a first thread has put one there, the
   helper need not be called. */
static __always_inline struct context *stored_context(struct task_struct *t)
{
	return state.stored ? bpf_task_storage_get(&tnf_context, t, NULL, 0) : NULL;
}

static __always_inline struct context *context_of(struct task_struct *t)
{
	struct slot *s = slot_of(t);

	if (likely(s != NULL && slot_is_of(s, t)))
		return &s->context;
	return stored_context(t);
}

/* Takes an empty slot for the current thread; no other thread looks for it meanwhile.  A
   thread that is exiting gets none: it would leave the slot taken. */
static __always_inline bool slot_take(struct slot *s, struct task_struct *t)
{
	if (read_once(s->task) != SLOT_EMPTY || t->flags & PF_EXITING ||
	    __sync_val_compare_and_swap(&s->task, SLOT_EMPTY, SLOT_BUSY) != SLOT_EMPTY)
		return false;
	__builtin_memset(&s->context, 0, sizeof s->context);
	s->started = t->start_time;
	store_barrier();
	write_once(s->task, (u64)t);
	return true;
}

/* A thread with a context in its storage takes no slot, which would hide that context. */
static __always_inline struct context *new_context(struct task_struct *t)
{
	struct slot *s = slot_of(t);
	struct context *c;

	if (likely(s != NULL && slot_is_of(s, t)))
		return &s->context;
	c = stored_context(t);
	if (c == NULL && s != NULL && slot_take(s, t))
		return &s->context;
	if (c != NULL)
		return c;
	state.stored = 1;
	return bpf_task_storage_get(&tnf_context, t, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline struct context *my_context(void)
{
	return context_of(bpf_get_current_task_btf());
}

static __always_inline struct context *my_new_context(void)
{
	return new_context(bpf_get_current_task_btf());
}

/*
 * Is the fault in a thread's context still under way?  A fault that ends in a signal
 * leaves its context behind, but then the thread will return to another instruction.
 */
static __always_inline u32 fault_at(const struct pt_regs___kernel *regs,
    const struct context *c)
{
	if (c == NULL || c->fault == FAULT_NONE)
		return FAULT_NONE;
	if (regs_ip(regs) != c->ip || (c->fault == FAULT_USER && in_syscall(regs)))
		return FAULT_NONE;
	return c->fault;
}

static __always_inline u32 fault_of(struct task_struct *t, const struct context *c)
{
	if (c == NULL || c->fault == FAULT_NONE)
		return FAULT_NONE;
	return fault_at((void *)bpf_task_pt_regs(t), c);
}

/* The number of a thread's present fault: the kernel counts a fault when it is done, not
   when it is tried again. */
static __always_inline u64 fault_number(struct task_struct *t)
{
	return t->min_flt + t->maj_flt + 1;
}

static __always_inline bool in_my_fault(const struct context *c)
{
	return fault_of(bpf_get_current_task_btf(), c) != FAULT_NONE;
}

#endif /* KERNEL_PROBES_CONTEXT_BPF_H */
