/*
 * printable.c - messages with names in them that others chose.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/printable.h"
#include "common/utf8.h"

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
