/*
 * import.bpf.c - the maps of imported probes, and the programs of tracepoints and of marks.
 *
 * The kernel hands over a record that its print format describes.  If members
 * lie as those of an event do, one operation copies many of them.
 *
 * The loader runs the program of a mark once for each, and hangs it on nothing.  A run of a
 * raw tracepoint's program is like a hit: preemption is disabled, and it ends before what it
 * interrupted goes on.  Its arguments are ours to choose.
 */
#include "kernel-probes/import.bpf.h"

struct kp_map_rows tnf_rows SEC(".maps");
struct kp_map_counts tnf_counts SEC(".maps");

struct kp_map_where tnf_where SEC(".maps");

static __always_inline u64 number_at(const struct kp_image *image, u32 at, u32 size,
    bool is_signed)
{
	const u8 *p = image->byte + (at & (KP_FIXED_MAX - 1));

	if (size == 1)
		return is_signed ? (u64)(s64)*(const signed char *)p : *p;
	if (size == 2)
		return is_signed ? (u64)(s64)*(const short *)p : *(const u16 *)p;
	if (size == 4)
		return is_signed ? (u64)(s64)*(const s32 *)p : *(const u32 *)p;
	return *(const u64 *)p;
}

static __always_inline bool compare(u64 a, u64 b, const struct kp_condition *c)
{
	bool less = c->is_signed ? (s64)a < (s64)b : a < b;

	switch (c->op) {
	case KP_W_EQUAL:
		return a == b;
	case KP_W_UNEQUAL:
		return a != b;
	case KP_W_BELOW:
		return less;
	case KP_W_AT_MOST:
		return less || a == b;
	case KP_W_ABOVE:
		return !less && a != b;
	case KP_W_AT_LEAST:
		return !less;
	}
	return (a & b) != 0;
}

/* A null reference is equal to no text. */
static __always_inline bool same_text(const struct kp_image *image,
    const struct kp_condition *c)
{
	u32 at = c->at & (KP_FIXED_MAX - 4), rec = *(const u32 *)(image->byte + at);
	const u64 *text;

	if (rec == 0)
		return false;
	rec += at + 8;
	if (rec > KP_IMAGE_MAX - KP_WHERE_TEXT)
		return false;
	text = (const void *)(image->byte + rec);
	return (text[0] & c->mask[0]) == c->value[0] && (text[1] & c->mask[1]) == c->value[1] &&
	    (text[2] & c->mask[2]) == c->value[2] && (text[3] & c->mask[3]) == c->value[3];
}

/* One condition.  (__noinline: see README.) */
__noinline int condition_holds(struct kp_where *w, u32 i, struct kp_image *image)
{
	const struct kp_condition *c;

	if (w == NULL || image == NULL || i >= KP_WHERE_MAX)
		return 0;
	c = &w->c[i];
	if (c->size == 0)
		return same_text(image, c) == (c->op == KP_W_EQUAL);
	return compare(number_at(image, c->at, c->size, c->is_signed), c->value[0], c);
}

__noinline int where_holds(u32 slot, struct kp_image *image)
{
	struct kp_where *w = bpf_map_lookup_elem(&tnf_where, &slot);
	bool holds = false;

	if (w == NULL || image == NULL)
		return 0;
	for (u32 i = 0; i < KP_WHERE_MAX; i++) {
		if (i >= w->n)
			break;
		if (w->c[i].first) {
			if (holds)
				return 1;
			holds = true;
		}
		if (holds && !condition_holds(w, i, image))
			holds = false;
	}
	return holds;
}

/*
 * The first words of the tracepoint's record are read through bpf_rdonly_cast(): a read
 * from an address that is not mapped gives 0.  The cast wants a type of the kernel's that
 * begins with nothing but words: struct pt_regs is one.  Kernels before 6.2 have no such
 * cast: there bpf_probe_read_kernel() reads, whose call costs more than its work.
 */
#define RAW_WORDS	(KP_WORDS_FROM / 8)
#define RAW_SIZE	KP_WORDS_FROM

KERNEL_CALL(const u64 *, bpf_rdonly_cast, u64 address, u64 type);

