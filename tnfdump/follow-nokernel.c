/*
 * follow-nokernel.c - --follow kernel where the kernel part was not built.
 */
#include <errno.h>

#include "tnfdump/follow.h"

int
follow_map_kernel(struct dump *d, struct kp **kp, const void **base, size_t *size)
{
	dump_error(d, "kernel: cannot follow: built without libbpf: follow a "
	    "file or a process");
	return ENOTSUP;
}

void
follow_kernel_ended(struct kp *kp, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
}

void
follow_kernel_values(struct kp *kp, const char *probe, void (*fn)(void *arg,
    const char *probe, const char *member, const char *names), void *arg)
{
}
