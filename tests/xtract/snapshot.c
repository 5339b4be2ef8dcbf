/*
 * snapshot.c - the copy of a buffer: exact, clean, whole under take-overs.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check-run.h"
#include "tests/xtract/model.h"
#include "tnfxtract/snapshot.h"

struct copy {
	unsigned char *bytes;
	size_t	 size;
	unsigned puts;
	int	 fail_at;	/* put number that fails; -1 none */
	bool	 outside;	/* a put went beyond the size */
	bool	 pieces;	/* a put for each piece of a block */
	void	(*during)(void *);	/* after each put */
	void	(*moment)(void *);	/* when all blocks have been looked at */
	void	*arg;
};

static bool
put(void *arg, uint64_t offset, const void *bytes, size_t n)
{
	struct copy *c = arg;

	if ((int)c->puts++ == c->fail_at)
		return false;
	if (offset > c->size || n > c->size - offset) {
		c->outside = true;
		return true;
	}
	memcpy(c->bytes + offset, bytes, n);
	if (c->during != NULL)
		c->during(c->arg);
	return true;
}

/* Blocks may be taken after each piece, and so between those of one block. */
static bool
put_pieces(void *arg, uint64_t offset, const struct iovec *piece, int n)
{
	for (int i = 0; i < n; offset += piece[i++].iov_len)
		if (!put(arg, offset, piece[i].iov_base, piece[i].iov_len))
			return false;
	return true;
}

static void
moment(void *arg)
{
	struct copy *c = arg;

	if (c->moment != NULL)
		c->moment(c->arg);
}

static enum snapshot_result
take(const void *base, size_t size, struct copy *c, struct snapshot *s)
{
	struct snapshot_sink sink = { .put = put, .moment = moment, .arg = c };
	enum snapshot_result r;

	if (c->pieces)
		sink.put_pieces = put_pieces;
	r = snapshot_open(s, base, size);
	if (r != SNAPSHOT_OK)
		return r;
	c->size = s->size;
	free(c->bytes);
	c->bytes = calloc(1, c->size);
	return snapshot_copy(s, &sink);
}

START_TEST(exact)
{
	struct copy c = { .fail_at = -1 };
	struct tnf_file_header h;
	struct tnf_page_id id;
	struct snapshot s;
	struct tnf_ext ext;
	struct model m;
	uint32_t i;
	bool used;

	model_init(&m, 300, 0x1234567890);
	for (i = 10; i < 200; i++)
		model_fill(&m, i, i);
	model_take(&m, 210, 207);
	model_record(&m, 210);
	memset((char *)model_header(&m, 210) + 100, 0x77, 64);	/* not committed */
	model_define(&m, 2);
	ck_assert_int_eq(take(m.base, 300 * MODEL_BLOCK, &c, &s), SNAPSHOT_OK);
	ck_assert_uint_eq(c.size, 300 * MODEL_BLOCK);
	ck_assert_uint_eq(s.used, 192);
	ck_assert_uint_eq(s.blanked, 0);
	ck_assert(!c.outside);
	for (i = 2; i < 300; i++) {
		ck_assert(model_check_copy(c.bytes + i * MODEL_BLOCK, &used));
		ck_assert_int_eq(used, i == 2 || i == 210 ||
		    (i >= 10 && i < 200));
	}
	memcpy(&h, c.bytes, sizeof h);
	memcpy(&ext, c.bytes + TNF_EXT_OFFSET, sizeof ext);
	memcpy(&id, c.bytes + MODEL_DIRECTORY - sizeof id, sizeof id);
	ck_assert_uint_eq(h.magic, TNF_MAGIC);
	ck_assert_uint_eq(ext.cookie, 0);
	ck_assert_int_eq(ext.start_mono, 1);
	ck_assert_uint_eq(id.magic, 0);
	ck_assert_uint_eq(c.bytes[2048], 0);
	ck_assert(memcmp(c.bytes + MODEL_BLOCK, m.base + MODEL_BLOCK, 1024) == 0);
	free(c.bytes);
	model_free(&m);
}
END_TEST

struct header_case {
	size_t	 offset;
	uint32_t value;
	enum snapshot_result expected;
};

static const struct header_case header_cases[] = {
	{ offsetof(struct tnf_file_header, magic), 0, SNAPSHOT_NOT_TNF },
	{ offsetof(struct tnf_file_header, magic), TNF_MAGIC_SWAPPED,
	  SNAPSHOT_NOT_TNF },
	{ offsetof(struct tnf_file_header, file_version), 2, SNAPSHOT_VERSION },
	{ offsetof(struct tnf_file_header, block_size), 0, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_size), 64, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_size), 4095, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_size), 65536, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_header_size), 16,
	  SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, directory_size), 0, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, directory_size), 4096,
	  SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, directory_size), 8196,
	  SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, directory_size), 0xfffff000,
	  SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_count), 0, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_count), 33, SNAPSHOT_DAMAGED },
	{ offsetof(struct tnf_file_header, block_count), 0xffffffff,
	  SNAPSHOT_DAMAGED },
};

