/*
 * history.h - the probe commands given so far, for probes that come later.
 */
#ifndef PREX_HISTORY_H
#define PREX_HISTORY_H

#include <stddef.h>

#include "prex/probe-op.h"

struct shell;

struct history {
	struct probe_op *v;
	size_t	n;
};

/* Takes references: op may go. */
const struct probe_op *history_add(struct history *, const struct probe_op *op);
/* Whose history new probes get. */
void	history_begin(struct shell *);
/* From now on every new probe of the target gets the whole history. */
tnfctl_errcode_t history_follow(tnfctl_handle_t *);
/* The handle is on another program now: its probes get the history. */
tnfctl_errcode_t history_repeat(tnfctl_handle_t *);
void	history_free(struct history *);

#endif
