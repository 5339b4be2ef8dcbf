/*
 * fast-none.c - a program that gets no fast probes, for fast-none.sh.
 *
 *	fast-none plain|undumpable|filter|full|handler|fault|vfork|shared
 *
 * It calls none_work() all the time.  undumpable: others of its user may not look at it; filter: it has a
 * seccomp filter, which forbids nothing; full: no memory is free within 2 GiB of its code; handler: it does so in a
 * signal handler; fault: a thread of it stays in the handler of a fault within none_fault(); vfork: a thread of it waits
 * for a child; shared: it has the code of ./library.so in memory that is shared with the file.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NEAR	(3ul << 30)

long none_work(long n);
void none_fault(const long *from);

/* A jump would replace several instructions of none_fault(): the second of them faults. */
__asm__(
"	.text\n"
"	.globl none_fault\n"
"	.type none_fault, @function\n"
"none_fault:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	push %rbx\n"
"	mov (%rdi), %rbx\n"
"	mov %rbx, %rax\n"
"	pop %rbx\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size none_fault, . - none_fault\n"
/* The jumps of this function and of the USDT probe in it would touch the same bytes. */
"	.type none_both, @function\n"
"none_both:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	push %rbx\n"
".Lsite:\n"
"	nop\n"
"	mov %rdi, %rbx\n"
"	mov %rbx, %rax\n"
"	pop %rbx\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size none_both, . - none_both\n"
"	.type none_part.cold, @function\n"
"none_part.cold:\n"
"	.cfi_startproc\n"
"	mov $1, %eax\n"
".Llost:\n"
"	nop\n"
"	mov $1, %eax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size none_part.cold, . - none_part.cold\n"
"	.balign 4096\n"
"	.skip 4094\n"
"	.type none_pages, @function\n"
"none_pages:\n"
"	.cfi_startproc\n"
"	mov $1, %eax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size none_pages, . - none_pages\n"
/* The semaphore of the second one is in no memory that is written to. */
"	.macro NOTE site, semaphore, name\n"
"	.balign 4\n"
"	.long 8, 9f - 8f, 3\n"
"	.asciz \"stapsdt\"\n"
"8:	.quad \\site, 0, \\semaphore\n"
"	.asciz \"none\", \"\\name\", \"\"\n"
"	.balign 4\n"
"9:\n"
"	.endm\n"
"	.pushsection .note.stapsdt, \"\", @note\n"
"	NOTE .Lsite, 0, both\n"
"	NOTE .Llost, 16, lost\n"
"	.popsection\n");

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

static void
work(void)
{
	puts("ready");
	fflush(stdout);
	for (long n = 0; none_work(n) == 2 * n + 1; n = (n + 1) % 1000)
		;
}

static void
work_there(int sig)
{
	work();
}

static void
stay_there(int sig)
{
	for (;;)
		pause();
}

static void *
be_in_fault(void *arg)
{
	none_fault(NULL);
	return NULL;
}

static void *
be_in_vfork(void *arg)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return NULL;
}

static int
start_thread(void *(*fn)(void *))
{
	pthread_t thread;

	signal(SIGSEGV, stay_there);
	return pthread_create(&thread, NULL, fn, NULL) != 0 || usleep(100000) != 0;
}

static int
share(void)
{
	int fd = open("library.so", O_RDONLY | O_CLOEXEC);

	return fd < 0 || mmap(NULL, (size_t)lseek(fd, 0, SEEK_END), PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) == MAP_FAILED;
}

int
main(int argc, char *argv[])
{
	if ((strcmp(argv[1], "undumpable") == 0 && prctl(PR_SET_DUMPABLE, 0) != 0) ||
	    (strcmp(argv[1], "filter") == 0 && filter() != 0) ||
	    (strcmp(argv[1], "full") == 0 && fill() != 0) ||
	    (strcmp(argv[1], "fault") == 0 && start_thread(be_in_fault) != 0) ||
	    (strcmp(argv[1], "vfork") == 0 && start_thread(be_in_vfork) != 0) ||
	    (strcmp(argv[1], "shared") == 0 && share() != 0))
		return 77;
	if (strcmp(argv[1], "handler") == 0) {
		signal(SIGUSR1, work_there);
		raise(SIGUSR1);
	}
	work();
	return 1;
}
