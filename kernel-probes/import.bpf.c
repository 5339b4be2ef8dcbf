/*
 * import.bpf.c - the maps of imported probes, and the program of tracepoints.
 *
 * The kernel hands over a record that its print format describes.  Where its
 * members lie as those of an event do, one operation copies many of them.
 */
#include "kernel-probes/import.bpf.h"

struct kp_map_rows tnf_rows SEC(".maps");
struct kp_map_counts tnf_counts SEC(".maps");

struct scratch {
	u64 ctx;
	u8  image[KP_IMAGE_MAX + 2 * KP_TEXT_MAX + 1024];
};

/* Programs of tracepoints do not interrupt each other: the kernel skips one that
   would, and counts it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} tracepoint_scratch SEC(".maps");

static __always_inline void copy_array(u8 *image, u32 *at, const struct kp_op *op, u64 from,
    u32 n)
{
	u32 rec = *at & (KP_IMAGE_MAX - 1) & ~7u;

	if (n > KP_TEXT_MAX)
		n = KP_TEXT_MAX;
	if (!import_room(*at) ||
	    bpf_probe_read_kernel(image + rec + 8, n, (void *)from) != 0) {
		import_null(image, op->to);
		return;
	}
	import_append(image, at, op->to, n, state.record_tag[op->type & 15]);
}

/* One operation of a row; returns where the free part of the image begins. */
__noinline u64 tracepoint_op(struct kp_import_row *row, u32 i, u32 at)
{
	struct scratch *s;
	struct kp_op *op;
	u32 zero = 0, loc;
	u64 from;

	if (row == NULL || i >= KP_OPS_MAX)
		return at;
	s = bpf_map_lookup_elem(&tracepoint_scratch, &zero);
	if (s == NULL)
		return at;
	op = &row->op[i];
	from = s->ctx + op->from;
	loc = op->size;
	if (op->kind == KP_OP_COPY) {
		bpf_probe_read_kernel(s->image + (op->to & (KP_FIXED_MAX - 1)),
		    loc & (KP_FIXED_MAX - 1), (void *)from);
		return at;
	}
	if (op->kind >= KP_OP_LOC_STRING) {
		if (bpf_probe_read_kernel(&loc, sizeof loc, (void *)from) != 0)
			loc = 0;
		if (op->kind >= KP_OP_REL_STRING)
			from += sizeof loc;
		else
			from = s->ctx;
		from += loc & 0xffff;
		loc >>= 16;
	}
	if (op->kind == KP_OP_STRING)
		loc++;		/* it may have no NUL */
	if (op->kind == KP_OP_STRING || op->kind == KP_OP_LOC_STRING ||
	    op->kind == KP_OP_REL_STRING)
		import_string(s->image, &at, op->to, from, loc, false);
	else
		copy_array(s->image, &at, op, from, loc);
	return at;
}

/* Whatever we return, who else listens to the tracepoint must get 1. */
SEC("tp")
int import_tracepoint(void *ctx)
{
	struct kp_import_row *row = import_on(bpf_get_attach_cookie(ctx));
	struct scratch *s;
	u32 zero = 0, at;

	if (row == NULL)
		return 1;
	s = bpf_map_lookup_elem(&tracepoint_scratch, &zero);
	if (s == NULL)
		return 1;
	*(volatile u64 *)&s->ctx = (u64)ctx;
	at = row->size;
	for (u32 i = 0; i < KP_OPS_MAX; i++) {
		if (i >= row->ops)
			break;
		at = tracepoint_op(row, i, at);
	}
	import_write(row, s->image, at);
	return 1;
}
