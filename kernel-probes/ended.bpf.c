/*
 * ended.bpf.c - remembers who the threads were that have ended.
 *
 * Those that live at the end of a trace are in /proc; a trace that names both
 * explains itself.
 */
#include "write.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_ended);
} tnf_ended SEC(".maps");

SEC("tp_btf/sched_process_exit")
int BPF_PROG(remember_exit, struct task_struct *p)
{
	struct kp_ended e = { 0 };
	u32 tid = p->pid;

	if (state.on == 0)
		return 0;
	e.pid = p->tgid;
	e.ppid = BPF_CORE_READ(p, real_parent, tgid);
	BPF_CORE_READ_STR_INTO(&e.comm, p, comm);
	bpf_map_update_elem(&tnf_ended, &tid, &e, BPF_ANY);
	return 0;
}
