/*
 * tnfctl.h - control the probes of a process or of the kernel.
 *
 * A handle (tnfctl_handle_t) is one target; a probe (tnfctl_probe_t) belongs
 * to a handle and lives as long as it.  Unless it says otherwise a function
 * returns TNFCTL_ERR_NONE, writes its results only then, and prints nothing.
 * Different handles may be used by different threads at once; one handle by
 * one thread at a time, and (a rule of ptrace) a handle on another process
 * only by the thread that opened it.
 *
 * Source-compatible with Solaris; what is new here is marked "Linux".
 */
#ifndef TNF_TNFCTL_H
#define TNF_TNFCTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TNFCTL_LIBTNFPROBE	"libtnfprobe.so.1"

#ifndef TNF_BOOLEAN_T
#define TNF_BOOLEAN_T
typedef enum { B_FALSE = 0, B_TRUE = 1 } boolean_t;
#endif

typedef struct tnfctl_handle tnfctl_handle_t;
typedef struct tnfctl_probe tnfctl_probe_t;

/*
 * Errors.  The numbers are ABI.  The texts of tnfctl_strerror() are those of
 * the original, and constant; tnfctl_error_detail() says more.
 */
typedef enum {
	TNFCTL_ERR_NONE = 0,
	TNFCTL_ERR_ACCES = 1,		/* no permission; set-id target */
	TNFCTL_ERR_NOTARGET = 2,	/* the target has ended */
	TNFCTL_ERR_ALLOCFAIL = 3,	/* out of memory */
	TNFCTL_ERR_INTERNAL = 4,	/* none of the others */
	TNFCTL_ERR_SIZETOOSMALL = 5,	/* below trace_min_size */
	TNFCTL_ERR_SIZETOOBIG = 6,
	TNFCTL_ERR_BADARG = 7,		/* wrong mode, own pid, unknown function */
	TNFCTL_ERR_NOTDYNAMIC = 8,	/* static program */
	TNFCTL_ERR_NOLIBTNFPROBE = 9,	/* library not there, or no probes */
	TNFCTL_ERR_BUFBROKEN = 10,	/* the target could not open its file */
	TNFCTL_ERR_BUFEXISTS = 11,
	TNFCTL_ERR_NOBUF = 12,
	TNFCTL_ERR_BADDEALLOC = 13,	/* tracing is on */
	TNFCTL_ERR_NOPROCESS = 14,
	TNFCTL_ERR_FILENOTFOUND = 15,
	TNFCTL_ERR_BUSY = 16,		/* another controller or debugger */
	TNFCTL_ERR_INVALIDPROBE = 17,	/* its object was unloaded; unknown id */
	TNFCTL_ERR_USR1 = 18,		/* 18..22: for the client's callbacks */
	TNFCTL_ERR_USR2 = 19,
	TNFCTL_ERR_USR3 = 20,
	TNFCTL_ERR_USR4 = 21,
	TNFCTL_ERR_USR5 = 22,
	TNFCTL_ERR_NOTLOADABLE = 23	/* Linux.  Probes, but the library cannot be loaded */
} tnfctl_errcode_t;

/* Why tnfctl_continue() returned. */
typedef enum {
	TNFCTL_EVENT_EINTR = 0,		/* a signal handler ran in the caller */
	TNFCTL_EVENT_TARGGONE = 1,	/* ended without exit: killed */
	TNFCTL_EVENT_DLOPEN = 2,	/* objects came; probes are up to date */
	TNFCTL_EVENT_DLCLOSE = 3,	/* objects went */
	TNFCTL_EVENT_EXEC = 4,		/* about to run another program: close now */
	TNFCTL_EVENT_FORK = 5,		/* *child is a handle on the child */
	TNFCTL_EVENT_EXIT = 6		/* the target has called exit and is gone */
} tnfctl_event_t;

/* tnfctl_close() does this to the target of an exec or pid handle. */
typedef enum {
	TNFCTL_TARG_DEFAULT = 0,	/* exec handle: kill; pid handle: resume */
	TNFCTL_TARG_KILL = 1,
	TNFCTL_TARG_RESUME = 2,		/* even if a signal has stopped it */
	TNFCTL_TARG_SUSPEND = 3		/* leave it stopped; SIGCONT starts it,
					   and so does a later controller */
} tnfctl_targ_op_t;

