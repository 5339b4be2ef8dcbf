/*
 * status.c - what a running tnfwatch says of itself.
 */
#include <sys/resource.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tnfwatch/channel.h"
#include "tnfwatch/control.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/history.h"
#include "tnfwatch/util.h"

static double
seconds_of(int64_t ns)
{
	return (double)ns / 1e9;
}

static void
status_self(const struct daemon *d, FILE *f, int64_t now)
{
	double up = seconds_of(now - d->started), cpu;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	fprintf(f, "up %.0f s, %.2f %% of a CPU, %ld MiB at most\n", up,
	    up > 0 ? 100 * cpu / up : 0, u.ru_maxrss / 1024);
	fprintf(f, "%s: keep %.0f s, incidents kept %" PRIu64 ", lost %" PRIu64 "\n",
	    d->config->file, seconds_of(d->config->keep), d->written, d->failed);
	if (*d->scans != '\0')
		fprintf(f, "%s\n", d->scans);
	if (*d->kernel_why != '\0')
		fprintf(f, "%s\n", d->kernel_why);
	if (d->not_taken > 0)
		fprintf(f, "%" PRIu64 " processes could not be watched; the last one: %s\n",
		    d->not_taken, d->refused);
	if (d->short_rings.removed > 0)
		fprintf(f, "%" PRIu64 " rings of programs that ended before they were attached to were "
		    "removed early: there were too many of them for a section\n",
		    d->short_rings.removed);
	if (d->window.open)
		fprintf(f, "open: %s\n", d->window.id);
}

/* How far back; false: that is less than was promised. */
static bool
status_reach(const struct daemon *d, FILE *f, const struct source *s, int64_t now)
{
	int64_t since, reach;
	struct history_status h;
	bool kept;

	history_status(s->history, &h);
	if (!source_reach(s, &since)) {
		fprintf(f, "%10s  ", "-");
		return true;
	}
	if (h.since != 0 && h.since < since)
		since = h.since;
	reach = now - since;
	kept = reach >= d->config->keep || source_is_whole(s);
	fprintf(f, "%9.1fs%s ", seconds_of(reach), kept ? " " : "!");
	return kept;
}

static void
status_source(const struct daemon *d, FILE *f, const struct source *s, int64_t now)
{
	double age = seconds_of(now - s->opened);
	struct channel_status ch;
	struct history_status h;
	bool kept;

	fprintf(f, "%-24s %9.0f ", s->id, s->rate);
	kept = status_reach(d, f, s, now);
	fprintf(f, "%10" PRIu64 " %8" PRIu64 " %7.2f%%", s->lost, s->missed,
	    age > 0 ? 100 * seconds_of(s->busy) / age : 0);
	history_status(s->history, &h);
	if (h.segments > 0)
		fprintf(f, "  %zu segments, %" PRIu64 " KiB (of %" PRIu64 ")", h.segments,
		    h.bytes / 1024, h.raw / 1024);
	channel_status(s->channel, &ch);
	if (s->channel != NULL)
		fprintf(f, "  channel %" PRIu64 " events of %.0f s, %" PRIu64 " KiB", ch.events,
		    seconds_of(now - ch.since), ch.bytes / 1024);
	if (!kept)
		fprintf(f, "  less than keep: a larger %s, or fewer probes, reaches back further",
		    s->kind == SOURCE_KERNEL ? "buffer" : "size");
	if (h.refused > 0)
		fprintf(f, "  limit reached");
	if (h.error != 0)
		fprintf(f, "  segments: %s", strerror(h.error));
	if (*s->broken != '\0')
		fprintf(f, "  %s", s->broken);
	else if (s->ended != 0)
		fprintf(f, s->status < 0 ? "  ended" : WIFSIGNALED(s->status) ?
		    "  ended by signal %d" : "  ended with status %d",
		    WIFSIGNALED(s->status) ? WTERMSIG(s->status) : WEXITSTATUS(s->status));
	putc('\n', f);
}

static void
status_trigger(const struct daemon *d, FILE *f, size_t i)
{
	const struct config_trigger *t = &d->config->trigger[i];
	const struct trigger_state *st = &d->state[i];

	fprintf(f, "%-24s %9" PRIu64 " %9" PRIu64 " %10" PRIu64 "  %s\n", t->name, st->fired,
	    st->incidents, st->suppressed, t->when != NULL ? t->when : "(from outside)");
}

void
control_status(const struct daemon *d, FILE *f)
{
	int64_t now = now_mono();

	status_self(d, f, now);
	fprintf(f, "\n%-24s %9s %10s  %10s %8s %8s\n", "source", "events/s", "reaches", "lost",
	    "missed", "cost");
	for (const struct source *s = d->sources; s != NULL; s = s->next)
		status_source(d, f, s, now);
	fprintf(f, "\n%-24s %9s %9s %10s\n", "trigger", "fired", "incidents", "suppressed");
	for (size_t i = 0; i < d->config->n_triggers; i++)
		status_trigger(d, f, i);
}
