/*
 * history.c - what a ring overwrites is in one segment, whole and as it was written, or
 * the history says from when on nothing is missing.
 */
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
static char names[400];

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

/* However often it is looked at, the ring and the segments have every block once. */
START_TEST(whole)
{
	unsigned step = (unsigned)_i % 4 + 1;

	in_ring = _i < 4 ? RING : 12;
	begin(false, 3600 * SECOND, 1 << 20);
	for (unsigned n = 0; n < 100 / step; n++) {
		write_blocks(step);
		tick();
		for (uint64_t k = 0; k < written; k++) {
			unsigned have = count_of(k);
			/* It is copied when half of the ring has come after it. */
			if (k + in_ring < written ? have != 1 : have != history_has(h, place_of(k),
			    (uint32_t)(k / in_ring) + 1) || (have > 0 && k + in_ring / 2 >= written))
				ck_abort_msg("%u a tick: block %llu of %llu is in %u segments", step,
				    (unsigned long long)k, (unsigned long long)written, have);
		}
	}
	ck_assert(history_has_all(h));
	ck_assert_uint_eq(status()->missed + status()->refused, 0);
	ck_assert_int_eq(status()->broken, 0);
	ck_assert_int_eq(status()->since, START);
	ck_assert_uint_eq(status()->bytes, 100 * status()->segments);
	ck_assert_uint_eq(history_bytes, status()->bytes);
	end();
}
END_TEST

/* Each segment is a trace file: with the header, the directory and the types. */
START_TEST(files)
{
	const struct segment *s;
	struct tnf_ext x;

	begin(false, 3600 * SECOND, 1 << 20);
	src.context = (char[]){ "thread 1" };
	src.context_size = _i;
	for (unsigned n = 0; n < 8; n++) {
		write_blocks(4);
		tick();
	}
	ck_assert_ptr_nonnull(s = h->first);
	ck_assert_int_eq(s->first_time, START);
	ck_assert_uint_eq(s->n_raw, s->n_blocks + 3);
	ck_assert_uint_eq(s->at[0], 0);
	ck_assert_uint_eq(s->at[1], 1);
	ck_assert_uint_eq(s->at[2], TYPES);
	ck_assert_uint_eq(s->at[3], DATA);
	memcpy(&x, segment_block_at(s, 0) + TNF_EXT_OFFSET, sizeof x);
	ck_assert_uint_eq(x.cookie, 0);
	ck_assert_uint_eq(x.ended, 3);
	ck_assert_uint_eq(x.extra_offset, _i > 0 ? sizeof ring : 0);
	ck_assert_uint_eq(x.extra_size, _i);
	ck_assert_int_eq(memcmp(s->context, "thread 1", (size_t)_i), 0);
	ck_assert_ptr_null(s->path);
	ck_assert_uint_eq(status()->raw, BLOCK * (written - RING / 2));
	end();
}
END_TEST

/* A block that was copied becomes one of types before the types are copied: it is there
   once, and its events count. */
static void
becomes_types(uint32_t block)
{
	if (block == DATA + 1)
		header(DATA)->generation = TNF_GENERATION_TAG;
}

START_TEST(types)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2 - 2);
	during = becomes_types;
	tick();
	ck_assert_uint_eq(h->first->n_raw, h->first->n_blocks + 3);
	ck_assert_uint_eq(count_of(0), 1);
	end();
}
END_TEST

/* Many blocks of types: there is room for all. */
START_TEST(all_types)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2);
	for (uint32_t i = DATA + 1; i < DATA + RING; i++)
		header(i)->generation = TNF_GENERATION_TAG;
	tick();
	ck_assert_ptr_nonnull(h->first);
	ck_assert_uint_eq(h->first->n_raw, DATA + RING - 1);
	ck_assert_uint_eq(h->first->n_blocks, 1);
	end();
}
END_TEST

