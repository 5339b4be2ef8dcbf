/*
 * pools.c - the probes that a target has made at run time.
 *
 * Their control blocks lie in a chain of pools (target.h), the newest first.  Blocks
 * are completed in any order and never go.  All of it is the target's claim.
 */
#include <stddef.h>
#include <stdlib.h>

#include "libtnfctl/control.h"
#include "libtnfctl/objects.h"

#define POOLS_MAX	16384u
#define POOL_MAX	(1u << 20)	/* bytes of one */

struct pool {
	uintptr_t address;		/* of its first block */
	size_t	 size;
};

/* A block: its probe is known, and may have been switched by others, or is new. */
static tnfctl_errcode_t
read_block(tnfctl_handle_t *h, struct text *text, uintptr_t address,
    const struct tnf_probe_control *block)
{
	tnfctl_probe_t **known = tnf_map_get(&h->pooled, &address, sizeof(address));
	size_t before = h->nprobes;
	tnfctl_errcode_t err;

	if (known != NULL) {
		tnfctl_control_take_state(*known, block);
		return TNFCTL_ERR_NONE;
	}
	err = tnfctl_control_add_probe(h, text, address, block);
	if (err != TNFCTL_ERR_NONE || h->nprobes == before)
		return err;
	known = tnf_map_put(&h->pooled, &address, sizeof(address), NULL);
	if (known == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	*known = h->probes[before];
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
read_pool(tnfctl_handle_t *h, struct text *text, const struct pool *pool)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct tnf_probe_control block;
	char *copy = malloc(pool->size + 1);
	size_t at = 0;

	if (copy == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (!h->ops->read(h, pool->address, copy, pool->size)) {
		free(copy);
		return TNFCTL_ERR_NONE;
	}
	for (; err == TNFCTL_ERR_NONE && tnfctl_control_next_block(copy, pool->size,
	    &at, &block); at += block.size)
		err = read_block(h, text, pool->address + at, &block);
	free(copy);
	return err;
}

/* Finds the pools, and returns how many there are. */
static size_t
find_pools(tnfctl_handle_t *h, struct pool **ret)
{
	struct tnf_probe_pool head;
	struct pool *grown;
	size_t n = 0;

	*ret = NULL;
	for (uintptr_t at = h->pools; at != 0 && n < POOLS_MAX; at = (uintptr_t)head.next) {
		if (!h->ops->read(h, at, &head, sizeof(head)) ||
		    head.size > POOL_MAX)
			break;
		if ((grown = realloc(*ret, (n + 1) * sizeof(*grown))) == NULL)
			break;
		*ret = grown;
		grown[n].address = at + sizeof(head);
		grown[n++].size = head.size;
	}
	return n;
}

tnfctl_errcode_t
tnfctl_pools_read(tnfctl_handle_t *h, bool *came)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	size_t n, before = h->nprobes;
	struct text *text;
	struct pool *pool;

	if (h->control == 0 || h->pools == 0)
		return TNFCTL_ERR_NONE;
	if ((text = tnfctl_text_new()) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (h->pooled.value_size == 0)
		tnf_map_init(&h->pooled, sizeof(tnfctl_probe_t *));
	/* Before the blocks: what comes meanwhile is looked for again. */
	if (!h->ops->read(h, CONTROL(h, defined), &h->defined,
	    sizeof(h->defined)))
		h->defined = 0;
	/* The oldest first, so that probes have the order in which they were made. */
	n = find_pools(h, &pool);
	while (n > 0 && err == TNFCTL_ERR_NONE)
		err = read_pool(h, text, &pool[--n]);
	free(pool);
	free(text);
	*came |= h->nprobes > before;
	return err;
}

bool
tnfctl_pools_grown(tnfctl_handle_t *h)
{
	uint64_t now;

	return h->control != 0 && h->pools_told && h->ops->read(h,
	    CONTROL(h, defined), &now, sizeof(now)) && now != h->defined;
}
