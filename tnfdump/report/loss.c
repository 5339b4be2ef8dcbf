/*
 * loss.c - events that the writers could not record, or we not read in time.
 */
#include "analysis/losses.h"
#include "common/printable.h"
#include "tnfdump/input.h"
#include "tnfdump/report/loss.h"

static void
report_dropped(struct dump *d, const char *path, const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);
	const char *name, *between = "";
	uint64_t sum = loss_dropped(f);

	if (sum == 0)
		return;
	d->lost = true;
	tnf_printable_printf(stderr, NAME ": %s: %llu events were lost (", path,
	    (unsigned long long)sum);
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++) {
		if (x->lost[i] == 0)
			continue;
		name = loss_name(i);
		tnf_printable_printf(stderr, "%s%s: %llu", between,
		    name != NULL ? name : "other",
		    (unsigned long long)x->lost[i]);
		between = ", ";
	}
	tnf_printable_printf(stderr, ")\n");
}

uint64_t
loss_dropped(const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);
	uint64_t sum = 0;

	for (unsigned i = 0; x != NULL && i < TNF_LOST_REASONS; i++)
		sum += x->lost[i];
	return sum;
}

static void
report_shortened(struct dump *d, const char *path, const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);

	if (x == NULL || x->shortened == 0)
		return;
	dump_note(d, "%s: %llu values are not whole: their events had no room for more",
	    path, (unsigned long long)x->shortened);
	d->lost = true;
}

/* That a ring keeps the newest is what it is for: told to who asks. */
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
report_file(struct dump *d, const char *path, const struct tnf_file *f)
{
	report_dropped(d, path, f);
	report_shortened(d, path, f);
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
	for (unsigned i = 0; i < d->n_inputs; i++)
		report_file(d, d->inputs[i].path, d->inputs[i].file);
	set_status(d);
}

/* What cannot be read has been told. */
static void
report_path(struct dump *d, const char *path)
{
	tnf_stream_t *stream;
	struct tnf_file *f;

	if (tnf_stream_new(&stream) != 0)
		return;
	/* Only events whose schedule is gone must be looked for. */
	if (!d->fail_on_loss)
		tnf_stream_lazily(stream, 1);
	if (tnf_stream_add(stream, path, &f) == 0)
		report_file(d, path, f);
	tnf_stream_close(stream);
}

void
loss_report_paths(struct dump *d, char **paths)
{
	for (; *paths != NULL; paths++)
		report_path(d, *paths);
	set_status(d);
}
