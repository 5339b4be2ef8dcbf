/*
 * handle.h - one handle, and its kinds of target behind one table.
 *
 * direct	exec and pid: another process, held by ptrace (proc.h)
 * indirect	another process, reached through the client's functions
 * internal	the calling process
 * kernel	the probes of the kernel
 *
 * The first three are processes: they share control.c (control blocks),
 * objects.c (what is loaded) and connect.c, and differ in how memory is read
 * and written.  The kernel has its own functions for everything; calls that only the kernel
 * answers are in kernel.c.
 *
 * The headers of the C library that most files of this room need come with it.
 */
#ifndef LIBTNFCTL_HANDLE_H
#define LIBTNFCTL_HANDLE_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include <tnf/target.h>
#include <tnf/tnfctl.h>

#include "common/files.h"
#include "common/map.h"

#define TNFCTL_API	__attribute__((visibility("default")))

struct fast;
struct fast_room;
struct import;
struct imports;
struct object;
struct proc;

struct tnfctl_probe {
	unsigned long	id;
	char		*attrs;
	bool		enabled;
	bool		traced;
	bool		new_probe;
	bool		gone;		/* its object was unloaded */
	void		*client;	/* what the create function returned */
	struct import	*import;	/* imports.c: the kernel hits it, unless it is fast; else NULL */
	struct fast	*fast;		/* fast.c: its sites are, or could be, patched; else NULL */
	/* Processes. */
	struct object	*object;	/* NULL: kernel, or gone */
	uintptr_t	address;	/* of its control block */
	uintptr_t	chain;		/* its functions, in the target; or 0 */
	bool		prepared;	/* a controller has set it up */
	const char	**func_names;	/* answers of the latest state_get */
	uintptr_t	*func_addrs;
};

enum target_work { WORK_BEGIN, WORK_LOOK, WORK_END };

/* Functions that are NULL do not exist for this kind: BADARG. */
struct target_ops {
	/* Lets go of the target and frees 'priv'; tnfctl_handle_free() frees the rest. */
	tnfctl_errcode_t (*close)(tnfctl_handle_t *, tnfctl_targ_op_t);
	/* Brings h->probes up to date; new ones through tnfctl_probe_add(). */
	tnfctl_errcode_t (*refresh)(tnfctl_handle_t *);
	/* Looks for probes that have come by themselves, before clients go through h->probes.
	   NULL: none come while the client has control. */
	tnfctl_errcode_t (*look)(tnfctl_handle_t *);
	tnfctl_errcode_t (*attrs)(tnfctl_handle_t *, tnfctl_trace_attrs_t *);
	tnfctl_errcode_t (*buffer_alloc)(tnfctl_handle_t *, const char *file,
	    unsigned int bytes);
	/* For probes that the kernel does not hit for a process.  Brings the probe up to date,
	   and writes members that no other kind has; tnfctl_probe_state_get() writes the rest. */
	tnfctl_errcode_t (*probe_state)(tnfctl_handle_t *, tnfctl_probe_t *,
	    tnfctl_probe_state_t *);
	/* enabling: on or off; else: traced or not. */
	tnfctl_errcode_t (*probe_set)(tnfctl_handle_t *, tnfctl_probe_t *, bool enabling,
	    bool on);

	/* Processes. */
	tnfctl_errcode_t (*probe_connect)(tnfctl_handle_t *, tnfctl_probe_t *,
	    const char *lib, const char *func);
	tnfctl_errcode_t (*probe_disconnect)(tnfctl_handle_t *, tnfctl_probe_t *);
	tnfctl_errcode_t (*cont)(tnfctl_handle_t *const *, size_t n,
	    size_t *which, tnfctl_event_t *, tnfctl_handle_t **child);
	tnfctl_errcode_t (*fate)(tnfctl_handle_t *, int *status);
	size_t	(*ended)(tnfctl_handle_t *, tnfctl_ended_t *, size_t room);
	/* Has the target open this file now.  With *ret_taken false nothing has
	   happened, and the target opens the file when it needs it; NULL: always so. */
	tnfctl_errcode_t (*take_file)(tnfctl_handle_t *, int fd,
	    const char *path, unsigned int bytes, bool *ret_taken);
	/* The target's memory: all n bytes, or false. */
	bool	(*read)(tnfctl_handle_t *, uintptr_t, void *, size_t n);
	bool	(*write)(tnfctl_handle_t *, uintptr_t, const void *, size_t n);
	/* Writes the same bytes to many places; NULL: one by one is as good.  false: some are not written. */
	bool	(*write_each)(tnfctl_handle_t *, const uintptr_t *at, size_t places, const void *, size_t n);
	/* Long work begins, goes on or ends, for which the target may run; NULL: it runs, or must not. */
	void	(*work)(tnfctl_handle_t *, enum target_work);
	/* After that: if objects have come or gone meanwhile, brings h->probes up to date.  NULL: they cannot have. */
	void	(*catch_up)(tnfctl_handle_t *);
	/* Calls tnfctl_object_seen() for each loaded object, in the linker's order. */
	tnfctl_errcode_t (*objects)(tnfctl_handle_t *);

	/* Writes a mark in the trace; NULL: there is no trace that we could write to. */
	tnfctl_errcode_t (*mark)(tnfctl_handle_t *, const char *text, const char *by,
	    const char *names, const int64_t *values);

	/* Ends the recording and keeps the reason in the trace; NULL: as for a mark. */
	tnfctl_errcode_t (*freeze)(tnfctl_handle_t *, const char *why);

