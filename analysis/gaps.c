/*
 * gaps.c - finds missing blocks by the numbers of those that are there.
 */
#include "analysis/gaps.h"
#include "common/xalloc.h"

#define CPUS_MAX	4096

static uint32_t *
gaps_block(struct gaps *g, unsigned host, int cpu)
{
	if (host >= g->n_hosts) {
		g->hosts = tnf_xreallocarray(g->hosts, host + 1, sizeof(*g->hosts));
		memset(g->hosts + g->n_hosts, 0, (host + 1 - g->n_hosts) * sizeof(*g->hosts));
		g->n_hosts = host + 1;
	}
	struct gaps_host *h = &g->hosts[host];
	if (cpu >= h->n) {
		h->block = tnf_xreallocarray(h->block, (size_t)cpu + 1, sizeof(*h->block));
		memset(h->block + h->n, 0, (size_t)(cpu + 1 - h->n) * sizeof(*h->block));
		h->n = cpu + 1;
	}
	return &h->block[cpu];
}

enum gap
gaps_feed(struct gaps *g, const struct tnf_event *ev)
{
	uint32_t *block, before;

	if (!ev->kernel || ev->cpu < 0 || ev->cpu >= CPUS_MAX)
		return GAP_NONE;
	block = gaps_block(g, tnf_file_host(ev->file), ev->cpu);
	before = *block;
	/* A smaller number is no gap: the event can be later than the first one of the next block. */
	if (ev->block <= before)
		return GAP_NONE;
	*block = ev->block;
	if (before == 0)
		return ev->block > 1 ? GAP_BEGINNING : GAP_NONE;
	return ev->block != before + 1 ? GAP_BETWEEN : GAP_NONE;
}

void
gaps_free(struct gaps *g)
{
	for (unsigned i = 0; i < g->n_hosts; i++)
		free(g->hosts[i].block);
	free(g->hosts);
	*g = (struct gaps){ NULL, 0 };
}
