/*
 * trace-make.h - the trace file is made when it is first needed.
 */
#ifndef PREX_TRACE_MAKE_H
#define PREX_TRACE_MAKE_H

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

#endif
