/*
 * filter.h - which events are kept: the options.
 *
 * Options of one kind given again add to the list; different kinds must all
 * agree.
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

/* How expressions get at the events of this run; the run's. */
struct expr_source *dump_expr_source(struct dump *);
/* The first event is known, and which run it is (--diff has two). */
void dump_expr_begin(struct dump *);

#endif
