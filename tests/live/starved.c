/*
 * starved.c - targets whose threads get hardly any processor: an attach answers within its
 * limit, and the target runs on.
 *
 * A cgroup has a millisecond in each second for all threads; a loop with SCHED_FIFO has the only
 * CPU that the target may use.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/live/live.h"

/* Two kinds of cgroups with a share of the processor, and how it is said. */
static const struct quota {
	const char *mount;
	const char *file[2], *least[2], *all;
} quotas[] = {
	{ "/sys/fs/cgroup", { "cpu.max" }, { "1000 1000000" }, "max" },
	{ "/sys/fs/cgroup/cpu", { "cpu.cfs_period_us", "cpu.cfs_quota_us" }, { "1000000", "1000" }, "-1" },
};

static char group[128];

static void
remove_group(void)
{
	for (int i = 0; group[0] != '\0' && rmdir(group) != 0 && i < 500; i++)
		usleep(10000);
	group[0] = '\0';
}

static const char *
last_file(const struct quota *q)
{
	return q->file[q->file[1] != NULL];
}

static bool
starve(const struct quota *q, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	snprintf(group, sizeof(group), "%s/tnf-starved-%d", q->mount, (int)getpid());
	if (mkdir(group, 0700) == 0 && put_text(group, q->file[0], q->least[0]) &&
	    (q->file[1] == NULL || put_text(group, q->file[1], q->least[1])) &&
	    put_text(group, "cgroup.procs", text))
		return true;
	remove_group();
	return false;
}

/* Whatever the answer was, nobody holds the target, and it goes on. */
static void
check_unharmed(struct victim *v, const char *by, int status)
{
	printf("%s: %s %d\n", by, WIFSIGNALED(status) ? "signal" : "status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	CHECK_STR(proc_field(v->pid, "TracerPid"), "0");
	victim_leave(v);
	CHECK_STR(victim_says(v), "unharmed");
	victim_end(v);
}

static void
test_quota(const struct quota *q, const char *name, int sig)
{
	struct victim v = VICTIM(name, "8", "-");
	int status = 0;

	if (starve(q, v.pid)) {
		status = attach_apart(v.pid, sig);
		CHECK(put_text(group, last_file(q), q->all));
	} else {
		printf("%s/%s: no such cgroup\n", q->mount, last_file(q));
	}
	check_unharmed(&v, name, status);
	remove_group();
}

/* A loop whose CPU no other thread gets, by the kernel's leave; 0: we have no right to do so. */
static pid_t
hog(const cpu_set_t *cpu)
{
	const struct sched_param highest = { .sched_priority = 50 };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (sched_setaffinity(0, sizeof(*cpu), cpu) != 0 ||
		    sched_setscheduler(0, SCHED_FIFO, &highest) != 0)
			_exit(1);
		raise(SIGSTOP);
		for (;;)
			__asm__ volatile("" ::: "memory");
	}
	CHECK(pid > 0 && waitpid(pid, &status, WUNTRACED) == pid);
	return WIFSTOPPED(status) ? pid : 0;
}

static void
test_hog(const char *name, int sig)
{
	cpu_set_t all, last;
	struct victim v;
	int status;
	pid_t pid;

	CPU_ZERO(&last);
	CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_ZERO(&last);
			CPU_SET(i, &last);
		}
	if (CPU_COUNT(&all) < 2 || (pid = hog(&last)) == 0) {
		printf("no SCHED_FIFO, or no CPU for it\n");
		return;
	}
	CHECK(sched_setaffinity(0, sizeof(last), &last) == 0);
	v = VICTIM(name, "8", "-");
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
	kill(pid, SIGCONT);
	status = attach_apart(v.pid, sig);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_unharmed(&v, name, status);
}

int
main(void)
{
	atexit(remove_group);
	for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
		test_quota(&quotas[i], "threads", 0);
		test_quota(&quotas[i], "threads-nolib", SIGTERM);
	}
	test_hog("threads", 0);
	test_hog("threads-nolib", SIGTERM);
	return 0;
}
