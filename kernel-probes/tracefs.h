/*
 * tracefs.h - what the kernel tells about its tracepoints, as text.
 */
#ifndef KERNEL_PROBES_TRACEFS_H
#define KERNEL_PROBES_TRACEFS_H

#include <stdint.h>

#include "kernel-probes/record.h"

struct kp;

/* Where it is mounted, as far as kp_tracefs_find() knows. */
const char *kp_tracefs_dir(void);
/* Mounts it if it is not, and if we may.  0, or why it is not to be had. */
int kp_tracefs_find(struct kp *);
/* The whole of a file, malloc'ed, with a NUL behind it; or a negative errno. */
int kp_tracefs_read(struct kp *, const char *path, char **ret);

struct tracefs_field {
	char	    name[128];
	const char *type;	/* of an event's member (format/core.h) */
	enum kp_op_kind how;
	uint32_t    offset;
	uint32_t    size;	/* bytes to be copied; strings: at most */
};

/* The next field that 'format' describes; returns the text behind it, or NULL. */
const char *kp_tracefs_next_field(const char *format, struct tracefs_field *ret);

/* print-format.c: the names that a tracepoint's print format has for values. */
/*
 * Calls fn for each member whose values have names, with these as a text (tnf(5),
 * "Context"): "symbolic MASK VALUE=NAME,..." or "flags MASK DELIMITER VALUE=NAME,...".
 * What cannot be understood is left out.
 */
void kp_print_format_names(const char *format, void (*fn)(void *arg, const char *member,
    const char *names), void *arg);

#endif /* KERNEL_PROBES_TRACEFS_H */
