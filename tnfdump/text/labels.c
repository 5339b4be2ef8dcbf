/*
 * labels.c - values that the trace itself has names for.
 *
 * The context is as little to be trusted as the rest of a file: what does not
 * read as it should is no name.
 */
#include <stdlib.h>

#include "tnfdump/origin.h"
#include "tnfdump/text/labels.h"

/* "0x1=READ,0x2=WRITE": the next pair; NULL: that was the last one. */
static const char *
next_pair(const char *p, uint64_t *value, const char **name, size_t *len)
{
	char *end;

	if (*p == '\0')
		return NULL;
	*value = strtoull(p, &end, 0);
	if (end == p || *end != '=')
		return NULL;
	*name = end + 1;
	*len = strcspn(*name, ",");
	p = *name + *len;
	return *p == ',' ? p + 1 : p;
}

/* These two print nothing where the printer is NULL: is there a name? */
static bool
put_symbolic(const struct printer *p, uint64_t value, const char *pairs)
{
	const char *name;
	uint64_t v;
	size_t len;

	while ((pairs = next_pair(pairs, &v, &name, &len)) != NULL)
		if (v == value) {
			if (p != NULL)
				printer_chars(p, name, len);
			return true;
		}
	return false;
}

/* What has no name is put behind the others as a number. */
static bool
put_flags(const struct printer *p, uint64_t value, const char *rest)
{
	size_t delimiter = strcspn(rest, " "), len;
	const char *pairs = rest + delimiter, *name;
	bool any = false;
	uint64_t v;

	pairs += *pairs == ' ';
	while ((pairs = next_pair(pairs, &v, &name, &len)) != NULL) {
		if ((v != 0 || value != 0) && (v == 0 || (value & v) != v))
			continue;
		if (p == NULL)
			return true;
		if (any)
			printer_chars(p, rest, delimiter);
		printer_chars(p, name, len);
		any = true;
		value &= ~v;
	}
	if (any && value != 0) {
		printer_chars(p, rest, delimiter);
		out_lit(p->o, "0x");
		tnf_out_hex(p->o, value);
	}
	return any;
}

static bool
labels_find(struct dump *d, const struct printer *p, const struct tnf_event *ev,
    const struct tnf_value *v, const char *member)
{
	char *end;

	/* Only points of the kernel have them, and their names have a dot. */
	if (member == NULL || strchr(ev->probe->name, '.') == NULL ||
	    v->kind < TNF_K_CHAR || v->kind > TNF_K_UINT64)
		return false;
	const char *text = origin_value_names(d, ev, member);
	if (text == NULL)
		return false;
	bool flags = strncmp(text, "flags ", 6) == 0;
	if (!flags && strncmp(text, "symbolic ", 9) != 0)
		return false;
	uint64_t mask = strtoull(text + (flags ? 6 : 9), &end, 0);
	if (*end != ' ')
		return false;
	return (flags ? put_flags : put_symbolic)(p, v->u.u & mask, end + 1);
}

bool
labels_put(const struct printer *p, const struct tnf_event *ev, const struct tnf_value *v,
    const char *member)
{
	return labels_find(p->d, p, ev, v, member);
}

bool
labels_has(struct dump *d, const struct tnf_event *ev, const struct tnf_value *v,
    const char *member)
{
	return labels_find(d, NULL, ev, v, member);
}
