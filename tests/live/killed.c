/*
 * killed.c - kill -9 of the controller at any moment.
 *
 * An attached process goes on, a started one dies; nothing is left planted.
 */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/live/live.h"

/* A controller that attaches, traces and lets run, over and over. */
static void
control(pid_t pid, const char *name)
{
	char file[PATH_MAX];
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	unsigned int i;

	for (i = 0; ; i++) {
		if (tnfctl_pid_open(pid, &h) != TNFCTL_ERR_NONE)
			continue;
		snprintf(file, sizeof(file), "%s.%u", name, i % 2);
		tnfctl_buffer_exchange(h, file, 1 << 20);
		tnfctl_probe_apply(h, tnfctl_probe_enable, NULL);
		/* A visit of each kind: short, and until objects change. */
		if (getpid() % 2 == 0)
			tnfctl_continue(h, &event, NULL);
		tnfctl_probe_apply(h, tnfctl_probe_disable, NULL);
		tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	}
}

/* Sockets and traces: the target itself opens libraries all the time. */
static int
descriptors(pid_t pid)
{
	char path[PATH_MAX], name[PATH_MAX];
	struct dirent *e;
	int n = 0;
	ssize_t l;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	CHECK((d = opendir(path)) != NULL);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, e->d_name);
		if ((l = readlink(path, name, sizeof(name) - 1)) <= 0)
			continue;
		name[l] = '\0';
		n += strncmp(name, "socket:[", 8) == 0 || strstr(name, ".tnf") != NULL;
	}
	closedir(d);
	return n;
}

/* Attaches, and gives the target another file. */
static void
visit_once(pid_t pid, const char *name, const char *end)
{
	char file[PATH_MAX];
	tnfctl_handle_t *h;

	snprintf(file, sizeof(file), "%s.%s", name, end);
	OK(tnfctl_pid_open(pid, &h));
	OK(tnfctl_buffer_exchange(h, file, 1 << 20));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

/* Runs until it is about to take one of the target's sockets. */
static void
until_sockets(pid_t controller)
{
	struct __ptrace_syscall_info call;
	int status;

	for (;;) {
		CHECK(waitpid(controller, &status, 0) == controller && WIFSTOPPED(status));
		ptrace(PTRACE_SETOPTIONS, controller, NULL, (void *)PTRACE_O_TRACESYSGOOD);
		if (ptrace(PTRACE_GET_SYSCALL_INFO, controller, (void *)sizeof(call), &call) > 0 &&
		    call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr == SYS_pidfd_getfd)
			return;
		CHECK(ptrace(PTRACE_SYSCALL, controller, NULL, NULL) == 0);
	}
}

/* Killed when the target has two sockets more: who comes next closes them. */
static void
test_left_open(void)
{
	struct victim v = VICTIM("threads", "10", "-", "signals");
	const char *name = trace_name();
	int i, before, status;
	pid_t pid;

	visit_once(v.pid, name, "before");
	before = descriptors(v.pid);
	for (i = 0; i < 5; i++) {
		if ((pid = fork()) == 0) {
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			raise(SIGSTOP);
			visit_once(v.pid, name, "killed");
			_exit(0);
		}
		until_sockets(pid);
		CHECK(descriptors(v.pid) == before + 2);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		visit_once(v.pid, name, i % 2 == 0 ? "even" : "odd");
		CHECK(descriptors(v.pid) == before);
	}
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	victim_end(&v);
}

static void
test_attached(void)
{
	struct victim v = VICTIM("threads", "10", "-", "signals", "dlopen",
	    victim_path("libvictim-plugin.so"));
	const char *name = trace_name();
	int i, status;
	pid_t pid;

	for (i = 0; i < rounds(100, 2000) && seconds() < 3.5; i++) {
		if ((pid = fork()) == 0)
			control(v.pid, name);
		usleep((unsigned int)(i * 7919 % 25000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		CHECK(WIFSIGNALED(status));
		CHECK(kill(v.pid, 0) == 0);
	}
	/* The next one can have it. */
	visit_once(v.pid, name, "after");
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	status = victim_end(&v);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void
test_started(void)
{
	const char *file = victim_path("victim-loader");
	const char *argv[] = { file, NULL };
	tnfctl_trace_attrs_t attrs;
	int pipes[2], i, status;
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	pid_t pid, target;

	for (i = 0; i < 10; i++) {
		CHECK(pipe(pipes) == 0);
		if ((pid = fork()) == 0) {
			OK(tnfctl_exec_open(file,
			    (char *const *)(uintptr_t)argv, NULL, NULL, NULL,
			    &h));
			OK(tnfctl_trace_attrs_get(h, &attrs));
			CHECK(write(pipes[1], &attrs.targ_pid,
			    sizeof(attrs.targ_pid)) > 0);
			if (i % 2 == 0)
				tnfctl_continue(h, &event, NULL);
			pause();
		}
		CHECK(read(pipes[0], &target, sizeof(target)) > 0);
		usleep((unsigned int)i * 1000);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		CHECK(kill(target, 0) < 0 || state_is(target, "XZ") ||
		    kill(target, 0) < 0);
		close(pipes[0]);
		close(pipes[1]);
	}
}

int
main(void)
{
	seconds();
	test_started();
	test_attached();
	test_left_open();
	return 0;
}
