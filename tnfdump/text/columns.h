/*
 * columns.h - lines of columns that the user chooses.
 */
#ifndef TNFDUMP_TEXT_COLUMNS_H
#define TNFDUMP_TEXT_COLUMNS_H

#include "tnfdump/tnfdump.h"

struct columns;

/*
 * A column.  print() writes the value, at most 'width' wide if possible, and pads it unless
 * the column is the last.
 */
struct column {
	const char *name;	/* of --columns */
	const char *title;
	unsigned    width;	/* 0: as long as it gets */
	bool	    left;	/* aligned */
	void	  (*print)(struct columns *, const struct tnf_event *);	/* NULL: 'text' is printed */
	const char *help;
	const char *(*text)(void *dump, const struct tnf_event *);	/* NULL: not known */
};

/* columns-list.c; ends with a row without name. */
extern const struct column column_rows[];

/* The state of a run; columns-list.c owns 'times'. */
struct columns {
	struct dump	*d;
	struct out	*o;
	const struct column *list[64];
	unsigned	 n;
	unsigned char	 width[64];	/* asked for, by place in column_rows; 0: the column's own */
	bool		 chosen, two_line, no_header;	/* by options */
	unsigned	 at;		/* the column that is being printed */
	bool		 color;
	struct times	*times;		/* by thread and probe */
};

static inline unsigned
column_width(const struct columns *l, const struct column *c)
{
	unsigned width = l->width[c - column_rows];

	return width != 0 ? width : c->width;
}

enum color { COLOR_OFF, COLOR_HEADER, COLOR_TIME, COLOR_PROBE, COLOR_MEMBER, COLOR_ERROR };

int columns_set(struct dump *, const char *list);	/* options */
int color_set(struct dump *, const char *when);
int two_line_set(struct dump *, const char *);
int words_set(struct dump *, const char *list);		/* -O */
int no_header_set(struct dump *, const char *);

/* True if --columns or --two-line chose another layout. */
bool columns_asked(const struct dump *);
/* True if any option needs more than the classic output can do. */
bool columns_wanted(const struct dump *);
bool columns_no_header(const struct dump *);	/* --no-header */
/* True if the definitions of probes come first, as in the classic output. */
bool columns_definitions(const struct dump *);
int columns_begin(struct dump *);
void columns_free(struct dump *);
extern const struct output columns_output;	/* takes over from "text" */

extern const char *const color_sequences[];	/* by enum color */

/* Text from here on has the colour, if output is coloured at all. */
static inline void
columns_color(struct columns *c, enum color color)
{
	if (c->color)
		out_str(c->o, color_sequences[color]);
}

/* columns-list.c */
void columns_times_free(struct columns *);
void column_print(struct columns *, const struct tnf_event *);	/* the column list[at] */
bool column_asks_around(const struct column *);	/* origin.h */

#endif
