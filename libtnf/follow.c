/*
 * follow.c - what is added to files while they are being written.
 *
 * The first pass leaves for each block how far it was read.  A refresh walks
 * on from there; a block of another generation is walked from its start.  The
 * events found wait in one list ordered by time until they are old enough
 * that nothing earlier is still on its way.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnf/event.h"
#include "libtnf/follow.h"
#include "libtnf/stream_impl.h"

TNF_API void
tnf_stream_follow(tnf_stream_t *s)
{
	s->follow.on = true;
	s->follow.handed_out = INT64_MIN;
}

bool
follow_file(struct tnf_file *f)
{
	f->seen = calloc((size_t)(f->bytes.size >> f->block_shift) + 1,
	    sizeof *f->seen);
	f->cursor = f->ext.data_cursor;
	return f->seen != NULL;
}

void
follow_lost(struct tnf_file *f, uint32_t off, uint32_t generation)
{
	struct seen *seen = f->seen == NULL ? NULL :
	    &f->seen[off >> f->block_shift];

	if (seen != NULL && seen->lost == generation)
		return;
	if (seen != NULL)
		seen->lost = generation;
	f->lost++;
}

static int
wait_for(struct follow *fo, const struct walk *w, const struct event_clock *c,
    int64_t time)
{
	size_t room = fo->room == 0 ? 1024 : 2 * fo->room;
	struct waiting *p;

	if (fo->n == fo->room) {
		if ((p = realloc(fo->list, room * sizeof *p)) == NULL)
			return TNF_ERR_ALLOCFAIL;
		fo->list = p;
		fo->room = room;
	}
	fo->list[fo->n++] = (struct waiting){ time, *w, c->sched };
	return 0;
}

/* The records of a block behind what has been read; not damage: the writer may
   be at work in it. */
static int
take_rest(tnf_stream_t *s, struct tnf_file *f, uint32_t off,
    struct tnf_progress *ret)
{
	struct seen *seen = &f->seen[off >> f->block_shift];
	struct event_clock clock = { 0 };
	enum walk_status r;
	struct walk w;
	int64_t time;
	int err;

	if (walk_start(&w, f, off) != WALK_RECORD)
		return 0;
	if (w.generation == seen->generation && seen->used > f->block_header_size)
		w.next = off + seen->used;
	seen->generation = w.generation;
	seen->used = w.end - off;
	while ((r = walk_next(&w)) >= WALK_RECORD) {
		if (r != WALK_RECORD || !walk_is_event(&w) || event_time(&clock, &w, &time) != EVENT_OK)
			continue;
		if (time < s->follow.handed_out)
			ret->late++;
		ret->events++;
		if ((err = wait_for(&s->follow, &w, &clock, time)) != 0)
			return err;
	}
	return 0;
}

/*
 * Blocks that were taken since the last look and again before this one: of those
 * that a kernel has taken, its generation tells which; what is not there is gone.
 */
static uint64_t
kernel_missed(const struct tnf_file *f, uint64_t gone)
{
	uint64_t off, there = 0;
	uint32_t generation;

	for (off = f->data_start; off < f->bytes.size; off += f->block_size) {
		generation = file_block(f, (uint32_t)off).generation;
		if (generation != TNF_GENERATION_FREE && generation != TNF_GENERATION_TAG)
			there += ((generation - 1 - (uint32_t)f->cursor) &
			    TNF_GENERATION_AGES) < gone;
	}
	return gone > there ? gone - there : 0;
}

/* The same of a process: its threads may hold blocks over several laps. */
static uint64_t
process_missed(const struct tnf_file *f, uint64_t gone)
{
	uint64_t data = (f->bytes.size - f->ext.data_start) >> f->block_shift;

	return gone > data ? gone - data : 0;
}

/* Both tell how many blocks have been handed out in all. */
static uint64_t
blocks_missed(struct tnf_file *f)
{
	uint64_t now, gone, missed = 0;

	if (!f->has_ext)
		return 0;
	now = file_cursor(f);
	gone = now - f->cursor;
	if (gone < TNF_GENERATION_AGES)
		missed = f->ext.kind == TNF_EXT_KERNEL ? kernel_missed(f, gone) :
		    process_missed(f, gone);
	f->cursor = now;
	return missed;
}

static int
refresh_file(tnf_stream_t *s, struct tnf_file *f, struct tnf_progress *ret)
{
	uint64_t off;
	int err;

	ret->blocks_missed += blocks_missed(f) + f->lost;
	f->lost = 0;
	for (off = f->data_start; off < f->bytes.size; off += f->block_size) {
		const struct seen *seen = &f->seen[off >> f->block_shift];
		struct block b = file_block(f, (uint32_t)off);

		/* Without a generation it is on its way to its next use. */
		if (b.generation == TNF_GENERATION_FREE ||
		    (b.generation == seen->generation && b.used == seen->used))
			continue;
		if ((err = take_rest(s, f, (uint32_t)off, ret)) != 0)
			return err;
	}
	return 0;
}

static int
by_time(const void *a, const void *b)
{
	const struct waiting *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	if (p->walk.file != q->walk.file)
		return p->walk.file->number < q->walk.file->number ? -1 : 1;
	return p->walk.pos < q->walk.pos ? -1 : p->walk.pos > q->walk.pos;
}

TNF_API int
tnf_stream_refresh(tnf_stream_t *s, int64_t until, struct tnf_progress *ret)
{
	struct follow *fo = &s->follow;
	unsigned i;
	int err;

	*ret = (struct tnf_progress){ 0 };
	if (fo->at > 0)
		memmove(fo->list, fo->list + fo->at,
		    (fo->n - fo->at) * sizeof *fo->list);
	fo->n -= fo->at;
	fo->at = 0;
	for (i = 0; i < s->n_files; i++)
		if (s->files[i]->seen != NULL &&
		    (err = refresh_file(s, s->files[i], ret)) != 0)
			return err;
	if (fo->n > 1)
		qsort(fo->list, fo->n, sizeof *fo->list, by_time);
	fo->until = until;
	return 0;
}

int
follow_next(struct follow *fo, int64_t *time, const struct sched **sched,
    const struct walk **walk)
{
	struct waiting *e;

	while (fo->at < fo->n && fo->list[fo->at].time <= fo->until) {
		e = &fo->list[fo->at++];
		/* Taken over while it waited: it is gone. */
		if (file_block(e->walk.file, e->walk.block).generation !=
		    e->walk.generation) {
			follow_lost(e->walk.file, e->walk.block, e->walk.generation);
			continue;
		}
		*time = fo->handed_out = e->time;
		*sched = &e->sched;
		*walk = &e->walk;
		return 1;
	}
	return 0;
}

void
follow_done(struct follow *fo)
{
	free(fo->list);
	memset(fo, 0, sizeof *fo);
}
