/*
 * event.c - the records of a block one after another, and each event's time and thread.
 */
#include "libtnf/file.h"

/* The schedule record that the event at 'w' names. */
static enum event_status
find_sched(const struct walk *w, uint32_t *pos)
{
	uint32_t near = w->pos + (uint32_t)(int16_t)(w->word & 0xfffc);

	/* Mostly it stands before the event in this block. */
	if (near - w->block < w->pos - w->block &&
	    (bytes_u32_inside(&w->file->bytes, near) & TNF_REF32_T_MASK) != TNF_REF32_T_FULL) {
		*pos = near;
		return EVENT_OK;
	}
	switch (tnf_ref_pair_arg(w->file, w->pos, w->word, pos)) {
	case REF_OK:
		return EVENT_OK;
	case REF_NULL:
		return EVENT_LOST;
	case REF_BAD:
		break;
	}
	tnf_file_fail(w->file, w->pos, "an event's schedule reference is bad");
	return EVENT_BAD;
}

enum event_status
tnf_event_time(struct event_clock *c, const struct walk *w, int64_t *time)
{
	struct tnf_file *f = w->file;
	const struct sched *s;
	enum event_status r;
	uint32_t pos;

	if ((r = find_sched(w, &pos)) != EVENT_OK)
		return r;
	if (w->type->delta == 0) {
		tnf_file_fail(f, w->pos, "an event without time_delta");
		return EVENT_BAD;
	}
	if (c->sched_pos != pos) {
		if ((s = tnf_sched_at(f, pos)) == NULL)
			return EVENT_BAD;
		c->sched = *s;
		c->sched_pos = pos;
	}
	*time = (int64_t)((uint64_t)c->sched.base +
	    bytes_u32(&f->bytes, (uint64_t)w->pos + w->type->delta));
	return EVENT_OK;
}

