/*
 * selector.c - reads a list of selectors, and tells which probes the list chooses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/selector.h"

#define DIGIT		"0123456789"
#define IDENT_FIRST	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.%"
#define IDENT_REST	IDENT_FIRST DIGIT

static size_t
ident_len(const char *s)
{
	if (strspn(s, IDENT_FIRST) == 0)
		return 0;
	return strspn(s, IDENT_REST);
}

/* The length of a 'quoted text'; 0: it is not closed before the end of the line. */
static size_t
quoted_len(const char *s)
{
	size_t n = strcspn(s + 1, "'\n");

	return s[n + 1] == '\'' ? n + 2 : 0;
}

static size_t
regex_len(const char *s)
{
	for (const char *p = s + 1; *p != '\0' && *p != '\n'; p++) {
		if (*p == '/')
			return p + 1 - s;
		if (*p == '\\' && (*++p == '\0' || *p == '\n'))
			break;
	}
	return 0;
}

static size_t
int_len(const char *s)
{
	size_t n = strspn(s, DIGIT);

	return n + (n > 0 && s[n] != '\0' && strchr("kKmMgG", s[n]) != NULL);
}

static enum token_kind
lex_one(const char *s, size_t *len)
{
	*len = 1;
	switch (*s) {
	case '\0':
		*len = 0;
		return TOK_END;
	case '\n':
		return TOK_END;
	case '#':
		*len = strcspn(s, "\n");
		*len += s[*len] == '\n';
		return TOK_END;
	case '\\':
		if (s[1] != '\n')
			return TOK_BAD;
		*len = 2;
		return TOK_CONTINUE;
	case ';':
		return TOK_SEMICOLON;
	case '=':
		return TOK_EQUAL;
	case ',':
		return TOK_COMMA;
	case '$':
	case '&':
		*len += ident_len(s + 1);
		if (*len == 1)
			return TOK_BAD;
		return *s == '$' ? TOK_SET : TOK_FCN;
	case '\'':
		if ((*len = quoted_len(s)) > 0)
			return TOK_QSTR;
		*len = 1;
		return TOK_BAD;
	case '/':
		if ((*len = regex_len(s)) > 0)
			return TOK_REGEX;
		*len = 1;
		return TOK_BAD;
	}
	if ((*len = int_len(s)) > 0)
		return TOK_INT;
	if ((*len = ident_len(s)) > 0)
		return TOK_IDENT;
	*len = 1;
	return TOK_BAD;
}

enum token_kind
tnf_lex(const char *s, size_t *blanks, size_t *len)
{
	*blanks = strspn(s, " \t");
	return lex_one(s + *blanks, len);
}

int
tnf_spec_init(struct tnf_spec *s, const char *text, size_t len, bool is_regex)
{
	int error = REG_ESPACE;

	*s = (struct tnf_spec){ .text = strndup(text, len), .is_regex = is_regex };
	if (s->text == NULL || !is_regex)
		return s->text == NULL ? error : 0;
	if ((s->regex = malloc(sizeof *s->regex)) != NULL &&
	    (error = regcomp(s->regex, s->text, REG_NOSUB)) == 0) {
		s->any = tnf_spec_match(s, "\1", 1);
		return 0;
	}
	free(s->regex);
	s->regex = NULL;
	return error;
}

int
tnf_spec_token(struct tnf_spec *s, enum token_kind kind, const char *text, size_t len)
{
	if (kind == TOK_IDENT)
		return tnf_spec_init(s, text, len, false);
	if (kind != TOK_QSTR && kind != TOK_REGEX)
		return -1;
	return tnf_spec_init(s, text + 1, len - 2, kind == TOK_REGEX);
}

void
tnf_spec_free(struct tnf_spec *s)
{
	if (s->regex != NULL)
		regfree(s->regex);
	free(s->regex);
	free(s->text);
}

bool
tnf_spec_match(const struct tnf_spec *s, const char *text, size_t len)
{
	regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)len };

	if (!s->is_regex)
		return s->text != NULL && strlen(s->text) == len && memcmp(s->text, text, len) == 0;
	return s->regex != NULL && regexec(s->regex, text, 0, &range, REG_STARTEND) == 0;
}

