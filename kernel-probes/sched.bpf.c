/*
 * sched.bpf.c - threads wait for a CPU, get it, give it up; and why.
 */
#include <stddef.h>

#include "kernel-probes/left-out.bpf.h"
#include "kernel-probes/waits.bpf.h"
#include "kernel-probes/reason.bpf.h"
#include "kernel-probes/stack.bpf.h"

#define CPUS_MAX	4096

#define BLOCK_ROOM	((u32)(sizeof(struct kp_thread_block) + \
			    sizeof(struct kp_symbols) + KP_STACK_MAX * 8))

/* By CPU: the address of the run queue (struct rq) on which queued_length() last saw a thread of
   this CPU; 0: none yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, u64);
} run_queues SEC(".maps");

static __always_inline u64 queue_length(struct rq *rq, const bool known)
{
	u64 n = rq_runnable(rq, known);

	if (rq_member(rq, known, curr) != rq_member(rq, known, idle) && n > 0)
		n--;
	return (s64)n < 0 ? 0 : n;
}

static __always_inline void queue_write(struct kp_thread_queue *e, u64 tid,
    s32 prio, u32 cpu, u64 length)
{
	e->tid = tid;
	e->cpuid = cpu;
	e->pad = 0;
	e->priority = 139 - prio;
	e->queue_length = length;
}

/* The length of the run queue that a thread is on.  Remembers that queue as the one of
   its CPU. */
static __always_inline u64 queued_length(struct task_struct *p, u32 cpu)
{
	struct rq *rq = p->se.cfs_rq->rq;
	u64 *seen = bpf_map_lookup_elem(&run_queues, &cpu);

	if (seen != NULL && *seen != (u64)rq)
		*seen = (u64)rq;
	return queue_length(rq, true);
}

static __always_inline void state_write(struct kp_thread_state_of *e, u64 tid, u32 s)
{
	e->tid = tid;
	e->state = s;
	e->pad = 0;
}

#define QUEUE_SIZE	EVENT_SIZE(kp_thread_queue)
#define OUT_SIZE	EVENT_SIZE(kp_thread_state)
#define IN_SIZE		EVENT_SIZE(kp_thread_state_of)

/* The number of the control group to which the scheduler charges this thread. */
static __always_inline u64 quota_group(struct task_struct *p)
{
	return BPF_CORE_READ(p, se.cfs_rq, tg, css.cgroup, kn, id);
}

/* (__noinline: see README.) */
__noinline int throttle_tell(u64 tid, u64 group)
{
	struct kp_thread_throttle *e;
	struct hit hit;

	e = EVENT(NULL, &hit, THREAD_THROTTLE, kp_thread_throttle);
	if (e == NULL)
		return 0;
	e->tid = tid;
	e->group = group;
	event_end(&hit);
	return 0;
}

#define WOKEN_PROBES	(KP_BIT(KP_THREAD_QUEUE) | KP_BIT(KP_THREAD_STATE_WOKEN))

/* Writes thread_queue as an event of its own and not in a batch: only such an event can have
   stacks. */
static __always_inline void queue_event(void *ctx, u64 tid, s32 prio, u32 cpu, u64 length)
{
	struct kp_thread_queue *e;
	struct hit hit;

	e = EVENT(ctx, &hit, THREAD_QUEUE, kp_thread_queue);
	if (e == NULL)
		return;
	queue_write(e, tid, prio, cpu, length);
	event_end(&hit);
}

