/*
 * floor.bpf.c - the least that is told of a system call, a page fault or a switch: programs
 * that do nothing where it begins and where it ends, and programs that read the
 * clock there and store what they read.  And at the beginning of a call, or at a wake-up, alone: a
 * program that does nothing, and one that asks the kernel for a stack of eight frames.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} latest SEC(".maps");

static __always_inline int read_clock(void)
{
	__u32 zero = 0;
	__u64 *p = bpf_map_lookup_elem(&latest, &zero);

	if (p != NULL)
		*p = bpf_ktime_get_ns();
	return 0;
}

#define FRAMES	8

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[FRAMES]);
} frames SEC(".maps");

static __always_inline int take_stack(void *ctx)
{
	__u32 zero = 0;
	__u64 *f = bpf_map_lookup_elem(&frames, &zero);

	if (f != NULL)
		bpf_get_stack(ctx, f, FRAMES * sizeof *f, 0);
	return 0;
}

#define ONE(hook)							\
	SEC("raw_tp/" #hook) int one_##hook(void *ctx) { return 0; }	\
	SEC("raw_tp/" #hook) int stack_##hook(void *ctx) { return take_stack(ctx); }

ONE(sys_enter)
ONE(sched_wakeup)

#define PROGRAMS(hook)							\
	SEC("raw_tp/" #hook) int empty_##hook(void *ctx) { return 0; }	\
	SEC("raw_tp/" #hook) int clock_##hook(void *ctx) { return read_clock(); }

/* The same at a tracepoint's perf event, as imported probes are. */
SEC("tp/raw_syscalls/sys_enter")
int empty_tracepoint(void *ctx)
{
	return 1;
}

PROGRAMS(sys_enter)
PROGRAMS(sys_exit)
PROGRAMS(page_fault_user)
PROGRAMS(mm_page_alloc)
PROGRAMS(count_memcg_events)
PROGRAMS(sched_switch)
PROGRAMS(sched_wakeup)
