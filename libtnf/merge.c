/*
 * merge.c - events of many blocks in the order of time; and tnf_siblings_seen(), which tells the
 * stream that another file of the same writer has held the event already.
 */
#include "format/core.h"
#include "libtnf/survey.h"

/* An event of a block whose events are not in order of time: cursor->order has them all, sorted. */
struct place {
	int64_t	 time;
	uint32_t pos;
};

struct cursor {
	int64_t		   time;	/* of the event at which 'walk' stands */
	struct walk	   walk;
	struct event_clock clock;
	struct place	  *order;	/* NULL: as in the file */
	unsigned	   n_order, at;
	struct cursor	  *next;	/* spare ones */
};

/* Heap of runs */

static bool
run_before(const struct run *a, const struct run *b)
{
	return file_shifted(a->file, a->min) < file_shifted(b->file, b->min);
}

static void
runs_sift_down(struct merge *m, size_t i)
{
	struct run r = m->runs[i];
	size_t c;

	for (; (c = 2 * i + 1) < m->n_runs; i = c) {
		if (c + 1 < m->n_runs &&
		    run_before(&m->runs[c + 1], &m->runs[c]))
			c++;
		if (!run_before(&m->runs[c], &r))
			break;
		m->runs[i] = m->runs[c];
	}
	m->runs[i] = r;
}

static void
runs_sift_up(struct merge *m, size_t i)
{
	struct run r = m->runs[i];
	size_t up;

	for (; i > 0 && run_before(&r, &m->runs[up = (i - 1) / 2]); i = up)
		m->runs[i] = m->runs[up];
	m->runs[i] = r;
}

static int
runs_append(struct merge *m, struct run r)
{
	size_t room = m->room_runs == 0 ? 64 : 2 * m->room_runs;
	struct run *p;

	if (m->n_runs == m->room_runs) {
		if ((p = realloc(m->runs, room * sizeof *p)) == NULL)
			return TNF_ERR_ALLOCFAIL;
		m->runs = p;
		m->room_runs = room;
	}
	m->runs[m->n_runs++] = r;
	if (m->started)
		runs_sift_up(m, m->n_runs - 1);
	return 0;
}

int
tnf_merge_add(struct merge *m, struct tnf_file *f, struct entry *e, uint32_t n)
{
	struct run r = { .file = f };
	uint32_t i, from = 0;
	int err;

	for (i = 1; i <= n; i++) {
		if (i < n && e[i - 1].min <= e[i].min)
			continue;
		r.at = e + from;
		r.end = e + i;
		r.min = r.at->min;
		if ((err = runs_append(m, r)) != 0)
			return err;
		from = i;
	}
	return 0;
}

int
tnf_merge_add_later(struct merge *m, struct tnf_file *f, struct stretch *from, struct stretch *end)
{
	return runs_append(m, (struct run){ .min = tnf_survey_time(from), .file = f,
	    .later = from, .later_end = end });
}

void
tnf_merge_forget(struct merge *m, const struct tnf_file *f)
{
	size_t i, n = 0;

	for (i = 0; i < m->n_runs; i++)
		if (m->runs[i].file != f)
			m->runs[n++] = m->runs[i];
	m->n_runs = n;
	m->started = false;
}

static void
runs_heapify(struct merge *m)
{
	for (size_t i = m->n_runs / 2; i-- > 0;)
		runs_sift_down(m, i);
	m->started = true;
}

/* Heap of open blocks */

static bool
cursor_before(const struct cursor *a, const struct cursor *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->walk.file != b->walk.file)
		return a->walk.file->number < b->walk.file->number;
	return a->walk.pos < b->walk.pos;
}

static void
open_sift_down(struct merge *m)
{
	struct cursor *r = m->open[0];
	size_t i = 0, c;

	for (; (c = 2 * i + 1) < m->n_open; i = c) {
		if (c + 1 < m->n_open &&
		    cursor_before(m->open[c + 1], m->open[c]))
			c++;
		if (!cursor_before(m->open[c], r))
			break;
		m->open[i] = m->open[c];
	}
	m->open[i] = r;
}

static int
open_push(struct merge *m, struct cursor *c)
{
	size_t room = m->room_open == 0 ? 64 : 2 * m->room_open, i, up;
	struct cursor **p;

	if (m->n_open == m->room_open) {
		if ((p = realloc(m->open, room * sizeof(*p))) == NULL)
			return TNF_ERR_ALLOCFAIL;
		m->open = p;
		m->room_open = room;
	}
	for (i = m->n_open++; i > 0; i = up) {
		up = (i - 1) / 2;
		if (!cursor_before(c, m->open[up]))
			break;
		m->open[i] = m->open[up];
	}
	m->open[i] = c;
	return 0;
}

/* Cursors */

/* Goes to the next event in the order of the file.  Passes over damage, which was counted when the
   block was scanned. */
