/*
 * lex.h - the words of the command language.
 */
#ifndef PREX_LEX_H
#define PREX_LEX_H

#include "format/selector.h"

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

/* Can it be an attribute or a value as it stands, without quotes? */
bool	lex_is_plain(const char *s);

#endif
