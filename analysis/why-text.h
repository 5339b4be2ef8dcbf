/*
 * why-text.h - the words for an explanation: causes and their sums, verdict, tree, JSON.
 *
 * tnfdump, the page, tnfwatch and Python all print these, so that the answer is the same.
 */
#ifndef ANALYSIS_WHY_TEXT_H
#define ANALYSIS_WHY_TEXT_H

#include "analysis/why.h"
#include "common/map.h"
#include "common/xalloc.h"

/* The time of each cause over some trees; zeroed: none. */
struct why_sum {
	struct why_sum *next;
	const char *text;		/* not ended by a NUL */
	size_t	 len;
	int64_t	 ns;			/* of all trees together */
	uint64_t in;			/* trees in which it takes more than 5 % */
	int64_t	 now;			/* of the tree that is being added */
};

struct why_sums {
	struct map by_text;
	struct why_sum *first;
	uint64_t n;			/* trees */
};

void why_sums_add(struct why_sums *, struct why *, const struct why_tree *);
struct why_sum *why_sum_of(struct why_sums *, const char *text, size_t len);	/* made if new */
void why_sums_free(struct why_sums *);

/* The typical instances that the verdict compares with; NULL, or one without trees: there are none. */
void why_put_verdict(struct why *, struct out *, const struct why_tree *,
    struct why_sums *typical);
/* A line of an explanation: one node, or short pieces in a row from that node on. */
struct why_line {
	const struct why_node *node;
	int64_t	 from, ns;
	unsigned depth;			/* from 0 */
	const char *text;		/* not ended by a NUL */
	size_t	 len;
};

typedef void why_line_fn(void *arg, const struct why_line *);
/* Calls 'line' for each line of the tree, from top to bottom; short pieces are put together. */
void why_lines(struct why *, const struct why_tree *, why_line_fn *line, void *arg);
/* Lines with the time from 'zero' on and the duration in ms, as wide as a terminal. */
void why_put_tree(struct why *, struct out *, const struct why_tree *, int64_t zero);
/* The tree as an object: {"thread":...,"from":...,"to":...,"kind":...,...,"children":[...]} */
void why_put_json(struct why *, struct out *, const struct why_tree *);

/* One node: its words, and the threads and disks in it. */
void why_put_leaf(struct why *, struct out *, const struct why_node *, bool numbers);
void why_put_thread(struct why *, struct out *, uint32_t thread, int64_t time, bool number);
const char *why_thing(const struct why_node *);		/* "a lock (futex)" */
const char *why_kind_name(enum why_kind);
const char *why_reason_name(const struct why_node *);	/* NULL: none */
const char *why_waker_name(enum why_waker);		/* "timer"; NULL: not told */

/* The name of the disk of a node's request, valid until the next call; NULL: not known. */
const char *why_disk(struct why *, const struct why_node *);

/* The function in which half of the samples of the node's time, or more, were taken; NULL: there
   is none.  *spins: nearly all are within a few instructions, as of a loop that waits. */
const char *why_hot(struct why *, const struct why_node *, bool *spins);

#endif
