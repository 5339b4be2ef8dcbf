/*
 * addrs.c - the words of a trace that may be addresses of kernel code.
 *
 * To look at every aligned word is faster than to look at records, and cannot
 * be led astray by them.  What is no address after all finds no symbol and is
 * forgotten.  Events repeat the same few addresses, so a small table does.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "tnfxtract/addrs.h"

#define ADDRS_MAX	(1u << 16)	/* more are not named */

#define CODE_END	0xffffffffff000000ull	/* above are errnos */

#define SCAN_AT_ONCE	8

static size_t
addrs_find(const struct addrs *a, uint64_t v)
{
	size_t i = (v * 0x9e3779b97f4a7c15ull) >> 40;

	for (i &= a->room - 1; a->slot[i] != 0 && a->slot[i] != v;
	    i = (i + 1) & (a->room - 1))
		;
	return i;
}

static int
addrs_grow(struct addrs *a)
{
	struct addrs bigger = { .start = a->start, .room = a->room ? a->room * 2 : 1024 };

	bigger.slot = calloc(bigger.room, sizeof *bigger.slot);
	if (bigger.slot == NULL)
		return -1;
	for (size_t i = 0; i < a->room; i++)
		if (a->slot[i] != 0)
			bigger.slot[addrs_find(&bigger, a->slot[i])] = a->slot[i];
	bigger.n = a->n;
	free(a->slot);
	*a = bigger;
	return 0;
}

static void
addrs_add(struct addrs *a, uint64_t v)
{
	if (a->n * 2 >= a->room && (a->n >= ADDRS_MAX || addrs_grow(a) != 0))
		return;
	size_t i = addrs_find(a, v);
	if (a->slot[i] == 0) {
		a->slot[i] = v;
		a->n++;
	}
}

/* Four halves of words; what is under the address may be anything. */
typedef uint32_t halves __attribute__((vector_size(16), aligned(8), may_alias));

/* No address of code among these words, as a rule: their upper halves are compared
   at once. */
static bool
have_none(const uint64_t *word, uint64_t start)
{
	const halves *h = (const void *)word;
	const union { uint64_t word[2]; halves h; } upper = {
		{ 0xffffffffull << 32, 0xffffffffull << 32 } };
	union { halves h; uint64_t word[2]; } any = { .word = { 0, 0 } };

	for (size_t i = 0; i < SCAN_AT_ONCE / 2; i++)
		any.h |= (halves)(h[i] >= (uint32_t)(start >> 32));
	any.h &= upper.h;
	return (any.word[0] | any.word[1]) == 0;
}

void
addrs_scan(struct addrs *a, const unsigned char *block, size_t valid)
{
	const uint64_t *word = (const void *)block;
	size_t i, n = valid / sizeof *word;
	uint64_t last = 0;

	for (i = 0; i < n; i++) {
		while (i + SCAN_AT_ONCE <= n && have_none(word + i, a->start))
			i += SCAN_AT_ONCE;
		if (i < n && word[i] - a->start < CODE_END - a->start && word[i] != last) {
			last = word[i];
			addrs_add(a, last);
		}
	}
}

void
addrs_pack(struct addrs *a)
{
	size_t i, n = 0;

	for (i = 0; i < a->room; i++)
		if (a->slot[i] != 0)
			a->slot[n++] = a->slot[i];
}

void
addrs_free(struct addrs *a)
{
	free(a->slot);
	a->slot = NULL;
	a->room = a->n = 0;
}
