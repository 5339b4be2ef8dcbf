/*
 * execs.c - attaches to a program whose threads exec it every few milliseconds, beside
 * busy loops: none of them takes longer than LIMIT_S, and the program lives on.
 *
 * soak-execs [ATTACHES LOOPS US THREADS WHO]: the last three are victim-execs's.
 *
 * An attach waited for a lock of the thread that called exec(), and that thread for
 * others that had ended, whom the attach had to wait for.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/live/live.h"
#include "tests/slow.h"

#define LIMIT_S		60	/* libtnfctl's own is half of that */
#define LOOPS_MAX	64

enum outcome { OPENED, REFUSED, OUTCOMES };

static pid_t loops[LOOPS_MAX];

static void
start_loops(int n)
{
	for (int i = 0; i < n && i < LOOPS_MAX; i++)
		if ((loops[i] = fork()) == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				__asm__ volatile("" ::: "memory");
		}
}

static void
end_loops(void)
{
	for (int i = 0; i < LOOPS_MAX && loops[i] > 0; i++)
		if (kill(loops[i], SIGKILL) == 0)
			waitpid(loops[i], NULL, 0);
}

static _Noreturn void
attach_main(pid_t pid)
{
	tnfctl_handle_t *h;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tnfctl_pid_open(pid, &h) == TNFCTL_ERR_NONE)
		_exit((tnfctl_close(h, TNFCTL_TARG_DEFAULT), OPENED));
	fprintf(stderr, "%s\n", tnfctl_error_detail());
	_exit(REFUSED);
}

/* In a process of its own, which can be given up. */
static enum outcome
attach(pid_t pid, int i)
{
	struct pollfd p = { .events = POLLIN };
	pid_t child = fork();
	int status;

	if (child == 0)
		attach_main(pid);
	CHECK(child > 0 && (p.fd = (int)syscall(SYS_pidfd_open, child, 0)) >= 0);
	if (poll(&p, 1, (int)(LIMIT_S * times_slower()) * 1000) != 1) {
		fprintf(stderr, "%s%s", proc_text(child, "stack"), proc_text(pid, "stack"));
		kill(child, SIGKILL);
		failed(__FILE__, __LINE__, "attach %d has no end", i);
	}
	close(p.fd);
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) >= OUTCOMES)
		failed(__FILE__, __LINE__, "attach %d: status 0x%x", i, status);
	return (enum outcome)WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
	int attaches = argc > 1 ? atoi(argv[1]) : 100, got[OUTCOMES] = { 0 }, status;
	struct victim v = VICTIM(argc > 6 ? argv[6] : "execs", argc > 3 ? argv[3] : "3000", argc > 4 ? argv[4] : "4",
	    argc > 5 ? argv[5] : "any");
	double start, longest = 0;

	start_loops(argc > 2 ? atoi(argv[2]) : 16);
	for (int i = 0; i < attaches; i++) {
		start = seconds();
		got[attach(v.pid, i)]++;
		if (waitpid(v.pid, &status, WNOHANG) == v.pid)
			failed(__FILE__, __LINE__, "attach %d: the program ends with 0x%x, says \"%s\"",
			    i, status, victim_says(&v));
		if (seconds() - start > longest)
			longest = seconds() - start;
	}
	end_loops();
	CHECK_STR(proc_field(v.pid, "TracerPid"), "0");
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	status = victim_end(&v);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	printf("%d attaches in %.1f s: %d opened, %d refused, the longest took "
	    "%.1f s\n", attaches, seconds(), got[OPENED], got[REFUSED], longest);
	return 0;
}
