/*
 * channel.c - rare events of the kernel, remembered longer than the ring has them.
 *
 * A record of the kernel refers only to its own block: to its schedule record before it and
 * its strings right behind it.  So we can put a record into another block, if we correct the
 * distance to the schedule record.
 */
#include "tnfwatch/config.h"
#include "tnfwatch/history.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/watch.h"

#define CHUNK		(256u << 10)
#define BYTES_MAX	(UINT64_C(32) << 20)	/* then the oldest chunk goes: a probe was not rare */
#define HEADER		((uint32_t)sizeof(struct tnf_block_header))
#define SCHED		((uint32_t)sizeof(struct tnf_kernel_schedule))
#define DELTA		sizeof(uint32_t)	/* an event's time_delta, behind its tag */

/* An event that is remembered; its record and strings follow, 'size' bytes. */
struct remembered {
	int64_t	 time;
	uint32_t block, generation;	/* of the ring, where the event was */
	uint32_t size;
	uint32_t pad;
	struct tnf_kernel_schedule sched;
};

struct channel_chunk {
	struct channel_chunk *next;	/* newer */
	int64_t	 last;			/* time of its latest event */
	size_t	 used;
	uint64_t events;
	unsigned char bytes[];
};

enum { UNKNOWN, WANTED, UNWANTED };	/* by channel->what */

struct channel {
	const struct enable *what;
	char	*text;			/* 'what' as it stands in the configuration */
	int64_t	 keep;
	unsigned char *wanted;		/* by a probe's number; UNKNOWN: it had no event so far */
	size_t	 n_wanted;
	struct channel_chunk *first, *last;
	struct channel_status st;
};

struct channel *
channel_new(void)
{
	struct channel *c = tnf_xcalloc(1, sizeof *c);

	c->text = tnf_xstrdup("");
	c->st.since = now_mono();
	return c;
}

void
channel_set(struct channel *c, const struct enable *what, int64_t keep)
{
	const char *text = what != NULL ? enable_text(what) : "";

	/* The channel has no earlier events of a probe that is added now. */
	if (strcmp(c->text, text) != 0)
		c->st.since = now_mono();
	free(c->text);
	c->text = tnf_xstrdup(text);
	c->what = what;
	c->keep = keep;
	free(c->wanted);
	c->wanted = NULL;
	c->n_wanted = 0;
}

static void
drop_first(struct channel *c)
{
	struct channel_chunk *k = c->first;

	if ((c->first = k->next) == NULL)
		c->last = NULL;
	if (k->last >= c->st.since)
		c->st.since = k->last + 1;
	c->st.events -= k->events;
	c->st.bytes -= CHUNK;
	free(k);
}

void
channel_free(struct channel *c)
{
	if (c == NULL)
		return;
	while (c->first != NULL)
		drop_first(c);
	free(c->wanted);
	free(c->text);
	free(c);
}

bool
channel_wants(struct channel *c, const struct tnf_probe *p)
{
	size_t n = c->n_wanted;

	if (p->id >= n) {
		c->n_wanted = (size_t)p->id + 64;
		c->wanted = tnf_xreallocarray(c->wanted, c->n_wanted, 1);
		memset(c->wanted + n, 0, c->n_wanted - n);
	}
	if (c->wanted[p->id] == UNKNOWN)
		c->wanted[p->id] = c->what != NULL && enable_has(c->what, p, NULL) ? WANTED : UNWANTED;
	return c->wanted[p->id] == WANTED;
}

