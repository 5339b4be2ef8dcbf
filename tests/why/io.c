/*
 * io.c - causes in files, disks and memory.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/why/causes.h"

#define SIZE	(16u << 20)

static int fd, to[2];
static char *memory;

static void
fault_setup(const char *path)
{
	fd = make_file(path, SIZE, 0);
}

/* The pages of the file are not in memory.  Each fault reads many of them, so that the disk takes
   longer than the fault's own work. */
static void
fault_request(int id, bool slow)
{
	volatile char *p;

	if (slow) {
		fsync(fd);
		posix_fadvise(fd, 0, SIZE, POSIX_FADV_DONTNEED);
	}
	p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	for (size_t at = 0; at < SIZE; at += SIZE / 64)
		(void)p[at];
	munmap((void *)(uintptr_t)p, SIZE);
}

/* Joins a control group without memory to spare (WHY_MEMCG, by the script). */
static void
join_group(void)
{
	const char *group = getenv("WHY_MEMCG");
	char procs[512], pid[32];
	int p;

	if (group == NULL) {
		fprintf(stderr, "no control group for memory\n");
		exit(77);
	}
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
	int n = snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if ((p = open(procs, O_WRONLY | O_CLOEXEC)) < 0 || write(p, pid, (size_t)n) != n)
		die(procs);
	close(p);
}

/* Twice the memory that the group has: what was written first is in swap. */
static void
swap_setup(const char *path)
{
	join_group();
	memory = mmap(NULL, 3 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 3 * SIZE, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < 3 * SIZE; at += sizeof(long))
		*(long *)(void *)(memory + at) = random();
}

/* Each slow request needs what was written next.  Few pages are touched, since the kernel reads those
   around as well. */
static void
swap_request(int id, bool slow)
{
	static size_t next;

	if (!slow)
		return;
	for (size_t at = 0; at < SIZE / 4; at += SIZE / 512)
		((volatile char *)memory)[next + at]++;
	next += SIZE / 4;
}

/* Another process writes all the time while the slow ones read. */
static void
large_main(void *arg)
{
	static char block[1 << 20] __attribute__((aligned(4096)));
	char path[512];

	snprintf(path, sizeof(path), "%s.large", (const char *)arg);
	int large = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	if (large < 0)
		die(path);
	unlink(path);
	for (;;) {
		get1(to[0]);
		for (int i = 0; i < 64; i++)
			if (pwrite(large, block, sizeof(block), (off_t)(i % 16) << 20) < 0)
				die("pwrite");
	}
}

static void
behind_setup(const char *path)
{
	make_pipe(to);
	fd = make_file(path, SIZE, 0);
	close(fd);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die("O_DIRECT");
	for (int i = 0; i < 4; i++)
		child("large", large_main, (void *)(uintptr_t)path);
}

static void
read_direct(int n)
{
	static char block[65536] __attribute__((aligned(4096)));

	for (int i = 0; i < n; i++)
		if (pread(fd, block, sizeof(block), (off_t)(i * 7 % 64) << 16) < 0)
			die("pread");
}

static void
behind_request(int id, bool slow)
{
	if (slow)
		for (int i = 0; i < 4; i++)
			put1(to[1]);
	read_direct(20);
}

/* A request before has written. */
static void
fsync_request(int id, bool slow)
{
	static char block[32 << 20];

	if (id % 8 == 7 && pwrite(fd, block, sizeof(block), 0) < 0)
		die("pwrite");
	if (slow)
		fsync(fd);
}

/* io_uring by its system calls: one read, which is waited for. */
static struct {
	int fd;
	unsigned *tail, *mask, *array, *cq_head, *cq_tail;
	struct io_uring_sqe *sqe;
} ring;

static void
uring_setup(const char *path)
{
	struct io_uring_params p = { 0 };

	behind_setup(path);
	if ((ring.fd = (int)syscall(SYS_io_uring_setup, 8, &p)) < 0)
		die("io_uring_setup");
	size_t size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	if (p.sq_off.array + p.sq_entries * 4 > size)
		size = p.sq_off.array + p.sq_entries * 4;
	char *r = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
	    IORING_OFF_SQ_RING);
	ring.sqe = mmap(NULL, p.sq_entries * sizeof(*ring.sqe), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
	if (r == MAP_FAILED || ring.sqe == MAP_FAILED)
		die("mmap of io_uring");
	ring.tail = (unsigned *)(void *)(r + p.sq_off.tail);
	ring.mask = (unsigned *)(void *)(r + p.sq_off.ring_mask);
	ring.array = (unsigned *)(void *)(r + p.sq_off.array);
	ring.cq_head = (unsigned *)(void *)(r + p.cq_off.head);
	ring.cq_tail = (unsigned *)(void *)(r + p.cq_off.tail);
}

static void
uring_request(int id, bool slow)
{
	static char block[1 << 20] __attribute__((aligned(4096)));

	for (int i = 0; i < (slow ? 40 : 1); i++) {
		unsigned tail = *ring.tail, at = tail & *ring.mask;
		ring.sqe[at] = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd,
		    .addr = (uintptr_t)block, .len = slow ? sizeof(block) : 4096 };
		ring.array[at] = at;
		__atomic_store_n(ring.tail, tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			die("io_uring_enter");
		__atomic_store_n(ring.cq_head, __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE),
		    __ATOMIC_RELEASE);
	}
}

static void
reclaim_setup(const char *path)
{
	join_group();
	fd = make_file(path, 4 * SIZE, 0);
}

static void
reclaim_request(int id, bool slow)
{
	static char block[1 << 20];

	for (size_t at = 0; slow && at < 4 * SIZE; at += sizeof(block))
		if (pwrite(fd, block, sizeof(block), (off_t)at) < 0)
			die("pwrite");
}

const struct cause causes_io[] = {
	{ "file-fault", fault_setup, fault_request, false },
	{ "swap-fault", swap_setup, swap_request, false },
	{ "behind-writes", behind_setup, behind_request, false },
	{ "fsync", fault_setup, fsync_request, false },
	{ "io_uring", uring_setup, uring_request, false },
	{ "reclaim", reclaim_setup, reclaim_request, false },
	{ NULL, NULL, NULL, false }
};
