/*
 * sched.bpf.c - threads wait for a CPU, get it, give it up; and why.
 */
#include <stddef.h>

#include "context.bpf.h"
#include "reason.bpf.h"
#include "states.h"
#include "waits.bpf.h"

#define CPUS_MAX	4096
#define FRAMES_OURS	8	/* of the tracing itself, and schedule() */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, u64);
} run_queues SEC(".maps");

#define FRAMES		64
#define BLOCK_ROOM	((u32)(sizeof(struct kp_thread_block) + \
			    sizeof(struct kp_symbols) + KP_STACK_MAX * 8))

struct frames {
	u64 pc[FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct frames);
} frames SEC(".maps");

/* A thread that the load balancer moves still belongs to its old run queue. */
SEC("raw_tp/sched_update_nr_running_tp")
int know_rq(struct bpf_raw_tracepoint_args *ctx)
{
	u64 rq = ctx->args[0], *known;
	u32 cpu = BPF_CORE_READ((struct rq *)rq, cpu);

	known = bpf_map_lookup_elem(&run_queues, &cpu);
	if (known != NULL && *known != rq)
		*known = rq;
	return 0;
}

static __always_inline u64 queue_length(struct rq *rq)
{
	u64 n = rq_runnable(rq);

	if (BPF_CORE_READ(rq, curr) != BPF_CORE_READ(rq, idle) && n > 0)
		n--;
	return (s64)n < 0 ? 0 : n;
}

static __always_inline void thread_queue(struct task_struct *p, u32 cpu,
    struct rq *rq)
{
	struct kp_thread_queue *e;
	struct hit hit;

	if (!is_on_about(KP_BIT(KP_THREAD_QUEUE), filter_key(p)))
		return;
	e = EVENT(&hit, THREAD_QUEUE, kp_thread_queue);
	if (e == NULL)
		return;
	e->tid = (u64)p;
	e->cpuid = cpu;
	e->pad = 0;
	e->priority = 139 - p->prio;
	e->queue_length = rq == NULL ? 0 : queue_length(rq);
	event_end(&hit);
}

