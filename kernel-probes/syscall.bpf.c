/*
 * syscall.bpf.c - system calls begin and end.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/left-out.bpf.h"

/* Writes a call of another table, or one whose number is too large for sysnum. */
static __always_inline int start_other(void *ctx, struct task_struct *me, u64 nr, u32 abi)
{
	struct kp_syscall_other *e;
	struct hit hit;

	if (!probe_is_on(KP_BIT(KP_SYSCALL_START_OTHER)))
		return 0;
	e = EVENT_BY(ctx, &hit, me, SYSCALL_START_OTHER, kp_syscall_other);
	if (e == NULL)
		return 0;
	e->sysnum = nr;
	e->abi = abi;
	event_end(&hit);
	return 0;
}

/* Notes when a call began, since syscall_end is asked for calls that take long. */
static __always_inline void call_begins(struct task_struct *me)
{
	struct context *c = new_context(me);

	if (c != NULL)
		c->call = bpf_ktime_get_ns();
}

/* True if the call that ends has taken long enough.  Of a call whose beginning was not seen, the
   context has none, or that of an earlier call, before the programs were on without a break. */
static __always_inline bool call_was_long(struct task_struct *me)
{
	struct context *c = context_of(me);
	u64 began;

	if (c == NULL)
		return false;
	began = c->call;
	c->call = 0;
	return began > state.call_since && bpf_ktime_get_ns() - began > state.call_longer;
}

SEC("raw_tp/sys_enter")
int syscall_start(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = ctx->args[1];
	struct kp_syscall_start *e;
	struct task_struct *me;
	struct hit hit;
	u32 abi;

	bool timed = unlikely(state.call_longer != 0) && probe_is_on(KP_BIT(KP_SYSCALL_END));

	if (!timed && !probe_is_on(KP_BIT(KP_SYSCALL_START) | KP_BIT(KP_SYSCALL_START_OTHER)))
		return 0;
	if ((me = passing_thread(ctx)) == NULL)
		return 0;
	if (timed)
		call_begins(me);
	abi = call_abi(me, nr);
	if (abi != KP_ABI_NATIVE || nr > 0x7fff)
		return start_other(ctx, me, abi == KP_ABI_32 ? (u32)nr : nr, abi);
	if (!probe_is_on(KP_BIT(KP_SYSCALL_START)))
		return 0;
	e = EVENT_BY(ctx, &hit, me, SYSCALL_START, kp_syscall_start);
	if (e == NULL)
		return 0;
	e->sysnum = nr;
	e->pad0 = 0;
	e->pad1 = 0;
	event_end(&hit);
	return 0;
}

SEC("raw_tp/sys_exit")
int syscall_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct kp_syscall_end *e;
	struct hit hit;
	s64 ret = ctx->args[1];
	struct task_struct *me;

	if (!probe_is_on(KP_BIT(KP_SYSCALL_END)) || (me = passing_thread(ctx)) == NULL)
		return 0;
	if (unlikely(state.call_longer != 0) && !call_was_long(me))
		return 0;
	e = EVENT_BY(ctx, &hit, me, SYSCALL_END, kp_syscall_end);
	if (e == NULL)
		return 0;
	e->rval2 = 0;		/* this machine has one return register */
	if (ret < 0 && ret >= -4095) {
		e->rval1 = -1;
		e->error = -ret;
	} else {
		e->rval1 = ret;
		e->error = 0;
	}
	event_end(&hit);
	if (unlikely(state.call_freezes))
		freeze(KP_FROZEN_BY_CALL, hit.time);
	return 0;
}
