/*
 * history.c - what a ring is about to overwrite, kept for as long as was promised.
 *
 * Each time that a quarter of the ring has been written anew, we copy the blocks that will be
 * overwritten within half a lap and that their writers are done with.  So a block is copied
 * once, nearly always full, and there is time for the copy.  If half a lap
 * of the ring takes longer than 'keep', the ring itself holds the promised history, and
 * we copy only blocks that their writers held for too long.
 */
#include "tnfwatch/history.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/source.h"
#include "tnfwatch/watch.h"

#define CPUS_MAX	4096
#define DEFINITIONS	64	/* blocks of them, for which a segment has room at first */
#define CONTEXT_NS	SECOND	/* names in a segment are as old at most */
/* A cut costs most of a millisecond, so there are no more than 33 a second, and eight more in a burst;
   each copies half of the ring at most.  A ring whose quarter lasts less than that loses blocks, and
   a larger one costs less. */
#define CUT_MIN		(30 * MS)
#define CUT_BURST	(8 * CUT_MIN)
/* A ring that loses blocks between cuts is cut less often, and few of its bytes are copied in a second:
   to compress these takes a hundredth of a CPU or two. */
#define CUT_LOST	(100 * MS)
#define CUT_BYTES	(4 << 20)
#define LOAD_MAX	(UINT64_C(96) << 20)	/* bytes that wait for the worker */

struct history {
	struct history_place place;
	char	*directory;
	struct blocks b;
	uint32_t *saved;	/* by block: the generation that is in a segment */
	bool	*held;		/* by block: somebody had it at the last look */
	uint64_t cursor;	/* at the last cut */
	int64_t	 time;		/* when that was ... */
	int64_t	 before;	/* ... and the one before it */
	int64_t	 paid;		/* the cuts so far are those of a time up to then */
	int64_t	 quarter_ns;	/* a quarter of the ring lasts so long; INT64_MAX: long */
	struct segment *first, *last;
	struct history_status st;
	int64_t	 whole_from;	/* what is older has gaps */
	uint64_t kept_to;	/* blocks up to this one were copied when they were due */
	bool	 gone;		/* something of the source is nowhere any more */
	unsigned number;	/* of the next segment's file */
	char	*id;
};

/* All histories together. */
static uint64_t history_bytes;
static unsigned histories;

/* True if the history has at least its share of all bytes.  Then it makes room: so a busy source
   does not cost the others their segments. */
static bool
has_its_share(const struct history *h)
{
	return h->st.bytes >= history_bytes / histories;
}

struct history *
history_new(const struct source *s, const struct history_place *p)
{
	struct history *h;
	struct blocks b;

	if (s->base == NULL || !blocks_open(&b, s->base, s->size))
		return NULL;
	h = tnf_xcalloc(1, sizeof *h);
	h->place = *p;
	h->directory = p->directory != NULL ? tnf_xstrdup(p->directory) : NULL;
	h->b = b;
	h->saved = tnf_xcalloc(b.n, sizeof *h->saved);
	h->held = tnf_xcalloc(b.n, sizeof *h->held);
	h->cursor = blocks_cursor(&b);
	h->time = h->before = now_mono();
	h->quarter_ns = INT64_MAX;
	h->id = tnf_xstrdup(s->id);
	histories++;
	return h;
}

void
history_promise(struct history *h, const struct history_place *p)
{
	if (h == NULL)
		return;
	h->place.keep = p->keep;
	h->place.limit = p->limit;
}

/* Frees a segment, whose blocks then are in no segment any more. */
static void
segment_forget(struct history *h, struct segment *s)
{
	for (uint32_t i = 0; i < s->n_blocks; i++)
		if (h->saved[s->blocks[i].block] == s->blocks[i].generation)
			h->saved[s->blocks[i].block] = TNF_GENERATION_FREE;
	h->st.segments--;
	/* history_settle() sets this when it counts the segment. */
	if (s->counted) {
		h->st.bytes -= s->size;
		history_bytes -= s->size;
		h->st.raw -= (uint64_t)s->n_blocks * h->b.block_size;
	}
	segment_free(s);
}

static void
segment_drop_first(struct history *h)
{
	struct segment *s = h->first;

	h->gone = true;
	if ((h->first = s->next) == NULL)
		h->last = NULL;
	if (h->first != NULL && h->first->first_time > h->whole_from)
		h->whole_from = h->first->first_time;
	segment_forget(h, s);
}

