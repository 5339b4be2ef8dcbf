/*
 * units.c - numbers, durations and sizes with units: reads them, and prints sizes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/units.h"

static const struct unit {
	const char *name;
	int64_t	    factor;
	bool	    time;
} units[] = {
	{ "ns",	1,			true },
	{ "us",	1000,			true },
	{ "\xc2\xb5s", 1000,		true },	/* micro sign */
	{ "ms",	1000000,		true },
	{ "s",	1000000000,		true },
	{ "m",	60000000000,		true },
	{ "min", 60000000000,		true },
	{ "h",	3600000000000,		true },
	{ "d",	86400000000000,		true },
	{ "k",	1024,			false },
	{ "K",	1024,			false },
	{ "M",	1024 * 1024,		false },
	{ "G",	1024 * 1024 * 1024,	false },
	{ "T",	1024LL * 1024 * 1024 * 1024, false },
};

static bool
units_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

/* The length of a size's suffix "B" or "iB", or 0. */
static size_t
size_tail(const char *s)
{
	if (strncmp(s, "iB", 2) == 0)
		return 2;
	return s[0] == 'B';
}

static const struct unit *
find_unit(const char *s, size_t len)
{
	for (const struct unit *u = units; u < units + sizeof(units) / sizeof(units[0]); u++) {
		size_t n = strlen(u->name);
		if (strncmp(u->name, s, n) != 0)
			continue;
		if (n == len || (!u->time && n + size_tail(s + n) == len))
			return u;
	}
	return NULL;
}

static const char *
units_scale(struct val *v, const struct unit *u)
{
	if (v->kind == VAL_REAL) {
		double d = v->u.d * (double)u->factor;
		if (d >= 0x1p63)
			return "number too large";
		*v = val_int((int64_t)(d + 0.5));
		return NULL;
	}
	__int128 product = (v->kind == VAL_INT ? (__int128)v->u.i : v->u.u);
	product *= u->factor;
	if (product > UINT64_MAX)
		return "number too large";
	*v = val_uint((uint64_t)product);
	return NULL;
}

/* Reads the integer part in its base; NULL: there is no digit, or it is out of range. */
static const char *
read_integer(const char *s, const char **end, struct val *v)
{
	char *stop;
	int base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		base = 16;
	else if (s[0] == '0' && (s[1] == 'o' || s[1] == 'O'))
		base = 8;
	else if (s[0] == '0' && isdigit((unsigned char)s[1]))
		return "leading zero: write 0o17 for octal, 15 for decimal";
	if (base != 10 && !isxdigit((unsigned char)s[2]))
		return "digits expected";
	errno = 0;
	uint64_t u = strtoull(base == 10 ? s : s + 2, &stop, base);
	if (errno == ERANGE)
		return "number too large";
	*end = stop;
	*v = val_uint(u);
	return NULL;
}

static size_t
units_digits(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	return n;
}

/* The length of a number with a decimal fraction or exponent at s, or 0. */
static size_t
real_length(const char *s)
{
	size_t n = units_digits(s), m;

	if (n == 0)
		return 0;
	if (s[n] == '.' && (m = units_digits(s + n + 1)) > 0) {
		n += 1 + m;
	} else if (s[n] != 'e' && s[n] != 'E') {
		return 0;
	}
	if (s[n] == 'e' || s[n] == 'E') {
		m = n + 1;
		if (s[m] == '+' || s[m] == '-')
			m++;
		if (units_digits(s + m) > 0)
			n = m + units_digits(s + m);
	}
	return n > units_digits(s) ? n : 0;
}

/* As number_parse(); *unit is NULL if there is none. */
static const char *
units_parse(const char *s, const char **end, struct val *v, const struct unit **unit)
{
	const char *wrong;
	size_t n;

	*end = s;
	*unit = NULL;
	if (!isdigit((unsigned char)*s))
		return "number expected";
	if (real_length(s) > 0) {
		*v = val_real(strtod(s, NULL));
		*end = s + real_length(s);
	} else if ((wrong = read_integer(s, end, v)) != NULL) {
		return wrong;
	}
	for (n = 0; units_is_word((*end)[n]); n++)
		continue;
	if (n == 0)
		return NULL;
	if ((*unit = find_unit(*end, n)) == NULL)
		return "unknown unit: ns us ms s m h d, K M G T";
	*end += n;
	return units_scale(v, *unit);
}

const char *
number_parse(const char *s, const char **end, struct val *v)
{
	const struct unit *unit;

	return units_parse(s, end, v, &unit);
}

void
size_put(struct out *o, uint64_t n)
{
	static const char letters[] = "KMGT";
	unsigned i = 0;

	while (i < 4 && n != 0 && n % 1024 == 0) {
		n /= 1024;
		i++;
	}
	tnf_out_u64(o, n);
	if (i > 0)
		out_char(o, letters[i - 1]);
}

bool
duration_parse(const char *s, int64_t *ns)
{
	const struct unit *unit;
	const char *end;
	struct val v;

	if (units_parse(s, &end, &v, &unit) != NULL || *end != '\0')
		return false;
	if (unit == NULL ? units_scale(&v, find_unit("s", 1)) != NULL : !unit->time)
		return false;
	return v.kind == VAL_INT && val_to_int(&v, ns);
}
