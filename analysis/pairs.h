/*
 * pairs.h - which events begin something and which end it.
 *
 * One matcher serves --pair, --stats, --tree and the trace viewers' formats.
 * A rule names the probe that starts and the one that ends, and the members
 * that tell instances apart; a rule without members pairs within a thread,
 * last started first ended.
 */
#ifndef ANALYSIS_PAIRS_H
#define ANALYSIS_PAIRS_H

#include <tnf/stream.h>

#define PAIR_KEYS_MAX	4
#define PAIR_OPEN_MAX	(1u << 20)	/* started and not ended; no further ones start */

enum pair_role { PAIR_NONE, PAIR_START, PAIR_END };

/*
 * What filters say of an event: it is of a thread and CPU that was asked for, of a time
 * that was asked for, and what was asked for (its probe and members).
 *
 * All events are fed, whatever filters say of them, since an end may be written by another
 * thread than its start, and at any time.  What lies between is kept if the start is KEEP_WHO
 * and KEEP_WHEN, and start or end is KEEP_WHAT.
 */
enum keep { KEEP_WHO = 1, KEEP_WHEN = 2, KEEP_WHAT = 4, KEEP_ALL = 7 };

struct pair_rule {
	const char	*name;		/* of what lies between: "syscall" */
	const char	*start;		/* probe name; NULL: any with an ending of endings[] */
	const char	*end;
	const char	*keys[PAIR_KEYS_MAX];	/* members; none: the thread */
	bool		 async;		/* may overlap, and end in another thread */
	const char	*text;		/* as given to pairs_add(); NULL: built in */
};

/* A start that found its end. */
struct pair_slice {
	const struct pair_rule *rule;
	const char	*name;		/* rule's, or the common part of the names */
	const struct tnf_event *start;	/* until the next event is fed */
	uint64_t	 start_at;	/* it was the n-th event fed, from 1 */
	int64_t		 duration;	/* ns */
	uint64_t	 id;		/* of the instance, for async rules */
	bool		 start_kept;	/* the filters keep the start as an event */
	bool		 kept;		/* ... and what lies between; of a start, so far */
	void		**user;		/* the client's, NULL at first: stays with the
					   start until its end; NULL: orphans */
};

struct pairs;

/* Built-in rules only, unless pairs_add() is called. */
struct pairs *pairs_new(void);
void pairs_free(struct pairs *);

/* The same rules (NULL: built-in ones), nothing open. */
struct pairs *pairs_copy_rules(const struct pairs *);

/* The stream that is fed: what would end something by the ending of its name does so if
   the stream has a probe that would start it.  Before the first event. */
void pairs_of(struct pairs *, tnf_stream_t *);

/* "start,end[,member...]".  0, or -1 and *reterr says why (constant text). */
int pairs_add(struct pairs *, const char *text, const char **reterr);

/*
 * For a stream that does not end: when 'max' are open, the oldest gives way to the
 * next one, instead of ending the matching.  'dropped' (may be NULL) is told of each
 * start that is forgotten, here and below, with what the client has left there.
 */
void pairs_endless(struct pairs *, size_t max,
    void (*dropped)(void *arg, void **user), void *arg);

/* Forgets what is open: ends may have been lost. */
void pairs_forget(struct pairs *);
/* ... of the thread that wrote the event, where the thread tells instances apart. */
void pairs_forget_thread(struct pairs *, const struct tnf_event *);

/* The name of what the probe's events begin or end; NULL: neither. */
const char *pairs_span(struct pairs *, const struct tnf_probe *);

/* The rules of pairs_add(), from i = 0 on; NULL: no more, or no pairs. */
const struct pair_rule *pairs_rule(const struct pairs *, unsigned i);

/*
 * Feeds the next event in time order, and what filters say of it (enum keep).  PAIR_START:
 * *ret has rule, name, start and id.  PAIR_END: all of it; or, if the start was not seen (it
 * lies before the trace), rule is NULL.
 */
enum pair_role pairs_feed(struct pairs *, const struct tnf_event *, unsigned keep,
    struct pair_slice *ret);

/* Starts without an end so far that are kept: how many, and each of them, oldest first. */
size_t pairs_open(const struct pairs *);
void pairs_each_open(const struct pairs *,
    void (*fn)(void *arg, const struct pair_slice *), void *arg);
uint64_t pairs_orphans(const struct pairs *);	/* ends without a start, kept */
/* Starts without an end so far with which it may be kept. */
size_t pairs_awaited(const struct pairs *);

#endif