typedef enum {
	TNFCTL_BUF_OK = 0,
	TNFCTL_BUF_NONE = 1,
	TNFCTL_BUF_BROKEN = 2	/* tnfctl_error_detail() says why */
} tnfctl_bufstate_t;

/* Linux.  Does the kernel's buffer stop when it is full, and has it? */
enum { TNFCTL_FILL_RING = 0, TNFCTL_FILL_STOPS = 1, TNFCTL_FILL_FULL = 2 };

/* State of the target.  Strings belong to the handle, valid until its next call. */
typedef struct tnfctl_trace_attrs {
	pid_t		targ_pid;	/* 0: the kernel */
	const char	*trace_file_name;	/* NULL: none, or the kernel */
	size_t		trace_buf_size;	/* bytes; 0: none */
	size_t		trace_min_size;	/* bytes; 131072 */
	tnfctl_bufstate_t trace_buf_state;
	boolean_t	trace_state;	/* process: not tnf_process_disable()d;
					   kernel: the master switch */
	boolean_t	filter_state;	/* kernel: process filter on */
	long		fill;		/* Linux.  Kernel: TNFCTL_FILL_* */
} tnfctl_trace_attrs_t;

/* State of a probe.  Everything it points to belongs to the library; copy
   what is to survive the next call on the handle. */
typedef struct tnfctl_probe_state {
	unsigned long	id;		/* from 0 (process) or 1 (kernel); never reused */
	const char	*attr_string;	/* "name N;slots A B ;keys K;..." */
	boolean_t	enabled;
	boolean_t	traced;
	boolean_t	new_probe;	/* came with the last change of objects */
	const char	*obj_name;	/* path of its object; NULL: kernel */
	const char *const *func_names;	/* connected, latest first, NULL ends */
	const uintptr_t	*func_addrs;	/* the same functions; 0 ends */
	void		*client_registered_data;	/* tnfctl_register_funcs() */
	long		pad;
} tnfctl_probe_state_t;

/* Indirect handles: how the client reaches its target.  0 is success. */
typedef struct tnfctl_ind_obj_info {
	int		objfd;		/* open file, or -1: objname is opened */
	uintptr_t	text_base;	/* where its first segment is mapped */
	uintptr_t	data_base;
	const char	*objname;	/* absolute path */
} tnfctl_ind_obj_info_t;

typedef int tnfctl_ind_obj_f(void *prochandle,
    const struct tnfctl_ind_obj_info *, void *client_data);

typedef struct tnfctl_ind_config {
	int	(*p_read)(void *prochandle, uintptr_t addr, void *buf, size_t n);
	int	(*p_write)(void *prochandle, uintptr_t addr, void *buf, size_t n);
	pid_t	(*p_getpid)(void *prochandle);
	int	(*p_obj_iter)(void *prochandle, tnfctl_ind_obj_f *, void *client_data);
} tnfctl_ind_config_t;

typedef tnfctl_errcode_t (*tnfctl_probe_op_t)(tnfctl_handle_t *,
    tnfctl_probe_t *, void *);

/*
 * Open.  *ret is closed with tnfctl_close().  Errors: ACCES, ALLOCFAIL, BUSY,
 * NOTDYNAMIC, NOLIBTNFPROBE, NOTLOADABLE (pid), FILENOTFOUND, NOPROCESS, BADARG (own pid).
 *
 * exec: runs 'pgm' (searched in PATH without a slash) in a process group of
 * its own and stops it before any user code.  With envp NULL the environment
 * is inherited and LD_PRELOAD extended by libtnfprobe (from the directory
 * 'libtnfprobe_path', if not NULL) and 'ld_preload'; otherwise envp is used as
 * it is.  If the caller dies, the target is killed.
 * pid: attaches to a running process and stops it.  If the caller dies, the
 * target runs on and gets all its signals; a sleep that signal(7) lists as never
 * restarted may return EINTR.  While the caller lives, a stop is noticed in two
 * ways: of those calls the ones with a time limit return EINTR, and write() to a
 * pipe, send(), and recv() with MSG_WAITALL may return short counts.
 * The call returns within 30 seconds and some that it takes to let the target go, with
 * INTERNAL and a detail if the target has not come to rest; all signals are blocked
 * meanwhile, and after 0.2 seconds a SIGTERM, SIGINT, SIGHUP or SIGQUIT that waits ends it.
 * It uses one real-time signal without an action, the highest, whose handler stays.
 * indirect: the client keeps the target stopped during every call.
 * internal: the calling process.
 * kernel: one controller at a time.
 */
