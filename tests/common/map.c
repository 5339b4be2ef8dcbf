/*
 * map.c - the hash map against a plain array: the same keys, at every size.
 */
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "tests/check-run.h"

#define KEYS 3000

static struct map m;

static void
map_setup(void)
{
	tnf_map_init(&m, sizeof(unsigned));
}

static void
map_teardown(void)
{
	tnf_map_free(&m);
	ck_assert_uint_eq(m.n, 0);
}

START_TEST(nothing)
{
	size_t at = 0;

	ck_assert_ptr_null(tnf_map_get(&m, "a", 1));
	ck_assert(!tnf_map_remove(&m, "a", 1));
	ck_assert_ptr_null(tnf_map_next(&m, &at, NULL, NULL));
}
END_TEST

START_TEST(keys_of_every_length)
{
	char key[100];
	bool fresh;

	for (size_t n = 0; n < sizeof(key); n++) {
		memset(key, 'x', sizeof(key));
		*(unsigned *)tnf_map_put(&m, key, n, &fresh) = (unsigned)n;
		ck_assert(fresh);
		if (n > 0) {
			key[n - 1] = 'y';	/* the last byte counts */
			ck_assert_ptr_null(tnf_map_get(&m, key, n));
		}
	}
	memset(key, 'x', sizeof(key));
	for (size_t n = 0; n < sizeof(key); n++) {
		unsigned *v = tnf_map_get(&m, key, n);

		ck_assert_uint_eq(*v, n);
		ck_assert(memcmp(tnf_map_key(&m, v), key, n) == 0);
	}
}
END_TEST

START_TEST(values_stay)
{
	unsigned *first = tnf_map_put(&m, "first", 5, NULL);

	*first = 42;
	for (uint64_t k = 0; k < KEYS; k++)
		ck_assert_ptr_nonnull(tnf_map_put(&m, &k, sizeof(k), NULL));
	ck_assert_ptr_eq(tnf_map_get(&m, "first", 5), first);
	ck_assert_uint_eq(*first, 42);
}
END_TEST

/* A random walk of additions and removals, compared with an array. */
START_TEST(as_an_array)
{
	static bool there[KEYS];
	size_t n = 0, seen = 0, at = 0, size;
	const void *key;
	uint64_t k;
	bool fresh;

	memset(there, 0, sizeof(there));
	srand((unsigned)_i);
	for (unsigned i = 0; i < 20 * KEYS; i++) {
		k = (uint64_t)rand() % KEYS;
		if (rand() % 3 != 0) {
			*(unsigned *)tnf_map_put(&m, &k, sizeof(k), &fresh) = (unsigned)k + 1;
			ck_assert(fresh == !there[k]);
			n += !there[k];
			there[k] = true;
		} else {
			ck_assert(tnf_map_remove(&m, &k, sizeof(k)) == there[k]);
			n -= there[k];
			there[k] = false;
		}
		ck_assert_uint_eq(m.n, n);
	}
	for (k = 0; k < KEYS; k++)
		ck_assert((tnf_map_get(&m, &k, sizeof(k)) != NULL) == there[k]);
	for (unsigned *v; (v = tnf_map_next(&m, &at, &key, &size)) != NULL; seen++) {
		ck_assert_uint_eq(size, sizeof(k));
		memcpy(&k, key, sizeof(k));
		ck_assert(k < KEYS && there[k] && *v == k + 1);
	}
	ck_assert_uint_eq(seen, n);
}
END_TEST

/*
 * Keys that a plain modulus puts into one place: no long searches.  The longest
 * run of full slots tells, whatever the machine's speed.
 */
START_TEST(made_to_collide)
{
	size_t run = 0, longest = 0;

	for (uint64_t k = 0; k < 100000; k++) {
		uint64_t key = k << 32 | k;

		ck_assert_ptr_nonnull(tnf_map_put(&m, &key, sizeof(key), NULL));
	}
	for (size_t i = 0; i < m.n_slots; i++) {
		run = m.slot[i] != NULL ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	ck_assert_uint_lt(longest, 400);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("map");
	TCase *t = tcase_create("map");

	tcase_add_checked_fixture(t, map_setup, map_teardown);
	tcase_add_test(t, nothing);
	tcase_add_test(t, keys_of_every_length);
	tcase_add_test(t, values_stay);
	tcase_add_loop_test(t, as_an_array, 0, 5);
	tcase_add_test(t, made_to_collide);
	suite_add_tcase(s, t);
	return check_run_nofork(s);
}
