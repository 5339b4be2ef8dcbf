/*
 * pairs.h - pairs of events that begin and end something.
 *
 * One matcher serves --pair, --stats, --tree and the formats of trace viewers.  A rule
 * names the probe that starts, the probe that ends, and the members that tell instances
 * apart; a rule without members pairs within a thread, where the last started ends first.
 */
#ifndef ANALYSIS_PAIRS_H
#define ANALYSIS_PAIRS_H

#include <tnf/stream.h>

#define PAIR_KEYS_MAX	4
#define PAIR_OPEN_MAX	(1u << 20)	/* started and not ended; no further ones start */

enum pair_role { PAIR_NONE, PAIR_START, PAIR_END };

/*
 * The answers of filters about an event: its thread and CPU were asked for (KEEP_WHO), its
 * time (KEEP_WHEN), its probe and members (KEEP_WHAT).
 *
 * All events are fed, whatever the answers, since an end may be written by another thread
 * than its start, and at any time.  A pair is kept if the start is KEEP_WHO and KEEP_WHEN,
 * and the start or the end is KEEP_WHAT.
 */
enum keep { KEEP_WHO = 1, KEEP_WHEN = 2, KEEP_WHAT = 4, KEEP_ALL = 7 };

struct pair_rule {
	const char	*name;		/* of the slice: "syscall" */
	const char	*start;		/* probe name; NULL: any with an ending of endings[] */
	const char	*end;
	const char	*keys[PAIR_KEYS_MAX];	/* members; none: the thread */
	bool		 async;		/* may overlap, and end in another thread */
	const char	*text;		/* as given to pairs_add(); NULL: built in */
};

/* A start with its end. */
struct pair_slice {
	const struct pair_rule *rule;
	const char	*name;		/* rule's, or the common part of the names */
	const struct tnf_event *start;	/* until the next event is fed */
	uint64_t	 start_at;	/* number of the start among events fed, from 1 */
	int64_t		 duration;	/* ns */
	uint64_t	 id;		/* of the instance, for async rules */
	bool		 start_kept;	/* the filters keep the start as an event */
	bool		 kept;		/* the pair is kept; of a start: so far */
	void		**user;		/* the client's, NULL at first; stays with the start until
					   its end; NULL: orphans */
};

struct pairs;

/* Has the built-in rules; pairs_add() adds others. */
struct pairs *pairs_new(void);
void pairs_free(struct pairs *);

/* Copies the rules (NULL: the built-in ones); the copy has nothing open. */
struct pairs *pairs_copy_rules(const struct pairs *);

/* Sets the stream that is fed, before the first event.  A probe whose name has the ending
   of an end then ends something only if the stream has a probe that would start it. */
void pairs_of(struct pairs *, tnf_stream_t *);
/* That stream knows all its probes by now, as one that is followed does not.  A probe whose name has
   the ending of a start then starts something only if the stream has a probe that would end it. */
void pairs_complete(struct pairs *);

/* Adds a rule "start,end[,member...]".  Returns 0, or -1 and *reterr says why (constant
   text). */
int pairs_add(struct pairs *, const char *text, const char **reterr);

/*
 * For a stream that does not end: when 'max' starts are open, the oldest gives way to the
 * next, instead of matching coming to an end.  'dropped' (may be NULL) is called for each
 * start that is forgotten, here and by the functions below, with the client's pointer.
 */
void pairs_endless(struct pairs *, size_t max,
    void (*dropped)(void *arg, void **user), void *arg);

/* Forgets all open starts, because their ends may have been lost.  tnfwatch calls this after a loss of
   events.  Those of the kernel are forgotten without a call where its trace shows a gap. */
void pairs_forget(struct pairs *);
/* Forgets open starts of the event's thread, for rules where the thread tells instances
   apart. */
void pairs_forget_thread(struct pairs *, const struct tnf_event *);

/* The name of the slices that the probe's events begin or end; NULL: neither. */
const char *pairs_span(struct pairs *, const struct tnf_probe *);

/* The role of the probe's events, if they have the members of the probe's rule. */
enum pair_role pairs_role(struct pairs *, const struct tnf_probe *);
/* True if events of these probes begin and end the same slices, which only threads tell apart. */
bool pairs_match(struct pairs *, const struct tnf_probe *start, const struct tnf_probe *end);

/* The i-th rule of pairs_add(), from 0; NULL: there are no more, or no pairs. */
const struct pair_rule *pairs_rule(const struct pairs *, unsigned i);

/*
 * Feeds the next event in order of time, with the filters' answers (enum keep).
 * PAIR_START: *ret has rule, name, start and id.  PAIR_END: *ret is complete; if the start
 * was not seen (it was before the trace), rule is NULL.
 */
enum pair_role pairs_feed(struct pairs *, const struct tnf_event *, unsigned keep,
    struct pair_slice *ret);

struct pairs_counts {
	uint64_t open;		/* kept starts without an end so far */
	uint64_t awaited;	/* starts without an end so far whose pairs may be kept */
	uint64_t orphans;	/* kept ends without a start */
	uint64_t cut;		/* kept starts of the kernel that were forgotten, because events are
				   missing between them and any end that follows (gaps.h) */
};

const struct pairs_counts *pairs_counts(const struct pairs *);
/* Each kept start without an end so far, the oldest first. */
void pairs_each_open(const struct pairs *,
    void (*fn)(void *arg, const struct pair_slice *), void *arg);
/* Those of them whose client's pointer is NULL, if it was set for all that began before them. */
void pairs_each_new(const struct pairs *,
    void (*fn)(void *arg, const struct pair_slice *), void *arg);

#endif
