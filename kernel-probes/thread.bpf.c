/*
 * thread.bpf.c - threads come and go, and those that live are told.
 */
#include "kernel-probes/left-out.bpf.h"

/*
 * The start address of a new thread.  A kernel thread runs kthread(), which calls the function
 * that it is given, or the function itself; a user thread returns to user mode.
 */
static __always_inline u64 start_pc(struct task_struct *p)
{
	struct kthread_create_info *info;
	struct first_call c;

	first_call(p, &c);
	if (c.function == 0)
		return c.otherwise;
	if (p->flags & PF_KTHREAD && state.kthread != 0 && c.function == state.kthread) {
		info = (void *)c.argument;
		return (u64)BPF_CORE_READ(info, threadfn) ?: c.function;
	}
	return c.function;
}

SEC("tnf/task_newtask")
int BPF_PROG(thread_create, struct task_struct *p)
{
	struct kp_thread_create *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_THREAD_CREATE)))
		return 0;
	e = EVENT(ctx, &hit, THREAD_CREATE, kp_thread_create);
	if (e == NULL)
		return 0;
	e->tid = (u64)p;
	e->pid = p->tgid;
	e->pad = 0;
	e->start_pc = start_pc(p);
	event_end(&hit);
	return 0;
}

SEC("tnf/sched_process_exit")
int BPF_PROG(thread_exit, struct task_struct *p)
{
	struct hit hit;

	if (!is_on(KP_BIT(KP_THREAD_EXIT)))
		return 0;
	if (EVENT(ctx, &hit, THREAD_EXIT, kp_event) != NULL)
		event_end(&hit);
	return 0;
}

/*
 * A process leaves the filter's set when its leader is freed: the last of its
 * threads has then left the CPU for good, so none of its events is missing.  The
 * old leader of a process in which another thread called exec() has that thread's
 * number by then.  In mode KP_FILTER_EXCEPT the next process with the number is let through.
 */
SEC("tnf/sched_process_free")
int BPF_PROG(filter_exit, struct task_struct *p)
{
	if (p->pid == p->tgid && *filter_reasons(p->tgid) != 0) {
		*filter_reasons(p->tgid) = 0;
		filter_changed();
	}
	return 0;
}

/* The reasons by which rules ask for a new process, whose group may be another one than
   its parent's. */
static __always_inline u32 reasons_of(struct task_struct *p)
{
	struct kp_rule_key key = {};
	u32 reasons = 0;

	if (state.rules & KP_FILTER_NAME) {
		BPF_CORE_READ_STR_INTO(&key.comm, p, comm);
		if (bpf_map_lookup_elem(&tnf_rules, &key) != NULL)
			reasons = KP_FILTER_NAME;
	}
	if (state.rules & KP_FILTER_GROUP &&
	    group_is_asked_for((u64)BPF_CORE_READ(p, cgroups, dfl_cgrp)))
		reasons |= KP_FILTER_GROUP;
	return reasons;
}

/* A process that was added with its children brings them into the set, before they run, and
   theirs. */
static __always_inline void filter_inherit(struct task_struct *p)
{
	u32 mother = bpf_get_current_pid_tgid() >> 32;
	u32 value = 0;

	if (*filter_reasons(mother) & KP_FILTER_CHILDREN)
		value = KP_FILTER_FOLLOW;
	if (state.rules != 0)
		value |= reasons_of(p);
	if (value != 0)
		*filter_reasons(p->tgid) = value;
}

/* The new thread has perhaps the stack of one that has ended and was left out.  A thread that the
   kernel makes to call exec passes by its own number only afterwards. */
SEC("tnf/task_newtask")
int BPF_PROG(filter_fork, struct task_struct *p)
{
	u32 mode = state.filter & KP_FILTER_MODE;

	if (p->pid == p->tgid)
		filter_inherit(p);
	if (set_holds(mode, filter_key(p)) || set_holds(mode, p->tgid))
		filter_changed();
	return 0;
}

/* Tells of each task that lives, to whoever reads: what /proc has in several files a process,
   in a few calls for all of them. */
SEC("tnf/task")
int tell_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct kp_told told = { .size = sizeof told };

	if (t == NULL)
		return 0;
	told.tid = t->pid;
	told.pid = t->tgid;
	told.ppid = BPF_CORE_READ(t, real_parent, tgid);
	told.flags = t->flags;
	told.groups = (u64)BPF_CORE_READ(t, cgroups);
	BPF_CORE_READ_STR_INTO(&told.comm, t, comm);
	bpf_seq_write(ctx->meta->seq, &told, sizeof told);
	return 0;
}