static inline bool
next_in_file(struct cursor *c)
{
	enum walk_status r;

	while ((r = walk_next(&c->walk)) >= WALK_RECORD)
		if (r == WALK_RECORD && walk_is_event(&c->walk) &&
		    (event_time_again(&c->clock, &c->walk, &c->time) ||
		    tnf_event_time(&c->clock, &c->walk, &c->time) == EVENT_OK)) {
			c->time = file_shifted(c->walk.file, c->time);
			return true;
		}
	return false;
}

static bool
next_sorted(struct cursor *c)
{
	const struct tnf_file *f = c->walk.file;

	while (c->at < c->n_order) {
		c->walk.pos = c->order[c->at++].pos;
		c->walk.word = bytes_u32(&f->bytes, c->walk.pos);
		c->walk.type = tnf_type_of_record(c->walk.file, c->walk.pos);
		if (c->walk.type != NULL && walk_is_event(&c->walk) &&
		    tnf_event_time(&c->clock, &c->walk, &c->time) == EVENT_OK) {
			c->time = file_shifted(f, c->time);
			return true;
		}
	}
	return false;
}

static inline bool
cursor_next(struct cursor *c)
{
	/* A writer has taken the block again: its other events belong to another lap. */
	if (file_generation(c->walk.file, c->walk.block) != c->walk.generation) {
		if (c->order != NULL ? c->at < c->n_order :
		    c->walk.next < c->walk.end)
			tnf_follow_lost(c->walk.file, c->walk.block,
			    c->walk.generation);
		return false;
	}
	return c->order != NULL ? next_sorted(c) : next_in_file(c);
}

static int
by_place(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->pos < q->pos ? -1 : p->pos > q->pos;
}

static int
sort_block(struct cursor *c)
{
	struct walk start = c->walk;
	unsigned max = (start.end - start.next) / 8 + 1;

	if ((c->order = calloc(max, sizeof *c->order)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	while (c->n_order < max && next_in_file(c))
		c->order[c->n_order++] = (struct place){ c->time, c->walk.pos };
	qsort(c->order, c->n_order, sizeof *c->order, by_place);
	c->walk = start;
	return 0;
}

static void
cursor_close(struct merge *m, struct cursor *c)
{
	free(c->order);
	c->next = m->spare;
	m->spare = c;
}

static struct cursor *
cursor_get(struct merge *m)
{
	struct cursor *c = m->spare;

	if (c == NULL)
		return calloc(1, sizeof *c);
	m->spare = c->next;
	memset(c, 0, sizeof *c);
	return c;
}

static bool
start_block(struct walk *w, struct tnf_file *f, const struct entry *e)
{
	uint32_t off = e->block << f->block_shift;

	if (tnf_walk_start(w, f, off) != WALK_RECORD ||
	    w->generation != e->generation) {
		tnf_follow_lost(f, off, e->generation);
		return false;
	}
	/* In a file that is followed, the merge has the events up to "first"; follow.c has the
	   later ones. */
	if (f->seen != NULL)
		w->end = w->block + f->seen[e->block].first;
	return true;
}

static void
visit_block(const struct visit *v, struct tnf_file *f, struct entry *e)
{
	struct cursor c = { 0 };
	struct tnf_event ev;

	e->opened = true;
	if (!start_block(&c.walk, f, e))
		return;
	if (!e->scanned) {
		tnf_scan_entry(f->stream, f, e, c.walk, v);
		return;
	}
	while (cursor_next(&c))
		if (stream_fill(f->stream, &ev, c.time, &c.walk, &c.clock.sched))
			v->fn(v->arg, &ev);
}

static int
open_block(struct merge *m, struct tnf_file *f, struct entry *e)
{
	struct cursor *c;
	int err = 0;

	if (m->visit != NULL) {
		visit_block(m->visit, f, e);
		return 0;
	}
	c = cursor_get(m);
	if (c == NULL)
		return TNF_ERR_ALLOCFAIL;
	e->opened = true;
	if (start_block(&c->walk, f, e) &&
	    (e->scanned || tnf_scan_entry(f->stream, f, e, c->walk, NULL)) &&
	    (e->sorted || (err = sort_block(c)) == 0) &&
	    cursor_next(c) && (err = open_push(m, c)) == 0)
		return 0;
	cursor_close(m, c);
	return err;
}

/* Restores the heap after the run on top has lost its first block.  'left': the run has more blocks,
   otherwise it is removed. */
static void
runs_shorten(struct merge *m, bool left)
{
	if (!left)
		m->runs[0] = m->runs[--m->n_runs];
	if (m->n_runs > 0)
		runs_sift_down(m, 0);
}

/* Opens the first block of the run on top. */
static int
open_first_block(struct merge *m)
{
	struct run *r = m->runs;
	struct tnf_file *f = r->file;
	int err;

	if (r->later == NULL) {
		if ((err = open_block(m, f, r->at)) != 0)
			return err;
		if (++r->at < r->end)
			r->min = r->at->min;
		runs_shorten(m, r->at < r->end);
		return 0;
	}
	struct stretch *t = r->later;
	r->later = tnf_survey_next(t);
	if (r->later < r->later_end)
		r->min = tnf_survey_time(r->later);
	runs_shorten(m, r->later < r->later_end);
	return tnf_survey_open(m, f, t);
}

/* Opens the blocks that may hold the next event. */
static int
open_blocks(struct merge *m)
{
	int err;

	while (m->n_runs > 0 && (m->n_open == 0 ||
	    file_shifted(m->runs->file, m->runs->min) <= m->open[0]->time))
		if ((err = open_first_block(m)) != 0)
			return err;
	return 0;
}

/* Moves past the event that was handed out last, which is on top. */
static inline void
merge_advance(struct merge *m)
{
	struct cursor *c = m->open[0];

	if (!cursor_next(c)) {
		cursor_close(m, c);
		if (--m->n_open == 0)
			return;
		m->open[0] = m->open[m->n_open];
	}
	if (m->n_open > 1)
		open_sift_down(m);
}

/* True if the block of the event on top was taken again while the event waited.  That happens only
   in a file that is followed. */
static bool
top_is_gone(const struct merge *m)
{
	const struct walk *w = &m->open[0]->walk;

	if (w->file->seen == NULL || file_generation(w->file, w->block) == w->generation)
		return false;
	tnf_follow_lost(w->file, w->block, w->generation);
	return true;
}

/* Puts the block with the next event on top; 1, 0 or an error as tnf_stream_next(). */
static inline int
merge_turn(struct merge *m)
{
	int err;

	if (m->taken && m->n_open > 0)
		merge_advance(m);
	m->taken = false;
	if (!m->started)
		runs_heapify(m);
	if ((err = open_blocks(m)) != 0)
		return -err;
	while (m->n_open > 0 && top_is_gone(m)) {
		merge_advance(m);
		if ((err = open_blocks(m)) != 0)
			return -err;
	}
	return m->n_open > 0;
}

int
tnf_merge_peek(struct merge *m, int64_t *time)
{
	int r = merge_turn(m);

	if (r == 1)
		*time = m->open[0]->time;
	return r;
}

int
tnf_merge_next(struct merge *m, tnf_stream_t *s, struct tnf_event *ev)
{
	const struct cursor *c;
	int r;

	do {
		if ((r = merge_turn(m)) != 1)
			return r;
		m->taken = true;
		c = m->open[0];
	} while (!stream_fill(s, ev, c->time, &c->walk, &c->clock.sched));
	return 1;
}

int
tnf_merge_visit(struct merge *m, const struct visit *v)
{
	int err = 0;

	m->visit = v;
	runs_heapify(m);
	while (m->n_runs > 0 && err == 0)
		err = open_first_block(m);
	m->visit = NULL;
	return err;
}

void
tnf_merge_done(struct merge *m)
{
	struct cursor *c;

	for (size_t i = 0; i < m->n_open; i++)
		cursor_close(m, m->open[i]);
	while ((c = m->spare) != NULL) {
		m->spare = c->next;
		free(c);
	}
	free(m->open);
	free(m->runs);
	memset(m, 0, sizeof *m);
}

_Static_assert(sizeof(struct sibling_key) == 40, "keys are compared as bytes");

void
tnf_siblings_join(struct siblings *s, struct tnf_file *f, struct tnf_file **files, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!files[i]->has_ext || !f->has_ext || !tnf_ext_same(&files[i]->ext, &f->ext))
			continue;
		if (files[i]->sibling == 0)
			files[i]->sibling = ++s->n;
		f->sibling = files[i]->sibling;
		return;
	}
}

