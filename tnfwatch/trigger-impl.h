/*
 * trigger-impl.h - what the parts of the trigger engine share.
 *
 * A trigger has one function of the language at most, which is a row of the table in
 * trigger-kinds.c, and a condition, which is an ordinary expression.  For each source the
 * trigger has an instance ('struct watch'), because an expression knows probes of one
 * stream.
 */
#ifndef TNFWATCH_TRIGGER_IMPL_H
#define TNFWATCH_TRIGGER_IMPL_H

#include "analysis/expr/expr.h"
#include "analysis/pairs.h"
#include "analysis/attrs.h"
#include "analysis/states.h"
#include "tnfwatch/trigger.h"

#define WHEN_ARGS_MAX	(2 + PAIR_KEYS_MAX)
#define NEVER		INT64_MAX

/* Limits of what is remembered for one source.  The oldest gives way. */
#define OPEN_MAX_KERNEL	65536u
#define OPEN_MAX	16384u
#define THREADS_MAX	65536u
#define PROBES_MAX	65536u		/* those after them are not looked at */
#define RATE_EVENTS_MAX	1000000u	/* rate times window */

struct trigger_kind;
struct ending;

/* The parsed text of a trigger. */
struct when {
	const struct trigger_kind *kind;
	char		*args[WHEN_ARGS_MAX];
	unsigned	 n_args;
	size_t		 arg_offset[WHEN_ARGS_MAX];
	size_t		 offset;	/* of the function's name */
	bool		 more;		/* > or >=; else < or <= */
	bool		 equal;		/* >= or <= */
	double		 number;	/* compared with; with usual, so many times that */
	int64_t		 time;		/* ... where that is a time, ns */
	bool		 usual;		/* "> 2 * usual" */
	int64_t		 window;	/* that is counted, ns */
	int64_t		 hold;		/* "for" so long, ns; 0: at once */
	bool		 until;		/* "until < NUMBER": it recovers only there */
	double		 until_number;
	int64_t		 until_time;
	bool		 until_equal;
	char		*of;		/* the section whose sources are taken together; or NULL */
	double		 quantile;	/* of p99() */
	unsigned	 state;		/* of state() */
	char		*condition;	/* of the same columns; NULL: none */
};

struct trigger {
	char		*name;
	char		*of;		/* the only section whose sources it is about; or NULL */
	unsigned	 number;
	bool		 manual;	/* it has no text */
	struct when	 when;
	struct trigger	*next;
};

/* An event, as an instance is fed with it. */
struct feed {
	const struct tnf_event *ev;
	enum pair_role	 role;		/* of the source's own pairs */
	struct pair_slice slice;
};

/* The start of a span, kept until the span ends: in a ring, the record may be
   overwritten by then. */
struct span_start {
	struct tnf_event ev;
	void		*due;		/* chain of those that wait for its time */
	unsigned	 n;
	struct tnf_value values[];	/* of its members; texts lie behind them */
};

/* A span as expressions see it: an event with the members of its end and then those of its
   start, of the thread that began it. */
struct span_event {
	struct tnf_event ev;		/* first */
	const struct tnf_event *end;	/* NULL: it is open */
	const struct span_start *start;
};

/* The members of both ends of a span. */
struct span_probe {
	struct span_probe *next;
	const struct tnf_probe *start, *end;
	struct tnf_probe both;
};

struct due;

/* Spans that wait for their time; those that began first are at the head. */
struct due_list {
	struct due	*head, *tail;
	struct due	*spare;
	size_t		 n;
};

struct due {
	struct due	*next, *before;
	struct due	*sibling;	/* another one of the same instance */
	struct due_list	*list;
	int64_t		 since;
	uint64_t	 tid;		/* of state() */
	uint32_t	 thread;
	struct tnf_event ev;		/* that began it */
	const struct span_start *start;	/* of open() */
};

/* A trigger in a source. */
struct watch {
	const struct trigger *trigger;
	struct trigger_source *source;
	const char	*section;	/* in the kernel: only events of this section's processes;
					   NULL: all */
	struct watch	*total;		/* that takes what several sources count together; or NULL */
	struct expr	*condition;	/* or NULL */
	struct expr	*about;		/* the same, if it is about the source alone; or NULL */
	struct due_list	 due;		/* open, state */
	struct pairs	*pairs;		/* of its own, or NULL: the source's */
	bool		 of_pairs;	/* it asks those of the source */
	uint64_t	 lost;
	/* rate, silence: times of the last events, a ring. */
	int64_t		*times;
	size_t		 n_times, room, at;
	size_t		 wanted;	/* so many in the window decide ... */
	size_t		 calm;		/* ... and whether it has recovered */
	int64_t		*late;		/* of a total: times that are not in order yet */
	size_t		 n_late, late_room;
	int64_t		 since;		/* it is counted from here on */
	int64_t		 changed;	/* since when there have been as many as are wanted,
					   without a break */
	int64_t		 few;		/* since when there are fewer, or will be */
	struct percentile *percentile;	/* of p99() */
	bool		 armed;
	bool		 counts;	/* since is set */
};

