/*
 * broken.c - why a target cannot be traced any more: its file, or its end.
 */
#include <errno.h>
#include <string.h>

#include "common/proc-status.h"
#include "libtnfctl/control.h"

/* What libtnfprobe means by an errno, where strerror(3) would mislead. */
static const struct {
	int	    error;
	const char *fact;
} facts[] = {
	{ ECHILD, "it was forked in the midst of the definition of a probe" },
	{ EFAULT, "somebody cut it off while it was written" },
	{ EFBIG, "it is shorter than it was made" },
	{ EINVAL, "it is not the file that was made for it" },
	{ ELOOP, "a symbolic link has taken its place" },
	{ ENXIO, "it is not the file that was made for it" },
	{ EISDIR, "a directory has taken its place" },
	{ ENOENT, "it was removed before the first event" },
	{ EPERM, "it belongs to somebody else" },
	{ EACCES, "the target may not open it" },
};

tnfctl_errcode_t
tnfctl_broken_target(tnfctl_handle_t *h)
{
	const char *fact = strerror(h->broken_errno);

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].error == h->broken_errno)
			fact = facts[i].fact;
	return tnfctl_error_set(TNFCTL_ERR_BUFBROKEN, "process %d: it cannot use its trace "
	    "file %s: %s: restart it to trace it again", (int)h->pid,
	    h->trace_file ? h->trace_file : "", fact);
}

tnfctl_errcode_t
tnfctl_ended_target(tnfctl_handle_t *h)
{
	return tnfctl_error_set(TNFCTL_ERR_NOTARGET, "process %d: it has ended",
	    (int)h->pid);
}

/* That a stopped target was killed comes out when it is to go on; until then
   it just has no memory any more. */
tnfctl_errcode_t
tnfctl_lost_target(tnfctl_handle_t *h, const char *fact)
{
	if (tnf_proc_status(h->pid, "VmSize") < 0)
		return tnfctl_ended_target(h);
	return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: %s", (int)h->pid, fact);
}
