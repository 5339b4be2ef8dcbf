/*
 * html.h - the data of an HTML report: columns of numbers after a JSON text that tells the
 * place of each.
 */
#ifndef TNFDUMP_TO_HTML_H
#define TNFDUMP_TO_HTML_H

#include "analysis/pairs.h"
#include "analysis/states.h"
#include "common/map.h"
#include "tnfdump/tnfdump.h"

#define HTML_NONE	UINT32_MAX	/* no such event, no such thread */

/* A column of numbers of one kind: "u32", "f64" ... as html/data.js calls them. */
struct html_column {
	const char	*kind;
	size_t		 width;		/* bytes of a number */
	struct out	 bytes;
};

void html_column_init(struct html_column *, const char *kind, size_t width);
void html_column_free(struct html_column *);

static inline void
html_column_add(struct html_column *c, const void *number)
{
	out_room(&c->bytes);
	memcpy(c->bytes.p, number, c->width);
	c->bytes.p += c->width;
}

/* Times that grow mostly: the distance from a base, and those that do not fit in a column of their
   own ("late"), where HTML_NONE stands. */
static inline void
html_time_add(struct html_column *small, struct html_column *late, int64_t time, int64_t base)
{
	int64_t delta = time - base;
	uint32_t n = delta >= 0 && delta < HTML_NONE ? (uint32_t)delta : HTML_NONE;
	double whole = (double)time;

	html_column_add(small, &n);
	if (n == HTML_NONE)
		html_column_add(late, &whole);
}

/* Columns with names, which a part of the page's data consists of. */
struct html_kind {
	const char *name, *kind;
	size_t	 width;
};

void html_columns_init(struct html_column *, const struct html_kind *, unsigned n);
void html_columns_free(struct html_column *, unsigned n);

/* Stores a column and writes ["kind",offset,count]. */
typedef void html_put_fn(void *arg, struct out *, struct html_column *);
/* Writes "name":["kind",offset,count],... */
void html_columns_json(struct html_column *, const struct html_kind *, unsigned n, struct out *,
    html_put_fn *, void *arg);

/* A set of texts, numbered from 1; 0 means no text. */
struct html_strings {
	struct map	 numbers;	/* text -> uint32_t */
	struct out	 json;		/* "a","b", ... */
};

void html_strings_init(struct html_strings *);
void html_strings_free(struct html_strings *);
uint32_t html_strings_number(struct html_strings *, const char *, size_t);

/* The threads of the page, which are its lanes. */
struct html_thread_key {
	int32_t	 pid;
	uint32_t lwpid;
	uint64_t tid;		/* of a thread that never wrote itself; else 0 */
	uint64_t host;
};

struct html_threads;
struct html_threads *html_threads_new(struct dump *);
void html_threads_free(struct html_threads *);
/* The thread's number, from 0; its name comes from the event, which may be NULL. */
uint32_t html_thread(struct html_threads *, struct html_thread_key, const struct tnf_event *);
uint32_t html_thread_writer(struct html_threads *, const struct tnf_event *);
const struct out *html_threads_json(const struct html_threads *);

/* The columns of members: one for each member of each probe. */
struct html_members;

struct html_members *html_members_new(struct dump *, struct html_strings *);
void html_members_free(struct html_members *);
/* The probe's number, from 0; the first call notes its name and members. */
uint32_t html_members_probe(struct html_members *, const struct tnf_event *);
void html_members_add(struct html_members *, const struct tnf_event *);
/* Writes "names":[...],"probes":[...] with each column's place. */
void html_members_json(struct html_members *, struct out *, html_put_fn *, void *arg);

/* Slices and states, which have a beginning and an end, sorted by thread and time. */
struct html_spans;

struct html_spans *html_spans_new(struct html_threads *);
void html_spans_free(struct html_spans *);
/* 'begin' and 'end' are numbers of events, or HTML_NONE. */
void html_spans_slice(struct html_spans *, const struct pair_slice *, uint32_t thread,
    uint32_t begin, uint32_t end);
void html_spans_state(struct html_spans *, const struct state_span *);
/* Sorts, after the last event; times are counted from 'first'. */
void html_spans_sort(struct html_spans *, int64_t first);
/* The place, after sorting, of the n-th slice that was added. */
uint32_t html_spans_place(const struct html_spans *, size_t nth);
/* Writes "spans":[...] and the columns. */
void html_spans_json(struct html_spans *, struct out *, html_put_fn *, void *arg);

/* Why: who woke whom, and the explanations of slices as --why has them. */
struct html_why;

struct html_why *html_why_new(struct dump *);
void html_why_free(struct html_why *);
/* Called for each event, with the answer of pairs_feed(). */
void html_why_event(struct html_why *, const struct tnf_event *, enum pair_role,
    const struct pair_slice *);
/* After the last event, when the slices are sorted. */
void html_why_end(struct html_why *, struct html_threads *, const struct html_spans *,
    int64_t first);
void html_why_json(struct html_why *, struct out *, html_put_fn *, void *arg);

#endif
