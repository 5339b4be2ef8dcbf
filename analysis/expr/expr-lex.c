/*
 * expr-lex.c - cuts an expression into words.
 */
#include <ctype.h>

#include "analysis/expr/expr-impl.h"
#include "common/xalloc.h"

/* Longer symbols come first. */
static const struct symbol {
	const char	*text;
	enum expr_token	 token;
} symbols[] = {
	{ "||", EXPR_T_OR }, { "&&", EXPR_T_AND }, { "==", EXPR_T_EQ },
	{ "!=", EXPR_T_NE }, { "<=", EXPR_T_LE }, { ">=", EXPR_T_GE },
	{ "=~", EXPR_T_MATCH }, { "!~", EXPR_T_NOMATCH }, { "<<", EXPR_T_SHL },
	{ ">>", EXPR_T_SHR }, { "<", EXPR_T_LT }, { ">", EXPR_T_GT },
	{ "!", EXPR_T_NOT }, { "|", EXPR_T_BITOR }, { "^", EXPR_T_BITXOR },
	{ "&", EXPR_T_BITAND }, { "~", EXPR_T_COMPLEMENT },
	{ "+", EXPR_T_PLUS }, { "-", EXPR_T_MINUS }, { "*", EXPR_T_STAR },
	{ "/", EXPR_T_SLASH }, { "%", EXPR_T_PERCENT }, { "(", EXPR_T_OPEN },
	{ ")", EXPR_T_CLOSE }, { "[", EXPR_T_LEFT }, { "]", EXPR_T_RIGHT },
	{ ",", EXPR_T_COMMA }, { ".", EXPR_T_DOT },
}, words[] = {
	{ "or", EXPR_T_OR }, { "and", EXPR_T_AND }, { "not", EXPR_T_NOT },
	{ "in", EXPR_T_IN }, { "has", EXPR_T_HAS }, { "true", EXPR_T_TRUE },
	{ "false", EXPR_T_FALSE }, { "null", EXPR_T_NULL },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void
expr_lex_fail(struct expr_lex *l, const char *at, const char *wrong)
{
	l->token = EXPR_T_ERROR;
	l->start = at;
	l->len = 0;
	l->wrong = wrong;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character that an escape stands for; -1: there is no such escape. */
static int
expr_lex_escape(const char **p)
{
	static const char from[] = "ntr\\\"'", to[] = "\n\t\r\\\"'";

	if (**p == 'x') {
		int high = hex_digit((*p)[1]);
		int low = high < 0 ? -1 : hex_digit((*p)[2]);
		if (low < 0)
			return -1;
		*p += 3;
		return high * 16 + low;
	}
	const char *found = **p == '\0' ? NULL : strchr(from, **p);
	if (found == NULL)
		return -1;
	(*p)++;
	return (unsigned char)to[found - from];
}

static void
lex_string(struct expr_lex *l)
{
	char quote = *l->next;
	const char *p = l->next + 1;

	l->string = tnf_xcalloc(strlen(p) + 1, 1);
	l->string_len = 0;
	while (*p != quote) {
		if (*p == '\0') {
			expr_lex_fail(l, l->start, "string without end");
			return;
		}
		int c = (unsigned char)*p++;
		if (c == '\\' && (c = expr_lex_escape(&p)) < 0) {
			expr_lex_fail(l, p - 1, "unknown escape: "
			    "\\n \\t \\r \\\\ \\\" \\' \\xHH");
			return;
		}
		l->string[l->string_len++] = (char)c;
	}
	l->next = p + 1;
	l->token = EXPR_T_STRING;
}

/* In a regular expression only \/ is an escape of this language; the rest is POSIX's. */
static void
lex_regex(struct expr_lex *l)
{
	const char *p = l->next + 1;

	l->string = tnf_xcalloc(strlen(p) + 1, 1);
	l->string_len = 0;
	for (; *p != '/'; p++) {
		if (*p == '\0') {
			expr_lex_fail(l, l->start, "regular expression without end");
			return;
		}
		if (p[0] == '\\' && p[1] == '/')
			p++;
		else if (p[0] == '\\' && p[1] != '\0')
			l->string[l->string_len++] = *p++;
		l->string[l->string_len++] = *p;
	}
	p++;
	l->ignore_case = *p == 'i';
	l->next = p + l->ignore_case;
	l->token = EXPR_T_REGEX;
}

static bool
expr_lex_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

static void
lex_word(struct expr_lex *l)
{
	l->next += *l->next == '$';
	while (expr_lex_is_word(*l->next))
		l->next++;
	l->len = (size_t)(l->next - l->start);
	l->token = EXPR_T_NAME;
	for (const struct symbol *s = words; s < words + COUNT(words); s++) {
		if (strlen(s->text) == l->len &&
		    memcmp(s->text, l->start, l->len) == 0)
			l->token = s->token;
	}
}

static void
lex_number(struct expr_lex *l)
{
	const char *end;

	l->wrong = number_parse(l->start, &end, &l->number);
	if (l->wrong != NULL) {
		expr_lex_fail(l, end, l->wrong);
		return;
	}
	l->next = end;
	l->token = EXPR_T_NUMBER;
}

static void
lex_symbol(struct expr_lex *l)
{
	for (const struct symbol *s = symbols; s < symbols + COUNT(symbols); s++) {
		if (strncmp(s->text, l->next, strlen(s->text)) == 0) {
			l->next += strlen(s->text);
			l->token = s->token;
			return;
		}
	}
	if (*l->next == '=')
		expr_lex_fail(l, l->start, "'=' is no operator: '==' compares");
	else
		expr_lex_fail(l, l->start, "character that means nothing here");
}

void
expr_lex_next(struct expr_lex *l, bool regex)
{
	free(l->string);
	l->string = NULL;
	while (isspace((unsigned char)*l->next))
		l->next++;
	l->start = l->next;
	if (*l->next == '\0')
		l->token = EXPR_T_END;
	else if (*l->next == '"' || *l->next == '\'')
		lex_string(l);
	else if (regex && *l->next == '/')
		lex_regex(l);
	else if (isdigit((unsigned char)*l->next))
		lex_number(l);
	else if (expr_lex_is_word(*l->next) || *l->next == '$')
		lex_word(l);
	else
		lex_symbol(l);
	if (l->token != EXPR_T_ERROR)
		l->len = (size_t)(l->next - l->start);
}
