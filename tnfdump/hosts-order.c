/*
 * hosts-order.c - decides if the order of events of different machines is certain.
 */
#include "common/xalloc.h"
#include "tnfdump/hosts-impl.h"

static int64_t
hosts_slack(const struct hosts *h, unsigned earlier, unsigned later)
{
	if (h->slack != NULL)
		return h->slack[(size_t)earlier * h->n + later];
	return h->list[earlier].error + h->list[later].error;
}

void
hosts_order_begin(struct hosts *h)
{
	int64_t s;

	h->last = tnf_xcalloc(h->n, sizeof(*h->last));
	h->recent = tnf_xcalloc(h->n, sizeof(*h->recent));
	for (unsigned i = 0; i < h->n; i++)
		for (unsigned k = 0; h->slack != NULL && k < h->n; k++)
			if (i != k && (s = hosts_slack(h, i, k)) > h->slack_max)
				h->slack_max = s;
	for (unsigned i = 0; i < h->n && h->slack == NULL; i++)
		if (2 * h->list[i].error > h->slack_max)
			h->slack_max = 2 * h->list[i].error;
}

/* Moves the event's host to the front of the list of recent hosts. */
static void
hosts_note_event(struct hosts *h, unsigned host, int64_t time)
{
	unsigned i = 0;

	while (i < h->n_recent && h->recent[i] != host)
		i++;
	if (i == h->n_recent)
		h->n_recent++;
	memmove(h->recent + 1, h->recent, i * sizeof(*h->recent));
	h->recent[0] = host;
	h->last[host] = time;
}

void
hosts_see(struct dump *d, const struct tnf_event *ev)
{
	struct hosts *h = d->hosts;
	int64_t before;

	if (h == NULL || !hosts_placed(d, ev))
		return;
	unsigned host = tnf_file_host(ev->file);
	d->unordered = false;
	for (unsigned i = 0; i < h->n_recent && !d->unordered; i++) {
		unsigned other = h->recent[i];
		if (__builtin_sub_overflow(ev->time, h->last[other], &before) ||
		    before > h->slack_max)
			break;
		d->unordered = other != host && before < hosts_slack(h, other, host);
	}
	hosts_note_event(h, host, ev->time);
}
