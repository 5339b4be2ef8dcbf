/*
 * broken.c - why the target cannot write its trace file.
 */
#include <errno.h>
#include <string.h>

#include "control.h"

/* What libtnfprobe means by an errno, where strerror(3) would mislead. */
static const struct {
	int	    error;
	const char *fact;
} facts[] = {
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
broken_target(tnfctl_handle_t *h)
{
	const char *fact = strerror(h->broken_errno);
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].error == h->broken_errno)
			fact = facts[i].fact;
	return fail(TNFCTL_ERR_BUFBROKEN, "process %d: it cannot use its trace "
	    "file %s: %s: restart it to trace it again", (int)h->pid,
	    h->trace_file ? h->trace_file : "", fact);
}
