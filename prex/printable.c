/*
 * printable.c - text of others, for a terminal that is not to act on it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/printable.h"
#include "prex/printable.h"
#include "prex/util.h"

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
	char *out = tnf_xcalloc(strlen(s) * 4 + 1, 1), *p = out;
	const char *end = s + strlen(s);
	size_t n;

	for (; s < end; s += n) {
		n = tnf_printable_length((const unsigned char *)s, (size_t)(end - s));
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
