/*
 * filter.h - the options that filter events.
 *
 * Giving an option again adds to its list; an event is kept if the filters of all options
 * keep it.
 */
#ifndef TNFDUMP_FILTER_H
#define TNFDUMP_FILTER_H

#include "analysis/expr/expr.h"
#include "tnfdump/tnfdump.h"

int where_set(struct dump *, const char *expr);
int process_set(struct dump *, const char *list);	/* pids, names */
int probe_set(struct dump *, const char *list);		/* shell patterns */
int key_set(struct dump *, const char *list);
int cpu_set(struct dump *, const char *list);		/* 0-3,8 */
int tid_set(struct dump *, const char *list);		/* numbers, names */
int from_set(struct dump *, const char *time);
int until_set(struct dump *, const char *time);
int last_set(struct dump *, const char *duration);

/* How expressions read the events of this run; the run owns it. */
struct expr_source *dump_expr_source(struct dump *);
/* Called when the run's first event is known; --diff calls it for each of its two runs. */
void dump_expr_begin(struct dump *);

#endif
