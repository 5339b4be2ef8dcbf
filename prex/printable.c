/*
 * printable.c - text of others, for a terminal that is not to act on it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prex/printable.h"
#include "prex/util.h"

/* Bytes of the character at s that a terminal may get; 0: none. */
static size_t
printable_harmless(const unsigned char *s)
{
	size_t i, len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	/* U+0080 to U+009F control terminals as well. */
	if (s[0] < 0xc2 || s[0] > 0xf4 || (s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static char *
printable_escape(char *p, unsigned char c)
{
	switch (c) {
	case '\n':
		return stpcpy(p, "\\n");
	case '\t':
		return stpcpy(p, "\\t");
	case '\r':
		return stpcpy(p, "\\r");
	}
	return p + sprintf(p, "\\%03o", c);
}

char *
printable(const char *s)
{
	char *out = xcalloc(strlen(s) * 4 + 1, 1), *p = out;
	size_t n;

	for (; *s != '\0'; s += n) {
		n = printable_harmless((const unsigned char *)s);
		if (n == 0) {
			p = printable_escape(p, *s);
			n = 1;
		} else {
			p = mempcpy(p, s, n);
		}
	}
	return out;
}

void
print_text(FILE *fp, const char *s)
{
	char *text;

	if (!isatty(fileno(fp))) {
		fputs(s, fp);
		return;
	}
	text = printable(s);
	fputs(text, fp);
	free(text);
}
