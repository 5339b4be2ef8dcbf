/*
 * operand.bpf.h - from registers, or a raw tracepoint's arguments, and what these lead to, to the
 * image of an event.
 *
 * operand.h describes the members; a probe's are in the map tnf_sites, in a row for each of
 * its places.
 */
#ifndef KERNEL_PROBES_OPERAND_BPF_H
#define KERNEL_PROBES_OPERAND_BPF_H

#include "kernel-probes/import.bpf.h"
#include "kernel-probes/operand.h"

struct site_scratch {
	u64 regs[KP_R_ROOM];	/* words that nobody fills stay 0 */
	u64 value[16];		/* of the arguments */
	u32 unread;		/* bits of those that led nowhere */
	u8  image[KP_IMAGE_MAX + 2 * KP_TEXT_MAX + 16];
};

struct kp_map_sites {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct kp_site_row);
};

extern struct kp_map_sites tnf_sites SEC(".maps");

enum how {			/* how an operand is read */
	PLAIN,			/* numbers in registers alone */
	QUICK,			/* from memory, if it is there */
	WAITING,		/* from memory, also if the page has to be fetched */
	KERNEL			/* from the kernel's memory */
};

/* n bytes of memory, 8 at most; false, and 0, where nothing is.  A mask is a limit that each
   kernel's check understands, whatever the compiler makes of it. */
static __always_inline bool site_word(u64 at, u32 n, u64 *ret, const enum how how)
{
	u64 v[2] = { 0 };
	bool there;

	n &= sizeof v - 1;
	if (how == KERNEL)
		there = bpf_probe_read_kernel(v, n, (void *)at) == 0;
	else
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

static __always_inline u64 evaluate(const struct site_scratch *s, const struct kp_operand *o,
    const enum how how)
{
	u64 v = s->regs[o->base & (KP_R_ROOM - 1)];

	if (o->shift != 0)
		v >>= 8;
	v += s->regs[o->index & (KP_R_ROOM - 1)] * o->scale + (u64)o->offset;
	if (how != PLAIN && o->kind == KP_OPERAND_MEMORY)
		site_word(v, o->size, &v, how);
	return extend(v, o->size, o->sign);
}

/* Fetches a page that is not in memory before it reads the string. */
static __always_inline void store_text(struct site_scratch *s, u32 *at,
    const struct kp_operand *o, u64 from, u64 max, const enum how how)
{
	u32 to = o->at & (KP_FIXED_MAX - 4);
	char byte;

	if (from == 0) {
		import_null(s->image, to);
		return;
	}
	import_string(s->image, at, to, from, max, how != KERNEL);
	if (how != WAITING || *(u32 *)(s->image + to) != 0 || !import_room(*at) ||
	    bpf_copy_from_user(&byte, 1, (void *)from) != 0)
		return;
	import_string(s->image, at, to, from, max, true);
}

/* A tracepoint's record has this text where a pointer to text is NULL. */
static __always_inline void store_no_text(struct site_scratch *s, u32 *at,
    const struct kp_operand *o)
{
	u32 rec = *at & (KP_IMAGE_MAX - 1) & ~7u;

	if (!import_room(*at))
		return;
	*(u64 *)(s->image + rec + 8) = 0x296c6c756e28;		/* "(null)" */
	import_append(s->image, at, o->at & (KP_FIXED_MAX - 4), sizeof "(null)",
	    state.record_tag[KP_R_STRING]);
}

static __always_inline void store(struct site_scratch *s, const struct kp_operand *o, u64 v)
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
static __always_inline u64 follow(struct site_scratch *s, const struct kp_hops *way, u32 i,
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
		    !site_word(v + way->off[k], last ? way->size : 8, &v, how))) {
			s->unread |= 1u << (i & 31);
			return 0;
		}
		if (last)
			return way->size == 0 ? v + way->off[k] : extend(v, way->size, way->sign);
	}
	return v;
}

/* Reads operand i of a place. */
static __always_inline u64 site_value(struct site_scratch *s, const struct kp_site_row *site,
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
static __always_inline u64 site_store(struct site_scratch *s, const struct kp_site_row *site,
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
	if (how == KERNEL && o->limit != 0)
		max = o->limit;
	if (how == KERNEL && o->text == KP_TEXT_OR_NULL && s->value[i] == 0) {
		store_no_text(s, &at, o);
		return at;
	}
	store_text(s, &at, o, s->value[i], max, how);
	if (how == KERNEL && s->value[i] != 0 && *(u32 *)(s->image + (o->at & (KP_FIXED_MAX - 4))) == 0)
		s->unread |= 1u << (i & 31);
	return at;
}

/*
 * Three functions for one way to read: the last makes the image of the event, whose members end
 * at 'fixed', and returns its size.  The verifier checks the first two by themselves (README),
 * and refuses those that wait for programs that cannot wait.
 */
#define SITE_FUNCTIONS(way, how)							\
__noinline u64 site_value_##way(struct site_scratch *s, struct kp_site_row *site, u32 i) \
{											\
	return site_value(s, site, i, how);						\
}											\
__noinline u64 site_store_##way(struct site_scratch *s, struct kp_site_row *site,	\
    u32 i, u32 at)									\
{											\
	return site_store(s, site, i, at, how);						\
}											\
static __always_inline u32 put_together_##way(struct site_scratch *s,			\
    struct kp_site_row *site, u32 fixed)						\
{											\
	u32 at = fixed & (KP_FIXED_MAX - 8);						\
											\
	/* Between members may be bytes that nobody writes. */				\
	for (u32 i = 1; i <= KP_OPERANDS_MAX + 1; i++)					\
		*(u64 *)(s->image + 8 * i) = 0;						\
	s->unread = 0;									\
	for (u32 i = 0; i < KP_OPERANDS_MAX && i < site->n; i++)			\
		site_value_##way(s, site, i);						\
	for (u32 i = 0; i < KP_OPERANDS_MAX && i < site->n; i++)			\
		at = site_store_##way(s, site, i, at);					\
	if (site->unread_at != 0)							\
		*(u32 *)(s->image + (site->unread_at & (KP_FIXED_MAX - 4))) = s->unread; \
	return at;									\
}

/* The same for numbers in registers alone. */
#define PLAIN_FUNCTIONS(way)								\
__noinline int site_plain_##way(struct site_scratch *s, struct kp_import_row *row, u32 i)	\
{											\
	const struct kp_operand *o;							\
											\
	if (s == NULL || row == NULL || i >= KP_PLAIN_MAX)				\
		return 0;								\
	o = (const struct kp_operand *)row->op + i;					\
	if (o->at != 0)									\
		store(s, o, evaluate(s, o, PLAIN));					\
	return 0;									\
}											\
static __always_inline u32 put_plain_##way(struct site_scratch *s,			\
    struct kp_import_row *row)								\
{											\
	/* Between members may be bytes that nobody writes. */				\
	for (u32 i = 1; i <= KP_PLAIN_MAX; i++) {					\
		if (8 * i >= row->size)							\
			break;								\
		*(u64 *)(s->image + 8 * i) = 0;						\
	}										\
	for (u32 i = 0; i < KP_PLAIN_MAX && i < row->ops; i++)				\
		site_plain_##way(s, row, i);						\
	return row->size & (KP_FIXED_MAX - 8);						\
}

#endif /* KERNEL_PROBES_OPERAND_BPF_H */
