/*
 * names.c - the names that go with a copy, read while it is made.
 *
 * A program of ours tells who lives (kernel-context.c), some 1 us a task; the devices, and
 * the paths and groups of processes, are in /proc and /sys.  Where the kernel does not take
 * that program all of it is there, some 20 us a task.  On one CPU this would only delay
 * the copy, and what is in the buffer meanwhile is overwritten; so there the names are
 * read when the copy is done.
 *
 * They begin at the moment that the copy is of.  Whoever has an event in it was there
 * then: he is found among the living, or among those who have ended, whom the kernel
 * remembers.
 */
#include "tnfxtract/names.h"

#include <sched.h>

#include "tnfxtract/source.h"

static void *
names_read(void *arg)
{
	struct names *n = arg;

	source_context(n->source, &n->context);
	source_count_lost(n->source);
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
names_begin(struct names *n, struct source *source)
{
	n->source = source;
	n->begun = true;
	context_begin(&n->context);
	n->beside = two_cpus() && pthread_create(&n->thread, NULL, names_read, n) == 0;
}

void
names_end(struct names *n)
{
	if (n->beside)
		pthread_join(n->thread, NULL);
	else
		names_read(n);
	n->beside = false;
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
