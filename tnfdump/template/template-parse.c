/*
 * template-parse.c - the report language of -t FILE: parses text into statements.
 */
#include <ctype.h>

#include "common/text.h"
#include "tnfdump/template/template.h"

struct parser {
	struct template	*t;
	const char	*path;		/* NULL: the probe's own template */
	const char	*p;
	unsigned	 line;
	unsigned	 depth;
	unsigned	 chain;		/* "else if" after "if", all depths */
	bool		 failed;
};

static struct statement *template_parse_block(struct parser *);

static void __attribute__((format(printf, 2, 3)))
template_parse_fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	if (p->failed)
		return;
	p->failed = true;
	if (p->path == NULL)		/* an error only disables it */
		return;
	tnf_printable_printf(stderr, NAME ": %s:%u: ", p->path, p->line);
	va_start(ap, fmt);
	tnf_printable_vprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void
template_parse_blanks(struct parser *p)
{
	for (; *p->p != '\0'; p->p++) {
		if (*p->p == '#')
			p->p += strcspn(p->p, "\n");
		if (*p->p == '\n')
			p->line++;
		else if (!isspace((unsigned char)*p->p) && *p->p != ';')
			return;
		if (*p->p == '\0')
			return;
	}
}

static bool
template_parse_accept(struct parser *p, char c)
{
	template_parse_blanks(p);
	if (*p->p != c)
		return false;
	p->p++;
	return true;
}

static void
template_parse_expect(struct parser *p, char c, const char *where)
{
	if (!p->failed && !template_parse_accept(p, c))
		template_parse_fail(p, "'%c' expected %s", c, where);
}

static size_t
word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || (s[n] != '\0' && strchr("_.*?", s[n])))
		n++;
	return n;
}

static bool
template_parse_word(struct parser *p, const char *wanted)
{
	size_t n = strlen(wanted);

	template_parse_blanks(p);
	if (word_length(p->p) != n || strncmp(p->p, wanted, n) != 0)
		return false;
	p->p += n;
	return true;
}

static struct statement *
template_parse_statement(struct parser *p, enum statement_kind kind)
{
	struct statement *s = tnf_xcalloc(1, sizeof(*s));

	s->kind = kind;
	s->line = p->line;
	return s;
}

/* Length of the text up to one of 'ends' outside quotes and parentheses; does not consume it. */
static size_t
expression_length(const char *s, const char *ends)
{
	size_t n;
	int depth = 0;
	char quote = 0;

	for (n = 0; s[n] != '\0' && s[n] != '\n'; n++) {
		if (quote != 0) {
			if (s[n] == '\\' && s[n + 1] != '\0')
				n++;
			else if (s[n] == quote)
				quote = 0;
			continue;
		}
		if (depth == 0 && strchr(ends, s[n]) != NULL)
			break;
		if (s[n] == '\'' || s[n] == '"')
			quote = s[n];
		depth += s[n] == '(' ? 1 : s[n] == ')' ? -1 : 0;
	}
	return n;
}

static struct expr *
template_parse_expression(struct parser *p, const char *s, size_t n)
{
	struct expr_error error;
	char *text = tnf_xstrndup(s, n);
	struct expr *e = expr_new(text, p->t->source, &error);

	if (e == NULL)
		template_parse_fail(p, "%s, in: %s", error.text, text);
	free(text);
	return e;
}

/* ( expression ) */
static struct expr *
in_parentheses(struct parser *p)
{
	template_parse_expect(p, '(', "before an expression");
	if (p->failed)
		return NULL;
	size_t n = expression_length(p->p, ")");
	struct expr *e = template_parse_expression(p, p->p, n);
	p->p += n;
	template_parse_expect(p, ')', "behind an expression");
	return e;
}

/* Text up to a quote, a brace, or the end of s. */
static struct statement *
template_parse_plain(struct parser *p, const char **at, const char *end)
{
	struct statement *s = template_parse_statement(p, ST_TEXT);
	const char *c = *at;

	s->text = tnf_xcalloc((size_t)(end - c) + 1, 1);
	for (; c < end && (*c != '{' || c[1] == '{'); c++) {
		if (*c == '\\' && c + 1 < end) {
			c++;
			s->text[s->len++] = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c;
		} else {
			c += (*c == '{' || (*c == '}' && c + 1 < end && c[1] == '}'));
			s->text[s->len++] = *c;
		}
	}
	*at = c;
	return s;
}

