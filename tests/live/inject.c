/*
 * inject.c - libtnfprobe gets into programs that were not linked with it, or
 * we are told why not.
 */
#include <sys/wait.h>

#include "tests/live/live.h"

/* dlopen() in the middle of malloc() would wait for itself. */
static void
test_busy(const char *how)
{
	struct victim v = VICTIM("busy-nolib", how, "-");
	tnfctl_trace_attrs_t attrs;
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	make_trace(h);
	enable_all(h);
	OK(tnfctl_trace_attrs_get(h, &attrs));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

/* The linker's frame is real: it may hold a lock. */
static void
test_inside(void)
{
	struct victim v = VICTIM("busy-nolib", "inside", "-");
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;

	if ((err = tnfctl_pid_open(v.pid, &h)) == TNFCTL_ERR_NONE) {
		err = tnfctl_buffer_alloc(h, trace_name(), 1 << 20);
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	}
	CHECK(err == TNFCTL_ERR_NOTLOADABLE);
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

/* Once in, it stays: the second visitor finds it. */
static void
test_twice(void)
{
	struct victim v = VICTIM("many-nolib", "2");
	char *first, *second;
	tnfctl_handle_t *h;
	const char *name;

	OK(tnfctl_pid_open(v.pid, &h));
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	OK(tnfctl_probe_enable(h, find_probe(h, "p512"), NULL));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(file_has(name, "p512"));
	first = proc_text(v.pid, "maps");
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	second = proc_text(v.pid, "maps");
	CHECK_STR(second, first);
	free(first);
	free(second);
	CHECK(victim_end(&v) == 0);
}

/* A signal that arrives meanwhile is neither lost nor early. */
static void
test_signal(void)
{
	struct victim v = VICTIM("threads-nolib", "8", "-", "signals");
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(WEXITSTATUS(victim_end(&v)) == 7);
}

/* Killed at any moment, we leave a target that goes on. */
static void
test_killed(void)
{
	struct victim v = VICTIM("threads-nolib", "4", "-");
	tnfctl_handle_t *h;
	int i, status;
	pid_t pid;

	for (i = 0; i < rounds(60, 600); i++) {
		if ((pid = fork()) == 0) {
			tnfctl_pid_open(v.pid, &h);
			pause();
		}
		usleep((unsigned int)i * 100 % 12000);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	status = victim_end(&v);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int
main(void)
{
	test_twice();
	test_busy("loop");
	test_busy("malloc");
	test_busy("handler");
	/* The linker's frames are gone, and what they left is no frame. */
	test_busy("stale");
	test_inside();
	test_signal();
	test_killed();
	return 0;
}
