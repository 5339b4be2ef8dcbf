/*
 * normalize.c - queries and paths without their literals.
 */
#include <ctype.h>

#include "analysis/stats.h"

#define HASH_MIN	12u	/* hexadecimal digits that are no word of a language */
#define DIGITS_MIN	3u	/* within a word */

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The length of a text in single quotes at p: '' is a quote in it, and so is \'. */
static size_t
quoted(const char *p, const char *end)
{
	const char *s = p + 1;

	for (; s < end; s++)
		if (*s == '\\' && s + 1 < end)
			s++;
		else if (*s == '\'') {
			if (s + 1 == end || s[1] != '\'')
				return (size_t)(s + 1 - p);
			s++;
		}
	return (size_t)(end - p);
}

/* The length of a hash or a UUID at p, which begins a word; 0: there is none. */
static size_t
hash(const char *p, const char *end)
{
	size_t digits = 0, n = 0;

	while (p + n < end && (isxdigit((unsigned char)p[n]) ||
	    (p[n] == '-' && n > 0 && p + n + 1 < end && isxdigit((unsigned char)p[n + 1])))) {
		digits += isdigit((unsigned char)p[n]) != 0;
		n++;
	}
	return n >= HASH_MIN && digits > 0 && (p + n == end || !is_word(p[n])) ? n : 0;
}

/* The length of a number at p: 12, 0x1f, 1.5e-3. */
static size_t
number(const char *p, const char *end)
{
	const char *s = p;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		for (s = p + 2; s < end && isxdigit((unsigned char)*s); s++)
			;
		return (size_t)(s - p);
	}
	while (s < end && isdigit((unsigned char)*s))
		s++;
	if (s + 1 < end && *s == '.' && isdigit((unsigned char)s[1]))
		for (s++; s < end && isdigit((unsigned char)*s); s++)
			;
	if (s < end && (*s == 'e' || *s == 'E')) {
		const char *x = s + 1;
		if (x < end && (*x == '-' || *x == '+'))
			x++;
		if (x < end && isdigit((unsigned char)*x))
			for (s = x; s < end && isdigit((unsigned char)*s); s++)
				;
	}
	return (size_t)(s - p);
}

/* The length of the literal at p, or 0; 'inside': a word has begun before. */
static size_t
literal(const char *p, const char *end, bool inside)
{
	size_t n = 0;

	if (*p == '\'')
		return inside ? 0 : quoted(p, end);
	if (!inside && isxdigit((unsigned char)*p) && (n = hash(p, end)) > 0)
		return n;
	if (!isdigit((unsigned char)*p))
		return 0;
	if (!inside)
		return number(p, end);
	while (p + n < end && isdigit((unsigned char)p[n]))
		n++;
	return n >= DIGITS_MIN ? n : 0;
}

/* True if the output ends in a literal and ", ": another literal there adds nothing. */
static bool
continues_list(const struct out *o, size_t from)
{
	const char *p = o->p, *base = o->base + from;

	while (p > base && (p[-1] == ' ' || p[-1] == ','))
		p--;
	return p < o->p && p > base && memchr(p, ',', (size_t)(o->p - p)) != NULL &&
	    (p[-1] == '?' || (p - base >= 3 && memcmp(p - 3, "...", 3) == 0));
}

static void
put_literal(struct out *o, size_t from)
{
	if (!continues_list(o, from)) {
		out_char(o, '?');
		return;
	}
	while (o->p[-1] == ' ' || o->p[-1] == ',')
		o->p--;
	if (o->p[-1] == '?')
		out_lit(o, ", ...");
}

void
text_normalize(struct out *o, const char *p, size_t len)
{
	size_t from = (size_t)(o->p - o->base), n;
	const char *end = p + len;
	bool inside = false;		/* a word, or what follows a '$' */

	while (p < end) {
		if (isspace((unsigned char)*p)) {
			while (p < end && isspace((unsigned char)*p))
				p++;
			out_char(o, ' ');
			inside = false;
		} else if ((n = literal(p, end, inside)) > 0) {
			put_literal(o, from);
			p += n;
			inside = true;
		} else {
			inside = is_word(*p) || *p == '$';
			out_char(o, *p++);
		}
	}
}
