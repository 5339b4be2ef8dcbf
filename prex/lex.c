/*
 * lex.c - cut a line into tokens.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/lex.h"
#include "prex/util.h"

#define DIGIT		"0123456789"
#define IDENT_FIRST	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.%"
#define IDENT_REST	IDENT_FIRST DIGIT

static size_t
ident_len(const char *s)
{
	if (strspn(s, IDENT_FIRST) == 0)
		return 0;
	return strspn(s, IDENT_REST);
}

/* The length of a 'quoted text', or 0 if the line ends before it does. */
static size_t
quoted_len(const char *s)
{
	size_t n = strcspn(s + 1, "'\n");

	return s[n + 1] == '\'' ? n + 2 : 0;
}

static size_t
regex_len(const char *s)
{
	for (const char *p = s + 1; *p != '\0' && *p != '\n'; p++) {
		if (*p == '/')
			return p + 1 - s;
		if (*p == '\\' && (*++p == '\0' || *p == '\n'))
			break;
	}
	return 0;
}

static size_t
int_len(const char *s)
{
	size_t n = strspn(s, DIGIT);

	return n + (n > 0 && s[n] != '\0' && strchr("kKmMgG", s[n]) != NULL);
}

static enum token_kind
lex_one(const char *s, size_t *len)
{
	*len = 1;
	switch (*s) {
	case '\0':
		*len = 0;
		return TOK_END;
	case '\n':
		return TOK_END;
	case '#':
		*len = strcspn(s, "\n");
		*len += s[*len] == '\n';
		return TOK_END;
	case '\\':
		if (s[1] != '\n')
			return TOK_BAD;
		*len = 2;
		return TOK_CONTINUE;
	case ';':
		return TOK_SEMICOLON;
	case '=':
		return TOK_EQUAL;
	case ',':
		return TOK_COMMA;
	case '$':
	case '&':
		*len += ident_len(s + 1);
		if (*len == 1)
			return TOK_BAD;
		return *s == '$' ? TOK_SET : TOK_FCN;
	case '\'':
		if ((*len = quoted_len(s)) > 0)
			return TOK_QSTR;
		*len = 1;
		return TOK_BAD;
	case '/':
		if ((*len = regex_len(s)) > 0)
			return TOK_REGEX;
		*len = 1;
		return TOK_BAD;
	}
	if ((*len = int_len(s)) > 0)
		return TOK_INT;
	if ((*len = ident_len(s)) > 0)
		return TOK_IDENT;
	*len = 1;
	return TOK_BAD;
}

enum token_kind
lex_scan(const char *s, size_t *blanks, size_t *len)
{
	*blanks = strspn(s, " \t");
	return lex_one(s + *blanks, len);
}

bool
lex_is_plain(const char *s)
{
	size_t blanks, len;

	return lex_scan(s, &blanks, &len) == TOK_IDENT && blanks == 0 &&
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
	tok->kind = lex_scan(s, &blanks, &len);
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
