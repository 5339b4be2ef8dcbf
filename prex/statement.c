/*
 * statement.c - cut lines into tokens, and collect those of one command.
 */
#include <limits.h>

#include "prex/shell.h"
#include "prex/source.h"

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

static void
statement_add(struct statement *st, const struct token *tok)
{
	st->v = tnf_xreallocarray(st->v, st->n + 2, sizeof *st->v);
	st->v[st->n++] = *tok;
}

static void
statement_finish(struct statement *st, const struct token *end)
{
	st->v = tnf_xreallocarray(st->v, st->n + 1, sizeof *st->v);
	st->v[st->n] = *end;
	if (st->n > 0)
		st->line = st->v[0].line;
}

static void
statement_clear(struct statement *st)
{
	while (st->n > 0)
		token_free(&st->v[--st->n]);
}

/* A statement never goes on in the next source, even if the file ends in the
   middle of a line. */
static bool
end_of_source(struct shell *sh, struct statement *st, bool begun)
{
	struct token end = { .kind = TOK_END };

	if (begun) {
		end.text = tnf_xstrdup("\n");
		end.line = sh->top->line_no;
		statement_finish(st, &end);
		return true;
	}
	source_pop(sh);
	return false;
}

/* In the rules of a process filter a slash begins no pattern. */
static bool
has_paths(const struct statement *st)
{
	const char *name;

	return st->n > 0 && word_find(cmd_names, st->v[0].text, &name) == WORD_ONE &&
	    strcmp(name, "pfilter") == 0;
}

enum statement_read
statement_read(struct shell *sh, struct statement *st)
{
	struct token tok;
	bool begun = false;

	memset(st, 0, sizeof *st);
	while (sh->top != NULL) {
		switch (source_fill(sh, begun)) {
		case SOURCE_LINE:
			break;
		case SOURCE_INTERRUPT:
			statement_clear(st);
			begun = false;
			continue;
		case SOURCE_END:
			if (end_of_source(sh, st, begun))
				return STATEMENT_OK;
			continue;
		}
		if (!begun) {
			free(st->source);
			st->source = tnf_xstrdup(sh->top->name);
			st->line = sh->top->line_no;
			begun = true;
		}
		source_token(sh->top, &tok, has_paths(st));
		if (tok.kind == TOK_END) {
			statement_finish(st, &tok);
			return STATEMENT_OK;
		}
		if (tok.kind == TOK_CONTINUE)
			token_free(&tok);
		else
			statement_add(st, &tok);
	}
	return STATEMENT_EOF;
}

void
statement_free(struct statement *st)
{
	if (st->v != NULL)
		token_free(&st->v[st->n]);
	statement_clear(st);
	free(st->v);
	free(st->source);
	free(st->hint);
}

const struct token *
statement_peek(const struct statement *st)
{
	return &st->v[st->next];
}

const struct token *
statement_take(struct statement *st, enum token_kind kind)
{
	if (st->v[st->next].kind != kind || kind == TOK_END)
		return NULL;
	return &st->v[st->next++];
}

void
statement_hint(struct statement *st, char *hint)
{
	free(st->hint);
	st->hint = hint;
}

bool
statement_at_end(const struct statement *st)
{
	return st->next == st->n;
}
