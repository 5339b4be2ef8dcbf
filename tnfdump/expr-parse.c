/*
 * expr-parse.c - from text to a tree.
 *
 * Loosest first: or, and, not, comparisons (which do not chain), | ^ & shifts,
 * + -, * / %, unary - ~.  Bits bind tighter than comparisons, so that
 * "flags & 0x40 != 0" means what it seems to.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tnfdump/expr-lex.h"
#include "tnfdump/xalloc.h"

struct parser {
	struct expr		*e;
	struct expr_lex		 lex;
	struct expr_error	*error;
	bool			 failed;
	unsigned		 depth;
};

/* Left-associative operators, loosest level first. */
static const struct binary {
	enum expr_token	token;
	enum expr_op	op;
	int		level;
} binaries[] = {
	{ EXPR_T_BITOR,		EXPR_BITOR,	0 },
	{ EXPR_T_BITXOR,	EXPR_BITXOR,	1 },
	{ EXPR_T_BITAND,	EXPR_BITAND,	2 },
	{ EXPR_T_SHL,		EXPR_SHL,	3 },
	{ EXPR_T_SHR,		EXPR_SHR,	3 },
	{ EXPR_T_PLUS,		EXPR_ADD,	4 },
	{ EXPR_T_MINUS,		EXPR_SUB,	4 },
	{ EXPR_T_STAR,		EXPR_MUL,	5 },
	{ EXPR_T_SLASH,		EXPR_DIV,	5 },
	{ EXPR_T_PERCENT,	EXPR_MOD,	5 },
}, comparisons[] = {
	{ EXPR_T_EQ,		EXPR_EQ,	0 },
	{ EXPR_T_NE,		EXPR_NE,	0 },
	{ EXPR_T_LT,		EXPR_LT,	0 },
	{ EXPR_T_LE,		EXPR_LE,	0 },
	{ EXPR_T_GT,		EXPR_GT,	0 },
	{ EXPR_T_GE,		EXPR_GE,	0 },
	{ EXPR_T_MATCH,		EXPR_MATCH,	0 },
	{ EXPR_T_NOMATCH,	EXPR_NOMATCH,	0 },
	{ EXPR_T_IN,		EXPR_IN,	0 },
};
#define LEVEL_UNARY 6
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int parse_or(struct parser *);
static int parse_level(struct parser *, int level);

__attribute__((format(printf, 3, 4)))
static int
fail(struct parser *p, size_t column, const char *fmt, ...)
{
	va_list ap;

	if (!p->failed) {
		va_start(ap, fmt);
		vsnprintf(p->error->text, sizeof(p->error->text), fmt, ap);
		va_end(ap);
		p->error->column = column;
	}
	p->failed = true;
	return EXPR_NONE;
}

static size_t
column(const struct parser *p)
{
	return (size_t)(p->lex.start - p->lex.text);
}

static void
next(struct parser *p, bool regex)
{
	expr_lex_next(&p->lex, regex);
	if (p->lex.token == EXPR_T_ERROR)
		fail(p, column(p), "%s", p->lex.wrong);
}

static bool
accept(struct parser *p, enum expr_token token)
{
	if (p->failed || p->lex.token != token)
		return false;
	next(p, false);
	return true;
}

static int
expected(struct parser *p, const char *what)
{
	if (p->lex.token == EXPR_T_END)
		return fail(p, column(p), "%s expected at the end", what);
	return fail(p, column(p), "%s expected at '%.*s'", what,
	    p->lex.len > 40 ? 40 : (int)p->lex.len, p->lex.start);
}

static int
new_node(struct parser *p, enum expr_op op, int left, int right, size_t col)
{
	struct expr *e = p->e;
	struct expr_node *n;

	if (p->failed)
		return EXPR_NONE;
	if (e->n_nodes == EXPR_NODES_MAX)
		return fail(p, col, "expression too large: at most %u terms",
		    EXPR_NODES_MAX);
	if (e->n_nodes == e->max_nodes) {
		e->max_nodes = e->max_nodes == 0 ? 16 : e->max_nodes * 2;
		e->nodes = xreallocarray(e->nodes, e->max_nodes,
		    sizeof(*e->nodes));
	}
	n = &e->nodes[e->n_nodes];
	memset(n, 0, sizeof(*n));
	n->op = op;
	n->left = left;
	n->right = right;
	n->cache = EXPR_NONE;
	n->column = col;
	n->class = op >= EXPR_HAS ? EXPR_NUMBER : EXPR_ANY;
	return (int)e->n_nodes++;
}

