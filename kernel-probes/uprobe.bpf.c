/*
 * uprobe.bpf.c - a probe in a program is hit: its arguments become an event.
 *
 * The map tnf_sites (operand.h) describes the arguments, in a row for each place of a probe.
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
#include "kernel-probes/import.bpf.h"
#include "kernel-probes/operand.h"

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

struct uprobe_scratch {
	u64 regs[KP_R_ROOM];	/* KP_R_COUNT words; the others stay 0 */
	u64 value[16];		/* of the arguments */
	u32 unread;		/* bits of those that led nowhere */
	u8  image[KP_IMAGE_MAX + 2 * KP_TEXT_MAX + 16];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct uprobe_scratch);
} tnf_scratch SEC(".maps");

/* The CPU's scratch memory, for programs that do not wait and are not preempted. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct uprobe_scratch);
} plain_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct kp_site_row);
} tnf_sites SEC(".maps");

enum how {			/* how an operand is read */
	PLAIN,			/* numbers in registers alone */
	QUICK,			/* from memory, if it is there */
	WAITING			/* from memory, also if the page has to be fetched */
};

/* n bytes of the program's memory, 8 at most; false, and 0, where nothing is.  A mask is a limit
   that each kernel's check understands, whatever the compiler makes of it. */
static __always_inline bool user_word(u64 at, u32 n, u64 *ret, const enum how how)
{
	u64 v[2] = { 0 };
	bool there;

	n &= sizeof v - 1;
	there = bpf_probe_read_user(v, n, (void *)at) == 0 ||
	    (how == WAITING && bpf_copy_from_user(v, n, (void *)at) == 0);
	*ret = there ? v[0] : 0;
	return there;
}

static __always_inline u64 extend(u64 v, u32 size, bool sign)
{
	u32 unused = 64 - 8 * (size & 15);

	if (unused > 56)
		return v;
	return sign ? (u64)((s64)(v << unused) >> unused) : v << unused >> unused;
}

static __always_inline u64 evaluate(const struct uprobe_scratch *s, const struct kp_operand *o,
    const enum how how)
{
	u64 v = s->regs[o->base & (KP_R_ROOM - 1)];

	if (o->shift != 0)
		v >>= 8;
	v += s->regs[o->index & (KP_R_ROOM - 1)] * o->scale + (u64)o->offset;
	if (how != PLAIN && o->kind == KP_OPERAND_MEMORY)
		user_word(v, o->size, &v, how);
	return extend(v, o->size, o->sign);
}

/* Fetches a page that is not in memory before it reads the string. */
static __always_inline void store_text(struct uprobe_scratch *s, u32 *at,
    const struct kp_operand *o, u64 from, u64 max, const enum how how)
{
	u32 to = o->at & (KP_FIXED_MAX - 4);
	char byte;

	if (from == 0) {
		import_null(s->image, to);
		return;
	}
	import_string(s->image, at, to, from, max, true);
	if (how != WAITING || *(u32 *)(s->image + to) != 0 || !import_room(*at) ||
	    bpf_copy_from_user(&byte, 1, (void *)from) != 0)
		return;
	import_string(s->image, at, to, from, max, true);
}

static __always_inline void store(struct uprobe_scratch *s, const struct kp_operand *o, u64 v)
{
	u8 *p = s->image + (o->at & (KP_FIXED_MAX - 1));

	switch (o->store) {
	case 1:
		*p = v;
		break;
	case 2:
		*(u16 *)(s->image + (o->at & (KP_FIXED_MAX - 2))) = v;
		break;
	case 4:
		*(u32 *)(s->image + (o->at & (KP_FIXED_MAX - 4))) = v;
		break;
	case 8:
		*(u64 *)(s->image + (o->at & (KP_FIXED_MAX - 8))) = v;
		break;
	}
}

/* Goes from argument i to a member, pointer by pointer. */
static __always_inline u64 follow(struct uprobe_scratch *s, const struct kp_hops *way, u32 i,
    const enum how how)
{
	u64 v = s->value[i];
	bool last;

	for (u32 k = 0; k < KP_HOPS_MAX; k++) {
		if (k >= way->n)
			break;
		last = k + 1 == way->n;
		/* A null pointer leads nowhere, also if something is mapped near address 0. */
		if (v == 0 || (!(last && way->size == 0) &&
		    !user_word(v + way->off[k], last ? way->size : 8, &v, how))) {
			s->unread |= 1u << (i & 31);
			return 0;
		}
		if (last)
			return way->size == 0 ? v + way->off[k] : extend(v, way->size, way->sign);
	}
	return v;
}

