/*
 * test-copy.c - a file is copied while it is written.
 *
 * copy.c is part of this program, and what it reads blocks with does what a writer
 * might do at that moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check-run.h"
#include "tests/reader/mkfile.h"

#include "libtnf/copy.c"

#define BLOCK	512u
#define BLOCKS	64u		/* of data */
#define EVENT	32u		/* bytes, with its text */
#define CURSOR	(5 * BLOCKS + 10)

static struct mk *m;
static struct tnf_ext *ext;
static unsigned char *bytes, *image;
static size_t size;
static uint32_t first;		/* offset of the first data block */
static uint32_t after_four;	/* events: how full the block is */

static uint32_t order[8 * BLOCKS], n_order;	/* blocks, as they were copied */
static void (*writer)(uint32_t n);
static void (*directory)(void);	/* when it is copied */

static void (*looked_at)(uint32_t block);

/* A word of a block's header, a block, or a word of what lies before them. */
static void
read_and_write(const struct live *from, uint64_t off, void *to, size_t n)
{
	uint32_t block = (uint32_t)(off - first) / BLOCK;

	memcpy(to, from->base + off, n);
	if (off == 0 && directory != NULL)
		directory();
	if (off >= first && n <= 4 && looked_at != NULL)
		looked_at(block);
	if (off >= first && n > 4 && block < BLOCKS &&
	    n_order < sizeof order / sizeof order[0]) {
		order[n_order++] = block;
		if (writer != NULL)
			writer(n_order - 1);
	}
}

static uint32_t *
generation(unsigned char *file, uint32_t block)
{
	return (uint32_t *)(void *)(file + first + block * BLOCK + 4);
}

static void
setup(void)
{
	struct mk_opts o = { .data_blocks = BLOCKS };
	struct mk_thread t = { .pid = 1, .lwpid = 1 };
	unsigned p, i;

	m = mk_new(&o);
	p = mk_probe(m, "p", "keys k;", "s:tnf_string");
	for (i = 0; mk_event(m, &t, p, i, "text"); i++)
		if (i == 3)
			after_four = mk_last_event(m) + EVENT - mk_data_start(m);
	bytes = mk_bytes(m, &size);
	first = mk_data_start(m);
	ext = (struct tnf_ext *)(void *)(bytes + TNF_EXT_OFFSET);
	*ext = (struct tnf_ext){ .magic = TNF_EXT_MAGIC, .version = 1,
	    .size = sizeof *ext, .kind = TNF_EXT_PROCESS, .attached = 1,
	    .data_start = first, .data_cursor = CURSOR };
	for (i = 0; i < BLOCKS; i++)
		*generation(bytes, i) = 5 + (i < CURSOR % BLOCKS);
	n_order = 0;
	writer = NULL;
	looked_at = NULL;
	directory = NULL;
	image = NULL;
}

static void
teardown(void)
{
	free(image);
	mk_free(m);
}

static void
look_at(void)
{
	struct tnf_file f;
	struct live from;

	image = calloc(1, size);
	ck_assert_int_eq(tnf_file_init(&f, bytes, size, FILE_STRICT), 0);
	from = (struct live){ .base = f.bytes.base, .read = read_and_write, .size = f.bytes.size,
	    .first = f.data_start, .block_size = f.block_size };
	ck_assert_int_eq(copy_from(&f, &from, image), 0);
	tnf_file_done(&f);
}

/* Events of a block in the copy, each with its text. */
static unsigned
events_in(uint32_t block)
{
	struct tnf_event ev;
	struct tnf_value v;
	tnf_stream_t *s;
	unsigned n = 0;

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, image, size, "copy", NULL), 0);
	while (tnf_stream_next(s, &ev) == 1) {
		if ((ev.pos - first) / BLOCK != block)
			continue;
		ck_assert(tnf_event_value(&ev, 0, &v));
		ck_assert_uint_eq(v.u.s.len, strlen("text"));
		n++;
	}
	tnf_stream_close(s);
	return n;
}

/* An event that is copied finds what it refers to in a later block. */
START_TEST(oldest_first)
{
	uint32_t i;

	look_at();
	ck_assert_uint_eq(n_order, BLOCKS);
	for (i = 0; i < BLOCKS; i++)
		ck_assert_uint_eq(order[i], (CURSOR + i) % BLOCKS);
	ck_assert_int_eq(memcmp(bytes, image, size), 0);
}
END_TEST

