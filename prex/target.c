/*
 * target.c - let the target run, and let it go.
 */
#include <sys/wait.h>

#include "prex/shell.h"

static volatile sig_atomic_t interrupted;

static void
target_on_interrupt(int sig)
{
	interrupted = 1;
	ending_nudge(true);
}

void
target_catch_interrupt(struct shell *sh)
{
	struct sigaction sa = { .sa_handler = target_on_interrupt };
	sigset_t set;

	/* The program that started prex may have blocked the signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* There is no SA_RESTART: calls that wait must return. */
	if (sigaction(SIGINT, &sa, NULL) < 0)
		shell_error(sh, ERROR_TARGET,
		    "trouble setting up signal handler: %s", strerror(errno));
	ending_catch();
}

bool
target_interrupted(void)
{
	bool was = interrupted;

	interrupted = 0;
	ending_nudge(false);
	return was;
}

pid_t
target_pid(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;

	if (tnfctl_trace_attrs_get(sh->target, &attrs) != TNFCTL_ERR_NONE)
		return 0;
	return attrs.targ_pid;
}

/* Says so if the target can no longer write records. */
void
target_check(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err = tnfctl_trace_attrs_get(sh->target, &attrs);

	if (shell_ok(sh, ERROR_TARGET, err, "cannot read tracing status : ") &&
	    attrs.trace_buf_state == TNFCTL_BUF_BROKEN) {
		puts("Tracing shut down in target program due to an internal "
		    "error - Please restart prex and target");
		shell_tell_detail(sh);
	}
}

/* Notes how the target has ended, if we have started it. */
static void
note_fate(struct shell *sh)
{
	const char *name;
	int status;

	if (!sh->started || tnfctl_fate_get(sh->target, &status) != TNFCTL_ERR_NONE)
		return;
	if (WIFEXITED(status)) {
		sh->target_status = WEXITSTATUS(status);
		return;
	}
	sh->target_status = 128 + WTERMSIG(status);
	name = sigabbrev_np(WTERMSIG(status));
	shell_say(sh, "target process was killed by signal %d%s%s%s%s", WTERMSIG(status),
	    name ? " (SIG" : "", name ? name : "", name ? ")" : "",
	    WCOREDUMP(status) ? ", core dumped" : "");
}

/* Tells that a target without probes has become another program, which is not traced. */
static void
tell_exec(struct shell *sh, bool had_probes)
{
	if (had_probes || !sh->started)
		return;
	shell_say(sh, "process %ld had no probes and has become another program, which is not "
	    "traced: use --follow-exec, or attach to it: prex -p %ld", (long)target_pid(sh),
	    (long)target_pid(sh));
	sh->target_status = EXIT_FAILURE;
}

static enum target_run
after_event(struct shell *sh, tnfctl_event_t event, bool had_probes)
{
	switch (event) {
	case TNFCTL_EVENT_EXEC:
		puts("Target process exec'd");
		tell_exec(sh, had_probes);
		sh->at_quit = TNFCTL_TARG_RESUME;
		return TARGET_GONE;
	case TNFCTL_EVENT_EXIT:
		shell_say(sh, "target process exited");
		note_fate(sh);
		return TARGET_GONE;
	case TNFCTL_EVENT_TARGGONE:
		shell_say(sh, "target process disappeared (without calling exit)");
		note_fate(sh);
		return TARGET_GONE;
	default:
		return TARGET_STOPPED;
	}
}

static bool
goes_on(tnfctl_event_t event)
{
	return event == TNFCTL_EVENT_DLOPEN || event == TNFCTL_EVENT_DLCLOSE ||
	    event == TNFCTL_EVENT_FORK ||
	    (event == TNFCTL_EVENT_EINTR && !target_interrupted() && ending_signal() == 0);
}

static tnfctl_errcode_t
stop_at_first(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	return TNFCTL_ERR_USR1;
}

bool
target_has_probes(struct shell *sh)
{
	return tnfctl_probe_apply(sh->target, stop_at_first, NULL) == TNFCTL_ERR_USR1;
}

/* Repeats all of the user's commands for the new program. */
static tnfctl_errcode_t
follow_exec(struct shell *sh)
{
	tnfctl_errcode_t err = tnfctl_exec_follow(sh->target);

	puts("Target process exec'd");
	fflush(stdout);
	if (err != TNFCTL_ERR_NONE)
		return err;
	target_imports(sh);
	return history_repeat(sh->target);
}