void
history_free(struct history *h)
{
	if (h == NULL)
		return;
	while (h->first != NULL) {
		/* The worker still has the segment. */
		while (segment_state(h->first) == SEGMENT_WAITS) {
			segment_worker_pause();
			segment_worker_go_on();
			/* The worker goes on while it writes to the disk. */
			nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
		}
		segment_drop_first(h);
	}
	histories--;
	free(h->saved);
	free(h->held);
	free(h->id);
	free(h->directory);
	free(h);
}

/* The latest block of each CPU, which may still be written to. */
static void
latest_of_cpus(const struct history *h, uint32_t *latest)
{
	struct blocks_mark m;

	memset(latest, 0, CPUS_MAX * sizeof *latest);
	for (uint32_t i = h->b.data; h->b.kernel && i < h->b.n; i++)
		if (blocks_look(&h->b, i, &m) && m.cpu >= 0 && m.cpu < CPUS_MAX &&
		    m.number > latest[m.cpu])
			latest[m.cpu] = m.number;
}

static bool
is_done(const struct history *h, const struct blocks_mark *m, const uint32_t *latest)
{
	if (!h->b.kernel)
		return !m->held;
	return m->cpu >= 0 && m->cpu < CPUS_MAX && m->number < latest[m->cpu];
}

/* The blocks that a cut copies, ascending. */
struct cut {
	struct segment_block *blocks;
	uint32_t n;
	uint64_t oldest;	/* age */
	int64_t	 first;		/* time of that one */
};

static void
cut_add(struct cut *c, uint32_t block, const struct blocks_mark *m, uint64_t age, uint64_t data)
{
	c->blocks[c->n++] = (struct segment_block){ block, m->generation };
	if (age < data && age >= c->oldest && m->time != INT64_MAX) {
		c->oldest = age;
		c->first = m->time;
	}
}

/*
 * A cut that comes before half of the ring has been written anew leaves out blocks that are
 * not old enough by their place, even if a writer has held a block for a lap: before such a
 * block is taken again, another cut finds it old enough.
 */
static bool
is_too_new(const struct history *h, uint32_t block, uint64_t cursor)
{
	uint64_t data = h->b.n - h->b.data;

	return !h->b.kernel && cursor > 0 &&
	    (cursor - 1 + data - (block - h->b.data)) % data < data / 2;
}

static void
cut_choose(struct history *h, struct cut *c, uint64_t cursor, bool fast)
{
	static uint32_t latest[CPUS_MAX];
	uint64_t data = h->b.n - h->b.data, age;
	struct blocks_mark m;
	bool was_held;

	latest_of_cpus(h, latest);
	for (uint32_t i = h->b.data; i < h->b.n; i++) {
		if ((fast && is_too_new(h, i, cursor)) || !blocks_look(&h->b, i, &m) ||
		    m.generation == h->saved[i])
			continue;
		was_held = h->held[i];
		h->held[i] = !is_done(h, &m, latest);
		if (h->held[i] || (!fast && !was_held))
			continue;
		age = blocks_age(&h->b, i, &m, cursor);
		if (age >= data / 2)
			cut_add(c, i, &m, age, data);
	}
}

