/*
 * sleeper.c - victim: sleeps in one system call and tells how it came out.
 *
 * sleeper CALL MILLISECONDS: prints "slept" if the call ended as it would
 * have without a visitor, not earlier and not with EINTR.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

#include <tnf/probe.h>

#include "victim.h"

static int pipe_fd[2];

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

static int
sleep_nanosleep(int ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	return nanosleep(&ts, NULL);
}

static int
sleep_poll(int ms)
{
	struct pollfd p = { .fd = pipe_fd[0], .events = POLLIN };

	return poll(&p, 1, ms);
}

static int
sleep_select(int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000L };

	return select(0, NULL, NULL, NULL, &tv);
}

static int
sleep_epoll(int ms)
{
	struct epoll_event ev;

	return epoll_wait(epoll_create1(0), &ev, 1, ms);
}

static int
sleep_semaphore(int ms)
{
	struct timespec ts;
	sem_t sem;

	sem_init(&sem, 0, 0);
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += ms % 1000 * 1000000L;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return sem_timedwait(&sem, &ts) < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static void *
write_later(void *arg)
{
	int ms = *(int *)arg;

	usleep((unsigned int)ms * 1000);
	return write(pipe_fd[1], "x", 1) == 1 ? NULL : arg;
}

static int
sleep_read(int ms)
{
	pthread_t t;
	char c;
	ssize_t n;

	pthread_create(&t, NULL, write_later, &ms);
	n = read(pipe_fd[0], &c, 1);
	pthread_join(t, NULL);
	return n == 1 ? 0 : -1;
}

static const struct {
	const char *name;
	int	(*sleep)(int ms);
} calls[] = {
	{ "nanosleep", sleep_nanosleep },
	{ "poll", sleep_poll },
	{ "select", sleep_select },
	{ "epoll", sleep_epoll },
	{ "semaphore", sleep_semaphore },
	{ "read", sleep_read },
};

int
main(int argc, char **argv)
{
	int ms = argc > 2 ? atoi(argv[2]) : 500, r;
	int64_t start;
	size_t i;

	if (argc < 2 || pipe(pipe_fd) < 0)
		return 2;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(argv[1], calls[i].name) != 0)
			continue;
		TNF_PROBE_0(sleeper, "sleep", "");
		victim_ready();
		start = now_ms();
		errno = 0;
		r = calls[i].sleep(ms);
		if (r != 0)
			victim_harmed(strerror(errno));
		if (now_ms() < start + ms - 2)
			victim_harmed("it has slept for too short");
		puts("slept");
		return 0;
	}
	return 2;
}
