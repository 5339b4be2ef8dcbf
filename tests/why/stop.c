/*
 * stop.c - causes behind threads that are not allowed to run, or share what they need with others.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/why/causes.h"

static int to[2], back[2], fd;
static const char *file;
static pid_t other;

static void
pipes(void)
{
	make_pipe(to);
	make_pipe(back);
}

/* Another process answers when it may run again. */
static void
peer_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		spin_ms(1);
		put1(back[1]);
	}
}

static void
ask(void)
{
	put1(to[1]);
	get1(back[0]);
}

/* Stops the peer while it has something to do. */
static int stop[2];

static void
stopper_main(void *arg)
{
	for (;;) {
		get1(stop[0]);
		kill(other, SIGSTOP);
		put1(to[1]);
		sleep_ms(20);
		kill(other, SIGCONT);
	}
}

static void
stopped_setup(const char *path)
{
	pipes();
	make_pipe(stop);
	other = child("peer", peer_main, NULL);
	child("stopper", stopper_main, NULL);
}

static void
stopped_request(int id, bool slow)
{
	if (!slow)
		ask();
	else {
		put1(stop[1]);
		get1(back[0]);
	}
}

/* The holder of a lock that two processes share is stopped. */
static pthread_mutex_t *shared;

static void
holder_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		pthread_mutex_lock(shared);
		put1(back[1]);
		spin_ms(2);
		pthread_mutex_unlock(shared);
	}
}

static void
halter_main(void *arg)
{
	for (;;) {
		get1(stop[0]);
		kill(other, SIGSTOP);
		put1(stop[1]);
		sleep_ms(20);
		kill(other, SIGCONT);
		get1(stop[0]);
	}
}

static void
mutex_setup(const char *path)
{
	pthread_mutexattr_t a;

	pipes();
	make_pipe(stop);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &a);
	other = child("holder", holder_main, NULL);
	child("halter", halter_main, NULL);
}

static void
mutex_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
		put1(stop[1]);
	}
	pthread_mutex_lock(shared);
	pthread_mutex_unlock(shared);
}

static void
put_text(const char *dir, const char *name, const char *text)
{
	char path[512];
	int f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if ((f = open(path, O_WRONLY | O_CLOEXEC)) < 0 || write(f, text, strlen(text)) < 0)
		die(path);
	close(f);
}

static const char *
group(const char *variable)
{
	const char *g = getenv(variable);
	char pid[32];

	if (g == NULL) {
		fprintf(stderr, "no control group\n");
		exit(77);
	}
	snprintf(pid, sizeof(pid), "%d", (int)other);
	put_text(g, "cgroup.procs", pid);
	return g;
}

/* The peer's control group has 10 ms of each 100 ms. */
static void
hungry_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		spin_ms(15);
		put1(back[1]);
	}
}

static void
throttled_setup(const char *path)
{
	pipes();
	other = child("peer", hungry_main, NULL);
	group("WHY_CGROUP");
}

static void
slow_ask(int id, bool slow)
{
	if (slow)
		ask();
}

/* The peer is frozen by its control group. */
static void
freezer_main(void *arg)
{
	const char *g = arg;
	bool v1 = strstr(g, "/freezer/") != NULL;
	const char *name = v1 ? "freezer.state" : "cgroup.freeze";

	for (;;) {
		get1(stop[0]);
		put_text(g, name, v1 ? "FROZEN" : "1");
		put1(to[1]);
		sleep_ms(20);
		put_text(g, name, v1 ? "THAWED" : "0");
	}
}

static void
frozen_setup(const char *path)
{
	pipes();
	make_pipe(stop);
	other = child("peer", peer_main, NULL);
	child("freezer", freezer_main, (void *)(uintptr_t)group("WHY_FREEZER"));
}

/* A debugger stops the peer. */
static void
tracer_main(void *arg)
{
	for (;;) {
		get1(stop[0]);
		if (ptrace(PTRACE_SEIZE, other, 0, 0) != 0 || ptrace(PTRACE_INTERRUPT, other, 0, 0) != 0)
			die("ptrace");
		waitpid(other, NULL, __WALL);
		put1(to[1]);
		sleep_ms(20);
		ptrace(PTRACE_DETACH, other, 0, 0);
	}
}

