/*
 * history.h - for the tests of tnfwatch's history: a ring whose writer does what a test
 * says, and a worker that is done at once.  It has history.c in it.
 */
#ifndef TESTS_WATCH_HISTORY_H
#define TESTS_WATCH_HISTORY_H

#include <string.h>

#include "tests/check-run.h"

static void *copy(void *to, const void *from, size_t n);
#define memcpy(to, from, n)	copy(to, from, n)
#include "tnfwatch/history.c"
#undef memcpy

#define BLOCK	512u
#define DATA	4u		/* number of the first data block */
#define RING	16u		/* data blocks */
#define TYPES	3u		/* a block of types, before them */
#define START	(INT64_C(100) * SECOND)
#define STEP	(10 * MS)	/* the writer needs so long for a block */

static _Alignas(8) unsigned char ring[(DATA + RING) * BLOCK];
static struct tnf_ext *const ext = (void *)(ring + TNF_EXT_OFFSET);
static struct source src = { .kind = SOURCE_PROCESS, .base = ring, .size = sizeof ring, .id = (char[]){ "shop-1" } };
static unsigned in_ring = RING;	/* data blocks of this test */
static struct history *h;
static uint64_t load;		/* that waits for the worker */
static uint64_t written;	/* blocks that the writer has taken */
static unsigned contexts;
static enum segment_state result;
static void (*during)(uint32_t block);	/* a block is copied */

/* A worker that is at once done with it, and 100 bytes are left of each. */
void
segment_queue(struct segment *s)
{
	s->state = (int)result;
	s->error = result == SEGMENT_FAILED ? ENOSPC : 0;
	s->size = 100;
}

enum segment_state
segment_state(const struct segment *s)
{
	return (enum segment_state)s->state;
}

void
segment_free(struct segment *s)
{
	free(s->at);
	free(s->from);
	free(s->raw);
	free(s->blocks);
	free(s->context);
	free(s->path);
	free(s);
}

uint64_t segment_worker_load(void) { return load; }
void segment_worker_pause(void) { }

void
segment_worker_go_on(void)
{
	h->first->state = SEGMENT_DONE;
}

static bool channel_refuses;

/* Those that a test has damaged cannot be written. */
int
segment_put(const struct segment *s, int dir, const char *name)
{
	return channel_refuses ? EIO : s->n_raw == 0 ? ENOSPC : s->block_size == 0 ? EBADMSG : 0;
}

void
source_note_context(struct source *s)
{
	static char facts[] = "facts";

	contexts++;
	s->context = facts;
	s->context_size = 5;
}

static unsigned channel_events;	/* blocks that it has still */
static int channel_elsewhere;

size_t
channel_blocks(const struct channel *c, const struct blocks *b, struct channel_place *p,
    unsigned char *to, size_t n, bool (*elsewhere)(void *, uint32_t, uint32_t), void *arg)
{
	unsigned i = 0;

	for (; i < n && channel_events > 0; i++, channel_events--) {
		memset(to + i * BLOCK, 0, BLOCK);
		memset(to + i * BLOCK + 100, (int)channel_events, 20);
	}
	/* Blocks that are elsewhere: in a segment, or in the ring's file. */
	channel_elsewhere = elsewhere(arg, DATA, 1) + 2 * elsewhere(arg, DATA + 1, 9) + 4 * elsewhere(arg, DATA + 1, 8) +
	    8 * elsewhere(arg, DATA + RING, 1);
	return i;
}

static void *
copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	if (during != NULL && n == BLOCK && (const unsigned char *)from >= ring + DATA * BLOCK &&
	    (const unsigned char *)from < ring + sizeof ring)
		during((uint32_t)(((const unsigned char *)from - ring) / BLOCK));
	return to;
}

static struct tnf_block_header *
header(uint32_t block)
{
	return (void *)(ring + block * BLOCK);
}

static int64_t
time_of(uint64_t number)
{
	return START + (int64_t)number * STEP;
}

static uint32_t
place_of(uint64_t number)
{
	return DATA + number % in_ring;
}

/* The block with that number, as its writer has left it. */
static void
block_fill(unsigned char *at, uint64_t number, bool kernel)
{
	struct tnf_block_header b = { .tag = 4, .bytes_valid = BLOCK,
	    .generation = kernel ? (uint32_t)number : (uint32_t)(number / in_ring) + 1 };
	struct tnf_sched_rec s = { .tag = 8, .time_base = time_of(number) };
	struct tnf_kernel_schedule k = { .tag = 8, .time_base = time_of(number),
	    .cpuid = (int32_t)(number % 2), .number = (uint32_t)(number / 2) + 1 };

	memset(at, (int)(number % 251), BLOCK);
	memcpy(at, &b, sizeof b);
	if (kernel)
		memcpy(at + sizeof b, &k, sizeof k);
	else
		memcpy(at + sizeof b, &s, sizeof s);
}

static void
write_blocks(unsigned n)
{
	while (n-- > 0) {
		ext->data_cursor = written + 1;
		block_fill(ring + place_of(written) * BLOCK, written, ext->kind == TNF_EXT_KERNEL);
		written++;
	}
}

static void
tick(void)
{
	history_tick(h, &src, time_of(written), false);
}

/* So many blocks are half a lap old, or more, and are copied when there is a tick. */
static void
write_old(unsigned n)
{
	write_blocks(RING / 2);
	tick();
	write_blocks(n);
}

static void
begin(bool kernel, int64_t keep, uint64_t limit)
{
	struct tnf_file_header f = { .magic = TNF_MAGIC, .block_header_size = sizeof(struct tnf_block_header),
	    .block_size = BLOCK, .directory_size = 2 * BLOCK, .block_count = DATA + in_ring };
	struct history_place p = { .keep = keep, .limit = limit };

	memset(ring, 0, sizeof ring);
	memcpy(ring, &f, sizeof f);
	src.size = (DATA + in_ring) * BLOCK;
	*ext = (struct tnf_ext){ .magic = TNF_EXT_MAGIC, .kind = kernel ? TNF_EXT_KERNEL : TNF_EXT_PROCESS,
	    .data_start = DATA * BLOCK, .start_mono = START, .cookie = 7, .attached = 3, .ended = 1 };
	header(TYPES)->generation = TNF_GENERATION_TAG;
	src.kind = kernel ? SOURCE_KERNEL : SOURCE_PROCESS;
	src.context = NULL;
	load = written = contexts = 0;
	during = NULL;
	result = SEGMENT_DONE;
	h = history_new(&src, &p);
	ck_assert_ptr_nonnull(h);
	h->time = h->before = START;
}

static void
end(void)
{
	history_free(h);
	h = NULL;
	ck_assert_uint_eq(history_bytes, 0);
	in_ring = RING;
}

/* In how many segments a block is; as it was written, the kernel's apart from 'pad'. */
static unsigned
count_of(uint64_t number)
{
	unsigned char want[BLOCK];
	unsigned n = 0;

	block_fill(want, number, false);
	for (const struct segment *s = h->first; s != NULL; s = s->next)
		for (uint32_t i = 0; i < s->n_raw; i++) {
			if (i > 0 && s->at[i] <= s->at[i - 1])
				ck_abort_msg("%u and %u", s->at[i - 1], s->at[i]);
			n += s->at[i] == place_of(number) &&
			    memcmp(segment_block_at(s, i), want, BLOCK) == 0;
		}
	return n;
}

static const struct history_status *
status(void)
{
	static struct history_status st;

	history_status(h, &st);
	return &st;
}

#endif /* TESTS_WATCH_HISTORY_H */
