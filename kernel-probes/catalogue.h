/*
 * catalogue.h - the kernel's probes: one row has all that there is to know of each.
 */
#ifndef KERNEL_PROBES_CATALOGUE_H
#define KERNEL_PROBES_CATALOGUE_H

#include <stdint.h>

#include "kernel-probes/programs.h"
#include "kernel-probes/record.h"

enum kp_fidelity {
	KP_EXACT,		/* same event, same members */
	KP_NEAREST,		/* same event, a member means something else */
	KP_DERIVED,		/* no single hook: computed from several */
};

#define KP_MEMBERS_MAX	5

struct kp_member {
	const char *type;
	const char *name;
};

struct kp_row {
	const char	*name;
	const char	*keys;
	const char	*file;		/* where the event is written */
	int		 line;
	struct kp_member member[KP_MEMBERS_MAX + 1];	/* a null name ends */
	unsigned	 size;		/* of the event */
	/* Programs that must run; in 'extra': those that improve it if they can run. */
	uint64_t	 needs, extra;
	enum kp_fidelity fidelity;
	const char	*when;		/* it fires, one sentence (mdoc text) */
	const char	*differs;	/* from the original, or NULL */
	const char	*example;	/* of what tnfdump shows, or NULL: no members */
	const char	*says;		/* what the example tells */
};

extern const struct kp_row kp_catalogue[KP_PROBES];	/* by enum kp_id */

struct kp_program_row {
	const char	*name;
	enum kp_kind	 kind;
	const char	*hook;
};

extern const struct kp_program_row kp_programs[KP_PROGRAM_COUNT];

const char *kp_fidelity_name(enum kp_fidelity);

#endif /* KERNEL_PROBES_CATALOGUE_H */