/* {expression} or {expression:[-][width][letter]} */
static struct statement *
template_parse_value(struct parser *p, const char **at, const char *end)
{
	struct statement *s = template_parse_statement(p, ST_VALUE);
	const char *c = *at + 1;
	size_t n = expression_length(c, ":}");
	char *rest;

	if (c + n >= end) {
		template_parse_fail(p, "'{' without '}': a brace itself is written '{{'");
		return s;
	}
	s->expr = template_parse_expression(p, c, n);
	c += n;
	if (*c == ':') {
		s->width = (int)strtol(c + 1, &rest, 10);
		c = rest;
		if (*c != '}' && c < end)
			s->format = *c++;
		if (s->format != 0 && !template_format_known(s->format))
			template_parse_fail(p, "no format letter '%c'", s->format);
		if (s->width < -200 || s->width > 200)
			template_parse_fail(p, "a width is at most 200");
	}
	if (c >= end || *c != '}') {
		template_parse_fail(p, "'}' expected behind an expression");
		return s;
	}
	*at = c + 1;
	return s;
}

static struct statement *
string_parts(struct parser *p, const char *s, const char *end)
{
	struct statement *first = NULL, **last = &first;

	while (s < end && !p->failed) {
		*last = *s == '{' && s[1] != '{' ? template_parse_value(p, &s, end) :
		    template_parse_plain(p, &s, end);
		last = &(*last)->next;
	}
	return first;
}

/* The length of the quoted text at s, without the quotes; -1: the closing quote is missing. */
static ssize_t
quoted_length(const char *s)
{
	size_t n;

	for (n = 1; s[n] != '"'; n++) {
		if (s[n] == '\\' && s[n + 1] != '\0')
			n++;
		if (s[n] == '\0' || s[n] == '\n')
			return -1;
	}
	return (ssize_t)n - 1;
}

/* Parses "..."; returns start and length of the text inside. */
static const char *
template_parse_quoted(struct parser *p, size_t *len)
{
	ssize_t n;

	template_parse_blanks(p);
	if (*p->p != '"' || (n = quoted_length(p->p)) < 0) {
		template_parse_fail(p, *p->p != '"' ? "a string in double quotes expected" :
		    "string without end");
		return NULL;
	}
	const char *s = p->p + 1;
	*len = (size_t)n;
	p->p += n + 2;
	return s;
}

static char *
quoted_text(struct parser *p)
{
	size_t n;
	const char *s = template_parse_quoted(p, &n), *at = s;

	if (s == NULL)
		return NULL;
	struct statement *st = template_parse_plain(p, &at, s + n);
	char *text = st->text;
	free(st);
	return text;
}

static struct statement *
string_statement(struct parser *p)
{
	size_t n;
	const char *s = template_parse_quoted(p, &n);

	return s == NULL ? NULL : string_parts(p, s, s + n);
}

static char *
template_parse_variable(struct parser *p)
{
	template_parse_expect(p, '$', "before a variable");
	size_t n = word_length(p->p);
	if (n == 0)
		template_parse_fail(p, "name of a variable expected behind '$'");
	char *name = tnf_xstrndup(p->p, n);
	struct val none;
	if (n > 0 && template_word(NULL, NULL, name, &none))
		template_parse_fail(p, "$%s has its value from the event", name);
	p->p += n;
	return name;
}

/* The functions below parse what follows the word of a statement. */

static void
template_parse_let(struct parser *p, struct statement *s)
{
	s->text = template_parse_variable(p);
	template_parse_expect(p, '=', "behind the variable");
	if (p->failed)
		return;
	size_t n = expression_length(p->p, ";}");
	s->expr = template_parse_expression(p, p->p, n);
	p->p += n;
}

static void
template_parse_condition(struct parser *p, struct statement *s)
{
	if (++p->chain > TEMPLATE_CHAIN_MAX)
		template_parse_fail(p, "more than %u conditions behind each other",
		    TEMPLATE_CHAIN_MAX);
	s->expr = in_parentheses(p);
	s->body = template_parse_block(p);
	if (!p->failed && template_parse_word(p, "else")) {
		if (template_parse_word(p, "if")) {
			s->other = template_parse_statement(p, ST_IF);
			template_parse_condition(p, s->other);
		} else
			s->other = template_parse_block(p);
	}
	p->chain--;
}

