/*
 * kernel.h - what the kernel-mode commands share.
 */
#ifndef PREX_KERNEL_H
#define PREX_KERNEL_H

#include <stdbool.h>

#include <tnf/tnfctl.h>

struct shell;

/* False, and an error message: there are none. */
bool	kernel_attrs(struct shell *, tnfctl_trace_attrs_t *);
/* Nothing can be traced while the filter is on and empty: say so. */
void	kernel_check_filter(struct shell *);

#endif