/* However many they are, a segment has room for one more of them. */
START_TEST(room)
{
	struct segment *s;

	begin(false, 3600 * SECOND, 1 << 20);
	s = segment_begin(h, (uint32_t)_i);
	for (uint32_t i = 0; i < 5 * DEFINITIONS; i++) {
		segment_more(s);
		ck_assert_uint_lt(s->n_raw, s->room);
		memset(s->raw + i * BLOCK, (int)(i % 251), BLOCK);
		segment_add_raw(s, i);
	}
	for (uint32_t i = 0; i < 5 * DEFINITIONS; i++)
		ck_assert(s->at[i] == i && s->raw[i * BLOCK] == i % 251 && s->raw[i * BLOCK + BLOCK - 1] == i % 251);
	segment_free(s);
	end();
}
END_TEST

static uint64_t victim;		/* its writer comes while it is copied */

static void
taken(uint32_t block)
{
	if (block == place_of(victim))
		block_fill(ring + block * BLOCK, victim + RING, false);
}

static void
grown(uint32_t block)
{
	if (block == place_of(victim))
		header(block)->bytes_valid = BLOCK - 8;
}

/* Such a block is in no segment, counts as missed, and the history begins after it. */
START_TEST(overtaken)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2 - 2);
	victim = 2;
	during = _i == 0 ? taken : grown;
	tick();
	ck_assert_ptr_nonnull(h->first);
	ck_assert_uint_eq(status()->missed, 1);
	ck_assert_int_eq(status()->since, time_of(written));
	ck_assert(!history_has_all(h));
	ck_assert(!history_has(h, place_of(2), 1));
	for (uint64_t k = 0; k < 6; k++)
		ck_assert_uint_eq(count_of(k), k != 2);
	for (uint32_t i = 0; i < h->first->n_raw; i++)
		ck_assert_uint_ne(h->first->at[i], place_of(2));
	end();
}
END_TEST

/* A block that was taken between the choice and the copy. */
static void
taken_next(uint32_t block)
{
	if (block + 1 == place_of(victim))
		block_fill(ring + place_of(victim) * BLOCK, victim + RING, false);
}

START_TEST(chosen)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2 - 2);
	victim = 2;
	during = taken_next;
	tick();
	ck_assert_uint_eq(status()->missed, 1);
	ck_assert(!history_has(h, place_of(2), 1) && !history_has(h, place_of(2), 2));
	end();
}
END_TEST

/* More than half of the ring between two looks: the rest is counted as missed. */
START_TEST(late)
{
	static const struct { unsigned n, missed; } rows[] = { { 3, 0 }, { 4, 0 }, { 8, 0 }, { 9, 1 }, { 30, 22 } };

	begin(false, 3600 * SECOND, 1 << 20);
	write_blocks(8);
	tick();
	write_blocks(rows[_i].n);
	tick();
	ck_assert_uint_eq(status()->missed, rows[_i].missed);
	ck_assert_int_eq(status()->broken, rows[_i].missed == 0 ? 0 : time_of(written) + 3600 * SECOND);
	ck_assert_int_eq(status()->since, rows[_i].n == 3 ? 0 : rows[_i].missed == 0 ? START : time_of(written));
	ck_assert(history_has_all(h) == (rows[_i].n <= RING / 2));
	end();
}
END_TEST

/* Blocks that their writer has still are copied when it has done with them. */
START_TEST(held)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2 - 2);
	header(place_of(1))->next_block = 1;
	tick();
	ck_assert_uint_eq(count_of(0), 1);
	ck_assert(!history_has(h, place_of(1), 1));
	header(place_of(1))->next_block = 0;
	write_blocks(4);
	tick();
	ck_assert(!history_has(h, place_of(1), 1));	/* it was overwritten: 18 blocks */
	ck_assert(history_has(h, place_of(2), 1));
	ck_assert_uint_eq(h->first->cut, time_of(RING - 2));
	end();
}
END_TEST

/* A ring that itself reaches back far enough: only what was held for too long is copied. */
START_TEST(slow)
{
	begin(false, 4 * STEP, 1 << 20);
	for (unsigned n = 0; n < 40; n++) {
		write_blocks(4);
		if (n == 10)
			header(place_of(38))->next_block = 1;
		if (n == 11)
			header(place_of(38))->next_block = 0;
		tick();
		ck_assert_uint_eq(status()->missed, 0);
		ck_assert_uint_eq(status()->segments, n == 11 || n == 12);
		if (n == 11)
			ck_assert_uint_eq(count_of(38), 1);
		ck_assert_int_eq(status()->broken, 0);
	}
	ck_assert(!history_has_all(h));
	end();
}
END_TEST

