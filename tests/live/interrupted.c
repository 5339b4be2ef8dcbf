/*
 * interrupted.c - the thread that makes a call for us is where it must not
 * notice: it has been cancelled, or is in a restartable sequence.
 */
#include <signal.h>

#include "tests/live/live.h"

static void
visit(const char *how)
{
	struct victim v = VICTIM("interrupted-nolib", how);
	tnfctl_handle_t *h;
	const char *name;
	int i;

	OK(tnfctl_pid_open(v.pid, &h));
	name = trace_name();
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	for (i = 0; i < 2; i++) {
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
		while (!file_has(name, "computing") &&
		    *proc_field(v.pid, "State") != 'Z')
			usleep(1000);
		OK(tnfctl_pid_open(v.pid, &h));
		name = trace_name();
		OK(tnfctl_buffer_exchange(h, name, 1 << 20));
	}
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	kill(v.pid, SIGTERM);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

int
main(void)
{
	int i;

	for (i = 0; i < rounds(3, 100); i++)
		visit("cancelled");
	for (i = 0; i < rounds(12, 300); i++)
		visit("rseq");
	return 0;
}