tnfctl_errcode_t tnfctl_exec_open(const char *pgm, char *const *argv,
    char *const *envp, const char *ld_preload, const char *libtnfprobe_path,
    tnfctl_handle_t **ret);
tnfctl_errcode_t tnfctl_pid_open(pid_t, tnfctl_handle_t **ret);
/* Linux.  As tnfctl_pid_open(), but loads libtnfprobe also into a process without probes, for fast
   ones (tnfctl_import_add()): never NOLIBTNFPROBE because there are none. */
tnfctl_errcode_t tnfctl_pid_load(pid_t, tnfctl_handle_t **ret);
/* Linux.  A process that is only looked at: its probes are listed, it is neither stopped nor
   changed, and its libtnfprobe may be missing.  Kinds of tnfctl_import_add() as with
   tnfctl_pid_watch().  Changes return BADARG.  NOPROCESS, ACCES. */
tnfctl_errcode_t tnfctl_pid_look(pid_t, tnfctl_handle_t **ret);
tnfctl_errcode_t tnfctl_indirect_open(void *prochandle, tnfctl_ind_config_t *,
    tnfctl_handle_t **ret);
tnfctl_errcode_t tnfctl_internal_open(tnfctl_handle_t **ret);
tnfctl_errcode_t tnfctl_kernel_open(tnfctl_handle_t **ret);

/* Linux: the kernel, for who lacks the rights (ACCES from tnfctl_kernel_open()).  Its
   probes can be listed, all as if they were off and without a buffer, and others be
   imported; what would change anything returns ACCES, with the capability that it needs. */
tnfctl_errcode_t tnfctl_kernel_look(tnfctl_handle_t **ret);

/* Releases the target and frees the handle; tracing itself goes on.  NULL is
   fine.  The action counts for exec and pid handles only.  BUSY (Linux): a
   thread of the target has slept in the kernel for 2 seconds and can be let go
   only when it wakes; all others run.  Call this again later.  If the caller does
   not, that thread stands still from when it wakes until the caller ends. */
tnfctl_errcode_t tnfctl_close(tnfctl_handle_t *, tnfctl_targ_op_t);

/* Lets the target run until something happens; it is stopped (or gone) on
   return.  With child NULL, forks go unnoticed and children run free.  The
   event is FORK also with an error, which is about the child then. */
tnfctl_errcode_t tnfctl_continue(tnfctl_handle_t *, tnfctl_event_t *,
    tnfctl_handle_t **child);

/*
 * Linux.  The same for n > 0 targets of the calling thread: returns when
 * something has happened to one, whose index is *which.  After EINTR, all are
 * stopped.  After any other event that one is stopped (or gone) and the others
 * may run on; until the next call they can be closed, and nothing else.  An
 * error is about the target *which, except with the event FORK.
 */
tnfctl_errcode_t tnfctl_continue_any(tnfctl_handle_t *const handles[], size_t n,
    size_t *which, tnfctl_event_t *, tnfctl_handle_t **child);

/* Linux.  After the event EXEC, exec handles only: the handle becomes one on the
   new program, stopped before any code of it, whose probes are new and off; a trace
   file that the old program had is the new one's, too.  Functions of
   tnfctl_register_funcs() are to be registered again.  BADARG: the latest event
   was not EXEC, or this is no exec handle.  If the new program cannot be controlled,
   the errors are those of tnfctl_exec_open(): close the handle then; the program
   runs on. */
tnfctl_errcode_t tnfctl_exec_follow(tnfctl_handle_t *);

