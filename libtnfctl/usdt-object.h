/*
 * usdt-object.h - the USDT probes of one file: sites of the same name together.
 *
 * A macro in an inlined function, or used twice, makes several sites of one
 * name.  They are one probe: its arguments are those of all sites, which may find
 * them in different places.
 */
#ifndef LIBTNFCTL_USDT_OBJECT_H
#define LIBTNFCTL_USDT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtnfctl/usdt-args.h"

#define USDT_NAME_MAX	128u	/* of a provider and of a name, NUL included */

struct elffile;

struct usdt_site {
	uint64_t address;	/* without the bias */
	uint64_t offset;	/* of the nop in the file */
	uint64_t ref_ctr;	/* of its semaphore in the file; 0: none */
	unsigned n;
	struct kp_operand v[KP_OPERANDS_MAX];
};

struct usdt_probe {
	char	 provider[USDT_NAME_MAX], name[USDT_NAME_MAX];
	struct usdt_site *sites;
	size_t	 nsites;
	unsigned nargs;		/* the most that a site has */
	/* Of each argument: bytes, sign; 0 bytes: a site's cannot be read. */
	uint8_t	 size[KP_OPERANDS_MAX], sign[KP_OPERANDS_MAX];
	char	 why[96];	/* which cannot be read, and why; or "" */
	const char *refused;	/* why a site takes no breakpoint; static; NULL: all do */
};

struct usdt_object {
	struct usdt_probe *v;	/* in the order of the notes */
	size_t	 n;
	size_t	 skipped;	/* notes that no probe can be made of */
};

/* All probes of a file; false: no memory.  No notes: n is 0. */
bool	tnfctl_usdt_object_read(struct elffile *, struct usdt_object *ret);
void	tnfctl_usdt_object_free(struct usdt_object *);

#endif