TNF_API bool
tnf_event_there(const struct tnf_event *ev)
{
	struct tnf_file *f = ev->file;
	struct block b = file_block(f, file_block_off(f, ev->pos));
	struct walk w = { .file = f, .block = b.off, .generation = b.generation, .next = ev->pos,
	    .end = b.off + b.used };
	struct event_clock clock = { 0 };
	int64_t time;

	/* The caller has read values of the event already: the fence keeps these loads before
	   the loads of this look. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return bytes_has(&f->bytes, b.off, b.used) && walk_next(&w) == WALK_RECORD &&
	    w.pos == ev->pos && walk_is_event(&w) &&
	    w.type->probe == ev->probe && tnf_event_time(&clock, &w, &time) == EVENT_OK &&
	    file_shifted(f, time) == ev->time;
}

#define CACHED	256u
/* 146 years: the difference of two events' times cannot overflow. */
#define TIME_MAX	((INT64_C(1) << 62) - (INT64_C(1) << 33))

struct sched_cache {
	struct sched at[CACHED];	/* by offset; pos 0: free */
};

struct sched_cache *
tnf_sched_cache_new(void)
{
	return calloc(1, sizeof(struct sched_cache));
}

void
tnf_sched_cache_free(struct sched_cache *c)
{
	free(c);
}

/* An integer member of 32 or 64 bits; 'none' if it is absent or of any other type. */
static int64_t
schedule_integer(const struct tnf_file *f, uint32_t pos, const struct tnf_member *m,
    int64_t none)
{
	if (m->type == NULL)
		return none;
	switch (m->type->kind) {
	case TNF_K_INT64:
	case TNF_K_UINT64:
		return (int64_t)bytes_u64(&f->bytes, (uint64_t)pos + m->offset);
	case TNF_K_UINT32:
		return bytes_u32(&f->bytes, (uint64_t)pos + m->offset);
	case TNF_K_INT32:
		return (int32_t)bytes_u32(&f->bytes, (uint64_t)pos + m->offset);
	default:
		return none;
	}
}

static void
schedule_find(const struct type *t, const char *name, struct tnf_member *m)
{
	const struct tnf_member *s = tnf_type_slot(t, name);

	if (s != NULL)
		*m = *s;
}

static void
schedule_learn(struct type *t)
{
	struct sched_layout *l = &t->sched;

	schedule_find(t, "tid", &l->tid);
	schedule_find(t, "lwpid", &l->lwpid);
	schedule_find(t, "pid", &l->pid);
	schedule_find(t, "time_base", &l->base);
	schedule_find(t, "cpuid", &l->cpu);
	l->usable = l->base.type != NULL && l->tid.type != NULL;
	l->kernel = l->usable &&
	    strcmp(l->tid.type->name, "tnf_kthread_id") == 0;
	l->known = true;
}

static bool
read_sched(struct tnf_file *f, uint32_t pos, struct sched *s)
{
	struct type *t = tnf_type_of_record(f, pos);

	if (t == NULL)
		return false;
	if (!t->sched.known)
		schedule_learn(t);
	const struct sched_layout *l = &t->sched;
	if (!l->usable)
		return tnf_file_fail(f, pos, "event without a schedule record");
	s->base = schedule_integer(f, pos, &l->base, 0);
	s->tid = (uint64_t)schedule_integer(f, pos, &l->tid, 0);
	s->lwpid = (uint32_t)schedule_integer(f, pos, &l->lwpid, 0);
	s->pid = (int32_t)schedule_integer(f, pos, &l->pid, 0);
	s->cpu = (int32_t)schedule_integer(f, pos, &l->cpu, -1);
	s->kernel = l->kernel;
	/* Behind cpuid, where the original has padding. */
	if (f->has_ext && s->kernel && f->block_header_size == sizeof(struct tnf_block_header))
		s->block = bytes_u32(&f->bytes, (uint64_t)pos +
		    offsetof(struct tnf_kernel_schedule, number));
	if (s->base < -TIME_MAX || s->base > TIME_MAX)
		return tnf_file_fail(f, pos, "a schedule record has an impossible time");
	return true;
}

const struct sched *
tnf_sched_at(struct tnf_file *f, uint32_t pos)
{
	struct sched *s = &f->scheds->at[(pos >> 3) % CACHED];
	uint32_t generation = file_generation(f, file_block_off(f, pos));
	struct sched n = { .pos = pos, .generation = generation };

	if (s->pos == pos && s->generation == generation)
		return s;
	if (!read_sched(f, pos, &n))
		return NULL;
	*s = n;
	return s;
}

static enum walk_status
bad_at(struct walk *w, uint32_t pos, uint64_t cause, const char *why)
{
	tnf_file_fail_at(w->file, pos, cause, why);
	w->next = w->end;
	return WALK_BAD;
}

static enum walk_status
walk_bad(struct walk *w, uint32_t pos, const char *why)
{
	return bad_at(w, pos, pos, why);
}

/* The block begins with a record of the right type. */
static enum walk_status
check_header(struct walk *w, uint32_t off)
{
	struct tnf_file *f = w->file;
	const struct type *t = tnf_type_of_record(f, off);

	if (t == NULL)
		return bad_at(w, off, f->cause, f->why);
	if (t == f->block_type)
		return WALK_RECORD;
	if (strcmp(t->pub.name, "tnf_block_header") != 0)
		return bad_at(w, off, t->pos, "it has no block header");
	if (t->pub.size != f->block_header_size)
		return bad_at(w, off, t->pos,
		    "the file's header and the type tnf_block_header disagree");
	f->block_type = t;
	return WALK_RECORD;
}

/* The type is bad, but the record's size is known: so the records behind it can be read. */
static enum walk_status
walk_unreadable(struct walk *w, uint32_t pos, uint32_t word)
{
	uint64_t cause = w->file->cause;
	const char *why = w->file->why;
	uint32_t size = tnf_type_extent(w->file, pos, word);

	if (size == 0 || size > w->end - pos)
		return bad_at(w, pos, cause, why);
	tnf_file_fail_at(w->file, pos, cause, why);
	w->next = pos + size;
	return WALK_UNREADABLE;
}

/* Never used: zeros, or a kernel's preset header.  A lap 0 with records in it
   is damage that leaves them readable. */
static bool
walk_is_unused(const struct tnf_file *f, const struct block *b)
{
	return (b->generation == TNF_GENERATION_FREE ||
	    bytes_u32(&f->bytes, b->off) == 0) &&
	    b->used <= f->block_header_size;
}

enum walk_status
tnf_walk_start(struct walk *w, struct tnf_file *f, uint32_t off)
{
	struct block b = file_block(f, off);

	*w = (struct walk){ .file = f, .block = off,
	    .generation = b.generation };
	if (walk_is_unused(f, &b))
		return WALK_END;
	if (check_header(w, off) != WALK_RECORD)
		return WALK_BAD;
	if (b.used > f->block_size)
		return walk_bad(w, off, "more bytes are used than a block has");
	/* A block that has just been taken has 0 bytes used. */
	if (b.used != 0 && b.used < f->block_header_size)
		return walk_bad(w, off, "fewer bytes are used than its header has");
	if (!bytes_has(&f->bytes, off, b.used))
		return walk_bad(w, off, "it lies behind the end of the file");
	w->next = off + f->block_header_size;
	w->end = off + b.used;
	return WALK_RECORD;
}

enum walk_status
tnf_walk_next(struct walk *w)
{
	struct tnf_file *f = w->file;
	uint32_t pos = w->next, word = 0, size;

	/* Padding and forwarding words. */
	while (pos < w->end && ((word = bytes_u32(&f->bytes, pos)) &
	    TNF_REF32_T_MASK) == TNF_REF32_T_FULL)
		pos += 4;
	if (pos >= w->end) {
		w->next = pos;
		return WALK_END;
	}
	if ((word & TNF_REF32_T_MASK) == TNF_REF32_T_RESERVED)
		return walk_bad(w, pos, "no record where one should be");
	if ((w->type = table_known(f->types, word)) == NULL &&
	    (w->type = tnf_type_of_tag(f, pos, word)) == NULL)
		return walk_unreadable(w, pos, word);
	if ((size = walk_size(f, w->type, pos)) == 0)
		return walk_bad(w, pos, "a record has an impossible size");
	if (size > w->end - pos)
		return walk_bad(w, pos, "a record reaches beyond what is used");
	w->pos = pos;
	w->word = word;
	w->next = pos + size;
	return WALK_RECORD;
}
