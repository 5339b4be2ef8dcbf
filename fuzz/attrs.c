/*
 * attrs.c - fuzzes attribute strings of probes and patterns for their values.
 *
 * The first line is a pattern, the rest an attribute string.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
match(const struct attrs *attrs, const char *pattern, bool is_regex)
{
	struct selectors *l = selectors_new();
	struct spec attr, value;

	spec_init(&attr, ".", true);
	spec_init(&value, pattern, is_regex);
	selectors_add(l, attr, value);
	selectors_match(l, attrs, NULL);
	selectors_unref(l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct attrs attrs = { 0 };
	char *text, *line;
	size_t i, j;

	if (size > 4096 || (text = calloc(size + 1, 1)) == NULL)
		return 0;
	memcpy(text, data, size);
	line = text + strcspn(text, "\n");
	if (*line != '\0')
		*line++ = '\0';
	attrs_parse(&attrs, line);
	for (i = 0; i < attrs.n; i++) {
		if (attrs.v[i].n_values == 0 || *attrs.v[i].name == '\0')
			abort();
		for (j = 0; j < attrs.v[i].n_values; j++)
			if (strlen(attrs.v[i].values[j]) > size)
				abort();
	}
	/* A long pattern may take libc's regcomp() as long as it likes. */
	if (strlen(text) <= 32)
		match(&attrs, text, true);
	match(&attrs, text, false);
	attrs_free(&attrs);
	free(text);
	return 0;
}
