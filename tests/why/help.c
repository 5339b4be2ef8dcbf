/*
 * help.c - threads, children, pipes and files of the causes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/why/causes.h"

void
die(const char *what)
{
	fprintf(stderr, "causes: %s: %s\n", what, strerror(errno));
	exit(77);
}

void
name_me(const char *name)
{
	prctl(PR_SET_NAME, name);
}

void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("sched_setaffinity");
}

static double
cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void
spin_ms(double ms)
{
	double end = cpu_ms() + ms;

	while (cpu_ms() < end)
		for (volatile int i = 0; i < 2000; i++)
			;
}

void
sleep_ms(double ms)
{
	struct timespec t = { (time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000 };

	nanosleep(&t, NULL);
}

struct start {
	const char *name;
	void	*(*fn)(void *);
	void	*arg;
};

static void *
started(void *arg)
{
	struct start s = *(struct start *)arg;

	free(arg);
	name_me(s.name);
	return s.fn(s.arg);
}

void
thread(const char *name, void *(*fn)(void *), void *arg)
{
	struct start *s = malloc(sizeof(*s));
	pthread_t t;

	if (s == NULL)
		die("malloc");
	*s = (struct start){ name, fn, arg };
	if ((errno = pthread_create(&t, NULL, started, s)) != 0)
		die("pthread_create");
	pthread_detach(t);
}

int
child(const char *name, void (*fn)(void *), void *arg)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_me(name);
	fn(arg);
	_exit(0);
}

void
make_pipe(int fd[2])
{
	if (pipe(fd) != 0)
		die("pipe");
}

void
put1(int fd)
{
	if (write(fd, "x", 1) != 1)
		exit(0);
}

void
get1(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		exit(0);
}

int
make_file(const char *path, size_t size, int flags)
{
	static char block[1 << 16] __attribute__((aligned(4096)));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0)
		die(path);
	memset(block, 'x', sizeof(block));
	for (size_t at = 0; at < size; at += sizeof(block))
		if (pwrite(fd, block, sizeof(block), (off_t)at) != sizeof(block))
			die("pwrite");
	fsync(fd);
	return fd;
}