/* { 0, 1 { ... } 'x' { ... } default { ... } } */
static struct statement *
template_parse_cases(struct parser *p)
{
	struct statement *first = NULL, **last = &first;

	template_parse_expect(p, '{', "before the cases of a switch");
	while (!p->failed && !template_parse_accept(p, '}')) {
		struct statement *c = *last = template_parse_statement(p, ST_CASE);

		last = &c->next;
		if (!template_parse_word(p, "default")) {
			size_t n = expression_length(p->p, "{,");
			c->expr = template_parse_expression(p, p->p, n);
			p->p += n;
			if (template_parse_accept(p, ','))	/* shares the next case's body */
				continue;
		}
		c->body = template_parse_block(p);
		if (c->body == NULL)
			c->body = template_parse_statement(p, ST_TEXT);
	}
	return first;
}

static void
template_parse_choice(struct parser *p, struct statement *s)
{
	s->expr = in_parentheses(p);
	s->body = template_parse_cases(p);
}

/* { 0x40 "read" 0x100 "write" "no write" 0xf000 = 0x2000 "two" } */
static void
template_parse_bits(struct parser *p, struct statement *s)
{
	struct statement **last = &s->body;
	char *end;

	s->expr = in_parentheses(p);
	template_parse_expect(p, '{', "before the bits");
	while (!p->failed && !template_parse_accept(p, '}')) {
		struct statement *bit = *last = template_parse_statement(p, ST_BITS);

		last = &bit->next;
		bit->mask = strtoull(p->p, &end, 0);
		if (end == p->p) {
			template_parse_fail(p, "mask of a bit expected");
			break;
		}
		p->p = end;
		if ((bit->compare = template_parse_accept(p, '='))) {
			template_parse_blanks(p);
			bit->value = strtoull(p->p, &end, 0);
			if (end == p->p) {
				template_parse_fail(p, "value of the bits expected behind '='");
				break;
			}
			p->p = end;
		}
		bit->text = quoted_text(p);
		template_parse_blanks(p);
		if (*p->p == '"')
			bit->absent = quoted_text(p);
	}
}

static void
template_parse_loop(struct parser *p, struct statement *s)
{
	s->text = template_parse_variable(p);
	if (!p->failed && !template_parse_word(p, "in"))
		template_parse_fail(p, "'in' expected behind the variable of a loop");
	s->expr = in_parentheses(p);
	s->body = template_parse_block(p);
}

/* loop (times) { ... } */
static void
template_parse_times(struct parser *p, struct statement *s)
{
	s->expr = in_parentheses(p);
	s->body = template_parse_block(p);
}

static void
template_parse_error(struct parser *p, struct statement *s)
{
	s->body = string_statement(p);
}

static void
template_parse_timer(struct parser *p, struct statement *s)
{
	s->expr = in_parentheses(p);
}

static void
template_parse_use(struct parser *p, struct statement *s)
{
	template_parse_expect(p, '@', "before the name of a sub-template");
	size_t n = word_length(p->p);
	s->text = tnf_xcalloc(n + 2, 1);
	s->text[0] = '@';
	memcpy(s->text + 1, p->p, n);
	p->p += n;
}

static const struct {
	const char *word;
	enum statement_kind kind;
	void	(*rest)(struct parser *, struct statement *);	/* NULL: nothing follows */
} statements[] = {
	{ "let", ST_LET, template_parse_let },
	{ "if", ST_IF, template_parse_condition },
	{ "switch", ST_SWITCH, template_parse_choice },
	{ "bits", ST_BITS, template_parse_bits },
	{ "for", ST_FOR, template_parse_loop },
	{ "starttimer", ST_START_TIMER, template_parse_timer },
	{ "endtimer", ST_END_TIMER, template_parse_timer },
	{ "use", ST_USE, template_parse_use },
	{ "skip", ST_SKIP, NULL },
	{ "stop", ST_STOP, NULL },
	{ "loop", ST_LOOP, template_parse_times },
	{ "break", ST_BREAK, NULL },
	{ "error", ST_ERROR, template_parse_error },
};

static struct statement *
template_parse_one(struct parser *p)
{
	template_parse_blanks(p);
	if (*p->p == '"')
		return string_statement(p);
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		if (!template_parse_word(p, statements[i].word))
			continue;
		struct statement *s = template_parse_statement(p, statements[i].kind);
		if (statements[i].rest != NULL)
			statements[i].rest(p, s);
		return s;
	}
	template_parse_fail(p, "no statement begins with \"%.*s\"", (int)strcspn(p->p, " \t\n"), p->p);
	return NULL;
}

