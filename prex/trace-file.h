/*
 * trace-file.h - is there a trace in the end?
 */
#ifndef PREX_TRACE_FILE_H
#define PREX_TRACE_FILE_H

struct shell;

/* Before the target runs. */
void	trace_file_note(struct shell *);
/* Says so if there will be nothing to look at, before the target is closed. */
void	trace_file_check(struct shell *);

#endif
