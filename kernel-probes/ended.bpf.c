/*
 * ended.bpf.c - remembers who the threads were that the trace tells of.
 *
 * Those that live when the buffer is read are in /proc.  The others have ended
 * while tracing was on, or lived when it was switched off.
 */
#include "write.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_ended);
} tnf_ended SEC(".maps");

static __always_inline int remember(struct task_struct *p)
{
	struct kp_ended e = { 0 };
	u32 tid = p->pid;

	e.pid = p->tgid;
	e.ppid = BPF_CORE_READ(p, real_parent, tgid);
	BPF_CORE_READ_STR_INTO(&e.comm, p, comm);
	bpf_map_update_elem(&tnf_ended, &tid, &e, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(remember_exit, struct task_struct *p)
{
	return remember(p);
}

SEC("iter/task")
int remember_living(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	return t != NULL ? remember(t) : 0;
}
