/*
 * follow-kernel.c - the kernel's buffer, for --follow kernel.
 */
#include <errno.h>

#include "tnfdump/follow.h"

#ifdef HAVE_KERNEL_PROBES

#include "kernel-probes/kernel_probes.h"

/* The session stays open until the program ends, as its mapping does; held here for leak
   checkers. */
static struct kp *volatile held;

int
follow_map_kernel(struct dump *d, struct kp **kp, const void **base, size_t *size)
{
	int err = kp_open(false, kp);

	if (err != 0) {
		dump_error(d, "kernel: cannot follow: %s", err == -ENOENT ?
		    "no buffer: allocate one with prex -k" : strerror(-err));
		return -err;
	}
	held = *kp;
	if ((err = kp_map(*kp, base, size)) != 0) {
		dump_error(d, "kernel: %s", *kp_detail(*kp) != '\0' ?
		    kp_detail(*kp) : strerror(-err));
		kp_close(*kp);
		held = NULL;
	}
	return -err;
}

void
follow_kernel_ended(struct kp *kp, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
	kp_ended(kp, NULL, 0, fn, arg);
}

void
follow_kernel_values(struct kp *kp, const char *probe, void (*fn)(void *arg,
    const char *probe, const char *member, const char *names), void *arg)
{
	kp_value_names_of(kp, probe, fn, arg);
}

#else	/* built without libbpf */

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

#endif
