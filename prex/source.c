/*
 * source.c - the stack of command sources.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prex/ending.h"
#include "prex/lex.h"
#include "prex/shell.h"
#include "prex/source.h"
#include "prex/term.h"
#include "prex/util.h"

static struct source *
source_push(struct shell *sh, const char *name)
{
	struct source *src = tnf_xcalloc(1, sizeof *src);

	src->name = tnf_xstrdup(name);
	src->pos = "";
	src->below = sh->top;
	sh->top = src;
	return src;
}

void
source_push_stream(struct shell *sh, FILE *fp, const char *name)
{
	source_push(sh, name)->fp = fp;
}

int
source_push_file(struct shell *sh, const char *path)
{
	FILE *fp = fopen(path, "re");
	struct stat sb;

	if (fp == NULL)
		return errno;
	if (fstat(fileno(fp), &sb) == 0 && S_ISDIR(sb.st_mode)) {
		fclose(fp);
		return EISDIR;
	}
	source_push_stream(sh, fp, path);
	return 0;
}

void
source_push_string(struct shell *sh, const char *text, const char *name)
{
	struct source *src = source_push(sh, name);

	src->line = tnf_xstrdup(text);
	src->pos = src->line;
	src->line_no = 1;
}

void
source_push_stdin(struct shell *sh)
{
	struct source *src = source_push(sh, "<STDIN>");

	src->fp = stdin;
	if (isatty(STDIN_FILENO))
		src->term = term_open(sh);
}

void
source_pop(struct shell *sh)
{
	struct source *src = sh->top;

	sh->top = src->below;
	if (src->fp != NULL && src->fp != stdin)
		fclose(src->fp);
	term_close(src->term);
	free(src->line);
	free(src->name);
	free(src);
}

static enum source_fill
source_read_file(struct source *src)
{
	ssize_t i, n;

	/* Who writes commands to a pipe may wait for the answer to the last. */
	fflush(stdout);
	while ((n = getline(&src->line, &src->size, src->fp)) < 0) {
		if (!ferror(src->fp) || errno != EINTR || ending_signal() != 0)
			return SOURCE_END;
		clearerr(src->fp);
	}
	/* A NUL would hide the rest of the line: make it an error. */
	for (i = 0; i < n; i++)
		if (src->line[i] == '\0')
			src->line[i] = '\1';
	return SOURCE_LINE;
}

static enum source_fill
read_term(struct source *src, bool in_statement)
{
	switch (term_read(src->term, in_statement, &src->line, &src->size)) {
	case TERM_LINE:
		return SOURCE_LINE;
	case TERM_EOF:
		/* Ctrl-D does not leave prex: it is an empty line. */
		putchar('\n');
		free(src->line);
		src->line = tnf_xstrdup("\n");
		src->size = 2;
		return SOURCE_LINE;
	case TERM_HANGUP:
		return SOURCE_END;
	case TERM_INTERRUPT:
		break;
	}
	return SOURCE_INTERRUPT;
}

enum source_fill
source_fill(struct shell *sh, bool in_statement)
{
	struct source *src = sh->top;
	enum source_fill r;

	if (ending_signal() != 0)
		return SOURCE_END;
	if (*src->pos != '\0')
		return SOURCE_LINE;
	if (src->fp == NULL)
		return SOURCE_END;
	r = src->term != NULL ? read_term(src, in_statement) : source_read_file(src);
	src->pos = r == SOURCE_LINE ? src->line : "";
	if (r != SOURCE_END)
		src->line_no++;
	return r;
}

void
source_token(struct source *src, struct token *tok, bool paths)
{
	src->pos += lex(src->pos, tok);
	if (paths && tok->kind == TOK_REGEX) {
		src->pos -= strlen(tok->text) - 1;
		tok->kind = TOK_BAD;
		strcpy(tok->text, "/");
		strcpy(tok->value, "");
	}
	tok->line = src->line_no;
	if (tok->kind == TOK_SEMICOLON)
		tok->kind = src->fp == NULL ? TOK_END : TOK_BAD;
	if (src->fp == NULL && strchr(tok->text, '\n') != NULL)
		src->line_no++;
}
