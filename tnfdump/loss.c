/*
 * loss.c - events that the writers could not record, or we not read in time.
 */
#include <stdio.h>

#include "tnfdump/info.h"
#include "tnfdump/input.h"
#include "tnfdump/loss.h"

static bool fail_on_loss;

int
fail_on_loss_set(struct dump *d, const char *arg)
{
	fail_on_loss = true;
	return 0;
}

static uint64_t
report_file(const struct input *in)
{
	const struct tnf_ext *x = tnf_file_ext(in->file);
	const char *name, *between = "";
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; x != NULL && i < TNF_LOST_REASONS; i++)
		sum += x->lost[i];
	if (sum == 0)
		return 0;
	fprintf(stderr, NAME ": %s: %llu events were lost (", in->path,
	    (unsigned long long)sum);
	for (i = 0; i < TNF_LOST_REASONS; i++) {
		if (x->lost[i] == 0)
			continue;
		name = info_lost_name(i);
		fprintf(stderr, "%s%s: %llu", between,
		    name != NULL ? name : "other",
		    (unsigned long long)x->lost[i]);
		between = ", ";
	}
	fprintf(stderr, ")\n");
	return sum;
}

static void
report_missed(struct dump *d, const struct input *in)
{
	uint64_t blocks = tnf_file_missed(in->file);

	if (blocks == 0)
		return;
	dump_note(d, "%s: %llu blocks were overwritten before they were read: "
	    "trace less, or look when nothing is being traced", in->path,
	    (unsigned long long)blocks);
	d->lost = true;
}

void
loss_report(struct dump *d)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < d->n_inputs; i++) {
		sum += report_file(&d->inputs[i]);
		report_missed(d, &d->inputs[i]);
	}
	if ((sum > 0 || d->lost) && fail_on_loss && d->status == STATUS_OK)
		d->status = STATUS_LOST;
}
