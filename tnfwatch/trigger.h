/*
 * trigger.h - when does something fire?
 *
 * A trigger is a name and an expression (tnfwatch.conf(5), "Triggers").  The engine
 * is fed with the events of each source, in the order of that source's time, and
 * with the time that passes; the engine calls back when a trigger fires.  The daemon handles
 * limits, windows, incidents and commands.  The engine prints nothing, and serves one thread.
 *
 * A source is one process, one file, or the kernel, with a stream of its own: an expression
 * is compiled for each source, as its probes differ.  A source that ends must be
 * closed before its stream is.
 */
#ifndef TNFWATCH_TRIGGER_H
#define TNFWATCH_TRIGGER_H

#include <sys/types.h>

#include <tnf/stream.h>

/* The probe of tnf_incident(3). */
#define TRIGGER_INCIDENT_PROBE	"tnf_incident"

struct trigger_engine;
struct trigger_source;

struct trigger_error {
	size_t	offset;		/* in bytes, of what is wrong in the text */
	char	text[200];	/* "fact: remedy" */
};

/* One firing.  All of it is valid during the call only. */
struct trigger_firing {
	unsigned	 trigger;	/* as trigger_add() has returned */
	int64_t		 time;		/* ns, CLOCK_MONOTONIC: of the event, or of
					   the moment at which it became true */
	void		*source;	/* the client's, of trigger_source_open();
					   NULL: of no one source */
	const struct tnf_event *event;	/* that fired it; NULL: none did.  For state(),
					   the event that began it: in a ring, its
					   record may be overwritten by now */
	const char	*reason;	/* a sentence: "order took 231.4 ms" */
	const struct trigger_span *span;	/* NULL: it was fired by no span */
};

/* The start of a span that fired, as it was recorded. */
struct trigger_span {
	const struct tnf_event *start;
	unsigned	 n;
	const struct tnf_value *values;	/* of the start's members */
};

typedef void trigger_fired_fn(void *arg, const struct trigger_firing *);

/* Functions by which the engine asks about a source; NULL: not known. */
struct trigger_source_ops {
	/* The name of the thread or process of an event; NULL: unknown. */
	const char *(*comm)(void *source, const struct tnf_event *);
	/* For the kernel: does the event belong to a process of this section?  With event NULL: does
	   a process of it live? */
	bool (*is_of)(void *source, const char *section, const struct tnf_event *);
};

/* NULL: out of memory. */
struct trigger_engine *trigger_engine_new(trigger_fired_fn *, void *arg);
void trigger_engine_free(struct trigger_engine *);

/* Adds a trigger; its number (from 0), or -1 and *err says why.  An empty or NULL
   text: it never fires by itself.  All are added before the first source is opened. */
int trigger_add(struct trigger_engine *, const char *name, const char *when,
    struct trigger_error *err);

/* The trigger is only about sources of this name, and about what the kernel records of their
   processes; NULL: about all.  Called before the first
   source is opened. */
void trigger_about(struct trigger_engine *, int number, const char *of);

/* The section whose sources the text takes together ("of workers"), which the caller frees;
   NULL: it takes none together. */
char *trigger_section(const char *when);

/* 'source' is the client's and comes back in firings.  kernel: states of threads
   can be told from it.  NULL: out of memory. */
struct trigger_source *trigger_source_open(struct trigger_engine *, void *source,
    const char *name, pid_t, bool kernel, const struct trigger_source_ops *);
/* The process of the source has ended: no event is missed from it any more. */
void trigger_source_ended(struct trigger_source *);
/* Closes the source; spans that are open in it do not fire any more. */
void trigger_source_close(struct trigger_source *);

/* The source records the probe from 'now' on: silence() and too low a rate() are
   counted from there, otherwise from the first event of the probe. */
void trigger_expect(struct trigger_source *, const char *probe, int64_t now);

/* True if the trigger is about events of this probe.  With probe NULL: true if it is about
   events at all. */
bool trigger_concerns(const struct trigger_source *, unsigned trigger, const struct tnf_probe *);

/* Are events of this probe to be fed?  Others change nothing, except that the first event of all
   tells from when on the name "elapsed" counts. */
bool trigger_wants(struct trigger_source *, const struct tnf_probe *);

/* Feeds the next event of the source, in order of time. */
void trigger_event(struct trigger_source *, const struct tnf_event *);
/* The same for an event of before the source was watched: it fires nothing, but a span that it
   begins is open from then on. */
void trigger_past(struct trigger_source *, const struct tnf_event *);
/* The source is not fed for a while, although it goes on, or is fed again: events of the time between
   are as lost ones. */
void trigger_source_rests(struct trigger_source *, bool);
/* n events of the source have been lost since the last call.  Spans that are open in the
   source are forgotten, as their ends may be among the lost events. */
void trigger_lost(struct trigger_source *, uint64_t n);
/* A watched process has ended: 'status' as of wait(2), or -1: not known.  The
   source is still open; NULL: it has none. */
void trigger_ended(struct trigger_engine *, struct trigger_source *, const char *comm,
    pid_t, int status, int64_t now);
/* Tells that time has passed: all events of all sources up to 'now' (CLOCK_MONOTONIC, ns) have
   been fed.  Must be called at least ten times a second. */
void trigger_tick(struct trigger_engine *, int64_t now);

#endif /* TNFWATCH_TRIGGER_H */