static struct statement *
template_parse_block(struct parser *p)
{
	struct statement *first = NULL, **last = &first;

	if (++p->depth > TEMPLATE_DEPTH_MAX)
		template_parse_fail(p, "more than %u blocks in each other", TEMPLATE_DEPTH_MAX);
	template_parse_expect(p, '{', "before a block");
	while (!p->failed && !template_parse_accept(p, '}')) {
		*last = template_parse_one(p);
		while (*last != NULL)
			last = &(*last)->next;
	}
	p->depth--;
	return first;
}

static int
template_parse_level(struct parser *p)
{
	static const char *const names[] = { "APPL", "SVC", "KERN", "INT" };

	for (int i = 0; i < 4; i++)
		if (template_parse_word(p, names[i]))
			return i;
	template_parse_fail(p, "level APPL, SVC, KERN or INT expected behind 'L='");
	return -1;
}

/* name [L=LEVEL] ["label"] { ... } */
static struct stanza *
template_parse_stanza(struct parser *p)
{
	struct stanza *s = tnf_xcalloc(1, sizeof(*s));
	size_t sub = *p->p == '@', n = sub + word_length(p->p + sub);

	s->level = -1;
	s->path = p->path;
	if (n == sub)
		template_parse_fail(p, "name of a probe, \"default\" or \"@name\" expected");
	s->pattern = tnf_xstrndup(p->p, n);
	p->p += n;
	if (template_parse_word(p, "L")) {
		template_parse_expect(p, '=', "behind L");
		s->level = template_parse_level(p);
	}
	template_parse_blanks(p);
	if (!p->failed && *p->p == '"')
		s->label = quoted_text(p);
	s->body = template_parse_block(p);
	return s;
}

/* Finds the sub-template that each "use" names. */
static void
template_parse_bind(struct parser *p, struct statement *s)
{
	for (; s != NULL && !p->failed; s = s->next) {
		template_parse_bind(p, s->body);
		template_parse_bind(p, s->other);
		if (s->kind != ST_USE)
			continue;
		for (s->use = p->t->stanzas; s->use != NULL; s->use = s->use->next)
			if (strcmp(s->use->pattern, s->text) == 0)
				break;
		p->line = s->line;
		if (s->use == NULL)
			template_parse_fail(p, "no sub-template \"%s\"", s->text);
	}
}

void
statements_free(struct statement *s)
{
	struct statement *next;

	for (; s != NULL; s = next) {
		next = s->next;
		statements_free(s->body);
		statements_free(s->other);
		expr_free(s->expr);
		free(s->text);
		free(s->absent);
		free(s);
	}
}

void
template_free(struct template *t)
{
	struct stanza *s, *next;

	if (t == NULL)
		return;
	for (s = t->stanzas; s != NULL; s = next) {
		next = s->next;
		statements_free(s->body);
		free(s->pattern);
		free(s->label);
		free(s);
	}
	for (struct template_file *f = t->files, *after; f != NULL; f = after) {
		after = f->next;
		free(f);
	}
	free(t);
}

struct template *
template_new(struct expr_source *source)
{
	struct template *t = tnf_xcalloc(1, sizeof(*t));

	t->source = source;
	return t;
}

bool
template_add(struct template *t, const char *path, const char *text)
{
	struct template_file *f = tnf_xcalloc(1, sizeof(*f) + strlen(path) + 1);
	struct parser p = { .t = t, .p = text, .path = strcpy(f->path, path), .line = 1 };
	struct stanza **last = &t->stanzas;

	f->next = t->files;
	t->files = f;
	while (*last != NULL)
		last = &(*last)->next;
	for (template_parse_blanks(&p); !p.failed && *p.p != '\0'; template_parse_blanks(&p)) {
		*last = template_parse_stanza(&p);
		last = &(*last)->next;
	}
	return !p.failed;
}

bool
template_bind(struct template *t)
{
	struct parser p = { .t = t };

	for (struct stanza *s = t->stanzas; s != NULL; s = s->next) {
		p.path = s->path;
		template_parse_bind(&p, s->body);
	}
	return !p.failed;
}

struct statement *
template_parse_string(struct template *t, const char *s, size_t n)
{
	struct template quiet = { .source = t->source };
	struct parser p = { .t = &quiet, .line = 1 };
	char *copy = tnf_xstrndup(s, n);
	struct statement *parts = string_parts(&p, copy, copy + n);

	free(copy);
	if (!p.failed)
		return parts;
	statements_free(parts);
	return NULL;
}
