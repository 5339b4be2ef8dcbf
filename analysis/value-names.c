/*
 * value-names.c - names of values that a trace brings with it.
 *
 * The context is not trusted, like the rest of a file: text that is not well-formed counts
 * as no name.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/value-names.h"

/* Takes the next pair of "0x1=READ,0x2=WRITE"; NULL: there is no further pair. */
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

/* Prints the name and returns true, or false if there is none.  If the output is NULL,
   this and put_flags() only tell whether there is a name. */
static bool
put_symbolic(struct out *o, uint64_t value, const char *pairs, value_names_fn *put)
{
	const char *name;
	uint64_t v;
	size_t len;

	while ((pairs = next_pair(pairs, &v, &name, &len)) != NULL)
		if (v == value) {
			if (o != NULL)
				put(o, name, len);
			return true;
		}
	return false;
}

/* Prints the names of the bits that are set; bits without a name follow as a number. */
static bool
put_flags(struct out *o, uint64_t value, const char *rest, value_names_fn *put)
{
	size_t delimiter = strcspn(rest, " "), len;
	const char *pairs = rest + delimiter, *name;
	bool any = false;
	uint64_t v;

	pairs += *pairs == ' ';
	while ((pairs = next_pair(pairs, &v, &name, &len)) != NULL) {
		if ((v != 0 || value != 0) && (v == 0 || (value & v) != v))
			continue;
		if (o == NULL)
			return true;
		if (any)
			put(o, rest, delimiter);
		put(o, name, len);
		any = true;
		value &= ~v;
	}
	if (any && value != 0) {
		put(o, rest, delimiter);
		tnf_out_0x(o, value);
	}
	return any;
}

bool
value_names_put(struct out *o, const char *fact, uint64_t value, value_names_fn *put)
{
	char *end;

	if (fact == NULL)
		return false;
	bool flags = strncmp(fact, "flags ", 6) == 0;
	if (!flags && strncmp(fact, "symbolic ", 9) != 0)
		return false;
	uint64_t mask = strtoull(fact + (flags ? 6 : 9), &end, 0);
	if (*end != ' ')
		return false;
	return (flags ? put_flags : put_symbolic)(o, value & mask, end + 1, put);
}
