/*
 * columns.c - lines of columns that the user chooses.
 */
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/columns.h"

#define LIST_MAX	(sizeof(((struct columns *)0)->list) / sizeof(void *))
#define WIDTH_MAX	200u
#define HOSTS		"elapsed,delta,order,host,pid,lwpid,tid,cpu,probe,args"
#define CLASSIC		"elapsed,delta,pid,lwpid,tid,cpu,probe,args"

static struct columns *
columns_of(struct dump *d)
{
	if (d->columns == NULL)
		d->columns = tnf_xcalloc(1, sizeof(*d->columns));
	return d->columns;
}

static const struct column *
columns_find(const char *name, size_t len)
{
	for (const struct column *c = column_rows; c->name != NULL; c++)
		if (strlen(c->name) == len && memcmp(c->name, name, len) == 0)
			return c;
	return NULL;
}

static void
take_out(struct columns *l, const struct column *c)
{
	unsigned i, k = 0;

	for (i = 0; i < l->n; i++)
		if (l->list[i] != c)
			l->list[k++] = l->list[i];
	l->n = k;
}

/* Inserts a column; 'before_last' puts it before the columns without a width. */
static int
put_in(struct columns *l, const struct column *c, bool before_last)
{
	unsigned at = l->n;

	take_out(l, c);
	at = l->n;
	if (l->n == LIST_MAX)
		return options_wrong("columns", "too many columns");
	while (before_last && column_width(l, c) > 0 && at > 0 &&
	    column_width(l, l->list[at - 1]) == 0)
		at--;
	memmove(&l->list[at + 1], &l->list[at],
	    (l->n - at) * sizeof(l->list[0]));
	l->list[at] = c;
	l->n++;
	return 0;
}

static int
columns_unknown(const char *name, size_t len)
{
	char names[512] = "";
	size_t n = 0;

	for (const struct column *c = column_rows; c->name != NULL; c++) {
		n += strlen(c->name) + 1;
		if (n >= sizeof(names))
			break;
		strcat(strcat(names, " "), c->name);
	}
	return options_wrong("columns", "no column \"%.*s\": there are%s",
	    (int)len, name, names);
}

static int
columns_apply(struct columns *l, const char *word, size_t len)
{
	char sign = len > 0 && (*word == '+' || *word == '-') ? *word : 0;
	const char *colon = memchr(word, ':', len);
	const struct column *c;
	unsigned long width = 0;

	if (colon != NULL) {
		char *end;
		width = strtoul(colon + 1, &end, 10);
		if (width == 0 || width > WIDTH_MAX || end != word + len || sign == '-')
			return options_wrong("columns", "a width is 1 to %u, behind the name: \"%.*s\"",
			    WIDTH_MAX, (int)len, word);
		len = (size_t)(colon - word);
	}

	if (sign != 0) {
		word++;
		len--;
	}
	if (len == 3 && memcmp(word, "all", 3) == 0 && sign == 0) {
		for (c = column_rows; c->name != NULL; c++)
			if (put_in(l, c, false) != 0)
				return -1;
		return 0;
	}
	c = columns_find(word, len);
	if (c == NULL)
		return columns_unknown(word, len);
	if (sign == '-') {
		take_out(l, c);
		return 0;
	}
	if (width > 0 && c->width == 0)
		return options_wrong("columns", "%s takes the room that there is: no width", c->name);
	l->width[c - column_rows] = (unsigned char)width;
	return put_in(l, c, sign == '+');
}

static int
apply_list(struct columns *l, const char *list)
{
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (columns_apply(l, list, len) != 0)
			return -1;
		if (list[len] == '\0')
			return 0;
	}
}

/* A list that starts with + or - changes the present list. */
int
columns_set(struct dump *d, const char *list)
{
	struct columns *l = columns_of(d);

	if (*list != '+' && *list != '-')
		l->n = 0;
	else if (l->n == 0 && apply_list(l, d->hosts != NULL ? HOSTS : CLASSIC) != 0)
		return -1;
	if (apply_list(l, list) != 0)
		return -1;
	if (l->n == 0)
		return options_wrong("columns", "no column is left");
	l->chosen = true;
	return 0;
}

int
two_line_set(struct dump *d, const char *arg)
{
	columns_of(d)->two_line = true;
	return 0;
}

