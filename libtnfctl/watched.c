/*
 * watched.c - a process that is left alone: nothing is loaded into it, and it is
 * never stopped.  It has the probes that the kernel hits (imports.h) and no others.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libtnfctl/imports.h"
#include "libtnfctl/proc.h"

#define LOOK_MS		1000	/* between two looks at what it has loaded */

/* Its pidfd is all that the handle has of its own. */
static int
watched_fd(const tnfctl_handle_t *h)
{
	return (int)(intptr_t)h->priv;
}

static tnfctl_errcode_t
watched_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	if (op == TNFCTL_TARG_KILL)
		syscall(SYS_pidfd_send_signal, watched_fd(h), SIGKILL, NULL, 0);
	close(watched_fd(h));
	return TNFCTL_ERR_NONE;
}

static bool
has_ended(const tnfctl_handle_t *h)
{
	struct pollfd p = { watched_fd(h), POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static tnfctl_errcode_t
watched_attrs(tnfctl_handle_t *h, tnfctl_trace_attrs_t *ret)
{
	*ret = (tnfctl_trace_attrs_t){ .targ_pid = h->pid,
	    .trace_buf_state = TNFCTL_BUF_NONE, .trace_state = B_TRUE };
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
watched_no_file(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG,
	    "process %d: it has no probes of TNF, and needs "
	    "no trace file: events go to the kernel's buffer", (int)h->pid);
}

/* Waits: the process runs anyway.  Returns when it has ended, has loaded an object, or a signal
   came. */
static tnfctl_errcode_t
watched_continue(tnfctl_handle_t *const *v, size_t n, size_t *which,
    tnfctl_event_t *ret, tnfctl_handle_t **child)
{
	tnfctl_handle_t *h = v[0];
	struct pollfd p = { watched_fd(h), POLLIN, 0 };
	size_t before = h->nprobes;
	tnfctl_errcode_t err;
	int r;

	if (n != 1)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "a process that is not held cannot be "
		    "continued with others");
	tnfctl_imports_release(h);
	tnfctl_error_set(TNFCTL_ERR_NONE, NULL);
	for (;;) {
		tnfctl_proc_leave_again();
		r = poll(&p, 1, LOOK_MS);
		if (r < 0 && errno == EINTR) {
			*ret = TNFCTL_EVENT_EINTR;
			return TNFCTL_ERR_NONE;
		}
		if (r != 0 || has_ended(h)) {
			h->gone = true;
			*ret = TNFCTL_EVENT_EXIT;
			return TNFCTL_ERR_NONE;
		}
		err = tnfctl_imports_refresh(h);
		if (err != TNFCTL_ERR_NONE && !has_ended(h))
			return err;
		if (h->nprobes > before) {
			*ret = TNFCTL_EVENT_DLOPEN;
			return TNFCTL_ERR_NONE;
		}
	}
}

static const struct target_ops watched_ops = {
	.close = watched_close,
	.import_add = tnfctl_imports_add,
	.refresh = tnfctl_imports_refresh,
	.attrs = watched_attrs,
	.buffer_alloc = watched_no_file,
	.cont = watched_continue,
	.mark = tnfctl_import_mark,
};

TNFCTL_API tnfctl_errcode_t
tnfctl_pid_watch(pid_t pid, tnfctl_handle_t **ret)
{
	tnfctl_handle_t *h = tnfctl_handle_new(&watched_ops, pid);
	tnfctl_errcode_t err;
	int fd;

	if (h == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	h->priv = (void *)(intptr_t)fd;
	if (fd < 0)
		err = errno == ESRCH ?
		    tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: there is none", (int)pid) :
		    tnfctl_error_set_errno(errno, "process %d", (int)pid);
	else if ((err = tnfctl_imports_begin(h)) != TNFCTL_ERR_NONE)
		watched_close(h, TNFCTL_TARG_DEFAULT);
	if (err != TNFCTL_ERR_NONE) {
		tnfctl_handle_free(h);
		return err;
	}
	*ret = h;
	return tnfctl_error_set(TNFCTL_ERR_NONE, NULL);
}
