/*
 * filter.h - the options that filter events.
 *
 * Giving an option again adds to its list; an event is kept if the filters of all options
 * keep it.  A name that is not in the trace is told, with the name that was probably meant.
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
/* Are all events of the file outside of what --from and --until (as @NS) choose, and does the output
   need nothing else of it?  Compressed files need memory as long as they are read. */
bool filter_time_leaves_out(const struct dump *, const void *base, size_t size);
int until_set(struct dump *, const char *time);
int last_set(struct dump *, const char *duration);

/* The spans that an expression asks about: filter-span.c. */
struct spans;
struct spans *spans_new(struct dump *, struct expr *);	/* NULL: it asks about none */
void spans_free(struct spans *);
void spans_begin(struct spans *, struct dump *);	/* another stream; NULL is fine */
void spans_feed(struct spans *, struct dump *, const struct tnf_event *);
/* The duration of what the event ends, and whether it is in the i-th within(). */
bool spans_duration(const struct spans *, int64_t *ns);
bool spans_within(const struct spans *, unsigned i);

/* A fact of the event as text, for expressions and columns; NULL: it is not known. */
typedef const char *fact_fn(void *dump, const struct tnf_event *);
fact_fn fact_comm, fact_program, fact_cgroup, fact_trace, fact_span, fact_operation, fact_syscall;

/* How expressions read the events of this run; the run owns it. */
struct expr_source *dump_expr_source(struct dump *);
/* Called when the run's first event is known; --diff calls it for each of its two runs. */
void dump_expr_begin(struct dump *);

/* hint.c: tells which members of the option's expression no probe of the stream has. */
void hint_members(struct dump *, const char *option, const struct expr *);
/* Tells which probes and members of --pair the stream lacks; a lacking member makes status
   an error. */
void hint_pairs(struct dump *);
/* Tells which of the processes or threads named by "-p" or "--tid" had no event. */
struct selectors;
void hint_tasks(struct dump *, const char *option, const struct selectors *,
    bool threads);

#endif
