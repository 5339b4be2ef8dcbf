/*
 * ending.h - signals that end prex.
 */
#ifndef PREX_ENDING_H
#define PREX_ENDING_H

#include <stdbool.h>

/* From now on SIGHUP, SIGTERM and SIGPIPE, unless ignored, are noted; the next
   of the first two ends prex at once. */
void	ending_catch(void);
/* In a child of ours before exec(): as whoever started us had set them up. */
void	ending_inherit(void);
/* The signal that has come, or 0.  Calls that wait return EINTR from then on. */
int	ending_signal(void);
/* Calls that wait return EINTR every few milliseconds.  For signal handlers. */
void	ending_nudge(bool on);
/* Dies of that signal, if there is one. */
void	ending_die(void);

#endif
