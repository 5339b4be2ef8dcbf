/*
 * import.bpf.h - from an image of an imported probe's event to a record (import.h).
 *
 * An image is an event as it will lie in the buffer, but for its first 8 bytes:
 * the members, and behind them the records that these refer to.  A program
 * puts it together in memory of its own, because its size is known only afterwards, and
 * then copies it into the buffer as a whole.
 */
#ifndef KERNEL_PROBES_IMPORT_BPF_H
#define KERNEL_PROBES_IMPORT_BPF_H

#include "kernel-probes/write.bpf.h"

struct kp_map_rows {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_import_row);
};

struct kp_map_counts {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_import_count);
};

struct kp_map_where {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_where);
};

struct kp_image {
	u8 byte[KP_IMAGE_MAX];
};

/* Nonzero if the conditions of a probe hold for an image of its event. */
int where_holds(u32 slot, struct kp_image *image);

extern struct kp_map_where tnf_where SEC(".maps");
extern struct kp_map_rows tnf_rows SEC(".maps");
extern struct kp_map_counts tnf_counts SEC(".maps");

/* A hit of a probe.  It keeps the answers of helpers, since each call costs some 9 ns. */
struct import_hit {
	struct kp_import_row *row;
	struct task_struct *task;	/* the current one */
	u64 time;			/* 0: the clock was not read */
	void *ctx;			/* of a tracepoint's program, or NULL */
	bool is_record;			/* it is the tracepoint's record */
};

/* True if one more event may be recorded in this window of time.  Counts those left out. */
static __always_inline bool import_rate(struct import_hit *h, struct kp_import_count *c)
{
	u32 rate = h->row->rate;
	u64 window;

	if (rate == 0)
		return true;
	h->time = bpf_ktime_get_ns();
	window = h->time >> KP_WINDOW_SHIFT;
	if (c->window != window) {
		c->window = window;
		c->in_window = 0;
	}
	if (c->in_window >= rate) {
		c->omitted++;
		return false;
	}
	c->in_window++;
	return true;
}

/* True if the probe records now, here, and at this rate.  Counts the hit.  If the probe has
   conditions, import_passes() applies the rate to the events that meet them.  'ctx' is a
   tracepoint's record, or NULL; a raw tracepoint's program changes is_record. */
static __always_inline bool import_on(struct import_hit *h, void *ctx, u32 slot)
{
	struct kp_import_count *c;

	h->time = 0;
	h->ctx = ctx;
	h->is_record = ctx != NULL;
	h->row = bpf_map_lookup_elem(&tnf_rows, &slot);
	if (h->row == NULL || !h->row->on || !probe_is_on(KP_IMPORTED))
		return false;
	h->task = bpf_get_current_task_btf();
	if (state.filter && !filter_holds(filter_key(h->task)))
		return false;
	c = bpf_map_lookup_elem(&tnf_counts, &slot);
	if (c == NULL)
		return false;
	c->hits++;
	return h->row->where != 0 || import_rate(h, c);
}

static __always_inline bool import_passes(struct import_hit *h, void *image)
{
	struct kp_import_count *c;
	u32 slot = h->row->slot;

	if (h->row->where == 0)
		return true;
	c = bpf_map_lookup_elem(&tnf_counts, &slot);
	return c != NULL && where_holds(slot, image) && import_rate(h, c);
}

/*
 * Appends a record of n bytes, which lie at image + *at + 8 already, and refers to it
 * at 'to'.  Bytes up to the next multiple of 8 become 0.
 */
static __always_inline void import_append(u8 *image, u32 *at, u32 to, u32 n, u32 tag)
{
	u32 rec = *at & (KP_IMAGE_MAX - 1) & ~7u, end;

	n &= 511;
	*(u64 *)(image + rec + 8 + n) = 0;
	*(u32 *)(image + rec) = tag;
	*(u32 *)(image + rec + 4) = 8 + ((n + 3) & ~3u);
	*(u32 *)(image + (to & (KP_FIXED_MAX - 4))) = rec - to;
	end = rec + 8 + n;
	*at = (end + 7) & ~7u;
}

/* Puts a null reference at 'to': there is no record. */
static __always_inline void import_null(u8 *image, u32 to)
{
	*(u32 *)(image + (to & (KP_FIXED_MAX - 4))) = 0;
}

static __always_inline bool import_room(u32 at)
{
	return at <= KP_IMAGE_MAX - 8 - KP_TEXT_MAX - 8;
}

