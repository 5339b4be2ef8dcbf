/*
 * expr-parse.h - what the parser of expressions works with.
 *
 * After the first mistake the parser is 'failed': words are not read any
 * further and no nodes are made.
 */
#ifndef ANALYSIS_EXPR_EXPR_PARSE_H
#define ANALYSIS_EXPR_EXPR_PARSE_H

#include "analysis/expr/expr-lex.h"

struct parser {
	struct expr		*e;
	struct expr_lex		 lex;
	struct expr_error	*error;
	bool			 failed;
	unsigned		 depth;
};

/* A mistake; EXPR_NONE. */
__attribute__((format(printf, 3, 4)))
int parse_fail(struct parser *, size_t column, const char *fmt, ...);
int parse_expected(struct parser *, const char *what);

size_t parse_column(const struct parser *);	/* of the current word */
void parse_next(struct parser *, bool regex);
bool parse_accept(struct parser *, enum expr_token);

/* Nodes, by index, or EXPR_NONE. */
int parse_node(struct parser *, enum expr_op, int left, int right,
    size_t column);
int parse_literal(struct parser *, struct val, size_t column);
int parse_string(struct parser *);		/* the current word */
unsigned parse_intern(struct expr *, const char *text, size_t len);

#endif
