/*
 * diff.c - --diff: two traces compared, and with --fail-on conditions that fail a build.
 *
 * Each file goes through the filters alone, into statistics of its own; rows of the two are
 * matched by their text.
 */
#include "common/text.h"
#include "tnfdump/report/report.h"

enum figure {
	FIG_COUNT, FIG_RATE, FIG_TOTAL, FIG_MIN, FIG_MEAN, FIG_P50, FIG_P90,
	FIG_P99, FIG_MAX, FIG_SD, FIG_NONE
};

struct condition {
	const char	*text;
	enum figure	 figure;
	char		 group[256];	/* row's text, or its first word */
	char		 op[3];		/* > >= < <= */
	bool		 change;	/* the number had a sign */
	bool		 percent;
	double		 number;	/* percent, ns, or a plain count */
};

static const char *const figures[] = {
	"count", "rate", "total", "min", "mean", "p50", "p90", "p99", "max", "sd",
};

static const struct {
	const char *name;
	double	    ns;
} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

static const char *
condition_skip(const char *s)
{
	return s + strspn(s, " \t");
}

static const char *
parse_figure(struct condition *c, const char **at)
{
	const char *s = condition_skip(*at), *open = strchr(s, '('), *close;

	if (open == NULL || (close = strchr(open, ')')) == NULL)
		return "wanted: figure(group), such as p99(syscall)";
	size_t n = (size_t)(open - s);
	c->figure = FIG_NONE;
	for (unsigned i = 0; i < FIG_NONE; i++)
		if (strlen(figures[i]) == n && strncmp(s, figures[i], n) == 0)
			c->figure = (enum figure)i;
	if (c->figure == FIG_NONE)
		return "no such figure: count, rate, total, min, mean, p50, p90, p99, max, sd";
	n = (size_t)(close - open - 1);
	if (n == 0 || n >= sizeof(c->group))
		return "wanted the name of a pair or probe in parentheses";
	memcpy(c->group, open + 1, n);
	c->group[n] = '\0';
	*at = condition_skip(close + 1);
	return NULL;
}

static const char *
condition_parse_number(struct condition *c, const char *s)
{
	char *end;

	c->change = *s == '+' || *s == '-';
	c->number = strtod(s, &end);
	if (end == s)
		return "wanted a number behind the operator";
	c->percent = *end == '%';
	if (c->percent)
		return c->change && *condition_skip(end + 1) == '\0' ? NULL :
		    "percent need a sign: +10%";
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(end, units[i].name) == 0) {
			c->number *= units[i].ns;
			return NULL;
		}
	return "unknown unit: %, ns, us, ms, s";
}

/* Returns NULL, or a constant text that says what is wrong. */
static const char *
condition_parse(struct condition *c, const char *text)
{
	const char *s = text, *error;

	c->text = text;
	if ((error = parse_figure(c, &s)) != NULL)
		return error;
	size_t n = strspn(s, "<>=");
	if (n == 0 || n > 2 || *s == '=' || (n == 2 && s[1] != '='))
		return "wanted one of: > >= < <=";
	memcpy(c->op, s, n);
	c->op[n] = '\0';
	return condition_parse_number(c, condition_skip(s + n));
}

/* Value of a figure in a row: ns, or events, or events a second. */
static double
figure_value(enum figure f, const struct stats_row *r, double seconds)
{
	if (r == NULL)
		return 0;
	const struct histogram *h = &r->took;
	switch (f) {
	case FIG_COUNT:	return (double)r->count;
	case FIG_RATE:	return seconds > 0 ? (double)r->count / seconds : 0;
	case FIG_TOTAL:	return h->total;
	case FIG_MIN:	return (double)h->min;
	case FIG_MEAN:	return (double)histogram_mean(h);
	case FIG_P50:	return (double)histogram_percentile(h, 50);
	case FIG_P90:	return (double)histogram_percentile(h, 90);
	case FIG_P99:	return (double)histogram_percentile(h, 99);
	case FIG_SD:	return histogram_deviation(h);
	default:	return (double)h->max;
	}
}