/* The watches and tables that are fed with events of one probe. */
struct probe_use {
	bool		 known;
	bool		 pairs, states;	/* to be fed */
	bool		 exits;		/* a thread ends */
	bool		 special;	/* ... or another reason to look at source_special() */
	int		 sysnum;	/* a system call begins: its number's member, or -1 */
	enum pair_role	 role;		/* in the source's own pairs */
	int64_t		 least;		/* shorter spans that end here are nothing to any of the
					   watches; of a start: they may be due then */
	const struct tnf_probe *start;	/* that such a span began with, if it is known */
	unsigned	 n;
	struct watch	**watches;
};

struct trigger_source {
	struct trigger_source *next, *before;
	struct trigger_engine *engine;
	void		*client;
	char		*name;
	pid_t		 pid;
	bool		 kernel;
	struct trigger_source_ops ops;
	struct expr_source events;	/* its events as expressions see them */
	struct expr_source both;	/* ... with both ends of spans */
	struct span_probe *span_probes;
	unsigned	 n_span_probes;
	bool		 past;		/* being fed with what was before: nothing fires */
	bool		 ended;		/* its process: nothing is missed any more */
	bool		 rests;		/* it is not fed, whatever comes */
	struct expr_source facts;	/* ... when there is no event */
	const struct tnf_event *now;	/* being fed */
	struct watch	*watches;	/* by number of the trigger */
	unsigned	 n_watches;
	struct perprobe	 uses;		/* struct probe_use */
	struct pairs	*pairs;		/* or NULL: no trigger needs it */
	struct tnf_event begun;		/* a span, which the pairs are not told before it has to be;
					   its probe is NULL: there is none */
	struct states	*states;	/* or NULL */
	int64_t		 deadline;	/* nothing is due before */
};

/* In order of the triggers' numbers. */
#define EACH_WATCH(s, w) \
	for (struct watch *w = (s)->watches; w < (s)->watches + (s)->n_watches; w++)

struct trigger_engine {
	trigger_fired_fn *fired;
	void		*arg;
	struct trigger	*first, **end;
	unsigned	 n;
	struct trigger_source *sources;
	struct trigger_source *nowhere;	/* of what has no source; not in the list */
	struct trigger_source *total;	/* of what several sources count together; not either */
	int64_t		 now;		/* the latest time that was told */
};

/* A function of the language.  NULL: nothing to do. */
struct trigger_kind {
	const char	*name;		/* NULL: an expression alone */
	const char	*usage;
	unsigned	 args_min, args_max;
	enum { COMPARE_NONE, COMPARE_MORE, COMPARE_ANY } compare;
	bool		 time;		/* compared with a time, else a number */
	bool		 window;	/* takes a window, "for", "until", and "of" */
	bool		 sums;		/* takes "of" alone */
	bool		 usual;		/* may be compared with what is usual */
	bool		 pairs, states;	/* the source is to have them */
	enum pair_role	 only;		/* of these pairs event() needs such events; PAIR_NONE: both */
	bool		 limit;		/* a span that is shorter than the time is nothing to event() */
	bool		 members;	/* the condition may name members */
	bool		 past;		/* what began before it was watched counts, too */
	/* false: *err has text and offset. */
	bool	(*check)(struct when *, struct trigger_error *err);
	void	(*open)(struct watch *);
	/* Must event() get the probe's events? */
	bool	(*concerns)(struct watch *, const struct tnf_probe *);
	void	(*event)(struct watch *, const struct feed *);
	/* A span that began is still open when source_settle() looks. */
	void	(*begun)(struct watch *, const struct pair_slice *);
	void	(*state)(struct watch *, const struct state_span *, bool left,
		    void **user);
	/* Fires if a time is due; returns the time at which it wants to be called next. */
	int64_t	(*run)(struct watch *, int64_t now);
	void	(*expect)(struct watch *, const char *probe, int64_t now);
	void	(*lost)(struct watch *, uint64_t n, int64_t now);
	void	(*ended)(struct watch *, const struct ending *);
	void	(*forget)(struct watch *);
};

