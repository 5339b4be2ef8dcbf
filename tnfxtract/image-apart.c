/*
 * image-apart.c - reads a compressed dump in a separate process.
 *
 * libkdumpfile 0.5.1 writes beyond its memory if a dump is damaged, and its cache of pages
 * is not sound after a page that cannot be read.  The reader process ends at such a page,
 * and the next process continues after it; thus a damaged page only counts as missing.  A
 * limit of processor time ends a process that a damaged page sends into an endless loop.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tnfxtract/image.h"

#define ROOM		(4u << 20)	/* of one request */
#define STARTS_MAX	100u		/* after these the rest counts as missing, */
#define FRUITLESS_MAX	24u		/* and after so many in a row that read nothing */

/* Limits of processor time, in seconds.  A request takes some 0.1 s. */
#define OPEN_SECONDS	60
#define READ_SECONDS	5

/* Shared with the reader, whose memory may be overwritten: nothing in it is trusted. */
struct shared {
	uint64_t done;		/* bytes read, valid also after the reader's end */
	unsigned char data[ROOM];
};

struct image_apart {
	pid_t	 pid;		/* 0: none runs */
	int	 fd;
	unsigned starts;
	unsigned fruitless;	/* latest starts in a row that read nothing */
	struct shared *shared;
};

struct request {
	uint64_t offset, n;
};

/* The results of the first reader; the parts and the lines follow. */
struct found {
	int	 error;
	uint64_t n_parts, info_size;
	struct image image;	/* its pointers are not valid here */
};

static bool
put(int fd, const void *from, size_t n)
{
	ssize_t put;

	for (const char *p = from; n > 0; p += put, n -= (size_t)put)
		if ((put = send(fd, p, n, MSG_NOSIGNAL)) <= 0)
			return false;
	return true;
}

static bool
take(int fd, void *to, size_t n)
{
	ssize_t got;

	for (char *p = to; n > 0; p += got, n -= (size_t)got) {
		got = recv(fd, p, n, 0);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			return false;
	}
	return true;
}

/* The functions of the reader process. */

static bool
tell_found(int fd, int error, const struct image *im)
{
	struct found f = { .error = error };

	if (error == 0) {
		f.image = *im;
		f.n_parts = im->n_parts;
		f.info_size = im->info != NULL ? strlen(im->info) + 1 : 0;
	}
	return put(fd, &f, sizeof f) && put(fd, im->part, f.n_parts * sizeof *im->part) &&
	    put(fd, im->info, f.info_size);
}

/* Reads page by page, so that the pages before a damaged one count; false: a page is damaged. */
static bool
read_pages(const struct image *im, struct shared *s, const struct request *q)
{
	uint64_t page = image_kdump_page(im), at, step;
	ssize_t got;

	for (uint64_t done = 0; done < q->n && done < ROOM; done += (uint64_t)got) {
		at = q->offset + done;
		step = page - at % page;
		if (step > q->n - done)
			step = q->n - done;
		got = image_kdump_read(im, s->data + done, step, at);
		if (got <= 0)
			return errno != EBADMSG;
		__atomic_store_n(&s->done, done + (uint64_t)got, __ATOMIC_RELEASE);
	}
	return true;
}

/* SIGPROF ends the reader. */
static void
limit_time(time_t seconds)
{
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = seconds }, NULL);
}

static _Noreturn void
serve(struct image *im, int fd, struct shared *s)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct request q;

	/* The reader prints nothing: its exit tells the asking process enough. */
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPROF, SIG_DFL);
	limit_time(OPEN_SECONDS);
	int e = image_kdump_open(im);
	if (!tell_found(fd, e, im) || e != 0)
		_exit(1);
	while (take(fd, &q, sizeof q)) {
		limit_time(READ_SECONDS);
		if (!read_pages(im, s, &q) || !put(fd, &q, sizeof q))
			_exit(1);
	}
	_exit(0);
}

/* The functions of the asking process. */

static void
end_reader(struct image_apart *a)
{
	if (a->pid == 0)
		return;
	close(a->fd);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	a->pid = 0;
}