/* When the last block has been copied, the oldest two are taken over. */
static void
take_two(uint32_t n)
{
	if (n < BLOCKS - 1)
		return;
	*generation(bytes, CURSOR % BLOCKS) = 6;
	*generation(bytes, CURSOR % BLOCKS + 1) = 6;
	ext->data_cursor += 2;
}

START_TEST(taken_since)
{
	uint32_t i, taken;

	writer = take_two;
	look_at();
	ck_assert_uint_eq(n_order, BLOCKS);
	for (i = 0; i < BLOCKS; i++) {
		taken = i - CURSOR % BLOCKS;
		ck_assert_uint_eq(*generation(image, i),
		    taken < 2 ? 0 : *generation(bytes, i));
	}
}
END_TEST

/* While the second block of a round is copied, the writer goes around. */
static uint32_t rounds;

static void
go_around(uint32_t n)
{
	uint32_t i;

	if (n % BLOCKS != 1 || n / BLOCKS >= rounds)
		return;
	ext->data_cursor += BLOCKS;
	for (i = 0; i < BLOCKS; i++)
		++*generation(bytes, i);
}

START_TEST(once_more)
{
	rounds = 2;
	writer = go_around;
	look_at();
	ck_assert_uint_eq(n_order, 3 * BLOCKS);
	ck_assert_int_eq(memcmp(bytes, image, size), 0);
}
END_TEST

/* It does not end?  What was there at first is gone. */
START_TEST(not_for_ever)
{
	uint32_t i;

	rounds = UINT32_MAX;
	writer = go_around;
	look_at();
	ck_assert_uint_eq(n_order, TRIES * BLOCKS);
	for (i = 0; i < BLOCKS; i++)
		ck_assert_uint_eq(events_in(i), 0);
}
END_TEST

static uint16_t *
used(uint32_t block)
{
	return (uint16_t *)(void *)(bytes + first + block * BLOCK + 8);
}

/* The first of the blocks has four events, and is filled then. */
static uint16_t full;

static void
fill(uint32_t n)
{
	if (n == 0)
		*used(0) = full;
}

START_TEST(filled_meanwhile)
{
	full = *used(0);
	*used(0) = (uint16_t)after_four;
	writer = fill;
	look_at();
	ck_assert_uint_eq(events_in(0), 4);
	ck_assert_uint_gt(events_in(1), 4);
	/* The words of newer events are there: an older one might refer to them. */
	ck_assert_uint_eq(*(uint16_t *)(void *)(image + first + 8), full);
}
END_TEST

/* A block that is taken in the lap that begins with the copy is of the future. */
static void
take_next(uint32_t n)
{
	if (n == 0)
		*generation(bytes, CURSOR % BLOCKS + 1) = 6;
}

START_TEST(taken_meanwhile)
{
	writer = take_next;
	look_at();
	ck_assert_uint_gt(events_in(CURSOR % BLOCKS), 4);
	ck_assert_uint_eq(events_in(CURSOR % BLOCKS + 1), 0);
	ck_assert_uint_gt(events_in(CURSOR % BLOCKS + 2), 4);
	ck_assert_uint_eq(*generation(image, CURSOR % BLOCKS + 1), 6);
}
END_TEST

/* Between the look at the cursor and that at the block. */
static void
take_early(uint32_t block)
{
	if (block != CURSOR % BLOCKS - 1)
		return;
	*generation(bytes, block + 1) = 6;
	ext->data_cursor++;
	looked_at = NULL;
}

START_TEST(taken_before)
{
	*generation(bytes, CURSOR % BLOCKS - 1) = 5;
	looked_at = take_early;
	look_at();
	ck_assert_uint_eq(events_in(CURSOR % BLOCKS), 0);
	ck_assert_uint_gt(events_in(CURSOR % BLOCKS - 1), 4);
}
END_TEST

/* Nothing is hidden of a file whose cursor was damaged. */
START_TEST(wrong_cursor)
{
	uint32_t i;

	ext->data_cursor = (uint64_t)_i * 3;
	look_at();
	for (i = 0; i < BLOCKS; i++)
		ck_assert_uint_gt(events_in(i), 4);
}
END_TEST

/* A file that says nonsense about the order gets some order. */
START_TEST(strange_start)
{
	static const uint32_t starts[] = { 0, 1, 0xfffffe00, 0xffffffff };

	ext->data_start = starts[_i];
	ext->data_cursor = UINT64_MAX;
	look_at();
	ck_assert_uint_eq(n_order, BLOCKS);
	ck_assert_int_eq(memcmp(bytes, image, size), 0);
}
END_TEST

/*
 * A thread's block is filled, and its next block, when they have been looked at
 * so many times.  The later events are not there without the earlier ones.
 */
