/*
 * target.h - open the target, run it and let it go; its children and its trace file.
 */
#ifndef PREX_TARGET_H
#define PREX_TARGET_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include <tnf/tnfctl.h>

struct family;
struct shell;

struct target_options {
	char	**argv;		/* to be started; NULL: none */
	pid_t	pid;		/* to attach to; 0: none */
	bool	kernel;
	bool	no_fast;	/* functions and USDT probes are recorded by the kernel alone */
	bool	fast_returns;	/* of --set */
	const char *preload;
	const char *file;	/* for the trace */
	bool	follow_fork;
	bool	children;	/* those that are there when we attach */
	bool	fill;		/* the trace file stops when it is full */
	bool	follow_exec;	/* argv is given */
	struct {
		char	*name;
		unsigned value;
	} *settings;		/* of the kernel; "cpus=LIST" as a name alone */
	size_t	n_settings;
};

/* Each prints why it returns false. */
bool	target_open(struct shell *, const struct target_options *);
bool	target_set_up(struct shell *, const struct target_options *);
bool	target_close(struct shell *);

/* Imported probes are to be switched on.  If the target is a process that is left alone so far, and
   need not be, it gets libtnfprobe and becomes one that prex holds. */
bool	target_load(struct shell *);
/* The target's imported probes are there from now on. */
void	target_imports(struct shell *);
bool	target_has_probes(struct shell *);
void	target_catch_interrupt(struct shell *);
/* Warns if no probe is both enabled and traced.  may_come: not if there are no probes yet. */
void	target_check_probes(struct shell *, bool may_come);
/* True if Ctrl-C was pressed after this was last asked. */
bool	target_interrupted(void);

/* Lets the target run.  TARGET_GONE: there is nothing left to control. */
enum target_run { TARGET_STOPPED, TARGET_GONE, TARGET_FAILED };
enum target_run target_run(struct shell *);
void	target_check(struct shell *);
pid_t	target_pid(struct shell *);

struct family *family_new(struct shell *);
/* Among the children of a process without probes, and their children, opens the first that has
   probes: it becomes the target.  false: none has. */
bool	family_open_first(struct shell *, pid_t);
bool	family_exists(pid_t);	/* True if the process has children. */
/* Attaches to the existing children of a process, and their children.  Each records into a
   file of its own, of the size of the target's: FILE.PID if 'file' is given, else a file that
   prex names. */
void	family_adopt(struct family *, pid_t, const char *file, bool fill);
/* Gives members that have no trace file one now; NULL is fine. */
void	family_make_files(struct family *);
/* Lets the target and all members run until an event.  Events of a member are handled here, and
   returned as the target's event FORK.  NULL is a family without members. */
tnfctl_errcode_t family_continue(struct family *, tnfctl_handle_t *target,
	    tnfctl_event_t *);
/* Calls fn for every member; the first failure is returned. */
tnfctl_errcode_t family_each(struct family *,
	    tnfctl_errcode_t (*fn)(tnfctl_handle_t *, void *arg), void *arg);
/* Lets all of them go and frees the family. */
void	family_close(struct family *, tnfctl_targ_op_t);

/* The trace file that will be made. */
struct trace_plan {
	char	*name;		/* absolute; NULL: the one that the target has */
	size_t	size;		/* bytes */
	bool	exchange;	/* the target has another one */
};

/* Begins to make room for the file of a program that is about to be started. */
void	trace_prepare(const char *file, size_t size);
/* Decides on name and size, which may be given (NULL, 0: not); a target that
   has a file keeps it, unless another is named.  Each prints why it returns
   false. */
bool	trace_plan(struct shell *, const char *file, size_t size);
/* The caller frees it. */
char	*trace_default_name(pid_t);
void	trace_plan_free(struct trace_plan *);
/* Makes the file, and gives it to the target; does nothing for the kernel. */
bool	trace_make(struct shell *);

/* Notes the context of the target, which must be stopped. */
void	trace_context_note(struct shell *);
/* Puts the last notes behind the trace; the target must still be held. */
void	trace_context_put(struct shell *);

/* To be called before the target runs. */
void	trace_file_note(struct shell *);
/* Warns, before the target is closed, if the trace will have no events. */
void	trace_file_check(struct shell *);

/* 'pid' is stopped; nothing but exit() may follow. */
void	leave_stopped(pid_t pid);

/* From now on SIGHUP, SIGTERM and SIGPIPE, unless ignored, are noted; the next
   of the first two ends prex at once. */
void	ending_catch(void);
/* To be called in a child of ours before exec(): sets the signals as our parent had them. */
void	ending_inherit(void);
/* The signal that has come, or 0.  Calls that wait return EINTR from then on. */
int	ending_signal(void);
/* Calls that wait return EINTR every few milliseconds.  For signal handlers. */
void	ending_nudge(bool on);
/* Dies of that signal, if there is one. */
void	ending_die(void);

/*
 * The options of the command line, and the command of --run.
 */
struct input {
	const char *arg;
	bool	is_text;	/* -c; else a file, -f */
};

struct options {
	struct target_options target;
	size_t	buffer_size;
	bool	test_mode;
	bool	run;		/* the kernel around a command */
	struct input *inputs;	/* none: standard input */
	size_t	n_inputs;
};

/* In a kernel session that has nothing set: makes a buffer, runs prex's commands (by default:
   all probes) and sets the filter; runs the command, puts a snapshot into the file, and leaves
   nothing behind.  Returns the exit status: the command's, 128 + its signal, or 1. */
int	run_command(struct shell *, const struct options *);

#endif
