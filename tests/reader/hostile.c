/*
 * hostile.c - every truncation and every single-bit flip of good files.
 *
 * hostile [SAMPLE]: every flip of that one, or every nth of all of them, as there
 * is time; the output says which.
 *
 * Any answer will do, but there must be one, soon, and without much memory;
 * the sanitizers watch.  Without a sanitizer the address space is limited.
 */
#include <sys/resource.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "samples.h"
#include "walk.h"

#define SECONDS		15	/* for flips of all; TNF_HOSTILE_SECONDS overrides */
#define SECONDS_ONE	600
#define MEMORY		((rlim_t)512 << 20)

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static unsigned long cases;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A copy that ends where the memory ends, so that overruns are seen. */
static void
try_bytes(const unsigned char *p, size_t n)
{
	unsigned char *copy = malloc(n > 0 ? n : 1);

	memcpy(copy, p, n);
	walk_stream(copy, n);
	walk_classic(copy, n);
	free(copy);
	cases++;
}

/* Where something stands: flips of the zeros behind are all alike. */
static size_t
busy_end(const unsigned char *p, size_t from, size_t to)
{
	while (to > from && p[to - 1] == 0)
		to--;
	return to;
}

static void
flips(unsigned char *p, size_t n, size_t from, size_t to, unsigned step)
{
	size_t bit;

	for (bit = 8 * from; bit < 8 * to; bit += step) {
		p[bit / 8] ^= 1u << bit % 8;
		walk_stream(p, n);
		walk_classic(p, n);
		p[bit / 8] ^= 1u << bit % 8;
		cases++;
	}
}

/* 'step' that keeps the rest of the work within the time. */
static unsigned
choose_step(unsigned char *p, size_t n, double budget, size_t bits)
{
	double start = now(), each;
	unsigned i;

	for (i = 0; i < 50; i++) {
		walk_stream(p, n);
		walk_classic(p, n);
	}
	each = (now() - start) / 50;
	/* Odd, so that all bits of a word get their turn. */
	return each * (double)bits < budget ? 1 :
	    (unsigned)(each * (double)bits / budget) | 1;
}

static void
one_sample(unsigned which, double budget)
{
	struct mk *m = sample(which);
	uint32_t start = mk_data_start(m);
	size_t n, tags, i, bits;
	unsigned char *p = mk_bytes(m, &n);
	unsigned step;

	tags = start - 0x8000;
	bits = 8 * (64 + 64 + (busy_end(p, tags, start) - tags) +
	    (busy_end(p, start, n) - start));
	step = choose_step(p, n, budget, bits);
	flips(p, n, 0, 64, 1);
	flips(p, n, 512, 512 + 64, 1);
	flips(p, n, tags, busy_end(p, tags, start), step);
	flips(p, n, start, busy_end(p, start, n), step);
	for (i = 0; i < n; i++)
		try_bytes(p, i);
	printf("# %s: %zu bits, every %u\n", sample_names[which], bits, step);
	mk_free(m);
}

int
main(int argc, char **argv)
{
	struct rlimit limit = { MEMORY, MEMORY };
	const char *env = getenv("TNF_HOSTILE_SECONDS");
	double seconds = env != NULL ? atof(env) : SECONDS;
	unsigned i, one = argc > 1 ? (unsigned)atoi(argv[1]) : SAMPLES;

	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &limit);
	alarm(one < SAMPLES ? SECONDS_ONE : 60 + 3 * (unsigned)seconds);
	for (i = 0; i < SAMPLES; i++)
		if (one == SAMPLES)
			one_sample(i, seconds / SAMPLES);
		else if (one == i)
			one_sample(i, SECONDS_ONE);
	printf("# %lu files read\n", cases);
	return 0;
}
