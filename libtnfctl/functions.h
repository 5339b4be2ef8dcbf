/*
 * functions.h - functions of programs and libraries as probes: NAME_entry, which has
 * what it was called with, and NAME_return, with its result.  Debugging information tells
 * names and types; without it there are the first six words, and one.
 */
#ifndef LIBTNFCTL_FUNCTIONS_H
#define LIBTNFCTL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel-probes/uprobe.h"

#define FUNCTIONS_MAX	512u	/* that one pattern may choose of a file */

/*
 * Calls fn for each function of an open file whose name the pattern fits: a regular
 * expression between slashes, or a name.  Returns how many fit, of which fn gets
 * FUNCTIONS_MAX at most; -1: the pattern is none, or it is no ELF file.
 */
long	tnfctl_functions_choose(int fd, const char *pattern,
	    bool (*fn)(void *arg, const char *name), void *arg);

/* KP_UPROBE_UNWOUND, KP_UPROBE_NO_RETURN or 0, for all functions of an open file: may a
   return be traced? */
uint32_t tnfctl_functions_returns(int fd);

/* kp_uprobe_find_f for functions. */
int	tnfctl_functions_find(const struct kp_uprobe_spec *, struct kp_uprobe_found *ret);

#endif
