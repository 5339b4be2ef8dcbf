/*
 * value.c - strings and records that an event refers to.
 *
 * They follow the event in its block.  A value that has no room there goes into
 * further blocks, which the thread holds until the event is committed.
 */
#include "libtnfprobe/internal.h"

static const struct tnf_block_header *
block_of(const void *at)
{
	return header_of((const void *)((uintptr_t)at & ~(uintptr_t)(BLOCK_SIZE - 1)));
}

/* Distance in virtual space, where each lap lies behind the one before. */
static int64_t
value_distance(const struct thread *t, const void *from, const void *to)
{
	int64_t laps = (int64_t)block_of(to)->generation - (int64_t)block_of(from)->generation;

	return (laps << t->file->shift) + ((const char *)to - (const char *)from);
}

static bool
in_reach(int64_t d)
{
	return d > -REACH && d < REACH;
}

static void
value_fail(struct thread *t, enum fail how, enum tnf_lost why)
{
	if (!t->failed)
		tnf_lost(why);
	t->failed = how;
	t->odd = 1;
}

/* Returns the next block that the thread holds, or takes one more. */
static char *
next_held(struct thread *t)
{
	char *b;

	if (t->used < t->nheld) {
		b = t->held[t->used];
		if (in_reach(value_distance(t, t->block, b)))
			return b;
		/* The block is too old for use with this event. */
		t->held[t->used] = t->held[--t->nheld];
		signal_fence();
		tnf_block_give(header_of(b));
	}
	b = (char *)tnf_block_take(t, t->base + t->last);
	if (b != NULL && t->run_file != t->file) {
		/* The process has been given another file within this hit. */
		tnf_block_give(header_of(b));
		b = NULL;
	}
	if (b == NULL) {
		value_fail(t, FAIL_EVENT, tnf_block_why_none());
		return NULL;
	}
	t->held[t->nheld] = t->held[t->used];
	t->held[t->used] = b;
	t->nheld++;
	if (in_reach(value_distance(t, t->block, b)))
		return b;
	/* The thread has kept its block for so long that no reference can
	   lead from there to here.  The next event will find it gone. */
	value_fail(t, FAIL_BLOCK, TNF_LOST_TOO_LARGE);
	return NULL;
}

/* Counts a shortened value; the commit tells it in the file. */
void
tnf_value_shortened(struct thread *t)
{
	if (t->shortened < UINT8_MAX)
		t->shortened++;
	t->odd = 1;
}

static bool __attribute__((noinline, cold))
more_room(struct thread *t)
{
	int saved = errno;
	char *from, *b;

	if (t->failed)
		return false;
	if (t->used == HELD_MAX) {
		tnf_value_shortened(t);
		return false;
	}
	b = next_held(t);
	errno = saved;
	if (b == NULL)
		return false;
	from = t->used == 0 ? t->block : t->held[t->used - 1];
	t->fill[t->used] = (uint16_t)(t->next - from);
	t->used++;
	t->odd = 1;
	t->next = b + HEADER_SIZE;
	t->lim = b + BLOCK_SIZE;
	return true;
}

static inline tnf_reference_t
value_reference(struct thread *t, const tnf_reference_t *cell, const char *to)
{
	int64_t d;

	if (likely(t->used == 0))
		return (tnf_reference_t)(to - (const char *)cell);
	d = value_distance(t, cell, to);
	if (!in_reach(d)) {
		value_fail(t, FAIL_BLOCK, TNF_LOST_TOO_LARGE);
		return 0;
	}
	return (tnf_reference_t)d & ~TNF_REF32_PERMANENT;
}

char *
tnf_value_room(struct thread *t, uint32_t size)
{
	char *at;

	if ((size_t)(t->lim - t->next) < size && !more_room(t))
		return NULL;
	at = t->next;
	t->next += size;
	return at;
}

tnf_reference_t
tnf_value_reference(struct thread *t, const tnf_reference_t *cell, const char *to)
{
	return value_reference(t, cell, to);
}

/* The block is full of pieces, which are published before the event that refers to
   them; it makes room in the list of those that the hit has reached. */
bool
tnf_value_publish(struct thread *t)
{
	int saved = errno;
	char *full = t->held[t->used - 1], *b;

	__atomic_store_n(&header_of(full)->bytes_valid,
	    (uint16_t)(t->next - full), __ATOMIC_RELEASE);
	t->lim = t->next;
	tnf_block_chain(t, full);
	t->used--;
	t->held[t->used] = t->held[--t->nheld];
	signal_fence();
	b = next_held(t);
	errno = saved;
	if (b == NULL)
		return false;
	t->used++;
	t->next = b + HEADER_SIZE;
	t->lim = b + BLOCK_SIZE;
	return true;
}

/* Copies at most 'room' bytes; returns how many, the NUL not counted, or
   room if there was no NUL among them. */
