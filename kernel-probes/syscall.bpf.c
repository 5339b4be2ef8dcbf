/*
 * syscall.bpf.c - system calls begin and end.
 */
#include "write.bpf.h"

SEC("raw_tp/sys_enter")
int syscall_start(struct bpf_raw_tracepoint_args *ctx)
{
	struct kp_syscall_start *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_SYSCALL_START)))
		return 0;
	e = EVENT(&hit, SYSCALL_START, kp_syscall_start);
	if (e == NULL)
		return 0;
	e->sysnum = ctx->args[1];
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

	if (!is_on(KP_BIT(KP_SYSCALL_END)))
		return 0;
	e = EVENT(&hit, SYSCALL_END, kp_syscall_end);
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
	return 0;
}
