/*
 * slot.h - members of record types, elements of array types.
 */
#ifndef LIBTNF_SLOT_H
#define LIBTNF_SLOT_H

#include <stdint.h>

struct tnf_file;
struct type;

enum { T_SLOT_TYPES = 12, T_STRUCT_SIZE = 16, T_HEADER_SIZE = 16,
	T_SLOT_NAMES = 20, T_ELEMENT = 20, T_PROBE_STRING = 24 };

/* The second step of reading a type; may mark it bad. */
void	     tnf_slot_fill(struct tnf_file *, struct type *);
/* type.c's first step, for the types of members. */
struct type *tnf_type_basic(struct tnf_file *, uint32_t pos);

#endif /* LIBTNF_SLOT_H */