int
no_header_set(struct dump *d, const char *arg)
{
	columns_of(d)->no_header = true;
	return 0;
}

int
color_set(struct dump *d, const char *when)
{
	if (when == NULL || strcmp(when, "always") == 0)
		d->color = COLOR_ALWAYS;
	else if (strcmp(when, "auto") == 0)
		d->color = COLOR_AUTO;
	else if (strcmp(when, "never") == 0)
		d->color = COLOR_NEVER;
	else
		return options_wrong("color",
		    "auto, always or never expected: \"%s\"", when);
	return 0;
}

/* True if output is coloured.  auto: standard output is a terminal that can show colour,
   and NO_COLOR is not set. */
static bool
color_wanted(const struct dump *d)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (d->color != COLOR_AUTO)
		return d->color == COLOR_ALWAYS;
	if (no != NULL && *no != '\0')
		return false;
	return term != NULL && *term != '\0' && strcmp(term, "dumb") != 0 &&
	    d->out.fd >= 0 && isatty(d->out.fd);
}

const char *const color_sequences[] = {
	[COLOR_OFF] = "\033[0m",
	[COLOR_HEADER] = "\033[1m",
	[COLOR_TIME] = "\033[2m",
	[COLOR_PROBE] = "\033[1;36m",
	[COLOR_MEMBER] = "\033[34m",
	[COLOR_ERROR] = "\033[1;31m",
};

bool
columns_no_header(const struct dump *d)
{
	return d->columns != NULL && d->columns->no_header;
}

bool
columns_definitions(const struct dump *d)
{
	return !columns_no_header(d) && !columns_asked(d);
}

bool
columns_asked(const struct dump *d)
{
	return d->columns != NULL && (d->columns->chosen || d->columns->two_line);
}

bool
columns_wanted(const struct dump *d)
{
	return d->hosts != NULL || columns_asked(d) || columns_no_header(d) || d->pretty ||
	    color_wanted(d);
}

/* True if the column is on the second of two lines. */
static bool
is_second(const struct columns *l, const struct column *c)
{
	return l->two_line && column_width(l, c) == 0;
}

static void
put_title(struct columns *l, const struct column *c, bool last)
{
	struct out *o = l->o;
	unsigned n = (unsigned)strlen(c->title);

	if (!c->left && n < column_width(l, c))
		tnf_out_pad(o, column_width(l, c) - n);
	out_str(o, c->title);
	if (c->left && n < column_width(l, c) && !last)
		tnf_out_pad(o, column_width(l, c) - n);
}

static void
put_rule(struct columns *l, const struct column *c)
{
	unsigned i, n = column_width(l, c) > 0 ? column_width(l, c) : 24;

	for (i = 0; i < n; i++)
		out_char(l->o, '-');
}

static void
put_header_line(struct columns *l, bool titles)
{
	const char *between = "";

	columns_color(l, COLOR_HEADER);
	for (unsigned i = 0; i < l->n; i++) {
		if (is_second(l, l->list[i]))
			continue;
		out_str(l->o, between);
		between = " ";
		if (titles)
			put_title(l, l->list[i], i + 1 == l->n);
		else
			put_rule(l, l->list[i]);
	}
	columns_color(l, COLOR_OFF);
	out_char(l->o, '\n');
}

static bool
has_wall(struct dump *d)
{
	int64_t offset;

	for (unsigned i = 0; i < d->n_inputs; i++)
		if (d->inputs[i].file != NULL &&
		    origin_clock(d, d->inputs[i].file, &offset))
			return true;
	return false;
}

int
columns_begin(struct dump *d)
{
	struct columns *l = columns_of(d);

	l->d = d;
	l->o = &d->out;
	l->color = color_wanted(d);
	for (unsigned i = 0; i < l->n; i++)
		if (column_asks_around(l->list[i]))
			around_want(d);
	if (l->n > 0)
		return 0;
	/* --pretty also shows the time of day, except for files of the original writers,
	   which lack it. */
	if (d->pretty && has_wall(d) && apply_list(l, "wall") != 0)
		return -1;
	return apply_list(l, d->hosts != NULL ? HOSTS : CLASSIC);
}

/* Prints the columns of the first or the second line. */
static void
put_line(struct columns *l, const struct tnf_event *ev, bool second)
{
	const char *between = "";

	for (unsigned i = 0; i < l->n; i++) {
		if (is_second(l, l->list[i]) != second)
			continue;
		out_str(l->o, between);
		between = " ";
		l->at = i;
		column_print(l, ev);
	}
	out_char(l->o, '\n');
}

