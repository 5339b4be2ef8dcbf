/*
 * pieces.h - what a program's loop costs: CPU time of this process for one of its turns,
 * the median of pieces, so that a disturbance of some does not count.
 */
#ifndef BENCH_KERNEL_PIECES_H
#define BENCH_KERNEL_PIECES_H

#include <stdlib.h>
#include <time.h>

#define PIECES	100

static double
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int
by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

/* Nanoseconds; n turns in all. */
static double
median(void (*what)(long), long n)
{
	static double v[PIECES];
	double t;

	n = n < PIECES ? 1 : n / PIECES;
	for (int i = 0; i < PIECES; i++) {
		t = cpu_ns();
		what(n);
		v[i] = (cpu_ns() - t) / n;
	}
	qsort(v, PIECES, sizeof v[0], by_value);
	return v[PIECES / 2];
}

#endif
