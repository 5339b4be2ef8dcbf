/*
 * why-pairs.h - the instances of a pair: which are typical, which are slow, and why.
 */
#ifndef ANALYSIS_WHY_PAIRS_H
#define ANALYSIS_WHY_PAIRS_H

#include "analysis/pairs.h"
#include "analysis/why-text.h"

#define WHY_FEW		10u	/* fewer slow ones are an anecdote */

struct why_instance {
	const char *name;		/* of the slice; equal names share one address */
	struct tnf_event start;
	int64_t	 took;			/* ns */
	uint32_t thread;		/* that began it */
	uint32_t key;			/* of its members; 0: a pair within one thread */
};

struct why_pairs;

struct why_pairs *why_pairs_new(struct why *);
void why_pairs_free(struct why_pairs *);
struct why *why_pairs_index(const struct why_pairs *);

/* Called for each event after why_feed(), with what pairs_feed() has told about it.  The
   event has the numbers of the machine. */
void why_pairs_feed(struct why_pairs *, const struct tnf_event *, enum pair_role,
    const struct pair_slice *);

/*
 * Chooses a pair after the last event: by the name of its slices, or by that without its
 * ending ("_start", and underscores at the end).  NULL: the pair of a process with the
 * longest total time, or if there is none of the kernel.  Returns its name, or NULL: there is
 * no such pair.  Instances that began before the trace was complete are left out.
 */
const char *why_pairs_choose(struct why_pairs *, const char *name);
/* The names that could be chosen, i from 0; NULL: no more. */
const char *why_pairs_name(struct why_pairs *, unsigned i);

/* The length of a pair's name without "_start" and the like, and underscores before. */
size_t why_bare_name(const char *);

/* The chosen ones, from the shortest to the longest. */
struct why_instance *const *why_pairs_all(const struct why_pairs *, size_t *n);
/* How many instances had ended before, of all pairs that are kept. */
size_t why_instance_nth(const struct why_pairs *, const struct why_instance *);
uint64_t why_pairs_left_out(const struct why_pairs *);

/* True if a member of the instance's start has this value, as text. */
bool why_instance_has(const struct why_instance *, const char *value);

struct why_tree why_pairs_explain(struct why_pairs *, const struct why_instance *);

/* The causes of the typical instances: those of the 40th to 60th percentile, at most 200. */
struct why_sums *why_pairs_typical(struct why_pairs *);
int64_t why_pairs_typical_took(struct why_pairs *);	/* their mean, ns */
/* The slowest hundredth, at least 3: index of the first of them in why_pairs_all(). */
size_t why_pairs_slow(const struct why_pairs *);

/* Head ("request 5.1 ms, server 812; typical 0.2 ms (20 seen)"), verdict and what is to be
   said about the trace. */
void why_put_instance(struct why_pairs *, struct out *, const struct why_instance *,
    const struct why_tree *);
/* The table of causes, typical against slow; as one line of JSON if asked for. */
void why_put_table(struct why_pairs *, struct out *, bool json);

#endif
