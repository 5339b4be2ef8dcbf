/*
 * redact.c - what --redact leaves of texts: tokens, which tell only what texts are equal.
 */
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "format/attributes.h"
#include "tnfdump/to/tnf-write.h"

#define TOKEN	24	/* "text-" and a number */

const char *
redact_text(struct map *texts, const char *chars, size_t len)
{
	bool fresh;
	char *token;

	if (len == 0)
		return "";
	if (texts->value_size == 0)
		tnf_map_init(texts, TOKEN);
	token = tnf_xmap_put(texts, chars, len, &fresh);
	if (fresh)
		snprintf(token, TOKEN, "text-%zu", texts->n);
	return token;
}

/* Probes keep the keys by which they are chosen; other attributes name source files and objects. */
struct tnf_text
redact_attrs(const char *attrs)
{
	struct attribute a;

	if (!attribute_find(attrs, "keys", &a))
		return (struct tnf_text){ "", 0 };
	return (struct tnf_text){ a.name, (size_t)(a.value + a.value_len - a.name) };
}

/* The lines of a context that stay, with their fields up to a name, which becomes a token. */
static const struct line {
	const char *word;
	unsigned fields;	/* in front of the name */
	bool	 whole;		/* there is no name */
} lines[] = {
	{ "TNFCTX", 0, true }, { "clock", 0, true }, { "sync", 0, true }, { "cpus", 0, true },
	{ "inner", 0, true },
	{ "task", 3, false }, { "ended", 3, false }, { "thread", 3, false },
	{ "named", 2, false }, { "renamed", 2, false }, { "frozen", 1, false },
};

void
redact_line(FILE *f, struct map *texts, const char *line, size_t size)
{
	const char *end = line + size - 1, *p = memchr(line, ' ', size);
	size_t n = p != NULL ? (size_t)(p - line) : 0, i;

	for (i = 0; i < sizeof lines / sizeof *lines; i++)
		if (strlen(lines[i].word) == n && memcmp(lines[i].word, line, n) == 0)
			break;
	if (i == sizeof lines / sizeof *lines)
		return;
	if (lines[i].whole) {
		fwrite(line, 1, size, f);
		return;
	}
	for (n = lines[i].fields; n > 0 && p != NULL; n--)
		p = memchr(p + 1, ' ', (size_t)(end - p - 1));
	if (p == NULL)
		return;
	fwrite(line, 1, (size_t)(p + 1 - line), f);
	fprintf(f, "%s\n", redact_text(texts, p + 1, (size_t)(end - p - 1)));
}
