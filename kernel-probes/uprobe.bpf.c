/*
 * uprobe.bpf.c - a probe in a program is hit: its arguments become an event.
 *
 * operand.bpf.h reads them.
 *
 * The kernel runs these programs for the thread that hit the breakpoint, and may
 * preempt them, unlike those of tracepoints; with bpf_copy_from_user() they even
 * wait, for a page of the program's that is not in memory.  So the event is put
 * together in memory of the thread's own, and only the copy into the buffer, whose
 * writers must not be preempted (write.bpf.h), is done with preemption off.  Kernels
 * before 6.10 cannot be asked for that, and 6.12 lets no function that is not static be
 * called then.  There uprobe_plain does without, which is right as long as the kernel
 * does not preempt itself (Debian's does not, unless it is told to: preempt=full).
 * Before 6.0 no such program could wait: uprobe_quick takes what is in memory.
 */
#include "kernel-probes/operand.bpf.h"

KERNEL_CALL(void, bpf_preempt_disable, void);
KERNEL_CALL(void, bpf_preempt_enable, void);

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct site_scratch);
} tnf_scratch SEC(".maps");

/* The CPU's scratch memory, for programs that do not wait and are not preempted. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct site_scratch);
} plain_scratch SEC(".maps");

struct kp_map_sites tnf_sites SEC(".maps");

SITE_FUNCTIONS(quick, QUICK)
SITE_FUNCTIONS(waiting, WAITING)
PLAIN_FUNCTIONS(uprobe)

/* The verifier wants each offset in the context as a constant. */
static __always_inline void take_registers(struct site_scratch *s, const u64 *ctx)
{
#pragma unroll
	for (int i = 0; i < KP_R_COUNT; i++)
		s->regs[i] = ctx[i];
}

/* Writes an event of numbers in registers, for which the program need not wait. */
static __always_inline void plain_event(u64 *ctx, struct import_hit *h)
{
	struct site_scratch *s;
	u32 zero = 0, size;

	s = bpf_map_lookup_elem(&plain_scratch, &zero);
	if (s == NULL)
		return;
	take_registers(s, ctx);
	size = put_plain_uprobe(s, h->row);
	import_write_late(h, s->image, size);
}

static __always_inline int uprobe_event(u64 *ctx, const bool guarded, const enum how how)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	struct kp_site_row *site;
	struct site_scratch *s;
	struct import_hit h;
	u32 size;

	if (!import_on(&h, NULL, (u32)cookie))
		return 0;
	if (h.row->plain) {
		if (guarded)
			call_bpf_preempt_disable();
		plain_event(ctx, &h);
		if (guarded)
			call_bpf_preempt_enable();
		return 0;
	}
	site = bpf_map_lookup_elem(&tnf_sites, &cookie);
	s = bpf_task_storage_get(&tnf_scratch, h.task, NULL,
	    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (site == NULL || s == NULL) {
		lose_event(TNF_LOST_NO_BLOCK);
		return 0;
	}
	take_registers(s, ctx);
	size = how == WAITING ? put_together_waiting(s, site, h.row->size) :
	    put_together_quick(s, site, h.row->size);
	if (guarded)
		call_bpf_preempt_disable();
	import_write_late(&h, s->image, size);
	if (guarded)
		call_bpf_preempt_enable();
	return 0;
}

SEC("uprobe.s/")
int uprobe_hit(u64 *ctx)
{
	return uprobe_event(ctx, true, WAITING);
}

SEC("uprobe.s/")
int uprobe_plain(u64 *ctx)
{
	return uprobe_event(ctx, false, WAITING);
}

SEC("uprobe/")
int uprobe_quick(u64 *ctx)
{
	return uprobe_event(ctx, false, QUICK);
}
