/*
 * work-pages.c - pages that are written, read, shared, evicted, swapped.
 */
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/kernel/work.h"

static void
write_each(char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		p[i * PAGE] = 1;
}

static void
read_each(const char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		work_sink += p[i * PAGE];
}

static int
open_file(const char *path, long pages, char byte)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	char *buf = malloc(pages * PAGE);

	if (fd == -1 || buf == NULL)
		work_die(path);
	memset(buf, byte, pages * PAGE);
	if (write(fd, buf, pages * PAGE) != pages * PAGE || fsync(fd) == -1)
		work_die(path);
	free(buf);
	return fd;
}

static void
evict(int fd)
{
	if (fsync(fd) == -1 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		work_die("posix_fadvise");
}

static void
zero(long n, char **arg)
{
	char *p = work_memory(n);

	work_say_range("written", p, n);
	write_each(p, n);
	p = work_memory(n);
	work_say_range("readfirst", p, n);
	read_each(p, n);
	write_each(p, n);
}

#define HUGE	(2l << 20)

static void
huge(long n, char **arg)
{
	char *p = work_memory((n + 1) * HUGE / PAGE);

	p = (char *)(((uintptr_t)p + HUGE - 1) & -(uintptr_t)HUGE);
	madvise(p, n * HUGE, MADV_HUGEPAGE);
	work_say_range("huge", p, n * HUGE / PAGE);
	for (long i = 0; i < n; i++)
		work_sink += p[i * HUGE];
	for (long i = 0; i < n; i++)
		p[i * HUGE] = 1;
}

static void
cow(long n, char **arg)
{
	char *p = work_memory(n), *q;
	int fd = open_file(arg[0], 2 * n, 7);
	pid_t pid;

	write_each(p, n);
	work_say_range("shared", p, n);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		write_each(p, n);
		_exit(0);
	}
	printf("child %d\n", (int)pid);
	work_reap(pid);
	q = work_map(2 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	madvise(q, 2 * n * PAGE, MADV_RANDOM);
	work_say_range("absent", q, n);
	write_each(q, n);
	work_say_range("present", q + n * PAGE, n);
	read_each(q + n * PAGE, n);
	write_each(q + n * PAGE, n);
}

static char *allowed;

static void
allow(int sig, siginfo_t *info, void *ctx)
{
	mprotect((char *)((unsigned long)info->si_addr & ~(PAGE - 1)), PAGE,
	    PROT_READ | PROT_WRITE);
}

static void
protect(long n, char **arg)
{
	struct sigaction sa = { .sa_sigaction = allow, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	allowed = work_memory(n);
	write_each(allowed, n);
	mprotect(allowed, n * PAGE, PROT_READ);
	work_say_range("protected", allowed, n);
	write_each(allowed, n);
}

static void
lock(long n, char **arg)
{
	char *p = work_memory(n);

	work_say_range("locked", p, n);
	if (mlock(p, n * PAGE) == -1)
		work_die("mlock");
	write_each(p, n);
}

static long
major_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_majflt;
}

static long
all_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_majflt + u.ru_minflt;
}

static void
cold(long n, char **arg)
{
	int fd = open_file(arg[0], n, 7);
	struct stat st;
	long before, all;
	char *p;

	evict(fd);
	p = work_map(n, PROT_READ, MAP_SHARED, fd);
	madvise(p, n * PAGE, MADV_RANDOM);
	work_say_range("cold", p, n);
	fstat(fd, &st);
	before = major_faults();
	all = all_faults();
	read_each(p, n);
	all = all_faults() - all;
	printf("major %ld\n", major_faults() - before);
	printf("faults %ld\n", all);
	printf("inode %ld\n", (long)st.st_ino);
}

static void
text(long n, char **arg)
{
	int fd = open_file(arg[0], n, (char)0xc3);	/* ret */
	long before;
	char *p;

	evict(fd);
	p = work_map(n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
	madvise(p, n * PAGE, MADV_RANDOM);
	work_say_range("text", p, n);
	before = all_faults();
	for (long i = 0; i < n; i++)
		((void (*)(void))(uintptr_t)(p + i * PAGE))();
	printf("faults %ld\n", all_faults() - before);
}

static void
cache(long n, char **arg)
{
	int fd = open_file(arg[0], n, 7);
	char *buf = malloc(n * PAGE);

	evict(fd);
	if (buf == NULL || pread(fd, buf, n * PAGE, 0) != n * PAGE)
		work_die("pread");
	evict(fd);
	printf("pages %ld\n", n);
}

static void
swap(long mib, char **arg)
{
	long pages = mib * 256, before;
	unsigned *w, x = 1;
	char *p = arg[0] == NULL ? work_memory(pages) : mmap(NULL, pages * PAGE,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		work_die("mmap");
	for (long i = 0; i < pages; i++) {
		w = (unsigned *)(void *)(p + i * PAGE);
		for (int j = 0; j < 64; j++)
			w[j] = x = x * 1664525 + 1013904223;
	}
	before = major_faults();
	for (long i = 0; i < pages; i += 64)
		work_sink += p[i * PAGE];
	printf("major %ld\n", major_faults() - before);
}

static void *
have_stack(void *arg)
{
	volatile char *page = alloca((size_t)(16 * PAGE));

	for (int i = 0; i < 16; i++)
		page[i * PAGE] = 1;
	atomic_store((atomic_int *)arg, (int)syscall(SYS_gettid));
	pause();
	return (void *)(long)page[0];
}

static void
stacks(long mib, char **arg)
{
	static atomic_int tids[3];
	pthread_t t;

	/* Before Linux 6.7 a stack may begin with a huge page: 512 pages go out for one. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, have_stack, &tids[i]);
	for (int i = 0; i < 3; i++) {
		while (atomic_load(&tids[i]) == 0)
			sched_yield();
		work_await_call(tids[i], SYS_pause, SYS_ppoll);
		printf("thread %d\n", tids[i]);
	}
	swap(mib, arg);
}

const struct work work_pages[] = {
	{ "zero", zero }, { "huge", huge }, { "cow", cow }, { "protect", protect },
	{ "mlock", lock }, { "evict", cold }, { "text", text }, { "cache", cache },
	{ "swap", swap }, { "stacks", stacks }, { 0 }
};
