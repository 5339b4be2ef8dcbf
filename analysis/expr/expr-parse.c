/*
 * expr-parse.c - parses an expression into a tree.
 *
 * Operators, the loosest first: or, and, not, comparisons (which do not chain), | ^ &
 * shifts, + -, * / %, unary - ~.  Bit operators bind tighter than comparisons, so that
 * "flags & 0x40 != 0" means what it seems to.
 */
#include <ctype.h>

#include "analysis/expr/expr-impl.h"
#include "common/xalloc.h"

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

/* Parses a member's or field's name, which is quoted if it is not a word. */
static int
expr_parse_named(struct parser *p, enum expr_op op, int left)
{
	bool quoted = p->lex.token == EXPR_T_STRING;
	bool word = p->lex.token == EXPR_T_NAME || (isalpha(
	    (unsigned char)*p->lex.start) && p->lex.token >= EXPR_T_OR &&
	    p->lex.token <= EXPR_T_NULL);
	unsigned name;

	if (p->failed)
		return EXPR_NONE;
	if (!quoted && !word)
		return parse_expected(p, "member name");
	if (quoted)
		name = parse_intern(p->e, p->lex.string,
		    strnlen(p->lex.string, p->lex.string_len));
	else
		name = parse_intern(p->e, p->lex.start, p->lex.len);
	int n = parse_node(p, op, left, EXPR_NONE, parse_column(p));
	if (n != EXPR_NONE) {
		p->e->nodes[n].name = name;
		p->e->nodes[n].class = EXPR_ANY;
		p->e->nodes[n].is_call = op == EXPR_MEMBER &&
		    strcmp(p->e->names[name], "sysnum") == 0;
		p->e->nodes[n].is_thread = op == EXPR_MEMBER &&
		    strcmp(p->e->names[name], "tid") == 0;
	}
	parse_next(p, false);
	return n;
}

static int
parse_index(struct parser *p, int left)
{
	size_t col = parse_column(p);

	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, col, "expression nested too deep");
	int right = parse_level(p, 0);
	p->depth--;
	if (!p->failed && !parse_accept(p, EXPR_T_RIGHT))
		return parse_expected(p, "']'");
	int n = parse_node(p, EXPR_INDEX, left, right, col);
	return n;
}

/* Parses within(NAME, CONDITION) or within(NAME). */
static int
parse_within(struct parser *p)
{
	size_t col = parse_column(p);
	int condition = EXPR_NONE, n;
	unsigned name;

	if (p->e->source->within == NULL)
		return parse_fail(p, col, "within() belongs to --where of tnfdump");
	parse_next(p, false);
	parse_next(p, false);
	if (p->failed)
		return EXPR_NONE;
	if (p->lex.token == EXPR_T_STRING)
		name = parse_intern(p->e, p->lex.string, strlen(p->lex.string));
	else if (p->lex.token == EXPR_T_NAME)
		name = parse_intern(p->e, p->lex.start, p->lex.len);
	else
		return parse_expected(p, "name of a pair");
	parse_next(p, false);
	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, col, "expression nested too deep");
	if (parse_accept(p, EXPR_T_COMMA))
		condition = parse_or(p);
	p->depth--;
	if (!p->failed && !parse_accept(p, EXPR_T_CLOSE))
		return parse_expected(p, "')'");
	n = parse_node(p, EXPR_WITHIN, condition, EXPR_NONE, col);
	if (n != EXPR_NONE) {
		p->e->nodes[n].name = name;
		p->e->nodes[n].seen_index = p->e->n_within++;
	}
	return n;
}

/* Parses program(PID). */
static int
parse_program(struct parser *p)
{
	size_t col = parse_column(p);
	int pid, n;

	parse_next(p, false);
	parse_next(p, false);
	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, col, "expression nested too deep");
	pid = parse_or(p);
	p->depth--;
	if (!p->failed && !parse_accept(p, EXPR_T_CLOSE))
		return parse_expected(p, "')'");
	if ((n = parse_node(p, EXPR_PROGRAM, pid, EXPR_NONE, col)) != EXPR_NONE)
		p->e->nodes[n].class = EXPR_TEXT;
	return n;
}

