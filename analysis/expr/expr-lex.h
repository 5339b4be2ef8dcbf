/*
 * expr-lex.h - the words of an expression.
 */
#ifndef ANALYSIS_EXPR_EXPR_LEX_H
#define ANALYSIS_EXPR_EXPR_LEX_H

#include "analysis/expr/expr-impl.h"

enum expr_token {
	EXPR_T_END, EXPR_T_ERROR, EXPR_T_NUMBER, EXPR_T_STRING, EXPR_T_REGEX,
	EXPR_T_NAME, EXPR_T_OPEN, EXPR_T_CLOSE, EXPR_T_COMMA, EXPR_T_DOT,
	EXPR_T_LEFT, EXPR_T_RIGHT,	/* [ ] */
	EXPR_T_OR, EXPR_T_AND, EXPR_T_NOT, EXPR_T_IN, EXPR_T_HAS,
	EXPR_T_TRUE, EXPR_T_FALSE, EXPR_T_NULL,
	EXPR_T_EQ, EXPR_T_NE, EXPR_T_LE, EXPR_T_LT, EXPR_T_GE, EXPR_T_GT,
	EXPR_T_MATCH, EXPR_T_NOMATCH,
	EXPR_T_BITOR, EXPR_T_BITXOR, EXPR_T_BITAND, EXPR_T_COMPLEMENT,
	EXPR_T_SHL, EXPR_T_SHR,
	EXPR_T_PLUS, EXPR_T_MINUS, EXPR_T_STAR, EXPR_T_SLASH, EXPR_T_PERCENT
};

struct expr_lex {
	const char	*text;
	const char	*next;		/* behind the current token */
	enum expr_token	 token;
	const char	*start;		/* of the current token */
	size_t		 len;
	struct val	 number;	/* EXPR_T_NUMBER */
	char		*string;	/* EXPR_T_STRING, REGEX: to be freed */
	size_t		 string_len;
	bool		 ignore_case;	/* /.../i */
	const char	*wrong;		/* EXPR_T_ERROR */
};

/* 'regex': a slash here starts a regular expression. */
void expr_lex_next(struct expr_lex *, bool regex);

#endif
