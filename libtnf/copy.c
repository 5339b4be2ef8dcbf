/*
 * copy.c - what a file held at one moment, while it is written.
 *
 * The moment comes first: how far each block is filled.  Then the bytes are
 * copied, and what was added meanwhile is hidden.  An event that stays has all
 * it refers to, and none of the same thread before it is missing.
 */
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "walk.h"

#define TRIES	4

/* All blocks, in an order: the one that is taken next, which is the oldest,
   comes first. */
struct round {
	uint32_t n, first;
	uint32_t data;		/* data blocks; 0: the file does not say */
	uint64_t cursor;
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
place(const struct tnf_file *f, const struct round *r, uint32_t i)
{
	uint64_t n = ((uint64_t)r->first + i) % r->n;

	return f->data_start + (uint32_t)(n << f->block_shift);
}

/* Taken since the round began: not in the lap that the cursor tells. */
static bool
is_new(const struct tnf_file *f, const struct round *r, const struct block *b)
{
	uint64_t lap;
	uint32_t i;

	if (r->data == 0 || b->off < f->ext.data_start)
		return false;
	i = (b->off - f->ext.data_start) >> f->block_shift;
	lap = r->cursor / r->data + (i < r->cursor % r->data);
	/* Generations begin with 1, and then again. */
	if (lap > 0)
		lap = (lap - 1) % (TNF_GENERATION_TAG - 1) + 1;
	return (int32_t)(b->generation - (uint32_t)lap) > 0;
}

/*
 * How far each block is filled; of a thread's blocks the newest is looked at
 * first.  If an event is seen there, those before it will be seen as well.
 */
static void
mark(const struct tnf_file *f, const struct round *r, struct block *marks)
{
	uint32_t i;

	for (i = r->n; i-- > 0;) {
		marks[i] = file_block(f, place(f, r, i));
		if (is_new(f, r, &marks[i]))
			marks[i].used = 0;
	}
}

/* If its writer has lost it to somebody else meanwhile, the copy becomes a
   block that was never used. */
static void
copy_block(const struct tnf_file *f, unsigned char *to, uint32_t off)
{
	struct block before = file_block(f, off), after;
	const unsigned char *p = bytes_at(&f->bytes, off, f->block_size);

	if (p == NULL)
		return;
	memcpy(to + off, p, f->block_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	after = file_block(f, off);
	if (after.generation != before.generation || after.used < before.used)
		memset(to + off, 0, f->block_size);
}

static void
copy_blocks(const struct tnf_file *f, unsigned char *to, const struct round *r,
    bool tags)
{
	struct block b;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		b = file_block(f, place(f, r, i));
		if (b.generation != TNF_GENERATION_FREE &&
		    (b.generation == TNF_GENERATION_TAG) == tags)
			copy_block(f, to, b.off);
	}
}

/*
 * Leaves out what has been taken over since it was copied.  An event reaches
 * into newer blocks only.  The newest are looked at first: of an event that
 * stays, all it reaches into has stayed.
 */
static void
drop_taken(const struct tnf_file *f, const struct tnf_file *copy,
    unsigned char *to, const struct round *r)
{
	uint32_t i, off;

	for (i = r->n; i-- > 0;) {
		off = place(f, r, i);
		if (file_block(copy, off).generation !=
		    file_block(f, off).generation)
			memset(to + off, 0, f->block_size);
	}
}

/* The events of a block that are newer than the mark.  What they refer to
   stays: an older one may refer to it as well. */
static void
hide_newer(struct tnf_file *copy, unsigned char *to, const struct block *mark)
{
	struct walk w;

	if (walk_start(&w, copy, mark->off) != WALK_RECORD ||
	    w.generation == TNF_GENERATION_TAG)
		return;
	if (w.generation == mark->generation &&
	    mark->used > copy->block_header_size)
		w.next = mark->off + mark->used;
	while (walk_next(&w) == WALK_RECORD)
		if (walk_is_event(&w))
			memset(to + w.pos, 0, w.next - w.pos);
}

/* Two views of the copy: 'copy' reads it, 'to' writes to it. */
static void
take(const struct tnf_file *f, struct tnf_file *copy, unsigned char *to,
    struct block *marks)
{
	struct round r;
	uint32_t i;

	for (i = 0; i < TRIES; i++) {
		r = from_the_oldest(f);
		mark(f, &r, marks);
		copy_blocks(f, to, &r, false);
		drop_taken(f, copy, to, &r);
		/* The writer has overwritten too much of it meanwhile? */
		if (r.data == 0 || file_cursor(f) - r.cursor < r.data / 4)
			break;
	}
	/* What is referred to comes after what refers to it. */
	memcpy(to, f->bytes.base, f->data_start);
	copy_blocks(f, to, &r, true);
	memcpy(to + f->bytes.size, f->bytes.base + f->bytes.size,
	    f->whole - f->bytes.size);
	for (i = 0; i < r.n; i++)
		hide_newer(copy, to, &marks[i]);
}

int
copy_live(const struct tnf_file *f, unsigned char *to)
{
	struct tnf_file copy;
	struct block *marks;
	int err;

	/* The header does not change; the rest is filled in. */
	memcpy(to, f->bytes.base, f->data_start);
	if ((err = file_init(&copy, to, f->whole, FILE_STRICT)) != 0)
		return err;
	marks = calloc((f->bytes.size >> f->block_shift) + 1, sizeof *marks);
	if (marks == NULL)
		err = TNF_ERR_ALLOCFAIL;
	else
		take(f, &copy, to, marks);
	free(marks);
	file_done(&copy);
	return err;
}
