/*
 * source.h - where commands come from: a stack of files, strings and, at the bottom, standard
 * input.
 */
#ifndef PREX_SOURCE_H
#define PREX_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

struct shell;
struct term;
struct token;

struct source {
	struct source *below;
	char	*name;		/* for messages */
	FILE	*fp;		/* NULL: a string */
	struct term *term;	/* NULL: not a terminal */
	char	*line;
	size_t	size;
	const char *pos;	/* in line */
	unsigned line_no;
};

enum source_fill { SOURCE_LINE, SOURCE_INTERRUPT, SOURCE_END };

/* Returns 0 or an errno. */
int	source_push_file(struct shell *, const char *path);
void	source_push_stream(struct shell *, FILE *fp, const char *name);
void	source_push_string(struct shell *, const char *text, const char *name);
void	source_push_stdin(struct shell *);
void	source_pop(struct shell *);

/* Fills the top source's line, so that a token can be taken from it. */
enum source_fill source_fill(struct shell *, bool in_statement);
/* With paths, a slash begins no pattern. */
void	source_token(struct source *, struct token *, bool paths);

/* Pushes ./.prexrc and then $HOME/.prexrc, so that the latter comes first. */
void	rc_push(struct shell *);

#endif
