/*
 * defs.h - the part of the buffer that never changes: header, directory, types.
 */
#ifndef KERNEL_PROBES_DEFS_H
#define KERNEL_PROBES_DEFS_H

#include <stddef.h>
#include <stdint.h>

#include "format/core.h"
#include "kernel-probes/record.h"

struct kp;
struct kp_import;

struct kp_defs {
	uint32_t sched_tag;	/* tag word of tnf_kernel_schedule */
	uint32_t symbols_tag;	/* of tnf_symbols */
	uint32_t next;		/* where a definition that comes later goes */
	uint32_t record_tag[KP_RECORDS];
	uint32_t type[KP_TYPES_MAX];	/* where each is, by enum tnf_core */
	uint64_t sum;		/* of all that is the same in each buffer of this release */
};

/* Writes them into the buffer's first KP_DATA bytes, which are zero.  Returns
   0, or -ENOSPC: the catalogue has outgrown the reserve. */
int kp_defs_write(char *buf, size_t size, uint64_t cookie, struct kp_defs *ret);

/* Adds an imported probe while events are written and read: readers see all of it
   or nothing.  -ENOSPC: no block can be spared any more. */
int kp_defs_add(struct kp *, char *buf, const struct kp_import *);

/* Adds the type of a row's events with stacks, unless the buffer has it. */
int kp_defs_add_stacked(struct kp *, char *buf, unsigned id);
/* The places at which these events have their references. */
struct kp_row;
uint32_t kp_defs_stacks_at(const struct kp_row *);

/* The size of a member of a scalar type in an event; 0: the type is a record, of which the
   event has a reference.  Its enum kp_record; -1: the type is no record. */
uint32_t kp_defs_scalar(const char *type);
int kp_defs_record(const char *type);

#endif /* KERNEL_PROBES_DEFS_H */
