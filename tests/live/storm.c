/*
 * storm.c - many attaches to a target whose threads do everything at once.
 */
#include <sys/wait.h>

#include "tests/live/live.h"
#include "tests/slow.h"

/* The linker must come to rest within 3 s: one try does on a machine that is not slow. */
static tnfctl_handle_t *
visit(pid_t pid)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;
	long i = 0;

	do
		err = tnfctl_pid_open(pid, &h);
	while (err == TNFCTL_ERR_INTERNAL && ++i < times_slower());
	OK(err);
	return h;
}

int
main(void)
{
	struct victim v = VICTIM("storm", victim_path("libvictim-plugin.so"));
	tnfctl_handle_t *h;
	int i;

	alarm(300);
	for (i = 0; i < rounds(40, 640); i++) {
		h = visit(v.pid);
		if (i == 0)
			make_trace(h);
		OK(tnfctl_probe_apply(h, i % 2 == 0 ? tnfctl_probe_enable :
		    tnfctl_probe_disable, NULL));
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	}
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
	return 0;
}
