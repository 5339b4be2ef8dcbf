/*
 * trace-file.h - is there a trace in the end?
 */
#ifndef PREX_TRACE_FILE_H
#define PREX_TRACE_FILE_H

struct shell;
struct stat;

/* Before the target runs. */
void	trace_file_note(struct shell *);
/* Says so if there will be nothing to look at, before the target is closed. */
void	trace_file_check(struct shell *);
/* Opens it if it is a regular file; -1: it is not, or cannot be opened. */
int	trace_file_open(const char *name, int flags, struct stat *);

#endif
