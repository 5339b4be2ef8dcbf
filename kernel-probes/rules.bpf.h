/*
 * rules.bpf.h - which processes the filter's rules ask for.
 */
#ifndef KERNEL_PROBES_RULES_BPF_H
#define KERNEL_PROBES_RULES_BPF_H

#include "kernel-probes/write.bpf.h"

#define KP_GROUP_DEPTH	16	/* groups in groups, at most */

struct kp_map_rules {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KP_RULES_MAX);
	__type(key, struct kp_rule_key);
	__type(value, struct kp_rule);
};

extern struct kp_map_rules tnf_rules SEC(".maps");

int group_is_asked_for(u64 group);

#endif /* KERNEL_PROBES_RULES_BPF_H */
