/*
 * probe-list.h - a list of patterns that probes are chosen by: decided once for
 * each probe.
 */
#ifndef ANALYSIS_PROBE_LIST_H
#define ANALYSIS_PROBE_LIST_H

#include <tnf/stream.h>

/* Of zeros at first. */
struct probe_list {
	bool		by_key;		/* patterns are of keys, not of names */
	char		**patterns;
	unsigned	n;
	unsigned char	*verdicts;	/* by probe id */
	unsigned	n_verdicts;
};

/* Adds the patterns of "a,b*"; false: one is empty. */
bool probe_list_add(struct probe_list *, const char *list);
/* Events of another stream come.  The first pattern that none of its probes matches,
   or NULL; a stream without probes has them all. */
const char *probe_list_begin(struct probe_list *, tnf_stream_t *);
bool probe_list_has(struct probe_list *, const struct tnf_probe *);
void probe_list_free(struct probe_list *);	/* what it holds, not itself */

#endif
