/*
 * where.h - conditions on members: from text to the table that programs compare by.
 */
#ifndef KERNEL_PROBES_WHERE_H
#define KERNEL_PROBES_WHERE_H

#include "kernel-probes/import.h"
#include "kernel-probes/record.h"

struct kp_where_of {
	const char *probe;	/* its name */
	const struct kp_import_member *member;
	unsigned members;
	char	*why;		/* gets what is not understood ... */
	size_t	 size;		/* ... and has so many bytes */
};

/*
 * "len > 1000 and dev = \"eth0\" or rc != 0": comparisons of a member with a number
 * or a text, joined by "and", these by "or".  = (==), !=, <, <=, >, >= and & (has
 * any of these bits) for numbers; = and != for texts, which may end in * (what
 * follows may be anything).  0 and the number of conditions in ret->n, or -EINVAL.
 */
int kp_where_compile(const struct kp_where_of *, const char *text, struct kp_where *ret);

#endif
