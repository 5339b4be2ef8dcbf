/*
 * kernel_probes.h - the kernel's probes, as libtnfctl and tnfxtract see them.
 *
 * State lives in the kernel (pinned below the bpffs), not in the handle: it
 * survives every process that opened it.  Functions return 0 or a negative
 * errno and then explain themselves in kp_detail(); they print nothing.
 * One handle serves one thread at a time.
 */
#ifndef KERNEL_PROBES_KERNEL_PROBES_H
#define KERNEL_PROBES_KERNEL_PROBES_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-probes/operand.h"

#define KP_BUFFER_MIN		(128u << 10)
#define KP_BUFFER_MAX		(1024u << 20)

struct kp;			/* a session with the kernel */

struct kp_probe {		/* row of the catalogue, and its state */
	unsigned	 id;		/* from 1, as tnfctl numbers them */
	const char	*attrs;		/* attribute string, unavailability included */
	bool		 enabled;
	bool		 traced;
	bool		 available;	/* this kernel has the hooks */
	bool		 imported;	/* it is none of the catalogue */
};

enum kp_state { KP_NONE, KP_OK, KP_BROKEN };

struct kp_status {
	enum kp_state	 state;
	size_t		 size;		/* of the buffer, bytes; 0: none */
	bool		 tracing;	/* master switch */
	bool		 filtering;	/* process filter */
	bool		 fill;		/* it stops when it is full, ... */
	bool		 full;		/* ... and has */
	uint64_t	 lost[8];	/* by enum tnf_lost, all CPUs */
	uint64_t	 lost_cpu_max;	/* the CPU that lost most, its count */
	int		 lost_cpu;	/* and its number */
};

/*
 * Opens the session.  control: exclusive (-EBUSY: another holds it); else for
 * reading a buffer that exists (-ENOENT: nothing there), which also keeps it
 * from being removed.  *ret is set on failure, too (NULL: no memory), for
 * kp_detail(); close it.  After success kp_detail() may have a notice: the
 * bpffs was not mounted and has been.
 */
int kp_open(bool control, struct kp **ret);
/*
 * Opens a session without the rights: probes can be added and listed as this kernel has
 * them, all as if they were off and without a buffer; calls that would change anything are
 * refused, and kp_detail() names the capability that they need.
 */
int kp_look(struct kp **ret);
void kp_close(struct kp *);

int kp_probe_count(struct kp *);
int kp_probe_get(struct kp *, unsigned id, struct kp_probe *ret);
/* Attaches or detaches what the change needs. */
int kp_probe_set(struct kp *, unsigned id, bool enabled, bool traced);

/*
 * Adds the kernel's tracepoints to the probes, as imported ones: "system.event".
 * Those that somebody has asked for are among them in any case.  -EACCES, -ENOENT:
 * tracefs cannot be read.
 */
int kp_import_tracepoints(struct kp *);
/* Finds out what the attributes of an imported probe leave out until somebody
   asks: its slots.  Does nothing for others. */
int kp_probe_describe(struct kp *, unsigned id);
/* Names the arguments of an imported probe, before it is first switched on: -EBUSY after that.
   -EINVAL: they are not understood; -ENOTSUP: its arguments cannot be named. */
int kp_probe_args(struct kp *, unsigned id, const char *args);
/* Has an imported probe record only where conditions on its members hold, and syscall_end only
   calls that took longer than a duration; NULL or "": whenever it is hit.  -EINVAL: kp_detail()
   tells what is wrong with them; -ENOTSUP: another probe. */
int kp_probe_where(struct kp *, unsigned id, const char *text);

/* Has the first event that a probe records from now on, where conditions ask for that, end the
   recording (kp_frozen()), or not, as at first.  -ENOTSUP: neither an imported probe nor
   syscall_end. */
int kp_probe_freezes(struct kp *, unsigned id, bool freezes);

/* Has the events of a probe record so many frames, at most, of the kernel's stack and of the
   program's; 0: none.  -EINVAL: too many; -ENOTSUP: this probe has none; -EBUSY: the buffer
   has it without stacks already. */
int kp_probe_stacks(struct kp *, unsigned id, unsigned kernel, unsigned user);

int kp_status(struct kp *, struct kp_status *ret);
/* The buffer's state alone, without asking each program for its losses. */
enum kp_state kp_standing(struct kp *);
/* Whether the buffer that is made next by this session stops when it is full: nothing in
   it is overwritten, and what comes later is counted.  At first it is a ring. */
void kp_buffer_fill(struct kp *, bool);
/* size is rounded up; *ret_size is what it got.  -EEXIST, -ENOMEM. */
int kp_buffer_alloc(struct kp *, size_t size, size_t *ret_size);
/* -ENOENT none; -EBUSY tracing is on, or somebody reads.  Removes all pins; what
   was asked for stays known to this session. */
