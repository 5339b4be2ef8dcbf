/*
 * follow.c - what is added to files while they are being written.
 *
 * The first pass leaves for each block how far it was read.  A refresh walks
 * on from there; a block of another generation is walked from its start.  The
 * events found wait in one list ordered by time until they are old enough
 * that nothing earlier is still on its way.  The latest events of the first pass wait,
 * too: that pass reads blocks and files one after another while writers go on, so a
 * block that was read later may hold newer events than one that was read earlier.
 *
 * In a process's file a refresh looks only at blocks that can have changed: those
 * whose numbers its writers have taken from the cursor since the last refresh, and
 * earlier ones that a writer still holds or has not come to use yet.
 */
#include "libtnf/stream_impl.h"

#define LAPS	0xfffffffeu	/* then generations begin again: libtnfprobe/block.c */
#define ROOM_MIN	1024u	/* events */
#define ROOM_LOOK	64u	/* refreshes */
#define AHEAD		12u	/* blocks */
#define EVENT_MIN	8u	/* bytes: its tag and its time_delta */

TNF_API void
tnf_stream_follow(tnf_stream_t *s)
{
	s->follow.on = true;
	s->follow.handed_out = INT64_MIN;
	s->follow.until = INT64_MAX;
	s->follow.asking = 1;
}

/* How many data blocks a process's file has: its cursor tells which of them were taken.
   0 for any other file, of which a refresh looks at every block. */
static uint64_t
numbered_blocks(const struct tnf_file *f)
{
	uint64_t start = f->ext.data_start;

	if (!f->has_ext || f->ext.kind != TNF_EXT_PROCESS || start < f->data_start ||
	    start >= f->bytes.size || f->block_header_size < sizeof(struct tnf_block_header))
		return 0;
	return (f->bytes.size - start) >> f->block_shift;
}

/* Has refreshes look at data block 'i' until a writer has used it in that lap. */
static void
look_at(struct tnf_file *f, uint64_t i, uint64_t lap)
{
	uint32_t off = (uint32_t)(f->ext.data_start + (i << f->block_shift));
	struct seen *seen = &f->seen[off >> f->block_shift];

	if (seen->due == 0)
		f->open[f->n_open++] = off;
	/* The writer counts laps like this: libtnfprobe/block.c. */
	seen->due = (uint32_t)(lap % LAPS) + 1;
}

/* Has refreshes look at the blocks of the numbers [from, to), which have been taken. */
static void
look_at_numbers(struct tnf_file *f, uint64_t from, uint64_t to)
{
	/* Writers give back numbers that they do not need, and take them again. */
	if (to <= from)
		return;
	if (to - from > f->n_numbered)
		from = to - f->n_numbered;
	for (uint64_t n = from; n < to; n++)
		look_at(f, n % f->n_numbered, n / f->n_numbered);
}

bool
tnf_follow_file(struct tnf_file *f)
{
	f->seen = calloc((size_t)(f->bytes.size >> f->block_shift) + 1,
	    sizeof *f->seen);
	f->cursor = f->ext.data_cursor;
	if (f->seen == NULL || (f->n_numbered = numbered_blocks(f)) == 0)
		return f->seen != NULL;
	if ((f->open = calloc(f->n_numbered, sizeof *f->open)) == NULL)
		return false;
	look_at_numbers(f, 0, f->cursor);
	return true;
}

void
tnf_follow_lost(struct tnf_file *f, uint32_t off, uint32_t generation)
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
by_time(const void *a, const void *b)
{
	const struct tnf_event *p = &((const struct waiting *)a)->ev;
	const struct tnf_event *q = &((const struct waiting *)b)->ev;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	if (p->file != q->file)
		return p->file->number < q->file->number ? -1 : 1;
	return p->pos < q->pos ? -1 : p->pos > q->pos;
}

