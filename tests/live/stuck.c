/*
 * stuck.c - targets that do not stop, or that the kernel does not let us read: an attach has
 * an end all the same, at once if somebody ends us, and the target is as it was.
 *
 * The leader's exec() waits for another thread, which we trace and do not wait for; a
 * cgroup is frozen; a thread waits in vfork(); the program's file system does not answer; a
 * page that we need waits for userfaultfd(2).
 */
#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/live/live.h"
#include "tests/live/silent.h"

/* A thread beside the leader. */
static pid_t
other_thread(pid_t pid)
{
	struct dirent *e;
	char path[64];
	pid_t tid = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	CHECK((dir = opendir(path)) != NULL);
	while ((e = readdir(dir)) != NULL)
		if (atoi(e->d_name) > 0 && atoi(e->d_name) != pid)
			tid = atoi(e->d_name);
	closedir(dir);
	return tid;
}

static void
test_exec(void)
{
	/* Two seconds before the exec() for us. */
	struct victim v = VICTIM("execs", "2000000", "2", "leader");
	int status;
	pid_t tid;

	while ((tid = other_thread(v.pid)) == 0)
		usleep(1000);
	CHECK(ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0);
	CHECK(state_is(v.pid, "D"));
	status = attach_apart(v.pid, SIGTERM);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	status = attach_apart(v.pid, SIGINT);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	if (rounds(0, 1) > 0) {
		status = attach_apart(v.pid, 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	}
	CHECK(waitpid(tid, &status, __WALL) == tid);
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

/* Two kinds of cgroups that freeze: where they are mounted, and how it is said. */
static const struct freezer {
	const char *mounts[2];
	const char *file, *freeze, *thaw;
} freezers[] = {
	{ { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" }, "cgroup.freeze", "1", "0" },
	{ { "/sys/fs/cgroup/freezer", "/sys/fs/cgroup" }, "freezer.state", "FROZEN", "THAWED" },
};

static char frozen[128];

static void
thaw(void)
{
	for (size_t i = 0; i < sizeof(freezers) / sizeof(freezers[0]) && frozen[0] != '\0'; i++)
		put_text(frozen, freezers[i].file, freezers[i].thaw);
}

/* Its process has ended, or ends with us. */
static void
remove_group(void)
{
	thaw();
	for (int i = 0; frozen[0] != '\0' && rmdir(frozen) != 0 && i < 100; i++)
		usleep(10000);
	frozen[0] = '\0';
}

static bool
freeze(const struct freezer *f, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	for (int i = 0; i < 2; i++) {
		snprintf(frozen, sizeof(frozen), "%s/tnf-stuck-%d", f->mounts[i], (int)getpid());
		if (mkdir(frozen, 0700) != 0)
			continue;
		if (put_text(frozen, "cgroup.procs", text) && put_text(frozen, f->file, f->freeze))
			return true;
		rmdir(frozen);
	}
	frozen[0] = '\0';
	return false;
}

/* It runs on afterwards. */
static bool
test_frozen(const struct freezer *f, const char *name, int sig)
{
	struct victim v = VICTIM(name, "2", "-");

	if (!freeze(f, v.pid)) {
		printf("%s: no such cgroup\n", f->file);
		victim_end(&v);
		return false;
	}
	attach_apart(v.pid, sig);
	thaw();
	CHECK_STR(proc_field(v.pid, "TracerPid"), "0");
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	victim_end(&v);
	remove_group();
	return true;
}

/* The leader waits in vfork() for as long as its child, which sleeps. */
static void
test_vfork(void)
{
	struct victim v = VICTIM("vforks");
	int status;

	CHECK(state_is(v.pid, "D"));
	status = attach_apart(v.pid, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(state_is(v.pid, "D"));
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

/* Whoever opens the program, or reads it, waits; so does the target itself, until the server
   answers again. */
static void
test_silent(void)
{
	struct victim v;
	struct silent f;
	int status;

	if (!silent_begin(&f, victim_path("victim-threads")))
		return;
	v = VICTIM("threads", "2", "-");
	*f.silence = SILENT_OPEN;
	status = attach_apart(v.pid, SIGTERM);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	*f.silence = SILENT_READ;
	status = attach_apart(v.pid, SIGINT);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = attach_apart(v.pid, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	*f.silence = SILENT_NEVER;
	status = attach_apart(v.pid, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	victim_end(&v);
	silent_end(&f);
}

/* A read by /proc/PID/mem does not wait for such a page: it is an error, at once. */
static void
test_page(void)
{
	struct victim v = VICTIM("held");
	const char *name = trace_name();
	tnfctl_handle_t *h;

	CHECK_CODE(tnfctl_pid_open(v.pid, &h), TNFCTL_ERR_INTERNAL);
	CHECK(strstr(tnfctl_error_detail(), "userfaultfd") != NULL);
	CHECK_STR(proc_field(v.pid, "TracerPid"), "0");
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_buffer_alloc(h, name, 1 << 20));
	enable_all(h);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(file_has(name, "held"));
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	victim_end(&v);
}

int
main(void)
{
	atexit(remove_group);
	test_page();
	test_silent();
	test_exec();
	test_vfork();
	for (size_t i = 0; i < sizeof(freezers) / sizeof(freezers[0]); i++)
		if (test_frozen(&freezers[i], "threads", 0))
			test_frozen(&freezers[i], "threads-nolib", SIGTERM);
	return 0;
}
