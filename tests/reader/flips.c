/*
 * flips.c - no flipped bit of a definition loses an event and says nothing.
 *
 * flips: every bit of the header, of the directory and of the tag blocks of
 * small files: a 64-bit process, a big-endian 32-bit one, a kernel.  In the
 * normal run one bit in STEP (odd, so that each bit of a byte gets its turn);
 * TNF_FLIPS=all takes every bit of every sample.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reader/samples.h"
#include "tests/reader/walk.h"

#define STEP	23u

/* The contents of a good file; damage takes some of it away, or is silent. */
struct whole {
	const char *name;
	unsigned char *bytes;
	size_t	 size;
	uint64_t events, records;
};

static unsigned long flipped, silent;

static void
complain(const struct whole *w, size_t bit, const char *how, uint64_t n,
    uint64_t of)
{
	if (silent++ < 40)
		printf("# %s: bit %zu of the byte at 0x%zx: %llu of %llu %s, "
		    "and not a word\n", w->name, bit % 8, bit / 8,
		    (unsigned long long)n, (unsigned long long)of, how);
}

static void
try_bit(const struct whole *w, size_t bit)
{
	struct walk_result r;

	w->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	r = walk_stream(w->bytes, w->size);
	if (r.error == 0 && r.damaged == 0 && r.events != w->events)
		complain(w, bit, "events", r.events, w->events);
	r = walk_classic(w->bytes, w->size);
	if (r.error == 0 && r.damaged == 0 && r.events != w->events)
		complain(w, bit, "events of -r", r.events, w->events);
	w->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	flipped++;
}

static void
try_range(const struct whole *w, size_t from, size_t to, unsigned step)
{
	size_t bit;

	to = busy_end(w->bytes, from, to);
	for (bit = 8 * from; bit < 8 * to; bit += step)
		try_bit(w, bit);
}

static void
try_sample(unsigned which, unsigned step)
{
	struct mk *m = sample(which);
	struct whole w = { .name = sample_names[which] };
	uint32_t data = mk_data_start(m), directory;

	w.bytes = mk_bytes(m, &w.size);
	w.events = walk_stream(w.bytes, w.size).events;
	if (w.events == 0 || walk_classic(w.bytes, w.size).events != w.events)
		abort();
	directory = mk_get32(m, 28);
	try_range(&w, 0, 40, step == 1 ? 1 : 3);
	try_range(&w, 512, directory, step);
	try_range(&w, directory, data, step);
	mk_free(m);
}

int
main(void)
{
	const char *env = getenv("TNF_FLIPS");
	bool all = env != NULL && strcmp(env, "all") == 0;
	unsigned i;

	for (i = 0; i < SAMPLES; i++)
		if (all || i == 0 || i == 3 || i == 4)
			try_sample(i, all ? 1 : STEP);
	printf("# %lu bits flipped, %lu silent losses\n", flipped, silent);
	return silent != 0;
}