static inline size_t
value_copy(char *to, const char *from, size_t room)
{
	size_t n;
	char *end;

	for (n = 0; n < room && n < 16; n++)
		if ((to[n] = from[n]) == '\0')
			return n;
	if (n == room)
		return n;
	end = (char *)memccpy(to + n, from + n, '\0', room - n);
	return end == NULL ? room : (size_t)(end - to) - 1;
}

/*
 * Events often have the same strings, most of all literals.  One that is in the
 * block already is referred to.  Strings are compared by pointer, and then by
 * characters: a program may have changed them.  The reference is a permanent one,
 * as original readers do not follow others backwards; the string is there as long
 * as the event, which is in the same block.
 */
static inline struct text *
text_of(struct thread *t, const char *s)
{
	uintptr_t n = (uintptr_t)s;

	return &t->texts[(n ^ n >> 3 ^ n >> 6) % TEXTS];
}

static inline bool
is_there(const struct thread *t, const struct text *c, const char *s, uint32_t tag)
{
	const char *at;
	size_t i, len;

	if (c->from != s || c->text_age != t->text_age ||
	    *(const uint32_t *)(const void *)c->at != tag)
		return false;
	at = c->at + 8;
	len = c->len;
	for (i = 0; i < len; i++)
		if (at[i] != s[i])
			return false;
	return s[len] == '\0';
}

static tnf_reference_t __attribute__((noinline))
put_text(struct thread *t, const char *s, tnf_reference_t *cell, uint32_t tag)
{
	struct text *c = text_of(t, s);
	uint32_t *r;
	size_t room, n, size;
	bool cut = false;

	for (;;) {
		r = (uint32_t *)(void *)t->next;
		room = (size_t)(t->lim - t->next);
		room = room < 16 ? 0 : room - 8;
		if (room > TNF_STRING_MAX + 1)
			room = TNF_STRING_MAX + 1;
		n = value_copy((char *)(r + 2), s, room);
		if (n < room)
			break;
		cut = room == TNF_STRING_MAX + 1;
		if (cut && (size_t)(t->lim - t->next) >= 8 + room + 8) {
			n = TNF_STRING_MAX;
			break;
		}
		if (!more_room(t))
			return 0;
	}
	/* Zeroes up to the next multiple of 8, the NUL among them. */
	size = (8 + n + 8) & ~(size_t)7;
	memset((char *)(r + 2) + n, 0, size - 8 - n);
	r[0] = tag;
	r[1] = (uint32_t)(8 + n + 4) & ~3u;
	if (unlikely(cut)) {
		r[size / 4] = TNF_STRING_CUT;
		r[size / 4 + 1] = 0;
		r[1] += 4;
		size += 8;
	}
	t->next += size;
	if (t->used == 0)
		*c = (struct text){ s, (char *)r, t->text_age, (uint32_t)n };
	return value_reference(t, cell, (char *)r);
}

static inline __attribute__((always_inline)) tnf_reference_t
find_or_put(struct tnf_probe_setup *setup, const char *s, tnf_reference_t *cell, uint32_t tag)
{
	struct thread *t = &tnf_t;
	const struct text *c = text_of(t, s);

	if (s == NULL || unlikely(t->setup != setup))
		return 0;
	if (t->used == 0 && is_there(t, c, s, tag))
		return PERMANENT(offset_of(t->file, c->at));
	return put_text(t, s, cell, tag);
}

tnf_reference_t
tnf_probe_string(struct tnf_probe_setup *setup, const char *s, tnf_reference_t *cell)
{
	return find_or_put(setup, s, cell, tnf_p.string_tag);
}

tnf_reference_t
tnf_probe_name(struct tnf_probe_setup *setup, const char *s, tnf_reference_t *cell)
{
	return find_or_put(setup, s, cell, tnf_p.name_tag);
}

static uint32_t __attribute__((noinline, cold))
value_define(const struct tnf_tag_data *data)
{
	int saved = errno;
	uint32_t index = tnf_define_record(data);

	errno = saved;
	return index;
}

void *
tnf_probe_record(struct tnf_probe_setup *setup,
    const struct tnf_tag_data *data, size_t size, tnf_reference_t *cell, tnf_reference_t *ref)
{
	struct thread *t = &tnf_t;
	uint32_t index = __atomic_load_n(&data->index, __ATOMIC_ACQUIRE);
	char *r;

	*ref = 0;
	size = (size + 7) & ~(size_t)7;
	if (unlikely(t->setup != setup))
		return NULL;
	if (unlikely(size > BLOCK_SIZE - HEADER_SIZE)) {
		tnf_value_shortened(t);
		return NULL;
	}
	if (unlikely(index == 0) && (index = value_define(data)) == 0)
		return NULL;
	if ((size_t)(t->lim - t->next) < size && !more_room(t))
		return NULL;
	r = t->next;
	t->next += size;
	*(uint32_t *)(void *)(t->next - 4) = 0;
	*(uint32_t *)(void *)r = TAG_OF(index);
	*ref = value_reference(t, cell, r);
	return r;
}
