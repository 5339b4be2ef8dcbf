/*
 * match.c - regular expressions, with a short way for plain text.
 */
#include <fnmatch.h>
#include <regex.h>
#include <string.h>

#include "analysis/match.h"
#include "common/xalloc.h"

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
#define NESTED_MAX	32	/* parentheses */
#define REPEATED_MAX	4	/* repetitions of repetitions */

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
match_repetition(const char **p)
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

struct cost {
	unsigned long terms;	/* with repetitions written out */
	unsigned      repeated;	/* depth of repetitions */
};

static bool
is_dear(const struct cost *c)
{
	return c->terms > UNROLLED_MAX || c->repeated > REPEATED_MAX;
}

/* Of the pattern up to its end or a closing parenthesis; does not count on
   when it is too dear. */
static struct cost
cost_of(const char **p, unsigned depth)
{
	struct cost sum = { 0, 0 }, atom;
	unsigned long times;

	while (**p != '\0' && !is_dear(&sum) && !(**p == ')' && depth > 0)) {
		atom = (struct cost){ 1, 0 };
		if (**p == '(' && depth == NESTED_MAX) {
			atom.terms = UNROLLED_MAX + 1;
		} else if (**p == '(') {
			(*p)++;
			atom = cost_of(p, depth + 1);
			atom.terms++;
			*p += **p == ')';
		} else if (**p == '[') {
			*p = skip_bracket(*p);
		} else {
			*p += (*p)[0] == '\\' && (*p)[1] != '\0' ? 2 : 1;
		}
		while (!is_dear(&atom) && (times = match_repetition(p)) > 0) {
			atom.terms *= times;
			atom.repeated++;
		}
		sum.terms += atom.terms;
		if (atom.repeated > sum.repeated)
			sum.repeated = atom.repeated;
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
	m->text = tnf_xstrndup(pattern, len);
	m->len = len;
	return true;
}

struct match *
match_new(const char *pattern, bool ignore_case, const char **wrong)
{
	static char text[128];
	const char *p = pattern;
	struct cost cost = cost_of(&p, 0);
	int error, flags = REG_EXTENDED | REG_NOSUB;

	if (strlen(pattern) > MATCH_TEXT_MAX || is_dear(&cost)) {
		*wrong = "regular expression too large";
		return NULL;
	}
	struct match *m = tnf_xcalloc(1, sizeof(*m));
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
