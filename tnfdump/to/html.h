/*
 * html.h - the data of an HTML report: columns of numbers after a JSON text that tells the
 * place of each.
 */
#ifndef TNFDUMP_TO_HTML_H
#define TNFDUMP_TO_HTML_H

#include "common/map.h"
#include "tnfdump/tnfdump.h"

/* A column of numbers of one kind: "u32", "f64" ... as 1-data.js calls them. */
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

/* A set of texts, numbered from 1; 0 means no text. */
struct html_strings {
	struct map	 numbers;	/* text -> uint32_t */
	struct out	 json;		/* "a","b", ... */
};

void html_strings_init(struct html_strings *);
void html_strings_free(struct html_strings *);
uint32_t html_strings_number(struct html_strings *, const char *, size_t);

/* The columns of members: one for each member of each probe. */
struct html_members;

struct html_members *html_members_new(struct dump *, struct html_strings *);
void html_members_free(struct html_members *);
/* The probe's number, from 0; the first call notes its name and members. */
uint32_t html_members_probe(struct html_members *, const struct tnf_probe *);
void html_members_add(struct html_members *, const struct tnf_event *);
/* Writes "probes":[...] with each column's place; 'put' stores a column and writes
   ["kind",offset,count]. */
void html_members_json(struct html_members *, struct out *,
    void (*put)(void *arg, struct out *, const struct html_column *), void *arg);

#endif
