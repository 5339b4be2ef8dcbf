/*
 * attach.c - pid handles leave the target as they found it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/live/live.h"

/* The parts of /proc that must be the same afterwards. */
struct look {
	char	*maps;
	char	*syscall;	/* number, arguments, stack pointer, place */
	char	 status[8][64];
};
static const char *const fields[] = {
	"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "TracerPid",
	"Threads", "State"
};

static struct look
look(pid_t pid)
{
	struct look l;
	size_t i;

	wait_asleep(pid);
	l.maps = proc_text(pid, "maps");
	l.syscall = proc_text(pid, "syscall");
	for (i = 0; i < 8; i++)
		snprintf(l.status[i], sizeof(l.status[i]), "%s",
		    proc_field(pid, fields[i]));
	/* With its trace file libtnfprobe gets a handler of SIGBUS, at once or
	   at the first hit. */
	snprintf(l.status[4], sizeof(l.status[4]), "%016llx",
	    strtoull(l.status[4], NULL, 16) & ~(1ull << (SIGBUS - 1)));
	return l;
}

static void
compare(const struct look *a, const struct look *b, bool maps)
{
	size_t i;

	for (i = 0; i < 8; i++)
		if (strcmp(a->status[i], b->status[i]) != 0)
			failed(__FILE__, __LINE__, "%s: %s before, %s after",
			    fields[i], a->status[i], b->status[i]);
	if (maps)
		CHECK_STR(b->maps, a->maps);
	if (a->syscall[0] != '\0')
		CHECK_STR(b->syscall, a->syscall);
}

static void
visit(pid_t pid, bool trace)
{
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(pid, &h));
	if (trace) {
		make_trace(h);
		enable_all(h);
		OK(tnfctl_probe_apply(h, tnfctl_probe_disable, NULL));
	}
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
}

/* Mask, pending signals, registers and memory map of a sleeping thread. */
static void
test_sleeping(void)
{
	struct victim v = VICTIM("many", "2");
	struct look before, after;

	before = look(v.pid);
	visit(v.pid, false);
	after = look(v.pid);
	compare(&before, &after, true);
	/* It maps its file, and handles SIGBUS from then on. */
	visit(v.pid, true);
	before = look(v.pid);
	visit(v.pid, false);
	after = look(v.pid);
	compare(&before, &after, true);
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(victim_end(&v) == 0);
}

/* Three visits to a sleep of so many ms; false: it was over before the last one, as
   what the last call said may tell. */
static bool
visit_sleep(const char *victim, const char *call, const char *ms, char *ret_said, size_t room)
{
	struct victim v = VICTIM(victim, call, ms);
	struct pollfd p = { .fd = fileno(v.in), .events = POLLIN };
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	tnfctl_handle_t *h;
	bool in_time;
	int i;

	for (i = 0; i < 3 && err == TNFCTL_ERR_NONE; i++) {
		if ((err = tnfctl_pid_open(v.pid, &h)) != TNFCTL_ERR_NONE)
			break;
		if (i == 0 && (err = tnfctl_buffer_alloc(h, trace_name(), 1 << 20)) == TNFCTL_ERR_NONE)
			err = tnfctl_probe_apply(h, tnfctl_probe_enable, NULL);
		if (err == TNFCTL_ERR_NONE)
			err = tnfctl_probe_apply(h, tnfctl_probe_disable, NULL);
		OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
		/* It sleeps again, or has slept enough. */
		while (poll(&p, 1, 1) == 0 && *proc_field(v.pid, "State") == 'R')
			;
	}
	in_time = err == TNFCTL_ERR_NONE && poll(&p, 1, 0) == 0;
	snprintf(ret_said, room, "%s (%s)", tnfctl_strerror(err), tnfctl_error_detail());
	if (err != TNFCTL_ERR_NONE && !state_is(v.pid, "Z"))
		failed(__FILE__, __LINE__, "%s: %s (%s)", call, tnfctl_strerror(err), tnfctl_error_detail());
	CHECK_STR(victim_says(&v), "slept");
	CHECK(victim_end(&v) == 0);
	return in_time;
}