static bool
condition_names(const struct condition *c, const struct stats_row *r)
{
	size_t n = strlen(c->group);

	return r->len >= n && memcmp(r->text, c->group, n) == 0 &&
	    (r->len == n || r->text[n] == ' ');
}

static bool
condition_holds(const struct condition *c, double before, double after)
{
	double v = after;

	if (c->change) {
		v = after - before;
		if (c->percent && before == 0 && after == 0)
			v = 0;
		else if (c->percent)
			v = before == 0 ? 1e300 : v / before * 100;
	}
	if (c->op[0] == '>')
		return c->op[1] == '=' ? v >= c->number : v > c->number;
	return c->op[1] == '=' ? v <= c->number : v < c->number;
}

#define CONDITIONS_MAX	16

struct conditions {
	struct condition list[CONDITIONS_MAX];
	unsigned n;
};

struct side {
	struct dump	 d;		/* a run of its own */
	struct stats	*stats;
	struct stats_row **row;
	size_t		 n;
};

int
diff_fail_on(struct dump *d, const char *text)
{
	if (d->conditions == NULL)
		d->conditions = tnf_xcalloc(1, sizeof(*d->conditions));
	struct conditions *c = d->conditions;
	if (c->n == CONDITIONS_MAX)
		return options_wrong("fail-on", "more than %d conditions", CONDITIONS_MAX);
	const char *error = condition_parse(&c->list[c->n], text);
	if (error != NULL)
		return options_wrong("fail-on", "%s: %s", text, error);
	c->n++;
	d->diff = true;
	return 0;
}

static int
diff_start(struct dump *d)
{
	struct side *s = d->state;

	reports_pairs(d);
	s->stats = reports_stats(d);
	return s->stats != NULL ? 0 : -1;
}

static int
diff_count(struct dump *d, const struct tnf_event *ev)
{
	struct side *s = d->state;

	stats_event(s->stats, ev, d->keep);
	return 0;
}

static const struct output counting = { "", "", diff_start, diff_count, NULL, .pretty = true,
	.all = true, .whole = true };

/* Reads one file into statistics; false: there is nothing to compare with. */
static bool
read_side(struct side *s, const struct dump *asked, char *path)
{
	char *paths[] = { path, NULL };

	*s = (struct side){ .d = *asked };
	s->d.output = &counting;
	s->d.state = s;
	s->d.pairs = pairs_copy_rules(asked->pairs);
	inputs_add(&s->d, paths);
	if (s->d.n_inputs == 0)
		return false;
	pipeline_run(&s->d);
	if (s->stats == NULL)
		return false;
	s->row = stats_rows(s->stats, &s->n);
	return true;
}

static void
free_side(struct side *s)
{
	if (s->stats != NULL)
		stats_free(s->stats);
	pairs_free(s->d.pairs);
	inputs_close(&s->d);
}

/* "12.500 +3.1%": microseconds, or a count. */
static void
diff_cell(struct out *o, double before, double after, bool count)
{
	double unit = count ? 1 : 1e3;
	int digits = count ? 0 : 3;

	tnf_out_format(o, " %11.*f%11.*f ", digits, before / unit, digits, after / unit);
	if (before == 0)
		tnf_out_format(o, "%8s", after == 0 ? "=" : "new");
	else
		tnf_out_format(o, "%+7.1f%%", (after - before) / before * 100);
}

static void
compare_row(struct dump *d, const struct side *a, const struct side *b,
    const struct stats_row *x, const struct stats_row *y)
{
	static const enum figure shown[] = { FIG_COUNT, FIG_MEAN, FIG_P50, FIG_P99 };
	const struct stats_row *any = x != NULL ? x : y;
	struct out *o = &d->out;

	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (i > 0 && !any->pair)
			break;
		diff_cell(o, figure_value(shown[i], x, stats_seconds(a->stats)),
		    figure_value(shown[i], y, stats_seconds(b->stats)),
		    i == 0);
	}
	out_lit(o, "  ");
	print_escaped(o, any->text, any->len);
	out_char(o, '\n');
}