/* Makes room for n more events. */
static int
wait_more(struct follow *fo, size_t n)
{
	size_t room = fo->room == 0 ? ROOM_MIN : fo->room;
	struct waiting *p;

	if (fo->room - fo->n >= n)
		return 0;
	while (room - fo->n < n)
		room *= 2;
	if ((p = realloc(fo->list, room * sizeof *p)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	fo->list = p;
	fo->room = room;
	return 0;
}

/* Are events of this type to be handed out?  The caller is asked once. */
static bool
ask_wanted(struct follow *fo, struct type *t)
{
	if (t->unwanted == fo->asking)
		return false;
	bool wanted = fo->want == NULL || fo->want(fo->want_arg, t->probe);
	*(wanted ? &t->wanted : &t->unwanted) = fo->asking;
	return wanted;
}

/* Takes the records of a block behind those that have been read.  Damage is not told: the
   writer may be at work in the block. */
static int
take_rest(tnf_stream_t *s, struct tnf_file *f, uint32_t off,
    struct tnf_progress *ret)
{
	struct seen *seen = &f->seen[off >> f->block_shift];
	struct event_clock clock = { 0 };
	struct waiting *e, like = { .block = off };
	struct follow *fo = &s->follow;
	enum walk_status r;
	struct walk w;
	int64_t time;
	int err = 0;

	if (tnf_walk_start(&w, f, off) != WALK_RECORD)
		return 0;
	like.generation = w.generation;
	if (w.generation == seen->generation && seen->used > f->block_header_size)
		w.next = off + seen->used;
	if ((err = wait_more(fo, (w.end - off) / EVENT_MIN)) != 0)
		return err;
	seen->generation = w.generation;
	seen->used = w.end - off;
	e = fo->list + fo->n;
	while ((r = walk_next(&w)) >= WALK_RECORD) {
		if (r != WALK_RECORD || !walk_is_event(&w))
			continue;
		if (w.type->wanted != fo->asking) {
			if (tnf_probe_of(s, f, w.type) == NULL) {
				err = TNF_ERR_ALLOCFAIL;
				break;
			}
			if (!ask_wanted(fo, w.type)) {
				ret->events++;
				continue;
			}
		}
		if (!event_time_again(&clock, &w, &time)) {
			if (tnf_event_time(&clock, &w, &time) != EVENT_OK)
				continue;
			stream_fill(s, &like.ev, time, &w, &clock.sched);
		}
		like.ev.time = time;
		like.ev.probe = w.type->probe;
		like.ev.pos = w.pos;
		*e = like;
		/* The events of one thread mostly are in order. */
		if (e > fo->list && e[-1].ev.time >= time && by_time(e - 1, e) > 0)
			fo->unsorted = true;
		e++;
		if (time < fo->handed_out)
			ret->late++;
		ret->events++;
	}
	fo->n = (size_t)(e - fo->list);
	return err;
}

/*
 * Counts the kernel's blocks that were used twice since the last refresh.  A block's
 * generation tells under which number it was taken; a number taken since then that no
 * block bears has been overwritten unread.
 */
static uint64_t
kernel_missed(const struct tnf_file *f, uint64_t gone)
{
	uint64_t off, there = 0;

	/* No block is taken again before most others have been taken. */
	if (gone < (f->bytes.size - f->data_start) >> (f->block_shift + 1))
		return 0;
	for (off = f->data_start; off < f->bytes.size; off += f->block_size) {
		uint32_t generation = file_block(f, (uint32_t)off).generation;
		if (generation != TNF_GENERATION_FREE && generation != TNF_GENERATION_TAG)
			there += ((generation - 1 - (uint32_t)f->cursor) &
			    TNF_GENERATION_AGES) < gone;
	}
	return gone > there ? gone - there : 0;
}

/* The thread that holds the block; 0: none does. */
static uint64_t
block_owner(const struct tnf_file *f, uint64_t off)
{
	return bytes_u64(&f->bytes, off + offsetof(struct tnf_block_header, next_block));
}

/* The same for a process, whose threads may hold blocks over several laps.  A thread passes over
   blocks that others hold: where most are held, the numbers do not tell how many were used. */
static uint64_t
process_missed(const struct tnf_file *f, uint64_t gone)
{
	uint64_t data = (f->bytes.size - f->ext.data_start) >> f->block_shift, held = 0;

	if (gone <= data)
		return 0;
	for (uint64_t off = f->ext.data_start; off < f->bytes.size; off += f->block_size)
		held += block_owner(f, off) != 0;
	return held > data / 2 ? 0 : gone - data;
}

/* The cursor of either kind of file tells how many blocks have been handed out in all. */
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
refresh_block(tnf_stream_t *s, struct tnf_file *f, uint32_t off, struct tnf_progress *ret)
{
	const struct seen *seen = &f->seen[off >> f->block_shift];
	struct block b = file_block(f, off);

	/* A block without a generation is on its way to its next use. */
	if (b.generation == TNF_GENERATION_FREE ||
	    (b.generation == seen->generation && b.used == seen->used))
		return 0;
	return take_rest(s, f, off, ret);
}

/* The block still holds the event.  Its header lies in the file, as the event was found behind it. */
static inline bool
is_there(const struct waiting *e)
{
	return bytes_u32_inside(&e->ev.file->bytes, (uint64_t)e->block +
	    offsetof(struct tnf_block_header, generation)) == e->generation;
}

/* Drops events that were overwritten while they waited: this refresh counts their blocks
   together with those that were never read.  The next may have no loss of its own to tell. */
static void
drop_overwritten(struct follow *fo, struct tnf_file *f)
{
	size_t left = 0;

	for (size_t i = 0; i < fo->n; i++) {
		const struct waiting *e = &fo->list[i];

		if (e->ev.file == f && !is_there(e))
			tnf_follow_lost(f, e->block, e->generation);
		else
			fo->list[left++] = *e;
	}
	fo->n = left;
}

static int
refresh_all(tnf_stream_t *s, struct tnf_file *f, struct tnf_progress *ret)
{
	int err = 0;

	for (uint64_t off = f->data_start; err == 0 && off < f->bytes.size; off += f->block_size) {
		/* The headers are too far apart for the processor to prefetch them by itself. */
		bytes_expect(&f->bytes, off + ((uint64_t)AHEAD << f->block_shift));
		err = refresh_block(s, f, (uint32_t)off, ret);
	}
	return err;
}

/*
 * If no writer holds a block and it has been used in the lap that was due, nothing more
 * comes into it until its next number is taken.  Must be asked before the block is read.
 */
static bool
is_finished(const struct tnf_file *f, uint32_t off)
{
	uint64_t owner = block_owner(f, off);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	uint32_t generation = file_block(f, off).generation;
	if (generation == TNF_GENERATION_TAG)
		return true;
	return owner == 0 && generation != TNF_GENERATION_FREE &&
	    (int32_t)(generation - f->seen[off >> f->block_shift].due) >= 0;
}

static int
refresh_open(tnf_stream_t *s, struct tnf_file *f, struct tnf_progress *ret)
{
	uint32_t i, off, left = 0;
	int err = 0;

	for (i = 0; i < f->n_open; i++) {
		off = f->open[i];
		bool finished = err == 0 && is_finished(f, off);
		if (err == 0)
			err = refresh_block(s, f, off, ret);
		if (finished)
			f->seen[off >> f->block_shift].due = 0;
		else
			f->open[left++] = off;
	}
	f->n_open = left;
	return err;
}

static int
refresh_file(tnf_stream_t *s, struct tnf_file *f, struct tnf_progress *ret)
{
	uint64_t before = f->cursor;

	uint64_t missed = blocks_missed(f);

	if (missed > 0)
		drop_overwritten(&s->follow, f);
	ret->blocks_missed += missed + f->lost;
	f->lost = 0;
	if (f->n_numbered == 0)
		return refresh_all(s, f, ret);
	look_at_numbers(f, before, f->cursor);
	return refresh_open(s, f, ret);
}

/* Gives back memory that only a busy moment needed: fork() copies the page tables of all
   that we have. */
static void
give_back(struct follow *fo)
{
	struct waiting *p;

	if (fo->n > fo->most)
		fo->most = fo->n;
	if (++fo->refreshes % ROOM_LOOK != 0)
		return;
	size_t room = 2 * fo->most > ROOM_MIN ? 2 * fo->most : ROOM_MIN;
	if (fo->room / 2 > room && (p = realloc(fo->list, room * sizeof *p)) != NULL) {
		fo->list = p;
		fo->room = room;
	}
	fo->most = fo->n;
}

TNF_API int
tnf_stream_refresh(tnf_stream_t *s, int64_t until, struct tnf_progress *ret)
{
	struct follow *fo = &s->follow;
	int err;

	*ret = (struct tnf_progress){ 0 };
	if (fo->at > 0)
		memmove(fo->list, fo->list + fo->at,
		    (fo->n - fo->at) * sizeof *fo->list);
	fo->n -= fo->at;
	fo->at = 0;
	for (unsigned i = 0; i < s->n_files; i++)
		if (s->files[i]->seen != NULL &&
		    (err = refresh_file(s, s->files[i], ret)) != 0)
			return err;
	if (fo->unsorted)
		qsort(fo->list, fo->n, sizeof *fo->list, by_time);
	fo->unsorted = false;
	fo->until = until;
	give_back(fo);
	return 0;
}

TNF_API void
tnf_stream_want(tnf_stream_t *s, tnf_stream_want_fn *fn, void *arg)
{
	s->follow.want = fn;
	s->follow.want_arg = arg;
	s->follow.asking++;
}

TNF_API size_t
tnf_stream_waiting(const tnf_stream_t *s)
{
	return s->follow.n - s->follow.at;
}

/* The earliest event that waits; NULL: none does.  Events whose blocks were taken again while
   the events waited are skipped, and counted as lost. */
static struct waiting *
first_waiting(struct follow *fo)
{
	for (; fo->at < fo->n; fo->at++) {
		struct waiting *e = &fo->list[fo->at];

		if (is_there(e))
			return e;
		tnf_follow_lost(e->ev.file, e->block, e->generation);
	}
	return NULL;
}

/* Hands out an event that the first pass has found, if it comes before 'e'; returns as
   tnf_stream_next(). */
static int
next_of_before(tnf_stream_t *s, const struct waiting *e, struct tnf_event *ev)
{
	int64_t time;
	int r = tnf_merge_peek(&s->merge, &time);

	if (r != 1 || time > s->follow.until || (e != NULL && time > e->ev.time))
		return r < 0 ? r : 0;
	return tnf_merge_next(&s->merge, s, ev);
}

int
tnf_follow_next(tnf_stream_t *s, struct tnf_event *ev)
{
	struct follow *fo = &s->follow;
	struct waiting *e = first_waiting(fo);
	int r = merge_is_over(&s->merge) ? 0 : next_of_before(s, e, ev);

	if (r < 0)
		return r;
	if (r == 0) {
		if (e == NULL || e->ev.time > fo->until)
			return 0;
		fo->at++;
		*ev = e->ev;
	}
	fo->handed_out = ev->time;
	return 1;
}

int
tnf_follow_each(tnf_stream_t *s, const struct visit *v)
{
	struct follow *fo = &s->follow;
	const struct waiting *e;
	struct tnf_event ev;
	struct tnf_file *f;
	int r;

	while (!merge_is_over(&s->merge)) {
		if ((r = tnf_follow_next(s, &ev)) != 1)
			return -r;
		long_forget(s->files, s->n_files);
		v->fn(v->arg, &ev);
	}
	for (; fo->at < fo->n; fo->at++) {
		e = &fo->list[fo->at];
		f = e->ev.file;
		if (!is_there(e)) {
			tnf_follow_lost(f, e->block, e->generation);
			continue;
		}
		if (e->ev.time > fo->until)
			break;
		fo->handed_out = e->ev.time;
		v->fn(v->arg, &e->ev);
		if (f->longs != NULL)
			tnf_long_done(f);
	}
	return 0;
}

void
tnf_follow_done(struct follow *fo)
{
	free(fo->list);
	memset(fo, 0, sizeof *fo);
}