/* Segments older than the promise go, unless an incident needs them. */
START_TEST(kept)
{
	int64_t keep = 20 * STEP, now;

	begin(false, keep, 1 << 20);
	for (unsigned n = 0; n < 60; n++) {
		write_blocks(4);
		now = time_of(written);
		history_tick(h, &src, now, false);
		for (const struct segment *s = h->first; s != NULL; s = s->next)
			ck_assert_int_le(now - s->cut, keep);
		for (uint64_t k = written > 20 ? written - 20 : 0; k + RING < written; k++)
			ck_assert_uint_eq(count_of(k), 1);
	}
	ck_assert_int_le(status()->since, now - keep);
	ck_assert_int_ge(status()->since, now - keep - 8 * STEP - RING * STEP);
	ck_assert(!history_has_all(h));
	ck_assert_uint_eq(status()->refused, 0);
	ck_assert_uint_eq(status()->raw, (uint64_t)BLOCK * 4 * status()->segments);
	size_t had = status()->segments;
	history_tick(h, &src, h->first->cut + keep, false);
	ck_assert_uint_eq(status()->segments, had);
	history_tick(h, &src, h->first->cut + keep + 1, true);
	ck_assert_uint_eq(status()->segments, had);
	history_tick(h, &src, h->first->cut + keep + 1, false);
	ck_assert_uint_eq(status()->segments, had - 1);
	history_tick(h, &src, now + 2 * keep, false);
	ck_assert_uint_eq(status()->segments, 0);
	ck_assert_uint_eq(status()->bytes + status()->raw, 0);
	ck_assert_int_eq(status()->since, 0);
	end();
}
END_TEST

/* More than there is room for: the oldest goes, held or not, and it is said. */
START_TEST(limit)
{
	begin(false, 3600 * SECOND, 300);
	for (unsigned n = 0; n < 6; n++) {
		write_blocks(4);
		history_tick(h, &src, time_of(written), true);
	}
	/* Blocks 0 to 15 in segments of four, but for the first cut, which comes too early. */
	ck_assert_uint_le(status()->bytes, 300);
	ck_assert_uint_eq(status()->segments, 3);
	ck_assert_uint_eq(status()->refused, 4);
	ck_assert_int_eq(status()->broken, time_of(written) + 3600 * SECOND);
	ck_assert_int_eq(status()->since, time_of(4));
	ck_assert_uint_eq(count_of(0) + count_of(3), 0);
	ck_assert_uint_eq(count_of(4), 1);
	ck_assert(!history_has(h, place_of(0), 1));
	/* Another limit. */
	history_promise(h, &(struct history_place){ .keep = SECOND, .limit = 299 });
	history_tick(h, &src, time_of(written), true);
	ck_assert_uint_eq(status()->segments, 2);
	ck_assert_int_eq(status()->broken, time_of(written) + SECOND);
	end();
	history_promise(NULL, &(struct history_place){ .keep = SECOND });
}
END_TEST

/* The worker is behind, or the others have taken all: nothing is copied, and it is said. */
START_TEST(refused)
{
	begin(false, 3600 * SECOND, 300);
	write_old(4);
	if (_i == 0)
		load = LOAD_MAX + 1;
	else {
		history_bytes = 301;
		histories = 302;	/* so that no bytes are its share */
	}
	tick();
	ck_assert_uint_eq(status()->segments, 0);
	ck_assert_uint_eq(status()->refused, 4);
	ck_assert_int_eq(status()->broken, time_of(written) + 3600 * SECOND);
	ck_assert_int_eq(h->whole_from, time_of(written));
	ck_assert(!history_has_all(h));
	load = LOAD_MAX;
	history_bytes = _i == 0 ? 0 : 200;
	write_blocks(4);
	tick();
	ck_assert_uint_eq(status()->segments, 1);
	ck_assert_uint_eq(status()->refused, 4);
	history_bytes -= _i == 0 ? 0 : 200;
	histories = 1;
	end();
}
END_TEST

