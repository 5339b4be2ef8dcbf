/*
 * term-signal.h - signals while a line is being edited.
 */
#ifndef PREX_TERM_SIGNAL_H
#define PREX_TERM_SIGNAL_H

#include <histedit.h>
#include <signal.h>
#include <stdbool.h>

/* Between these two, signals wait until term_signal_mask() lets them in. */
void	term_signal_begin(void);
void	term_signal_end(void);
const sigset_t *term_signal_mask(void);
/* Lets in those that are waiting.  Has any come that is not acted upon? */
void	term_signal_let_in(void);
bool	term_signal_came(void);
/* Does what the signals that came ask for.  True: give the line up. */
bool	term_signal_act(EditLine *);

#endif