/* Linux.  After the events EXIT and TARGGONE: how the target of an exec or pid
   handle has ended, as wait(2) tells it.  BADARG: it has not.  NOTARGET: another
   part of the caller has waited for it. */
tnfctl_errcode_t tnfctl_fate_get(tnfctl_handle_t *, int *status);

/* Linux.  Threads of the target of an exec or pid handle that have ended while
   the handle was open, with the names that they had at their end: the latest
   'room' of them, in the order of their ends.  *n is how many are known, 8192 at
   most, and may be more than 'room'; ret may be NULL where room is 0.  BADARG:
   another kind of handle. */
typedef struct tnfctl_ended {
	pid_t	tid;
	char	name[16];	/* NUL-terminated; any other bytes */
	pid_t	inner;		/* its number in its own name space; 0: not known */
} tnfctl_ended_t;

tnfctl_errcode_t tnfctl_ended_get(tnfctl_handle_t *, tnfctl_ended_t *ret,
    size_t room, size_t *n);

/* Looks for objects and probes that came or went. */
tnfctl_errcode_t tnfctl_check_libs(tnfctl_handle_t *);

tnfctl_errcode_t tnfctl_trace_attrs_get(tnfctl_handle_t *,
    tnfctl_trace_attrs_t *);

/* Process: creates the trace file (zero-filled, mode 0600, 'bytes' reserved on
   disk) and tells the target.  A relative name counts from the caller's
   directory; an existing file is replaced.  Kernel: the file is ignored. */
tnfctl_errcode_t tnfctl_buffer_alloc(tnfctl_handle_t *, const char *file,
    unsigned int bytes);
/* Linux.  Lets a thread reserve room, in the directory of 'file', for the file that the next call of
   tnfctl_buffer_alloc() or _exchange() makes, of any process, while the caller starts a target.  It is used if
   'bytes' and the file system are the same.  Errors are told by that call.  Until then the process that
   calls holds a descriptor and the room; 0 bytes give both up. */
void	tnfctl_buffer_prepare(const char *file, unsigned int bytes);
/* Linux.  The same for a process that may have a trace file: from now on it
   writes to the new one.  The old one keeps what was recorded, and gets the
   end of hits that are in progress.  After an error the process has what it had.
   BADARG: the kernel.  BUFEXISTS: 'file' is the one that it has, or it cannot be
   called now, or its libtnfprobe is too old for that; SIZETOOSMALL also if what it
   has defined takes more. */
tnfctl_errcode_t tnfctl_buffer_exchange(tnfctl_handle_t *, const char *file,
    unsigned int bytes);
/* Linux.  Whether the file or the kernel's buffer that is made next stops when it is full:
   nothing in it is overwritten, and what comes later is counted.  At first it is a ring.
   A libtnfprobe that is older than this goes on in a ring. */
tnfctl_errcode_t tnfctl_buffer_fill_set(tnfctl_handle_t *, boolean_t);
/* Kernel: frees the buffer and removes every trace of us from the kernel. */
tnfctl_errcode_t tnfctl_buffer_dealloc(tnfctl_handle_t *);	/* kernel */

/* Kernel: master switch and process filter.  The list is malloc'ed. */
tnfctl_errcode_t tnfctl_trace_state_set(tnfctl_handle_t *, boolean_t);
tnfctl_errcode_t tnfctl_filter_state_set(tnfctl_handle_t *, boolean_t);
tnfctl_errcode_t tnfctl_filter_list_get(tnfctl_handle_t *, pid_t **, int *);
tnfctl_errcode_t tnfctl_filter_list_add(tnfctl_handle_t *, pid_t);
tnfctl_errcode_t tnfctl_filter_list_delete(tnfctl_handle_t *, pid_t);

/* Calls op for each probe, in order; the first failure ends it and is returned.  If op is
   tnfctl_probe_enable() or tnfctl_probe_disable(), thousands of fast probes are switched at
   once, for which the process stands still a few milliseconds; it runs before that.  Then probes
   behind one that fails may be switched already, and a probe whose object is unloaded meanwhile
   is left out. */
tnfctl_errcode_t tnfctl_probe_apply(tnfctl_handle_t *, tnfctl_probe_op_t,
    void *);