/* It is said of one block, too, and not of none. */
START_TEST(refused_few)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2);
	for (uint32_t i = DATA + (uint32_t)_i; i < DATA + RING; i++)
		header(i)->generation = TNF_GENERATION_TAG;
	load = LOAD_MAX + 1;
	tick();
	ck_assert_uint_eq(status()->segments, 0);
	ck_assert_uint_eq(status()->refused, _i);
	ck_assert_int_eq(status()->broken != 0, _i != 0);
	ck_assert_int_eq(history_has_all(h), _i == 0);
	end();
}
END_TEST

/* Where all together have too much, one that has less than its share keeps what it has. */
START_TEST(share)
{
	static const struct { uint64_t others; size_t left; } rows[] = {
		{ 0, 2 }, { 299, 2 }, { 300, 2 }, { 302, 3 }, { 500, 3 },
	};

	begin(false, 3600 * SECOND, 1 << 20);
	for (unsigned n = 0; n < 5; n++) {
		write_blocks(4);
		tick();
	}
	ck_assert_uint_eq(status()->bytes, 300);
	ck_assert_uint_eq(histories, 1);
	histories = rows[_i].others == 0 ? 1 : 2;
	history_bytes += rows[_i].others;
	history_promise(h, &(struct history_place){ .keep = 3600 * SECOND, .limit = 200 });
	tick();
	ck_assert_uint_eq(status()->segments, rows[_i].left);
	histories = 1;
	history_bytes -= rows[_i].others;
	end();
	ck_assert_uint_eq(histories, 0);
}
END_TEST

/* One that could not be written: its blocks are nowhere. */
START_TEST(failed)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(4);
	tick();
	write_blocks(4);
	result = SEGMENT_FAILED;
	tick();
	ck_assert_uint_eq(status()->segments, 1);
	ck_assert_uint_eq(status()->refused, 4);
	ck_assert_int_eq(status()->error, ENOSPC);
	ck_assert_int_eq(status()->since, time_of(written));
	ck_assert(!history_has_all(h));
	ck_assert(history_has(h, place_of(3), 1) && !history_has(h, place_of(4), 1));
	ck_assert_uint_eq(history_bytes, 100);
	result = SEGMENT_DONE;
	write_blocks(4);
	tick();
	ck_assert_uint_eq(status()->segments, 2);
	ck_assert_ptr_eq(h->first->next, h->last);
	/* The blocks that failed are still in the ring and are copied now. */
	ck_assert_uint_eq(count_of(4), 1);
	end();
}
END_TEST

/* One that the worker still has is waited for. */
START_TEST(waits)
{
	begin(false, 3600 * SECOND, 1 << 20);
	result = SEGMENT_WAITS;
	write_old(4);
	tick();
	ck_assert_uint_eq(status()->segments, 1);
	ck_assert_uint_eq(status()->bytes, 0);
	history_tick(h, &src, time_of(written) + 7200 * SECOND, false);
	ck_assert_uint_eq(status()->segments, 1);
	end();
}
END_TEST

/* A kernel's CPU may still write in its latest block; what only a memory image needs is
   not copied, and the names are asked for once a second. */
START_TEST(kernel)
{
	struct tnf_page_id id = { .magic = TNF_PAGE_ID_MAGIC + (uint32_t)_i };
	static const unsigned char zero[sizeof id];
	const unsigned char *p;

	begin(true, 3600 * SECOND, 1 << 20);
	memcpy(ring + 2 * BLOCK - sizeof id, &id, sizeof id);
	ring[BLOCK - 1] = 5;
	write_old(4);
	for (uint64_t k = 0; k < written; k++) {
		header(place_of(k))->next_block = 9;
		header(place_of(k))->pad = 9;
	}
	tick();
	ck_assert_uint_eq(contexts, 1);
	ck_assert_uint_eq(h->first->n_blocks, 4);
	ck_assert(history_has(h, place_of(0), 0) == false);	/* generation 0 is a free block */
	for (uint32_t i = 0; i < h->first->n_raw; i++) {
		p = segment_block_at(h->first, i);
		if (h->first->at[i] > 0) {
			ck_assert_uint_eq(((const struct tnf_block_header *)(const void *)p)->next_block, 0);
			ck_assert_uint_eq(((const struct tnf_block_header *)(const void *)p)->pad, 0);
		}
		if (h->first->at[i] == 1)
			ck_assert_int_eq(memcmp(p + BLOCK - sizeof id, _i == 0 ? zero : (void *)&id, sizeof id), 0);
		if (h->first->at[i] == 0)
			ck_assert_uint_eq(p[BLOCK - 1], 5);
	}
	src.context_time = time_of(written);
	write_blocks(4);
	tick();
	ck_assert_uint_eq(contexts, 1);
	write_blocks(4);
	src.context_time = time_of(written) - SECOND;
	tick();
	ck_assert_uint_eq(contexts, 2);
	end();
}
END_TEST