void
tnf_selectors_unref(struct tnf_selectors *l)
{
	/* refs counts the owners beyond the first. */
	if (l == NULL || l->refs-- > 0)
		return;
	while (l->n-- > 0) {
		tnf_spec_free(&l->v[l->n].attr);
		tnf_spec_free(&l->v[l->n].value);
	}
	free(l->v);
	free(l);
}

/* Takes over both specs.  0 or REG_ESPACE. */
static int
selectors_add(struct tnf_selectors *l, struct tnf_spec attr, struct tnf_spec value)
{
	struct tnf_selector *v = reallocarray(l->v, l->n + 1, sizeof *v);

	if (v == NULL) {
		tnf_spec_free(&attr);
		tnf_spec_free(&value);
		return REG_ESPACE;
	}
	l->v = v;
	l->v[l->n++] = (struct tnf_selector){ attr, value };
	return 0;
}

static int
selectors_add_text(struct tnf_selectors *l, const char *attr, bool attr_is_regex,
    const char *value, bool is_regex)
{
	struct tnf_spec a, v;
	int error = tnf_spec_init(&a, attr, strlen(attr), attr_is_regex);
	int error_v = tnf_spec_init(&v, value, strlen(value), is_regex);
	int error_add = selectors_add(l, a, v);

	return error != 0 || error_v != 0 || error_add != 0 ? ENOMEM : 0;
}

int
tnf_selectors_add_set(struct tnf_selectors *l, const char *name, size_t len)
{
	/* Each has the names of kernel probes. */
	static const struct {
		const char *name, *probe[16];
	} sets[] = {
		/* The hooks of these probes are hit at most a few thousand times a second.  A
		   probe at a system call, a wake-up or every page fault is not for this list. */
		{ "always", { "thread_create", "thread_exit", "strategy", "biodone",
		    "major_fault", "pagein", "pageout", "pageout_scan_start",
		    "pageout_scan_end", "swapout_lwp" } },
		/* These tell for whom or for what a thread waits. */
		{ "why", { "thread_create", "thread_exit", "thread_state", "thread_block",
		    "thread_wakeup", "thread_throttle", "thread_signal", "lock_owner",
		    "strategy", "biodone", "major_fault", "pagein", "pageout",
		    "pageout_scan_start", "pageout_scan_end" } },
	};
	int error = 0;

	if (len == 3 && memcmp(name, "all", len) == 0)
		return selectors_add_text(l, "keys", false, ".*", true);
	for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
		if (strlen(sets[s].name) != len || memcmp(name, sets[s].name, len) != 0)
			continue;
		for (size_t i = 0; sets[s].probe[i] != NULL && error == 0; i++)
			error = selectors_add_text(l, "name", false, sets[s].probe[i], false);
		return error;
	}
	return ENOENT;
}

int
tnf_selectors_add_list(struct tnf_selectors *l, const struct tnf_selectors *more)
{
	int error = 0;

	for (size_t i = 0; i < more->n && error == 0; i++)
		error = selectors_add_text(l, more->v[i].attr.text, more->v[i].attr.is_regex,
		    more->v[i].value.text, more->v[i].value.is_regex);
	return error;
}

/* Adds a value that stands alone, without "attribute=": it is one of "keys". */
static int
add_key(struct tnf_selectors_parser *p)
{
	struct tnf_spec keys;
	int error = tnf_spec_init(&keys, "keys", 4, false), error_add;

	p->has = SELECTOR_NONE;
	error_add = selectors_add(p->list, keys, p->attr);
	return error != 0 ? error : error_add;
}

