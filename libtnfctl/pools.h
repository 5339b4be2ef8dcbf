/*
 * pools.h - the probes that a target has made at run time.
 */
#ifndef LIBTNFCTL_POOLS_H
#define LIBTNFCTL_POOLS_H

#include "libtnfctl/handle.h"

/* Brings those of h->probes up to date, and adds what came; then *came is set. */
tnfctl_errcode_t tnfctl_pools_read(tnfctl_handle_t *, bool *came);
/* Has the target made any since they were read?  One word of it is looked at. */
bool	tnfctl_pools_grown(tnfctl_handle_t *);

#endif
