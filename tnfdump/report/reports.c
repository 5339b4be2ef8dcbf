/*
 * reports.c - options of the reports.
 */
#include <stdio.h>

#include "analysis/pairs.h"
#include "tnfdump/filter.h"
#include "tnfdump/hint.h"
#include "tnfdump/options.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/report/reports.h"
#include "tnfdump/text/pretty.h"

/* As --pretty has it; escaped, if at all, when the row is printed. */
static bool
show_pretty(void *arg, struct out *o, const struct val *v, const struct tnf_event *ev)
{
	struct dump *d = arg;
	struct printer p = { d, o, false };
	struct tnf_value member;

	if (!d->pretty || v->type == NULL || v->kind == VAL_STRING)
		return false;
	member = val_to_member(v);
	pretty_value_to(&p, ev, &member, v->name);
	return true;
}

struct stats *
reports_stats(struct dump *d)
{
	const struct stats_of of = { .by = d->by, .source = dump_expr_source(d),
	    .pairs = d->pairs, .show = show_pretty, .arg = d };
	char why[512];
	struct stats *s = stats_new(&of, why, sizeof(why));

	if (s == NULL)
		fprintf(stderr, NAME ": --stats: %s\n", why);
	return s;
}

void
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
	struct stats *s = reports_stats(d);	/* to see that the list is sound */
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
