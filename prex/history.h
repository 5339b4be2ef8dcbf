/*
 * history.h - the probe commands given so far, for probes that come later.
 */
#ifndef PREX_HISTORY_H
#define PREX_HISTORY_H

#include <stddef.h>

#include "probe-op.h"

struct shell;

struct history {
	struct probe_op *v;
	size_t	n;
};

/* Takes references: op may go. */
const struct probe_op *history_add(struct history *, const struct probe_op *op);
/* From now on every new probe gets the whole history. */
tnfctl_errcode_t history_follow(struct shell *);
void	history_free(struct history *);

#endif
