/*
 * reports.c - options of the reports.
 */
#include "tnfdump/options.h"
#include "analysis/pairs.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/report/reports.h"
#include "tnfdump/stats.h"

int
stats_set(struct dump *d, const char *list)
{
	struct stats *s;

	d->by = list;
	if (output_choose(d, "stats", output_find("stats")) != 0)
		return -1;
	s = stats_new(d);	/* to see that the list is sound */
	stats_free(s);
	return s != NULL ? 0 : -1;
}

int
histogram_set(struct dump *d, const char *arg)
{
	d->histogram = true;
	return 0;
}

int
states_set(struct dump *d, const char *arg)
{
	return output_choose(d, "states", output_find("states"));
}

int
tree_set(struct dump *d, const char *arg)
{
	return output_choose(d, "tree", output_find("tree"));
}

struct pairs *
reports_pairs(struct dump *d)
{
	if (d->pairs == NULL)
		d->pairs = pairs_new();
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
