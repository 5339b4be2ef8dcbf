/*
 * copy.c - what a file held at one moment, while it is written.
 *
 * First we note how far each block is filled: this is the moment.  Then we copy the bytes, and
 * hide what writers added during the copy.  An event that stays has all it refers to, and none of the same thread before it is missing: format/live.h
 * says why.
 */
#include "format/live.h"
#include "libtnf/file.h"

#define TRIES	4

/* All blocks, in an order: the one that is taken next, which is the oldest,
   comes first. */
struct round {
	uint32_t n, first;
	uint32_t data;		/* data blocks; 0: the file does not say */
	uint64_t cursor;
};

/* How far blocks were filled; 'held' is room to sort some of them. */
struct marks {
	struct block *block, **held;
	struct live_use *defined;	/* of definitions, as they were copied */
	unsigned char *room;		/* for one block */
};

static uint32_t
data_blocks(const struct tnf_file *f)
{
	uint64_t start = f->ext.data_start;

	if (start < f->data_start || start >= f->bytes.size ||
	    start % f->block_size != 0)
		return 0;
	return (uint32_t)((f->bytes.size - start) >> f->block_shift);
}

static struct round
from_the_oldest(const struct tnf_file *f)
{
	struct round r = {
		.n = (uint32_t)((f->bytes.size - f->data_start) >>
		    f->block_shift),
		.data = data_blocks(f),
		.cursor = file_cursor(f)
	};

	if (r.data > 0)
		r.first = r.n - r.data + (uint32_t)(r.cursor % r.data);
	return r;
}

static uint32_t
copy_place(const struct tnf_file *f, const struct round *r, uint32_t i)
{
	uint64_t n = ((uint64_t)r->first + i) % r->n;

	return f->data_start + (uint32_t)(n << f->block_shift);
}

/* The generation of the last block handed out at this place; 0: none yet. */
static uint32_t
newest_lap(const struct tnf_file *f, const struct round *r, uint32_t off)
{
	uint32_t i = (off - f->ext.data_start) >> f->block_shift;
	uint64_t lap = r->cursor / r->data + (i < r->cursor % r->data);

	/* Generations begin with 1, and then again. */
	if (lap > 0)
		lap = (lap - 1) % (TNF_GENERATION_TAG - 1) + 1;
	return (uint32_t)lap;
}

/* Laps between the newest lap of a block's place and the block's own.  Negative: the block
   was taken since; positive: a writer has held the block for so many laps. */
static int32_t
laps_behind(const struct tnf_file *f, const struct round *r,
    const struct block *b)
{
	if (r->data == 0 || b->off < f->ext.data_start ||
	    b->generation == TNF_GENERATION_TAG)
		return 0;
	return (int32_t)(newest_lap(f, r, b->off) - b->generation);
}

static struct block
copy_look(const struct live *from, uint32_t off)
{
	struct live_use use = tnf_live_look(from, off);

	return (struct block){ .off = off, .generation = use.generation, .used = use.used };
}

/* Sorts blocks as they were handed out, the newest first. */
static int
by_age(const void *a, const void *b)
{
	const struct block *p = *(struct block *const *)a;
	const struct block *q = *(struct block *const *)b;

	if (p->generation != q->generation)
		return p->generation > q->generation ? -1 : 1;
	return p->off > q->off ? -1 : p->off < q->off;
}

/*
 * Notes how far each block is filled.  A thread goes from older blocks to newer ones.  We
 * look at the newest blocks first: so if we see an event, we also see the thread's events
 * before it.  A block that a writer has
 * held for a lap or more stands at a wrong place in this order: so at the end we look at all such
 * blocks once more, the newest first.
 */
static void
copy_mark(const struct tnf_file *f, const struct live *from, const struct round *r,
    struct marks *m)
{
	uint32_t i, n = 0;

	for (i = r->n; i-- > 0;) {
		struct block *mark = &m->block[i];
		*mark = copy_look(from, copy_place(f, r, i));
		if (laps_behind(f, r, mark) > 0 &&
		    mark->generation != TNF_GENERATION_FREE)
			m->held[n++] = mark;
	}
	qsort(m->held, n, sizeof *m->held, by_age);
	for (i = 0; i < n; i++) {
		struct block b = copy_look(from, m->held[i]->off);
		if (b.generation == m->held[i]->generation)
			m->held[i]->used = b.used;
	}
	/* If the cursor has not moved, no writer has taken a block since.  Blocks that seem newer
	   than the cursor then show that the cursor is wrong: their marks stay. */
	if (file_cursor(f) == r->cursor)
		return;
	for (i = 0; i < r->n; i++)
		if (laps_behind(f, r, &m->block[i]) < 0)
			m->block[i].used = 0;
}

