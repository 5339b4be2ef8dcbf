/*
 * deftypes.h - the types that kernel events are made of, by name (tnf(5), "Types").
 */
#ifndef KERNEL_PROBES_DEFTYPES_H
#define KERNEL_PROBES_DEFTYPES_H

#include <stdint.h>

enum kp_meta {			/* what a type record is, its members */
	META_TYPE, META_SCALAR, META_DERIVED, META_ARRAY, META_STRUCT, META_PROBE
};

struct kp_type {
	const char	*name;
	enum kp_meta	 meta;
	const char	*props;		/* names of properties, blanks between */
	const char	*base;		/* derived: base; array: element */
	uint32_t	 size, align;	/* scalar, struct */
	const char	*slots;		/* struct, array: types, or type:name */
};

/* NULL: no such type. */
const struct kp_type *kp_type_find(const char *name, unsigned *index);

#define KP_TYPES_MAX	96

#endif /* KERNEL_PROBES_DEFTYPES_H */