static int
literal(struct parser *p, struct val v, size_t col)
{
	int n = new_node(p, EXPR_LITERAL, EXPR_NONE, EXPR_NONE, col);

	if (n == EXPR_NONE)
		return n;
	p->e->nodes[n].value = v;
	p->e->nodes[n].class = v.kind == VAL_NULL ? EXPR_ANY :
	    v.kind == VAL_STRING ? EXPR_TEXT : EXPR_NUMBER;
	return n;
}

/* Takes the current token's string over. */
static int
string_literal(struct parser *p)
{
	struct expr *e = p->e;
	struct val v = val_string(p->lex.string, p->lex.string_len);
	int n = literal(p, v, column(p));

	e->strings = xreallocarray(e->strings, e->n_strings + 1,
	    sizeof(*e->strings));
	e->strings[e->n_strings++] = p->lex.string;
	p->lex.string = NULL;
	next(p, false);
	return n;
}

static unsigned
intern(struct expr *e, const char *text, size_t len)
{
	unsigned i;

	for (i = 0; i < e->n_names; i++) {
		if (strlen(e->names[i]) == len &&
		    memcmp(e->names[i], text, len) == 0)
			return i;
	}
	e->names = xreallocarray(e->names, e->n_names + 1, sizeof(*e->names));
	e->names[e->n_names] = xstrndup(text, len);
	return e->n_names++;
}

/* A member's or field's name, quoted if it is not a word. */
static int
named(struct parser *p, enum expr_op op, int left)
{
	bool quoted = p->lex.token == EXPR_T_STRING;
	bool word = p->lex.token == EXPR_T_NAME || (isalpha(
	    (unsigned char)*p->lex.start) && p->lex.token >= EXPR_T_OR &&
	    p->lex.token <= EXPR_T_NULL);
	unsigned name;
	int n;

	if (p->failed)
		return EXPR_NONE;
	if (!quoted && !word)
		return expected(p, "member name");
	if (quoted)
		name = intern(p->e, p->lex.string,
		    strnlen(p->lex.string, p->lex.string_len));
	else
		name = intern(p->e, p->lex.start, p->lex.len);
	n = new_node(p, op, left, EXPR_NONE, column(p));
	if (n != EXPR_NONE) {
		p->e->nodes[n].name = name;
		p->e->nodes[n].class = EXPR_ANY;
	}
	next(p, false);
	return n;
}

static int
parse_index(struct parser *p, int left)
{
	int n, right;
	size_t col = column(p);

	if (++p->depth > EXPR_DEPTH_MAX)
		return fail(p, col, "expression nested too deep");
	right = parse_level(p, 0);
	p->depth--;
	if (!p->failed && !accept(p, EXPR_T_RIGHT))
		return expected(p, "']'");
	n = new_node(p, EXPR_INDEX, left, right, col);
	return n;
}

/* NAME, arg.NAME, then .FIELD and [INDEX]. */
static int
parse_name(struct parser *p)
{
	const struct expr_name_row *row;
	size_t col = column(p);
	int n;

	row = expr_name_find(p->lex.start, p->lex.len);
	if (row != NULL) {
		n = new_node(p, EXPR_NAME, EXPR_NONE, EXPR_NONE, col);
		if (n != EXPR_NONE) {
			p->e->nodes[n].name = row->name;
			p->e->nodes[n].class = row->class;
			p->e->nodes[n].fixed = row->fixed;
		}
		next(p, false);
		return n;
	}
	if (p->lex.len == 3 && memcmp(p->lex.start, "arg", 3) == 0 &&
	    p->lex.next[0] == '.') {
		next(p, false);
		next(p, false);
	}
	n = named(p, *p->lex.start == '$' ? EXPR_VARIABLE : EXPR_MEMBER, EXPR_NONE);
	if (n != EXPR_NONE && p->e->nodes[n].op == EXPR_VARIABLE &&
	    p->e->source->variable == NULL)
		return fail(p, col, "only templates have variables");
	while (!p->failed) {
		if (accept(p, EXPR_T_DOT))
			n = named(p, EXPR_FIELD, n);
		else if (accept(p, EXPR_T_LEFT))
			n = parse_index(p, n);
		else
			break;
	}
	return n;
}

static int
parse_parenthesis(struct parser *p)
{
	size_t col = column(p);
	int n;

	next(p, false);
	if (++p->depth > EXPR_DEPTH_MAX)
		return fail(p, col, "expression nested too deep");
	n = parse_or(p);
	p->depth--;
	if (!p->failed && p->lex.token != EXPR_T_CLOSE)
		return fail(p, col, "'(' without ')'");
	if (!p->failed)
		next(p, false);
	return n;
}

