/*
 * lex.h - the words of the command language.
 */
#ifndef PREX_LEX_H
#define PREX_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
	TOK_END,	/* end of the line, or a comment up to it */
	TOK_CONTINUE,	/* a backslash, and then the end of the line */
	TOK_SEMICOLON,	/* ends a statement in -c strings; elsewhere an error */
	TOK_EQUAL,
	TOK_COMMA,
	TOK_IDENT,
	TOK_WORD,	/* an identifier that the language reserves */
	TOK_SET,	/* $name */
	TOK_FCN,	/* &name */
	TOK_QSTR,	/* 'text' */
	TOK_REGEX,	/* /pattern/ */
	TOK_INT,
	TOK_BAD
};

struct token {
	enum token_kind kind;
	char	*text;		/* as it was typed */
	char	*value;		/* without its $, &, quotes or slashes */
	long	number;		/* TOK_INT; -1: too big for an int */
	unsigned line;
};

/* Takes one token from the start of a line (which ends with a newline or a
   NUL).  Returns how many bytes it took, blanks before it included. */
size_t	lex(const char *s, struct token *tok);
void	token_free(struct token *tok);
/* Is it this word of the language? */
bool	token_is_word(const struct token *, const char *word);

/* The same without allocating, for callers that only want to look. */
enum token_kind lex_scan(const char *s, size_t *blanks, size_t *len);
/* Can it be an attribute or a value as it stands, without quotes? */
bool	lex_is_plain(const char *s);

#endif
