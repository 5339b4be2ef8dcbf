/*
 * names.c - the names that go with a copy, read while it is made.
 *
 * /proc tells who lives, in three files a process: together they take a third as long
 * as a copy of 16 MiB.  On one CPU they would only delay it, and what is in the
 * buffer meanwhile is overwritten; so there they are read when the copy is done.
 */
#include "tnfxtract/names.h"

#include <sched.h>
#include <stddef.h>

#include "tnfxtract/source.h"

static void *
names_read(void *arg)
{
	struct names *n = arg;

	source_context(n->source, &n->context);
	return NULL;
}

static bool
two_cpus(void)
{
	cpu_set_t set;

	/* More CPUs than the set has room for are two. */
	return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

void
names_begin(struct names *n, const struct source *source)
{
	n->source = source;
	n->begun = true;
	context_begin(&n->context);
	n->beside = two_cpus() && pthread_create(&n->thread, NULL, names_read, n) == 0;
}

struct context_writer *
names_end(struct names *n, struct source *source)
{
	if (n->beside)
		pthread_join(n->thread, NULL);
	else
		names_read(n);
	n->beside = false;
	source_context_later(source, &n->context);
	return &n->context;
}

void
names_free(struct names *n)
{
	if (n->beside)
		pthread_join(n->thread, NULL);
	n->beside = false;
	if (n->begun)
		context_free(&n->context);
	n->begun = false;
}
