/*
 * kernel.h - the kernel's buffer: made as configured, mapped, asked.
 */
#ifndef TNFWATCH_KERNEL_H
#define TNFWATCH_KERNEL_H

#include "tnfwatch/config.h"

struct kp;

/* Makes the buffer if there is none, switches on what is configured, and tracing.
   What is on already stays on.  Adds the probes; false: 'why' says. */
bool kernel_set_up(const struct config *, struct enabled *, char *why, size_t size);

/* The buffer, mapped until kernel_unmap(), which keeps it from being removed.  NULL:
   'why' says. */
struct kp *kernel_map(const void **base, size_t *bytes, char *why, size_t size);
void kernel_unmap(struct kp *);		/* NULL is fine */

bool kernel_lost(struct kp *, uint64_t *ret);	/* events */
/* The same into the header of a copy, by their reasons; 0 or an errno. */
int kernel_put_lost(struct kp *, int fd);
bool kernel_reach(struct kp *, int64_t *since);	/* from when on it has everything */

#endif /* TNFWATCH_KERNEL_H */