int
tnf_selectors_take(struct tnf_selectors_parser *p, enum token_kind kind, const char *text, size_t len)
{
	struct tnf_spec spec;
	int error;

	if (kind == TOK_EQUAL && p->has == SELECTOR_ATTR) {
		p->has = SELECTOR_EQUAL;
		return 0;
	}
	if ((error = tnf_spec_token(&spec, kind, text, len)) < 0)
		return error;
	if (p->has == SELECTOR_EQUAL) {
		p->has = SELECTOR_NONE;
		return selectors_add(p->list, p->attr, spec) != 0 ? REG_ESPACE : error;
	}
	if (p->has == SELECTOR_ATTR && add_key(p) != 0)
		error = REG_ESPACE;
	p->attr = spec;
	p->has = SELECTOR_ATTR;
	return error;
}

bool
tnf_selectors_finish(struct tnf_selectors_parser *p)
{
	if (p->has != SELECTOR_EQUAL)
		return p->has == SELECTOR_NONE || add_key(p) == 0;
	tnf_spec_free(&p->attr);
	p->has = SELECTOR_NONE;
	return false;
}

void
tnf_selectors_hint(char *hint, size_t size, enum token_kind kind, const char *text, size_t len)
{
	int n = len > 60 ? 60 : (int)len;

	*hint = '\0';
	if (kind == TOK_SET)
		snprintf(hint, size, "%.*s: a set cannot be a value: it stands by itself, among selectors", n, text);
	else if (kind == TOK_INT)
		snprintf(hint, size, "%.*s: a number as a value: quote it: '%.*s'", n, text, n, text);
	else if (kind == TOK_BAD && strchr("*?[", *text) != NULL)
		snprintf(hint, size, "%c: patterns are regular expressions: name=/^re.*ad$/", *text);
	else if (kind == TOK_BAD && strchr("'/", *text) != NULL)
		snprintf(hint, size, "%c: not closed before the end of the line", *text);
	else if (kind == TOK_BAD && *text == '"')
		snprintf(hint, size, "\": texts are in single quotes: 'a text'");
	else if (kind == TOK_BAD)
		snprintf(hint, size, "%c: not allowed in an unquoted word: quote the word: 'a-b'", *text);
}

/* Takes a token that may be a set.  false, with the reason in 'why': the token is wrong here. */
static bool
text_take(struct tnf_selectors_parser *p, enum token_kind kind, const char *text, size_t len,
    char *why, size_t size)
{
	int n = len > 60 ? 60 : (int)len, error;

	if (kind == TOK_SET && p->has != SELECTOR_EQUAL) {
		error = tnf_selectors_finish(p) ? tnf_selectors_add_set(p->list, text + 1, len - 1) : ENOMEM;
		if (error == ENOENT)
			snprintf(why, size, "no set named \"%.*s\": there are $all, $always and $why", n, text);
		else if (error != 0)
			snprintf(why, size, "%.*s: %s", n, text, strerror(error));
		return error == 0;
	}
	if ((error = tnf_selectors_take(p, kind, text, len)) == 0)
		return true;
	tnf_selectors_hint(why, size, kind, text, len);
	if (error > 0) {
		size_t at = (size_t)snprintf(why, size, "%.*s: ", n, text);
		if (at < size)
			regerror(error, NULL, why + at, size - at);
	} else if (*why == '\0') {
		snprintf(why, size, "%.*s: no selector: write key, attribute=value, or quote it: "
		    "'text', /expression/", n, text);
	}
	return false;
}

/* *at is the offset of the token that is being read: after an error the caller shows it. */
static bool
text_read(struct tnf_selectors_parser *p, const char *text, char *why, size_t size, size_t *at)
{
	size_t blanks, len;
	enum token_kind kind;

	for (*at = 0;; *at += len) {
		kind = tnf_lex(text + *at, &blanks, &len);
		*at += blanks;
		if (kind == TOK_END && len == 0)
			break;
		if (kind != TOK_END && kind != TOK_CONTINUE &&
		    !text_take(p, kind, text + *at, len, why, size))
			return false;
	}
	if (tnf_selectors_finish(p))
		return true;
	snprintf(why, size, "=: no value behind it: write attribute=value");
	return false;
}

struct tnf_selectors *
tnf_selectors_parse(const char *text, char *why, size_t size, size_t *at)
{
	struct tnf_selectors_parser p = { .list = calloc(1, sizeof *p.list) };

	*at = 0;
	if (p.list == NULL) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return NULL;
	}
	if (text_read(&p, text, why, size, at))
		return p.list;
	tnf_selectors_finish(&p);
	tnf_selectors_unref(p.list);
	return NULL;
}