static int
parse_word(struct parser *p, struct val v)
{
	int n = literal(p, v, column(p));

	next(p, false);
	return n;
}

static int
parse_primary(struct parser *p)
{
	switch (p->lex.token) {
	case EXPR_T_NUMBER:
		return parse_word(p, p->lex.number);
	case EXPR_T_TRUE:
		return parse_word(p, val_int(1));
	case EXPR_T_FALSE:
		return parse_word(p, val_int(0));
	case EXPR_T_NULL:
		return parse_word(p, (struct val){ .kind = VAL_NULL });
	case EXPR_T_STRING:
		return string_literal(p);
	case EXPR_T_NAME:
		return parse_name(p);
	case EXPR_T_OPEN:
		return parse_parenthesis(p);
	case EXPR_T_NOT:
		return fail(p, column(p),
		    "'not' inside a term: put it into parentheses");
	default:
		return expected(p, "name, number or string");
	}
}

/* Arithmetic on what is known to be text is a mistake. */
static bool
want_number(struct parser *p, int n)
{
	if (n != EXPR_NONE && p->e->nodes[n].class == EXPR_TEXT) {
		fail(p, p->e->nodes[n].column,
		    "this is text: a number is expected here");
		return false;
	}
	return n != EXPR_NONE;
}

static int
parse_unary(struct parser *p)
{
	enum expr_token token = p->lex.token;
	size_t col = column(p);
	int n;

	if (p->failed)
		return EXPR_NONE;
	if (token != EXPR_T_MINUS && token != EXPR_T_COMPLEMENT)
		return parse_primary(p);
	if (++p->depth > EXPR_DEPTH_MAX)
		return fail(p, col, "expression nested too deep");
	next(p, false);
	n = parse_unary(p);
	p->depth--;
	if (!want_number(p, n))
		return EXPR_NONE;
	return new_node(p, token == EXPR_T_MINUS ? EXPR_NEGATE :
	    EXPR_COMPLEMENT, n, EXPR_NONE, col);
}

static const struct binary *
find_binary(const struct binary *table, size_t count, enum expr_token token,
    int level)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].token == token && table[i].level == level)
			return &table[i];
	}
	return NULL;
}

static int
parse_level(struct parser *p, int level)
{
	const struct binary *b;
	size_t col;
	int n, right;

	if (level == LEVEL_UNARY)
		return parse_unary(p);
	n = parse_level(p, level + 1);
	while (!p->failed && (b = find_binary(binaries, COUNT(binaries),
	    p->lex.token, level)) != NULL) {
		col = column(p);
		next(p, false);
		right = parse_level(p, level + 1);
		if (!want_number(p, n) || !want_number(p, right))
			return EXPR_NONE;
		n = new_node(p, b->op, n, right, col);
	}
	return n;
}

static int
parse_regex(struct parser *p, enum expr_op op, int left, size_t col)
{
	const char *wrong;
	struct match *m;
	int n;

	if (p->failed)
		return EXPR_NONE;
	if (p->lex.token != EXPR_T_REGEX && p->lex.token != EXPR_T_STRING)
		return expected(p, "/regular expression/");
	if (strlen(p->lex.string) != p->lex.string_len)
		return fail(p, column(p), "NUL in a regular expression");
	m = match_new(p->lex.string, p->lex.token == EXPR_T_REGEX &&
	    p->lex.ignore_case, &wrong);
	if (m == NULL)
		return fail(p, column(p), "%s", wrong);
	n = new_node(p, op, left, EXPR_NONE, col);
	if (n == EXPR_NONE) {
		match_free(m);
		return n;
	}
	p->e->nodes[n].match = m;
	next(p, false);
	return n;
}

/* Text never equals a number that has no name: say so at once. */
static bool
comparable(struct parser *p, int left, int right, size_t col)
{
	const struct expr_node *a, *b;

	if (left == EXPR_NONE || right == EXPR_NONE)
		return false;
	a = &p->e->nodes[left];
	b = &p->e->nodes[right];
	if ((a->class == EXPR_TEXT && b->class == EXPR_NUMBER) ||
	    (a->class == EXPR_NUMBER && b->class == EXPR_TEXT)) {
		fail(p, col, "text compared with a number: "
		    "quote what is text, and only that");
		return false;
	}
	return true;
}

