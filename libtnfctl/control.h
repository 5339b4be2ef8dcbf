/*
 * control.h - processes as targets: their control blocks, and what exec, pid and fork share.
 */
#ifndef LIBTNFCTL_CONTROL_H
#define LIBTNFCTL_CONTROL_H

#include "libtnfctl/proc.h"

/* The address of a member of the process's own control block. */
#define CONTROL(h, member)	((h)->control + offsetof(struct tnf_process_control, member))

/* Functions of target_ops that all kinds of processes share. */
tnfctl_errcode_t tnfctl_control_refresh(tnfctl_handle_t *);
tnfctl_errcode_t tnfctl_control_attrs(tnfctl_handle_t *, tnfctl_trace_attrs_t *);
tnfctl_errcode_t tnfctl_control_probe_state(tnfctl_handle_t *, tnfctl_probe_t *,
    tnfctl_probe_state_t *);
tnfctl_errcode_t tnfctl_control_probe_set(tnfctl_handle_t *, tnfctl_probe_t *, bool enabling,
    bool on);
tnfctl_errcode_t tnfctl_control_connect(tnfctl_handle_t *, tnfctl_probe_t *,
    const char *lib, const char *func);
tnfctl_errcode_t tnfctl_control_disconnect(tnfctl_handle_t *, tnfctl_probe_t *);
tnfctl_errcode_t tnfctl_buffer_create(tnfctl_handle_t *, const char *file,
    unsigned int bytes);
/* mark.c */
/* by NULL: the text is the reason of a freeze. */
tnfctl_errcode_t tnfctl_mark_file(tnfctl_handle_t *, const char *text, const char *by,
    const char *names, const int64_t *values);
tnfctl_errcode_t tnfctl_freeze_file(tnfctl_handle_t *, const char *why);
/* Has the process go on in a file that is there, which the process opens by its name. */
tnfctl_errcode_t tnfctl_buffer_keep(tnfctl_handle_t *, const char *path, size_t bytes);
/* The user and the group as which the target opens files; false: it has ended. */
bool	tnfctl_owner_of(pid_t, uid_t *, gid_t *);
/* Makes the file one that the target may open by its name. */
tnfctl_errcode_t tnfctl_buffer_give(tnfctl_handle_t *, int fd, const char *path);

/* As tnfctl_control_refresh(); says what changed.  Probes that the target has made at run
   time since the latest look count as an object that came. */
tnfctl_errcode_t tnfctl_control_look(tnfctl_handle_t *, struct objects_change *ret);

/* The same for a target that has run, and whose probes have not been switched by anybody since. */
tnfctl_errcode_t tnfctl_control_look_soon(tnfctl_handle_t *);

/* True if the target has made probes at run time since they were read.  Reads one word of its
   memory. */
bool	tnfctl_pools_grown(tnfctl_handle_t *);
/* Checks, after a look that has not found libtnfprobe, that the kernel lets us read where it is. */
tnfctl_errcode_t tnfctl_control_check_memory(tnfctl_handle_t *);
/* Checks, after the first look, that libtnfprobe is there: else there is nothing to control. */
tnfctl_errcode_t tnfctl_control_check(tnfctl_handle_t *);
/* Writes into the process who controls it: a pid, 0 for nobody, or TNF_SUSPENDED. */
void	tnfctl_control_claim(tnfctl_handle_t *, pid_t controller);
/* True if the controller before us left the process stopped. */
bool	tnfctl_control_suspended(tnfctl_handle_t *);
/* To be called when the target has ended or become another program. */
void	tnfctl_control_forget(tnfctl_handle_t *);
/* Can this probe be changed?  NONE, or the first that applies: NOBUF (there is no trace
   file yet), BUFBROKEN (the process cannot record), INVALIDPROBE (its object has been
   unloaded). */
tnfctl_errcode_t tnfctl_control_usable(tnfctl_handle_t *, tnfctl_probe_t *);

/*
 * direct.c: handles on other processes, which exec, pid and fork make.
 */

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
/* True if we have left the process suspended at the start of an exec.  True only once. */
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
/* True if the linker's list is the one that we have read, and complete. */
bool	tnfctl_direct_is_listed(const struct proc *);
void	tnfctl_direct_catch_up(tnfctl_handle_t *);	/* target_ops.catch_up */

/* hand-over.c: loads libtnfprobe into the stopped target. */
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

/* hand-over.c: where libtnfprobe is.  False: let the linker search. */
bool	tnfctl_library_path(const char *dir, char *ret, size_t size);

#endif