/* Copies a block whole; false: a writer has taken the block again during the copy. */
static bool
copy_block(const struct history *h, unsigned char *to, const struct segment_block *sb)
{
	struct blocks_mark before, after;

	if (!blocks_look(&h->b, sb->block, &before) || before.generation != sb->generation)
		return false;
	memcpy(to, blocks_at(&h->b, sb->block), h->b.block_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return blocks_look(&h->b, sb->block, &after) && after.generation == sb->generation &&
	    after.used == before.used;
}

static void
segment_add_raw(struct segment *s, uint32_t block)
{
	s->at[s->n_raw++] = block;
}

/* Makes room for one block more: how many definitions there are is not known before they are
   copied. */
static void
segment_more(struct segment *s)
{
	if (s->n_raw < s->room)
		return;
	s->room += DEFINITIONS;
	s->at = tnf_xreallocarray(s->at, s->room, sizeof *s->at);
	s->raw = tnf_xreallocarray(s->raw, s->room, s->block_size);
}

/* Copies definitions after the events that need them, and with them the header and the
   directory. */
static void
copy_definitions(const struct history *h, struct segment *s)
{
	for (uint32_t i = 0; i < h->b.n; i++)
		if (i < h->b.first || blocks_is_tag(&h->b, i)) {
			segment_more(s);
			memcpy(s->raw + (size_t)s->n_raw * s->block_size, blocks_at(&h->b, i),
			    s->block_size);
			segment_add_raw(s, i);
		}
}

struct raw_order {
	uint32_t at, from;
};

static int
raw_compare(const void *a, const void *b)
{
	const struct raw_order *p = a, *q = b;

	if (p->at != q->at)
		return p->at > q->at ? 1 : -1;
	return (p->from > q->from) - (p->from < q->from);
}

/* Sorts blocks into the order of the file, each once: a block that has become a block of
   types since it was copied is there twice, and the copy with events stays. */
static void
raw_sort(struct segment *s)
{
	struct raw_order *o = tnf_xcalloc(s->n_raw + 1, sizeof *o);
	uint32_t n = 0;

	s->from = tnf_xcalloc(s->n_raw + 1, sizeof *s->from);

	for (uint32_t i = 0; i < s->n_raw; i++)
		o[i] = (struct raw_order){ s->at[i], i };
	qsort(o, s->n_raw, sizeof *o, raw_compare);
	for (uint32_t i = 0; i < s->n_raw; i++) {
		if (i > 0 && o[i].at == o[i - 1].at)
			continue;
		s->at[n] = o[i].at;
		s->from[n++] = o[i].from;
	}
	free(o);
	s->n_raw = n;
}

static unsigned char *
segment_block_at(const struct segment *s, uint32_t i)
{
	return s->raw + (size_t)s->from[i] * s->block_size;
}

/* Removes members of the kernel's blocks that only readers of a memory image need. */
static void
raw_clean(const struct history *h, struct segment *s)
{
	struct tnf_block_header *b;
	struct tnf_page_id id;
	unsigned char *p;

	for (uint32_t i = 0; h->b.kernel && i < s->n_raw; i++) {
		p = segment_block_at(s, i);
		if (s->at[i] >= h->b.first) {
			b = (void *)p;
			b->next_block = 0;
			b->pad = 0;
			continue;
		}
		memcpy(&id, p + s->block_size - sizeof id, sizeof id);
		if (s->at[i] > 0 && id.magic == TNF_PAGE_ID_MAGIC)
			memset(p + s->block_size - sizeof id, 0, sizeof id);
	}
}

static void
raw_header(const struct history *h, struct segment *s)
{
	unsigned char *at = segment_block_at(s, 0) + TNF_EXT_OFFSET;
	struct tnf_ext ext;

	memcpy(&ext, at, sizeof ext);
	ext.extra_offset = s->context_size > 0 ? h->b.size : 0;
	ext.extra_size = s->context_size;
	ext.cookie = 0;
	/* A segment has no writer: all that were attached have ended. */
	ext.ended = ext.attached;
	memcpy(at, &ext, sizeof ext);
}

/* A new segment, with room for n blocks of events. */
static struct segment *
segment_begin(const struct history *h, uint32_t n)
{
	struct segment *s = tnf_xcalloc(1, sizeof *s);

	s->block_size = h->b.block_size;
	s->n_file = h->b.n;
	s->blocks = tnf_xcalloc(n + 1, sizeof *s->blocks);
	s->room = n + DEFINITIONS;
	s->at = tnf_xcalloc(s->room, sizeof *s->at);
	s->raw = tnf_xreallocarray(NULL, s->room, s->block_size);
	return s;
}

/* Completes a segment that has its events: definitions, context, order and header. */
static void
segment_end(const struct history *h, struct segment *s, const struct source *src)
{
	copy_definitions(h, s);
	if (src->context != NULL) {
		s->context = tnf_xstrndup(src->context, src->context_size);
		s->context_size = src->context_size;
	}
	raw_sort(s);
	raw_clean(h, s);
	raw_header(h, s);
}

static struct segment *
segment_make(struct history *h, struct cut *c, const struct source *src, int64_t now)
{
	struct segment *s = segment_begin(h, c->n);

	s->first_time = c->first;
	s->cut = now;
	for (uint32_t i = 0; i < c->n; i++) {
		if (!copy_block(h, s->raw + (size_t)s->n_raw * s->block_size, &c->blocks[i])) {
			h->st.missed++;
			h->whole_from = now;
			h->gone = true;
			continue;
		}
		segment_add_raw(s, c->blocks[i].block);
		s->blocks[s->n_blocks++] = c->blocks[i];
	}
	segment_end(h, s, src);
	return s;
}

static void
segment_keep(struct history *h, struct segment *s)
{
	for (uint32_t i = 0; i < s->n_blocks; i++)
		h->saved[s->blocks[i].block] = s->blocks[i].generation;
	if (h->directory != NULL)
		s->path = tnf_xasprintf("%s/%s.%06u.tnf.zst", h->directory, h->id, ++h->number);
	if (h->last != NULL)
		h->last->next = s;
	else
		h->first = s;
	h->last = s;
	h->st.segments++;
	if (h->whole_from == 0)
		h->whole_from = s->first_time;
	segment_queue(s);
}

/* Notes that blocks are not kept: there was no room, or their segment could not be written.
   The history is whole from 'from' on, and counts as broken until 'keep' has passed. */
static void
history_refuse(struct history *h, uint64_t blocks, int64_t from, int64_t now)
{
	h->st.refused += blocks;
	h->whole_from = from;
	h->gone = true;
	h->st.broken = now + h->place.keep;
}

/* The context has the names of threads and of values.  A process writes its own; we ask the
   kernel for its context again, so that each segment has one. */
static void
context_renew(struct source *s, int64_t now)
{
	if (s->kind == SOURCE_KERNEL && (s->context == NULL || now - s->context_time >= CONTEXT_NS))
		source_note_context(s);
}

/* True if blocks have been overwritten that were in no segment. */
static bool
has_overwritten(const struct history *h, uint64_t cursor)
{
	return cursor > h->kept_to + (h->b.n - h->b.data);
}

static void
history_cut(struct history *h, struct source *src, uint64_t cursor, int64_t now)
{
	uint64_t data = h->b.n - h->b.data;
	/* A cut comes when a quarter of the ring has been written.  So blocks that are half a
	   lap old were taken before the last cut but one.  If that cut is longer ago than
	   'keep', the ring itself holds the promised history. */
	bool fast = now - h->before <= h->place.keep;
	struct cut c = { .first = now };

	if (fast && cursor - h->cursor > data / 2) {
		h->st.missed += cursor - h->cursor - data / 2;
		h->whole_from = now;
		h->st.broken = now + h->place.keep;
	}
	h->gone |= has_overwritten(h, cursor);
	if (fast && cursor > data / 2)
		h->kept_to = cursor - data / 2;
	c.blocks = tnf_xcalloc(data + 1, sizeof *c.blocks);
	cut_choose(h, &c, cursor, fast);
	if (c.n > 0 && (segment_worker_load() > LOAD_MAX || (history_bytes > h->place.limit &&
	    h->first == NULL && has_its_share(h))))
		history_refuse(h, c.n, now, now);
	else if (c.n > 0) {
		context_renew(src, now);
		segment_keep(h, segment_make(h, &c, src, now));
	}
	free(c.blocks);
}

/* Counts segments that the worker has made, and drops those that it could not make. */
static void
history_settle(struct history *h, int64_t now)
{
	struct segment **at = &h->first, *s, *before = NULL;

	while ((s = *at) != NULL) {
		enum segment_state state = segment_state(s);

		if (state == SEGMENT_FAILED) {
			*at = s->next;
			if (h->last == s)
				h->last = before;
			h->st.error = s->error;
			history_refuse(h, s->n_blocks, now, now);
			segment_forget(h, s);
			continue;
		}
		if (state == SEGMENT_DONE && !s->counted) {
			s->counted = true;
			h->st.bytes += s->size;
			history_bytes += s->size;
			h->st.raw += (uint64_t)s->n_blocks * h->b.block_size;
		}
		before = s;
		at = &s->next;
	}
}

static void
history_trim(struct history *h, int64_t now, bool hold)
{
	while (h->first != NULL && segment_state(h->first) == SEGMENT_DONE) {
		if (!hold && now - h->first->cut > h->place.keep) {
			segment_drop_first(h);
			continue;
		}
		if (history_bytes <= h->place.limit || !has_its_share(h))
			return;
		history_refuse(h, h->first->n_blocks, h->whole_from, now);
		segment_drop_first(h);
	}
}

void
history_tick(struct history *h, struct source *s, int64_t now, bool hold)
{
	uint64_t cursor, quarter;

	if (h == NULL)
		return;
	cursor = blocks_cursor(&h->b);
	quarter = (h->b.n - h->b.data) / 4;
	if (cursor - h->cursor >= quarter && h->paid - now <= CUT_BURST) {
		h->paid = (h->paid > now ? h->paid : now) + CUT_MIN;
		bool lost = cursor - h->cursor > 2 * quarter;
		history_cut(h, s, cursor, now);
		h->quarter_ns = (now - h->time) * (int64_t)quarter / (int64_t)(cursor - h->cursor);
		/* Such a ring has gaps in its history anyway. */
		if (lost && h->quarter_ns < CUT_MIN)
			h->paid += CUT_LOST + (int64_t)(2 * quarter * h->b.block_size) * SECOND / CUT_BYTES;
		h->before = h->time;
		h->time = now;
		h->cursor = cursor;
	}
	history_settle(h, now);
	history_trim(h, now, hold);
}

int64_t
history_due(const struct history *h, int64_t now)
{
	if (h == NULL || h->quarter_ns > 10 * SECOND)
		return INT64_MAX;
	return h->paid - now > CUT_BURST ? h->paid - CUT_BURST : now + h->quarter_ns / 2;
}

uint64_t
history_size_wanted(const struct history *h)
{
	uint64_t size = h == NULL ? 0 : h->b.size, wanted;

	if (h == NULL || h->quarter_ns >= CUT_MIN || h->quarter_ns <= 0)
		return 0;
	wanted = (uint64_t)((double)size * 2 * CUT_MIN / (double)h->quarter_ns);
	while (size < wanted)
		size *= 2;
	return size;
}

bool
history_has(const struct history *h, uint32_t block, uint32_t generation)
{
	return h != NULL && block < h->b.n && generation != TNF_GENERATION_FREE &&
	    generation != TNF_GENERATION_TAG && h->saved[block] == generation;
}

void
history_status(const struct history *h, struct history_status *ret)
{
	*ret = (struct history_status){ .segments = 0 };
	if (h == NULL)
		return;
	*ret = h->st;
	ret->since = h->first != NULL ? h->whole_from : 0;
}

bool
history_has_all(const struct history *h)
{
	return h != NULL && !h->gone && !has_overwritten(h, blocks_cursor(&h->b));
}

int
history_put(const struct history *h, int dir, const char *id,
    void (*fn)(void *arg, const char *name), void *arg)
{
	int e = 0, one = 0;
	unsigned n = 0;

	/* Segments are put whole: the copy of the ring leaves out blocks that are in one.
	   If the file of one segment has gone, the others are still put. */
	for (const struct segment *s = h != NULL ? h->first : NULL;
	    s != NULL && !disk_refuses(one); s = s->next) {
		autofree char *name = tnf_xasprintf("%s.%04u.tnf.zst", id, ++n);
		if ((one = segment_put(s, dir, name)) == 0)
			fn(arg, name);
		else if (e == 0 || disk_refuses(one))
			e = one;
	}
	return e;
}

/* The parts of an incident that may have an event already: segments and the copy of the
   ring. */
struct incident_ring {
	const struct history *h;
	int	 fd;		/* the copy; or -1 */
};

static bool
is_elsewhere(void *arg, uint32_t block, uint32_t generation)
{
	const struct incident_ring *r = arg;
	struct tnf_block_header there;

	return history_has(r->h, block, generation) || (r->fd >= 0 &&
	    pread(r->fd, &there, sizeof there, (off_t)block * r->h->b.block_size) ==
	    (ssize_t)sizeof there && there.generation == generation);
}

/* Places for blocks of the channel: any block of the ring without definitions, at most half
   of them. */
static uint32_t
channel_places(const struct history *h, uint32_t *at)
{
	uint32_t n = 0;

	for (uint32_t i = h->b.data; i < h->b.n && n < (h->b.n - h->b.data) / 2; i++)
		if (!blocks_is_tag(&h->b, i))
			at[n++] = i;
	return n;
}

static struct segment *
channel_segment(const struct history *h, const struct source *src, struct channel_place *place,
    struct incident_ring *ring)
{
	uint32_t *at = tnf_xcalloc(h->b.n, sizeof *at), n = channel_places(h, at);
	struct segment *s = segment_begin(h, n);

	s->n_raw = (uint32_t)channel_blocks(src->channel, &h->b, place, s->raw, n, is_elsewhere, ring);
	memcpy(s->at, at, s->n_raw * sizeof *at);
	free(at);
	if (s->n_raw > 0) {
		segment_end(h, s, src);
		return s;
	}
	segment_free(s);
	return NULL;
}

int
history_put_channel(const struct history *h, const struct source *src, int dir, const char *ring,
    void (*fn)(void *arg, const char *name), void *arg)
{
	struct incident_ring there = { .h = h, .fd = openat(dir, ring, O_RDONLY | O_CLOEXEC) };
	struct channel_place place = { .chunk = NULL };
	struct segment *s;
	unsigned n = 0;
	int e = 0;

	while (h != NULL && src->channel != NULL && e == 0 &&
	    (s = channel_segment(h, src, &place, &there)) != NULL) {
		autofree char *name = n++ == 0 ? tnf_xasprintf("%s.channel.tnf.zst", src->id) :
		    tnf_xasprintf("%s.channel.%u.tnf.zst", src->id, n);
		if ((e = segment_put(s, dir, name)) == 0)
			fn(arg, name);
		segment_free(s);
	}
	if (there.fd >= 0)
		close(there.fd);
	return e;
}
