/*
 * stress.c - attach, enable, disable, detach, over and over.
 *
 * The target has 50 threads, signals and dlopen all the while.  No hang, no
 * thread lost, no file descriptor or memory leaked, its answers unchanged.
 */
#include <dirent.h>
#include <malloc.h>
#include <sys/wait.h>

#include "tests/live/live.h"

static int
open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	CHECK(d != NULL);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

int
main(void)
{
	int cycles = rounds(60, 200), most = rounds(4, 60), i, files, status;
	struct victim v = VICTIM("threads", "50", "-", "signals", "dlopen",
	    victim_path("libvictim-plugin.so"));
	size_t memory = 0;
	tnfctl_handle_t *h;
	int threads;

	seconds();
	files = open_files();
	threads = atoi(proc_field(v.pid, "Threads"));
	/* On a busy machine fewer. */
	for (i = 0; i < cycles && (i < 2 || seconds() < most); i++) {
		OK(tnfctl_pid_open(v.pid, &h));
		if (i == 0)
			make_trace(h);
		enable_all(h);
		OK(tnfctl_probe_apply(h, tnfctl_probe_disable, NULL));
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
		CHECK(atoi(proc_field(v.pid, "Threads")) == threads);
		CHECK(open_files() == files);
		if (i == 10)
			memory = mallinfo2().uordblks;
	}
	CHECK(i <= 10 || mallinfo2().uordblks < memory + 65536);
	printf("%d cycles in %.1f s\n", i, seconds());
	CHECK_STR(proc_field(v.pid, "TracerPid"), "0");
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	status = victim_end(&v);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	return 0;
}