static bool
parse_calls(const struct parser *p, const char *name)
{
	return p->lex.len == strlen(name) && memcmp(p->lex.start, name, p->lex.len) == 0 &&
	    p->lex.next[0] == '(';
}

/* Parses NAME or arg.NAME, then any .FIELD and [INDEX]. */
static int
parse_name(struct parser *p)
{
	size_t col = parse_column(p);
	int n;

	if (parse_calls(p, "within"))
		return parse_within(p);
	if (parse_calls(p, "program"))
		return parse_program(p);
	const struct expr_name_row *row = expr_name_find(p->lex.start, p->lex.len);
	if (row != NULL && ((row->name == EXPR_N_HOST && p->e->source->host == NULL) ||
	    (row->name == EXPR_N_TRACE && p->e->source->trace == NULL) ||
	    (row->name == EXPR_N_SPAN && p->e->source->span == NULL) ||
	    (row->name >= EXPR_N_OPERATION && p->e->source->want_around == NULL) ||
	    (row->name == EXPR_N_DURATION && p->e->source->duration == NULL)))
		row = NULL;
	if (row != NULL && row->name >= EXPR_N_OPERATION)
		p->e->source->want_around(p->e->source->arg);
	if (row != NULL) {
		n = parse_node(p, EXPR_NAME, EXPR_NONE, EXPR_NONE, col);
		if (n != EXPR_NONE) {
			p->e->nodes[n].name = row->name;
			p->e->nodes[n].class = row->class;
			p->e->nodes[n].fixed = row->fixed;
		}
		parse_next(p, false);
		return n;
	}
	if (p->lex.len == 3 && memcmp(p->lex.start, "arg", 3) == 0 &&
	    p->lex.next[0] == '.') {
		parse_next(p, false);
		parse_next(p, false);
	}
	n = expr_parse_named(p, *p->lex.start == '$' ? EXPR_VARIABLE : EXPR_MEMBER, EXPR_NONE);
	if (n != EXPR_NONE && p->e->nodes[n].op == EXPR_VARIABLE &&
	    p->e->source->variable == NULL)
		return parse_fail(p, col, "only templates have variables");
	while (!p->failed) {
		if (parse_accept(p, EXPR_T_DOT))
			n = expr_parse_named(p, EXPR_FIELD, n);
		else if (parse_accept(p, EXPR_T_LEFT))
			n = parse_index(p, n);
		else
			break;
	}
	return n;
}

static int
parse_parenthesis(struct parser *p)
{
	size_t col = parse_column(p);

	parse_next(p, false);
	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, col, "expression nested too deep");
	int n = parse_or(p);
	p->depth--;
	if (!p->failed && p->lex.token != EXPR_T_CLOSE)
		return parse_fail(p, col, "'(' without ')'");
	if (!p->failed)
		parse_next(p, false);
	return n;
}

static int
expr_parse_parse_word(struct parser *p, struct val v)
{
	int n = parse_literal(p, v, parse_column(p));

	parse_next(p, false);
	return n;
}

static int
parse_primary(struct parser *p)
{
	switch (p->lex.token) {
	case EXPR_T_NUMBER:
		return expr_parse_parse_word(p, p->lex.number);
	case EXPR_T_TRUE:
		return expr_parse_parse_word(p, val_int(1));
	case EXPR_T_FALSE:
		return expr_parse_parse_word(p, val_int(0));
	case EXPR_T_NULL:
		return expr_parse_parse_word(p, (struct val){ .kind = VAL_NULL });
	case EXPR_T_STRING:
		return parse_string(p);
	case EXPR_T_NAME:
		return parse_name(p);
	case EXPR_T_OPEN:
		return parse_parenthesis(p);
	case EXPR_T_NOT:
		return parse_fail(p, parse_column(p),
		    "'not' inside a term: put it into parentheses");
	default:
		return parse_expected(p, "name, number or string");
	}
}