/* trigger-kinds.c: 0 is that of an expression alone; NULL: no more. */
const struct trigger_kind *trigger_kind(unsigned i);
extern const struct trigger_kind trigger_duration, trigger_open, trigger_state, trigger_rate,
    trigger_silence, trigger_percentile, trigger_ended_kind;
/* True if the name is that of a percentile: p50, p99, p999.  *ret is the part of 1. */
bool trigger_percentile_name(const char *name, size_t len, double *ret);

/* trigger-parse.c */
bool when_parse(const char *text, struct when *, struct trigger_error *err);
void when_free(struct when *);
bool when_fail(struct trigger_error *, size_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* trigger-span.c.  'chain' holds those of one pair or thread. */
void due_drop(void **chain);
void due_free(struct due_list *);		/* all chains have been dropped */
/* Adds, and saturates. */
static inline int64_t
time_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}
/* The time at which a span that began at 'since' has lasted for as long as the trigger says. */
static inline int64_t
due_when(const struct when *when, int64_t since)
{
	return time_add(time_add(since, when->time), when->equal ? 0 : 1);
}

/* trigger-span.c, for percentiles: the rules of a watch with pairs of its own. */
bool span_check(struct when *, struct trigger_error *);
void span_open(struct watch *);
bool span_concerns(struct watch *, const struct tnf_probe *);
void span_forget(struct watch *);
const struct pair_slice *span_slice(struct watch *, const struct feed *, struct pair_slice *own,
    enum pair_role *);
/* True if the condition holds for the span that ends at the event. */
bool span_holds(struct watch *, const struct pair_slice *, const struct tnf_event *end);

/* The start of an open span, which is kept from the first call on. */
struct span_start *span_start_of(const struct pair_slice *);
void span_probes_free(struct trigger_source *);
bool span_member(const struct tnf_event *, unsigned, struct tnf_value *);
/* Drops what a pair's user pointer holds. */
void span_start_drop(void **user);

/* trigger-rate.c: takes the times that came from several sources, in order. */
void rate_settle(struct watch *);

/* trigger-percentile.c */
void percentile_free(struct percentile *);	/* NULL is fine */

/* trigger.c */
void trigger_fire(struct watch *, int64_t time, const struct tnf_event *, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a span: ev is its end, or NULL. */
void trigger_fire_span(struct watch *, int64_t time, const struct tnf_event *ev,
    const struct span_start *, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* "1.5 s", "231.4 ms". */
#define TIME_TEXT 32
const char *time_text(char buf[TIME_TEXT], int64_t ns);
/* " in redis-server (812/815)", for a reason. */
#define WHO_TEXT 96
const char *who_text(char buf[WHO_TEXT], const struct watch *, const struct tnf_event *);

/* trigger-kinds.c: expressions about facts that are no events. */
extern struct tnf_probe trigger_fact_probe;	/* without members */
void trigger_fact(const struct trigger_source *, int64_t now, struct tnf_event *ret);
struct ending {				/* behind an event of trigger_ending_probe */
	struct tnf_event ev;		/* first */
	int		 values[3];	/* signal, status, core */
	const char	*comm;		/* or NULL */
	bool		 known;		/* the values are */
};
extern struct tnf_probe trigger_ending_probe;
void facts_source(struct expr_source *ret, struct trigger_source *);
bool trigger_has_ending_member(const char *name);

/* trigger-source.c */
struct trigger_source *source_new(struct trigger_engine *, void *client, const char *name,
    pid_t, bool kernel, const struct trigger_source_ops *);
void source_free(struct trigger_source *);
void source_forget(struct trigger_source *);
void source_event(struct trigger_source *, const struct tnf_event *);
/* Keeps the starts of spans that are open: what was fed may be overwritten soon. */
void source_settle(struct trigger_source *);
void source_run(struct trigger_source *, int64_t now);

/* trigger.c */
/* True if the event is one of those that the watch is about.  NULL: true if there can be any. */
static inline bool
watch_is_about(const struct watch *w, const struct tnf_event *ev)
{
	return w->section == NULL ||
	    w->source->ops.is_of(w->source->client, w->section, ev);
}
static inline bool
watch_holds(struct watch *w, const struct tnf_event *ev)
{
	return watch_is_about(w, ev) && (w->condition == NULL || expr_true(w->condition, ev));
}
/* Notes that the watch may have something due at 'deadline'. */
static inline void
watch_until(struct watch *w, int64_t deadline)
{
	if (deadline < w->source->deadline)
		w->source->deadline = deadline;
}
bool probe_matches(const struct when *, unsigned arg, const char *name);

#endif /* TNFWATCH_TRIGGER_IMPL_H */
