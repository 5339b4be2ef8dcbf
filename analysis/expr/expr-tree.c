/*
 * expr-tree.c - what the parser of expressions works with: words, nodes,
 * mistakes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/expr/expr-parse.h"
#include "common/xalloc.h"

int
parse_fail(struct parser *p, size_t column, const char *fmt, ...)
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

size_t
parse_column(const struct parser *p)
{
	return (size_t)(p->lex.start - p->lex.text);
}

void
parse_next(struct parser *p, bool regex)
{
	expr_lex_next(&p->lex, regex);
	if (p->lex.token == EXPR_T_ERROR)
		parse_fail(p, parse_column(p), "%s", p->lex.wrong);
}

bool
parse_accept(struct parser *p, enum expr_token token)
{
	if (p->failed || p->lex.token != token)
		return false;
	parse_next(p, false);
	return true;
}

int
parse_expected(struct parser *p, const char *what)
{
	if (p->lex.token == EXPR_T_END)
		return parse_fail(p, parse_column(p), "%s expected at the end", what);
	return parse_fail(p, parse_column(p), "%s expected at '%.*s'", what,
	    p->lex.len > 40 ? 40 : (int)p->lex.len, p->lex.start);
}

int
parse_node(struct parser *p, enum expr_op op, int left, int right, size_t col)
{
	struct expr *e = p->e;

	if (p->failed)
		return EXPR_NONE;
	if (e->n_nodes == EXPR_NODES_MAX)
		return parse_fail(p, col, "expression too large: at most %u terms",
		    EXPR_NODES_MAX);
	if (e->n_nodes == e->max_nodes) {
		e->max_nodes = e->max_nodes == 0 ? 16 : e->max_nodes * 2;
		e->nodes = tnf_xreallocarray(e->nodes, e->max_nodes,
		    sizeof(*e->nodes));
	}
	struct expr_node *n = &e->nodes[e->n_nodes];
	memset(n, 0, sizeof(*n));
	n->op = op;
	n->left = left;
	n->right = right;
	n->cache = EXPR_NONE;
	n->column = col;
	n->class = op >= EXPR_HAS ? EXPR_NUMBER : EXPR_ANY;
	return (int)e->n_nodes++;
}

int
parse_literal(struct parser *p, struct val v, size_t col)
{
	int n = parse_node(p, EXPR_LITERAL, EXPR_NONE, EXPR_NONE, col);

	if (n == EXPR_NONE)
		return n;
	p->e->nodes[n].value = v;
	p->e->nodes[n].class = v.kind == VAL_NULL ? EXPR_ANY :
	    v.kind == VAL_STRING ? EXPR_TEXT : EXPR_NUMBER;
	return n;
}

/* Takes the current token's string over. */
int
parse_string(struct parser *p)
{
	struct expr *e = p->e;
	struct val v = val_string(p->lex.string, p->lex.string_len);
	int n = parse_literal(p, v, parse_column(p));

	e->strings = tnf_xreallocarray(e->strings, e->n_strings + 1,
	    sizeof(*e->strings));
	e->strings[e->n_strings++] = p->lex.string;
	p->lex.string = NULL;
	parse_next(p, false);
	return n;
}

unsigned
parse_intern(struct expr *e, const char *text, size_t len)
{
	for (unsigned i = 0; i < e->n_names; i++) {
		if (strlen(e->names[i]) == len &&
		    memcmp(e->names[i], text, len) == 0)
			return i;
	}
	e->names = tnf_xreallocarray(e->names, e->n_names + 1, sizeof(*e->names));
	e->names[e->n_names] = tnf_xstrndup(text, len);
	return e->n_names++;
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
