/*
 * work-mixed.c - for some seconds, at the same time: system calls, page faults, switches, threads
 * and processes that begin and end, programs that are executed, and requests to a disk.
 *
 * Each thread makes a call that no other part of any program makes, before all else and behind
 * it: the events of two recorders can be cut there.  The last call of all has a result, and is
 * the only one of its kind that has.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kernel/work.h"

#define BEGIN	0x7e57be61
#define END	0x7e57be6e
#define PAGES	16

static int ball[2][2];
static const char *file;
static time_t until;

static void
mark(int which)
{
	syscall(SYS_getpriority, which, 0);
}

/* Sleeps for a moment; false if the time is over. */
static bool
go_on(long us)
{
	struct timespec now, nap = { 0, us * 1000 };

	syscall(SYS_nanosleep, &nap, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < until;
}

static void
calls(void)
{
	char text[100];
	int fd;

	while (go_on(10000)) {
		for (int i = 0; i < 4; i++) {
			syscall(SYS_getppid);
			syscall(SYS_close, -1);
		}
		if ((fd = open(file, O_RDONLY)) == -1)
			work_die(file);
		work_sink = read(fd, text, sizeof text) + lseek(fd, 0, SEEK_END);
		close(fd);
		work_sink = access("/nowhere/at/all", R_OK);
	}
}

static void
faults(void)
{
	while (go_on(20000)) {
		char *p = work_memory(PAGES);

		for (int i = 0; i < PAGES; i++)
			p[i * PAGE] = 1;
		munmap(p, PAGES * PAGE);
	}
}

static void
ping(void)
{
	char c = 0;

	while (go_on(5000))
		for (int i = 0; i < 4; i++)
			if (write(ball[0][1], &c, 1) != 1 || read(ball[1][0], &c, 1) != 1)
				work_die("pipe");
	close(ball[0][1]);
}

static void
pong(void)
{
	char c;

	while (read(ball[0][0], &c, 1) == 1)
		if (write(ball[1][1], &c, 1) != 1)
			work_die("pipe");
}

static void
requests(void)
{
	int fd = open(file, O_RDWR | O_DIRECT);
	char *b = NULL;

	if (fd == -1 || posix_memalign((void **)&b, 4096, 4096) != 0)
		work_die(file);
	memset(b, 5, 4096);
	for (long i = 0; go_on(5000); i++)
		if (pwrite(fd, b, 4096, i % 64 * 4096) != 4096 || (i % 8 == 0 && fdatasync(fd) != 0))
			work_die(file);
	free(b);
	close(fd);
}

static void *
brief(void *arg)
{
	mark(BEGIN);
	work_sink = getppid();
	mark(END);
	return NULL;
}

/* By turns a thread, a process, and a process that executes another program, which has the end. */
static void
tasks(void)
{
	pthread_t t;
	pid_t pid;

	for (int i = 0; go_on(20000); i++) {
		if (i % 3 == 0) {
			if (pthread_create(&t, NULL, brief, NULL) != 0)
				work_die("pthread_create");
			pthread_join(t, NULL);
			continue;
		}
		if ((pid = fork()) == 0) {
			mark(BEGIN);
			if (i % 3 == 1)
				execl("/proc/self/exe", "work", "mixed-end", "1", NULL);
			mark(END);
			_exit(0);
		}
		work_reap(pid);
	}
}

static void *
marked(void *run)
{
	mark(BEGIN);
	((void (*)(void))run)();
	mark(END);
	return NULL;
}

static void
mixed(long seconds, char **arg)
{
	void (*const parts[])(void) = { calls, faults, ping, pong, requests, tasks };
	enum { N = sizeof parts / sizeof *parts };
	pthread_t t[N];
	struct timespec now;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &now);
	until = now.tv_sec + seconds;
	file = arg[0];
	fflush(stdout);
	if ((pid = fork()) == -1 || pipe(ball[0]) == -1 || pipe(ball[1]) == -1)
		work_die("mixed");
	for (int i = 0; i < N; i++)
		if (pthread_create(&t[i], NULL, marked, (void *)parts[i]) != 0)
			work_die("pthread_create");
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	if (pid == 0)
		_exit(0);
	work_reap(pid);
	syscall(SYS_getpriority, PRIO_PROCESS, 0);
}

static void
mixed_end(long n, char **arg)
{
	mark(END);
	_exit(0);
}

const struct work work_mixed[] = { { "mixed", mixed }, { "mixed-end", mixed_end }, { 0 } };