/* A call that slept came back early, or with EINTR.  On a busy machine the visits
   take longer, and then it sleeps longer. */
static void
test_calls(bool nolib)
{
	static const char *const calls[] = { "nanosleep", "poll", "select",
	    "semaphore", "read" };
	const char *victim = nolib ? "sleeper-nolib" : "sleeper";
	char ms[16], said[512];
	size_t i;
	int n;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (n = 500; snprintf(ms, sizeof(ms), "%d", n),
		    !visit_sleep(victim, calls[i], ms, said, sizeof(said)); n *= 2)
			if (n > 100000)
				failed(__FILE__, __LINE__, "%s: never in time: %s", calls[i], said);
}

static void
test_registers(bool nolib)
{
	struct victim v = VICTIM(nolib ? "registers-nolib" : "registers");
	int i;

	for (i = 0; i < 20; i++)
		visit(v.pid, i == 0);
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(victim_end(&v) == 0);
}

/* Stopped when we came, stopped when we go. */
static void
test_stopped(bool nolib)
{
	struct victim v = VICTIM(nolib ? "many-nolib" : "many", "2");
	int status;

	kill(v.pid, SIGSTOP);
	CHECK(waitpid(v.pid, &status, WUNTRACED) == v.pid && WIFSTOPPED(status));
	visit(v.pid, true);
	CHECK(state_is(v.pid, "T"));
	visit(v.pid, false);
	CHECK(state_is(v.pid, "T"));
	kill(v.pid, SIGCONT);
	CHECK(state_is(v.pid, "S"));
	victim_tell(&v, "\n");
	CHECK_STR(victim_says(&v), "ready");
	CHECK(victim_end(&v) == 0);
}

/* At its first instruction, where a mark of ours has no place yet: nobody knows who has
   stopped it, so only who asks for it lets it run. */
static void
test_stopped_at_exec(void)
{
	tnfctl_handle_t *h;
	int status, in[2];
	pid_t pid;

	CHECK(pipe(in) == 0);
	if ((pid = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(victim_path("victim-many"), "victim-many", "2", (char *)NULL);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	CHECK(ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGSTOP) == 0);
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	OK(tnfctl_pid_open(pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(state_is(pid, "T"));
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	close(in[0]);
	close(in[1]);
}

static void
test_suspend(void)
{
	struct victim v = VICTIM("many", "2");
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_SUSPEND));
	CHECK(state_is(v.pid, "T"));
	CHECK_STR(proc_field(v.pid, "TracerPid"), "0");
	kill(v.pid, SIGCONT);
	CHECK(state_is(v.pid, "S"));
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_KILL));
	CHECK(WTERMSIG(victim_end(&v)) == SIGKILL);
}

/* A thread that one controller has suspended, the next one lets run. */
static void
test_suspend_resume(void)
{
	struct victim v = VICTIM("many", "2");
	tnfctl_handle_t *h;

	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_SUSPEND));
	OK(tnfctl_pid_open(v.pid, &h));
	CHECK_STR(tnfctl_error_detail(), "");
	OK(tnfctl_close(h, TNFCTL_TARG_SUSPEND));
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(state_is(v.pid, "S"));
	OK(tnfctl_pid_open(v.pid, &h));
	OK(tnfctl_close(h, TNFCTL_TARG_SUSPEND));
	OK(tnfctl_pid_open(v.pid, &h));
	victim_tell(&v, "\n");
	CHECK_STR(heard(h, &v), "ready");
	CHECK_STR(tnfctl_error_detail(), "");
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	/* A process that others have stopped is named, and runs when it is told to. */
	kill(v.pid, SIGSTOP);
	CHECK(state_is(v.pid, "T"));
	OK(tnfctl_pid_open(v.pid, &h));
	CHECK(strstr(tnfctl_error_detail(), "SIGSTOP") != NULL);
	OK(tnfctl_close(h, TNFCTL_TARG_RESUME));
	CHECK(state_is(v.pid, "S"));
	CHECK(victim_end(&v) == 0);
}

