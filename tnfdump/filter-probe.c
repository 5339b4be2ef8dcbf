/*
 * filter-probe.c - filters by probe and by key: decided once for each probe.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfdump/filter.h"
#include "analysis/match.h"
#include "tnfdump/options.h"
#include "tnfdump/pipeline.h"
#include "common/xalloc.h"

enum { UNDECIDED, KEEP, DROP };

struct list {
	const char	*option;
	bool		(*matches)(const struct tnf_probe *, const char *pattern);
	char		**patterns;
	unsigned	 n;
	unsigned char	*verdicts;	/* by probe id */
	unsigned	 n_verdicts;
};

static bool
name_matches(const struct tnf_probe *p, const char *pattern)
{
	return p->name != NULL && match_glob(pattern, p->name);
}

static bool
key_matches(const struct tnf_probe *p, const char *pattern)
{
	char *copy, *next, *word;
	bool found = false;

	if (p->keys == NULL)
		return false;
	copy = next = xstrdup(p->keys);
	while (!found && (word = strsep(&next, " ")) != NULL)
		found = *word != '\0' && match_glob(pattern, word);
	free(copy);
	return found;
}

static bool
matches_any(const struct list *l, const struct tnf_probe *p)
{
	unsigned i;

	for (i = 0; i < l->n; i++) {
		if (l->matches(p, l->patterns[i]))
			return true;
	}
	return false;
}

static bool
list_keep(void *arg, const struct tnf_event *ev)
{
	struct list *l = arg;
	unsigned id = ev->probe->id, n;

	if (id >= l->n_verdicts) {
		n = id < 32 ? 64 : id * 2;
		l->verdicts = xreallocarray(l->verdicts, n, 1);
		memset(l->verdicts + l->n_verdicts, UNDECIDED,
		    n - l->n_verdicts);
		l->n_verdicts = n;
	}
	if (l->verdicts[id] == UNDECIDED)
		l->verdicts[id] = matches_any(l, ev->probe) ? KEEP : DROP;
	return l->verdicts[id] == KEEP;
}

static bool
filter_probe_found(struct dump *d, const struct list *l, const char *pattern)
{
	unsigned i;

	for (i = 0; i < tnf_stream_probes(d->stream); i++) {
		if (l->matches(tnf_stream_probe(d->stream, i), pattern))
			return true;
	}
	return i == 0;
}

/* What matches nothing is a mistake of writing more often than not. */
static int
list_start(void *arg, struct dump *d)
{
	struct list *l = arg;
	unsigned i;

	l->n_verdicts = 0;
	for (i = 0; i < l->n; i++) {
		if (filter_probe_found(d, l, l->patterns[i]))
			continue;
		dump_error(d, "--%s: nothing in the trace matches \"%s\": "
		    "--info lists the probes", l->option, l->patterns[i]);
		return -1;
	}
	return 0;
}

static void
list_free(void *arg)
{
	struct list *l = arg;

	while (l->n > 0)
		free(l->patterns[--l->n]);
	free(l->patterns);
	free(l->verdicts);
	free(l);
}

static struct list *
filter_probe_list_of(struct dump *d, const char *option)
{
	struct filter *f = pipeline_filter(d, option), fresh = {
		.option = option, .keep = list_keep, .start = list_start,
		.free = list_free };

	if (f == NULL)
		f = pipeline_add_filter(d, &fresh, sizeof(struct list));
	return f->arg;
}

static int
list_add(struct list *l, const char *list)
{
	char *copy = xstrdup(list), *next = copy, *word;

	while ((word = strsep(&next, ",")) != NULL) {
		if (*word == '\0')
			return options_wrong(l->option, "name expected");
		l->patterns = xreallocarray(l->patterns, l->n + 1,
		    sizeof(char *));
		l->patterns[l->n++] = xstrdup(word);
	}
	free(copy);
	return 0;
}

int
probe_set(struct dump *d, const char *list)
{
	struct list *l = filter_probe_list_of(d, "probe");

	l->option = "probe";
	l->matches = name_matches;
	return list_add(l, list);
}

int
key_set(struct dump *d, const char *list)
{
	struct list *l = filter_probe_list_of(d, "key");

	l->option = "key";
	l->matches = key_matches;
	return list_add(l, list);
}