int kp_buffer_dealloc(struct kp *);

int kp_trace_set(struct kp *, bool on);		/* -ENOENT: no buffer */
/* Stops the recording for a reason of at most 127 bytes, which stays until tracing is switched
   on again.  -ENOENT: no buffer; -EAGAIN: nothing was recorded; -EINVAL: too long. */
int kp_freeze(struct kp *, const char *why);
/* True if the buffer was frozen, by kp_freeze() or by a condition of a probe.  *time is when (ns,
   as events have it); 'why' gets the reason. */
bool kp_frozen(struct kp *, int64_t *time, char *why, size_t size);
int kp_filter_set(struct kp *, bool on);
int kp_filter_add(struct kp *, pid_t);		/* 0: threads of no process */
int kp_filter_follow(struct kp *, pid_t);	/* and children that it will have */
int kp_filter_delete(struct kp *, pid_t);
/*
 * Rules put processes into the set, present and future ones, as long as they hold:
 * "name=PROGRAM" (of its first thread, 15 characters), "cgroup=/PATH" (and the groups in
 * it; unified hierarchy), "unit=NAME" (of systemd: its cgroup), "pod=NAME" (of
 * Kubernetes: the cgroup of its containers; or its uid).  They go with the buffer.
 * -EINVAL: no rule; -ENOENT: no such group; -ESRCH: no such rule to delete.
 */
int kp_rule_add(struct kp *, const char *text);
int kp_rule_delete(struct kp *, const char *text);
void kp_rules_get(struct kp *, void (*fn)(void *arg, const char *text), void *arg);
int kp_filter_list(struct kp *, pid_t **ret, int *ret_n);	/* malloc'ed */

/*
 * "stack_depth": frames in thread_block, 0 to 32 (8); "recover_reason": 1 lets
 * thread_block search the stack for the wait queue (1); "rawio": 0 attaches the
 * physio probes, which hang on every system call, only if a block device is open
 * with O_DIRECT when tracing is switched on or a probe is, 1 in any case (0); "sample_rate":
 * samples a second on a CPU, 1 to 10000 (99).
 * -EINVAL: no such name or value.
 */
int kp_setting_get(struct kp *, const char *name, unsigned *ret);
int kp_setting_set(struct kp *, const char *name, unsigned value);

/* Writes a mark into the buffer: an event now, of the calling thread, of a probe "mark"
   with the members "text" and "by", each at most 255 bytes, and an integer for each of the
   names, which have blanks between.  -ENOENT: no buffer;
   -EAGAIN: tracing is off; -ENOBUFS: there was no room. */
int kp_mark(struct kp *, const char *text, const char *by, const char *names,
    const int64_t *values);

/* The buffer's bytes, mapped read-only until kp_close(); they change while
   tracing runs (see tnf_image_open() in tnf_stream(3)). */
int kp_map(struct kp *, const void **ret, size_t *ret_size);

/* The time since which the buffer has everything that a CPU wrote. */
struct kp_span {
	int64_t	 since;		/* ns, CLOCK_MONOTONIC: its oldest event */
	uint32_t first;		/* that event's block among those of the CPU: 1,
				   nothing was overwritten; 0, no event at all */
};

/* One for each CPU, by its number; malloc'ed.  -ENOENT: no buffer. */
int kp_coverage(struct kp *, struct kp_span **ret, int *ret_n);

struct kp_task {		/* that lives */
	pid_t	 tid, pid, ppid;
	uint32_t flags;		/* the kernel's PF_* */
	uint64_t groups;	/* equal for tasks that are in the same control groups */
	char	 comm[16];	/* any byte but NUL; a kernel thread's /proc may have
				   a longer one */
};

/* All tasks that live, by ascending tid; malloc'ed.  A negative errno: this kernel, this
   buffer's programs or our pid name space do not allow it, and /proc has to be asked. */
int kp_tasks(struct kp *, struct kp_task **ret, size_t *ret_n);

/* Calls fn for each thread that has ended, while tracing was on or since, as far
   as they are remembered.  comm may hold any byte but NUL.  living: what kp_tasks() told, of
   whom none has ended; NULL: whoever /proc has lives. */
void kp_ended(struct kp *, const struct kp_task *living, size_t n, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg);

/* Calls fn for each name that a thread had until 'time' (ns, as events have it)
   while tracing was on, as far as they are remembered, in no order. */
/* Calls fn for each program that a process ran while tracing was on, and the time since when. */
void kp_ran(struct kp *, void (*fn)(void *arg, pid_t pid, int64_t time, const char *path), void *arg);
void kp_renamed(struct kp *, void (*fn)(void *arg, pid_t tid, int64_t time,
    const char *comm), void *arg);