static __always_inline int woken(void *ctx, struct task_struct *p)
{
	struct task_struct *me;
	u64 on = state.on;
	u32 at = 0, cpu;
	struct batch b;

	if ((on & (WOKEN_PROBES | KP_BIT(KP_THREAD_THROTTLE))) == 0)
		return 0;
	if ((me = passing_waker(ctx, p)) == NULL)
		return 0;
	on &= WOKEN_PROBES;
	if (unlikely(queue_throttled(p)) && is_on_about(KP_BIT(KP_THREAD_THROTTLE), filter_key(p)))
		throttle_tell(hook_argument(ctx, 0), quota_group(p));
	if (!is_on_about(WOKEN_PROBES, filter_key(p)))
		return 0;
	if (unlikely(have_stacks(on & KP_BIT(KP_THREAD_QUEUE)))) {
		cpu = task_on_cpu(p);
		queue_event(ctx, (u64)p, p->prio, cpu, queued_length(p, cpu));
		if ((on &= ~KP_BIT(KP_THREAD_QUEUE)) == 0)
			return 0;
	}
	if (!batch_begin(&b, me, (on & KP_BIT(KP_THREAD_QUEUE) ? QUEUE_SIZE : 0) +
		(on & KP_BIT(KP_THREAD_STATE_WOKEN) ? IN_SIZE : 0), QUEUE_SIZE + IN_SIZE))
		return 0;
	if (on & KP_BIT(KP_THREAD_QUEUE)) {
		cpu = task_on_cpu(p);
		queue_write(BATCH_EVENT(&b, at, THREAD_QUEUE), (u64)p, p->prio, cpu,
		    queued_length(p, cpu));
		at += QUEUE_SIZE;
	}
	if (on & KP_BIT(KP_THREAD_STATE_WOKEN))
		state_write(BATCH_EVENT(&b, at, THREAD_STATE_WOKEN), (u64)p, KP_WAIT_CPU);
	event_end(&b.hit);
	return 0;
}

SEC("tnf/sched_wakeup")
int BPF_PROG(wakeup, struct task_struct *p)
{
	return woken(ctx, p);
}

SEC("tnf/sched_wakeup_new")
int BPF_PROG(wakeup_new, struct task_struct *p)
{
	return woken(ctx, p);
}

/* Here the thread still is on its old run queue, so the new CPU's queue is taken from run_queues.
   If none of that CPU has been seen, the length is recorded as 0. */
SEC("tnf/sched_migrate_task")
int BPF_PROG(migrate, struct task_struct *p, int cpu)
{
	u32 to = cpu;
	u64 *rq;

	/* When a thread is moved while it is being woken, sched_wakeup follows. */
	if (p->on_rq != TASK_ON_RQ_MIGRATING ||
	    !is_on_about(KP_BIT(KP_THREAD_QUEUE), filter_key(p)))
		return 0;
	rq = bpf_map_lookup_elem(&run_queues, &to);
	queue_event(ctx, (u64)p, p->prio, to, rq == NULL || *rq == 0 ? 0 :
	    queue_length((struct rq *)*rq, false));
	return 0;
}

SEC("tnf/contention_begin")
int BPF_PROG(lock_wait, void *lock, unsigned int flags)
{
	struct context *c;

	if (flags & LOCK_SPINS)
		return 0;
	c = my_new_context();
	if (c != NULL)
		c->lock = (u64)lock | lock_kind(flags);
	return 0;
}

SEC("tnf/contention_end")
int BPF_PROG(lock_done, void *lock, int ret)
{
	struct context *c = my_context();

	if (c != NULL)
		c->lock = 0;
	return 0;
}

static __always_inline u32 user_fault_state(const struct context *c)
{
	return c->error & ERROR_INSTRUCTION ? KP_TFAULT : KP_DFAULT;
}

