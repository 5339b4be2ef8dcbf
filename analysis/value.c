/*
 * value.c - values: read as people write them, with units; converted, compared, shown.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/pretty-names.h"
#include "analysis/value.h"

struct val
val_int(int64_t i)
{
	return (struct val){ .kind = VAL_INT, .u.i = i };
}

struct val
val_uint(uint64_t u)
{
	if (u <= INT64_MAX)
		return val_int((int64_t)u);
	return (struct val){ .kind = VAL_UINT, .u.u = u };
}

struct val
val_real(double d)
{
	return (struct val){ .kind = VAL_REAL, .u.d = d };
}

struct val
val_string(const char *chars, size_t len)
{
	return (struct val){ .kind = VAL_STRING, .u.s = { chars, len } };
}

struct val
val_cstring(const char *s)
{
	if (s == NULL)
		return (struct val){ .kind = VAL_NULL };
	return val_string(s, strlen(s));
}

struct val
val_of_member(const struct tnf_value *m, const char *name)
{
	struct val v = { .kind = VAL_NULL };

	if (m->null)
		return v;
	switch (m->kind) {
	case TNF_K_CHAR:
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		v = val_int(m->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		v = val_uint(m->u.u);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		v = val_real(m->u.d);
		break;
	case TNF_K_STRING:
		v = val_string(m->u.s.chars, m->u.s.len);
		break;
	case TNF_K_STRUCT:
	case TNF_K_ARRAY:
		v.kind = VAL_RECORD;
		v.u.r.pos = m->u.r.pos;
		v.u.r.count = m->u.r.count;
		v.u.r.type = m->u.r.type;
		break;
	default:
		return v;
	}
	v.type = m->type;
	v.name = name;
	return v;
}

struct tnf_value
val_to_member(const struct val *v)
{
	struct tnf_value m = { .type = v->type, .null = v->type == NULL };

	if (m.null)
		return m;
	m.kind = v->type->kind;
	switch (v->kind) {
	case VAL_RECORD:
		m.kind = v->u.r.type->kind;
		m.u.r.pos = v->u.r.pos;
		m.u.r.count = v->u.r.count;
		m.u.r.type = v->u.r.type;
		break;
	case VAL_REAL:
		m.u.d = v->u.d;
		break;
	case VAL_INT:
	case VAL_UINT:
		m.u.u = v->u.u;
		break;
	default:
		m.null = true;
		break;
	}
	return m;
}

bool
val_to_double(const struct val *v, double *d)
{
	switch (v->kind) {
	case VAL_INT:
		*d = (double)v->u.i;
		return true;
	case VAL_UINT:
		*d = (double)v->u.u;
		return true;
	case VAL_REAL:
		*d = v->u.d;
		return true;
	default:
		return false;
	}
}

bool
val_to_int(const struct val *v, int64_t *i)
{
	switch (v->kind) {
	case VAL_INT:
		*i = v->u.i;
		return true;
	case VAL_UINT:
		*i = INT64_MAX;
		return true;
	case VAL_REAL:
		if (isnan(v->u.d))
			return false;
		if (v->u.d >= 0x1p63)
			*i = INT64_MAX;
		else if (v->u.d < -0x1p63)
			*i = INT64_MIN;
		else
			*i = (int64_t)v->u.d;
		return true;
	default:
		return false;
	}
}

int
val_truth(const struct val *v)
{
	switch (v->kind) {
	case VAL_INT:
		return v->u.i != 0;
	case VAL_UINT:
	case VAL_RECORD:
		return 1;
	case VAL_REAL:
		return v->u.d != 0;
	case VAL_STRING:
	case VAL_WORDS:
		return v->u.s.len != 0;
	default:
		return -1;
	}
}

static int
value_order(bool less, bool greater)
{
	return (int)greater - (int)less;
}

static int
compare_numbers(const struct val *a, const struct val *b)
{
	double x, y;

	if (a->kind == VAL_INT && b->kind == VAL_INT)
		return value_order(a->u.i < b->u.i, a->u.i > b->u.i);
	if (a->kind != VAL_REAL && b->kind != VAL_REAL) {
		if (a->kind != b->kind)
			return a->kind == VAL_INT ? -1 : 1;
		return value_order(a->u.u < b->u.u, a->u.u > b->u.u);
	}
	val_to_double(a, &x);
	val_to_double(b, &y);
	if (isnan(x) || isnan(y))
		return VAL_INCOMPARABLE;
	return value_order(x < y, x > y);
}

static int
compare_strings(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, alen < blen ? alen : blen);

	if (c != 0)
		return c < 0 ? -1 : 1;
	return value_order(alen < blen, alen > blen);
}

const char *
val_name(const struct val *v)
{
	if (v->word != NULL || v->kind != VAL_INT)
		return v->word;
	return pretty_name(v->type, v->name, v->u.i);
}

static int
compare_name(const struct val *number, const struct val *string)
{
	char c;

	if (number->type == NULL || (number->kind != VAL_INT && number->word == NULL))
		return VAL_INCOMPARABLE;
	if (number->type->kind == TNF_K_CHAR) {
		c = (char)number->u.i;
		return compare_strings(&c, 1, string->u.s.chars,
		    string->u.s.len);
	}
	const char *name = val_name(number);
	if (name == NULL)
		return VAL_INCOMPARABLE;
	return compare_strings(name, strlen(name), string->u.s.chars,
	    string->u.s.len);
}

int
val_compare(const struct val *a, const struct val *b)
{
	if (val_is_number(a) && val_is_number(b))
		return compare_numbers(a, b);
	if (a->kind == VAL_STRING && b->kind == VAL_STRING)
		return compare_strings(a->u.s.chars, a->u.s.len,
		    b->u.s.chars, b->u.s.len);
	if (val_is_number(a) && b->kind == VAL_STRING)
		return compare_name(a, b);
	if (a->kind == VAL_STRING && val_is_number(b)) {
		int c = compare_name(b, a);
		return c == VAL_INCOMPARABLE ? c : -c;
	}
	return VAL_INCOMPARABLE;
}

size_t
val_text(const struct val *v, char buf[VAL_TEXT_SIZE], const char **text)
{
	int n = 0;

	buf[0] = '\0';
	*text = buf;
	switch (v->kind) {
	case VAL_STRING:
	case VAL_WORDS:
		*text = v->u.s.chars;
		return v->u.s.len;
	case VAL_INT:
		if (v->type != NULL && v->type->kind == TNF_K_CHAR) {
			buf[0] = (char)v->u.i;
			return 1;
		}
		n = snprintf(buf, VAL_TEXT_SIZE, v->type != NULL &&
		    v->type->opaque ? "0x%" PRIx64 : "%" PRId64, v->u.i);
		break;
	case VAL_UINT:
		n = snprintf(buf, VAL_TEXT_SIZE, v->type != NULL &&
		    v->type->opaque ? "0x%" PRIx64 : "%" PRIu64, v->u.u);
		break;
	case VAL_REAL:
		n = snprintf(buf, VAL_TEXT_SIZE, "%.17g", v->u.d);
		break;
	case VAL_RECORD:
		if (v->u.r.type != NULL)
			*text = v->u.r.type->name;
		return strlen(*text);
	default:
		break;
	}
	return n < 0 ? 0 : (size_t)n;
}

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
