/*
 * slow.h - how many times slower this machine is than a real one.
 *
 * tests/kernel/boot-tests.sh says so, in the environment, where it is an emulated one.
 */
#ifndef TESTS_SLOW_H
#define TESTS_SLOW_H

#include <stdlib.h>

static inline long
times_slower(void)
{
	const char *s = getenv("TNF_SLOW");
	long n = s != NULL ? atol(s) : 1;

	return n > 0 && n <= 100 ? n : 1;
}

#endif
