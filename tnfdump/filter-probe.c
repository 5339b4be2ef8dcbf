/*
 * filter-probe.c - filters by probe and by key.
 */
#include <stdlib.h>

#include "analysis/match.h"
#include "tnfdump/filter.h"
#include "tnfdump/options.h"
#include "tnfdump/pipeline.h"

struct list {
	const char	*option;
	struct probe_list probes;
};

static bool
list_keep(void *arg, const struct tnf_event *ev)
{
	struct list *l = arg;

	return probe_list_has(&l->probes, ev->probe);
}

/* A pattern that matches nothing is more often than not mistyped. */
static int
list_start(void *arg, struct dump *d)
{
	struct list *l = arg;
	const char *lost = probe_list_begin(&l->probes, d->stream);

	if (lost == NULL)
		return 0;
	dump_error(d, "--%s: nothing in the trace matches \"%s\": "
	    "--info lists the probes", l->option, lost);
	return -1;
}

static void
list_free(void *arg)
{
	struct list *l = arg;

	probe_list_free(&l->probes);
	free(l);
}

static int
filter_probe_set(struct dump *d, const char *option, bool by_key, const char *list)
{
	const struct filter f = { .option = option, .keep = list_keep, .start = list_start,
		.free = list_free, .asks = KEEP_WHAT };
	struct list *l = pipeline_filter_arg(d, &f, sizeof(*l));

	l->option = option;
	l->probes.by_key = by_key;
	return probe_list_add(&l->probes, list) ? 0 : options_wrong(option, "name expected");
}

int
probe_set(struct dump *d, const char *list)
{
	return filter_probe_set(d, "probe", false, list);
}

int
key_set(struct dump *d, const char *list)
{
	return filter_probe_set(d, "key", true, list);
}