bool
tnf_probe_attrs_next(const struct tnf_probe_attrs *p, struct tnf_probe_attrs_at *at,
    struct attribute *ret)
{
	const struct { const char *name, *value; } first[] = {
		{ "enable", p->enabled ? "on" : "off" }, { "trace", p->traced ? "on" : "off" },
		{ "object", p->object }, { "funcs", p->funcs }
	};

	while (at->n < sizeof first / sizeof first[0]) {
		unsigned i = at->n++;

		if (first[i].value == NULL)
			continue;
		*ret = (struct attribute){ first[i].name, first[i].value, strlen(first[i].name),
		    strlen(first[i].value) };
		return true;
	}
	if (at->rest == NULL)
		at->rest = p->own;
	return attribute_next(&at->rest, true, ret);
}

bool
tnf_probe_attrs_find(const struct tnf_probe_attrs *p, const char *name, struct attribute *ret)
{
	struct tnf_probe_attrs_at at = { 0 };

	while (tnf_probe_attrs_next(p, &at, ret))
		if (strlen(name) == ret->name_len && memcmp(name, ret->name, ret->name_len) == 0)
			return true;
	return false;
}

bool
tnf_probe_attrs_unused_import(const struct tnf_probe_attrs *p)
{
	struct attribute a;

	return !p->enabled && !p->traced && tnf_probe_attrs_find(p, "origin", &a);
}

static bool
is_text(const struct tnf_spec *s, const char *text)
{
	return s->text != NULL && strcmp(s->text, text) == 0;
}

/* True if the selector may choose an imported probe that nobody has switched on.  A selector that
   fits every probe (such as $all) does not, nor does enable=off or trace=off: the user names the
   imported probe that is to be switched on. */
static bool
selector_chooses(const struct tnf_selector *s)
{
	return !s->value.any && !s->attr.any && !is_text(&s->attr, "enable") &&
	    !is_text(&s->attr, "trace");
}

/* True if a plain word is the name of an imported probe, "system.event": no key contains a dot, so
   such a word need not be written as name=WORD. */
static bool
names_import(const struct tnf_selector *s, const struct tnf_probe_attrs *p)
{
	struct attribute a;

	return !s->attr.is_regex && !s->value.is_regex && is_text(&s->attr, "keys") &&
	    tnf_probe_attrs_find(p, "origin", &a) && tnf_probe_attrs_find(p, "name", &a) &&
	    memchr(a.value, '.', a.value_len) != NULL &&
	    tnf_spec_match(&s->value, a.value, a.value_len);
}

/* True if a word of the attribute's value fits.  A value without words counts as one empty word. */
static bool
values_match(const struct tnf_spec *s, const struct attribute *a)
{
	const char *p = a->value, *end = p + a->value_len, *word;
	bool any = false;
	size_t n;

	while (attribute_word(&p, end, &word, &n)) {
		if (tnf_spec_match(s, word, n))
			return true;
		any = true;
	}
	return !any && tnf_spec_match(s, "", 0);
}

static bool
selector_match(const struct tnf_selector *s, const struct tnf_probe_attrs *p)
{
	struct tnf_probe_attrs_at at = { 0 };
	struct attribute a;

	while (tnf_probe_attrs_next(p, &at, &a))
		if (tnf_spec_match(&s->attr, a.name, a.name_len) && values_match(&s->value, &a))
			return true;
	return names_import(s, p);
}

bool
tnf_selectors_match(const struct tnf_selectors *l, const struct tnf_probe_attrs *p, bool *used)
{
	bool unused = tnf_probe_attrs_unused_import(p), any = false;

	for (size_t i = 0; i < l->n && (!any || used != NULL); i++) {
		if ((unused && !selector_chooses(&l->v[i])) || !selector_match(&l->v[i], p))
			continue;
		any = true;
		if (used != NULL)
			used[i] = true;
	}
	return any;
}