struct kp_mapped {		/* a file that a process had mapped as code */
	pid_t	 pid;
	uint64_t start, end;
	uint64_t offset;	/* of 'start' in the file, unless 'main' is set: */
	bool	 main;		/* 'start' is the address of the program's first code */
	uint64_t inode;
	dev_t	 device;
	const char *path;	/* in the name space of the process; of a long one its end */
};

/* Calls fn for the files of processes that have exec'd or ended while events had addresses of
   programs, as far as they are remembered.  The processes may live. */
void kp_objects(struct kp *, void (*fn)(void *arg, const struct kp_mapped *), void *arg);

/* Calls fn for each member of an imported probe of which the buffer may have events
   and whose values have names: "symbolic MASK VALUE=NAME,...", or "flags MASK
   DELIMITER VALUE=NAME,..." (tnf(5), "Context"). */
void kp_value_names(struct kp *, void (*fn)(void *arg, const char *probe,
    const char *member, const char *names), void *arg);
/* The same for one tracepoint, by the name of its probe. */
void kp_value_names_of(struct kp *, const char *probe, void (*fn)(void *arg,
    const char *probe, const char *member, const char *names), void *arg);

const char *kp_detail(struct kp *);	/* "thing: fact: remedy", or "" */

/*
 * Probes in programs, by breakpoints of the kernel: USDT, functions.
 *
 * ELF files tell where the probes and their arguments are, but we do not read them:
 * whoever opens a session gives us a finder, and we ask the finder again in later
 * sessions, and each time a probe is attached.
 */
#define KP_SYMBOL_MAX	256u	/* NUL included */
#define KP_FILE_MAX	768u	/* of a path, the same */

#define KP_UPROBE_FUNCTION	1u	/* 'symbol' is a function's name */
#define KP_UPROBE_RETURN	2u	/* hit when that function returns */
/* The kernel exchanges the address to return to while the function runs, which ends a
   program whose exceptions pass it: only users who name the return probe get it. */
#define KP_UPROBE_UNWOUND	4u
#define KP_UPROBE_NO_RETURN	8u	/* the return cannot be probed at all: a Go program */

/* Which probe it is.  Pinned: a change needs a new KP_LAYOUT. */
struct kp_uprobe_spec {
	int32_t	 pid;		/* of this process alone; 0: of all */
	uint32_t flags;		/* KP_UPROBE_* */
	uint64_t started;	/* when the process started, as in /proc/PID/stat */
	/* Or "provider:name" of a USDT probe; behind a blank, the names and types of its
	   arguments that somebody has given (kp_probe_args()). */
	char	 symbol[KP_SYMBOL_MAX];
	char	 path[KP_FILE_MAX];	/* of the file, as we can open it */
	char	 shown[KP_FILE_MAX / 2];	/* the path that people know it by */
};

struct kp_site {		/* one place of a probe */
	uint64_t offset;	/* of the instruction, in the file */
	uint64_t ref_ctr;	/* of the place's semaphore; 0: none */
	unsigned n;
	struct kp_operand v[KP_OPERANDS_MAX];	/* 'at' and 'store' are ours */
	struct kp_hops hop[KP_OPERANDS_MAX];
};

struct kp_uprobe_found {
	struct kp_site *site;	/* malloc'ed */
	unsigned sites;
	unsigned members;	/* one for each argument, and KP_UNREAD */
	struct {
		const char *type;	/* static; NULL: it is not recorded */
		char name[32];
	} member[KP_OPERANDS_MAX + 1];
	char	 attrs[256];	/* "name value;" each */
	char	 why[160];	/* after a failure */
};

/* 0, or a negative errno with 'why'. */
typedef int kp_uprobe_find_f(const struct kp_uprobe_spec *, struct kp_uprobe_found *ret);

/* Sets the finder for all sessions of this program. */
void	kp_uprobe_finder(kp_uprobe_find_f *);

/* The attributes of a function's probe that tell which it is, "name value;" each. */
#define KP_FUNCTION_ATTRS	(3 * KP_SYMBOL_MAX + 128)
void	kp_uprobe_function_attrs(const struct kp_uprobe_spec *, char ret[KP_FUNCTION_ATTRS]);

/* Adds a probe, which is off; one that is there stays as it is.  keys: separated
   by blanks.  -E2BIG: a name is too long; -ESRCH: there is no such process. */
int	kp_uprobe_add(struct kp *, const char *name, const char *keys,
	    const struct kp_uprobe_spec *, unsigned *ret_id);

#endif /* KERNEL_PROBES_KERNEL_PROBES_H */
