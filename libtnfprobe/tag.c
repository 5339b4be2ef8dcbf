/*
 * tag.c - room in tag blocks, which are permanent, and transactions there.
 *
 * One thread of a process at a time writes a definition; a process has a tag
 * block of its own.  Its records are beyond bytes_valid and nobody sees them
 * until tnf_tag_end() moves bytes_valid, last block first: a reader finds a
 * definition with all that it refers to.  A writer killed before leaves
 * nothing, one killed in between leaves definitions that nothing refers to.
 */
#include "libtnfprobe/internal.h"

#define BLOCKS_MAX	64	/* of one transaction */

struct reach {
	uint32_t block;		/* offset */
	uint32_t end;		/* what the transaction has reached there */
};

static struct {
	uint32_t block;		/* offset of our tag block; 0 none */
	uint32_t pos;		/* offset of its first free byte */
	uint32_t start;		/* pos before the transaction */
	unsigned n;
	unsigned nspare;	/* blocks of transactions that have failed */
	uint32_t spare[BLOCKS_MAX];
	bool	 open;		/* between begin and end */
	struct reach reach[BLOCKS_MAX];
} tag;

/* Scratch target once there is no room, so that callers need no checks. */
static uint32_t nowhere[BLOCK_SIZE / 4];

static uint32_t *tag_room(void *, uint32_t, uint32_t *);

struct tnf_definer tnf_definer = { .room = tag_room };
static struct tnf_definer saved;	/* before the transaction */

/* Not for longer than others take to write a definition: we may be in a
   signal handler, and the other thread may be stopped by a debugger. */
bool
tnf_tag_begin(void)
{
	bool may;

	work_begins();
	/* Else this hit is not ours: see process.c, leave_hit(). */
	may = tnf_p.later == NULL;
	for (unsigned i = 0; may && __atomic_exchange_n(&tnf_p.guard->tag_lock, 1,
	    __ATOMIC_ACQUIRE) != 0; i++)
		may = tnf_wait(i);
	if (!may) {
		work_ends();
		return false;
	}
	tag.n = 1;
	tag.reach[0].block = tag.block;
	tag.reach[0].end = tag.start = tag.pos;
	tnf_definer.failed = false;
	saved = tnf_definer;
	__atomic_store_n(&tag.open, true, __ATOMIC_RELEASE);
	return true;
}

/* A new process (the child of a fork) takes blocks of its own, and relies on
   nothing that a thread of the parent was about to write. */
void
tnf_tag_reset(void)
{
	tag.block = 0;
	tag.nspare = 0;
	if (tag.open)
		tnf_definer = saved;
	tag.open = false;
}

static struct tnf_block_header *
header_at(uint32_t offset)
{
	return header_of(tnf_file()->base + offset);
}

/* Ends the transaction; 'done' is called under its lock if all is written.
   false: no room, nothing has been written. */
bool
tnf_tag_end(void (*done)(void))
{
	bool ok = !tnf_definer.failed;

	if (ok) {
		while (tag.n-- > 0) {
			const struct reach *r = &tag.reach[tag.n];

			if (r->block != 0)
				__atomic_store_n(&header_at(r->block)->bytes_valid,
				    (uint16_t)(r->end - r->block), __ATOMIC_RELEASE);
		}
		if (done != NULL)
			done();
	} else {
		while (tag.n > 1)
			tag.spare[tag.nspare++] = tag.reach[--tag.n].block;
		tag.block = tag.reach[0].block;
		tag.pos = tag.start;
		tnf_definer = saved;
		tnf_lost(TNF_LOST_NO_TAG_SPACE);
	}
	__atomic_store_n(&tag.open, false, __ATOMIC_RELEASE);
	__atomic_store_n(&tnf_p.guard->tag_lock, 0, __ATOMIC_RELEASE);
	work_ends();
	tnf_wait_over();
	return ok;
}

/* The reserve first; then data blocks, but not all of them. */
static struct tnf_block_header *
take_block(void)
{
	const struct file *f = tnf_file();
	struct tnf_block_header *b;
	uint32_t n = __atomic_fetch_add(&tnf_ext(f)->tag_cursor, 1, __ATOMIC_RELAXED);

	if (n < TAG_RESERVE)
		b = header_at(TAG_START + n * BLOCK_SIZE);
	else if (n - TAG_RESERVE >= f->data_blocks / 4 * 3 ||
	    (b = tnf_block_take(&tnf_t, tnf_t.run_due)) == NULL) {
		__atomic_fetch_sub(&tnf_ext(f)->tag_cursor, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	b->next_block = TAG_OWNER;
	b->A_lock = 1;
	mark_block(f, b);
	__atomic_store_n(&b->bytes_valid, HEADER_SIZE, __ATOMIC_RELEASE);
	__atomic_store_n(&b->generation, TNF_GENERATION_TAG, __ATOMIC_RELEASE);
	__atomic_store_n(&b->tag, TNF_BLOCK_HEADER_TAG(BLOCK_SIZE), __ATOMIC_RELEASE);
	tnf_block_valid(f, offset_of(f, b));
	return b;
}

static bool
next_block(void)
{
	struct tnf_block_header *b;

	if (tag.n == BLOCKS_MAX)
		return false;
	if (tag.nspare > 0)
		b = header_at(tag.spare[--tag.nspare]);
	else if ((b = take_block()) == NULL)
		return false;
	tag.block = offset_of(tnf_file(), b);
	tag.pos = tag.block + HEADER_SIZE;
	tag.reach[tag.n++] = (struct reach){ tag.block, tag.pos };
	return true;
}

uint32_t
tnf_tag_block(void)
{
	struct tnf_block_header *b;

	if (tag.nspare > 0)
		return tag.spare[--tag.nspare];
	b = take_block();
	return b == NULL ? 0 : offset_of(tnf_file(), b);
}

void
tnf_tag_spare(uint32_t block)
{
	if (!tnf_tag_begin())
		return;
	if (tag.nspare < BLOCKS_MAX)
		tag.spare[tag.nspare++] = block;
	tnf_tag_end(NULL);
}

static uint32_t *
tag_room(void *unused, uint32_t size, uint32_t *offset)
{
	char *at;

	size = (size + 7) & ~7u;
	if (tnf_definer.failed || size > BLOCK_SIZE - HEADER_SIZE)
		goto fail;
	if ((tag.block == 0 || tag.pos + size > tag.block + BLOCK_SIZE) && !next_block())
		goto fail;
	at = tnf_file()->base + tag.pos;
	memset(at, 0, size);
	*offset = tag.pos;
	tag.pos += size;
	tag.reach[tag.n - 1].end = tag.pos;
	return (uint32_t *)(void *)at;
fail:
	*offset = 0;
	return nowhere;
}

void
tnf_tag_forget(void)
{
	memset(tnf_definer.core, 0, sizeof(tnf_definer.core));
}