/* A thread that is at the top of its work is as good as one that sleeps. */
static void
test_threads(bool nolib)
{
	struct victim v = VICTIM(nolib ? "threads-nolib" : "threads", "20", "-",
	    "signals", "dlopen", victim_path("libvictim-plugin.so"));
	int i;

	for (i = 0; i < rounds(20, 200); i++)
		visit(v.pid, i == 0);
	victim_leave(&v);
	CHECK_STR(victim_says(&v), "unharmed");
	CHECK(WEXITSTATUS(victim_end(&v)) == 7);
}

static void *
leaves_alone(void *arg)
{
	pause();
	return arg;
}

static void
test_refusals(void)
{
	struct victim v = VICTIM("many", "1"), s;
	tnfctl_handle_t *h, *second;
	pid_t pid;

	CHECK_CODE(tnfctl_pid_open(getpid(), &h), TNFCTL_ERR_BADARG);
	CHECK_CODE(tnfctl_pid_open(0, &h), TNFCTL_ERR_BADARG);
	CHECK_CODE(tnfctl_pid_open(-1, &h), TNFCTL_ERR_BADARG);
	CHECK_CODE(tnfctl_pid_open(0x3fffffff, &h), TNFCTL_ERR_NOPROCESS);
	if (strcmp(proc_field(2, "Name"), "kthreadd") == 0)	/* no container */
		CHECK_CODE(tnfctl_pid_open(2, &h), TNFCTL_ERR_BADARG);
	OK(tnfctl_pid_open(v.pid, &h));
	CHECK_CODE(tnfctl_pid_open(v.pid, &second), TNFCTL_ERR_BUSY);
	CHECK(strstr(tnfctl_error_detail(), "controls it already") != NULL);
	OK(tnfctl_close(h, TNFCTL_TARG_DEFAULT));
	CHECK(victim_end(&v) == 0);
	if ((pid = fork()) == 0)
		_exit(0);
	wait_for_zombie(pid);
	CHECK_CODE(tnfctl_pid_open(pid, &h), TNFCTL_ERR_NOPROCESS);
	waitpid(pid, NULL, 0);
	/* Its first thread has ended, and with it what leads to its program. */
	if ((pid = fork()) == 0) {
		pthread_t t;

		if (pthread_create(&t, NULL, leaves_alone, NULL) == 0)
			pthread_exit(NULL);
		_exit(1);
	}
	CHECK(state_is(pid, "Z"));
	CHECK_CODE(tnfctl_pid_open(pid, &h), TNFCTL_ERR_NOPROCESS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (access(victim_path("victim-static"), X_OK) != 0)
		return;
	s = VICTIM("static");
	CHECK_CODE(tnfctl_pid_open(s.pid, &h), TNFCTL_ERR_NOTDYNAMIC);
	CHECK_STR(proc_field(s.pid, "TracerPid"), "0");
	CHECK(victim_end(&s) == 0);
}

/* Another user's process, and one that seccomp confines. */
static void
test_permission(void)
{
	struct victim v;
	tnfctl_handle_t *h;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return;
	v = VICTIM("many", "1");
	if ((pid = fork()) == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(9);
		if (tnfctl_pid_open(v.pid, &h) != TNFCTL_ERR_ACCES)
			_exit(1);
		_exit(strstr(tnfctl_error_detail(), "CAP_SYS_PTRACE") == NULL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(victim_end(&v) == 0);
}

int
main(int argc, char **argv)
{
	bool nolib = argc > 1 && strcmp(argv[1], "nolib") == 0;

	if (!nolib) {
		test_sleeping();
		test_stopped_at_exec();
		test_suspend();
		test_suspend_resume();
		test_refusals();
		test_permission();
	}
	test_stopped(nolib);
	test_registers(nolib);
	test_calls(nolib);
	test_threads(nolib);
	return 0;
}
