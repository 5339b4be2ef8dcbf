/*
 * where.c - conditions on members: from text to the table that the programs look at.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel-probes/catalogue.h"
#include "kernel-probes/import.h"

struct reader {
	const struct kp_where_of *of;
	const char	*p;
};

static const struct {
	const char	*text;
	enum kp_where_op op;
} operators[] = {		/* the longer ones first */
	{ "==", KP_W_EQUAL }, { "!=", KP_W_UNEQUAL }, { "<=", KP_W_AT_MOST },
	{ ">=", KP_W_AT_LEAST }, { "=", KP_W_EQUAL }, { "<", KP_W_BELOW },
	{ ">", KP_W_ABOVE }, { "&", KP_W_BITS },
};

static int __attribute__((format(printf, 2, 3)))
wrong(struct reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->of->why, r->of->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static void
skip_blanks(struct reader *r)
{
	while (isspace((unsigned char)*r->p))
		r->p++;
}

static bool
take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(r);
	if (strncmp(r->p, word, n) != 0 || isalnum((unsigned char)r->p[n]) || r->p[n] == '_')
		return false;
	r->p += n;
	return true;
}

static int
no_member(struct reader *r, const char *name, size_t len)
{
	char list[256] = "";
	size_t n = 0;

	for (unsigned i = 0; i < r->of->members && n < sizeof list - 1; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, " %s",
		    r->of->member[i].name);
	return wrong(r, "where: %.*s: %s has no such member: it has%s%s", (int)len, name,
	    r->of->probe, list, len == 8 && memcmp(name, "duration", len) == 0 ?
	    ": see duration(probe) of tnfwatch(1)" : "");
}

static int
take_member(struct reader *r, const struct kp_import_member **ret)
{
	const char *name;
	size_t len = 0;

	skip_blanks(r);
	name = r->p;
	while (isalnum((unsigned char)name[len]) || name[len] == '_')
		len++;
	if (len == 0)
		return wrong(r, "where: \"%.20s\": a member was expected", name);
	for (unsigned i = 0; i < r->of->members; i++)
		if (strlen(r->of->member[i].name) == len &&
		    strncmp(r->of->member[i].name, name, len) == 0) {
			r->p += len;
			*ret = &r->of->member[i];
			return 0;
		}
	return no_member(r, name, len);
}

static int
take_operator(struct reader *r, struct kp_condition *c)
{
	skip_blanks(r);
	for (unsigned i = 0; i < sizeof operators / sizeof *operators; i++)
		if (strncmp(r->p, operators[i].text, strlen(operators[i].text)) == 0) {
			r->p += strlen(operators[i].text);
			c->op = (__u8)operators[i].op;
			return 0;
		}
	return wrong(r, "where: \"%.20s\": one of = != < <= > >= & was expected",
	    r->p);
}

/* A unit of time behind a number, which then becomes nanoseconds; false: it is too large. */
static bool
take_unit(const char **at, __u64 *n)
{
	static const struct { const char *name; __u64 ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};

	for (unsigned i = 0; i < sizeof units / sizeof *units; i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(*at, units[i].name, len) != 0 || isalnum((unsigned char)(*at)[len]))
			continue;
		*at += len;
		return !__builtin_mul_overflow(*n, units[i].ns, n);
	}
	return true;
}

static int
take_number(struct reader *r, struct kp_condition *c)
{
	const char *behind;
	char *end;

	skip_blanks(r);
	errno = 0;
	if (*r->p == '-')
		c->value[0] = (__u64)strtoll(r->p, &end, 0);
	else
		c->value[0] = strtoull(r->p, &end, 0);
	behind = end;
	if (end == r->p || errno != 0 || !take_unit(&behind, &c->value[0]) ||
	    isalnum((unsigned char)*behind) || *behind == '_')
		return wrong(r, "where: \"%.20s\": a number was expected", r->p);
	r->p = behind;
	return 0;
}

/* The text up to its NUL, or the part before a '*', has to be equal. */
static int
take_text(struct reader *r, struct kp_condition *c)
{
	char value[KP_WHERE_TEXT] = { 0 }, mask[KP_WHERE_TEXT] = { 0 };
	const char *end;
	size_t n;

	skip_blanks(r);
	if (*r->p != '"' || (end = strchr(r->p + 1, '"')) == NULL)
		return wrong(r, "where: \"%.20s\": a text in double quotes "
		    "was expected", r->p);
	if (c->op != KP_W_EQUAL && c->op != KP_W_UNEQUAL)
		return wrong(r, "where: texts are = or !=, and no more");
	n = (size_t)(end - r->p - 1);
	if (n >= sizeof value)
		return wrong(r, "where: \"%.20s...\": at most %u characters",
		    r->p + 1, KP_WHERE_TEXT - 1);
	memcpy(value, r->p + 1, n);
	if (n > 0 && value[n - 1] == '*')
		value[--n] = '\0';
	else
		n++;
	memset(mask, 0xff, n);
	memcpy(c->value, value, sizeof value);
	memcpy(c->mask, mask, sizeof mask);
	r->p = end + 1;
	return 0;
}

static bool
is_signed(const char *type)
{
	return strncmp(type, "tnf_int", 7) == 0 || strcmp(type, "tnf_pid") == 0;
}

static int
take_condition(struct reader *r, struct kp_condition *c)
{
	const struct kp_import_member *m = NULL;
	uint32_t size;
	int e;

	if ((e = take_member(r, &m)) < 0 || (e = take_operator(r, c)) < 0)
		return e;
	c->at = (__u16)m->at;
	size = kp_defs_scalar(m->type);
	if (size != 0) {
		c->size = (__u8)size;
		c->is_signed = is_signed(m->type);
		return take_number(r, c);
	}
	if (kp_defs_record(m->type) != KP_R_STRING)
		return wrong(r, "where: %s is an array: only numbers and texts "
		    "are compared", m->name);
	return take_text(r, c);
}

int
kp_where_compile(const struct kp_where_of *of, const char *text, struct kp_where *ret)
{
	struct reader r = { of, text };
	bool first = true;
	int e;

	memset(ret, 0, sizeof *ret);
	for (;;) {
		if (ret->n == KP_WHERE_MAX)
			return wrong(&r, "where: at most %u comparisons", KP_WHERE_MAX);
		ret->c[ret->n].first = first;
		if ((e = take_condition(&r, &ret->c[ret->n])) < 0)
			return e;
		ret->n++;
		skip_blanks(&r);
		if (*r.p == '\0')
			return 0;
		first = false;
		if (take_word(&r, "or"))
			first = true;
		else if (!take_word(&r, "and"))
			return wrong(&r, "where: \"%.20s\": \"and\" or \"or\" was "
			    "expected", r.p);
	}
}
