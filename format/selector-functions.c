/*
 * selector-functions.c - the functions of programs that a selector asks for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/selector.h"

/* "name=work_entry" asks for the function, without its end. */
static char *
function_of_name(const char *name, const char *end)
{
	size_t n = strlen(name), cut = strlen(end);

	return n <= cut || strcmp(name + n - cut, end) != 0 ? NULL : strndup(name, n - cut);
}

char *
tnf_selector_functions(const struct tnf_selector *s, const char **kind)
{
	char *pattern;

	if (s->attr.is_regex || s->value.text == NULL)
		return NULL;
	if (strcmp(s->attr.text, "name") == 0 && !s->value.is_regex) {
		*kind = "function";
		if ((pattern = function_of_name(s->value.text, "_entry")) != NULL)
			return pattern;
		*kind = "return";
		return function_of_name(s->value.text, "_return");
	}
	*kind = s->attr.text;
	if (strcmp(*kind, "function") != 0 && strcmp(*kind, "return") != 0)
		return NULL;
	if (!s->value.is_regex)
		return strdup(s->value.text);
	return asprintf(&pattern, "/%s/", s->value.text) < 0 ? NULL : pattern;
}