	/* Adds probes that were not made for us.  Each kind of target has other kinds of
	   these, and names them. */
	tnfctl_errcode_t (*import_add)(tnfctl_handle_t *, const char *kind,
	    const char *source);
};

struct tnfctl_handle {
	const struct target_ops *ops;
	void		*priv;		/* the kind's own: struct proc, struct kp */
	pid_t		pid;		/* 0: the kernel */

	struct tnfctl_probe **probes;	/* by id; they live as long as we */
	size_t		nprobes;
	unsigned long	first_id;	/* id of probes[0] */
	void		*(*create)(tnfctl_handle_t *, tnfctl_probe_t *);
	void		(*destroy)(void *);

	char		**files;	/* the kernel: imported, for their functions */
	size_t		nfiles;
	struct imports	*imports;	/* imports.c, or NULL: nobody asked */
	struct fast_room *fast;		/* fast.c, or NULL: there are no fast probes */
	bool		fast_wanted;	/* by the client: probes that are imported are fast where they can be */
	bool		fast_returns;	/* ... and so are returns of functions */
	/* Processes. */
	struct object	*objects;	/* the linker's order */
	size_t		nobjects;
	struct map	function_names;	/* objects.c: those that were asked for */
	size_t		deep;		/* objects read with all their symbols */
	uintptr_t	control;	/* struct tnf_process_control; 0: none */
	struct object	*control_object;
	uint32_t	proc_state;	/* as of the latest look */
	uint32_t	proc_stopped;
	int32_t		broken_errno;
	uintptr_t	probe_ops;
	uintptr_t	control_open;	/* opens a trace file; 0: not there */
	uintptr_t	restorer;	/* code by which signal handlers return, or 0 (call.c) */
	uintptr_t	control_calls;	/* where to note that calls are made; 0: not there */
	uintptr_t	pools;		/* of probes made at run time; 0: none */
	struct map	pooled;		/* these, by the addresses of their blocks */
	bool		pools_told;	/* libtnfprobe knows such */
	uint64_t	defined;	/* how many of those, as of the latest look */
	char		*trace_file;	/* as the target says */
	size_t		trace_size;
	char		*given;		/* the file that we have given it, or NULL */
	size_t		given_size;
	int		replaced;	/* the file that had its name, or -1 */
	size_t		trace_min;
	bool		fill;		/* the next file stops when it is full */
	bool		gone;		/* exited, killed or exec'd */
	bool		leaving;	/* a close could not be completed */
};

static inline void
tnfctl_work(tnfctl_handle_t *h, enum target_work w)
{
	if (h->ops->work != NULL)
		h->ops->work(h, w);
}

/* True if the kernel hits the probe.  Else it has a control block in the process. */
bool	tnfctl_probe_is_kernels(const tnfctl_probe_t *);

/* handle.c */
tnfctl_handle_t *tnfctl_handle_new(const struct target_ops *, pid_t);
void	tnfctl_handle_free(tnfctl_handle_t *);	/* probes too; NULL is fine */
void	tnfctl_handle_empty(tnfctl_handle_t *);	/* nothing is known of the target */

/* proc.c: a thread of ours, which gets no signals: those that the client awaits are for its own
   threads. */
bool	tnfctl_thread_start(pthread_t *, void *(*fn)(void *), void *arg);

/* buffer.c: gives up the file whose name the target's file has got, if it is still held. */
void	tnfctl_buffer_drop_replaced(tnfctl_handle_t *);

/*
 * tnfctl_probe_add() copies attrs and returns NULL without memory; it
 * numbers probes on from first_id and leaves the create function to
 * tnfctl_probes_created(), which is called when the whole lot has been added.
 */
tnfctl_probe_t *tnfctl_probe_add(tnfctl_handle_t *, const char *attrs);
void	tnfctl_probes_created(tnfctl_handle_t *, size_t first);

/*
 * error.c.  Set the detail of this thread ("thing: fact: remedy"; NULL:
 * nothing to add) and return the code, for "return tnfctl_error_set(...)".
 */
tnfctl_errcode_t tnfctl_error_set(tnfctl_errcode_t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The code that belongs to an errno; the text gets ": strerror" appended. */
tnfctl_errcode_t tnfctl_error_set_errno(int error, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns BUFBROKEN, and tnfctl_error_detail() says why. */
tnfctl_errcode_t tnfctl_error_broken(tnfctl_handle_t *);
/* Returns NOTARGET, and tnfctl_error_detail() says why. */
tnfctl_errcode_t tnfctl_error_ended(tnfctl_handle_t *);
/* To be called when the target's memory cannot be used: returns NOTARGET if the target was
   killed, else INTERNAL with the fact. */
tnfctl_errcode_t tnfctl_error_lost(tnfctl_handle_t *, const char *fact);
tnfctl_errcode_t tnfctl_error_code(int error);

/* handle.c: BADARG, and why; NULL: this kind of handle cannot do that. */
tnfctl_errcode_t tnfctl_wrong_kind(const char *why);
#define ONLY_FILTER	"only the kernel has a filter"
#define ONLY_LOSSES	"only the kernel counts what it loses; a process's trace file says it itself"
#define ONLY_CPUS	"only the kernel's buffer has CPUs"
#define ONLY_SETTINGS	"only the kernel has settings"
#define ONLY_FROZEN	"only the kernel tells whether it is frozen"
#define ONLY_ARGS	"args: only USDT probes, functions and tracepoints have them"
#define ONLY_WHERE	"where: only USDT probes, functions and tracepoints have conditions"
#define ONLY_FREEZES	"freeze: only imported probes end the recording by themselves"
#define ONLY_STACKS	"stack: only the kernel's and imported probes have stacks"

#endif
