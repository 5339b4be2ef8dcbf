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

int
main(void)
{
	int i;

	for (i = 0; i < rounds(1, 200); i++) {
		test_thread("leader");
		test_thread("worker");
		test_all();
	}
	return 0;
}