static tnfctl_errcode_t
wait_for_event(struct shell *sh, tnfctl_event_t *event, bool *had_probes)
{
	tnfctl_errcode_t err;

	*had_probes = false;
	do {
		*had_probes |= target_has_probes(sh);
		trace_context_note(sh);
		err = family_continue(sh->family, sh->target, event);
		if (err == TNFCTL_ERR_NONE && sh->follow_exec &&
		    *event == TNFCTL_EVENT_EXEC) {
			if ((err = follow_exec(sh)) == TNFCTL_ERR_NONE)
				continue;
			sh->at_quit = TNFCTL_TARG_RESUME;
		}
	} while (err == TNFCTL_ERR_NONE && (goes_on(*event) ||
	    (sh->follow_exec && *event == TNFCTL_EVENT_EXEC)));
	return err;
}

struct probes_seen {
	bool	any;		/* beside those that may be imported, which libraries bring */
	bool	records;
};

static tnfctl_errcode_t
note_recording(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;
	struct probes_seen *seen = arg;
	struct attribute origin;

	if (tnfctl_probe_state_get(h, p, &state) != TNFCTL_ERR_NONE)
		return TNFCTL_ERR_NONE;
	seen->any |= !attribute_find(state.attr_string, "origin", &origin);
	seen->records |= state.enabled && state.traced;
	return TNFCTL_ERR_NONE;
}

void
target_check_probes(struct shell *sh, bool may_come)
{
	struct probes_seen seen = { false, false };

	if (tnfctl_probe_apply(sh->target, note_recording, &seen) ==
	    TNFCTL_ERR_NONE && !seen.records && (seen.any || !may_come))
		shell_warn(sh, "no probe is both enabled and traced: nothing is recorded");
}

enum target_run
target_run(struct shell *sh)
{
	tnfctl_event_t event;
	tnfctl_errcode_t err;
	enum target_run r;
	bool had_probes;

	fflush(stdout);
	trace_file_note(sh);
	/* A script that names a file wants events in it. */
	if (sh->file_named && !sh->interactive)
		target_check_probes(sh, true);
	err = wait_for_event(sh, &event, &had_probes);
	if (!shell_ok(sh, ERROR_TARGET, err, "cannot continue target : "))
		return TARGET_FAILED;
	if ((r = after_event(sh, event, had_probes)) == TARGET_STOPPED) {
		/* Ends the line of the terminal's "^C". */
		if (sh->interactive)
			putchar('\n');
		shell_tell_detail(sh);
		target_check(sh);
		trace_context_note(sh);
	}
	sh->gone = r == TARGET_GONE;
	return r;
}

/* Children end with a target that we end; they outlive one that has ended. */
static void
close_family(struct shell *sh)
{
	tnfctl_targ_op_t op = sh->at_quit;

	if (op == TNFCTL_TARG_DEFAULT && sh->started && sh->gone)
		op = TNFCTL_TARG_RESUME;
	family_close(sh->family, op);
	sh->family = NULL;
}

/* Warns if the kernel, which goes on without us, would record nothing. */
static void
check_kernel(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;

	if (tnfctl_trace_attrs_get(sh->target, &attrs) == TNFCTL_ERR_NONE && attrs.trace_state)
		target_check_probes(sh, false);
}

bool
target_close(struct shell *sh)
{
	pid_t pid = target_pid(sh);
	tnfctl_errcode_t err;

	fflush(stdout);
	/* Ends a thread that still makes room: leave_stopped() needs prex to end in one step. */
	tnfctl_buffer_prepare(NULL, 0);
	if (sh->mode == MODE_KERNEL)
		check_kernel(sh);
	/* A process that records gets the other file that the user has named, even if no command has
	   needed it. */
	if (sh->plan.exchange && !sh->gone && sh->at_quit != TNFCTL_TARG_KILL && ending_signal() == 0)
		trace_make(sh);
	close_family(sh);
	trace_file_check(sh);
	if (!sh->gone)
		trace_context_note(sh);
	trace_context_put(sh);
	err = tnfctl_close(sh->target, sh->at_quit);
	sh->target = NULL;
	/* BUSY: the kernel lets go of threads that sleep deep in it when prex ends. */
	if (err == TNFCTL_ERR_NONE || err == TNFCTL_ERR_BUSY) {
		/* A target that we attached to has a parent, which keeps it in its session. */
		if (sh->at_quit == TNFCTL_TARG_SUSPEND && sh->started && !sh->gone)
			leave_stopped(pid);
		return true;
	}
	return shell_ok(sh, ERROR_TARGET, err, "trouble quitting : ");
}