/* A CPU that was idle for long: its latest block is not copied however old it is. */
START_TEST(idle_cpu)
{
	struct tnf_kernel_schedule k = { .cpuid = 2, .number = 1, .time_base = START };

	begin(true, 3600 * SECOND, 1 << 20);
	write_old(4);
	memcpy(ring + place_of(2) * BLOCK + sizeof(struct tnf_block_header), &k, sizeof k);
	tick();
	ck_assert(history_has(h, place_of(1), 1) && !history_has(h, place_of(2), 2) &&
	    history_has(h, place_of(3), 3));
	end();
}
END_TEST

/* The oldest block that is in order says when the segment begins: one of a whole lap ago, or
   that has no event, does not. */
START_TEST(oldest)
{
	static const struct { uint32_t age; int64_t time, first; } rows[] = {
		{ RING - 1, START, START }, { RING, START, START + STEP }, { RING - 1, 0, START + STEP },
	};

	begin(true, 3600 * SECOND, 1 << 20);
	write_old(4);
	header(place_of(0))->generation = (uint32_t)(written - rows[_i].age) & TNF_GENERATION_AGES;
	((struct tnf_kernel_schedule *)(void *)(header(place_of(0)) + 1))->time_base = rows[_i].time;
	tick();
	ck_assert_int_eq(h->first->first_time, rows[_i].first);
	ck_assert_uint_eq(h->first->n_blocks, 5);
	end();
}
END_TEST

/* When to look again: eight times in a lap, as fast as it went last. */
START_TEST(due)
{
	begin(false, 3600 * SECOND, 1 << 20);
	ck_assert_int_eq(history_due(h, 5), INT64_MAX);
	ck_assert_int_eq(history_due(NULL, 5), INT64_MAX);
	write_blocks(8);
	tick();
	ck_assert_int_eq(history_due(h, 5), 5 + 4 * STEP / 2);
	write_blocks(4);
	history_tick(h, &src, time_of(8) + 10 * SECOND, false);
	ck_assert_int_eq(history_due(h, 5), 5 + 5 * SECOND);
	write_blocks(4);
	history_tick(h, &src, time_of(8) + 20 * SECOND + 1, false);
	ck_assert_int_eq(history_due(h, 5), INT64_MAX);
	end();
}
END_TEST

static void told(void *, const char *);

/* The channel's events are put into as many segments as they need, half a ring in each. */
START_TEST(channels)
{
	char path[] = "/tmp/tnf-ring.XXXXXX";
	int fd = mkstemp(path);

	begin(false, 3600 * SECOND, 1 << 20);
	write_old(4);
	tick();
	header(DATA + 2)->generation = TNF_GENERATION_TAG;
	header(DATA + 1)->generation = 9;
	ck_assert_int_eq(write(fd, ring, sizeof ring), sizeof ring);
	*names = '\0';
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), 0);
	ck_assert_str_eq(names, "");
	src.channel = (void *)ring;
	channel_events = RING / 2 + 1;
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), 0);
	ck_assert_str_eq(names, "shop-1.channel.tnf.zst shop-1.channel.2.tnf.zst ");
	ck_assert_int_eq(channel_elsewhere, 1 + 2);
	unlink(path);
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), 0);
	ck_assert_int_eq(channel_elsewhere, 1);
	/* Definitions are where they were, and events are elsewhere. */
	struct segment *s;
	struct channel_place place = { .chunk = NULL };
	channel_events = RING;
	ck_assert_ptr_nonnull(s = channel_segment(h, &src, &place, &(struct incident_ring){ .h = h, .fd = -1 }));
	ck_assert_uint_eq(channel_events, RING / 2);
	ck_assert_uint_eq(s->n_raw, RING / 2 + 4);
	for (uint32_t i = 1; i < s->n_raw; i++)
		ck_assert_uint_gt(s->at[i], s->at[i - 1]);
	ck_assert_int_eq(segment_block_at(s, 3)[100], RING);
	segment_free(s);
	/* One that cannot be written ends it. */
	*names = '\0';
	channel_refuses = true;
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), EIO);
	ck_assert_str_eq(names, "");
	ck_assert_int_eq(history_put_channel(NULL, &src, AT_FDCWD, path, told, NULL), 0);
	src.channel = NULL;
	close(fd);
	end();
}
END_TEST