/* Reads operand i of a place. */
static __always_inline u64 site_value(struct uprobe_scratch *s, const struct kp_site_row *site,
    u32 i, const enum how how)
{
	if (s == NULL || site == NULL || i >= KP_OPERANDS_MAX)
		return 0;
	s->value[i] = evaluate(s, &site->v[i], how);
	if (site->hop[i].n != 0)
		s->value[i] = follow(s, &site->hop[i], i, how);
	return 0;
}

/* Puts operand i into the image, whose free part begins at 'at'; returns its new beginning. */
static __always_inline u64 site_store(struct uprobe_scratch *s, const struct kp_site_row *site,
    u32 i, u32 at, const enum how how)
{
	const struct kp_operand *o;
	u64 max = KP_TEXT_MAX + 1;		/* more than there may be */

	if (s == NULL || site == NULL || i >= KP_OPERANDS_MAX)
		return at;
	o = &site->v[i];
	if (o->at == 0)
		return at;
	if (o->text == KP_TEXT_NONE) {
		store(s, o, s->value[i]);
		return at;
	}
	if (o->text == KP_TEXT_COUNTED && s->value[i + 1] < KP_TEXT_MAX)
		max = s->value[i + 1] + 1;
	store_text(s, &at, o, s->value[i], max, how);
	return at;
}

/* The verifier checks each of these functions by itself (README), and refuses those that wait
   for programs that cannot wait. */
#define SITE_FUNCTIONS(way, how)							\
__noinline u64 site_value_##way(struct uprobe_scratch *s, struct kp_site_row *site, u32 i) \
{											\
	return site_value(s, site, i, how);						\
}											\
__noinline u64 site_store_##way(struct uprobe_scratch *s, struct kp_site_row *site,	\
    u32 i, u32 at)									\
{											\
	return site_store(s, site, i, at, how);						\
}

SITE_FUNCTIONS(quick, QUICK)
SITE_FUNCTIONS(waiting, WAITING)

/* Makes the image of the event; returns its size. */
static __always_inline u32 put_together(struct uprobe_scratch *s, struct kp_site_row *site,
    u32 fixed, const enum how how)
{
	u32 at = fixed & (KP_FIXED_MAX - 8);

	/* Between members may be bytes that nobody writes. */
	for (u32 i = 1; i <= KP_OPERANDS_MAX + 1; i++)
		*(u64 *)(s->image + 8 * i) = 0;
	s->unread = 0;
	for (u32 i = 0; i < KP_OPERANDS_MAX && i < site->n; i++)
		how == WAITING ? site_value_waiting(s, site, i) : site_value_quick(s, site, i);
	for (u32 i = 0; i < KP_OPERANDS_MAX && i < site->n; i++)
		at = how == WAITING ? site_store_waiting(s, site, i, at) :
		    site_store_quick(s, site, i, at);
	if (site->unread_at != 0)
		*(u32 *)(s->image + (site->unread_at & (KP_FIXED_MAX - 4))) = s->unread;
	return at;
}

/* The verifier wants each offset in the context as a constant. */
static __always_inline void take_registers(struct uprobe_scratch *s, const u64 *ctx)
{
#pragma unroll
	for (int i = 0; i < KP_R_COUNT; i++)
		s->regs[i] = ctx[i];
}

/* Writes an event of numbers in registers, for which the program need not wait. */
static __always_inline void plain_event(u64 *ctx, struct import_hit *h)
{
	struct kp_import_row *row = h->row;
	const struct kp_operand *o = (const void *)row->op;
	struct uprobe_scratch *s;
	u32 zero = 0;

	s = bpf_map_lookup_elem(&plain_scratch, &zero);
	if (s == NULL)
		return;
	take_registers(s, ctx);
	/* Between members may be bytes that nobody writes. */
	for (u32 i = 1; i <= KP_PLAIN_MAX; i++) {
		if (8 * i >= row->size)
			break;
		*(u64 *)(s->image + 8 * i) = 0;
	}
	for (u32 i = 0; i < KP_PLAIN_MAX && i < row->ops; i++)
		if (o[i].at != 0)
			store(s, &o[i], evaluate(s, &o[i], PLAIN));
	import_write_late(h, s->image, row->size & (KP_FIXED_MAX - 8));
}

static __always_inline int uprobe_event(u64 *ctx, const bool guarded, const enum how how)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	struct kp_site_row *site;
	struct uprobe_scratch *s;
	struct import_hit h;
	u32 size;

	if (!import_on(&h, NULL, (u32)cookie))
		return 0;
	if (h.row->plain) {
		if (guarded)
			bpf_preempt_disable();
		plain_event(ctx, &h);
		if (guarded)
			bpf_preempt_enable();
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
	size = put_together(s, site, h.row->size, how);
	if (guarded)
		bpf_preempt_disable();
	import_write_late(&h, s->image, size);
	if (guarded)
		bpf_preempt_enable();
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
