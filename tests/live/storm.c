/*
 * storm.c - many attaches to a target whose threads do everything at once.
 */
#include <sys/wait.h>

#include "tests/live/live.h"

int
main(void)
{
	struct victim v = VICTIM("storm", victim_path("libvictim-plugin.so"));
	tnfctl_handle_t *h;
	int i;

	alarm(300);
	for (i = 0; i < rounds(40, 640); i++) {
		OK(tnfctl_pid_open(v.pid, &h));
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
