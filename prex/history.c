/*
 * history.c - the probe commands given so far.
 */
#include <stdlib.h>

#include "prex/history.h"
#include "prex/shell.h"
#include "prex/util.h"

const struct probe_op *
history_add(struct history *h, const struct probe_op *op)
{
	struct probe_op *new;

	h->v = tnf_xreallocarray(h->v, h->n + 1, sizeof *h->v);
	new = &h->v[h->n++];
	*new = *op;
	new->selectors->refs++;
	if (op->fcn != NULL) {
		new->fcn = tnf_xstrdup(op->fcn);
		new->symbol = tnf_xstrdup(op->symbol);
	}
	if (op->where != NULL)
		new->where = tnf_xstrdup(op->where);
	if (op->args != NULL)
		new->args = tnf_xstrdup(op->args);
	return new;
}

/* libtnfctl's callback has no argument for us. */
static struct shell *follower;

/* It is called for the probes that are there already as well; those of a
   child have what its parent was told. */
static _Thread_local bool introducing;

static void *
history_replay(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	struct shell *sh = follower;
	tnfctl_errcode_t err;

	if (introducing)
		return NULL;
	for (size_t i = 0; i < sh->history.n; i++) {
		err = probe_op_apply(sh, &sh->history.v[i], h, p);
		if (err != TNFCTL_ERR_NONE)
			shell_tnfctl_error(sh, ERROR_TARGET, err,
			    "error on new (dlopened) probe : ");
	}
	return NULL;
}

void
history_begin(struct shell *sh)
{
	follower = sh;
}

tnfctl_errcode_t
history_follow(tnfctl_handle_t *h)
{
	tnfctl_errcode_t err;

	introducing = true;
	err = tnfctl_register_funcs(h, history_replay, NULL);
	introducing = false;
	return err;
}

tnfctl_errcode_t
history_repeat(tnfctl_handle_t *h)
{
	return tnfctl_register_funcs(h, history_replay, NULL);
}

void
history_free(struct history *h)
{
	while (h->n > 0) {
		struct probe_op *op = &h->v[--h->n];

		tnf_selectors_unref(op->selectors);
		free(op->fcn);
		free(op->symbol);
		free(op->where);
		free(op->args);
	}
	free(h->v);
}
