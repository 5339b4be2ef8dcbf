/*
 * match.h - the criteria of filters: patterns, sets of numbers, lists of probes, processes.
 */
#ifndef ANALYSIS_MATCH_H
#define ANALYSIS_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/stream.h>


#define MATCH_TEXT_MAX 512u

struct match;

/* Compiles a regular expression; NULL: *wrong says why not (valid until the next call). */
struct match *match_new(const char *pattern, bool ignore_case,
    const char **wrong);
void match_free(struct match *);
bool match_test(const struct match *, const char *chars, size_t len);

/* True if a shell pattern (* ? [...]) matches the whole of 'text'. */
bool match_glob(const char *pattern, const char *text);

/* A set of numbers, written "0-3,8". */
struct ranges {
	struct { uint64_t low, high; } *r;
	unsigned n;
};

/* Adds a list of numbers; false: it is malformed. */
bool ranges_add(struct ranges *, const char *list);
bool ranges_has(const struct ranges *, uint64_t);

/* Patterns that choose probes; each probe is decided once.  Zeroed at first. */
struct probe_list {
	bool		by_key;		/* patterns are of keys, not of names */
	char		**patterns;
	unsigned	n;
	unsigned char	*verdicts;	/* by probe id */
	unsigned	n_verdicts;
};

/* Adds the patterns of "a,b*"; false: a pattern is empty. */
bool probe_list_add(struct probe_list *, const char *list);
/* Begins another stream.  Returns the first pattern that matches none of its probes, or
   NULL, as for a stream without probes. */
const char *probe_list_begin(struct probe_list *, tnf_stream_t *);
bool probe_list_has(struct probe_list *, const struct tnf_probe *);
void probe_list_free(struct probe_list *);	/* frees the contents only */

/* A word of a list of processes or threads.  It remembers whether it matched anything: a word
   that matches nothing is more often a mistake than not. */
struct selector {
	char		*text;		/* "0-3", "sh*" */
	struct ranges	 numbers;	/* none: it is a name */
	bool		 hit;		/* something matched */
};

struct selectors {
	struct selector	*s;
	unsigned	 n, n_hit, n_names;
};

/* Adds the words of a list; names are shell patterns.  false: a word is empty, or it is no
   number and names are not allowed. */
bool selectors_add(struct selectors *, const char *list, bool names);
bool selectors_number(struct selectors *, uint64_t);
bool selectors_name(struct selectors *, const char *);
void selectors_forget(struct selectors *);	/* forgets which selectors matched */
void selectors_free(struct selectors *);

#endif
