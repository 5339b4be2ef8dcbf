/*
 * filter.bpf.c - rules put processes into the filter's set, and take them out: by the
 * name of the program, or by the cgroup.
 *
 * Writers of events look at the set alone.  A process is judged when it
 * is born (filter_fork in thread.bpf.c), gets another name or moves to another group.
 */
#include "kernel-probes/left-out.bpf.h"

struct kp_map_rules tnf_rules SEC(".maps");

/* Nonzero if a rule asks for a group (of the unified hierarchy) or for one that it is in. */
__noinline int group_is_asked_for(u64 group)
{
	struct cgroup_subsys_state *css;
	struct kp_rule_key key = {};
	struct cgroup *g = (void *)group;

	for (int i = 0; i < KP_GROUP_DEPTH && g != NULL; i++) {
		key.group = BPF_CORE_READ(g, kn, id);
		if (bpf_map_lookup_elem(&tnf_rules, &key) != NULL)
			return 1;
		css = BPF_CORE_READ(g, self.parent);
		g = css == NULL ? NULL : BPF_CORE_READ(css, cgroup);
	}
	return 0;
}

/* Gives a process a reason to be in the set, or takes it away. */
__noinline int filter_reason(u32 pid, u32 reason, u32 there)
{
	volatile u8 *reasons = filter_reasons(pid);
	u8 before = *reasons, now = there ? before | reason : before & ~reason;

	if (now != before) {
		*reasons = now;
		filter_changed();
	}
	return 0;
}

SEC("tnf/task_rename")
int BPF_PROG(filter_name, struct task_struct *p, const char *comm)
{
	struct kp_rule_key key = {};

	if (p->pid != p->tgid || !(state.rules & KP_FILTER_NAME))
		return 0;
	bpf_probe_read_kernel_str(key.comm, sizeof key.comm, comm);
	return filter_reason(p->tgid, KP_FILTER_NAME,
	    bpf_map_lookup_elem(&tnf_rules, &key) != NULL);
}

/* The task has moved already, in this hierarchy or in another one. */
SEC("tnf/cgroup_attach_task")
int BPF_PROG(filter_group, struct cgroup *to, const char *path, struct task_struct *p)
{
	if (!(state.rules & KP_FILTER_GROUP))
		return 0;
	return filter_reason(p->tgid, KP_FILTER_GROUP,
	    group_is_asked_for((u64)BPF_CORE_READ(p, cgroups, dfl_cgrp)));
}
