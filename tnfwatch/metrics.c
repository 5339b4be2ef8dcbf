/*
 * metrics.c - what Prometheus reads: "tnfwatch metrics", and GET /metrics of the webhook.
 *
 * A metric is one row in a table; all values of a metric follow each other, as the format asks.
 */
#include <sys/resource.h>

#include "tnfwatch/daemon.h"

/* The labels of a metric, in braces; "": it has none. */
static void
head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP tnfwatch_%s %s\n# TYPE tnfwatch_%s %s\n", name, help, name, type);
}

/* The text of a label: a character that would need an escape is replaced. */
static void
put_label(FILE *f, const char *s)
{
	for (; *s != '\0'; s++)
		putc(*s == '"' || *s == '\\' || (unsigned char)*s < ' ' ? '_' : *s, f);
}

static double
seconds_of(int64_t ns)
{
	return (double)ns / 1e9;
}

enum { EVENTS, LOST, MISSED, CPU, RING };

static const struct {
	const char *name, *type, *help;
} of_source[] = {
	[EVENTS] = { "source_events_total", "counter", "Events that were found in the buffer." },
	[LOST] = { "source_lost_total", "counter", "Events that could not be recorded." },
	[MISSED] = { "source_missed_blocks_total", "counter", "Blocks that were overwritten before tnfwatch "
	  "read them." },
	[CPU] = { "source_cpu_seconds_total", "counter", "CPU time of tnfwatch for the source." },
	[RING] = { "source_ring_seconds", "gauge", "How far back the source's ring reaches." },
};

/* Reads a value of a source; false: the source has no such value now. */
static bool
source_value(const struct source *s, size_t which, int64_t now, double *ret)
{
	int64_t since = 0;

	if (which == RING && !source_reach(s, &since))
		return false;
	*ret = which == EVENTS ? (double)s->events : which == LOST ? (double)s->lost :
	    which == MISSED ? (double)s->missed : seconds_of(which == CPU ? s->busy : now - since);
	return true;
}

static const struct {
	const char *name, *help;
	size_t	at;		/* in struct trigger_counts */
} of_trigger[] = {
	{ "trigger_fired_total", "How often the condition held.",
	  offsetof(struct trigger_counts, fired) },
	{ "trigger_incidents_total", "Incidents that the trigger opened.",
	  offsetof(struct trigger_counts, incidents) },
	{ "trigger_suppressed_total", "Firings that limit, every or same_cause left out.",
	  offsetof(struct trigger_counts, suppressed) },
};

static void
put_sources(const struct daemon *d, FILE *f, int64_t now)
{
	double value;

	for (size_t i = 0; i < sizeof of_source / sizeof *of_source; i++) {
		head(f, of_source[i].name, of_source[i].type, of_source[i].help);
		for (const struct source *s = d->sources; s != NULL; s = s->next) {
			if (!source_value(s, i, now, &value))
				continue;
			fprintf(f, "tnfwatch_%s{source=\"", of_source[i].name);
			put_label(f, s->id);
			fprintf(f, "\"} %.17g\n", value);
		}
	}
}

static void
put_triggers(const struct daemon *d, FILE *f)
{
	for (size_t i = 0; i < sizeof of_trigger / sizeof *of_trigger; i++) {
		head(f, of_trigger[i].name, "counter", of_trigger[i].help);
		for (size_t k = 0; k < d->config->n_triggers; k++)
			fprintf(f, "tnfwatch_%s{trigger=\"%s\"} %" PRIu64 "\n", of_trigger[i].name,
			    d->config->trigger[k].name, *(const uint64_t *)(const void *)
			    ((const char *)&d->counts[k] + of_trigger[i].at));
	}
}

double
cpu_seconds(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* The time that a child which has not ended has used so far. */
static double
cpu_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double
cpu_children(const struct daemon *d)
{
	return cpu_seconds(RUSAGE_CHILDREN) + cpu_of(d->taker.pid) + cpu_of(d->agent.pid);
}

/* Bytes of memory that this process has; 0: unknown. */
static uint64_t
resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (f != NULL && fscanf(f, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void
metrics_put(const struct daemon *d, FILE *f)
{
	int64_t now = now_mono();

	head(f, "up_seconds", "gauge", "How long tnfwatch has run.");
	fprintf(f, "tnfwatch_up_seconds %.3f\n", seconds_of(now - d->started));
	head(f, "cpu_seconds_total", "counter", "CPU time of tnfwatch, and of its children.");
	fprintf(f, "tnfwatch_cpu_seconds_total{who=\"self\"} %.6f\n", cpu_seconds(RUSAGE_SELF));
	fprintf(f, "tnfwatch_cpu_seconds_total{who=\"children\"} %.6f\n", cpu_children(d));
	head(f, "resident_bytes", "gauge", "Memory of tnfwatch, mapped rings included.");
	fprintf(f, "tnfwatch_resident_bytes %" PRIu64 "\n", resident());
	head(f, "incidents_total", "counter", "Incidents that were kept, and that could not be.");
	fprintf(f, "tnfwatch_incidents_total{what=\"kept\"} %" PRIu64 "\n", d->written);
	fprintf(f, "tnfwatch_incidents_total{what=\"lost\"} %" PRIu64 "\n", d->failed);
	put_sources(d, f, now);
	put_triggers(d, f);
}
