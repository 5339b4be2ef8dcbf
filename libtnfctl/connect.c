/*
 * connect.c - functions of the target that run at a probe.
 *
 * A probe points to a NULL-terminated array of functions.  The arrays lie in
 * a pool inside libtnfprobe that we only append to: a thread of the target
 * may have been stopped while it went through any of them.  So that the pool
 * lasts, probes with the same functions share an array.
 */
#include <inttypes.h>

#include "libtnfctl/control.h"

#define FUNCTIONS_MAX	64u		/* connected to one probe */
#define NAME_MAX_	256u
#define POOL(h)	CONTROL(h, chains)

struct chain {
	size_t	 n;
	uint64_t f[FUNCTIONS_MAX + 1];	/* 0 ends */
};

static bool
chain_read(tnfctl_handle_t *h, const tnfctl_probe_t *p, struct chain *ret)
{
	ret->n = 0;
	if (p->chain == 0)
		return true;
	for (; ret->n <= FUNCTIONS_MAX; ret->n++) {
		if (!h->ops->read(h, p->chain + ret->n * sizeof(ret->f[0]),
		    &ret->f[ret->n], sizeof(ret->f[0])))
			return false;
		if (ret->f[ret->n] == 0)
			return true;
	}
	return false;
}

static tnfctl_errcode_t
connect_unreadable(tnfctl_handle_t *h)
{
	return tnfctl_error_lost(h, "its list of connected functions makes no sense");
}

/* The index at which the pool has this array already; TNF_CHAIN_SLOTS: it has none. */
static size_t
connect_find(const uint64_t *pool, size_t used, const struct chain *c)
{
	for (size_t i = 0; i + c->n + 1 <= used; i++)
		if (memcmp(&pool[i], c->f, (c->n + 1) * sizeof(c->f[0])) == 0)
			return i;
	return TNF_CHAIN_SLOTS;
}

static tnfctl_errcode_t
chain_place(tnfctl_handle_t *h, const struct chain *c, uintptr_t *ret)
{
	uintptr_t used_at = CONTROL(h, chain_used);
	uint64_t pool[TNF_CHAIN_SLOTS], used;
	size_t at;

	if (!h->ops->read(h, used_at, &used, sizeof(used)) ||
	    used > TNF_CHAIN_SLOTS ||
	    !h->ops->read(h, POOL(h), pool, used * sizeof(pool[0])))
		return connect_unreadable(h);
	at = connect_find(pool, used, c);
	*ret = POOL(h) + at * sizeof(pool[0]);
	if (at < TNF_CHAIN_SLOTS)
		return TNFCTL_ERR_NONE;
	at = used;
	used += c->n + 1;
	if (used > TNF_CHAIN_SLOTS)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: no room for more "
		    "combinations of connected functions", (int)h->pid);
	*ret = POOL(h) + at * sizeof(pool[0]);
	if (!h->ops->write(h, *ret, c->f, (c->n + 1) * sizeof(c->f[0])) ||
	    !h->ops->write(h, used_at, &used, sizeof(used)))
		return connect_unreadable(h);
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
chain_set(tnfctl_handle_t *h, tnfctl_probe_t *p, uintptr_t chain)
{
	uint64_t word = chain;

	if (!h->ops->write(h, p->address +
	    offsetof(struct tnf_probe_control, chain), &word, sizeof(word)))
		return connect_unreadable(h);
	p->chain = chain;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_control_connect(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *lib,
    const char *func)
{
	uintptr_t function, place;
	struct chain chain;
	tnfctl_errcode_t err;

	if ((err = tnfctl_control_usable(h, p)) != TNFCTL_ERR_NONE || func == NULL)
		return err;
	if (!tnfctl_objects_function(h, lib, func, &function))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: no function of this name "
		    "in %s", func, lib ? lib : "any object of the target");
	if (!chain_read(h, p, &chain))
		return connect_unreadable(h);
	if (chain.n == FUNCTIONS_MAX)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "probe %lu: it has %u "
		    "functions already", p->id, FUNCTIONS_MAX);
	memmove(chain.f + 1, chain.f, (chain.n + 1) * sizeof(chain.f[0]));
	chain.f[0] = function;
	chain.f[++chain.n] = 0;
	if ((err = chain_place(h, &chain, &place)) != TNFCTL_ERR_NONE)
		return err;
	return chain_set(h, p, place);
}

tnfctl_errcode_t
tnfctl_control_disconnect(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	tnfctl_errcode_t err = tnfctl_control_usable(h, p);

	return err != TNFCTL_ERR_NONE ? err : chain_set(h, p, 0);
}

/* Copies the names behind the pointers to them, into one piece of memory. */
static tnfctl_errcode_t
name_functions(tnfctl_handle_t *h, tnfctl_probe_t *p, const struct chain *c)
{
	size_t heads = (c->n + 1) * sizeof(char *), i;
	char *text;

	free(p->func_names);
	free(p->func_addrs);
	p->func_names = malloc(heads + c->n * NAME_MAX_);
	p->func_addrs = calloc(c->n + 1, sizeof(*p->func_addrs));
	if (p->func_names == NULL || p->func_addrs == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	text = (char *)p->func_names + heads;
	for (i = 0; i < c->n; i++, text += NAME_MAX_) {
		p->func_addrs[i] = c->f[i];
		p->func_names[i] = text;
		if (!tnfctl_objects_function_at(h, c->f[i], text, NAME_MAX_))
			snprintf(text, NAME_MAX_, "func@0x%" PRIx64, c->f[i]);
	}
	p->func_names[c->n] = NULL;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_control_probe_state(tnfctl_handle_t *h, tnfctl_probe_t *p,
    tnfctl_probe_state_t *ret)
{
	struct chain chain = { 0 };
	tnfctl_errcode_t err;

	if (p->gone)
		return tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
		    "probe %lu: its object is not loaded any more", p->id);
	if (p->chain != 0) {
		if (!chain_read(h, p, &chain))
			chain.n = 0;
		err = name_functions(h, p, &chain);
		if (err != TNFCTL_ERR_NONE)
			return err;
	}
	ret->obj_name = p->object->name;
	ret->func_names = chain.n ? p->func_names : NULL;
	ret->func_addrs = chain.n ? p->func_addrs : NULL;
	return TNFCTL_ERR_NONE;
}