/* Reports arithmetic on an operand that is known to be text. */
static bool
want_number(struct parser *p, int n)
{
	if (n != EXPR_NONE && p->e->nodes[n].class == EXPR_TEXT) {
		parse_fail(p, p->e->nodes[n].column,
		    "this is text: a number is expected here");
		return false;
	}
	return n != EXPR_NONE;
}

static int
parse_unary(struct parser *p)
{
	enum expr_token token = p->lex.token;
	size_t col = parse_column(p);

	if (p->failed)
		return EXPR_NONE;
	if (token != EXPR_T_MINUS && token != EXPR_T_COMPLEMENT)
		return parse_primary(p);
	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, col, "expression nested too deep");
	parse_next(p, false);
	int n = parse_unary(p);
	p->depth--;
	if (!want_number(p, n))
		return EXPR_NONE;
	return parse_node(p, token == EXPR_T_MINUS ? EXPR_NEGATE :
	    EXPR_COMPLEMENT, n, EXPR_NONE, col);
}

static const struct binary *
find_binary(const struct binary *table, size_t count, enum expr_token token,
    int level)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].token == token && table[i].level == level)
			return &table[i];
	return NULL;
}

static int
parse_level(struct parser *p, int level)
{
	const struct binary *b;

	if (level == LEVEL_UNARY)
		return parse_unary(p);
	int n = parse_level(p, level + 1);
	while (!p->failed && (b = find_binary(binaries, COUNT(binaries),
	    p->lex.token, level)) != NULL) {
		size_t col = parse_column(p);
		parse_next(p, false);
		int right = parse_level(p, level + 1);
		if (!want_number(p, n) || !want_number(p, right))
			return EXPR_NONE;
		n = parse_node(p, b->op, n, right, col);
	}
	return n;
}

static int
parse_regex(struct parser *p, enum expr_op op, int left, size_t col)
{
	const char *wrong;

	if (p->failed)
		return EXPR_NONE;
	if (p->lex.token != EXPR_T_REGEX && p->lex.token != EXPR_T_STRING)
		return parse_expected(p, "/regular expression/");
	if (strlen(p->lex.string) != p->lex.string_len)
		return parse_fail(p, parse_column(p), "NUL in a regular expression");
	struct match *m = match_new(p->lex.string, p->lex.token == EXPR_T_REGEX &&
	    p->lex.ignore_case, &wrong);
	if (m == NULL)
		return parse_fail(p, parse_column(p), "%s", wrong);
	int n = parse_node(p, op, left, EXPR_NONE, col);
	if (n == EXPR_NONE) {
		match_free(m);
		return n;
	}
	p->e->nodes[n].match = m;
	parse_next(p, false);
	return n;
}

/* Reports comparisons of text with a number that has no names: they would never hold. */
static bool
expr_parse_comparable(struct parser *p, int left, int right, size_t col)
{
	if (left == EXPR_NONE || right == EXPR_NONE)
		return false;
	const struct expr_node *a = &p->e->nodes[left];
	const struct expr_node *b = &p->e->nodes[right];
	if ((a->class == EXPR_TEXT && b->class == EXPR_NUMBER) ||
	    (a->class == EXPR_NUMBER && b->class == EXPR_TEXT)) {
		parse_fail(p, col, "text compared with a number: "
		    "quote what is text, and only that");
		return false;
	}
	return true;
}

