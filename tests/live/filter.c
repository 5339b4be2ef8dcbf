/*
 * filter.c - seccomp filters: a thread that has one neither loads a library
 * nor opens a file, and what it does need afterwards no filter refuses.
 */
#include <sys/wait.h>

#include "tests/live/live.h"

/* The filter kills for the opening of a file: it must be another thread's. */
static void
test_thread(const char *who)
{
	struct victim v = VICTIM("filter-nolib", who);
	tnfctl_handle_t *h;
	const char *name;

	OK(tnfctl_pid_open(v.pid, &h));
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(file_has(name, "leader") && file_has(name, "worker"));
	CHECK(victim_end(&v) == 0);
}

/* Nobody is there to do it: refused before anything is done. */
static void
test_all(void)
{
	struct victim v = VICTIM("filter-nolib", "all");
	char *before = proc_text(v.pid, "maps"), *after;
	tnfctl_handle_t *h;

	CHECK_CODE(tnfctl_pid_open(v.pid, &h), TNFCTL_ERR_NOLIBTNFPROBE);
	CHECK(strstr(tnfctl_error_detail(), "seccomp") != NULL);
	after = proc_text(v.pid, "maps");
	CHECK_STR(after, before);
	free(before);
	free(after);
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(victim_end(&v) == 0);
}

/* The first hit of all is a forked child's, which has the filter, too. */
static void
test_child(void)
{
	const char *path = victim_path("victim-filter-nolib");
	const char *argv[] = { path, "child", NULL }, *name = trace_name();
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	int in[2], status;

	CHECK(pipe(in) == 0 && write(in[1], "\n", 1) == 1);
	CHECK(dup2(in[0], 0) == 0 && close(in[0]) == 0 && close(in[1]) == 0);
	OK(tnfctl_exec_open(path, (char *const *)(uintptr_t)argv, NULL, NULL,
	    NULL, &h));
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	do
		OK(tnfctl_continue(h, &event, NULL));
	while (event != TNFCTL_EVENT_EXIT && event != TNFCTL_EVENT_TARGGONE);
	OK(tnfctl_fate_get(h, &status));
	CHECK(status == 0);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(file_has(name, "child"));
}

int
main(void)
{
	int i;

	for (i = 0; i < rounds(1, 200); i++) {
		test_thread("leader");
		test_thread("worker");
		test_all();
		test_child();
	}
	return 0;
}
