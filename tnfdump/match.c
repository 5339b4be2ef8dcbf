/*
 * match.c - regular expressions, with a short way for plain text.
 */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "tnfdump/match.h"
#include "tnfdump/xalloc.h"

struct match {
	bool	 plain;		/* no operator but a leading ^ or ending $ */
	bool	 at_start, at_end;
	char	*text;
	size_t	 len;
	regex_t	 regex;
};

/* The library unrolls a+ to aa* and a{2,9} to nine times a; nested, a short
   pattern takes gigabytes. */
#define UNROLLED_MAX	1024ul
#define NESTED_MAX	32

/* Behind the bracket expression that starts at p. */
static const char *
skip_bracket(const char *p)
{
	p++;
	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	while (*p != '\0' && *p != ']')
		p++;
	return *p == ']' ? p + 1 : p;
}

/* How often a repetition at *p unrolls what is before it; 0: none is there. */
static unsigned long
repetition(const char **p)
{
	unsigned long n;
	char *end;

	switch (**p) {
	case '*':
	case '?':
		(*p)++;
		return 1;
	case '+':
		(*p)++;
		return 2;
	case '{':
		n = strtoul(*p + 1, &end, 10);
		if (*end == ',' && end[1] >= '0' && end[1] <= '9')
			n = strtoul(end + 1, &end, 10);
		*p = strchr(end, '}') != NULL ? strchr(end, '}') + 1 : end;
		return n < UNROLLED_MAX ? n + 1 : UNROLLED_MAX;
	default:
		return 0;
	}
}

/* Terms of the pattern up to its end or a closing parenthesis, unrolled;
   stops to count beyond the maximum. */
static unsigned long
unrolled(const char **p, unsigned depth)
{
	unsigned long sum = 0, atom, times;

	while (**p != '\0' && sum <= UNROLLED_MAX) {
		atom = 1;
		if (**p == ')' && depth > 0)
			break;
		if (**p == '(') {
			(*p)++;
			if (depth == NESTED_MAX)
				return UNROLLED_MAX + 1;
			atom += unrolled(p, depth + 1);
			*p += **p == ')';
		} else if (**p == '[') {
			*p = skip_bracket(*p);
		} else {
			*p += (*p)[0] == '\\' && (*p)[1] != '\0' ? 2 : 1;
		}
		while (atom <= UNROLLED_MAX && (times = repetition(p)) > 0)
			atom *= times;
		sum += atom;
	}
	return sum;
}

static bool
make_plain(struct match *m, const char *pattern)
{
	size_t len = strlen(pattern);

	m->at_start = len > 0 && pattern[0] == '^';
	if (m->at_start) {
		pattern++;
		len--;
	}
	m->at_end = len > 0 && pattern[len - 1] == '$';
	if (m->at_end)
		len--;
	if (strcspn(pattern, "\\^$.[]|()*+?{}") < len)
		return false;
	m->plain = true;
	m->text = xstrndup(pattern, len);
	m->len = len;
	return true;
}

struct match *
match_new(const char *pattern, bool ignore_case, const char **wrong)
{
	static char text[128];
	const char *p = pattern;
	struct match *m;
	int error, flags = REG_EXTENDED | REG_NOSUB;

	if (strlen(pattern) > MATCH_TEXT_MAX ||
	    unrolled(&p, 0) > UNROLLED_MAX) {
		*wrong = "regular expression too large";
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	if (!ignore_case && make_plain(m, pattern))
		return m;
	if (ignore_case)
		flags |= REG_ICASE;
	error = regcomp(&m->regex, pattern, flags);
	if (error == 0)
		return m;
	regerror(error, &m->regex, text, sizeof(text));
	*wrong = text;
	free(m);
	return NULL;
}

void
match_free(struct match *m)
{
	if (m == NULL)
		return;
	if (m->plain)
		free(m->text);
	else
		regfree(&m->regex);
	free(m);
}

static bool
test_plain(const struct match *m, const char *chars, size_t len)
{
	if (len < m->len || (m->at_start && m->at_end && len != m->len))
		return false;
	if (m->len == 0)
		return true;
	if (m->at_start)
		return memcmp(chars, m->text, m->len) == 0;
	if (m->at_end)
		return memcmp(chars + len - m->len, m->text, m->len) == 0;
	return memmem(chars, len, m->text, m->len) != NULL;
}

bool
match_test(const struct match *m, const char *chars, size_t len)
{
	regmatch_t range[1];

	if (m->plain)
		return test_plain(m, chars, len);
	range[0].rm_so = 0;
	range[0].rm_eo = (regoff_t)len;
	return regexec(&m->regex, chars, 0, range, REG_STARTEND) == 0;
}

bool
match_glob(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}
