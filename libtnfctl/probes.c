/*
 * probes.c - the probes of a handle, and how clients go through them.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnfctl/handle.h"
#include "libtnfctl/imports.h"

tnfctl_probe_t *
tnfctl_probe_add(tnfctl_handle_t *h, const char *attrs)
{
	tnfctl_probe_t *p, **grown;
	size_t room;

	if (h->nprobes == h->room) {
		room = h->room ? h->room * 2 : 64;
		grown = realloc(h->probes, room * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		h->probes = grown;
		h->room = room;
	}
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return NULL;
	if ((p->attrs = strdup(attrs)) == NULL) {
		free(p);
		return NULL;
	}
	p->id = h->first_id + h->nprobes;
	p->new_probe = true;
	h->probes[h->nprobes++] = p;
	return p;
}

void
tnfctl_probes_created(tnfctl_handle_t *h, size_t first)
{
	for (size_t i = first; i < h->nprobes && h->create != NULL; i++)
		h->probes[i]->client = h->create(h, h->probes[i]);
}

static tnfctl_errcode_t
probes_look(tnfctl_handle_t *h)
{
	return h->ops->look ? h->ops->look(h) : TNFCTL_ERR_NONE;
}

static void
call_destroy(tnfctl_handle_t *h)
{
	for (size_t i = 0; i < h->nprobes && h->destroy != NULL; i++)
		h->destroy(h->probes[i]->client);
}

void
tnfctl_probes_destroy(tnfctl_handle_t *h)
{
	call_destroy(h);
	for (size_t i = 0; i < h->nprobes; i++) {
		tnfctl_import_free(h->probes[i]->import);
		free(h->probes[i]->attrs);
		free(h->probes[i]->func_names);
		free(h->probes[i]->func_addrs);
		free(h->probes[i]);
	}
	free(h->probes);
	h->probes = NULL;
	h->nprobes = 0;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_register_funcs(tnfctl_handle_t *h,
    void *(*create)(tnfctl_handle_t *, tnfctl_probe_t *),
    void (*destroy)(void *))
{
	tnfctl_errcode_t err = probes_look(h);

	if (err != TNFCTL_ERR_NONE)
		return err;
	call_destroy(h);
	h->create = create;
	h->destroy = destroy;
	tnfctl_probes_created(h, 0);
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_apply(tnfctl_handle_t *h, tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = probes_look(h);

	if (err != TNFCTL_ERR_NONE)
		return err;
	for (size_t i = 0; i < h->nprobes; i++)
		if (!h->probes[i]->gone &&
		    (err = op(h, h->probes[i], arg)) != TNFCTL_ERR_NONE)
			return err;
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_apply_ids(tnfctl_handle_t *h, unsigned long n, unsigned long *ids,
    tnfctl_probe_op_t op, void *arg)
{
	tnfctl_errcode_t err = probes_look(h);
	unsigned long i, at;

	if (err != TNFCTL_ERR_NONE)
		return err;
	for (i = 0; i < n; i++) {
		at = ids[i] - h->first_id;
		if (ids[i] < h->first_id || at >= h->nprobes ||
		    h->probes[at]->gone)
			return tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
			    "probe %lu: there is none of this number", ids[i]);
		if ((err = op(h, h->probes[at], arg)) != TNFCTL_ERR_NONE)
			return err;
	}
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_state_get(tnfctl_handle_t *h, tnfctl_probe_t *p,
    tnfctl_probe_state_t *ret)
{
	return h->ops->probe_state(h, p, ret);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_enable(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return h->ops->probe_set(h, p, PROBE_ENABLE);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_disable(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return h->ops->probe_set(h, p, PROBE_DISABLE);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_trace(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return h->ops->probe_set(h, p, PROBE_TRACE);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_untrace(tnfctl_handle_t *h, tnfctl_probe_t *p, void *ignored)
{
	return h->ops->probe_set(h, p, PROBE_UNTRACE);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_disconnect_all(tnfctl_handle_t *h, tnfctl_probe_t *p,
    void *ignored)
{
	if (p->import != NULL)
		return TNFCTL_ERR_NONE;
	if (h->ops->probe_disconnect == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "functions cannot be connected to the kernel's probes");
	return h->ops->probe_disconnect(h, p);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_connect(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *lib,
    const char *func)
{
	if (p->import != NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "functions cannot be connected to "
		    "imported probes: the kernel runs those");
	if (h->ops->probe_connect == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "functions cannot be connected to the kernel's probes");
	return h->ops->probe_connect(h, p, lib, func);
}
