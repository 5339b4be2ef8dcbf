/*
 * match.c - the criteria of filters: patterns, sets of numbers, lists of probes, processes.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>

#include "analysis/match.h"
#include "common/xalloc.h"

struct match {
	bool	 plain;		/* no operator but a leading ^ or ending $ */
	bool	 at_start, at_end;
	char	*text;
	size_t	 len;
	regex_t	 regex;
};

/* The C library unrolls a+ to aa* and a{2,9} to nine times a; a short pattern with nested
   repetitions would take gigabytes. */
#define UNROLLED_MAX	1024ul
#define NESTED_MAX	32	/* parentheses */
#define REPEATED_MAX	4	/* repetitions of repetitions */

/* Returns the end of the bracket expression that starts at p. */
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

/* How often a repetition at *p repeats the atom before it; 0: there is no repetition. */
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

/* The cost of the pattern up to its end or a closing parenthesis; counting stops when the
   cost is too high. */
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

/* Reads a decimal or 0x number and returns its end; NULL: there is none. */
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

enum { UNDECIDED, KEEP, DROP };

static bool
key_matches(const struct tnf_probe *p, const char *pattern)
{
	char *copy, *next, *word;
	bool found = false;

	if (p->keys == NULL)
		return false;
	copy = next = tnf_xstrdup(p->keys);
	while (!found && (word = strsep(&next, " ")) != NULL)
		found = *word != '\0' && match_glob(pattern, word);
	free(copy);
	return found;
}

static bool
probe_list_matches(const struct probe_list *l, const struct tnf_probe *p, const char *pattern)
{
	return l->by_key ? key_matches(p, pattern) :
	    p->name != NULL && match_glob(pattern, p->name);
}

static bool
matches_any(const struct probe_list *l, const struct tnf_probe *p)
{
	for (unsigned i = 0; i < l->n; i++)
		if (probe_list_matches(l, p, l->patterns[i]))
			return true;
	return false;
}

bool
probe_list_has(struct probe_list *l, const struct tnf_probe *p)
{
	unsigned id = p->id, n;

	if (id >= l->n_verdicts) {
		n = id < 32 ? 64 : id * 2;
		l->verdicts = tnf_xreallocarray(l->verdicts, n, 1);
		memset(l->verdicts + l->n_verdicts, UNDECIDED,
		    n - l->n_verdicts);
		l->n_verdicts = n;
	}
	if (l->verdicts[id] == UNDECIDED)
		l->verdicts[id] = matches_any(l, p) ? KEEP : DROP;
	return l->verdicts[id] == KEEP;
}

static bool
pattern_is_found(const struct probe_list *l, tnf_stream_t *s, const char *pattern)
{
	unsigned i;

	for (i = 0; i < tnf_stream_probes(s); i++)
		if (probe_list_matches(l, tnf_stream_probe(s, i), pattern))
			return true;
	return i == 0;
}

const char *
probe_list_begin(struct probe_list *l, tnf_stream_t *s)
{
	l->n_verdicts = 0;
	for (unsigned i = 0; i < l->n; i++)
		if (!pattern_is_found(l, s, l->patterns[i]))
			return l->patterns[i];
	return NULL;
}

void
probe_list_free(struct probe_list *l)
{
	while (l->n > 0)
		free(l->patterns[--l->n]);
	free(l->patterns);
	free(l->verdicts);
}

bool
probe_list_add(struct probe_list *l, const char *list)
{
	char *copy = tnf_xstrdup(list), *next = copy, *word;
	bool good = true;

	while (good && (word = strsep(&next, ",")) != NULL) {
		if (!(good = *word != '\0'))
			break;
		l->patterns = tnf_xreallocarray(l->patterns, l->n + 1,
		    sizeof(char *));
		l->patterns[l->n++] = tnf_xstrdup(word);
	}
	free(copy);
	return good;
}

static bool
selectors_add_word(struct selectors *l, const char *word, bool names)
{
	struct selector s = { 0 };

	if (*word == '\0' || (!ranges_add(&s.numbers, word) && !names)) {
		free(s.numbers.r);
		return false;
	}
	s.text = tnf_xstrdup(word);
	l->n_names += s.numbers.n == 0;
	l->s = tnf_xreallocarray(l->s, l->n + 1, sizeof *l->s);
	l->s[l->n++] = s;
	return true;
}

bool
selectors_add(struct selectors *l, const char *list, bool names)
{
	char *copy = tnf_xstrdup(list), *next = copy, *word;
	bool good = true;

	while (good && (word = strsep(&next, ",")) != NULL)
		good = selectors_add_word(l, word, names);
	free(copy);
	return good;
}

static void
selectors_hit(struct selectors *l, struct selector *s)
{
	l->n_hit += !s->hit;
	s->hit = true;
}

/* True if any selector has the number.  All are tried until each has matched once; after
   that the first match is enough. */
bool
selectors_number(struct selectors *l, uint64_t v)
{
	bool found = false;

	for (unsigned i = 0; i < l->n && !(found && l->n_hit == l->n); i++)
		if (ranges_has(&l->s[i].numbers, v)) {
			selectors_hit(l, &l->s[i]);
			found = true;
		}
	return found;
}

bool
selectors_name(struct selectors *l, const char *name)
{
	bool found = false;

	for (unsigned i = 0; i < l->n && !(found && l->n_hit == l->n); i++)
		if (l->s[i].numbers.n == 0 && match_glob(l->s[i].text, name)) {
			selectors_hit(l, &l->s[i]);
			found = true;
		}
	return found;
}

void
selectors_forget(struct selectors *l)
{
	for (unsigned i = 0; i < l->n; i++)
		l->s[i].hit = false;
	l->n_hit = 0;
}

void
selectors_free(struct selectors *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		free(l->s[i].text);
		free(l->s[i].numbers.r);
	}
	free(l->s);
	*l = (struct selectors){ 0 };
}