static uint32_t
u32_at(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Returns the size of an event's record without strings: up to the end of its last member. */
static uint32_t
record_size(const struct tnf_probe *p)
{
	uint32_t size = 2 * sizeof(uint32_t), end;	/* tag, time_delta */

	for (unsigned i = 0; i < p->n_members; i++) {
		end = p->members[i].offset + p->members[i].type->size;
		if (end > size)
			size = end;
	}
	return (size + 3) & ~3u;
}

/* Returns the size of a record with the strings behind it; 0: the record is damaged.  Each string
   begins with its tag and its length.  'end' is the end of the block's committed bytes. */
static uint32_t
record_extent(const unsigned char *block, uint32_t at, uint32_t end, uint32_t sched_tag,
    const struct tnf_probe *p)
{
	uint32_t next = at + record_size(p), last = next, word, size;

	while (next + 2 * sizeof word <= end) {
		word = u32_at(block + next);
		if ((word & TNF_REF32_T_MASK) == TNF_REF32_T_FULL) {	/* padding */
			next += sizeof word;
			continue;
		}
		size = (u32_at(block + next + sizeof word) + 3) & ~3u;
		if (TNF_REF32_IS_PAIR(word) || word == sched_tag || size < 8 || size > end - next)
			break;
		last = next += size;
	}
	return last <= end ? last - at : 0;
}

/* Returns room for n bytes of an event of this time; NULL: the event is larger than a chunk. */
static unsigned char *
room_for(struct channel *c, size_t n, int64_t time)
{
	struct channel_chunk *k = c->last;

	if (n > CHUNK - sizeof *k)
		return NULL;
	if (k == NULL || CHUNK - sizeof *k - k->used < n) {
		if (c->st.bytes + CHUNK > BYTES_MAX)
			drop_first(c);
		k = tnf_xcalloc(1, CHUNK);
		*(c->last != NULL ? &c->last->next : &c->first) = k;
		c->last = k;
		c->st.bytes += CHUNK;
	}
	k->last = time;
	return k->bytes + k->used;
}

static bool
channel_copy(struct channel *c, const struct blocks *b, const struct tnf_event *ev)
{
	struct blocks_mark before, after;
	struct remembered e = { .time = ev->time };
	unsigned char *to;

	uint32_t number = ev->pos / b->block_size;
	uint32_t at = ev->pos % b->block_size;
	if (number >= b->n || !blocks_look(b, number, &before))
		return false;
	const unsigned char *block = blocks_at(b, number);
	uint32_t sched_at = at + (uint32_t)TNF_REF32_ARG16(u32_at(block + at));
	if (sched_at < HEADER || sched_at > before.used ||
	    before.used - sched_at < SCHED)
		return false;
	memcpy(&e.sched, block + sched_at, SCHED);
	uint32_t size = record_extent(block, at, before.used, e.sched.tag, ev->probe);
	if (size == 0 || (to = room_for(c, sizeof e + ((size + 7) & ~7u), ev->time)) == NULL)
		return false;
	e.block = number;
	e.generation = before.generation;
	e.size = size;
	memcpy(to, &e, sizeof e);
	memcpy(to + sizeof e, block + at, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* If the writer has taken the block during the copy, or before the first look, we have copied
	   another event, of another time. */
	if (!blocks_look(b, number, &after) || after.generation != before.generation ||
	    e.sched.time_base + u32_at(to + sizeof e + DELTA) != ev->time)
		return false;
	c->last->used += sizeof e + ((size + 7) & ~7u);
	c->last->events++;
	c->st.events++;
	return true;
}

void
channel_event(struct channel *c, const struct blocks *b, const struct tnf_event *ev)
{
	if (c == NULL || ev->probe == NULL || !channel_wants(c, ev->probe) || channel_copy(c, b, ev))
		return;
	/* The event is not remembered: the channel has all events only after it. */
	if (ev->time >= c->st.since)
		c->st.since = ev->time + 1;
}

void
channel_missed(struct channel *c, int64_t now)
{
	if (c != NULL)
		c->st.since = now;
}

void
channel_tick(struct channel *c, int64_t now, bool hold)
{
	while (c != NULL && !hold && c->first != NULL && now - c->first->last > c->keep)
		drop_first(c);
}

void
channel_status(const struct channel *c, struct channel_status *ret)
{
	*ret = (struct channel_status){ .events = 0 };
	if (c != NULL)
		*ret = c->st;
}

static const struct remembered *
remembered_next(const struct channel *c, struct channel_place *p)
{
	if (!p->begun)
		p->chunk = c->first;
	p->begun = true;
	while (p->chunk != NULL && p->at >= p->chunk->used) {
		p->chunk = p->chunk->next;
		p->at = 0;
	}
	if (p->chunk == NULL)
		return NULL;
	const struct remembered *e = (const void *)(p->chunk->bytes + p->at);
	p->at += sizeof *e + ((e->size + 7) & ~7u);
	return e;
}

/* A block of a segment, while events are put into it. */
struct new_block {
	unsigned char *to;
	uint32_t used;
	uint32_t sched_at;	/* of the latest schedule record; 0: none */
};

/* Puts the event into the block, behind its schedule record unless that is the block's latest one
   already; false: the block has no room. */
static bool
new_block_put(struct new_block *f, const struct remembered *e, uint32_t block_size)
{
	bool same = f->sched_at != 0 && memcmp(f->to + f->sched_at, &e->sched, SCHED) == 0 &&
	    f->used - f->sched_at < 0x8000;
	uint32_t need = (same ? 0 : SCHED) + e->size, at, word;

	if (block_size - f->used < need)
		return false;
	if (!same) {
		memcpy(f->to + f->used, &e->sched, SCHED);
		f->sched_at = f->used;
		f->used += SCHED;
	}
	at = f->used;
	memcpy(f->to + at, e + 1, e->size);
	word = u32_at(f->to + at);
	word = (word & ~0xfffcu) | ((f->sched_at - at) & 0xfffcu);
	memcpy(f->to + at, &word, sizeof word);
	/* The next record begins at a multiple of 8, as a writer would have it. */
	f->used = (at + e->size + 7) & ~7u;
	return true;
}

static void
new_block_begin(struct new_block *f, unsigned char *to, const struct blocks *b, uint32_t generation)
{
	struct tnf_block_header h;

	memset(to, 0, b->block_size);
	memcpy(&h, blocks_at(b, b->data), sizeof h);
	h.generation = generation;
	h.next_block = 0;
	memcpy(to, &h, sizeof h);
	*f = (struct new_block){ .to = to, .used = HEADER };
}

static void
new_block_end(const struct new_block *f)
{
	struct tnf_block_header h;

	memcpy(&h, f->to, sizeof h);
	h.bytes_valid = (tnf_uint16_t)f->used;
	memcpy(f->to, &h, sizeof h);
}

size_t
channel_blocks(const struct channel *c, const struct blocks *b, struct channel_place *p,
    unsigned char *to, size_t n,
    bool (*elsewhere)(void *arg, uint32_t block, uint32_t generation), void *arg)
{
	struct channel_place here = *p;
	const struct remembered *e;
	struct new_block f = { .to = NULL };
	size_t done = 0;

	while (done <= n && (e = remembered_next(c, &here)) != NULL) {
		if (elsewhere(arg, e->block, e->generation) ||
		    (done > 0 && new_block_put(&f, e, b->block_size))) {
			*p = here;
			continue;
		}
		if (done > 0)
			new_block_end(&f);
		if (done == n)
			return done;
		new_block_begin(&f, to + done++ * b->block_size, b, e->generation);
		new_block_put(&f, e, b->block_size);
		*p = here;
	}
	if (done > 0)
		new_block_end(&f);
	return done;
}
