/*
 * pipeline.h - stream -> filters -> output.
 */
#ifndef TNFDUMP_PIPELINE_H
#define TNFDUMP_PIPELINE_H

#include "analysis/pairs.h"
#include "tnfdump/tnfdump.h"

/*
 * A filter.  'start', if any, is called when all files are open (probes known,
 * dump->first set) and returns 0, or -1 after dump_error(); --diff does so for
 * each file.  'end', if any, after the last event, if there was one at all.
 * 'see', if any, is shown the events that a filter before this one dropped, so that
 * it can say in the end which of the names asked for are nowhere in the trace.
 * 'asks': what for (enum keep).
 */
struct filter {
	const char *option;	/* that made it */
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
 * An output format: a row in outputs.c.  begin() is called once when all
 * files are open, with or without events; event() for each event that the
 * filters kept; end() once.  dump->first and dump->previous serve for
 * elapsed and delta; previous is first at the first event.  They return 0,
 * or -1 after a message: no further call but end(), and after begin() that
 * only if it has set dump->state.
 */
struct output {
	const char *name;	/* of --to */
	const char *help;
	int	(*begin)(struct dump *);
	int	(*event)(struct dump *, const struct tnf_event *);
	int	(*end)(struct dump *);
	bool	own_files;	/* writes to --output itself */
	const char *needs_path;	/* what is said where there is no --output; NULL: it may be left out */
	bool	all;		/* event() gets those that filters drop, too: dump->keep tells;
				   what begins and ends, and states, need them */
	bool	whole;		/* ... also those of blocks before --from */
	bool	pretty;		/* --pretty makes a difference */
	bool	any_order;	/* each event stands for itself: --reverse */
};

/* outputs.c; ends with a row without name. */
extern const struct output outputs[];
const struct output *output_find(const char *name);	/* NULL: unknown */
/* By an option; 0, or -1 after options_wrong(): another option chose another. */
int output_choose(struct dump *, const char *option, const struct output *);

/* Its copy, with an arg of its own: zeros of that size, or NULL if that is 0. */
struct filter *pipeline_add_filter(struct dump *, const struct filter *,
    size_t arg_size);
/* The arg of the option's filter: of the one that is there, or of such a one, added. */
void *pipeline_filter_arg(struct dump *, const struct filter *, size_t arg_size);
void pipeline_free_filters(struct dump *);
/* Where times may begin to count, for an output that gets all events: what is kept, and
   what it begins, is not earlier than this event. */
bool pipeline_zero(const struct dump *);
/* All events; dump->status says how it went. */
void pipeline_run(struct dump *);

#endif
