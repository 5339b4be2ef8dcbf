/*
 * ranges.c - a set of numbers as people write it.
 */
#include <ctype.h>
#include <errno.h>

#include "analysis/ranges.h"
#include "common/xalloc.h"

/* Decimal or 0x; NULL: no number. */
static const char *
ranges_number(const char *s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return NULL;
	errno = 0;
	*v = strtoull(s, &end, s[0] == '0' && s[1] == 'x' ? 16 : 10);
	return errno == 0 ? end : NULL;
}

bool
ranges_add(struct ranges *set, const char *s)
{
	uint64_t low, high;

	for (;; s++) {
		if ((s = ranges_number(s, &low)) == NULL)
			return false;
		high = low;
		if (*s == '-' && (s = ranges_number(s + 1, &high)) == NULL)
			return false;
		if (high < low || (*s != ',' && *s != '\0'))
			return false;
		set->r = tnf_xreallocarray(set->r, set->n + 1, sizeof(*set->r));
		set->r[set->n].low = low;
		set->r[set->n++].high = high;
		if (*s == '\0')
			return true;
	}
}

bool
ranges_has(const struct ranges *set, uint64_t v)
{
	for (unsigned i = 0; i < set->n; i++)
		if (v >= set->r[i].low && v <= set->r[i].high)
			return true;
	return false;
}
