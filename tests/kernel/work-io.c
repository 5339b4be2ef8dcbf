/*
 * work-io.c - unbuffered transfers.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/kernel/work.h"

static void
say_transfer(const char *what, long offset, long size, ssize_t got)
{
	printf("%s %ld %ld %zd\n", what, offset, size, got);
}

static void
direct(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	struct iovec v[3];
	char *b = NULL;

	if (fd == -1 || posix_memalign((void **)&b, 4096, 1 << 20) != 0)
		work_die(arg[0]);
	memset(b, 5, 1 << 20);
	say_transfer("write", 65536, 8192, pwrite(fd, b, 8192, 65536));
	say_transfer("read", 4096, 4096, pread(fd, b, 4096, 4096));
	lseek(fd, 12288, SEEK_SET);
	say_transfer("read", 12288, 1536, read(fd, b, 1536));
	for (int i = 0; i < 3; i++)
		v[i] = (struct iovec){ b + i * 16384, i == 1 ? 8192 : 4096 };
	say_transfer("read", 1 << 20, 16384, preadv(fd, v, 3, 1 << 20));
	say_transfer("read", 0, 513, pread(fd, b, 513, 0));
}

/* One call hands them all in; as their places follow each other, the kernel makes
   few requests of many parts. */
static void
merged(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	struct iocb *cb = calloc(n, sizeof *cb), **list = calloc(n, sizeof *list);
	struct io_event *done = calloc(n, sizeof *done);
	aio_context_t ctx = 0;
	char *b = NULL;

	if (fd == -1 || cb == NULL || list == NULL || done == NULL ||
	    posix_memalign((void **)&b, PAGE, n * PAGE) != 0)
		work_die(arg[0]);
	memset(b, 6, n * PAGE);
	for (long i = 0; i < n; i++) {
		list[i] = &cb[i];
		cb[i] = (struct iocb){ .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd,
		    .aio_buf = (uintptr_t)(b + i * PAGE), .aio_nbytes = PAGE,
		    .aio_offset = i * PAGE };
	}
	if (syscall(SYS_io_setup, n, &ctx) != 0 ||
	    syscall(SYS_io_submit, ctx, n, list) != n ||
	    syscall(SYS_io_getevents, ctx, n, n, done, NULL) != n)
		work_die("aio");
	syscall(SYS_io_destroy, ctx);
}

#define PREAD_32	180
#define PREADV_32	333

static void
direct32(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	char *b = work_low_memory(8);
	struct { unsigned base, size; } *v = (void *)work_low_memory(1);

	if (fd == -1)
		work_die(arg[0]);
	for (long i = 0; i < n; i++)
		say_transfer("read", 8192 * i, 4096,
		    work_call32(PREAD_32, fd, (long)b, 4096, 8192 * i, 0));
	for (int i = 0; i < 4; i++) {
		v[i].base = (unsigned)(uintptr_t)(b + i * PAGE);
		v[i].size = PAGE;
	}
	say_transfer("read", 65536, 4 * PAGE, work_call32(PREADV_32, fd, (long)v, 4, 65536, 0));
}

#define PIECE	(256l << 10)

struct writer {
	pthread_t thread;
	int	  fd;
	long	  n, from;
};

static void *
write_pieces(void *arg)
{
	struct writer *w = arg;
	char *b = NULL;

	if (posix_memalign((void **)&b, 4096, PIECE) != 0)
		work_die("memory");
	memset(b, 7, PIECE);
	for (long i = 0; i < w->n; i++)
		if (pwrite(w->fd, b, PIECE, w->from) != PIECE)
			work_die("pwrite");
	free(b);
	return NULL;
}

static void
split(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	struct writer w[4];

	if (fd == -1)
		work_die(arg[0]);
	for (long i = 0; i < 4; i++) {
		w[i] = (struct writer){ .fd = fd, .n = n, .from = i * PIECE };
		if (pthread_create(&w[i].thread, NULL, write_pieces, &w[i]) != 0)
			work_die("pthread_create");
	}
	for (int i = 0; i < 4; i++)
		pthread_join(w[i].thread, NULL);
}

const struct work work_io[] = {
	{ "direct", direct }, { "direct32", direct32 }, { "merged", merged },
	{ "split", split }, { 0 }
};
