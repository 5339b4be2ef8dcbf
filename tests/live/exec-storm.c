/*
 * exec-storm.c - a program that became another one while libtnfprobe was
 * loaded got the registers of what it had been, and crashed.
 *
 * On a busy machine it becomes another one before anything can be loaded, and
 * an attach takes seconds to find that out: then there are fewer of them.
 */
#include <sys/wait.h>

#include "tests/live/live.h"

int
main(void)
{
	struct victim v = VICTIM("execs-nolib");
	int i, opened = 0, status;
	tnfctl_handle_t *h;

	for (i = 0; i < rounds(20, 300) &&
	    (i < 2 || seconds() < rounds(3, 300)); i++) {
		tnfctl_errcode_t err = tnfctl_pid_open(v.pid, &h);

		if (err == TNFCTL_ERR_NONE) {
			opened++;
			OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
		} else if (strstr(tnfctl_error_detail(), "exec") == NULL) {
			failed(__FILE__, __LINE__, "attach %d: %s", i,
			    tnfctl_error_detail());
		}
	}
	CHECK_STR(proc_field(v.pid, "TracerPid"), "0");
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	status = victim_end(&v);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	printf("%d of %d attached\n", opened, i);
	return 0;
}
