/*
 * auto-select.c - prex's selectors, in the process itself.
 */
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "format/attributes.h"
#include "libtnfprobe/auto.h"

#define SELECTORS_MAX	64
#define BLANKS		" \t\n"

/* A text that is equal, or a regular expression. */
struct spec {
	char	*text;
	regex_t	 regex;
	bool	 is_regex;
};

struct tnf_auto_selectors {
	unsigned n;
	struct { struct spec attr, value; } v[SELECTORS_MAX];
};

/* What is being read. */
struct reader {
	const char *p;
	const char *wrong;
};

static bool
is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool
spec_set(struct spec *s, const char *text, size_t n, bool regex, struct reader *r)
{
	if ((s->text = strndup(text, n)) == NULL) {
		r->wrong = "out of memory";
		return false;
	}
	if (regex && regcomp(&s->regex, s->text, REG_NOSUB) != 0) {
		r->wrong = "is no regular expression";
		return false;
	}
	s->is_regex = regex;
	return true;
}

static void
spec_free(struct spec *s)
{
	if (s->is_regex)
		regfree(&s->regex);
	free(s->text);
}

static bool
auto_select_quoted(struct reader *r, struct spec *s)
{
	const char *from = r->p + 1, *end = strchr(from, *r->p);
	bool regex = *r->p == '/';

	if (end == NULL) {
		r->wrong = regex ? "the second slash is missing" : "the second quote is missing";
		return false;
	}
	if (!spec_set(s, from, (size_t)(end - from), regex, r))
		return false;
	r->p = end + 1;
	return true;
}

/* $all is the only set that is there without a shell. */
static bool
set_of_all(struct reader *r, struct spec *s)
{
	if (strncmp(r->p, "$all", 4) != 0 || is_plain(r->p[4])) {
		r->wrong = "there is no set but $all";
		return false;
	}
	r->p += 4;
	return spec_set(s, "", 0, true, r);
}

static bool
spec_read(struct reader *r, struct spec *s)
{
	const char *from = r->p;

	if (*from == '\'' || *from == '/')
		return auto_select_quoted(r, s);
	if (*from == '$')
		return set_of_all(r, s);
	while (is_plain(*r->p))
		r->p++;
	if (r->p == from) {
		r->wrong = "is neither a word, 'text' nor /pattern/";
		return false;
	}
	return spec_set(s, from, (size_t)(r->p - from), false, r);
}

static bool
selector_read(struct reader *r, struct tnf_auto_selectors *l)
{
	struct spec *attr = &l->v[l->n].attr, *value = &l->v[l->n].value;

	if (l->n == SELECTORS_MAX) {
		r->wrong = "more than 64 selectors";
		return false;
	}
	l->n++;
	if (!spec_read(r, attr))
		return false;
	if (*r->p == '=') {
		r->p++;
		return spec_read(r, value);
	}
	*value = *attr;
	memset(attr, 0, sizeof(*attr));
	return spec_set(attr, "keys", 4, false, r);
}

struct tnf_auto_selectors *
tnf_auto_parse(const char *text, const char **wrong, const char **at)
{
	struct tnf_auto_selectors *l = calloc(1, sizeof(*l));
	struct reader r = { text, l == NULL ? "out of memory" : NULL };

	while (r.wrong == NULL && *(r.p += strspn(r.p, BLANKS)) != '\0') {
		*at = r.p;
		if (selector_read(&r, l) && *r.p != '\0' && strchr(BLANKS, *r.p) == NULL)
			r.wrong = "is neither a word, 'text' nor /pattern/";
	}
	if (r.wrong == NULL)
		return l;
	*wrong = r.wrong;
	tnf_auto_free(l);
	return NULL;
}

void
tnf_auto_free(struct tnf_auto_selectors *l)
{
	if (l == NULL)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		spec_free(&l->v[i].attr);
		spec_free(&l->v[i].value);
	}
	free(l);
}

/* The texts are parts of an attribute string. */
static bool
spec_match(const struct spec *s, const char *text, size_t n)
{
	char copy[256];

	if (s->text == NULL)
		return false;
	if (!s->is_regex)
		return strlen(s->text) == n && memcmp(s->text, text, n) == 0;
	if (n >= sizeof(copy))
		n = sizeof(copy) - 1;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return regexec(&s->regex, copy, 0, NULL, 0) == 0;
}

/* One of the words of the value fits, or the empty one if there are none. */
static bool
values_match(const struct spec *s, const struct attribute *a)
{
	const char *p = a->value, *end = p + a->value_len, *word;
	bool any = false;
	size_t n;

	while (attribute_word(&p, end, &word, &n)) {
		if (spec_match(s, word, n))
			return true;
		any = true;
	}
	return !any && spec_match(s, "", 0);
}

static bool
attrs_match(const struct spec *attr, const struct spec *value, const char *attrs)
{
	struct attribute a;

	while (attribute_next(&attrs, true, &a))
		if (spec_match(attr, a.name, a.name_len) && values_match(value, &a))
			return true;
	return false;
}

bool
tnf_auto_match(const struct tnf_auto_selectors *l, const char *attrs, const char *object)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct spec *attr = &l->v[i].attr, *value = &l->v[i].value;

		if (attrs_match(attr, value, attrs) ||
		    (spec_match(attr, "object", 6) && spec_match(value, object, strlen(object))))
			return true;
	}
	return false;
}

uint64_t
tnf_auto_size(const char *text)
{
	static const char letters[] = "kmg";
	const char *letter;
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = 10;

	if (!isdigit((unsigned char)*text))
		return 0;
	if (*end != '\0') {
		letter = strchr(letters, tolower((unsigned char)*end));
		if (letter == NULL || end[1] != '\0')
			return 0;
		shift = 10 * (unsigned)(letter - letters + 1);
	}
	return n > UINT64_MAX >> shift ? 0 : (uint64_t)n << shift;
}