/*
 * Appends the string at 'from', 'max' bytes of it at most, and refers to it at 'to'.
 * 'image' has room for KP_IMAGE_MAX bytes and KP_TEXT_MAX + 16 more; *at is where its
 * free part begins, a multiple of 8.  A string that is not there, or finds no room, is null.  A
 * string that 'max' or our own bound cuts off ends in "...".
 */
static __always_inline void import_string(u8 *image, u32 *at, u32 to, u64 from, u32 max,
    const bool user)
{
	u32 rec = *at & (KP_IMAGE_MAX - 1) & ~7u, size = max;
	long n;

	if (!import_room(*at)) {
		import_null(image, to);
		return;
	}
	if (size > KP_TEXT_MAX)
		size = KP_TEXT_MAX;
	if (user)
		n = bpf_probe_read_user_str(image + rec + 8, size, (void *)from);
	else
		n = bpf_probe_read_kernel_str(image + rec + 8, size, (void *)from);
	if (n < 0) {
		import_null(image, to);
		return;
	}
	/* 6.12, and others, do not count the NUL of a program's empty string. */
	if (n == 0) {
		image[rec + 8] = '\0';
		n = 1;
	}
	if (n == KP_TEXT_MAX && max > KP_TEXT_MAX) {
		image[rec + 8 + KP_TEXT_MAX - 4] = '.';
		image[rec + 8 + KP_TEXT_MAX - 3] = '.';
		image[rec + 8 + KP_TEXT_MAX - 2] = '.';
	}
	import_append(image, at, to, n, state.record_tag[KP_R_STRING]);
}

/* Up to so many bytes behind an event's head are copied by words: two helpers cost more. */
#define IMPORT_SHORT	128u

/* Copies by words; the verifier must be shown the bounds of each. */
static __always_inline void import_copy_long(const struct hit *hit, u64 off, const u64 *from,
    u32 n)
{
	for (u32 i = 0; i < KP_IMAGE_MAX / 8; i++) {
		if (8 * i >= n || off > KP_BLOCK_END - 8)
			break;
		barrier_var(i);
		*(u64 *)((void *)hit->block + off) = from[i & (KP_IMAGE_MAX / 8 - 1)];
		off += 8;
		barrier_var(off);
	}
}

/* Copies an event's members to 'off' in its block. */
static __always_inline void import_copy(const struct hit *hit, u64 off, void *members, u32 n)
{
	struct bpf_dynptr dynptr;
	const u64 *from = members;
	u64 *to;

	/* The verifier wants the register that is compared to be the one that is added. */
	__asm__ volatile ("" : "+r" (off));
	if (n <= IMPORT_SHORT && off <= KP_BLOCK_END - IMPORT_SHORT) {
		to = (void *)hit->block + off;
		for (u32 i = 0; i < IMPORT_SHORT / 8; i++) {
			if (8 * i >= n)
				break;
			to[i] = from[i];
		}
	} else if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_dynptr_write)) {
		import_copy_long(hit, off, from, n);	/* before 5.19 */
	} else if (bpf_dynptr_from_mem(hit->block, sizeof *hit->block, 0, &dynptr) == 0) {
		/* The compiler knows that it is less; the verifier has to be told. */
		__asm__ volatile ("" : "+r" (n));
		bpf_dynptr_write(&dynptr, off, members, n & (KP_IMAGE_MAX - 1), 0);
	}
}

/* Commits an image of 'size' bytes, a multiple of 8.  Returns 1, or 0: it was not written. */
static __always_inline int import_write(struct import_hit *h, void *image, u32 size)
{
	struct stack_ask ask = { .ctx = h->ctx, .tracepoint = h->is_record };
	struct kp_event *e;
	struct hit hit;

	if (size < sizeof *e || size > KP_IMAGE_MAX || !import_passes(h, image))
		return 0;
	ask.key = h->row->id;
	ask.of = h->row->stacks;
	e = event_begin_at(&hit, h->time != 0 ? h->time : bpf_ktime_get_ns(), h->task,
	    h->row->id, size, size, &ask);
	if (e == NULL)
		return 0;
	import_copy(&hit, (u64)e - (u64)hit.block + sizeof *e, image + sizeof *e,
	    size - sizeof *e);
	event_end(&hit);
	if (unlikely(h->row->on == KP_ROW_FREEZES))
		freeze(h->row->slot + 1, hit.time);
	return 1;
}

/* The same for a program that may have slept since its hit: it reads the clock anew. */
static __always_inline int import_write_late(struct import_hit *h, void *image, u32 size)
{
	h->time = 0;
	return import_write(h, image, size);
}

#endif /* KERNEL_PROBES_IMPORT_BPF_H */
