/*
 * info-text.c - the files in figures, to be read.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "analysis/losses.h"
#include "tnfdump/report/info.h"
#include "tnfdump/input.h"
#include "tnfdump/text/print.h"

#define LARGE	((size_t)16 << 20)	/* counting the events of less takes no time */

/* "label:    text" */
__attribute__((format(printf, 3, 4))) static void
info_text_row(struct dump *d, const char *label, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof buf, fmt, ap);
	va_end(ap);
	/* Without a label it goes on with the row before. */
	tnf_out_format(&d->out, "  %s%s%*s", label, label[0] != '\0' ? ":" : " ",
	    strlen(label) < 12 ? 12 - (int)strlen(label) : 0, "");
	print_escaped(&d->out, buf, strlen(buf));
	out_char(&d->out, '\n');
}

static void
put_writer(struct dump *d, const struct info *f)
{
	const char *order = f->sum.swapped ==
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? "big" : "little";

	if (f->ext == NULL)
		info_text_row(d, "writer", "original, %u bits, %s-endian",
		    f->sum.word_bits, order);
	else if (f->ext->kind == TNF_EXT_KERNEL)
		info_text_row(d, "writer", "kernel, %u bits, %s-endian",
		    f->sum.word_bits, order);
	else
		info_text_row(d, "writer", "process %" PRId32 ", %u bits, %s-endian",
		    f->ext->pid, f->sum.word_bits, order);
}

static void
put_size(struct dump *d, const struct info *f)
{
	const struct tnf_summary *s = &f->sum;

	info_text_row(d, "size", "%" PRIu64 " bytes, blocks of %" PRIu32
	    ": %" PRIu32 " definitions, %" PRIu32 " data, %" PRIu32 " unused",
	    s->size, s->block_size, s->blocks_tag, s->blocks_data,
	    s->blocks_free);
	if (s->size_real < s->size)
		info_text_row(d, "cut off", "after %" PRIu64 " bytes", s->size_real);
	if (s->blocks_held > 0)
		info_text_row(d, "held", "%" PRIu32 " blocks, by threads that "
		    "write, or were killed", s->blocks_held);
	info_text_row(d, "laps", "%" PRIu32, s->generation);
}

static void
put_damaged(struct dump *d, const struct info *f)
{
	if (f->sum.damaged > 0)
		info_text_row(d, "damaged", "%" PRIu64 " blocks", f->sum.damaged);
}

static void
info_text_put_wall(struct dump *d, const struct info *f)
{
	char a[64], b[64], zone[16];
	int64_t first, last;
	struct tm tm;

	if (!info_wall(f, f->first, &first) || !info_wall(f, f->last, &last))
		return;
	time_t t = (time_t)(first / 1000000000);
	time_t u = (time_t)(last / 1000000000);
	strftime(a, sizeof a, "%Y-%m-%d %H:%M:%S", localtime_r(&t, &tm));
	strftime(b, sizeof b, "%Y-%m-%d %H:%M:%S", localtime_r(&u, &tm));
	strftime(zone, sizeof zone, "%z", &tm);
	info_text_row(d, "wall clock", "%s.%06u to %s.%06u %s", a,
	    (unsigned)(first % 1000000000 / 1000), b,
	    (unsigned)(last % 1000000000 / 1000), zone);
}

static void
put_time(struct dump *d, const struct info *f)
{
	if (f->events == 0)
		return;
	info_text_row(d, "time", "%.6f s: monotonic %.6f to %.6f",
	    (double)(f->last - f->first) / 1e9, (double)f->first / 1e9,
	    (double)f->last / 1e9);
	info_text_put_wall(d, f);
}

static void
put_events(struct dump *d, const struct info *f)
{
	info_text_row(d, "events", "%" PRIu64, f->events);
	if (f->sum.overwritten > 0)
		info_text_row(d, "half gone", "%" PRIu64 " events without their time: "
		    "the schedule was overwritten", f->sum.overwritten);
	info_text_row(d, "threads", "%zu in %zu processes", idset_count(&f->threads),
	    idset_count(&f->pids));
	if (idset_count(&f->cpus) > 0)
		info_text_row(d, "cpus seen", "%zu", idset_count(&f->cpus));
}

/* Seconds since the file's first event. */
static double
since_first(const struct info *f, int64_t time)
{
	return (double)(time - f->first) / 1e9;
}