static uint64_t
hash_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

/* Returns the counter of 'key' among the events of the current time.  Further keys than SIBLINGS_FEW
   are in the map.  NULL: no memory. */
static uint64_t *
siblings_count(struct siblings *s, const struct sibling_key *key)
{
	for (unsigned i = 0; i < s->n_few; i++)
		if (memcmp(&s->few[i].key, key, sizeof(*key)) == 0)
			return &s->few[i].n;
	if (s->n_few == SIBLINGS_FEW)
		return tnf_map_put(&s->more, key, sizeof(*key), NULL);
	s->few[s->n_few].key = *key;
	s->few[s->n_few].n = 0;
	return &s->few[s->n_few++].n;
}

int
tnf_siblings_seen(struct siblings *s, const struct tnf_event *ev)
{
	struct sibling_key key = { ev->tid, hash_name(ev->probe->name), ev->lwpid, ev->pid,
	    ev->cpu, ev->block, ev->file->sibling, ev->file->number + 1 };
	uint64_t *in_file, *out;

	if (ev->time != s->time || s->n_few == 0) {
		tnf_siblings_done(s);
		s->n_few = 0;
		s->time = ev->time;
		tnf_map_init(&s->more, sizeof(uint64_t));
	}
	if ((in_file = siblings_count(s, &key)) == NULL)
		return -1;
	key.file = 0;
	if ((out = siblings_count(s, &key)) == NULL)
		return -1;
	if (++*in_file <= *out)
		return 1;
	*out = *in_file;
	return 0;
}

void
tnf_siblings_done(struct siblings *s)
{
	if (s->more.n > 0)
		tnf_map_free(&s->more);
}
