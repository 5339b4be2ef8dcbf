/*
 * work-help.c - what the workloads share.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kernel/work.h"

volatile char work_sink;

void
work_die(const char *what)
{
	perror(what);
	exit(1);
}

char *
work_map(long pages, int prot, int flags, int fd)
{
	char *p = mmap(NULL, pages * PAGE, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		work_die("mmap");
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

char *
work_memory(long pages)
{
	return work_map(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

#ifdef __x86_64__
/* A call of the 32-bit table, which a 64-bit program can make as well. */
long
work_call32(long nr, long a, long b, long c, long d, long e)
{
	long r;

	asm volatile("int $0x80" : "=a" (r) : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d),
	    "D" (e) : "memory", "r8", "r9", "r10", "r11");
	return r;
}
#else
/* Elsewhere a program is of one kind: nothing is told apart. */
#define MAP_32BIT	0
long
work_call32(long nr, long a, long b, long c, long d, long e)
{
	exit(77);
}
#endif

/* Memory that 32-bit calls reach. */
char *
work_low_memory(long pages)
{
	return work_map(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1);
}

void
work_say_range(const char *word, const char *p, long pages)
{
	printf("%s %#lx %#lx\n", word, (unsigned long)p, (unsigned long)(p + pages * PAGE));
}

void
work_reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) == -1 || !WIFEXITED(status))
		work_die("waitpid");
}

#define TRIES	60000	/* of a millisecond and more: this is for hangs, not for load */

/* Waits until a thread sleeps in one of two calls. */
void
work_await_call(pid_t tid, long call, long or)
{
	struct timespec ts = { 0, 1000000 };
	char path[64];
	long number;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	for (int tries = 0; tries < TRIES; tries++) {
		/* It says "running" of a thread that is not asleep. */
		if ((f = fopen(path, "r")) == NULL)
			break;
		if (fscanf(f, "%ld", &number) != 1)
			number = -1;
		fclose(f);
		if (number == call || number == or)
			return;
		nanosleep(&ts, NULL);
	}
	work_die("a thread that should sleep does not");
}
