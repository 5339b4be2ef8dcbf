/*
 * attrs.c - fuzzes attribute strings of probes and selectors that choose by them.
 *
 * The first line is a pattern, a text and a list of selectors, the rest an attribute string.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
match(const struct tnf_probe_attrs *attrs, const char *pattern, bool is_regex)
{
	struct tnf_selector s;
	const struct tnf_selectors l = { .n = 1, .v = &s };

	tnf_spec_init(&s.attr, ".", 1, true);
	tnf_spec_init(&s.value, pattern, strlen(pattern), is_regex);
	tnf_selectors_match(&l, attrs, NULL);
	tnf_spec_free(&s.attr);
	tnf_spec_free(&s.value);
}

static void
match_list(const struct tnf_probe_attrs *attrs, const char *text)
{
	char why[64];
	size_t at;
	struct tnf_selectors *l = tnf_selectors_parse(text, why, sizeof why, &at);

	if (at > strlen(text) || (l == NULL && (*why == '\0' || strlen(why) >= sizeof why)))
		abort();
	if (l != NULL)
		tnf_selectors_match(l, attrs, NULL);
	tnf_selectors_unref(l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tnf_probe_attrs attrs = { .object = "/bin/a" };
	struct tnf_probe_attrs_at at = { 0 };
	struct attribute a;
	char *text, *line;

	if (size > 4096 || (text = calloc(size + 1, 1)) == NULL)
		return 0;
	memcpy(text, data, size);
	line = text + strcspn(text, "\n");
	if (*line != '\0')
		*line++ = '\0';
	attrs.own = line;
	while (tnf_probe_attrs_next(&attrs, &at, &a))
		if (at.rest != NULL && (a.name_len == 0 || a.value_len > size))
			abort();
	/* A long pattern may take libc's regcomp() as long as it likes. */
	if (strlen(text) <= 32) {
		match(&attrs, text, true);
		match_list(&attrs, text);
	}
	match(&attrs, text, false);
	free(text);
	return 0;
}