static void
told(void *arg, const char *name)
{
	strcat(strcat(names, name), " ");
}

/* Into a directory: one that fails takes no other with it, a full disk does. */
START_TEST(put)
{
	begin(false, 3600 * SECOND, 1 << 20);
	for (unsigned n = 0; n < 7; n++) {
		write_blocks(4);
		tick();
	}
	ck_assert_uint_ge(status()->segments, 4);
	*names = '\0';
	h->first->next->block_size = 0;
	ck_assert_int_eq(history_put(h, -1, "a", told, NULL), EBADMSG);
	ck_assert_int_eq(strncmp(names, "a.0001.tnf.zst a.0003.tnf.zst a.0004.tnf.zst ", 45), 0);
	*names = '\0';
	h->first->next->next->n_raw = 0;
	ck_assert_int_eq(history_put(h, -1, "a", told, NULL), ENOSPC);
	ck_assert_str_eq(names, "a.0001.tnf.zst ");
	ck_assert_int_eq(history_put(NULL, -1, "a", told, NULL), 0);
	end();
}
END_TEST

/* On a disk each has a file of its own. */
START_TEST(paths)
{
	begin(false, 3600 * SECOND, 1 << 20);
	h->directory = tnf_xstrdup("/none");
	write_old(4);
	tick();
	write_blocks(4);
	tick();
	ck_assert_str_eq(h->first->path, "/none/shop-1.000001.tnf.zst");
	ck_assert_str_eq(h->last->path, "/none/shop-1.000002.tnf.zst");
	end();
}
END_TEST

START_TEST(none)
{
	begin(false, 3600 * SECOND, 1 << 20);
	end();
	history_tick(NULL, &src, START, false);
	ck_assert(!history_has(NULL, 0, 1) && !history_has_all(NULL));
	ck_assert_uint_eq(status()->segments, 0);
	src.size = BLOCK;
	ck_assert_ptr_null(history_new(&src, &(struct history_place){ .keep = 1 }));
	src.size = sizeof ring;
	src.base = NULL;
	ck_assert_ptr_null(history_new(&src, &(struct history_place){ .keep = 1 }));
	src.base = ring;
	history_free(NULL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("history");
	TCase *t = tcase_create("history");

	tcase_add_loop_test(t, whole, 0, 7);	/* a step is at most a quarter of the ring */
	tcase_add_loop_test(t, files, 0, 3);
	tcase_add_test(t, types);
	tcase_add_test(t, all_types);
	tcase_add_loop_test(t, room, 0, 3);
	tcase_add_loop_test(t, overtaken, 0, 2);
	tcase_add_test(t, chosen);
	tcase_add_loop_test(t, late, 0, 5);
	tcase_add_test(t, held);
	tcase_add_test(t, slow);
	tcase_add_test(t, kept);
	tcase_add_test(t, limit);
	tcase_add_loop_test(t, refused, 0, 2);
	tcase_add_loop_test(t, refused_few, 0, 2);
	tcase_add_loop_test(t, share, 0, 5);
	tcase_add_test(t, failed);
	tcase_add_test(t, waits);
	tcase_add_loop_test(t, kernel, 0, 2);
	tcase_add_test(t, idle_cpu);
	tcase_add_loop_test(t, oldest, 0, 3);
	tcase_add_test(t, due);
	tcase_add_test(t, channels);
	tcase_add_test(t, put);
	tcase_add_test(t, paths);
	tcase_add_test(t, none);
	suite_add_tcase(s, t);
	return check_run(s);
}
