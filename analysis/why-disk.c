/*
 * why-disk.c - the block request that a thread waited for, and those that were ahead of it.
 */
#include <ctype.h>
#include <stdio.h>

#include "analysis/why-impl.h"
#include "analysis/why-text.h"

/* So many requests before the node's are looked at. */
#define LOOK_BACK	2048u

const struct why_request *
why_request(const struct why *w, const struct why_node *n)
{
	return n->request == 0 || n->request > w->n_requests ? NULL : &w->requests[n->request - 1];
}

/* The disk without the number of a partition: vda of vda1, nvme0n1 of nvme0n1p2. */
static const char *
disk_of(struct why *w, const struct why_request *r, char disk[32])
{
	const char *name = w->source.device == NULL ? NULL :
	    w->source.device(w->source.arg, r->file, r->device);
	size_t n;

	if (name == NULL) {
		snprintf(disk, 32, "%llu:%llu", (unsigned long long)(r->device >> 20),
		    (unsigned long long)(r->device & 0xfffff));
		return disk;
	}
	n = (size_t)snprintf(disk, 32, "%.31s", name);
	if (n > 31)
		n = 31;
	size_t end = n;
	while (n > 0 && isdigit((unsigned char)disk[n - 1]))
		n--;
	if (n > 1 && n < end && disk[n - 1] == 'p' && isdigit((unsigned char)disk[n - 2]))
		disk[n - 1] = '\0';
	else if (n > 2 && (disk[0] == 's' || disk[0] == 'v' || disk[0] == 'h') && disk[1] != 'r')
		disk[n] = '\0';
	return disk;
}

const char *
why_disk(struct why *w, const struct why_node *n)
{
	const struct why_request *r = why_request(w, n);

	return r != NULL ? disk_of(w, r, w->disk) : NULL;
}

/* Notes for each request when the last of it and of those before it ended. */
static void
note_ends(struct why *w)
{
	int64_t latest = w->n_latest > 0 ? w->requests[w->n_latest - 1].latest_end : INT64_MIN;

	for (; w->n_latest < w->n_requests; w->n_latest++) {
		struct why_request *r = &w->requests[w->n_latest];

		if (r->end != INT64_MAX && r->end > latest)
			latest = r->end;
		r->latest_end = latest;
	}
}

int64_t
why_held_back(struct why *w, const struct why_node *n)
{
	const struct why_request *r = why_request(w, n);

	/* Another thread began the request when most of the sleep was over: a worker of the kernel
	   that lets requests go on.  A thread that submits its own request sleeps afterwards. */
	return r == NULL || r->thread == n->thread || r->start < n->from + (n->to - n->from) / 2 ? 0 :
	    r->start - n->from;
}

unsigned
why_ahead(struct why *w, const struct why_node *n, uint32_t *most)
{
	const struct why_request *r = why_request(w, n);
	struct { uint32_t thread; unsigned n; } by[8] = { { 0, 0 } };
	char mine[32], other[32];
	unsigned ahead = 0, best = 0;

	*most = 0;
	if (r == NULL)
		return 0;
	note_ends(w);
	disk_of(w, r, mine);
	for (uint32_t i = n->request - 1, seen = 0; i-- > 0 && seen < LOOK_BACK; seen++) {
		const struct why_request *a = &w->requests[i];

		if (a->latest_end <= r->start || a->latest_end <= n->from)
			break;
		/* Layers of one request begin together: only what was there before counts. */
		if (a->end == INT64_MAX || a->end <= r->start || a->end <= n->from || a->start + 1000 >= r->start ||
		    (a->device != r->device && strcmp(disk_of(w, a, other), mine) != 0))
			continue;
		ahead++;
		for (unsigned k = 0; k < 8; k++)
			if (by[k].n == 0 || by[k].thread == a->thread) {
				by[k].thread = a->thread;
				if (++by[k].n > by[best].n)
					best = k;
				break;
			}
	}
	*most = by[best].n > 0 ? by[best].thread : 0;
	return ahead;
}