/* in (A, B, ...): a list hangs at the right of each element. */
static int
parse_list(struct parser *p, int left, size_t col)
{
	int first = EXPR_NONE, last = EXPR_NONE, item, n;

	if (!accept(p, EXPR_T_OPEN))
		return expected(p, "'(' and a list");
	do {
		item = parse_level(p, 0);
		if (p->failed || !comparable(p, left, item, col))
			return EXPR_NONE;
		n = new_node(p, EXPR_LIST, item, EXPR_NONE, col);
		if (n == EXPR_NONE)
			return n;
		if (last == EXPR_NONE)
			first = n;
		else
			p->e->nodes[last].right = n;
		last = n;
	} while (accept(p, EXPR_T_COMMA));
	if (!p->failed && !accept(p, EXPR_T_CLOSE))
		return expected(p, "',' or ')'");
	return new_node(p, EXPR_IN, left, first, col);
}

static int
parse_comparison(struct parser *p)
{
	const struct binary *b;
	size_t col;
	int n, right;

	if (accept(p, EXPR_T_HAS)) {
		if (p->failed)
			return EXPR_NONE;
		if (p->lex.token != EXPR_T_NAME)
			return expected(p, "member name after 'has'");
		col = column(p);
		n = parse_name(p);
		return new_node(p, EXPR_HAS, n, EXPR_NONE, col);
	}
	n = parse_level(p, 0);
	if (p->failed || (b = find_binary(comparisons, COUNT(comparisons),
	    p->lex.token, 0)) == NULL)
		return n;
	col = column(p);
	next(p, b->op == EXPR_MATCH || b->op == EXPR_NOMATCH);
	if (b->op == EXPR_MATCH || b->op == EXPR_NOMATCH) {
		n = parse_regex(p, b->op, n, col);
	} else if (b->op == EXPR_IN) {
		n = parse_list(p, n, col);
	} else {
		right = parse_level(p, 0);
		if (p->failed || !comparable(p, n, right, col))
			return EXPR_NONE;
		n = new_node(p, b->op, n, right, col);
	}
	if (!p->failed && find_binary(comparisons, COUNT(comparisons),
	    p->lex.token, 0) != NULL)
		return fail(p, column(p), "comparisons do not chain: "
		    "write 'a < b and b < c'");
	return n;
}

static int
parse_not(struct parser *p)
{
	size_t col = column(p);
	int n;

	if (!accept(p, EXPR_T_NOT))
		return p->failed ? EXPR_NONE : parse_comparison(p);
	if (++p->depth > EXPR_DEPTH_MAX)
		return fail(p, col, "expression nested too deep");
	n = parse_not(p);
	p->depth--;
	return new_node(p, EXPR_NOT, n, EXPR_NONE, col);
}

static int
parse_and(struct parser *p)
{
	size_t col;
	int n = parse_not(p);

	while (!p->failed && p->lex.token == EXPR_T_AND) {
		col = column(p);
		next(p, false);
		n = new_node(p, EXPR_AND, n, parse_not(p), col);
	}
	return n;
}

static int
parse_or(struct parser *p)
{
	size_t col;
	int n = parse_and(p);

	while (!p->failed && p->lex.token == EXPR_T_OR) {
		col = column(p);
		next(p, false);
		n = new_node(p, EXPR_OR, n, parse_and(p), col);
	}
	return n;
}

struct expr *
expr_new(const char *text, const struct expr_source *source,
    struct expr_error *error)
{
	struct parser p = { .error = error };

	p.lex.text = p.lex.next = p.lex.start = text;
	p.e = xcalloc(1, sizeof(*p.e));
	p.e->source = source;
	if (strlen(text) > EXPR_TEXT_MAX) {
		fail(&p, 0, "expression too long: at most %u bytes",
		    EXPR_TEXT_MAX);
	} else {
		next(&p, false);
		p.e->root = parse_or(&p);
		if (!p.failed && p.lex.token != EXPR_T_END)
			expected(&p, "operator");
	}
	free(p.lex.string);
	if (p.failed) {
		expr_free(p.e);
		return NULL;
	}
	expr_prepare(p.e);
	return p.e;
}

void
expr_error_format(const struct expr_error *error, const char *text, char *buf,
    size_t size)
{
	size_t col = error->column, from = col > 60 ? col - 60 : 0, i;
	char line[80], caret[80];

	for (i = 0; i < sizeof(line) - 1 && text[from + i] != '\0'; i++)
		line[i] = (unsigned char)text[from + i] < ' ' ? ' ' :
		    text[from + i];
	line[i] = '\0';
	memset(caret, ' ', sizeof(caret));
	caret[col - from] = '^';
	caret[col - from + 1] = '\0';
	snprintf(buf, size, "%s\n\t%s\n\t%s", error->text, line, caret);
}
