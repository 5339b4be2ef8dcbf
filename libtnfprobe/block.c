/*
 * block.c - data blocks: who has which, and which is next.
 *
 * All writers of a file share one cursor.  A number n from it names block
 * n mod (number of blocks), lap n / (number of blocks) + 1.  After LAPS laps
 * their generations begin again, which takes days at the least.  The lock of a
 * block is its owner word (next_block): 0, or who holds it.  A block that is
 * held is passed over; it keeps its generation and what is in it.
 */
#include "libtnfprobe/internal.h"

#define ATTEMPTS	200	/* then the event is lost */
#define RUN_MAX		16	/* numbers that a thread takes at once, at most */
#define RUN_NS		1000	/* a thread that fills each block within this time takes more */
#define RUN_FILE	2048	/* data blocks that a file must have for that */
#define CROWD_HELD	16	/* a held block adds this to t->crowd, a free block takes 1 off */
#define CROWD_ASK	64	/* t->crowd from which on we ask whether an owner lives */
#define LAPS		0xfffffffeu	/* generations 1 to LAPS */
#define TAG_WORD	TAG_OF(BLOCK_SIZE + TNF_DIR_BLOCK_HEADER)

/* Losses that are counted before the process has its file. */
static uint64_t early[TNF_LOST_REASONS];
static bool have_file;

void
tnf_lost(enum tnf_lost why)
{
	const struct file *later = tnf_p.later;
	uint64_t *lost = early;

	if (later != NULL)
		lost = tnf_ext(later)->lost;
	else if (__atomic_load_n(&have_file, __ATOMIC_ACQUIRE))
		lost = tnf_ext(tnf_file())->lost;
	__atomic_fetch_add(&lost[why], 1, __ATOMIC_RELAXED);
}