static int
columns_event(struct dump *d, const struct tnf_event *ev)
{
	struct columns *l = d->columns;
	bool second = false;

	if (d->events == 0 && !l->no_header) {
		put_header_line(l, false);
		put_header_line(l, true);
		put_header_line(l, false);
	}
	put_line(l, ev, false);
	for (unsigned i = 0; i < l->n; i++)
		second |= is_second(l, l->list[i]);
	if (second) {
		tnf_out_pad(l->o, 8);
		put_line(l, ev, true);
	}
	return 0;
}

static int
columns_end(struct dump *d)
{
	columns_times_free(d->columns);
	return 0;
}

void
columns_free(struct dump *d)
{
	free(d->columns);
	d->columns = NULL;
}

const struct output columns_output = {
	.name = "columns", .help = "", .begin = columns_begin,
	.event = columns_event, .end = columns_end,
};

/*
 * -O: the words by which trcrpt of AIX chose columns.
 */

/* In the order in which trcrpt printed them; what it always printed follows. */
static const struct {
	const char *word, *column;
} words[] = {
	{ "exec", "program" }, { "cpuid", "cpu" }, { "pid", "pid" }, { "tid", "lwpid" }, { "svc", "syscall" },
};

#define N_WORDS	(sizeof(words) / sizeof(*words))

/* Words that need another option here, or none. */
static const struct {
	const char *word, *instead;
} others[] = {
	{ "2line", "wanted: 2line=on or 2line=off" },
	{ "timestamp", "wanted: timestamp=0 (elapsed and delta), 1 or 2 (elapsed), 3 (none)" },
	{ "starttime", "--from has the time, in seconds as --from 1.5s" },
	{ "endtime", "--until has the time, in seconds as --until 1.5s" },
	{ "ids", "probes have names and no ids" },
	{ "filename", "the column src has the file and the line of the probe" },
	{ "hist", "--stats counts the events" },
	{ "pagesize", "pages are of a printer: pr(1) makes them" },
	{ "removedups", "what several files have is printed once" },
	{ "cpu", "--cpu keeps the events of processors" },
};

static int
words_wrong(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strlen(others[i].word) == n && strncmp(others[i].word, word, n) == 0)
			return options_wrong("words", "%s: %s", word, others[i].instead);
	return options_wrong("words", "%s: there are exec pid tid cpuid svc 2line (=on, =off) and "
	    "timestamp (=0 to 3)", word);
}

/* One word with its value; 'chosen' has a bit for each row of words[]. */
static int
words_one(struct dump *d, const char *word, unsigned *chosen, unsigned *timestamp)
{
	const char *value = strchr(word, '=');
	bool on = value != NULL && strcmp(value, "=on") == 0;

	if (strncmp(word, "timestamp=", 10) == 0 && word[10] >= '0' && word[10] <= '3' && word[11] == '\0') {
		*timestamp = (unsigned)(word[10] - '0');
		return 0;
	}
	if (!on && (value == NULL || strcmp(value, "=off") != 0))
		return words_wrong(word);
	if (strncmp(word, "2line=", 6) == 0)
		return on ? two_line_set(d, NULL) : 0;
	for (size_t i = 0; i < N_WORDS; i++) {
		size_t n = strlen(words[i].word);
		if (strncmp(word, words[i].word, n) == 0 && word[n] == '=') {
			*chosen = on ? *chosen | 1u << i : *chosen & ~(1u << i);
			return 0;
		}
	}
	return words_wrong(word);
}

int
words_set(struct dump *d, const char *list)
{
	static const char *const times[] = { "elapsed,delta,", "elapsed,", "elapsed,", "" };
	char *copy = tnf_xstrdup(list), *rest = copy, *word, columns[128] = "";
	unsigned chosen = 0, timestamp = 0;
	int rc = 0;

	while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
		rc = words_one(d, word, &chosen, &timestamp);
	free(copy);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < N_WORDS; i++)
		if ((chosen & 1u << i) != 0)
			strcat(strcat(columns, words[i].column), ",");
	strcat(strcat(columns, times[timestamp]), "probe,args");
	return columns_set(d, columns);
}
