/*
 * kernel.h - what the kernel-mode commands share.
 */
#ifndef PREX_KERNEL_H
#define PREX_KERNEL_H

#include <stdbool.h>

#include <tnf/tnfctl.h>

struct tnf_selectors;
struct shell;

/* False, and an error message: there are none. */
bool	kernel_attrs(struct shell *, tnfctl_trace_attrs_t *);
/* Probes of raw I/O cost every system call: only who names them gets them in any
   case ("on") or, from then on, only while a raw device is open. */
void	kernel_ask_rawio(struct shell *, const struct tnf_selectors *, bool on);
/* Nothing can be traced while the filter is on and empty: say so. */
void	kernel_check_filter(struct shell *);

#endif
