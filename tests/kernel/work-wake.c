/*
 * work-wake.c - threads that wait, each for a cause that the test knows.
 *
 * Both sides of an exchange say their numbers: "one TID", "other TID".
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kernel/work.h"

static void
move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		work_die("sched_setaffinity");
}

static void
pass(int in, int out)
{
	char byte;

	if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
		work_die("exchange");
}

/* n bytes from one process to another and back, each on a CPU of its own. */
static void
exchange(long n, int one_in, int one_out, int other_in, int other_out)
{
	pid_t other = fork();

	if (other == 0) {
		move_to(1);
		for (long i = 0; i < n; i++)
			pass(other_in, other_out);
		_exit(0);
	}
	move_to(0);
	for (long i = 0; i < n; i++)
		if (write(one_out, "x", 1) != 1 || read(one_in, &(char){ 0 }, 1) != 1)
			work_die("exchange");
	work_reap(other);
	printf("one %d\nother %d\n", (int)getpid(), (int)other);
}

static void
wake_pipe(long n, char **arg)
{
	int to[2], from[2];

	if (pipe(to) != 0 || pipe(from) != 0)
		work_die("pipe");
	exchange(n, from[0], to[1], to[0], from[1]);
}

static void
wake_tcp(long n, char **arg)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0), other;
	socklen_t size = sizeof at;

	if (bind(listener, (struct sockaddr *)&at, size) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &size) != 0 ||
	    connect(one, (struct sockaddr *)&at, size) != 0 ||
	    (other = accept(listener, NULL, NULL)) < 0)
		work_die("loopback");
	setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	setsockopt(other, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	exchange(n, one, one, other, other);
}

static void
wake_sleep(long n, char **arg)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	for (long i = 0; i < n; i++)
		nanosleep(&ms, NULL);
}

/* n unbuffered reads of one page each. */
static void
wake_disk(long n, char **arg)
{
	int fd = open(arg[0], O_RDONLY | O_DIRECT);
	void *page = aligned_alloc(PAGE, PAGE);

	if (fd < 0 || page == NULL)
		work_die(arg[0]);
	for (long i = 0; i < n; i++)
		if (pread(fd, page, PAGE, i * PAGE) != PAGE)
			work_die(arg[0]);
	free(page);
	close(fd);
}

static volatile int maps_done;

/* Has the memory map to itself for as long as it takes to give 16 MiB back. */
static void *
map_much(void *arg)
{
	const long size = 16 << 20;
	char *p;

	*(pid_t *)arg = syscall(SYS_gettid);
	while (!maps_done) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p == MAP_FAILED)
			work_die("mmap");
		mprotect(p, size, PROT_READ);
		munmap(p, size);
	}
	return NULL;
}

/* How often this thread has slept: there is nothing else that it waits for. */
static long
slept(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void
wake_maps(long n, char **arg)
{
	pid_t other = 0;
	pthread_t t;
	long before;

	pthread_create(&t, NULL, map_much, &other);
	before = slept();
	for (long tries = 0; slept() < before + n && tries < 100000000; tries++)
		munmap(work_memory(1), PAGE);
	maps_done = 1;
	pthread_join(t, NULL);
	printf("other %d\n", (int)other);
}

/* clang keeps frame pointers by an option alone, which the build gives. */
#if __has_attribute(optimize)
#define WITH_FRAME	__attribute__((noinline, optimize("no-omit-frame-pointer")))
#else
#define WITH_FRAME	__attribute__((noinline))
#endif

static long
cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Computes for so many milliseconds of CPU time, in a function of its own.  The program's start is
   not part of them: it takes a second on an emulated CPU. */
WITH_FRAME static void
burn_here(long ms)
{
	long end = cpu_ms() + ms;

	do
		for (int i = 0; i < 1000000; i++)
			work_sink++;
	while (cpu_ms() < end);
}

static void
wake_burn(long n, char **arg)
{
	printf("burn %#lx\n", (unsigned long)burn_here);
	burn_here(n);
}

const struct work work_wake[] = {
	{ "burn", wake_burn },
	{ "maps", wake_maps },
	{ "wake-pipe", wake_pipe },
	{ "wake-tcp", wake_tcp },
	{ "wake-sleep", wake_sleep },
	{ "wake-disk", wake_disk },
	{ NULL, NULL }
};