static void
traced_setup(const char *path)
{
	pipes();
	make_pipe(stop);
	other = child("peer", peer_main, NULL);
	child("tracer", tracer_main, NULL);
}

/* A thread of higher priority has the CPU. */
static void
rt_main(void *arg)
{
	struct sched_param p = { .sched_priority = 1 };

	pin(0);
	if (sched_setscheduler(0, SCHED_FIFO, &p) != 0)
		die("SCHED_FIFO");
	for (;;) {
		get1(to[0]);
		spin_ms(20);
	}
}

static void
rt_setup(const char *path)
{
	pipes();
	child("rtthread", rt_main, NULL);
	pin(0);
}

static void
rt_request(int id, bool slow)
{
	if (slow)
		put1(to[1]);
	spin_ms(2);
}

/* Six processes that compute, on whichever CPU. */
static void
crowd_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		spin_ms(10);
	}
}

static void
crowd_setup(const char *path)
{
	pipes();
	for (int i = 0; i < 6; i++)
		child("crowd", crowd_main, NULL);
}

static void
crowd_request(int id, bool slow)
{
	for (int i = 0; slow && i < 6; i++)
		put1(to[1]);
	spin_ms(8);
}

/* Fresh memory, page by page. */
static void
pages_request(int id, bool slow)
{
	size_t size = slow ? 128u << 20 : 1u << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		p[at] = 1;
	munmap(p, size);
}

/* Another process writes to the same file, by one long call. */
static void
inode_main(void *arg)
{
	size_t size = 64u << 20;
	char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int mine = open(file, O_RDWR | O_CLOEXEC);

	memset(block, 'x', size);
	for (;;) {
		get1(to[0]);
		put1(back[1]);
		if (pwrite(mine, block, size, 0) < 0)
			return;
	}
}

static void
inode_setup(const char *path)
{
	pipes();
	file = path;
	fd = make_file(path, 64u << 20, 0);
	child("bigwrite", inode_main, NULL);
	ask();		/* its memory is there then */
}

static void
inode_request(int id, bool slow)
{
	if (slow) {
		ask();
		sleep_ms(1);
	}
	if (pwrite(fd, "x", 1, 0) != 1)
		die("pwrite");
}

/* Linux's own asynchronous I/O. */
static aio_context_t aio;

static void
aio_setup(const char *path)
{
	fd = make_file(path, 16u << 20, 0);
	close(fd);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_io_setup, 32, &aio) != 0)
		die("io_setup");
}

static void
aio_request(int id, bool slow)
{
	static char block[1 << 20] __attribute__((aligned(4096)));
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (unsigned)fd,
	    .aio_buf = (uintptr_t)block, .aio_nbytes = slow ? sizeof(block) : 4096 }, *list = &cb;
	struct io_event e;

	for (int i = 0; i < (slow ? 30 : 1); i++)
		if (syscall(SYS_io_submit, aio, 1, &list) != 1 ||
		    syscall(SYS_io_getevents, aio, 1, 1, &e, NULL) != 1)
			die("io_submit");
}

const struct cause causes_stop[] = {
	{ "stopped-peer", stopped_setup, stopped_request, false },
	{ "stopped-holder", mutex_setup, mutex_request, false },
	{ "throttled-peer", throttled_setup, slow_ask, false },
	{ "frozen-peer", frozen_setup, stopped_request, false },
	{ "traced-peer", traced_setup, stopped_request, false },
	{ "rt-hog", rt_setup, rt_request, false },
	{ "crowd", crowd_setup, crowd_request, false },
	{ "fresh-pages", NULL, pages_request, false },
	{ "inode-lock", inode_setup, inode_request, false },
	{ "aio", aio_setup, aio_request, false },
	{ NULL, NULL, NULL, false }
};