static void
info_text_put_coverage(struct dump *d, const struct info *f)
{
	int64_t from = info_complete(d, f);
	char label[32];

	for (unsigned i = 0; i < f->n_cpu; i++) {
		const struct info_cpu *c = &f->cpu[i];

		if (c->events == 0)
			continue;
		snprintf(label, sizeof label, "cpu %u", i);
		info_text_row(d, label, "%" PRIu64 " events, %.6f s to %.6f s", c->events,
		    since_first(f, c->first), since_first(f, c->last));
	}
	if (info_missing(f) != NULL)
		info_text_row(d, "complete", "no: %s were not in the image of memory",
		    info_missing(f));
	else if (from == INT64_MIN)
		info_text_row(d, "complete", "from the start");
	else if (from != INT64_MAX)
		info_text_row(d, "complete", "from %.6f s: earlier events were "
		    "overwritten, not on all CPUs as far", since_first(f, from));
	else if (d->filters == NULL && f->events > 0)
		info_text_row(d, "complete", "no: earlier events were overwritten");
}

static void
put_lost(struct dump *d, const struct info *f)
{
	if (f->ext == NULL) {
		info_text_row(d, "dropped", "the writer did not count");
		return;
	}
	info_text_row(d, "dropped", "%" PRIu64, info_lost(f));
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++)
		if (f->ext->lost[i] > 0) {
			const char *name = loss_name(i);
			info_text_row(d, "", "%" PRIu64 " %s", f->ext->lost[i],
			    name != NULL ? name : "for another reason");
		}
	if (f->ext->shortened > 0)
		info_text_row(d, "shortened", "%" PRIu64 " values, whose events had no "
		    "room for more", f->ext->shortened);
}

static void
put_end(struct dump *d, const struct info *f)
{
	const char *ended = info_ended(f);

	if (ended == NULL)
		return;
	if (ended[0] == 'y')
		info_text_row(d, "ended", "in order");
	else
		info_text_row(d, "ended", "no: %" PRIu32 " of %" PRIu32 " writers still "
		    "run or were killed", f->ext->attached - f->ext->ended,
		    f->ext->attached);
}

static void
info_text_put_context(struct dump *d, const struct info *f)
{
	static const char *const facts[] = { "host", "system", "release",
	    "machine", "cpus", "boot", "crashed" };
	const char *text;
	size_t n;

	if (f->context == NULL)
		return;
	for (unsigned i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if ((text = tnf_context_fact(f->context, facts[i])) != NULL)
			info_text_row(d, facts[i], "%s", text);
	tnf_context_tasks(f->context, &n);
	info_text_row(d, "tasks known", "%zu", n);
	tnf_context_symbols(f->context, &n);
	info_text_row(d, "symbols", "%zu", n);
}

/* The last lines that the kernel printed, of a machine that crashed. */
static void
put_printk(struct dump *d, const struct info *f)
{
	const char *text = f->context == NULL ? NULL : tnf_context_fact(f->context, "printk");
	size_t n;

	if (text == NULL)
		return;
	out_lit(&d->out, "  printed last:\n");
	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		out_lit(&d->out, "    ");
		print_escaped(&d->out, text, n);
		out_char(&d->out, '\n');
	}
}

static void
info_text_put_probes(struct dump *d, const struct info_all *all, const struct info *f)
{
	info_text_row(d, "probes", "%u", f->sum.probes);
	for (unsigned i = 0; i < tnf_stream_probes(d->stream); i++) {
		const struct tnf_probe *p = tnf_stream_probe(d->stream, i);
		if (p->file != f->in->file)
			continue;
		tnf_out_format(&d->out, "  %12" PRIu64 "  ", info_count(all, i));
		print_escaped(&d->out, p->name, strlen(p->name));
		if (p->keys[0] != '\0') {
			out_lit(&d->out, " (");
			print_escaped(&d->out, p->keys, strlen(p->keys));
			out_char(&d->out, ')');
		}
		out_char(&d->out, '\n');
	}
}

static void
put_head(struct dump *d, const struct info *f)
{
	print_escaped(&d->out, f->in->path, strlen(f->in->path));
	out_lit(&d->out, ":\n");
	put_writer(d, f);
	put_size(d, f);
}

void
info_text_begin(struct dump *d)
{
	struct info_all *all = d->state;

	if (all->n != 1 || d->filters != NULL || all->files->in->size < LARGE)
		return;
	struct info f = all->files[0];
	f.events = 1;
	tnf_file_summary(f.in->file, &f.sum);
	if (tnf_file_span(f.in->file, &f.first, &f.last) != 0 || f.sum.damaged > 0)
		return;
	put_head(d, &f);
	put_time(d, &f);
	tnf_out_flush(&d->out);
	all->begun = true;
}

int
info_text(struct dump *d)
{
	const struct info_all *all = d->state;

	for (unsigned i = 0; i < all->n; i++) {
		const struct info *f = &all->files[i];
		if (!all->begun)
			put_head(d, f);
		put_damaged(d, f);
		if (!all->begun)
			put_time(d, f);
		put_events(d, f);
		info_text_put_coverage(d, f);
		put_lost(d, f);
		put_end(d, f);
		info_text_put_context(d, f);
		info_text_put_probes(d, all, f);
		put_printk(d, f);
	}
	return 0;
}
