/*
 * history.c - what a ring overwrites is in one segment, whole and as it was written, or
 * the history says from when on nothing is missing.
 */
#include "tests/watch/history.h"

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

/* A ring that is overwritten many times between two looks costs no more than one that is overwritten
   once, and the size that would do is told: with it, nothing is lost. */
START_TEST(lapping)
{
	static uint64_t copied;
	uint64_t wanted = 0;
	unsigned looks = 0;

	begin(false, 3600 * SECOND, 1 << 20);
	for (int64_t now = START; now < START + SECOND; now += 2 * MS, looks++) {
		write_blocks(20);	/* each 2 ms */
		history_tick(h, &src, now, false);
		wanted = history_size_wanted(h);
	}
	for (const struct segment *s = h->first; s != NULL; s = s->next)
		copied += s->n_blocks;
	ck_assert_uint_eq(looks, 500);
	ck_assert_uint_le(status()->segments, 34 + 9);
	ck_assert_uint_le(copied, 43 * RING / 2);
	ck_assert_uint_gt(copied, 0);
	/* A quarter of it lasts 30 ms at least, in which 300 blocks are written. */
	ck_assert_uint_ge(wanted, 4 * 300 * BLOCK);
	ck_assert_uint_le(wanted, 32 * 300 * BLOCK);
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
	tcase_add_test(t, lapping);
	tcase_add_test(t, held);
	tcase_add_test(t, slow);
	tcase_add_loop_test(t, kernel, 0, 2);
	tcase_add_test(t, idle_cpu);
	tcase_add_loop_test(t, oldest, 0, 3);
	suite_add_tcase(s, t);
	return check_run(s);
}
