/*
 * raw.bpf.c - a tracepoint is hit whose members come from its arguments, not from its record.
 *
 * The kernel gives a raw tracepoint's program no cookie before 6.10, and keeps a program from
 * running while it runs on the same CPU already.  So each probe has a program of its own, one of
 * those below: an interrupt in it does not lose the events of others, and its memory is shared with
 * nobody.  Several programs are loaded at once, because the kernel's types are read each time.
 */
#include "kernel-probes/operand.bpf.h"

/* The probes, and the number of each tracepoint's arguments: the kernel refuses a program that
   reads more.  Constants when the programs are loaded. */
const volatile unsigned raw_slot[KP_RAW_PROGRAMS] = { 0 };
const volatile unsigned raw_args[KP_RAW_PROGRAMS] = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KP_RAW_PROGRAMS);
	__type(key, u32);
	__type(value, struct site_scratch);
} raw_scratch SEC(".maps");

SITE_FUNCTIONS(kernel, KERNEL)
PLAIN_FUNCTIONS(raw)

/* One copy in the object, which libbpf puts behind each of the programs that it loads.  The verifier
   follows the calls, so the number of the program is a constant to it. */
static __noinline int raw_event(u64 *ctx, u32 program)
{
	u64 cookie = raw_slot[program];
	u32 key = program, size;
	struct kp_site_row *site;
	struct site_scratch *s;
	struct import_hit h;

	if (!import_on(&h, ctx, raw_slot[program]))
		return 0;
	h.is_record = false;
	s = bpf_map_lookup_elem(&raw_scratch, &key);
	if (s == NULL)
		return 0;
#pragma unroll
	for (u32 i = 0; i < KP_OPERANDS_MAX; i++)
		if (i < raw_args[program])
			s->regs[i] = ctx[i];
	if (h.row->plain) {
		size = put_plain_raw(s, h.row);
	} else {
		site = bpf_map_lookup_elem(&tnf_sites, &cookie);
		if (site == NULL)
			return 0;
		size = put_together_kernel(s, site, h.row->size);
	}
	import_write(&h, s->image, size);
	return 0;
}

#define RAW(program)				\
SEC("raw_tp")					\
int import_raw##program(u64 *ctx)		\
{						\
	return raw_event(ctx, program);		\
}

RAW(0) RAW(1) RAW(2) RAW(3) RAW(4) RAW(5) RAW(6) RAW(7)
RAW(8) RAW(9) RAW(10) RAW(11) RAW(12) RAW(13) RAW(14) RAW(15)
RAW(16) RAW(17) RAW(18) RAW(19) RAW(20) RAW(21) RAW(22) RAW(23)