static uint32_t earlier, later, reads;
static uint16_t later_full;

static void
fill_both(uint32_t block)
{
	if ((block != earlier && block != later) || --reads > 0)
		return;
	*used(earlier) = full;
	*used(later) = later_full;
	looked_at = NULL;
}

static void
two_blocks(uint32_t e, uint32_t l, uint32_t looks)
{
	unsigned all;

	earlier = e;
	later = l;
	look_at();
	all = events_in(l);
	free(image);
	full = *used(e);
	later_full = *used(l);
	*used(e) = *used(l) = (uint16_t)after_four;
	reads = 2 * looks;	/* one for the generation, one for the use */
	looked_at = fill_both;
	look_at();
	ck_assert_ptr_null(looked_at);
	ck_assert(events_in(l) < all || events_in(e) > 4);
	ck_assert_uint_ge(events_in(l), 3);
	ck_assert_uint_gt(all, 5);
}

START_TEST(newest_first)
{
	two_blocks(0, 1, 1);
}
END_TEST

/* Across the end of the file. */
START_TEST(newest_first_around)
{
	two_blocks(BLOCKS - 1, 0, 1);
}
END_TEST

/* The earlier one has been held since the last lap but one: it stands where the
   round has its newest blocks. */
START_TEST(held_for_laps)
{
	*generation(bytes, CURSOR % BLOCKS - 1) = 4;
	two_blocks(CURSOR % BLOCKS - 1, CURSOR % BLOCKS, 1);
}
END_TEST

/* Both have, and the later one stands where the oldest are. */
START_TEST(both_held)
{
	*generation(bytes, CURSOR % BLOCKS - 1) = 4;
	*generation(bytes, CURSOR % BLOCKS) = 4;
	two_blocks(CURSOR % BLOCKS - 1, CURSOR % BLOCKS, 3);
}
END_TEST

/* A block that is taken after the first look is not seen at the second. */
static void
take_held(uint32_t block)
{
	if (block != 0)
		return;
	*generation(bytes, block) = 6;
	looked_at = NULL;
}

START_TEST(held_no_more)
{
	*generation(bytes, 0) = 4;
	looked_at = take_held;
	look_at();
	ck_assert_uint_eq(events_in(0), 0);
}
END_TEST

/* A block that has been copied becomes one of definitions. */
static void
define(void)
{
	*generation(bytes, 3) = TNF_GENERATION_TAG;
	memset(generation(bytes, 3) + 4, 0, BLOCK - 20);
}

START_TEST(defined_meanwhile)
{
	uint32_t i;

	directory = define;
	look_at();
	ck_assert_uint_eq(*generation(bytes, 3), TNF_GENERATION_TAG);
	for (i = 0; i < BLOCKS; i++)
		ck_assert_uint_gt(events_in(i), 4);
}
END_TEST

/* While a block of definitions is copied, one that was copied before grows: what was
   added to the later one may refer to what was added to the earlier. */
static void
grow(uint32_t n)
{
	if (order[n] == 5)
		*used(3) = full;
}

START_TEST(definitions_grow)
{
	*generation(bytes, 3) = *generation(bytes, 5) = TNF_GENERATION_TAG;
	full = *used(3);
	*used(3) = (uint16_t)after_four;
	writer = grow;
	look_at();
	ck_assert_uint_eq(*generation(image, 3), TNF_GENERATION_TAG);
	ck_assert_uint_eq(*(uint16_t *)(void *)(generation(image, 3) + 1), full);
}
END_TEST

int
main(void)
{
	Suite *su = suite_create("copy");
	TCase *tc = tcase_create("copy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, oldest_first);
	tcase_add_test(tc, taken_since);
	tcase_add_test(tc, once_more);
	tcase_add_test(tc, not_for_ever);
	tcase_add_test(tc, filled_meanwhile);
	tcase_add_test(tc, taken_meanwhile);
	tcase_add_test(tc, taken_before);
	tcase_add_loop_test(tc, wrong_cursor, 0, 2);
	tcase_add_test(tc, newest_first);
	tcase_add_test(tc, newest_first_around);
	tcase_add_test(tc, held_for_laps);
	tcase_add_test(tc, both_held);
	tcase_add_test(tc, held_no_more);
	tcase_add_test(tc, defined_meanwhile);
	tcase_add_test(tc, definitions_grow);
	tcase_add_loop_test(tc, strange_start, 0, 4);
	suite_add_tcase(su, tc);
	return check_run_nofork(su);
}