tnfctl_errcode_t tnfctl_probe_apply_ids(tnfctl_handle_t *, unsigned long n,
    unsigned long *ids, tnfctl_probe_op_t, void *);
/* Linux.  As tnfctl_probe_apply(), for an op that calls nothing of the library but
   tnfctl_probe_state_get() and tnfctl_probe_describe(): if there are many probes a process runs meanwhile,
   and some that op has seen may be gone afterwards. */
tnfctl_errcode_t tnfctl_probe_look(tnfctl_handle_t *, tnfctl_probe_op_t,
    void *);

/* create: called for every probe now and for each new one later; its result is
   client_registered_data.  destroy: called for each at tnfctl_close(). */
tnfctl_errcode_t tnfctl_register_funcs(tnfctl_handle_t *,
    void *(*create)(tnfctl_handle_t *, tnfctl_probe_t *),
    void (*destroy)(void *));

tnfctl_errcode_t tnfctl_probe_state_get(tnfctl_handle_t *, tnfctl_probe_t *,
    tnfctl_probe_state_t *);

/* Usable as op.  Errors: INVALIDPROBE, BUFBROKEN, NOBUF, NOTARGET (process). */
tnfctl_errcode_t tnfctl_probe_enable(tnfctl_handle_t *, tnfctl_probe_t *,
    void *ignored);
tnfctl_errcode_t tnfctl_probe_disable(tnfctl_handle_t *, tnfctl_probe_t *,
    void *ignored);
tnfctl_errcode_t tnfctl_probe_trace(tnfctl_handle_t *, tnfctl_probe_t *,
    void *ignored);
tnfctl_errcode_t tnfctl_probe_untrace(tnfctl_handle_t *, tnfctl_probe_t *,
    void *ignored);
tnfctl_errcode_t tnfctl_probe_disconnect_all(tnfctl_handle_t *,
    tnfctl_probe_t *, void *ignored);
/* Puts 'func' of the object 'lib_base_name' (NULL: the first that has it) in
   front of the functions that the probe runs.  BADARG: not found, kernel. */
tnfctl_errcode_t tnfctl_probe_connect(tnfctl_handle_t *, tnfctl_probe_t *,
    const char *lib_base_name, const char *func);

const char *tnfctl_strerror(tnfctl_errcode_t);

/*
 * Linux.  Tells exactly what went wrong in the last failing call of this thread,
 * as "thing: fact: remedy", without newline; "" if there is nothing to add.
 * After tnfctl_pid_open() and tnfctl_continue(): what else keeps the target
 * stopped.
 * Valid until the thread's next call of the library.
 */
const char *tnfctl_error_detail(void);

/* Linux.  A mark: an event now, of a probe named "mark", whose members "text" and "by"
   say what somebody has to say about this time, and who; each at most 255 bytes, in
   which no control characters should be.  Further members are integers: "names" has
   their names, identifiers of C with blanks between, and values[i] is the i-th one's; NULL:
   there are none.  The kernel writes it into its buffer while
   tracing is on, whatever the filter says.  Into the trace file of a process it is a child
   of the caller that writes it: the process runs no code for that, and may be stopped.
   NOBUF: no buffer, or no trace file yet; BADARG: too long, or a handle on a process
   that is left alone, or on the caller itself, or names that are none; INTERNAL: tracing is off, or
   there was no room. */
#define TNFCTL_MARK_VALUES	10u
#define TNFCTL_MARK_NAME	24u	/* characters */
tnfctl_errcode_t tnfctl_mark(tnfctl_handle_t *, const char *text, const char *by,
    const char *names, const int64_t *values);

/* Linux.  Ends the recording, so that what led to this moment is not overwritten, and keeps
   the reason, at most 127 bytes, in the trace: the fact "frozen" of its context
   (tnf_context(3)).  All probes of a process are switched off.  The kernel's keep their
   state, and record again after tnfctl_trace_state_set(h, B_TRUE), which forgets the reason.
   NOBUF and BADARG as for tnfctl_mark(); BUSY: the kernel does not record. */
