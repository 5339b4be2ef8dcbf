/*
 * tasks.bpf.c - tells of each task that lives, to whoever reads: what /proc has in
 * several files a process, in a few calls for all of them.
 */
#include "kernel-probes/write.bpf.h"

SEC("iter/task")
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