void
tnf_lost_move_early(void)
{
	__atomic_store_n(&have_file, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++)
		__atomic_fetch_add(&tnf_ext(tnf_file())->lost[i],
		    __atomic_exchange_n(&early[i], 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* The value of next_block in a block that the thread holds: pid and tid fit in 22 bits each; the rest
   tells pid name spaces apart. */
static uint64_t
owner_word(const struct thread *t)
{
	return (uint64_t)tnf_p.pidns << 44 | (uint64_t)tnf_p.pid << 22 | t->tid;
}

static bool
is_dead(uint64_t owner)
{
	int pid = owner >> 22 & 0x3fffff, tid = owner & 0x3fffff;

	if (owner == TAG_OWNER || tnf_p.pidns == 0 ||
	    owner >> 44 != tnf_p.pidns || pid == 0 || tid == 0)
		return false;
	return syscall(SYS_tgkill, pid, tid, 0) == -1 && errno == ESRCH;
}

/*
 * Takes the block if it is free, or if its owner is dead; false: it stays with its owner.
 *
 * The kernel tells whether an owner lives, but a seccomp filter may kill a process that asks.  So
 * a thread asks only if lately more than about one block in CROWD_HELD was held; otherwise it
 * passes over a held block.
 */
static bool
block_take(struct thread *t, struct tnf_block_header *b, uint64_t me)
{
	uint64_t owner = 0;

	if (__atomic_compare_exchange_n(&b->next_block, &owner, me, false,
	    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		t->crowd -= t->crowd > 0;
		return true;
	}
	if (t->crowd < CROWD_ASK) {
		t->crowd += CROWD_HELD;
		return false;
	}
	return !is_quiet() && is_dead(owner) &&
	    __atomic_compare_exchange_n(&b->next_block, &owner, me, false,
	    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Raises the hint in the file header, the highest block used so far, to the block at 'offset'. */
void
tnf_block_valid(const struct file *f, uint32_t offset)
{
	struct tnf_file_header *h = (struct tnf_file_header *)(void *)f->base;
	uint32_t n = offset / BLOCK_SIZE;
	uint32_t seen = __atomic_load_n(&h->blocks_valid, __ATOMIC_RELAXED);

	while (n > seen && !__atomic_compare_exchange_n(&h->blocks_valid,
	    &seen, n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * First empties the block, then changes its generation; only after that records are written into
 * the block.  So a reader that finds the same generation before and after a copy knows that the
 * copy is of one lap.
 */
static void
start_lap(const struct file *f, struct tnf_block_header *b, uint32_t generation)
{
	b->A_lock = 1;
	b->B_lock = 1;
	__atomic_store_n(&b->bytes_valid, HEADER_SIZE, __ATOMIC_RELEASE);
	/* A full barrier: what is written into the block comes after it. */
	__atomic_exchange_n(&b->generation, generation, __ATOMIC_SEQ_CST);
	b->B_lock = 0;
	/* A block that was passed over in the first lap has its first use in a later one. */
	if (generation == 1 || b->tag != TAG_WORD) {
		mark_block(f, b);
		__atomic_store_n(&b->tag, TAG_WORD, __ATOMIC_RELEASE);
		tnf_block_valid(f, offset_of(f, b));
	}
}

/*
 * Returns the number of the next block.  The cache line of the cursor goes from CPU to CPU, so a
 * thread that fills one block after the other takes several numbers at once, twice as many each
 * time.  A thread that pauses may use the rest of its numbers later, unless the others have
 * advanced by an eighth of the file: then these blocks are overwritten soon, and are no place
 * for the newest events.
 */
static uint64_t
next_number(struct thread *t, const struct file *f, int64_t now)
{
	uint64_t *cursor = &tnf_ext(f)->data_cursor;
	bool same_hit = now == t->run_at, hurry = now < t->run_due && !same_hit;

	if (t->run_file != f)
		t->run = t->run_end = 0;
	t->run_file = f;
	if (t->run < t->run_end && (hurry || same_hit ||
	    __atomic_load_n(cursor, __ATOMIC_RELAXED) - t->run < f->data_blocks / 8))
		return t->run++;
	/* In a file that is written once, the blocks that a thread has taken and does not need
	   would stay empty. */
	if (!hurry || f->fill || f->data_blocks < RUN_FILE)
		t->run_size = 1;
	else if (t->run_size < RUN_MAX)
		t->run_size *= 2;
	t->run = __atomic_fetch_add(cursor, t->run_size, __ATOMIC_RELAXED);
	t->run_end = t->run + t->run_size;
	t->run_at = now;
	t->run_due = now + t->run_size * RUN_NS;
	return t->run++;
}

/* True if the file is written once and all its blocks are taken.  We ask before we take a number,
   so that the cursor stays near the end. */
static bool
is_full(const struct file *f)
{
	return f->fill && __atomic_load_n(&tnf_ext(f)->data_cursor,
	    __ATOMIC_RELAXED) >= f->data_blocks;
}

enum tnf_lost
tnf_block_why_none(void)
{
	return is_full(tnf_file()) ? TNF_LOST_FULL : TNF_LOST_NO_BLOCK;
}

/* Takes the next block that is not held, one of the oldest; NULL: none was found. */
struct tnf_block_header *
tnf_block_take(struct thread *t, int64_t now)
{
	const struct file *f = tnf_file();
	uint64_t n, me = owner_word(t);
	uint32_t generation, old;
	struct tnf_block_header *b;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		if (is_full(f))
			return NULL;
		n = next_number(t, f, now);
		if (f->fill && n >= f->data_blocks)
			return NULL;
		generation = (uint32_t)(n / f->data_blocks % LAPS) + 1;
		b = header_of(f->base + DATA_START + n % f->data_blocks * BLOCK_SIZE);
		if (!block_take(t, b, me))
			continue;
		/* We are late: the block has been used in this lap or a later one. */
		old = __atomic_load_n(&b->generation, __ATOMIC_RELAXED);
		if (old != TNF_GENERATION_FREE && (int32_t)(generation - old) <= 0) {
			__atomic_store_n(&b->next_block, 0, __ATOMIC_RELEASE);
			continue;
		}
		start_lap(f, b, generation);
		return b;
	}
	return NULL;
}

/*
 * True if the thread's block is so many laps old that a reference from there will soon not reach
 * (REACH) a new block; a long string would need such a reference.
 */
bool
tnf_block_is_far(const struct thread *t)
{
	const struct tnf_block_header *b = header_of(t->block);
	uint64_t laps;

	if (b == NULL)
		return false;
	laps = __atomic_load_n(&tnf_ext(t->file)->data_cursor,
	    __ATOMIC_RELAXED) / t->file->data_blocks % LAPS + 1;
	laps = (uint32_t)((uint32_t)laps - b->generation);
	return laps > 0 && (laps + 2) << t->file->shift > REACH;
}

void
tnf_block_give(struct tnf_block_header *b)
{
	b->A_lock = 0;
	__atomic_store_n(&b->next_block, 0, __ATOMIC_RELEASE);
}

/*
 * A hit with a long value may fill more blocks than t->held[] can list.  So each of these blocks
 * names the one before it, in the last bytes, which no piece reaches and no reader reads.  The
 * blocks stay held until the event is committed.  Otherwise, while this thread does not run,
 * others could overwrite them but not the block of the event, which is held: the event would
 * refer to foreign bytes.
 */
void
tnf_block_chain(struct thread *t, char *block)
{
	*(uint32_t *)(void *)(block + CHAIN_PLACE) = t->loose;
	signal_fence();
	t->loose = offset_of(t->file, block);
	t->nloose++;
}

/* Gives back the blocks of the chain.  The chain is in the file, where any process may have changed
   it: so its length, places and owners are checked. */
void
tnf_block_give_chain(struct thread *t)
{
	uint32_t at = t->loose, n = t->nloose, next;
	uint64_t me = owner_word(t);
	const struct file *f = t->file;
	struct tnf_block_header *b;

	t->loose = t->nloose = 0;
	signal_fence();
	for (; n > 0 && at >= DATA_START && at < f->size && at % BLOCK_SIZE == 0;
	    n--, at = next) {
		b = header_of(f->base + at);
		next = *(uint32_t *)(void *)(f->base + at + CHAIN_PLACE);
		if (__atomic_load_n(&b->next_block, __ATOMIC_RELAXED) == me)
			tnf_block_give(b);
	}
}

/* The thread forgets all its blocks and numbers.  With 'give' it also gives them back; it forgets
   them first, so that a signal handler in between does not use them.  Without 'give' they are the
   parent's (after fork()) or in a file that is gone, and stay as they are. */
void
tnf_block_drop_all(struct thread *t, bool give)
{
	struct tnf_block_header *b = header_of(t->block);
	char *held[HELD_MAX];
	unsigned n = t->nheld;

	for (unsigned i = 0; i < n; i++)
		held[i] = t->held[i];
	if (give) {
		uint64_t end = t->run_end;

		/* The numbers go back if nobody has taken any since. */
		if (t->run < end)
			__atomic_compare_exchange_n(&tnf_ext(t->run_file)->data_cursor, &end,
			    t->run, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		tnf_block_give_chain(t);
	}
	t->loose = t->nloose = 0;
	t->block = t->pos = t->end = t->lim = t->sched = NULL;
	t->tsc_limit = 0;
	t->nheld = t->used = 0;
	t->text_age++;
	t->run = t->run_end = 0;
	signal_fence();
	if (give && b != NULL)
		tnf_block_give(b);
	while (give && n > 0)
		tnf_block_give(header_of(held[--n]));
}
