/*
 * hostile.c - every truncation and every single-bit flip of good files.
 *
 * hostile [SAMPLE]: every flip of that sample, or every STEPth of all of them.
 * TNF_HOSTILE_STEP=n overrides STEP.
 *
 * Any answer will do, but there must be one, soon, and without much memory;
 * the sanitizers watch.  Without a sanitizer the address space is limited.
 * The time limit is of processor time, so that a busy machine fails nothing.
 */
#include <sys/resource.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/reader/samples.h"
#include "tests/reader/walk.h"

#define STEP		7	/* odd, so that all bits of a word get their turn */
#define SECONDS		600	/* of processor time; a walk that never ends takes more */
#define MEMORY		((rlim_t)512 << 20)

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static unsigned long cases;

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

static void
flips(unsigned char *p, size_t n, size_t from, size_t to, unsigned step)
{
	size_t bit;

	for (bit = 8 * from; bit < 8 * to; bit += step) {
		p[bit / 8] ^= 1u << bit % 8;
		/* Each flip is read in one of the two ways; every STEPth in both, which
		   then have to say the same. */
		if (step == 1 && cases % STEP != 0)
			walk_one_way(p, n, cases % 2 != 0);
		else
			walk_stream(p, n);
		walk_classic(p, n);
		p[bit / 8] ^= 1u << bit % 8;
		cases++;
	}
}

static void
one_sample(unsigned which, unsigned step)
{
	struct mk *m = sample(which);
	uint32_t start = mk_data_start(m);
	size_t n, tags, i;
	unsigned char *p = mk_bytes(m, &n);

	tags = start - 0x8000;
	flips(p, n, 0, 64, 1);
	flips(p, n, 512, 512 + 64, 1);
	flips(p, n, tags, busy_end(p, tags, start), step);
	flips(p, n, start, busy_end(p, start, n), step);
	for (i = 0; i < n; i += step)
		try_bytes(p, i);
	printf("# %s: every %u\n", sample_names[which], step);
	mk_free(m);
}

int
main(int argc, char **argv)
{
	struct rlimit memory = { MEMORY, MEMORY }, cpu = { SECONDS, SECONDS };
	const char *env = getenv("TNF_HOSTILE_STEP");
	unsigned i, step = env != NULL && atoi(env) > 0 ? (unsigned)atoi(env) : STEP;

	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CPU, &cpu);
	if (argc > 1)
		one_sample((unsigned)atoi(argv[1]), 1);
	else
		for (i = 0; i < SAMPLES; i++)
			one_sample(i, step);
	printf("# %lu files read\n", cases);
	return 0;
}
