/*
 * small-stacks.c - loading libtnfprobe ran over the stacks of coroutines.
 */
#include <sys/wait.h>

#include "tests/live/live.h"

static void
visit(const char *how)
{
	struct victim v = VICTIM("coroutines-nolib", how);
	tnfctl_handle_t *h;
	const char *name;

	OK(tnfctl_pid_open(v.pid, &h));
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	while (!file_has(name, "coroutine"))
		usleep(1000);
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

int
main(void)
{
	int i;

	for (i = 0; i < rounds(2, 200); i++) {
		visit("contexts");
		visit("threads");
	}
	return 0;
}
