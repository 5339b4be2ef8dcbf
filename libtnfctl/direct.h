/*
 * direct.h - handles on other processes: what exec, pid and fork share.
 */
#ifndef LIBTNFCTL_DIRECT_H
#define LIBTNFCTL_DIRECT_H

#include "libtnfctl/control.h"
#include "libtnfctl/proc.h"

static inline struct proc *
direct_proc(tnfctl_handle_t *h)
{
	return h->priv;
}

/*
 * Makes a handle of a process that is held and whose linker has got through.
 * The handle takes over p; on failure the process is let go as it was found.
 */
tnfctl_errcode_t tnfctl_direct_open(struct proc *p, tnfctl_handle_t **ret);
#define TNFCTL_ATTACH_MS	30000	/* for all until then */
/* The same for a handle whose process has become another program. */
tnfctl_errcode_t tnfctl_direct_open_again(tnfctl_handle_t *);
/* Returns NONE; the detail says so if a job control stop holds the process. */
tnfctl_errcode_t tnfctl_direct_tell_stop(const struct proc *);
/* The error of a process that has neither probes nor libtnfprobe. */
tnfctl_errcode_t tnfctl_direct_no_probes(pid_t);
/* Have we left the process suspended at the start of an exec?  True only once. */
bool	tnfctl_suspended_take(pid_t);
/* Makes a handle that can only look at memory, for use before tnfctl_direct_open(). */
void	tnfctl_direct_borrow(struct proc *p, tnfctl_handle_t *ret);

/* attach.c: is the process's program one that we can control? */
tnfctl_errcode_t tnfctl_process_check_file(pid_t);

/* events.c */
tnfctl_errcode_t tnfctl_direct_continue(tnfctl_handle_t *const *, size_t n,
    size_t *which, tnfctl_event_t *, tnfctl_handle_t **child);
/* Runs the stopped target until its linker's list is complete, or until an
   event: p->gone, p->event. */
tnfctl_errcode_t tnfctl_direct_settle(struct proc *, int max_ms);
#define DIRECT_SETTLE_MS	3000	/* for a program that has just started */

/* inject.c: loads libtnfprobe into the stopped target. */
tnfctl_errcode_t tnfctl_inject_library(tnfctl_handle_t *);

/* hand-over.c: target_ops.take_file. */
tnfctl_errcode_t tnfctl_direct_take_file(tnfctl_handle_t *, int fd, const char *path,
    unsigned int bytes, bool *ret_taken);
struct calls;
/* Gives the target a descriptor of a file that we have open, between tnfctl_call_begin() and
   tnfctl_call_end().  Returns its number there, to be closed by the next function; -1: the
   kernel or the target cannot do that. */
int	tnfctl_direct_give_descriptor(struct calls *, int fd);
void	tnfctl_direct_close_descriptor(struct calls *, int theirs);

/* inject.c: where libtnfprobe is.  False: let the linker search. */
bool	tnfctl_library_path(const char *dir, char *ret, size_t size);

#endif