static __always_inline u32 state_on_cpu(struct task_struct *t)
{
	const struct pt_regs___kernel *regs;
	const struct context *c;

	if (t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return KP_SYSTEM;
	regs = (void *)bpf_task_pt_regs(t);
	if (in_syscall(regs))
		return KP_SYSTEM;
	c = context_of(t);
	return fault_at(regs, c) == FAULT_USER ? user_fault_state(c) : KP_USER;
}

struct sleep {			/* of a thread that leaves its CPU for it */
	u32 state;		/* the state for thread_state */
	u32 size;		/* of thread_block's event, with its stack */
	u64 reason;
	u32 from, n;		/* frames of the stack */
	u32 why;		/* thread_block is to say the reason */
	u32 stack;		/* there is one */
	u32 call;		/* its system call, or which kernel thread it is */
	u32 asked;		/* frames that are asked for, 0: no stack */
	u32 known;		/* known_look() */
	u32 owned;		/* lock_owner is to say the owner */
	u32 owner;		/* of the lock, or 0 */
	u32 pad;
};

static __always_inline u32 state_asleep(const struct pt_regs___kernel *regs,
    const struct context *c, u64 futex)
{
	switch (fault_at(regs, c)) {
	case FAULT_USER:
		return user_fault_state(c);
	case FAULT_KERNEL:
		return KP_KFAULT;
	}
	return futex != 0 ? KP_USER_LOCK : KP_SLEEP;
}

/* Returns the lock of the kernel for which the thread waits, or 0.  If lock_owner is on, sets
   s->owner, except where task_blocker() tells the lock. */
static __always_inline u64 lock_reason(struct sleep *s, struct task_struct *t,
    const struct context *c)
{
	u64 r;

	if (c != NULL && c->lock != 0) {
		if (s->owned)
			s->owner = lock_owner(c->lock);
		return c->lock & ~KIND_MASK;
	}
	if ((r = task_blocker(t)) != 0)
		return r;
	if (t->pi_blocked_on == NULL)
		return 0;
	r = (u64)BPF_CORE_READ(t, pi_blocked_on, lock);
	if (s->owned)
		s->owner = lock_owner(r | KIND_RT);
	return r;
}

/* Returns the state of a thread that leaves its CPU to sleep, for switches which neither
   thread_block nor lock_owner records.  The thread is an argument, and the code is inlined: that
   saves the call of sleep_look(), and the one of bpf_get_current_task_btf() in it. */
static __always_inline u32 sleep_state(struct task_struct *t, const struct context *c)
{
	const struct pt_regs___kernel *regs;
	struct call call;

	if (t->flags & PF_KTHREAD)
		return KP_SLEEP;
	regs = (void *)bpf_task_pt_regs(t);
	find_call(t, regs, &call);
	return state_asleep(regs, c, futex_address(&call));
}

/*
 * Looks at the current thread, which is about to leave its CPU: what state is that, and
 * what does it wait for?  (__noinline: see README.)
 */
__noinline int sleep_look(struct sleep *s, struct context *c)
{
	struct task_struct *t = bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs;
	struct call call;
	u64 futex, r;

	if (s == NULL)
		return 0;
	s->state = KP_SLEEP;
	s->call = t->pid;
	if (t->flags & PF_KTHREAD) {
		s->known = s->asked ? known_look(0, s->call, s->asked) : 0;
		if (s->why || s->owned)
			s->reason = lock_reason(s, t, c);
		if (s->why && s->reason == 0 && state.recover)
			s->reason = wait_queue(s->call, s->asked == 0);
		return 0;
	}
	regs = (void *)bpf_task_pt_regs(t);
	s->call = regs_call(regs);
	s->known = s->asked ? known_look(0, s->call, s->asked) : 0;
	find_call(t, regs, &call);
	futex = futex_address(&call);
	s->state = state_asleep(regs, c, futex);
	if (!s->why && !s->owned)
		return 0;
	if ((r = lock_reason(s, t, c)) == 0 && (r = futex) != 0 && s->owned)
		s->owner = futex_owner(t, &call, futex);
	if (s->why && r == 0 && (r = locked_file(t, &call)) == 0 &&
	    (!state.recover || (r = wait_queue(s->call, s->asked == 0)) == 0))
		r = file_address(t, &call);
	s->reason = r;
	return 0;
}

/* (__noinline: see README.) */
__noinline int owner_tell(struct sleep *s)
{
	struct kp_lock_owner *e;
	struct hit hit;

	if (s == NULL || (e = EVENT(NULL, &hit, LOCK_OWNER, kp_lock_owner)) == NULL)
		return 0;
	e->reason = s->reason;
	e->owner = s->owner;
	e->pad = 0;
	event_end(&hit);
	return 0;
}

struct stack_record {		/* struct kp_symbols, of the largest size */
	u32 tag;
	u32 self_size;
	u64 pc[KP_STACK_MAX];
};

static __always_inline void frames_write(struct stack_record *s, struct frames *f, u32 from,
    u32 n)
{
	s->tag = state.symbols_tag;
	s->self_size = sizeof(struct kp_symbols) + n * sizeof s->pc[0];
	for (u32 i = 0; i < KP_STACK_MAX && i < n; i++)
		s->pc[i] = f->pc[(from + i) % FRAMES];
}

static __always_inline u32 depth_asked(void)
{
	u32 depth = state.stack_depth;

	return depth > KP_STACK_MAX ? KP_STACK_MAX : depth;
}

/* Runs before sleep_look(): sets where the search of the stack begins and how many frames
   are asked for (s->asked; it stays 0 if no stack is recorded).  sleep_look() needs both to
   recognise a remembered stack, whose frames then need no unwinding. */
static __always_inline void sleep_prepare(struct sleep *s, void *ctx)
{
	u32 depth = depth_asked();
	struct frames *f;

	if (depth == 0 && !state.recover)
		return;
	search_from(ctx);
	if (depth != 0 && (f = my_frames(0)) != NULL)
		s->asked = stack_asked(f, depth);
}

static __always_inline void sleep_stack(struct sleep *s, void *ctx)
{
	struct frames *f;

	s->size = sizeof(struct kp_thread_block);
	if (s->asked == 0 || (f = my_frames(0)) == NULL)
		return;
	s->from = stack_walk(ctx, f, depth_asked(), s->call, s->known, &s->n);
	s->size += sizeof(struct kp_symbols) + s->n * 8;
	s->stack = 1;
}

static __always_inline void block_write(struct kp_thread_block *e,
    const struct sleep *s)
{
	struct frames *f = s->stack ? my_frames(0) : NULL;

	e->reason = s->reason;
	e->stack = f != NULL ? sizeof *e - offsetof(struct kp_thread_block, stack) : 0;
	e->pad = 0;
	if (f != NULL)
		frames_write((void *)(e + 1), f, s->from, s->n);
}

#define ON_OUT		KP_BIT(KP_THREAD_STATE_OUT)
#define ON_IN		KP_BIT(KP_THREAD_STATE_IN)
#define ON_QUEUE	KP_BIT(KP_THREAD_QUEUE)
#define ON_BLOCK	KP_BIT(KP_THREAD_BLOCK)
#define ON_OWNER	KP_BIT(KP_LOCK_OWNER)
#define ON_THROTTLE	KP_BIT(KP_THREAD_THROTTLE)

struct change {			/* of threads on a CPU, and what is told of it */
	u64 on;			/* probes that write */
	u64 prev, next;		/* the threads' addresses ... */
	u32 prev_pid, prev_tgid;
	u32 next_pid, next_tgid;
	u32 out, in;		/* the states that prev goes to, and next */
	u32 size;		/* of all that is written */
	u32 follows;		/* a schedule record of next ends the batch: next writes next */
	u64 length;		/* of the queue that prev waits in */
	u32 cpu;		/* of that queue */
	s32 prio;
};

/* Returns which probes record this switch.  An idle thread (its number is 0) has no events, and a
   dead thread's leaving has none.  A filter that holds only for next leaves only the event of its
   arrival. */
static __always_inline u64 change_probes(struct task_struct *prev, struct task_struct *next,
    bool waits, u32 task_state)
{
	u64 on = state.on & (ON_OUT | ON_IN | ON_QUEUE | ON_BLOCK | ON_OWNER | ON_THROTTLE);

	if (on != 0 && state.filter && !filter_holds(filter_key(prev)))
		on &= filter_holds(filter_key(next)) ? ON_IN : 0;
	if (prev->pid == 0 || task_state & TASK_DEAD)
		on &= ON_IN;
	if (next->pid == 0)
		on &= ~ON_IN;
	return on & (waits ? ~(ON_BLOCK | ON_OWNER) : ~(ON_QUEUE | ON_THROTTLE));
}

/* 's' is NULL if thread_block does not record this switch. */
static __always_inline int change_write(const struct change *c,
    const struct sleep *s, u32 room)
{
	struct kp_thread_state *e;
	struct batch b;
	u32 at = 0;

	if (!batch_begin_as(&b, c->prev, c->prev_pid, c->prev_tgid, c->size, room))
		return 0;
	if (s == NULL && c->on & ON_QUEUE) {
		queue_write(BATCH_EVENT(&b, at, THREAD_QUEUE), c->prev, c->prio, c->cpu,
		    c->length);
		at += QUEUE_SIZE;
	}
	if (c->on & ON_OUT) {
		e = BATCH_EVENT(&b, at, THREAD_STATE_OUT);
		e->state = c->out;
		e->pad = 0;
		at += OUT_SIZE;
	}
	if (s != NULL) {
		block_write(BATCH_EVENT(&b, at, THREAD_BLOCK), s);
		at += s->size;
	}
	if (c->on & ON_IN && at <= room - IN_SIZE)	/* for the verifier */
		state_write(BATCH_EVENT(&b, at, THREAD_STATE_IN), c->next, c->in);
	if (c->follows) {
		at = c->size - SCHED_SIZE;
		if (at <= room - SCHED_SIZE)
			batch_schedule(&b, at, c->next, c->next_pid, c->next_tgid);
	}
	event_end(&b.hit);
	return 0;
}

#define CHANGE_ROOM	(QUEUE_SIZE + OUT_SIZE + IN_SIZE + SCHED_SIZE)
#define SLEEP_ROOM	(OUT_SIZE + BLOCK_ROOM + IN_SIZE + SCHED_SIZE)

/* (__noinline: see README.) */
__noinline int sleep_tell(struct change *c, struct sleep *s)
{
	return c == NULL || s == NULL ? 0 : change_write(c, s, SLEEP_ROOM);
}

static __always_inline int change_tell(void *ctx, struct task_struct *prev,
    struct task_struct *next, bool waits, u32 task_state, u64 on)
{
	struct change c = { .on = on };
	struct sleep s = {};
	bool sleeps;

	c.prev = (u64)prev;
	c.prev_pid = prev->pid;
	c.prev_tgid = prev->tgid;
	c.next = (u64)next;
	c.next_pid = next->pid;
	c.next_tgid = next->tgid;
	if (c.on & ON_IN)
		c.in = state_on_cpu(next);
	if (c.on & ON_QUEUE) {
		c.prio = prev->prio;
		c.cpu = task_on_cpu(prev);
		c.length = queued_length(prev, c.cpu);
	}
	c.out = waits ? KP_WAIT_CPU : KP_STOPPED;
	s.why = (c.on & ON_BLOCK) != 0;
	s.owned = (c.on & ON_OWNER) != 0;
	sleeps = !waits && !(task_state & TASK_STOPPED);
	if (c.on & ON_THROTTLE && unlikely(task_throttled(prev)))
		throttle_tell(hook_argument(ctx, 1), quota_group(prev));
	if (s.why)
		sleep_prepare(&s, ctx);
	if (s.why || s.owned) {
		sleep_look(&s, context_of(prev));
		if (sleeps)
			c.out = s.state;
		if (s.owner != 0)
			owner_tell(&s);
	} else if (sleeps && c.on & ON_OUT)
		c.out = sleep_state(prev, context_of(prev));
	/* With a filter, next perhaps writes no event, and gets no schedule record in advance. */
	c.follows = (c.on & (ON_OUT | ON_IN)) != 0 && !state.filter;
	c.size = (c.on & ON_QUEUE ? QUEUE_SIZE : 0) + (c.on & ON_OUT ? OUT_SIZE : 0) +
	    (c.on & ON_IN ? IN_SIZE : 0) + (c.follows ? SCHED_SIZE : 0);
	if (!s.why)
		return c.size == 0 ? 0 : change_write(&c, NULL, CHANGE_ROOM);
	sleep_stack(&s, ctx);
	c.size += s.size;
	return sleep_tell(&c, &s);
}

/* Makes the structs (in change_tell()) only for a switch that a probe records. */
static __always_inline int change(void *ctx, struct task_struct *prev,
    struct task_struct *next, bool waits, u32 task_state)
{
	u64 on = left_out(prev, next) ? 0 : change_probes(prev, next, waits, task_state);

	return on == 0 ? 0 : change_tell(ctx, prev, next, waits, task_state, on);
}

SEC("tnf/sched_switch")
int BPF_PROG(context_switch, bool preempt, struct task_struct *prev,
    struct task_struct *next, unsigned int prev_state)
{
	return change(ctx, prev, next, preempt || prev_state == 0, prev_state);
}

/* Before 5.18 the hook has no prev_state, and another thread that wakes prev meanwhile has perhaps
   changed prev->__state.  So on_rq tells: if it is 0, prev sleeps; otherwise prev waits for a CPU. */
SEC("tnf/sched_switch")
int BPF_PROG(context_switch3, bool preempt, struct task_struct *prev,
    struct task_struct *next)
{
	return change(ctx, prev, next, prev->on_rq != 0, prev->__state);
}
