/*
 * fast-none.c - a program that gets no fast probes, for fast-none.sh.
 *
 *	fast-none plain|undumpable|filter|full
 *
 * It calls none_work() all the time.  undumpable: others of its user may not look at it; filter: it has a
 * seccomp filter, which forbids nothing; full: no memory is free within 2 GiB of its code.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NEAR	(3ul << 30)

long none_work(long n);

__attribute__((noinline)) long
none_work(long n)
{
	usleep(1000);
	return 2 * n + 1;
}

static int
filter(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &all };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Takes each gap in turn, in smaller and smaller pieces. */
static int
fill(void)
{
	unsigned long code = (unsigned long)&none_work & ~4095ul, at;

	for (unsigned long size = 1ul << 30; size >= 4096; size /= 4)
		for (at = code > NEAR + 65536 ? code - NEAR : 65536; at < code + NEAR; at += size)
			mmap((void *)at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			    MAP_FIXED_NOREPLACE, -1, 0);
	return 0;
}

int
main(int argc, char *argv[])
{
	if ((strcmp(argv[1], "undumpable") == 0 && prctl(PR_SET_DUMPABLE, 0) != 0) ||
	    (strcmp(argv[1], "filter") == 0 && filter() != 0) ||
	    (strcmp(argv[1], "full") == 0 && fill() != 0))
		return 77;
	puts("ready");
	fflush(stdout);
	for (long n = 0; none_work(n) == 2 * n + 1; n = (n + 1) % 1000)
		;
	return 1;
}
