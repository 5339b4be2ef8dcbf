/*
 * test-memory.c - memory that runs out while a large file is read as it is asked for: the call
 * says so, or nothing is missing.
 *
 * The program has survey.c and survey-part.c, and each of their allocations fails in turn.
 */
#include <stdlib.h>
#include <string.h>

#include <tnf/stream.h>

#include "tests/check-run.h"
#include "tests/reader/mkfile.h"

static unsigned allowed;	/* allocations, before the one that fails */
static bool failed;

/* Threads of the survey ask, too. */
static bool
may_allocate(void)
{
	if (__atomic_fetch_sub(&allowed, 1, __ATOMIC_RELAXED) != 0)
		return true;
	failed = true;
	return false;
}

#define malloc(size)		(may_allocate() ? malloc(size) : NULL)
#define calloc(n, size)		(may_allocate() ? calloc(n, size) : NULL)
#define realloc(p, size)	(may_allocate() ? realloc(p, size) : NULL)
#include "libtnf/survey.c"
#include "libtnf/survey-part.c"
#undef malloc
#undef calloc
#undef realloc

#define EVENTS	700u
#define TIMES	10000u

static struct mk *m;
static int64_t from;		/* events up to this time are left out, ... */
static unsigned before;		/* ... after so many have been taken */
static int64_t seen[EVENTS], wanted[EVENTS];

static struct mk *
make(void)
{
	const struct mk_opts o = { .data_blocks = 24, .wrap = true, .hold = true, .tag_reserve = 4096 };
	struct mk_thread t[3] = { { .pid = 7, .lwpid = 1, .tid = 1 }, { .pid = 7, .lwpid = 2, .tid = 2 },
	    { .pid = 7, .lwpid = 3, .tid = 3 } };
	struct mk *made = mk_new(&o);
	unsigned p = mk_probe(made, "p", "keys k;", "i:tnf_int32 s:tnf_string");

	for (unsigned i = 0; i < EVENTS; i++)
		ck_assert(mk_event(made, &t[i % 7 == 0 ? 1 : i % 31 == 0 ? 2 : 0], p, 1000000 + i, (int64_t)i, "text"));
	return made;
}

/* The times of all that is handed out; false: a call has said that there is no memory. */
static bool
read_all(int64_t *times, unsigned *n)
{
	struct tnf_event ev;
	tnf_stream_t *s;
	size_t size;
	const void *p = mk_bytes(m, &size);
	int r;

	*n = 0;
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_lazily(s, 1);
	r = tnf_stream_add_mem(s, p, size, "made", NULL);
	if (r == 0 && before == 0)
		r = tnf_stream_skip(s, from);
	while (r == 0 && (r = tnf_stream_next(s, &ev)) == 1) {
		if (*n < before || ev.time >= from)
			times[(*n)++] = ev.time;
		r = *n == before ? tnf_stream_skip(s, from) : 0;
	}
	tnf_stream_close(s);
	if (r != 0)
		ck_assert_int_eq(abs(r), TNF_ERR_ALLOCFAIL);
	return r == 0;
}

START_TEST(each_in_turn)
{
	unsigned n_wanted, n, i, said = 0;

	m = make();
	from = 1000000 + 10 * (_i / 2);
	before = _i % 2 == 0 ? 0 : 3;
	allowed = UINT32_MAX;
	ck_assert(read_all(wanted, &n_wanted));
	ck_assert_uint_gt(n_wanted, before);
	for (i = 0, failed = true; failed && i < TIMES; i++) {
		failed = false;
		allowed = i;
		if (!read_all(seen, &n)) {
			ck_assert(failed);
			said++;
		} else if (n != n_wanted || memcmp(seen, wanted, n * sizeof(*seen)) != 0)
			ck_abort_msg("without allocation %u: %u events of %u, and no word", i, n, n_wanted);
	}
	ck_assert_uint_gt(said, 5);
	ck_assert_uint_lt(i, TIMES);
	mk_free(m);
}
END_TEST

int
main(void)
{
	Suite *su = suite_create("memory");
	TCase *tc = tcase_create("memory");

	tcase_add_loop_test(tc, each_in_turn, 0, 2 * EVENTS / 10);
	suite_add_tcase(su, tc);
	return check_run(su);
}
