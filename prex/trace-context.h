/*
 * trace-context.h - what the trace file will tell about the process elsewhere.
 */
#ifndef PREX_TRACE_CONTEXT_H
#define PREX_TRACE_CONTEXT_H

struct shell;

/* Notes down how the target is now; it is stopped. */
void	trace_context_note(struct shell *);
/* Puts what was noted last behind the trace; the target is still held. */
void	trace_context_put(struct shell *);

#endif
