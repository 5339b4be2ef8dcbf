/*
 * term.h - lines from somebody at a terminal, and how such a line could go on.
 */
#ifndef PREX_TERM_H
#define PREX_TERM_H

#include <histedit.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "prex/shell.h"

struct line_history;

struct term *term_open(struct shell *);
/* Prompts and reads a line with its newline into *line, as getline().  SOURCE_INTERRUPT is
   Ctrl-C: what was typed is forgotten; SOURCE_END: the terminal is gone. */
enum source_fill term_read(struct term *, bool in_statement, char **line,
	    size_t *size);
void	term_close(struct term *);

/* Between these two, signals wait until term_signal_mask() lets them in. */
void	term_signal_begin(void);
void	term_signal_end(void);
const sigset_t *term_signal_mask(void);
/* Lets in the signals that are waiting; then: has a signal come that is not acted upon? */
void	term_signal_let_in(void);
bool	term_signal_came(void);
/* Acts upon the signals that have come.  True: give the line up. */
bool	term_signal_act(EditLine *);

struct line_history *line_history_open(void);
History	*line_history_get(struct line_history *);
void	line_history_add(struct line_history *, const char *line);
void	line_history_close(struct line_history *);

struct completion {
	char	*word;			/* what is to be completed, maybe "" */
	struct strings candidates;	/* what could be in its place; sorted */
};

/* Looks at the text before the cursor, and at the target. */
void	complete(struct shell *, const char *text, struct completion *);
void	completion_free(struct completion *);
/* Takes a candidate; one that does not begin as the word does is dropped. */
void	completion_add(struct completion *, char *text);

/* A part of complete(): rules of "pfilter add", or of "pfilter delete". */
void	complete_filter(struct shell *, const char *text, bool delete, struct completion *);

#endif
