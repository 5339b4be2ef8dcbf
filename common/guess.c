/*
 * guess.c - find the word that was meant.
 */
#include <string.h>

#include "common/guess.h"

#define GUESS_SLIPS	2	/* that a word may have */

static size_t
guess_min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* How many letters to insert, drop, change or swap to get from a to b.  Those of
   other lengths are not meant; names of tracepoints have up to 60 letters. */
static size_t
guess_distance(const char *a, const char *b)
{
	enum { MAX = 64 };
	size_t d[MAX + 1][MAX + 1], n = strlen(a), m = strlen(b), i, j;

	if (n > MAX || m > MAX || n > m + GUESS_SLIPS || m > n + GUESS_SLIPS)
		return MAX;
	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++)
		for (j = 1; j <= m; j++) {
			d[i][j] = guess_min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
			    d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	return d[n][m];
}

const char *
tnf_word_guess(const char *const *words, const char *text)
{
	const char *best = NULL;
	size_t d, best_d = strlen(text) < 4 ? GUESS_SLIPS : GUESS_SLIPS + 1;

	for (; *words != NULL; words++) {
		d = guess_distance(*words, text);
		if (d < best_d) {
			best = *words;
			best_d = d;
		}
	}
	return best;
}