/* Parses in (A, B, ...): the rest of the list is at the right of each element. */
static int
parse_list(struct parser *p, int left, size_t col)
{
	int first = EXPR_NONE, last = EXPR_NONE, item, n;

	if (!parse_accept(p, EXPR_T_OPEN))
		return parse_expected(p, "'(' and a list");
	do {
		item = parse_level(p, 0);
		if (p->failed || !expr_parse_comparable(p, left, item, col))
			return EXPR_NONE;
		n = parse_node(p, EXPR_LIST, item, EXPR_NONE, col);
		if (n == EXPR_NONE)
			return n;
		if (last == EXPR_NONE)
			first = n;
		else
			p->e->nodes[last].right = n;
		last = n;
	} while (parse_accept(p, EXPR_T_COMMA));
	if (!p->failed && !parse_accept(p, EXPR_T_CLOSE))
		return parse_expected(p, "',' or ')'");
	return parse_node(p, EXPR_IN, left, first, col);
}

static int
parse_comparison(struct parser *p)
{
	const struct binary *b;
	size_t col;
	int n, right;

	if (parse_accept(p, EXPR_T_HAS)) {
		if (p->failed)
			return EXPR_NONE;
		if (p->lex.token != EXPR_T_NAME)
			return parse_expected(p, "member name after 'has'");
		col = parse_column(p);
		n = parse_name(p);
		return parse_node(p, EXPR_HAS, n, EXPR_NONE, col);
	}
	n = parse_level(p, 0);
	if (p->failed || (b = find_binary(comparisons, COUNT(comparisons),
	    p->lex.token, 0)) == NULL)
		return n;
	col = parse_column(p);
	parse_next(p, b->op == EXPR_MATCH || b->op == EXPR_NOMATCH);
	if (b->op == EXPR_MATCH || b->op == EXPR_NOMATCH) {
		n = parse_regex(p, b->op, n, col);
	} else if (b->op == EXPR_IN) {
		n = parse_list(p, n, col);
	} else {
		right = parse_level(p, 0);
		if (p->failed || !expr_parse_comparable(p, n, right, col))
			return EXPR_NONE;
		n = parse_node(p, b->op, n, right, col);
	}
	if (!p->failed && find_binary(comparisons, COUNT(comparisons),
	    p->lex.token, 0) != NULL)
		return parse_fail(p, parse_column(p), "comparisons do not chain: "
		    "write 'a < b and b < c'");
	return n;
}

static int
parse_not(struct parser *p)
{
	size_t col = parse_column(p);

	if (!parse_accept(p, EXPR_T_NOT))
		return p->failed ? EXPR_NONE : parse_comparison(p);
	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, col, "expression nested too deep");
	int n = parse_not(p);
	p->depth--;
	return parse_node(p, EXPR_NOT, n, EXPR_NONE, col);
}

static int
parse_and(struct parser *p)
{
	int n = parse_not(p);

	while (!p->failed && p->lex.token == EXPR_T_AND) {
		size_t col = parse_column(p);
		parse_next(p, false);
		n = parse_node(p, EXPR_AND, n, parse_not(p), col);
	}
	return n;
}

static int
parse_or(struct parser *p)
{
	int n = parse_and(p);

	while (!p->failed && p->lex.token == EXPR_T_OR) {
		size_t col = parse_column(p);
		parse_next(p, false);
		n = parse_node(p, EXPR_OR, n, parse_and(p), col);
	}
	return n;
}

struct expr *
expr_new(const char *text, const struct expr_source *source,
    struct expr_error *error)
{
	struct parser p = { .error = error };

	p.lex.text = p.lex.next = p.lex.start = text;
	p.e = tnf_xcalloc(1, sizeof(*p.e));
	p.e->source = source;
	if (strlen(text) > EXPR_TEXT_MAX) {
		parse_fail(&p, 0, "expression too long: at most %u bytes",
		    EXPR_TEXT_MAX);
	} else {
		parse_next(&p, false);
		p.e->root = parse_or(&p);
		if (!p.failed && p.lex.token != EXPR_T_END)
			parse_expected(&p, "operator");
	}
	free(p.lex.string);
	if (p.failed) {
		expr_free(p.e);
		return NULL;
	}
	expr_prepare(p.e);
	return p.e;
}

