/*
 * statement.h - the tokens of one command, and a cursor on them.
 */
#ifndef PREX_STATEMENT_H
#define PREX_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "format/selector.h"

struct shell;

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

/* Can the text be an attribute or a value without quotes? */
bool	lex_is_plain(const char *s);

struct statement {
	char	*source;	/* for messages */
	unsigned line;		/* where it begins */
	struct token *v;	/* n tokens and a TOK_END */
	size_t	n;
	size_t	next;
	char	*hint;		/* what may help at a syntax error, or NULL */
};

enum statement_read { STATEMENT_OK, STATEMENT_EOF };

/* Reads up to the end of a statement, over continued lines and the ends of
   sources; an empty line is a statement without tokens. */
enum statement_read statement_read(struct shell *, struct statement *);
void	statement_free(struct statement *);

const struct token *statement_peek(const struct statement *);
/* Takes the next token if it is of that kind. */
const struct token *statement_take(struct statement *, enum token_kind);
/* Replaces the hint, which is freed with the statement. */
void	statement_hint(struct statement *, char *hint);
bool	statement_at_end(const struct statement *);

#endif
