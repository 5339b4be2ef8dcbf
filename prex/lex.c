/*
 * lex.c - cut a line into tokens.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/lex.h"
#include "prex/util.h"

bool
lex_is_plain(const char *s)
{
	size_t blanks, len;

	return tnf_lex(s, &blanks, &len) == TOK_IDENT && blanks == 0 &&
	    s[len] == '\0' && !cmd_reserves(s);
}

static long
int_value(const char *text)
{
	char *end;
	unsigned long scale = 1, n = strtoul(text, &end, 10);

	if (*end == 'k' || *end == 'K')
		scale = 1024;
	else if (*end == 'm' || *end == 'M')
		scale = 1024 * 1024;
	else if (*end == 'g' || *end == 'G')
		scale = 1024 * 1024 * 1024;
	return n > INT_MAX / scale ? -1 : (long)(n * scale);
}

size_t
lex(const char *s, struct token *tok)
{
	size_t blanks, len;

	memset(tok, 0, sizeof *tok);
	tok->kind = tnf_lex(s, &blanks, &len);
	s += blanks;
	tok->text = tnf_xstrndup(s, len);
	switch (tok->kind) {
	case TOK_SET:
	case TOK_FCN:
		tok->value = tnf_xstrndup(s + 1, len - 1);
		break;
	case TOK_QSTR:
	case TOK_REGEX:
		tok->value = tnf_xstrndup(s + 1, len - 2);
		break;
	default:
		tok->value = tnf_xstrndup(s, len);
	}
	if (tok->kind == TOK_INT)
		tok->number = int_value(tok->text);
	if (tok->kind == TOK_IDENT && cmd_reserves(tok->text))
		tok->kind = TOK_WORD;
	return blanks + len;
}

bool
token_is_word(const struct token *tok, const char *word)
{
	return tok->kind == TOK_WORD && strcmp(tok->text, word) == 0;
}

void
token_free(struct token *tok)
{
	free(tok->text);
	free(tok->value);
}
