/*
 * error.c - codes, their texts, and what exactly went wrong.
 */
#include <stdarg.h>

#include "common/proc.h"
#include "libtnfctl/handle.h"

static const char *const texts[] = {
	[TNFCTL_ERR_NONE] = "Success",
	[TNFCTL_ERR_ACCES] = "Permission denied",
	[TNFCTL_ERR_NOTARGET] = "Target process finished",
	[TNFCTL_ERR_ALLOCFAIL] = "Memory allocation failed",
	[TNFCTL_ERR_INTERNAL] = "Internal error",
	[TNFCTL_ERR_SIZETOOSMALL] = "Requested size too small",
	[TNFCTL_ERR_SIZETOOBIG] = "Requested size too big",
	[TNFCTL_ERR_BADARG] = "Bad input argument",
	[TNFCTL_ERR_NOTDYNAMIC] = "Not a dynamic executable",
	[TNFCTL_ERR_NOLIBTNFPROBE] = "No libtnfprobe linked in target",
	/* The original has no text for TNFCTL_ERR_BUFBROKEN. */
	[TNFCTL_ERR_BUFEXISTS] = "Buffer already exists",
	[TNFCTL_ERR_NOBUF] = "No buffer exists",
	[TNFCTL_ERR_BADDEALLOC] = "Can't deallocate buffer when tracing is active",
	[TNFCTL_ERR_NOPROCESS] = "Process not found",
	[TNFCTL_ERR_FILENOTFOUND] = "No such file",
	[TNFCTL_ERR_BUSY] = "Device busy - kernel or process already tracing",
	[TNFCTL_ERR_INVALIDPROBE] = "Invalid probe specified",
	[TNFCTL_ERR_USR1] = "User error 1",
	[TNFCTL_ERR_USR2] = "User error 2",
	[TNFCTL_ERR_USR3] = "User error 3",
	[TNFCTL_ERR_USR4] = "User error 4",
	[TNFCTL_ERR_USR5] = "User error 5",
	[TNFCTL_ERR_NOTLOADABLE] = "No libtnfprobe linked in target",
};

static __thread char detail[640];

TNFCTL_API const char *
tnfctl_strerror(tnfctl_errcode_t code)
{
	if ((unsigned int)code >= sizeof(texts) / sizeof(texts[0]) ||
	    texts[code] == NULL)
		return "Unknown libtnfctl.so error code";
	return texts[code];
}

TNFCTL_API const char *
tnfctl_error_detail(void)
{
	return detail;
}

tnfctl_errcode_t
tnfctl_error_set(tnfctl_errcode_t code, const char *fmt, ...)
{
	va_list ap;

	detail[0] = '\0';
	if (fmt == NULL)
		return code;
	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	return code;
}

tnfctl_errcode_t
tnfctl_error_code(int error)
{
	switch (error) {
	case ENOENT:
		return TNFCTL_ERR_FILENOTFOUND;
	case ESRCH:
		return TNFCTL_ERR_NOPROCESS;
	case EACCES:
	case EPERM:
		return TNFCTL_ERR_ACCES;
	case EBUSY:
		return TNFCTL_ERR_BUSY;
	case ENOMEM:
		return TNFCTL_ERR_ALLOCFAIL;
	default:
		return TNFCTL_ERR_INTERNAL;
	}
}

tnfctl_errcode_t
tnfctl_error_set_errno(int error, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	n = strlen(detail);
	snprintf(detail + n, sizeof(detail) - n, ": %s", strerror(error));
	return tnfctl_error_code(error);
}

/* Errors by which libtnfprobe means more than strerror(3) says. */
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
tnfctl_error_broken(tnfctl_handle_t *h)
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
tnfctl_error_ended(tnfctl_handle_t *h)
{
	return tnfctl_error_set(TNFCTL_ERR_NOTARGET, "process %d: it has ended",
	    (int)h->pid);
}

/* If a stopped target was killed, we learn that when it is to go on; until then
   it just has no memory any more. */
tnfctl_errcode_t
tnfctl_error_lost(tnfctl_handle_t *h, const char *fact)
{
	if (tnf_proc_status(h->pid, "VmSize") < 0)
		return tnfctl_error_ended(h);
	return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: %s", (int)h->pid, fact);
}
