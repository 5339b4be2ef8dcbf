/*
 * line-history.h - the lines typed, in this session and earlier ones.
 */
#ifndef PREX_LINE_HISTORY_H
#define PREX_LINE_HISTORY_H

#include <histedit.h>

struct line_history;

struct line_history *line_history_open(void);
History	*line_history_get(struct line_history *);
void	line_history_add(struct line_history *, const char *line);
void	line_history_close(struct line_history *);

#endif