static void
compare_rows(struct dump *d, const struct side *a, const struct side *b, bool pairs)
{
	struct out *o = &d->out;
	bool head = false;

	for (int pass = 0; pass < 2; pass++) {
		const struct side *from = pass == 0 ? a : b;

		for (size_t i = 0; i < from->n; i++) {
			struct stats_row *r = from->row[i];
			struct stats_row *other = stats_find((pass == 0 ? b : a)->stats, r);

			if (r->pair != pairs || (pass == 1 && other != NULL))
				continue;
			if (!head)
				out_str(o, pairs ?
				    "     count A    count B   change   mean us A         B   change"
				    "    p50 us A         B   change    p99 us A         B   change  what\n" :
				    "     count A    count B   change  event\n");
			head = true;
			compare_row(d, a, b, pass == 0 ? r : other, pass == 0 ? other : r);
		}
	}
}

/* Tells that a condition holds; the row's text comes from the trace and is escaped. */
static void
tell_held(const struct condition *c, const struct stats_row *r, double before,
    double after)
{
	bool plain = c->figure == FIG_COUNT || c->figure == FIG_RATE;
	int digits = c->figure == FIG_COUNT ? 0 : 3;
	double unit = plain ? 1 : 1e3;	/* microseconds, as in the table */
	struct out text;

	tnf_out_memory(&text);
	print_escaped(&text, r->text, r->len);
	tnf_printable_printf(stderr, NAME ": --fail-on %s: %.*s: %.*f%s, was %.*f%s\n", c->text,
	    (int)(text.p - text.base), text.base, digits, after / unit,
	    plain ? "" : " us", digits, before / unit, plain ? "" : " us");
	tnf_out_close(&text);
}

/* Returns true if the condition holds for any row that it names. */
static bool
diff_judge(struct out *o, const struct condition *c, const struct side *a,
    const struct side *b)
{
	bool held = false, named = false;

	for (size_t i = 0; i < b->n; i++) {
		const struct stats_row *r = b->row[i];
		double before, after;

		if (!condition_names(c, r) ||
		    (!r->pair && c->figure != FIG_COUNT && c->figure != FIG_RATE))
			continue;
		named = true;
		before = figure_value(c->figure, stats_find(a->stats, r), stats_seconds(a->stats));
		after = figure_value(c->figure, r, stats_seconds(b->stats));
		if (!condition_holds(c, before, after))
			continue;
		held = true;
		tnf_out_flush(o);
		tell_held(c, r, before, after);
	}
	if (!named)
		tnf_printable_printf(stderr, NAME ": --fail-on %s: nothing of that name in %s\n",
		    c->text, b->d.inputs[0].path);
	return held || !named;
}

static int
diff_compare(struct dump *d, const struct side *a, const struct side *b)
{
	int status = STATUS_OK;

	compare_rows(d, a, b, true);
	compare_rows(d, a, b, false);
	for (unsigned i = 0; d->conditions != NULL && i < d->conditions->n; i++)
		if (diff_judge(&d->out, &d->conditions->list[i], a, b))
			status = STATUS_DIFFERS;
	return a->d.status != STATUS_OK || b->d.status != STATUS_OK ?
	    STATUS_ERROR : status;
}

int
diff_run(struct dump *d, char **paths)
{
	struct side side[2] = { 0 };
	int status = STATUS_ERROR;

	dump_expr_source(d);		/* both sides share it */
	origins_begin(d);
	if (read_side(&side[0], d, paths[0]) && read_side(&side[1], d, paths[1]))
		status = diff_compare(d, &side[0], &side[1]);
	origins_free(d);
	free_side(&side[0]);
	free_side(&side[1]);
	return status;
}