#define TNFCTL_FREEZE_MAX	127u
tnfctl_errcode_t tnfctl_freeze(tnfctl_handle_t *, const char *why);
/* When (ns, CLOCK_MONOTONIC; 0: not) and why the kernel's buffer was frozen.  BADARG: no
   kernel handle. */
tnfctl_errcode_t tnfctl_frozen_get(tnfctl_handle_t *, int64_t *time, char *why, size_t size);

/* Linux.  Events that the kernel could not record since the buffer was made;
   those that newer ones have overwritten do not count.  BADARG: no kernel
   handle. */
typedef struct tnfctl_lost {
	uint64_t	total;
	uint64_t	cpu_max;	/* on the CPU that lost most */
	uint64_t	reason[8];	/* by enum tnf_lost (<tnf/com.h>) */
} tnfctl_lost_t;

tnfctl_errcode_t tnfctl_lost_get(tnfctl_handle_t *, tnfctl_lost_t *);

/* Linux.  From when on the kernel's buffer has all that a CPU wrote.  One for
   each CPU that has written; the caller frees *ret.  BADARG: no kernel handle;
   NOBUF: no buffer. */
typedef struct tnfctl_span {
	int		cpu;
	int		whole;		/* nothing of it has been overwritten */
	int64_t		since;		/* ns, CLOCK_MONOTONIC: its oldest event */
} tnfctl_span_t;

tnfctl_errcode_t tnfctl_coverage_get(tnfctl_handle_t *, tnfctl_span_t **ret,
    size_t *ret_n);

/* Linux.  As tnfctl_filter_list_add(), and each child that the process will
   have is added in the same way, before it runs.  BADARG: no kernel handle. */
tnfctl_errcode_t tnfctl_filter_list_follow(tnfctl_handle_t *, pid_t);

/* Linux.  Limits of the cost of thread_block: "stack_depth" (0 to 32 frames, 8 at
   first) and "recover_reason" (0 or 1, 1 at first: look for the object on the
   stack); and physio_start and physio_end: "rawio" (0 or 1, 0 at first: they see
   every system call, also while no raw device is open); and each imported probe:
   "import_rate" (events a second on each CPU, 250000 at first, 0: any number); and
   sample: "sample_rate" (samples a second on each CPU, 1 to 10000, 99 at first) and
   "sample_stack" (0 or 1, 0 at first: they bring the stack of programs without frame
   pointers).
   Kept until the buffer is freed.  BADARG: no kernel handle, unknown name, value
   out of range. */
tnfctl_errcode_t tnfctl_setting_set(tnfctl_handle_t *, const char *name,
    unsigned int value);
tnfctl_errcode_t tnfctl_setting_get(tnfctl_handle_t *, const char *name,
    unsigned int *ret);

/*
 * Linux.  Rules of the kernel's process filter: "name=PROGRAM", "cgroup=/PATH",
 * "unit=NAME", "pod=NAME" (or its uid).  Processes are in the set as long as a rule asks for them.  apply
 * calls fn for each.  With the setting "filter_except" 1, the filter that is switched
 * on then leaves out the set, and records the rest.  BADARG: no rule, no kernel
 * handle; FILENOTFOUND: no such group; NOPROCESS: no such rule to delete.
 */
tnfctl_errcode_t tnfctl_filter_rule_add(tnfctl_handle_t *, const char *rule);
tnfctl_errcode_t tnfctl_filter_rule_delete(tnfctl_handle_t *, const char *rule);
tnfctl_errcode_t tnfctl_filter_rule_apply(tnfctl_handle_t *,
    void (*fn)(void *arg, const char *rule), void *arg);

