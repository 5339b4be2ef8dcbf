/*
 * usdt-find.h - a probe of a file, for kernel-probes to attach (uprobe.h).
 */
#ifndef LIBTNFCTL_USDT_FIND_H
#define LIBTNFCTL_USDT_FIND_H

#include "kernel-probes/uprobe.h"
#include "libtnfctl/usdt-catalogue.h"
#include "libtnfctl/usdt-object.h"

/* The probes of an open file; they stay until the next call of this thread, which
   may be for another.  NULL: it is no ELF file of this machine. */
const struct usdt_object *tnfctl_usdt_probes_of(int fd);

/* How the arguments are recorded, if they are called so (usdt-catalogue.h);
   ret->site is not touched. */
void	tnfctl_usdt_describe(const struct usdt_probe *, const struct usdt_args_named *,
	    struct kp_uprobe_found *ret);

/* kp_uprobe_find_f for USDT probes. */
int	tnfctl_usdt_find(const struct kp_uprobe_spec *, struct kp_uprobe_found *ret);

/* "provider:name", as kp_uprobe_spec.symbol has it; false: too long. */
bool	tnfctl_usdt_symbol(const struct usdt_probe *, char *ret, size_t size);

#endif
