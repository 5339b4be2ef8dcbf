/*
 * uprobe.h - probes in programs, by breakpoints of the kernel: USDT, functions.
 *
 * ELF files tell where the probes and their arguments are, but we do not read them:
 * whoever opens a session gives us a finder, and we ask the finder again in later
 * sessions, and each time a probe is attached.
 */
#ifndef KERNEL_PROBES_UPROBE_H
#define KERNEL_PROBES_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel-probes/operand.h"

#define KP_SYMBOL_MAX	256u	/* NUL included */
#define KP_FILE_MAX	768u	/* of a path, the same */

#define KP_UPROBE_FUNCTION	1u	/* 'symbol' is a function's name */
#define KP_UPROBE_RETURN	2u	/* hit when that function returns */
/* The kernel exchanges the address to return to while the function runs, which ends a
   program whose exceptions pass it: only users who name the return probe get it. */
#define KP_UPROBE_UNWOUND	4u
#define KP_UPROBE_NO_RETURN	8u	/* the return cannot be probed at all: a Go program */

/* Which probe it is.  Pinned: a change needs a new KP_LAYOUT. */
struct kp_uprobe_spec {
	int32_t	 pid;		/* of this process alone; 0: of all */
	uint32_t flags;		/* KP_UPROBE_* */
	uint64_t started;	/* when the process started, as in /proc/PID/stat */
	/* Or "provider:name" of a USDT probe; behind a blank, the names and types of its
	   arguments that somebody has given (kp_probe_args()). */
	char	 symbol[KP_SYMBOL_MAX];
	char	 path[KP_FILE_MAX];	/* of the file, as we can open it */
	char	 shown[KP_FILE_MAX / 2];	/* the path that people know it by */
};

struct kp_site {		/* one place of a probe */
	uint64_t offset;	/* of the instruction, in the file */
	uint64_t ref_ctr;	/* of the place's semaphore; 0: none */
	unsigned n;
	struct kp_operand v[KP_OPERANDS_MAX];	/* 'at' and 'store' are ours */
	struct kp_hops hop[KP_OPERANDS_MAX];
};

struct kp_uprobe_found {
	struct kp_site *site;	/* malloc'ed */
	unsigned sites;
	unsigned members;	/* one for each argument, and KP_UNREAD */
	struct {
		const char *type;	/* static; NULL: it is not recorded */
		char name[32];
	} member[KP_OPERANDS_MAX + 1];
	char	 attrs[256];	/* "name value;" each */
	char	 why[160];	/* after a failure */
};

/* 0, or a negative errno with 'why'. */
typedef int kp_uprobe_find_f(const struct kp_uprobe_spec *, struct kp_uprobe_found *ret);

/* Sets the finder for all sessions of this program. */
void	kp_uprobe_finder(kp_uprobe_find_f *);

/* The attributes of a function's probe that tell which it is, "name value;" each. */
#define KP_FUNCTION_ATTRS	(3 * KP_SYMBOL_MAX + 128)
void	kp_uprobe_function_attrs(const struct kp_uprobe_spec *, char ret[KP_FUNCTION_ATTRS]);

struct kp;

/* Adds a probe, which is off; one that is there stays as it is.  keys: separated
   by blanks.  -E2BIG: a name is too long; -ESRCH: there is no such process. */
int	kp_uprobe_add(struct kp *, const char *name, const char *keys,
	    const struct kp_uprobe_spec *, unsigned *ret_id);

#endif /* KERNEL_PROBES_UPROBE_H */
