/*
 * defs.h - the part of the buffer that never changes: header, directory, types.
 */
#ifndef KERNEL_PROBES_DEFS_H
#define KERNEL_PROBES_DEFS_H

#include <stddef.h>
#include <stdint.h>

struct kp_defs {
	uint32_t sched_tag;	/* tag word of tnf_kernel_schedule */
	uint32_t symbols_tag;	/* of tnf_symbols */
};

/* Writes them into the buffer's first KP_DATA bytes, which are zero.  Returns
   0, or -ENOSPC: the catalogue has outgrown the reserve. */
int kp_defs_write(char *buf, size_t size, uint64_t cookie, struct kp_defs *ret);

#endif /* KERNEL_PROBES_DEFS_H */
