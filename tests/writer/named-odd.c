/*
 * named-odd.c - a program that changes names where to record that could harm it.
 *
 *	named-odd filter|tsc|vfork|cancel|between|exec	with TNF_ENABLE and TNF_FILE
 *	named-odd attach|stack FILE		traces itself from some time on
 *
 * It ends with 0 if it could do all that it wanted, with 77 if the machine cannot.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/probe.h>

#include "tests/writer/selfctl.h"
#include "tests/writer/turns.h"

static int to_other[2], from_other[2];

static void *
other(void *name)
{
	/* As before the library came. */
	if (name != NULL)
		syscall(SYS_prctl, PR_SET_NAME, name, 0, 0, 0);
	turn_give(from_other[1]);
	turn_await(to_other[0]);
	TNF_PROBE_0(other, "odd", "");
	turn_give(from_other[1]);
	turn_await(to_other[0]);
	return name;
}

static pthread_t
start_other(const char *name)
{
	pthread_t t;

	if (pipe(to_other) != 0 || pipe(from_other) != 0 ||
	    pthread_create(&t, NULL, other, (void *)(uintptr_t)name) != 0)
		_exit(3);
	turn_await(from_other[0]);
	return t;
}

/* All ways to change a name, each of which succeeds and leaves errno alone. */
static void
rename_all(pthread_t t)
{
	errno = 4711;
	if (prctl(PR_SET_NAME, "one") != 0 || pthread_setname_np(pthread_self(), "two") != 0 ||
	    pthread_setname_np(t, "three") != 0 || errno != 4711)
		_exit(4);
}

/* Only the end is not done by the program itself. */
static void
install_filter(void)
{
	static const int never[] = {
		SYS_gettid, SYS_getppid, SYS_getpid, SYS_pread64, SYS_readlinkat, SYS_newfstatat,
		SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep,
#ifdef SYS_readlink
		SYS_readlink, SYS_stat, SYS_open,
#endif
	};
	enum { N = sizeof never / sizeof *never };
	struct sock_filter f[2 * N + 6];
	struct sock_fprog prog = { .filter = f };
	unsigned n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr));
	for (int i = 0; i < N; i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)never[i], 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, args[0]));
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NAME, 1, 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		_exit(77);
}

static void
filter(void)
{
	pthread_t t = start_other(NULL);
	int status;
	pid_t pid;

	TNF_PROBE_0(before, "odd", "");
	install_filter();
	rename_all(t);
	TNF_PROBE_0(after, "odd", "");
	turn_give(to_other[1]);
	turn_await(from_other[0]);
	if ((pid = fork()) == 0) {
		TNF_PROBE_0(child, "odd", "");
		_exit(prctl(PR_SET_NAME, "its own"));
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		_exit(5);
}

static void
tsc(void)
{
#ifdef __x86_64__
	pthread_t t = start_other(NULL);

	TNF_PROBE_0(before, "odd", "");
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
		_exit(77);
	rename_all(t);
	if (prctl(PR_SET_TSC, PR_TSC_ENABLE) != 0)
		_exit(5);
#else
	_exit(77);
#endif
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void
with_vfork(void)
{
	pid_t pid;
	int status;

	TNF_PROBE_0(before, "odd", "");
	if ((pid = vfork()) == 0) {
		prctl(PR_SET_NAME, "of the child");
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		_exit(5);
	TNF_PROBE_0(after, "odd", "");
}

static int was_there;

/* Nothing here is a cancellation point. */
static void *
cancelled(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	if (pthread_setname_np(*(pthread_t *)arg, "renamed") == 0)
		was_there = 1;
	return NULL;
}

static void
cancel(void)
{
	pthread_t self = pthread_self(), t;

	TNF_PROBE_0(before, "odd", "");
	if (pthread_create(&t, NULL, cancelled, &self) != 0 || pthread_join(t, NULL) != 0)
		_exit(3);
	TNF_PROBE_0(after, "odd", "");
	if (!was_there)
		_exit(5);
}

static void
attach(const char *path)
{
	start_other("early");
	selfctl_file(path, 128);
	selfctl_enable(NULL);
	turn_give(to_other[1]);
	turn_await(from_other[0]);
	TNF_PROBE_0(after, "odd", "");
}

#define STACK	(256 << 10)
static char stack[STACK];
static size_t used;

static void __attribute__((noinline))
hit_first(void)
{
	TNF_PROBE_0(after, "odd", "");
}

static void
on_signal(int sig)
{
	char *here = __builtin_frame_address(0), *lowest = stack;

	(void)sig;
	for (char *p = stack; p < here - 2048; p++)
		*(volatile char *)p = 0x5a;
	hit_first();
	while (lowest < here && *lowest == 0x5a)
		lowest++;
	used = (size_t)(here - lowest);
}

/* Prints what a first hit uses of the alternate stack. */
static void
on_stack(const char *path)
{
	stack_t ss = { .ss_sp = stack, .ss_size = STACK };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	selfctl_file(path, 128);
	selfctl_enable(NULL);
	if (sigaltstack(&ss, NULL) != 0 || sigaction(SIGUSR1, &sa, NULL) != 0 || raise(SIGUSR1) != 0)
		_exit(3);
	printf("%zu\n", used);
}

/* Its child hits no probe, the child of that one does.  Prints both. */
static void
between(void)
{
	pid_t pid;

	TNF_PROBE_0(before, "odd", "");
	if (fork() == 0) {
		if ((pid = fork()) == 0) {
			TNF_PROBE_0(after, "odd", "");
			_exit(0);
		}
		printf("%d %d\n", (int)pid, (int)getpid());
		fflush(stdout);
		_exit(waitpid(pid, NULL, 0) != pid);
	}
	wait(NULL);
}

static void
exec(char *self)
{
	char *argv[] = { self, (char *)(uintptr_t)"executed", NULL };

	prctl(PR_SET_NAME, "former");
	TNF_PROBE_0(before, "odd", "");
	execv(self, argv);
	_exit(3);
}

static void
executed(void)
{
	TNF_PROBE_0(executed, "odd", "");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "filter") == 0)
		filter();
	else if (strcmp(what, "tsc") == 0)
		tsc();
	else if (strcmp(what, "vfork") == 0)
		with_vfork();
	else if (strcmp(what, "cancel") == 0)
		cancel();
	else if (strcmp(what, "between") == 0)
		between();
	else if (strcmp(what, "exec") == 0)
		exec(argv[0]);
	else if (strcmp(what, "executed") == 0)
		executed();
	else if (strcmp(what, "attach") == 0 && argc == 3)
		attach(argv[2]);
	else if (strcmp(what, "stack") == 0 && argc == 3)
		on_stack(argv[2]);
	else
		return 2;
	fflush(stdout);
	_exit(0);
}
