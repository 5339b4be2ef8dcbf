/*
 * statement.c - collect the tokens of one command.
 */
#include <stdlib.h>
#include <string.h>

#include "prex/cmd.h"
#include "prex/shell.h"
#include "prex/source.h"
#include "prex/statement.h"
#include "prex/util.h"

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
