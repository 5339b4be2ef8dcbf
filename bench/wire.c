/*
 * wire.c - wires with delay and loss between network name spaces, where the kernel has no
 * netem.  It runs in the name space of the bridge and makes for each NAME a device there of
 * that name, and eth0 in the name space NAME; "ready" is printed when all are there.
 *
 *	wire DELAY-ms LOSS-percent NAME ...
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <err.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAME	2048
#define QUEUE	4096		/* frames on one way; more are lost, as in a switch */

struct way {
	int	 from, to;
	unsigned head, tail;
	struct {
		int64_t when;
		int	size;
		char	bytes[FRAME];
	} *frame;
};

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int
device(const char *name)
{
	struct ifreq r = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &r) != 0)
		err(1, "%s", name);
	return fd;
}

static int
device_there(const char *space)
{
	char path[256];
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there, fd;

	snprintf(path, sizeof path, "/run/netns/%s", space);
	if ((there = open(path, O_RDONLY | O_CLOEXEC)) < 0 || setns(there, CLONE_NEWNET) != 0)
		err(1, "%s", path);
	fd = device("eth0");
	if (setns(here, CLONE_NEWNET) != 0)
		err(1, "setns");
	close(here);
	close(there);
	return fd;
}

static void
take(struct way *w, int64_t delay, double loss)
{
	char over[FRAME];
	int64_t when = now() + delay;
	ssize_t n;

	for (;;) {
		if (w->head - w->tail == QUEUE) {
			if (read(w->from, over, sizeof over) <= 0)
				return;
			continue;
		}
		n = read(w->from, w->frame[w->head % QUEUE].bytes, FRAME);
		if (n <= 0)
			return;
		if (drand48() * 100 < loss)
			continue;
		w->frame[w->head % QUEUE].size = (int)n;
		w->frame[w->head++ % QUEUE].when = when;
	}
}

/* Sends all messages that are due; returns the nanoseconds until the next one is. */
static int64_t
give(struct way *w, int64_t t)
{
	while (w->head != w->tail && w->frame[w->tail % QUEUE].when <= t) {
		if (write(w->to, w->frame[w->tail % QUEUE].bytes, (size_t)w->frame[w->tail % QUEUE].size) < 0) {
			/* the device is down, or full: lost */
		}
		w->tail++;
	}
	return w->head == w->tail ? INT64_MAX : w->frame[w->tail % QUEUE].when - t;
}

int
main(int argc, char **argv)
{
	int64_t delay = argc > 2 ? (int64_t)(atof(argv[1]) * 1e6) : 0, next;
	double loss = argc > 2 ? atof(argv[2]) : 0;
	int n = 2 * (argc - 3), poll = epoll_create1(EPOLL_CLOEXEC), got;
	struct epoll_event e[64];
	struct way *way;

	if (argc < 4)
		errx(2, "usage: wire DELAY-ms LOSS-percent NAME ...");
	way = calloc((size_t)n, sizeof *way);
	for (int i = 0; i < n; i += 2) {
		way[i].from = way[i + 1].to = device(argv[3 + i / 2]);
		way[i].to = way[i + 1].from = device_there(argv[3 + i / 2]);
	}
	for (int i = 0; i < n; i++) {
		way[i].frame = calloc(QUEUE, sizeof *way[i].frame);
		epoll_ctl(poll, EPOLL_CTL_ADD, way[i].from, &(struct epoll_event){ .events = EPOLLIN, .data.u32 = (uint32_t)i });
	}
	puts("ready");
	fflush(stdout);
	for (next = INT64_MAX;;) {
		got = epoll_wait(poll, e, 64, next == INT64_MAX ? -1 : next <= 0 ? 0 : (int)(next / 1000000) + 1);
		for (int i = 0; i < got; i++)
			take(&way[e[i].data.u32], delay, loss);
		next = INT64_MAX;
		for (int i = 0; i < n; i++) {
			int64_t left = give(&way[i], now());

			next = left < next ? left : next;
		}
	}
}
