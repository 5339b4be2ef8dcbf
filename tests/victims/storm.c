/*
 * storm.c - victim: 42 threads that do all that can get in a controller's way.
 *
 * storm FILE: fork, vfork, posix_spawn (and with it exec), clone3, dlopen of
 * FILE, setresuid, sleeps under timers and signals, computing; until a line of
 * input comes.  Prints "unharmed" if all went as it should.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <tnf/probe.h>

#include "victim.h"

#define THREADS		42

extern char **environ;

static atomic_bool stop;
static const char *plugin;
static volatile sig_atomic_t handled;

static void
on_signal(int sig)
{
	int saved = errno;

	handled++;
	TNF_PROBE_0(in_handler, "signal", "");
	errno = saved;
}

static void
await_child(pid_t pid, const char *what)
{
	pid_t got = 0;
	int status;

	if (pid > 0)
		do
			got = waitpid(pid, &status, 0);
		while (got < 0 && errno == EINTR);
	if (pid < 0 || got != pid || status != 0)
		victim_harmed(what);
}

static void
do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		TNF_PROBE_0(child, "storm", "");
		_exit(0);
	}
	await_child(pid, "fork");
}

static void
do_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	await_child(pid, "vfork");
}

static void
do_spawn(void)
{
	char name[] = "true", *argv[] = { name, NULL };
	pid_t pid = -1;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0)
		pid = -1;
	await_child(pid, "posix_spawn");
}

static void
do_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	await_child(pid, "clone3");
}

static void
do_dlopen(void)
{
	void *h = dlopen(plugin, RTLD_NOW);

	if (h == NULL)
		victim_harmed("dlopen");
	dlclose(h);
}

/* The system call: of this thread alone. */
static void
do_setresuid(void)
{
	if (syscall(SYS_setresuid, -1, geteuid(), -1) != 0)
		victim_harmed("setresuid");
}

static void
do_sleep(void)
{
	struct timespec ts = { .tv_nsec = 3000000 };

	while (nanosleep(&ts, &ts) < 0)
		if (errno != EINTR)
			victim_harmed("nanosleep");
}

static void
do_compute(void)
{
	uint64_t x = 1, y = 1;
	int i;

	for (i = 0; i < 20000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	TNF_PROBE_0(compute, "storm", "");
	for (i = 0; i < 20000; i++)
		y = y * 6364136223846793005u + 1442695040888963407u;
	if (x != y)
		victim_harmed("a computation");
}

static void (*const deeds[])(void) = {
	do_fork, do_vfork, do_spawn, do_clone3, do_dlopen, do_setresuid,
	do_sleep, do_compute
};

static void *
work(void *arg)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uintptr_t n = (uintptr_t)arg % (sizeof(deeds) / sizeof(deeds[0]));

	while (!stop) {
		deeds[n]();
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t[THREADS];
	uintptr_t i;

	if (argc < 2)
		return 2;
	plugin = argv[1];
	victim_signals(on_signal, 2000000);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i) != 0)
			victim_harmed("pthread_create");
	victim_ready();
	while (getchar() < 0 && errno == EINTR)
		clearerr(stdin);
	stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	if (handled == 0)
		victim_harmed("no signals came");
	puts("unharmed");
	return 0;
}