static int
start_reader(struct image_apart *a, int dump)
{
	struct image im = { .fd = dump };
	int ends[2];

	if (a->starts >= STARTS_MAX || a->fruitless >= FRUITLESS_MAX)
		return EIO;
	a->starts++;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return errno;
	a->pid = fork();
	if (a->pid == 0) {
		close(ends[0]);
		serve(&im, ends[1], a->shared);
	}
	int e = a->pid < 0 ? errno : 0;
	close(ends[1]);
	a->fd = ends[0];
	if (e != 0) {
		close(ends[0]);
		a->pid = 0;
	}
	return e;
}

/* Receives the parts and the lines; image_close() frees them. */
static int
take_lists(int fd, const struct found *f, struct image *im)
{
	if (f->n_parts > SIZE_MAX / sizeof *im->part / 2 || f->info_size > SIZE_MAX / 2)
		return EINVAL;
	im->part = calloc(f->n_parts + 1, sizeof *im->part);
	im->info = f->info_size != 0 ? malloc(f->info_size) : NULL;
	if (im->part == NULL || (im->info == NULL && f->info_size != 0))
		return ENOMEM;
	if (!take(fd, im->part, f->n_parts * sizeof *im->part) ||
	    !take(fd, im->info, f->info_size))
		return EINVAL;
	im->n_parts = f->n_parts;
	if (im->info != NULL)
		im->info[f->info_size - 1] = '\0';
	return 0;
}

/* Makes the reader's results safe: ends strings, and keeps no pointer that is not known. */
static void
believe(struct image *im)
{
	im->release[sizeof im->release - 1] = '\0';
	im->host[sizeof im->host - 1] = '\0';
	if (!image_arch_known(im->arch))
		im->arch = NULL;
	im->kdump = NULL;
}

/* Receives the reader's results; 'im' is NULL if they are known already. */
static int
take_found(int fd, struct image *im)
{
	struct found f;
	struct image own = { .fd = -1 }, *to = im != NULL ? im : &own;
	int e;

	if (!take(fd, &f, sizeof f))
		return EINVAL;
	if (f.error != 0)
		return f.error;
	if (im != NULL) {
		f.image.fd = im->fd;
		f.image.apart = im->apart;
		believe(&f.image);
		*im = f.image;
	}
	to->part = NULL;
	to->info = NULL;
	to->n_parts = 0;
	e = take_lists(fd, &f, to);
	free(own.part);
	free(own.info);
	return e;
}

int
image_apart_open(struct image *im)
{
	struct image_apart *a = calloc(1, sizeof *a);
	int e;

	if (a == NULL)
		return ENOMEM;
	a->shared = mmap(NULL, sizeof *a->shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (a->shared == MAP_FAILED) {
		free(a);
		return ENOMEM;
	}
	im->apart = a;
	if ((e = start_reader(a, im->fd)) == 0)
		e = take_found(a->fd, im);
	return e;
}

static size_t
ask(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	struct image_apart *a = im->apart;
	struct request q = { offset, n < ROOM ? n : ROOM };
	uint64_t done;

	if (a->pid == 0 && start_reader(a, im->fd) == 0 && take_found(a->fd, NULL) != 0)
		end_reader(a);
	if (a->pid == 0)
		return 0;
	__atomic_store_n(&a->shared->done, 0, __ATOMIC_RELAXED);
	bool ended = !put(a->fd, &q, sizeof q) || !take(a->fd, &q, sizeof q);
	done = __atomic_load_n(&a->shared->done, __ATOMIC_ACQUIRE);
	if (ended)
		end_reader(a);
	if (done != 0)
		a->fruitless = 0;
	else if (ended)
		a->fruitless++;
	if (done > n || done > ROOM)
		return 0;
	memcpy(buf, a->shared->data, done);
	return (size_t)done;
}

ssize_t
image_apart_read(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	size_t got = 0, more;

	do {
		more = ask(im, (char *)buf + got, n - got, offset + got);
		got += more;
	} while (more == ROOM && got < n);
	if (got == 0 && n != 0) {
		errno = EIO;
		return -1;
	}
	return (ssize_t)got;
}

unsigned
image_apart_damaged(const struct image *im)
{
	return im->apart != NULL && im->apart->starts > 1 ? im->apart->starts - 1 : 0;
}

void
image_apart_close(struct image *im)
{
	struct image_apart *a = im->apart;

	if (a == NULL)
		return;
	end_reader(a);
	munmap(a->shared, sizeof *a->shared);
	free(a);
	im->apart = NULL;
}
