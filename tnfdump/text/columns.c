/*
 * columns.c - lines of columns that the user chooses.
 */
#include <string.h>

#include "tnfdump/text/color.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/input.h"
#include "tnfdump/options.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"

#define LIST_MAX	(sizeof(((struct columns *)0)->list) / sizeof(void *))
#define CLASSIC		"elapsed,delta,pid,lwpid,tid,cpu,probe,args"

static struct columns layout;
static bool chosen, two_line, no_header;

static const struct column *
columns_find(const char *name, size_t len)
{
	const struct column *c;

	for (c = column_rows; c->name != NULL; c++) {
		if (strlen(c->name) == len && memcmp(c->name, name, len) == 0)
			return c;
	}
	return NULL;
}

static void
take_out(const struct column *c)
{
	unsigned i, k = 0;

	for (i = 0; i < layout.n; i++) {
		if (layout.list[i] != c)
			layout.list[k++] = layout.list[i];
	}
	layout.n = k;
}

/* Added columns come before what has no width. */
static int
put_in(const struct column *c, bool before_last)
{
	unsigned at = layout.n;

	take_out(c);
	at = layout.n;
	if (layout.n == LIST_MAX)
		return options_wrong("columns", "too many columns");
	while (before_last && c->width > 0 && at > 0 &&
	    layout.list[at - 1]->width == 0)
		at--;
	memmove(&layout.list[at + 1], &layout.list[at],
	    (layout.n - at) * sizeof(layout.list[0]));
	layout.list[at] = c;
	layout.n++;
	return 0;
}

static int
columns_unknown(const char *name, size_t len)
{
	char names[512] = "";
	const struct column *c;
	size_t n = 0;

	for (c = column_rows; c->name != NULL; c++) {
		n += strlen(c->name) + 1;
		if (n >= sizeof(names))
			break;
		strcat(strcat(names, " "), c->name);
	}
	return options_wrong("columns", "no column \"%.*s\": there are%s",
	    (int)len, name, names);
}

static int
columns_apply(const char *word, size_t len)
{
	char sign = len > 0 && (*word == '+' || *word == '-') ? *word : 0;
	const struct column *c;

	if (sign != 0) {
		word++;
		len--;
	}
	if (len == 3 && memcmp(word, "all", 3) == 0 && sign == 0) {
		for (c = column_rows; c->name != NULL; c++) {
			if (put_in(c, false) != 0)
				return -1;
		}
		return 0;
	}
	c = columns_find(word, len);
	if (c == NULL)
		return columns_unknown(word, len);
	if (sign == '-') {
		take_out(c);
		return 0;
	}
	return put_in(c, sign == '+');
}

static int
apply_list(const char *list)
{
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (columns_apply(list, len) != 0)
			return -1;
		if (list[len] == '\0')
			return 0;
	}
}

/* A list that starts with a sign changes what is there. */
int
columns_set(struct dump *d, const char *list)
{
	if (*list != '+' && *list != '-')
		layout.n = 0;
	else if (layout.n == 0 && apply_list(CLASSIC) != 0)
		return -1;
	if (apply_list(list) != 0)
		return -1;
	if (layout.n == 0)
		return options_wrong("columns", "no column is left");
	chosen = true;
	return 0;
}

int
two_line_set(struct dump *d, const char *arg)
{
	two_line = true;
	return 0;
}

int
no_header_set(struct dump *d, const char *arg)
{
	no_header = true;
	return 0;
}

bool
columns_no_header(void)
{
	return no_header;
}

bool
columns_definitions(void)
{
	return !no_header && !chosen && !two_line;
}

bool
columns_asked(void)
{
	return chosen || two_line;
}

bool
columns_wanted(const struct dump *d)
{
	return columns_asked() || no_header || d->pretty || color_wanted(d);
}

/* On the second of two lines? */
static bool
is_second(const struct column *c)
{
	return two_line && c->width == 0;
}

static void
put_title(const struct column *c, bool last)
{
	struct out *o = layout.o;
	unsigned n = (unsigned)strlen(c->title);

	if (!c->left && n < c->width)
		out_pad(o, c->width - n);
	out_str(o, c->title);
	if (c->left && n < c->width && !last)
		out_pad(o, c->width - n);
}

static void
put_rule(const struct column *c)
{
	unsigned i, n = c->width > 0 ? c->width : 24;

	for (i = 0; i < n; i++)
		out_char(layout.o, '-');
}

static void
put_header_line(bool titles)
{
	const char *between = "";
	unsigned i;

	if (layout.color)
		color_on(layout.o, COLOR_HEADER);
	for (i = 0; i < layout.n; i++) {
		if (is_second(layout.list[i]))
			continue;
		out_str(layout.o, between);
		between = " ";
		if (titles)
			put_title(layout.list[i], i + 1 == layout.n);
		else
			put_rule(layout.list[i]);
	}
	if (layout.color)
		color_off(layout.o);
	out_char(layout.o, '\n');
}

static bool
has_wall(struct dump *d)
{
	int64_t offset;
	unsigned i;

	for (i = 0; i < d->n_inputs; i++)
		if (d->inputs[i].file != NULL &&
		    origin_clock(d, d->inputs[i].file, &offset))
			return true;
	return false;
}

int
columns_begin(struct dump *d)
{
	layout.d = d;
	layout.o = &d->out;
	layout.color = color_wanted(d);
	if (layout.n > 0)
		return 0;
	/* For people, the time of day; files of the original writers do not tell it. */
	if (d->pretty && has_wall(d) && apply_list("wall") != 0)
		return -1;
	return apply_list(CLASSIC);
}

static void
put_column(unsigned i, const struct tnf_event *ev)
{
	layout.at = i;
	layout.list[i]->print(&layout, ev);
}

static int
columns_event(struct dump *d, const struct tnf_event *ev)
{
	const char *between = "";
	bool second = false;
	unsigned i;

	if (d->events == 0 && !no_header) {
		put_header_line(false);
		put_header_line(true);
		put_header_line(false);
	}
	for (i = 0; i < layout.n; i++) {
		if (is_second(layout.list[i])) {
			second = true;
			continue;
		}
		out_str(layout.o, between);
		between = " ";
		put_column(i, ev);
	}
	out_char(layout.o, '\n');
	if (!second)
		return 0;
	out_pad(layout.o, 8);
	for (i = 0, between = ""; i < layout.n; i++) {
		if (!is_second(layout.list[i]))
			continue;
		out_str(layout.o, between);
		between = " ";
		put_column(i, ev);
	}
	out_char(layout.o, '\n');
	return 0;
}

static int
columns_end(struct dump *d)
{
	columns_times_free(&layout);
	return 0;
}

const struct output columns_output = {
	.name = "columns", .help = "", .begin = columns_begin,
	.event = columns_event, .end = columns_end,
};
