/*
 * text.c - text of others: UTF-8, messages with such text in them, and the word that
 * somebody meant.
 */
#include <stdlib.h>

#include "common/text.h"

size_t
tnf_utf8_length(const unsigned char *s, size_t n)
{
	uint32_t c = s[0], code, min;
	size_t len;

	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c < 0xe0)
		len = 2, code = c & 0x1f, min = 0x80;
	else if (c >= 0xe0 && c < 0xf0)
		len = 3, code = c & 0x0f, min = 0x800;
	else if (c >= 0xf0 && c < 0xf5)
		len = 4, code = c & 0x07, min = 0x10000;
	else
		return 0;
	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < min || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

bool
tnf_utf8_is_valid(const char *chars, size_t n)
{
	const unsigned char *s = (const unsigned char *)chars;
	size_t len;

	for (; n > 0; s += len, n -= len)
		if ((len = tnf_utf8_length(s, n)) == 0)
			return false;
	return true;
}

/* U+202A to U+202E and U+2066 to U+2069 turn the direction of the text around them: a
   line would show another order of what is in it. */
static bool
turns_text(const unsigned char *s, size_t n)
{
	return n > 2 && s[0] == 0xe2 &&
	    ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
	    (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

size_t
tnf_printable_length(const unsigned char *s, size_t n)
{
	/* U+0080 to U+009F control terminals as well. */
	if (s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && n > 1 && s[1] < 0xa0) ||
	    turns_text(s, n))
		return 0;
	return tnf_utf8_length(s, n);
}

static void
printable_put_text(FILE *fp, const char *text, size_t n)
{
	static const char letters[] = "\nn\tt\rr";
	const unsigned char *p = (const unsigned char *)text, *end = p + n;
	const char *letter;
	size_t len;

	for (; p < end; p += len) {
		if ((len = tnf_printable_length(p, (size_t)(end - p))) != 0) {
			fwrite(p, 1, len, fp);
			continue;
		}
		len = 1;
		letter = *p != '\0' ? strchr(letters, *p) : NULL;
		if (letter != NULL)
			fprintf(fp, "\\%c", letter[1]);
		else
			fprintf(fp, "\\x%02x", *p);
	}
}

void
tnf_printable_vprintf(FILE *fp, const char *fmt, va_list ap)
{
	size_t end = strlen(fmt);
	char *text;
	int n = vasprintf(&text, fmt, ap);

	/* Without memory the names are left out, not what is said. */
	if (n < 0) {
		fputs(fmt, fp);
		return;
	}
	end = end > 0 && fmt[end - 1] == '\n';
	printable_put_text(fp, text, (size_t)n - end);
	if (end)
		fputc('\n', fp);
	free(text);
}

void
tnf_printable_printf(FILE *fp, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tnf_printable_vprintf(fp, fmt, ap);
	va_end(ap);
}

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