/*
 * Linux.  Imported probes: named points that nobody wrote a probe for.  A handle
 * on the kernel has those that somebody asked for; tnfctl_import_add() adds all of
 * a kind, off, behind the probes that there are, and calls the function for new
 * probes.  Kinds: "tracepoint", the kernel's, whose source is NULL; "usdt", of the
 * file 'source' in all processes (kernel handle), or of all files that a process maps
 * now or later (handle on a process; NULL); "function", whose names 'source' fits, as
 * /pattern/ or name, at most 512 of a file: of the files that "usdt" was given (kernel
 * handle), or that the process has mapped.  A function's return comes with it unless
 * exceptions may pass through functions of the file, which would end the program while
 * their return is traced: then there is the call alone, the attribute "returns" says so,
 * and the detail of NONE; "return" adds the returns alone, there too.  Their attribute
 * "origin" is the kind, that of a return "function".
 * "fast" (pid, exec and fork handles) adds none: functions and USDT probes that are added from then
 * on are traced, and those whose code takes a jump are fast.  While such a probe is on, the process
 * itself records its hits, into its own trace file and without rights of root; the attribute "fast"
 * is "yes" then, else "no: " and the reason, and the kernel records them.  For a USDT probe this is
 * found out when it is switched on or described.  A program that the caller has started, and that
 * has not begun, runs to its start for that; with the source "start", at once.  With the source
 * "returns", returns of functions are added as well, and are fast where they can be.
 * ACCES, FILENOTFOUND: the kernel does not tell them to us, the file cannot be read;
 * BADARG: not for this handle, no such kind, a file without such probes.
 */
tnfctl_errcode_t tnfctl_import_add(tnfctl_handle_t *, const char *kind,
    const char *source);
/* Linux.  Has an imported probe record only where conditions on its members hold
   (prex(1), trace), and the kernel's syscall_end only calls that took longer than a duration:
   "duration > 50ms"; NULL: whenever it is hit.  BADARG: the detail tells what is wrong
   with them; or another probe, unless the text is NULL. */
tnfctl_errcode_t tnfctl_probe_where(tnfctl_handle_t *, tnfctl_probe_t *,
    const char *conditions);
/* Linux.  Gives the arguments of a USDT probe or function names and types, in their order:
   "name name:string name:chars name:address", before it is first switched on; text is
   recorded of :string and :chars, whose length is the next argument.  BADARG: they are not
   understood, or it is another probe; BUSY: its buffer has it with others already. */
tnfctl_errcode_t tnfctl_probe_args(tnfctl_handle_t *, tnfctl_probe_t *, const char *args);
/* Linux.  Has the first event that an imported probe records (where conditions ask for that) end
   the recording, as tnfctl_freeze() does, or not, as at first; so does the kernel's syscall_end.
   BADARG: another probe, unless 'freezes' is false. */
tnfctl_errcode_t tnfctl_probe_freezes(tnfctl_handle_t *, tnfctl_probe_t *, boolean_t freezes);
/* Linux.  Has the events of a kernel's or an imported probe record so many frames, at most, of
   the kernel's stack (32) and of the program's (96, by frame pointers), as the members
   "stack" and "user"; 0: none.  BADARG: too many, or the probe has none; BUSY: the buffer has
   an imported probe without stacks already. */
tnfctl_errcode_t tnfctl_probe_stacks(tnfctl_handle_t *, tnfctl_probe_t *, unsigned int kernel,
    unsigned int user);
/* Linux.  A handle on a process that is left alone: it is neither stopped nor has
   anything loaded into it, and has imported probes only (kind "usdt": those that
   <sys/sdt.h> has put into the files it has mapped).  It may be linked statically.
   tnfctl_continue() returns when it has ended (EXIT), has mapped files with more
   probes (DLOPEN), or after a signal.  NOPROCESS, ACCES. */
tnfctl_errcode_t tnfctl_pid_watch(pid_t, tnfctl_handle_t **ret);
/* Linux.  The imported probes of a process record into the kernel's buffer: makes
   one, and switches tracing on, if there is none.  *ret is its size then, else 0.
   size 0: 4 MiB.  BADARG: the handle has no imported probes; ACCES, BUSY: as
   tnfctl_kernel_open(). */
tnfctl_errcode_t tnfctl_import_buffer(tnfctl_handle_t *, size_t size,
    size_t *ret);
/* Linux.  Has the attributes of an imported probe tell its slots, which cost a
   look at what describes it.  Does nothing for others. */
tnfctl_errcode_t tnfctl_probe_describe(tnfctl_handle_t *, tnfctl_probe_t *);

#ifdef __cplusplus
}
#endif

#endif /* TNF_TNFCTL_H */
