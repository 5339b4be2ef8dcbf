/*
 * attrs.c - reads a probe's attributes, and the text of marks.
 */
#include <string.h>

#include <tnf/com.h>

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

bool
mark_text(const struct tnf_event *ev, char text[MARK_TEXT_MAX])
{
	struct tnf_value v;
	int i;

	if (strcmp(ev->probe->name, TNF_N_MARK) != 0 ||
	    (i = perprobe_member(ev->probe, TNF_N_MARK_TEXT)) < 0 ||
	    !tnf_event_value(ev, (unsigned)i, &v) || v.null || v.kind != TNF_K_STRING)
		return false;
	size_t n = v.u.s.len < MARK_TEXT_MAX - 1 ? v.u.s.len : MARK_TEXT_MAX - 1;
	memcpy(text, v.u.s.chars, n);
	text[n] = '\0';
	return true;
}