struct scratch {
	u64 ctx;
	u64 raw[2 * RAW_WORDS + 1];
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

/* n bytes, RAW_SIZE at most; what follows them stays. */
static __always_inline void copy_words(u8 *to, const u8 *from, u32 n)
{
	u64 keep;
	u32 i;

	for (i = 0; i < RAW_WORDS; i++) {
		if (8 * i + 8 > n)
			break;
		*(u64 *)(to + 8 * i) = *(const u64 *)(from + 8 * i);
	}
	if ((n & 7) == 0 || i >= RAW_WORDS)
		return;
	keep = ~0ull << 8 * (n & 7);
	*(u64 *)(to + 8 * i) = (*(u64 *)(to + 8 * i) & keep) |
	    (*(const u64 *)(from + 8 * i) & ~keep);
}

/* 'raw' is the array among the words that have been read, or NULL. */
static __always_inline void copy_array(u8 *image, u32 *at, const struct kp_op *op, u64 from,
    u32 n, const u8 *raw)
{
	u32 rec = *at & (KP_IMAGE_MAX - 1) & ~7u;

	if (n > KP_TEXT_MAX)
		n = KP_TEXT_MAX;
	if (raw != NULL && import_room(*at)) {
		copy_words(image + rec + 8, raw, n);
		import_append(image, at, op->to, n, state.record_tag[op->type & 15]);
		return;
	}
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
	const u8 *raw = NULL;
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
	loc = op->kind >= KP_OP_LOC_STRING ? sizeof loc : op->size;
	if (op->from + loc <= 8u * row->read)
		raw = (const u8 *)s->raw + (op->from & (RAW_SIZE - 1));
	barrier_var(raw);
	if (op->kind == KP_OP_COPY && raw != NULL) {
		copy_words(s->image + (op->to & (KP_FIXED_MAX - 1)), raw, loc);
		return at;
	}
	if (op->kind == KP_OP_COPY) {
		bpf_probe_read_kernel(s->image + (op->to & (KP_FIXED_MAX - 1)),
		    loc & (KP_FIXED_MAX - 1), (void *)from);
		return at;
	}
	if (op->kind >= KP_OP_LOC_STRING) {
		if (raw != NULL)
			loc = *(const u32 *)raw;
		else if (bpf_probe_read_kernel(&loc, sizeof loc, (void *)from) != 0)
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
		copy_array(s->image, &at, op, from, loc, op->kind == KP_OP_ARRAY ? raw : NULL);
	return at;
}

static __always_inline void read_words(struct scratch *s, const void *ctx, u32 n)
{
	const u64 *from = call_bpf_rdonly_cast((u64)ctx, cast_type);

	/* The first word is not the record's. */
	for (u32 i = 1; i < RAW_WORDS; i++) {
		if (i >= n)
			break;
		s->raw[i] = from[i];
	}
}

/* Makes an event whose members always lie at the same places. */
static __always_inline void put_words(struct scratch *s, const struct kp_import_row *row)
{
	const struct kp_word *w;
	u64 v = 0, part;

	for (u32 i = 0; i < KP_WORDS_MAX; i++) {
		if (i >= row->words)
			break;
		w = &row->word[i];
		part = *(const u64 *)((const u8 *)s->raw + (w->from & (RAW_SIZE - 1)));
		part = part >> (w->below & 63) << (w->below & 63);
		part = part << (w->above & 63) >> (w->above & 63);
		v = (v & -(u64)w->again) | part | w->fixed;
		*(u64 *)(s->image + (w->to & (KP_FIXED_MAX - 8))) = v;
	}
}

static __always_inline u32 put_operations(struct scratch *s, struct kp_import_row *row,
    void *ctx)
{
	u32 at = row->size;

	*(volatile u64 *)&s->ctx = (u64)ctx;
	for (u32 i = 0; i < KP_OPS_MAX; i++) {
		if (i >= row->ops)
			break;
		at = tracepoint_op(row, i, at);
	}
	return at;
}

/* The programs return 1 in any case, for the tracepoint's other listeners. */
static __always_inline int tracepoint_event(void *ctx, const bool cast)
{
	struct import_hit h;
	struct scratch *s;
	u32 zero = 0, n;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)))
		return 1;
	s = bpf_map_lookup_elem(&tracepoint_scratch, &zero);
	if (s == NULL)
		return 1;
	n = h.row->read;
	if (cast)
		read_words(s, ctx, n);
	else if (n > RAW_WORDS || bpf_probe_read_kernel(s->raw, 8 * n, ctx) != 0)
		return 1;
	if (h.row->whole != 0) {
		put_words(s, h.row);
		n = h.row->whole;
	} else
		n = put_operations(s, h.row, ctx);
	import_write(&h, s->image, n);
	return 1;
}

SEC("tp")
int import_tracepoint(void *ctx)
{
	return tracepoint_event(ctx, true);
}

SEC("tp")
int import_tracepoint_read(void *ctx)
{
	return tracepoint_event(ctx, false);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u8[KP_IMAGE_MAX + 2 * KP_TEXT_MAX + 1024]);
} mark_scratch SEC(".maps");

/* 0: slot, 1 and 2: addresses of the two strings in the calling process, 3 and 4: address and
   bytes of the numbers, which lie in the event behind the references to the strings.  Neither the
   filter nor a rate applies: a user wants this very event. */
SEC("raw_tp")
int import_mark(struct bpf_raw_tracepoint_args *ctx)
{
	u32 slot = ctx->args[0], zero = 0, at, first = sizeof(struct kp_event);
	struct kp_import_row *row = bpf_map_lookup_elem(&tnf_rows, &slot);
	struct import_hit h = { .row = row, .task = bpf_get_current_task_btf() };
	u8 *image = bpf_map_lookup_elem(&mark_scratch, &zero);

	if (row == NULL || !row->on || image == NULL)
		return 0;
	at = row->size;
	if (bpf_probe_read_user(image + first + 2 * sizeof(u32), ctx->args[4] & 127,
	    (void *)ctx->args[3]) != 0)
		return 0;
	import_string(image, &at, first, ctx->args[1], KP_TEXT_MAX, true);
	import_string(image, &at, first + sizeof(u32), ctx->args[2], KP_TEXT_MAX, true);
	return import_write(&h, image, at);
}
