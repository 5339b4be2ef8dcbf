/*
 * term.h - lines from somebody at a terminal.
 */
#ifndef PREX_TERM_H
#define PREX_TERM_H

#include <stdbool.h>
#include <stddef.h>

struct shell;
struct term;

enum term_read {
	TERM_LINE,
	TERM_EOF,		/* Ctrl-D: nothing is lost, read on */
	TERM_HANGUP,		/* the terminal is gone */
	TERM_INTERRUPT		/* Ctrl-C: forget what was typed */
};

struct term *term_open(struct shell *);
/* Prompts and reads a line with its newline into *line, as getline(). */
enum term_read term_read(struct term *, bool in_statement, char **line,
	    size_t *size);
void	term_close(struct term *);

#endif
