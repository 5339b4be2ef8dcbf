/*
 * histogram-draw.c - how long things took, as bars.
 */
#include "tnfdump/report/histogram-draw.h"

#define BAR_WIDTH	40u

/* Which line of the drawing a bucket is in: its power of two. */
static unsigned
histogram_line_of(unsigned b)
{
	return 64u - (unsigned)__builtin_clzll((uint64_t)histogram_value(b) | 1);
}

static void
histogram_bar(struct out *o, uint64_t n, uint64_t most)
{
	unsigned len = (unsigned)((n * BAR_WIDTH + most - 1) / most);

	out_char(o, '|');
	for (unsigned i = 0; i < BAR_WIDTH; i++)
		out_char(o, i < len ? '#' : ' ');
	out_lit(o, "|\n");
}

void
histogram_draw(const struct histogram *h, struct out *o)
{
	uint64_t line[65] = { 0 }, most = 0;
	unsigned first = 65, last = 0;

	if (h->count == 0)
		return;
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++)
		line[histogram_line_of(b)] += h->bucket[b];
	for (unsigned i = 0; i < 65; i++) {
		if (line[i] == 0)
			continue;
		if (first == 65)
			first = i;
		last = i;
		if (line[i] > most)
			most = line[i];
	}
	out_lit(o, "         from ns              to ns       count\n");
	for (unsigned i = first; i <= last; i++) {
		tnf_out_u64_width(o, i <= 1 ? 0 : 1ull << (i - 1), 16);
		tnf_out_u64_width(o, i >= 63 ? INT64_MAX : (1ull << i) - 1, 19);
		tnf_out_u64_width(o, line[i], 12);
		out_char(o, ' ');
		histogram_bar(o, line[i], most);
	}
}