static __always_inline int woken(struct task_struct *p)
{
	struct kp_thread_state_of *e;
	struct hit hit;

	thread_queue(p, task_on_cpu(p), BPF_CORE_READ(p, se.cfs_rq, rq));
	if (!is_on_about(KP_BIT(KP_THREAD_STATE_WOKEN), filter_key(p)))
		return 0;
	e = EVENT(&hit, THREAD_STATE_WOKEN, kp_thread_state_of);
	if (e == NULL)
		return 0;
	e->tid = (u64)p;
	e->state = KP_WAIT_CPU;
	e->pad = 0;
	event_end(&hit);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(wakeup, struct task_struct *p)
{
	return woken(p);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(wakeup_new, struct task_struct *p)
{
	return woken(p);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(migrate, struct task_struct *p, int cpu)
{
	u32 n = cpu;
	u64 *rq;

	/* When a thread is moved while it is being woken, sched_wakeup follows. */
	if (p->on_rq != TASK_ON_RQ_MIGRATING)
		return 0;
	rq = bpf_map_lookup_elem(&run_queues, &n);
	thread_queue(p, n, rq == NULL ? NULL : (struct rq *)*rq);
	return 0;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_wait, void *lock, unsigned int flags)
{
	struct context *c;

	if (flags & 1)		/* it spins */
		return 0;
	c = my_new_context();
	if (c != NULL)
		c->lock = (u64)lock;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(lock_done, void *lock, int ret)
{
	struct context *c = my_context();

	if (c != NULL)
		c->lock = 0;
	return 0;
}

static __always_inline u32 user_fault_state(const struct context *c)
{
	return c->error & 0x10 ? KP_TFAULT : KP_DFAULT;
}

/*
 * The next three look at the thread that goes off this CPU, which is still the
 * current one.  They are not inline, so that the verifier follows none of their
 * many ways into what comes after.
 */
__noinline u32 state_asleep(const struct context *c)
{
	struct task_struct *t = bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(t);

	if (t->flags & PF_KTHREAD)
		return KP_SLEEP;
	switch (fault_of(t, c)) {
	case FAULT_USER:
		return user_fault_state(c);
	case FAULT_KERNEL:
		return KP_KFAULT;
	}
	return futex_address(regs) != 0 ? KP_USER_LOCK : KP_SLEEP;
}

static __always_inline u32 state_running(struct task_struct *t)
{
	const struct pt_regs___kernel *regs;
	const struct context *c;

	if (t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return KP_SYSTEM;
	regs = (void *)bpf_task_pt_regs(t);
	if (in_syscall(regs))
		return KP_SYSTEM;
	c = context_of(t);
	return fault_of(t, c) == FAULT_USER ? user_fault_state(c) : KP_USER;
}

__noinline u64 block_reason(const struct context *c)
{
	struct task_struct *t = bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(t);
	u64 r;

	if (c != NULL && c->lock != 0)
		return c->lock;
	if ((r = task_blocker(t)) != 0)
		return r;
	if (t->pi_blocked_on != NULL)
		return (u64)BPF_CORE_READ(t, pi_blocked_on, lock);
	if (t->flags & PF_KTHREAD)
		return state.recover ? wait_queue(t) : 0;
	if ((r = futex_address(regs)) != 0)
		return r;
	if (state.recover && (r = wait_queue(t)) != 0)
		return r;
	return file_address(t, regs);
}

/* Where in the frames that were taken the callers of schedule() begin. */
__noinline u32 frames_ours(void)
{
	u32 zero = 0, from = 4;
	struct frames *f = bpf_map_lookup_elem(&frames, &zero);

	if (f == NULL)
		return from;
	for (u32 i = 0; i < FRAMES_OURS; i++)
		if (f->pc[i] >= state.schedule_start && f->pc[i] < state.schedule_end)
			from = i + 1;
	return from;
}

/* The frames above schedule(), 'depth' of them at most: where they begin. */
static __always_inline u32 stack_walk(void *ctx, struct frames *f, u32 depth, u32 *n)
{
	long got = bpf_get_stack(ctx, f->pc, (depth + FRAMES_OURS) * 8, 0);
	u32 have = got < 0 ? 0 : (u32)got / 8, from = frames_ours();

	have = have > from ? have - from : 0;
	*n = have < depth ? have : depth;
	return from;
}

static __always_inline void stack_write(struct kp_symbols *s, struct frames *f,
    u32 from, u32 n)
{
	s->tag = state.symbols_tag;
	s->self_size = sizeof *s + n * sizeof s->pc[0];
	for (u32 i = 0; i < KP_STACK_MAX && i < n; i++)
		s->pc[i] = f->pc[(from + i) % FRAMES];
}

static __always_inline void thread_block(void *ctx, const struct context *c)
{
	u32 depth = state.stack_depth, zero = 0, n = 0, from, size;
	struct kp_thread_block *e;
	struct frames *f;
	struct hit hit;
	u64 reason;

	if (!is_on(KP_BIT(KP_THREAD_BLOCK)))
		return;
	f = bpf_map_lookup_elem(&frames, &zero);
	if (f == NULL)
		return;
	if (state.recover)
		search_from(ctx);
	reason = block_reason(c);
	if (depth > KP_STACK_MAX)
		depth = KP_STACK_MAX;
	from = depth != 0 ? stack_walk(ctx, f, depth, &n) : 0;
	size = sizeof *e + (depth != 0 ? sizeof(struct kp_symbols) + n * 8 : 0);
	e = event_begin(&hit, KP_THREAD_BLOCK, size, BLOCK_ROOM);
	if (e == NULL)
		return;
	e->reason = reason;
	e->stack = depth != 0 ? sizeof *e - offsetof(struct kp_thread_block, stack) : 0;
	e->pad = 0;
	if (depth != 0)
		stack_write((void *)(e + 1), f, from, n);
	event_end(&hit);
}

static __always_inline void outgoing(struct task_struct *t, void *ctx,
    bool preempt, u32 task_state)
{
	struct kp_thread_state *e;
	struct context *c;
	struct hit hit;
	u32 s;

	if (task_state & TASK_DEAD)
		return;
	c = context_of(t);
	if (preempt || (task_state & 0xff) == 0) {
		thread_queue(t, bpf_get_smp_processor_id(), BPF_CORE_READ(t, se.cfs_rq, rq));
		s = KP_WAIT_CPU;
	} else if (task_state & TASK_STOPPED_OR_TRACED)
		s = KP_STOPPED;
	else
		s = state_asleep(c);
	if (is_on(KP_BIT(KP_THREAD_STATE_OUT)) &&
	    (e = EVENT(&hit, THREAD_STATE_OUT, kp_thread_state)) != NULL) {
		e->state = s;
		e->pad = 0;
		event_end(&hit);
	}
	if (s != KP_WAIT_CPU)
		thread_block(ctx, c);
}

static __always_inline void incoming(struct task_struct *t)
{
	struct kp_thread_state_of *e;
	struct hit hit;

	if (!is_on_about(KP_BIT(KP_THREAD_STATE_IN), filter_key(t)))
		return;
	e = EVENT(&hit, THREAD_STATE_IN, kp_thread_state_of);
	if (e == NULL)
		return;
	e->tid = (u64)t;
	e->state = state_running(t);
	e->pad = 0;
	event_end(&hit);
}

/* The idle threads are not threads to the user: they have number 0. */
SEC("tp_btf/sched_switch")
int BPF_PROG(context_switch, bool preempt, struct task_struct *prev,
    struct task_struct *next, unsigned int prev_state)
{
	if (prev->pid != 0)
		outgoing(prev, ctx, preempt, prev_state);
	if (next->pid != 0)
		incoming(next);
	return 0;
}

/* Before 5.18 there was no prev_state. */
SEC("tp_btf/sched_switch")
int BPF_PROG(context_switch3, bool preempt, struct task_struct *prev,
    struct task_struct *next)
{
	if (prev->pid != 0)
		outgoing(prev, ctx, preempt, prev->__state);
	if (next->pid != 0)
		incoming(next);
	return 0;
}
