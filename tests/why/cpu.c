/*
 * cpu.c - causes on the CPU: others that take it, limits, signals.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/why/causes.h"

static int to[2], back[2];

/* The hog runs for 30 ms when it is told to. */
static void
hog_main(void *arg)
{
	pin(0);
	for (;;) {
		get1(to[0]);
		spin_ms(30);
	}
}

static void
hog_setup(const char *path)
{
	make_pipe(to);
	child("cpuhog", hog_main, NULL);
	pin(0);
}

static void
hog_request(int id, bool slow)
{
	if (slow)
		put1(to[1]);
	spin_ms(10);
}

static void
compute_request(int id, bool slow)
{
	spin_ms(slow ? 20 : 1);
}

static volatile int flag;

static void *
flag_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		sleep_ms(20);
		flag = 1;
	}
	return NULL;
}

static void
spins_setup(const char *path)
{
	make_pipe(to);
	thread("setter", flag_main, NULL);
}

static void
spins_request(int id, bool slow)
{
	if (!slow)
		return;
	flag = 0;
	put1(to[1]);
	while (!flag)
		;
}

static void
stopper_main(void *arg)
{
	pid_t pid = getppid();

	for (;;) {
		get1(to[0]);
		kill(pid, SIGSTOP);
		sleep_ms(20);
		kill(pid, SIGCONT);
		put1(back[1]);
	}
}

static void
stop_setup(const char *path)
{
	make_pipe(to);
	make_pipe(back);
	child("stopper", stopper_main, NULL);
}

static void
stop_request(int id, bool slow)
{
	spin_ms(1);
	if (!slow)
		return;
	put1(to[1]);
	get1(back[0]);
}

static void
put_text(const char *dir, const char *file, const char *text)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0 ||
	    write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

/* The script has made the control group; its limit is 10 ms of each 100 ms. */
static void
throttle_setup(const char *path)
{
	const char *group = getenv("WHY_CGROUP");
	char pid[32];

	if (group == NULL) {
		fprintf(stderr, "no control group\n");
		exit(77);
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	put_text(group, "cgroup.procs", pid);
}

static void
throttle_request(int id, bool slow)
{
	spin_ms(slow ? 15 : 0.2);
	if (!slow)
		sleep_ms(4);
}

/* The requests' priority is high, the holder's low, and what runs between them keeps the
   holder from its CPU. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *
low_main(void *arg)
{
	pin(0);
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	for (;;) {
		get1(to[0]);
		pthread_mutex_lock(&mutex);
		put1(back[1]);
		spin_ms(2);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static int middle[2];

static void *
middle_main(void *arg)
{
	pin(0);
	for (;;) {
		get1(middle[0]);
		spin_ms(40);
	}
	return NULL;
}

static void
inversion_setup(const char *path)
{
	make_pipe(to);
	make_pipe(back);
	make_pipe(middle);
	thread("low", low_main, NULL);
	thread("middle", middle_main, NULL);
	pin(1);
}

static void
inversion_request(int id, bool slow)
{
	put1(to[1]);
	get1(back[0]);
	if (slow)
		put1(middle[1]);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

const struct cause causes_cpu[] = {
	{ "hog", hog_setup, hog_request, false },
	{ "compute", NULL, compute_request, false },
	{ "spins", spins_setup, spins_request, false },
	{ "stopped", stop_setup, stop_request, false },
	{ "throttled", throttle_setup, throttle_request, false },
	{ "inversion", inversion_setup, inversion_request, false },
	{ NULL, NULL, NULL, false }
};
