/*
 * loss.c - reports events that the writers could not record, or that were not read in time.
 */
#include "common/text.h"
#include "tnfdump/report/report.h"

static void
report_dropped(struct dump *d, const char *path, const struct loss *l)
{
	const char *name, *between = "";

	if (l->events == 0)
		return;
	d->lost = true;
	tnf_printable_printf(stderr, NAME ": %s: %llu events were lost (", path,
	    (unsigned long long)l->events);
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++) {
		if (l->lost[i] == 0)
			continue;
		name = loss_name(i);
		tnf_printable_printf(stderr, "%s%s: %llu", between,
		    name != NULL ? name : "other",
		    (unsigned long long)l->lost[i]);
		between = ", ";
	}
	tnf_printable_printf(stderr, ")\n");
}

static void
report_shortened(struct dump *d, const char *path, const struct loss *l)
{
	if (l->shortened == 0)
		return;
	dump_note(d, "%s: %llu values are not whole: their events had no room for more",
	    path, (unsigned long long)l->shortened);
	d->lost = true;
}

/* A ring keeps the newest events by its nature: only --fail-on-loss tells that old ones are gone. */
static void
report_overwritten(struct dump *d, const char *path, const struct tnf_file *f)
{
	struct tnf_summary sum;

	tnf_file_summary(f, &sum);
	if (!d->fail_on_loss || (sum.generation <= 1 && sum.overwritten == 0))
		return;
	d->lost = true;
	dump_note(d, "%s: events were overwritten, in %lu laps of the buffer: "
	    "a larger one holds more", path, (unsigned long)sum.generation);
}

static void
report_missed(struct dump *d, const char *path, const struct tnf_file *f)
{
	uint64_t blocks = tnf_file_missed(f);

	if (blocks == 0)
		return;
	dump_note(d, "%s: %llu blocks were overwritten before they were read: "
	    "trace less, or look when nothing is being traced", path,
	    (unsigned long long)blocks);
	d->lost = true;
}

static void
report_file(struct dump *d, const char *path, const struct tnf_file *f, struct losses *losses)
{
	struct loss l = losses_count(losses, tnf_file_ext(f));

	report_dropped(d, path, &l);
	report_shortened(d, path, &l);
	report_overwritten(d, path, f);
	report_missed(d, path, f);
}

static void
set_status(struct dump *d)
{
	if (d->lost && d->fail_on_loss && d->status == STATUS_OK)
		d->status = STATUS_LOST;
}

void
loss_report(struct dump *d)
{
	struct losses losses = { NULL, 0 };

	for (unsigned i = 0; i < d->n_inputs; i++)
		report_file(d, d->inputs[i].path, d->inputs[i].file, &losses);
	losses_free(&losses);
	set_status(d);
}

/* A message about a file that cannot be read has been printed before. */
static void
report_path(struct dump *d, const char *path, struct losses *losses)
{
	tnf_stream_t *stream;
	struct tnf_file *f;

	if (tnf_stream_new(&stream) != 0)
		return;
	/* Only --fail-on-loss needs all events read: it finds those whose schedule record
	   is gone. */
	if (!d->fail_on_loss)
		tnf_stream_lazily(stream, 1);
	if (tnf_stream_add(stream, path, &f) == 0)
		report_file(d, path, f, losses);
	tnf_stream_close(stream);
}

void
loss_report_paths(struct dump *d, char **paths)
{
	struct losses losses = { NULL, 0 };

	for (; *paths != NULL; paths++)
		report_path(d, *paths, &losses);
	losses_free(&losses);
	set_status(d);
}
