/*
 * pipeline.h - stream -> filters -> output, the options that filter, and following.
 */
#ifndef TNFDUMP_PIPELINE_H
#define TNFDUMP_PIPELINE_H

#include "analysis/expr/expr.h"
#include "analysis/pairs.h"
#include "tnfdump/tnfdump.h"

/*
 * A filter.  start() is called when all files are open (probes known, dump->first set) and
 * returns 0, or -1 after dump_error(); --diff calls it for each file.  end() is called
 * after the last event, if there was any event.  see() is shown the events that an earlier
 * filter dropped, so that the filter can tell at the end which of the names asked for are
 * nowhere in the trace.  'asks': the questions that the filter answers (enum keep).
 */
struct filter {
	const char *option;	/* the option that made it */
	bool	(*keep)(void *arg, const struct tnf_event *);
	void	(*see)(void *arg, const struct tnf_event *);	/* or NULL */
	int	(*start)(void *arg, struct dump *);
	void	(*end)(void *arg, struct dump *);	/* or NULL */
	void	(*free)(void *arg);	/* or NULL */
	void	*arg;
	unsigned asks;
	struct filter *next;
};

/*
 * An output format: a row in outputs.c.  begin() is called once when all files are open,
 * with or without events; event() for each event that the filters kept; end() once.
 * dump->first and dump->previous serve for elapsed and delta; previous is first at the
 * first event.  Each returns 0, or -1 after a message: then only end() is called any more,
 * and after begin() only if dump->state is set.
 */
struct output {
	const char *name;	/* of --to */
	const char *help;
	int	(*begin)(struct dump *);
	int	(*event)(struct dump *, const struct tnf_event *);
	int	(*end)(struct dump *);
	bool	own_files;	/* writes to --output itself */
	const char *needs_path;	/* message if there is no --output; NULL: none needed */
	bool	all;		/* event() also gets events that filters drop (dump->keep tells):
				   pairs and states need them */
	bool	whole;		/* and also events of blocks before --from */
	bool	pretty;		/* --pretty makes a difference */
	bool	any_order;	/* events are independent, so --reverse can be used */
	bool	sums;		/* tells only sums, for which events may come in any order */
};

/* outputs.c; ends with a row without name. */
extern const struct output outputs[];
const struct output *output_find(const char *name);	/* NULL: unknown */
/* Chooses the output by an option; returns 0, or -1 after options_wrong() if another option
   chose another output. */
int output_choose(struct dump *, const char *option, const struct output *);

/* Adds a copy of the filter; its arg is zeroed memory of that size, or NULL if the size is 0. */
struct filter *pipeline_add_filter(struct dump *, const struct filter *,
    size_t arg_size);
/* The arg of the option's filter, which is added unless it is there. */
void *pipeline_filter_arg(struct dump *, const struct filter *, size_t arg_size);
void pipeline_free_filters(struct dump *);
/* For outputs that get all events: true if the event passes the filters of thread, CPU and
   time.  Nothing that is kept begins before the first such event, so times may be counted
   from it. */
bool pipeline_zero(const struct dump *);
/* Reads all events; dump->status tells the result. */
void pipeline_run(struct dump *);

/* --reverse: the latest event first. */
int reverse_set(struct dump *, const char *);
void reverse_free(struct dump *);

/* raw.c: prints every record of the files, in file order (-r). */
void raw_run(struct dump *, char **paths);

/*
 * The options that filter events.
 *
 * Giving an option again adds to its list; an event is kept if the filters of all options
 * keep it.  A name that is not in the trace is told, with the name that was probably meant.
 */

int where_set(struct dump *, const char *expr);
int process_set(struct dump *, const char *list);	/* pids, names */
int probe_set(struct dump *, const char *list);		/* shell patterns */
int key_set(struct dump *, const char *list);
int cpu_set(struct dump *, const char *list);		/* 0-3,8 */
int tid_set(struct dump *, const char *list);		/* numbers, names */
int from_set(struct dump *, const char *time);
/* True if all events of the file are outside of what --from and --until (as @NS) choose, and the
   output needs nothing else of the file.  Compressed files need memory as long as they are read. */
bool filter_time_leaves_out(const struct dump *, const void *base, size_t size);
int until_set(struct dump *, const char *time);
int last_set(struct dump *, const char *duration);


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

/*
 * --follow FILE|PID|kernel: events as they are committed.
 */

struct kp;
struct live;

/* The longest time from an event's time to its commit in the file; also the longest delay
   of the output. */
#define FOLLOW_DELAY_NS		100000000

int follow_set(struct dump *, const char *what);

/* Finds the targets and waits until each has its first record.  false: a target was refused
   or ended without any record, and the reason was told. */
bool follow_open(struct dump *);
/* Waits for more; false: the targets have ended and everything is read. */
bool follow_wait(struct dump *);
void follow_close(struct dump *);

/* follow_what() names the targets: "kernel, 4711"; follow_missed() counts the blocks so far
   that were overwritten before they were read. */
void follow_what(const struct dump *, char *buf, size_t size);
uint64_t follow_missed(const struct dump *);

/* The live source for the target behind an input; NULL: the writer of the file has ended,
   or the input is not followed. */
struct live *follow_live(struct dump *, const struct tnf_file *);

/* live.c: maps the kernel's buffer; returns 0, or an errno after a message. */
int follow_map_kernel(struct dump *, struct kp **, const void **base, size_t *size);

/* --cursor: the file that tells where a later --follow goes on. */
int cursor_set(struct dump *, const char *path);

#endif
