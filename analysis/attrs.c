/*
 * attrs.c - what a probe's attributes say.
 */
#include <string.h>

#include "analysis/attrs.h"
#include "format/attributes.h"

const char *
attrs_find(const char *attrs, const char *name, size_t *len)
{
	struct attribute a;

	if (attrs == NULL || !attribute_find(attrs, name, &a))
		return NULL;
	*len = a.value_len;
	return a.value > a.name + a.name_len ? a.value : NULL;
}

static bool
has_key(const char *keys, const char *key)
{
	size_t n = strlen(key);

	for (const char *s = keys; (s = strstr(s, key)) != NULL; s += n)
		if ((s == keys || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
			return true;
	return false;
}

unsigned
attrs_level(const struct tnf_event *ev)
{
	const char *keys = ev->probe->keys;

	if (has_key(keys, "irq") || has_key(keys, "interrupt"))
		return 3;
	if (has_key(keys, "syscall"))
		return 1;
	return ev->kernel ? 2 : 0;
}