/* Copies each block up to its bytes_valid, which is read before the bytes. */
static void
copy_data(const struct tnf_file *f, const struct live *from, unsigned char *to,
    const struct round *r)
{
	struct live_use use;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t off = copy_place(f, r, i);
		use = tnf_live_look(from, off);
		if (use.generation != TNF_GENERATION_FREE &&
		    use.generation != TNF_GENERATION_TAG)
			tnf_live_copy(from, off, to + off, &use);
	}
}

/* Two views of the copy: 'copy' reads it, 'to' writes to it. */
struct target {
	const struct tnf_file *copy;
	unsigned char *to;
};

/* A block that was copied as data and became one of definitions afterwards keeps its
   copy: no event in the copy refers to the new definitions, but some may refer to the
   old data. */
static bool
put_definitions(void *arg, uint64_t off, const void *block, size_t n)
{
	struct target *t = arg;
	uint32_t generation = file_block(t->copy, (uint32_t)off).generation;

	if (generation == TNF_GENERATION_FREE || generation == TNF_GENERATION_TAG)
		memcpy(t->to + off, block, n);
	return true;
}

/*
 * Leaves out blocks that have been taken over since they were copied.  An event refers
 * only to newer blocks, and we look at the newest first: so if an event stays, all blocks
 * that it refers to have stayed.
 */
static void
drop_taken(const struct live *from, const struct tnf_file *copy,
    unsigned char *to, const struct round *r)
{
	for (uint32_t i = r->n; i-- > 0;) {
		uint32_t off = copy_place(copy, r, i);
		if (file_block(copy, off).generation != tnf_live_look(from, off).generation)
			memset(to + off, 0, copy->block_size);
	}
}

/* Erases the events of a block that are newer than its mark.  Records that they refer to stay, since
   an older event may refer to them, too. */
static void
hide_newer(struct tnf_file *copy, unsigned char *to, const struct block *mark)
{
	enum walk_status r;
	struct walk w;

	if (tnf_walk_start(&w, copy, mark->off) != WALK_RECORD ||
	    w.generation == TNF_GENERATION_TAG)
		return;
	if (w.generation == mark->generation &&
	    mark->used > copy->block_header_size)
		w.next = mark->off + mark->used;
	while ((r = tnf_walk_next(&w)) >= WALK_RECORD)
		if (r == WALK_RECORD && walk_is_event(&w))
			memset(to + w.pos, 0, w.next - w.pos);
}

static void
copy_take(const struct tnf_file *f, const struct live *from, struct target *t,
    struct tnf_file *copy, struct marks *marks)
{
	unsigned char *to = t->to;
	struct round r;

	for (uint32_t i = 0; i < TRIES; i++) {
		r = from_the_oldest(f);
		copy_mark(f, from, &r, marks);
		copy_data(f, from, to, &r);
		drop_taken(from, copy, to, &r);
		/* If writers have taken a quarter of the blocks since, we look and copy again; the
		   last of the TRIES stands. */
		if (r.data == 0 || file_cursor(f) - r.cursor < r.data / 4)
			break;
	}
	tnf_live_copy_words(from, 0, to, f->data_start);
	tnf_live_copy_definitions(from, marks->defined, marks->room, put_definitions, t);
	memcpy(to + f->bytes.size, f->bytes.base + f->bytes.size,
	    f->whole - f->bytes.size);
	for (uint32_t i = 0; i < r.n; i++)
		hide_newer(copy, to, &marks->block[i]);
}

/* As tnf_copy_live(); the blocks are read by way of 'from'. */
static int
copy_from(const struct tnf_file *f, const struct live *from, unsigned char *to)
{
	size_t blocks = (size_t)(f->bytes.size >> f->block_shift) + 1;
	struct tnf_file copy;
	struct target t = { &copy, to };
	struct marks m;
	int err;

	/* The header does not change; the rest is filled in. */
	memcpy(to, f->bytes.base, f->data_start);
	if ((err = tnf_file_init(&copy, to, f->whole, FILE_STRICT)) != 0)
		return err;
	m.block = calloc(blocks, sizeof *m.block);
	m.held = calloc(blocks, sizeof *m.held);
	m.defined = calloc(blocks, sizeof *m.defined);
	m.room = malloc(f->block_size);
	if (m.block == NULL || m.held == NULL || m.defined == NULL || m.room == NULL)
		err = TNF_ERR_ALLOCFAIL;
	else
		copy_take(f, from, &t, &copy, &m);
	free(m.block);
	free(m.held);
	free(m.defined);
	free(m.room);
	tnf_file_done(&copy);
	return err;
}

int
tnf_copy_live(const struct tnf_file *f, unsigned char *to)
{
	const struct live from = { .base = f->bytes.base, .size = f->bytes.size,
	    .first = f->data_start, .block_size = f->block_size, .swap = f->bytes.swap };

	return copy_from(f, &from, to);
}