START_TEST(bad_header)
{
	const struct header_case *k = &header_cases[_i];
	struct copy c = { .fail_at = -1 };
	struct snapshot s;
	struct model m;

	model_init(&m, 32, 1);
	memcpy(m.base + k->offset, &k->value, sizeof k->value);
	ck_assert_int_eq(take(m.base, 32 * MODEL_BLOCK, &c, &s), k->expected);
	ck_assert_uint_eq(c.puts, 0);
	model_free(&m);
}
END_TEST

START_TEST(bad_blocks)
{
	struct copy c = { .fail_at = -1 };
	struct snapshot s;
	struct model m;
	bool used;
	int i;

	model_init(&m, 32, 1);
	for (i = 4; i < 8; i++)
		model_fill(&m, i, i);
	model_header(&m, 4)->bytes_valid = 4097;
	model_header(&m, 5)->bytes_valid = 3;
	model_header(&m, 6)->tag = 0x41414141;
	ck_assert_int_eq(take(m.base, 32 * MODEL_BLOCK, &c, &s), SNAPSHOT_OK);
	for (i = 2; i < 32; i++) {
		ck_assert(model_check_copy(c.bytes + i * MODEL_BLOCK, &used));
		ck_assert_int_eq(used, i == 7);
	}
	free(c.bytes);
	model_free(&m);
}
END_TEST

static void
define_more(void *arg)
{
	model_define(arg, 3);
}

/* Two of data, one of words, those of definitions, of which one grows in each of 16
   rounds, block 0. */
#define PUTS	21

START_TEST(failing_sink)
{
	struct copy c = { .fail_at = _i, .during = define_more };
	struct snapshot s;
	struct model m;

	model_init(&m, 300, 1);
	model_fill(&m, 20, 1);
	model_fill(&m, 250, 1);
	model_define(&m, 2);
	c.arg = &m;
	ck_assert_int_eq(take(m.base, 300 * MODEL_BLOCK, &c, &s),
	    _i < PUTS ? SNAPSHOT_SINK : SNAPSHOT_OK);
	ck_assert_uint_eq(c.puts, _i < PUTS ? _i + 1 : PUTS);
	free(c.bytes);
	model_free(&m);
}
END_TEST

/* Definitions that come while the data is copied are in the copy. */
START_TEST(late_definitions)
{
	struct tnf_block_header h;
	struct copy c = { .fail_at = -1 };
	struct snapshot s;
	struct model m;
	bool used;

	model_init(&m, 300, 1);
	model_define(&m, 2);
	model_fill(&m, 20, 1);
	c.during = define_more;
	c.arg = &m;
	ck_assert_int_eq(take(m.base, 300 * MODEL_BLOCK, &c, &s), SNAPSHOT_OK);
	ck_assert(model_check_copy(c.bytes + 3 * MODEL_BLOCK, &used));
	ck_assert(used);
	memcpy(&h, c.bytes + 3 * MODEL_BLOCK, sizeof h);
	ck_assert_uint_ge(h.bytes_valid, sizeof h + 3 * MODEL_RECORD);
	free(c.bytes);
	model_free(&m);
}
END_TEST

static volatile bool stop;
static uint32_t generation = 1;

static void *
writer(void *arg)
{
	struct model *m = arg;
	uint32_t block, g;

	while (!stop) {
		g = __atomic_add_fetch(&generation, 1, __ATOMIC_RELAXED);
		block = 2 + g % (m->blocks - 2);
		model_fill(m, block, g);
	}
	return NULL;
}

/* One writer only: who else may write a block is the kernel side's affair. */
START_TEST(take_overs)
{
	struct copy c = { .fail_at = -1, .pieces = _i == 1 };
	unsigned copies, n_used = 0, blanked = 0;
	struct snapshot s;
	struct model m;
	pthread_t t;
	uint32_t i;
	bool used;

	stop = false;
	model_init(&m, 12, 1);
	ck_assert_int_eq(pthread_create(&t, NULL, writer, &m), 0);
	for (copies = 0; copies < 5000; copies++) {
		ck_assert_int_eq(take(m.base, 12 * MODEL_BLOCK, &c, &s),
		    SNAPSHOT_OK);
		blanked += s.blanked;
		for (i = 2; i < 12; i++) {
			ck_assert(model_check_copy(c.bytes + i * MODEL_BLOCK,
			    &used));
			n_used += used;
		}
	}
	stop = true;
	pthread_join(t, NULL);
	/* How many there are depends on how fast the writer is. */
	ck_assert_uint_gt(n_used, copies / 10);
	printf("# %u copies, %u blocks, %u left out\n", copies, n_used, blanked);
	free(c.bytes);
	model_free(&m);
}
END_TEST

