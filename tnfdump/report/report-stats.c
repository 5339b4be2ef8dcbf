/*
 * report-stats.c - --stats: what happened how often, and how long it took; the
 * statistics and pairs that other reports count by.
 */
#include "tnfdump/report/report.h"
#include "tnfdump/to/formats.h"

/* Prints a value as --pretty does, and a stack in any case: all others would be one group.
   Escaping is left to the printing of the row. */
static bool
show_pretty(void *arg, struct out *o, const struct val *v, const struct tnf_event *ev)
{
	struct dump *d = arg;
	struct tnf_value member;

	if ((!d->pretty && v->kind != VAL_RECORD) || v->type == NULL || v->kind == VAL_STRING)
		return false;
	member = val_to_member(v);
	pretty_value(d, o, ev, &member, v->name);
	return true;
}

static const void *
stats_around(void *arg)
{
	return around_now(arg);
}

static void
stats_recall(void *arg, const void *around)
{
	around_recall(arg, around);
}

struct stats *
reports_stats(struct dump *d)
{
	const struct stats_of of = { .by = d->by, .source = dump_expr_source(d),
	    .pairs = d->pairs, .normalize = d->normalize, .show = show_pretty, .around = stats_around,
	    .recall = stats_recall, .arg = d };
	char why[512];
	struct stats *s = stats_new(&of, why, sizeof(why));

	if (s == NULL)
		fprintf(stderr, NAME ": --stats: %s\n", why);
	return s;
}

/* Tells which members of the expressions no probe has. */
static void
reports_stats_hint(struct dump *d, const struct stats *s)
{
	const struct expr *e;

	for (unsigned i = 0; stats_events(s) > 0 && (e = stats_by(s, i)) != NULL; i++)
		hint_members(d, "stats", e);
}

int
reports_by(struct dump *d, const char *option, const struct output *o, const char *list)
{
	d->by = list;
	if (output_choose(d, option, o) != 0)
		return -1;
	struct stats *s = reports_stats(d);	/* checks the list */
	stats_free(s);
	return s != NULL ? 0 : -1;
}

int
stats_set(struct dump *d, const char *list)
{
	return reports_by(d, "stats", output_find("stats"), list);
}

struct pairs *
reports_pairs(struct dump *d)
{
	if (d->pairs == NULL)
		d->pairs = pairs_new();
	if (d->stream != NULL)
		pairs_of(d->pairs, d->stream);
	return d->pairs;
}

int
pair_set(struct dump *d, const char *rule)
{
	const char *error;

	if (pairs_add(reports_pairs(d), rule, &error) != 0)
		return options_wrong("pair", "%s: %s", rule, error);
	return 0;
}

#define BAR_WIDTH	40u

int
stats_report_begin(struct dump *d)
{
	reports_pairs(d);
	d->state = reports_stats(d);
	return d->state != NULL ? 0 : -1;
}

int
stats_report_event(struct dump *d, const struct tnf_event *ev)
{
	stats_event(d->state, ev, d->keep);
	return 0;
}

static void
cell_us(struct out *o, int64_t ns)
{
	tnf_out_format(o, "%12.3f", (double)ns / 1e3);
}

static void
print_rate(struct dump *d, const struct stats_row *r)
{
	double seconds = stats_seconds(d->state);

	tnf_out_format(&d->out, "%10" PRIu64 "%12.1f", r->count,
	    seconds > 0 ? (double)r->count / seconds : 0);
}

static void
histogram_bar(struct out *o, uint64_t n, uint64_t most)
{
	unsigned len = (unsigned)((n * BAR_WIDTH + most - 1) / most);

	out_char(o, '|');
	for (unsigned i = 0; i < BAR_WIDTH; i++)
		out_char(o, i < len ? '#' : ' ');
	out_lit(o, "|\n");
}

/* Draws a line with a bar for each power of two that has values. */
static void
histogram_draw(struct histogram *h, struct out *o)
{
	uint64_t line[65] = { 0 }, most = 0;
	unsigned first = 65, last = 0;

	if (h->count == 0)
		return;
	const uint32_t *bucket = histogram_buckets(h);
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++)
		line[64 - __builtin_clzll((uint64_t)histogram_value(b) | 1)] += bucket[b];
	for (unsigned i = 0; i < 65; i++) {
		if (line[i] == 0)
			continue;
		if (first == 65)
			first = i;
		last = i;
		if (line[i] > most)
			most = line[i];
	}
	out_lit(o, "         from ns              to ns       count\n");
	for (unsigned i = first; i <= last; i++) {
		tnf_out_format(o, "%16llu%19llu%12" PRIu64 " ", i <= 1 ? 0 : 1ull << (i - 1),
		    i >= 63 ? INT64_MAX : (1ull << i) - 1, line[i]);
		histogram_bar(o, line[i], most);
	}
}

static void
print_pair(struct dump *d, struct stats_row *r)
{
	struct out *o = &d->out;
	struct histogram *h = &r->took;

	print_rate(d, r);
	tnf_out_ms(o, (int64_t)h->total, 14);
	cell_us(o, h->min);
	cell_us(o, histogram_mean(h));
	cell_us(o, histogram_percentile(h, 50));
	cell_us(o, histogram_percentile(h, 90));
	cell_us(o, histogram_percentile(h, 99));
	cell_us(o, h->max);
	if (d->deviation)
		tnf_out_format(o, "%12.3f", histogram_deviation(h) / 1e3);
	out_lit(o, "  ");
	print_escaped(o, r->text, r->len);
	out_char(o, '\n');
	if (d->histogram)
		histogram_draw(h, o);
}

static void
print_rows(struct dump *d, struct stats_row **row, size_t n)
{
	struct out *o = &d->out;
	size_t i = 0;

	if (n > 0 && row[0]->pair)
		tnf_out_format(o, "     count      rate/s      total ms      min us     mean us      p50 us"
		    "      p90 us      p99 us      max us%s  what\n", d->deviation ? "       sd us" : "");
	for (; i < n && row[i]->pair; i++)
		print_pair(d, row[i]);
	if (i > 0 && i < n)
		out_char(o, '\n');
	if (i < n)
		out_lit(o, "     count      rate/s  event\n");
	for (; i < n; i++) {
		print_rate(d, row[i]);
		out_lit(o, "  ");
		print_escaped(o, row[i]->text, row[i]->len);
		out_char(o, '\n');
	}
}

static void
open_starts(struct dump *d)
{
	const struct pairs_counts *n = pairs_counts(d->pairs);

	if (n->open + n->orphans > 0)
		tnf_out_format(&d->out, "\nwithout an end: %" PRIu64 ", without a start: %" PRIu64
		    "\n", n->open, n->orphans);
	if (n->cut > 0)
		tnf_out_format(&d->out, "\nbegun before events that are missing, and left out: %" PRIu64
		    "\n", n->cut);
}

int
stats_report_end(struct dump *d)
{
	struct stats *s = d->state;
	size_t n;

	struct stats_row **row = stats_rows(s, &n);
	print_rows(d, row, n);
	open_starts(d);
	reports_stats_hint(d, s);
	if (stats_ungrouped(s) > 0)
		fprintf(stderr, NAME ": --stats: more than %u groups: %llu events "
		    "are in none\n", STATS_ROWS_MAX,
		    (unsigned long long)stats_ungrouped(s));
	stats_free(s);
	return 0;
}
