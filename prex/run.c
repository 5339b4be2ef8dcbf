/*
 * run.c - the kernel's probes around one command (--run).
 *
 * Whatever fails on the way, we leave the kernel without a buffer, programs or a filter.  So
 * there must be none when we begin.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>

#include "prex/shell.h"

enum { RUN_SIZE = 16 * 1024 * 1024 };

extern char **environ;

struct child {
	pid_t	pid;
	int	go;		/* write: now; closed: do not */
	int	failed;		/* read: errno of exec, or the end */
};

static bool
run_done(struct shell *sh, tnfctl_errcode_t err, const char *what)
{
	return shell_ok(sh, ERROR_TARGET, err, "--run: %s: ", what);
}

static struct sigaction inherited[2];	/* SIGINT, SIGQUIT */

static _Noreturn void
run_child_main(int go, int failed, char **argv)
{
	char c;

	sigaction(SIGINT, &inherited[0], NULL);
	sigaction(SIGQUIT, &inherited[1], NULL);
	ending_inherit();
	if (read(go, &c, 1) == 1) {
		execvp(argv[0], argv);
		if (write(failed, &errno, sizeof errno) < 0)
			_exit(126);
	}
	_exit(127);
}

/* The child waits before it executes the command.  Meanwhile prex sets up the process
   filter for its number; otherwise the command's first events would be missing. */
static bool
fork_child(struct shell *sh, char **argv, struct child *ret)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) == 0 && pipe2(failed, O_CLOEXEC) == 0) {
		fflush(stdout);
		/* Ctrl-C ends only the command: we have work to do afterwards. */
		sigaction(SIGINT, &ignored, &inherited[0]);
		sigaction(SIGQUIT, &ignored, &inherited[1]);
		if ((ret->pid = fork()) == 0) {
			close(go[1]);
			run_child_main(go[0], failed[1], argv);
		}
		close(go[0]);
		close(failed[1]);
		ret->go = go[1];
		ret->failed = failed[0];
		if (ret->pid > 0)
			return true;
	}
	shell_error(sh, ERROR_TARGET, "--run: %s", strerror(errno));
	return false;
}

/* A signal that ends prex also ends the command, but not the snapshot. */
static int
wait_child(pid_t pid, bool ends_too)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (ends_too && ending_signal() != 0)
			kill(pid, ending_signal());
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	    WEXITSTATUS(status);
}

/* Lets the child run; returns its status. */
static int
let_run(struct shell *sh, const struct child *c, const char *name)
{
	int error = 0, status;

	if (write(c->go, "", 1) != 1)
		error = errno;
	status = wait_child(c->pid, true);
	if (error == 0 && read(c->failed, &error, sizeof error) != sizeof error)
		return status;
	shell_error(sh, ERROR_TARGET, "%s: %s", name, strerror(error));
	return 127;
}

/* True if the trace can be written.  We check that before the command runs, as else the trace is
   lost. */
static bool
can_write(struct shell *sh, const char *xtract, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash == NULL ? tnf_xstrdup(".") : tnf_xstrndup(file, (size_t)(slash - file) + 1);
	bool can = access(dir, W_OK | X_OK) == 0;

	if (!can)
		shell_error(sh, ERROR_TARGET, "--run: %s: %s: nothing has been run", file, strerror(errno));
	else if (!(can = strchr(xtract, '/') != NULL))
		shell_error(sh, ERROR_TARGET, "--run: %s: neither beside prex nor in PATH: nothing has "
		    "been run", xtract);
	free(dir);
	return can;
}

static bool
run_snapshot(struct shell *sh, char *path, const char *file)
{
	autofree char *name = tnf_xasprintf("%s%s", *file == '-' ? "./" : "", file);
	char *argv[] = { path, name, NULL };
	int status = 1, error;
	pid_t pid;

	error = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	if (error == 0)
		status = wait_child(pid, false);
	if (error != 0)
		shell_error(sh, ERROR_TARGET, "%s: %s: the trace is lost", path, strerror(error));
	else if (status != 0)
		shell_error(sh, ERROR_TARGET, "%s: tnfxtract could not write "
		    "it: the trace is lost", file);
	return error == 0 && status == 0;
}

static bool
set_up(struct shell *sh, const struct options *o)
{
	tnfctl_trace_attrs_t attrs;

	if (!kernel_attrs(sh, &attrs))
		return false;
	if (attrs.trace_buf_state != TNFCTL_BUF_NONE) {
		shell_error(sh, ERROR_TARGET, "--run: there is a buffer "
		    "already: somebody traces, or has: prex -k -c 'ktrace off; buffer dealloc'");
		return false;
	}
	tnfctl_buffer_fill_set(sh->target, o->target.fill ? B_TRUE : B_FALSE);
	return run_done(sh, tnfctl_buffer_alloc(sh->target, NULL,
	    o->buffer_size != 0 ? o->buffer_size : RUN_SIZE), "error in allocating buffer");
}

static bool
run_record(struct shell *sh, const struct options *o, int *ret_status)
{
	struct child c;
	bool ready;

	shell_commands(sh);
	if (sh->failed || !fork_child(sh, o->target.argv, &c))
		return false;
	target_check_probes(sh, false);
	ready = run_done(sh, tnfctl_filter_list_follow(sh->target, c.pid), "process filter") &&
	    run_done(sh, tnfctl_filter_state_set(sh->target, B_TRUE), "process filter") &&
	    run_done(sh, tnfctl_trace_state_set(sh->target, B_TRUE),
	    "error in setting tracing state");
	if (ready)
		*ret_status = let_run(sh, &c, o->target.argv[0]);
	close(c.go);
	close(c.failed);
	if (!ready)
		wait_child(c.pid, true);
	return run_done(sh, tnfctl_trace_state_set(sh->target, B_FALSE),
	    "error in setting tracing state") && ready;
}

int
run_command(struct shell *sh, const struct options *o)
{
	autofree char *xtract = tnf_program_path("tnfxtract");
	int status = EXIT_FAILURE;

	ending_catch();
	if (can_write(sh, xtract, o->target.file) && set_up(sh, o)) {
		if (run_record(sh, o, &status) && !run_snapshot(sh, xtract, o->target.file))
			status = EXIT_FAILURE;
		/* The filter and the probes' settings go with the buffer. */
		if (!run_done(sh, tnfctl_buffer_dealloc(sh->target), "error in deleting buffer"))
			status = EXIT_FAILURE;
	}
	return status;
}