static struct model *taken;
static int take_after;

static void
take_then(void *arg)
{
	if (take_after-- == 0) {
		model_take(taken, 30, 100);
		for (int i = 0; i < *(int *)arg; i++)
			model_record(taken, 30);
	}
}

/* A block that is taken between two pieces that are written, and filled less, as much or more, is
   in the copy as it was, or not at all. */
START_TEST(between_pieces)
{
	int records = _i % 3 * 100;
	struct copy c = { .fail_at = -1, .pieces = true, .during = take_then, .arg = &records };
	struct tnf_block_header h;
	struct snapshot s;
	struct model m;
	uint32_t i;
	bool used;

	model_init(&m, 50, 1);
	for (i = 10; i < 40; i++)
		model_fill(&m, i, i);
	model_take(&m, 30, 41);
	for (i = 0; i < 100; i++)
		model_record(&m, 30);
	taken = &m;
	take_after = _i;
	ck_assert_int_eq(take(m.base, 50 * MODEL_BLOCK, &c, &s), SNAPSHOT_OK);
	for (i = 10; i < 40; i++) {
		ck_assert(model_check_copy(c.bytes + i * MODEL_BLOCK, &used));
		memcpy(&h, c.bytes + i * MODEL_BLOCK, sizeof h);
		ck_assert(!used || h.generation == (i == 30 ? 41 : i));
		ck_assert(i != 30 || used == (s.blanked == 0));
	}
	free(c.bytes);
	model_free(&m);
}
END_TEST

/* A block that is taken while the copy is made is not in it; all that was there is, or has
   made room for what was taken. */
static void
take_one(void *arg)
{
	struct model *m = arg;
	static uint32_t next;

	if (next == 0)
		next = 100;
	model_fill(m, 2 + next % 150, next + 1);
	next++;
}

START_TEST(of_one_moment)
{
	struct copy c = { .fail_at = -1, .during = take_one };
	struct tnf_block_header h;
	struct snapshot s;
	struct model m;
	uint32_t i;
	bool used;

	model_init(&m, 200, 1);
	for (i = 0; i < 100; i++)
		model_fill(&m, 2 + i, i + 1);
	c.arg = &m;
	ck_assert_int_eq(take(m.base, 200 * MODEL_BLOCK, &c, &s), SNAPSHOT_OK);
	ck_assert_uint_eq(s.used, 100);
	for (i = 2; i < 200; i++) {
		ck_assert(model_check_copy(c.bytes + i * MODEL_BLOCK, &used));
		memcpy(&h, c.bytes + i * MODEL_BLOCK, sizeof h);
		ck_assert_int_eq(used, i < 102);
		ck_assert(!used || h.generation == i - 1);
	}
	free(c.bytes);
	model_free(&m);
}
END_TEST

static void
write_more(void *arg)
{
	model_record(arg, 21);
	model_record(arg, 22);
	model_fill(arg, 23, 4);
}

/* Events after the moment are not in the copy, even in a block that is. */
START_TEST(after_the_moment)
{
	struct copy c = { .fail_at = -1, .moment = write_more, .pieces = _i == 1 };
	struct tnf_block_header h;
	struct snapshot s;
	struct model m;
	uint32_t i;
	bool used;

	model_init(&m, 50, 1);
	model_fill(&m, 20, 1);
	model_take(&m, 21, 2);
	model_record(&m, 21);
	model_take(&m, 22, 3);
	c.arg = &m;
	ck_assert_int_eq(take(m.base, 50 * MODEL_BLOCK, &c, &s), SNAPSHOT_OK);
	ck_assert_uint_eq(s.used, 2);
	for (i = 2; i < 50; i++) {
		ck_assert(model_check_copy(c.bytes + i * MODEL_BLOCK, &used));
		ck_assert_int_eq(used, i == 20 || i == 21);
	}
	memcpy(&h, c.bytes + 21 * MODEL_BLOCK, sizeof h);
	ck_assert_uint_eq(h.bytes_valid, sizeof h + MODEL_RECORD);
	free(c.bytes);
	model_free(&m);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tc = tcase_create("copy");

	tcase_add_test(tc, exact);
	tcase_add_loop_test(tc, bad_header, 0,
	    sizeof header_cases / sizeof header_cases[0]);
	tcase_add_test(tc, bad_blocks);
	tcase_add_loop_test(tc, failing_sink, 0, PUTS + 1);
	tcase_add_test(tc, late_definitions);
	tcase_add_loop_test(tc, take_overs, 0, 2);
	tcase_add_loop_test(tc, between_pieces, 0, 150);
	tcase_add_test(tc, of_one_moment);
	tcase_add_loop_test(tc, after_the_moment, 0, 2);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
