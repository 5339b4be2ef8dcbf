/*
 * trace.h - the trace file: made when it is first needed, completed with what it has to
 * tell about the process elsewhere, and looked for in the end.
 */
#ifndef PREX_TRACE_H
#define PREX_TRACE_H

#include <stdbool.h>
#include <stddef.h>

struct shell;

/* What the trace file will be. */
struct trace_plan {
	char	*name;		/* absolute; NULL: the one that the target has */
	size_t	size;		/* bytes */
	bool	exchange;	/* the target has another one */
};

/* Decides on name and size, which may be given (NULL, 0: not); a target that
   has a file keeps it, unless another is named.  Each prints why it returns
   false. */
bool	trace_plan(struct shell *, const char *file, size_t size);
void	trace_plan_free(struct trace_plan *);
/* Makes it, and gives it to the target; does nothing for the kernel. */
bool	trace_make(struct shell *);

/* trace-context.c */
/* Notes down how the target is now; it is stopped. */
void	trace_context_note(struct shell *);
/* Puts what was noted last behind the trace; the target is still held. */
void	trace_context_put(struct shell *);

/* trace-file.c */
/* Before the target runs. */
void	trace_file_note(struct shell *);
/* Says so if there will be nothing to look at, before the target is closed. */
void	trace_file_check(struct shell *);

#endif
