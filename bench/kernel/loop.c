/*
 * loop.c - CPU nanoseconds per system call, switch of threads, page fault or softirq:
 *
 *	kernel-loop CALLS [CPU]
 *	kernel-loop -s SWITCHES [CPU]	two threads wake each other, and sleep
 *	kernel-loop -f FAULTS [CPU]	first writes to pages
 *	kernel-loop -i DATAGRAMS [CPU]	through the loopback interface: a softirq each
 *
 * The median of a hundred pieces of the loop: whoever else uses the machine
 * spoils some of them, and the mean of all.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/kernel/pieces.h"

#define PAGES	1000
#define PAGE	4096

static int ball[2][2];		/* pipes, there and back */

static void
calls(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void *
return_ball(void *arg)
{
	char c;

	while (read(ball[0][0], &c, 1) == 1 && write(ball[1][1], &c, 1) == 1)
		;
	return arg;
}

/* Each reading finds nothing and sleeps: on one CPU, two switches a turn. */
static void
switches(long n)
{
	char c = 0;

	for (long i = 0; i < n; i += 2)
		if (write(ball[0][1], &c, 1) != 1 || read(ball[1][0], &c, 1) != 1)
			return;
}

/* Not huge ones, which would be few. */
static void
faults(long n)
{
	size_t size = (size_t)PAGES * PAGE;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);

	if (p == MAP_FAILED)
		return;
	madvise(p, size, MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++) {
		p[(size_t)(i % PAGES) * PAGE] = 1;
		if (i % PAGES == PAGES - 1)
			madvise(p, size, MADV_DONTNEED);
	}
	munmap(p, size);
}

/* To a socket that is full soon: the kernel drops them at the end of the softirq. */
static void
datagrams(long n)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof to;
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	if (s == -1 || bind(s, (void *)&to, sizeof to) != 0 ||
	    getsockname(s, (void *)&to, &size) != 0 || connect(s, (void *)&to, sizeof to) != 0)
		n = 0;
	for (char c = 0; n > 0; n--)
		(void)!write(s, &c, 1);
	close(s);
}

int
main(int argc, char **argv)
{
	void (*what)(long) = calls;
	pthread_t other;
	cpu_set_t set;
	long n;

	if (argc > 1 && argv[1][0] == '-') {
		what = argv[1][1] == 's' ? switches : argv[1][1] == 'i' ? datagrams : faults;
		argc--, argv++;
	}
	n = argc > 1 ? atol(argv[1]) : 1000000;
	CPU_ZERO(&set);
	CPU_SET(argc > 2 ? atoi(argv[2]) : 0, &set);
	sched_setaffinity(0, sizeof set, &set);
	if (what == switches && (pipe(ball[0]) != 0 || pipe(ball[1]) != 0 ||
	    pthread_create(&other, NULL, return_ball, NULL) != 0)) {
		perror("kernel-loop");
		return 1;
	}
	what(n / 10);
	printf("%.1f\n", median(what, n));
	return 0;
}
