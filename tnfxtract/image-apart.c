/*
 * image-apart.c - reads compressed dumps, as makedumpfile and QEMU write them, in a separate
 * process.
 *
 * libkdumpfile reads them; the process loads it.  0.5.1 writes beyond its memory if a dump is
 * damaged, and its cache of pages is not sound after a page that cannot be read.  The process
 * ends at such a page, and the next process continues after it; thus a damaged page only counts
 * as missing.  A limit of processor time ends a process that a damaged page sends into an endless
 * loop.  kdump_free() of 0.5.1 reads memory that was never set, so nothing is freed until the
 * process ends.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <signal.h>

#include "tnfxtract/image.h"

#ifdef HAVE_KDUMPFILE

#include <dlfcn.h>
#include <libkdumpfile/kdumpfile.h>

#include "common/map.h"

#define LIBRARY		"libkdumpfile.so.10"
#define PARTS_MAX	(1u << 22)
#define BLOCK_AT	428		/* struct disk_dump_header: block_size */

#define FUNCTIONS(X)							\
	X(kdump_new) X(kdump_set_attr) X(kdump_get_typed_attr) \
	X(kdump_read) X(kdump_bmp_find_set) X(kdump_bmp_find_clear)	\
	X(kdump_vmcoreinfo_raw)

struct image_kdump {
	void	*library;
	kdump_ctx_t *ctx;
	uint64_t page;
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
};

static int
load_library(struct image_kdump *k)
{
	k->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (k->library == NULL)
		return ELIBACC;
#define X(name) \
	if ((k->name = (__typeof__(k->name))dlsym(k->library, #name)) == NULL) \
		return ELIBACC;
	FUNCTIONS(X)
#undef X
	return 0;
}

static int
kdump_error(kdump_status status)
{
	switch (status) {
	case KDUMP_OK:
		return 0;
	case KDUMP_ERR_SYSTEM:
		return errno != 0 ? errno : EIO;
	case KDUMP_ERR_NOTIMPL:
		return ENOEXEC;
	default:
		return EINVAL;
	}
}

static kdump_status
get_number(struct image_kdump *k, const char *name, uint64_t *ret)
{
	kdump_attr_t a = { .type = KDUMP_NUMBER };
	kdump_status s = k->kdump_get_typed_attr(k->ctx, name, &a);

	if (s == KDUMP_OK)
		*ret = a.val.number;
	return s;
}

/* Adds the parts; adjacent pages are one part. */
static int
add_parts(struct image *im, kdump_bmp_t *map)
{
	struct image_kdump *k = im->kdump;
	kdump_addr_t first = 0, end;
	struct image_part *grown;

	while (k->kdump_bmp_find_set(map, &first) == KDUMP_OK) {
		end = first;
		if (k->kdump_bmp_find_clear(map, &end) != KDUMP_OK || end <= first ||
		    end > INT64_MAX / k->page || im->n_parts == PARTS_MAX)
			return EINVAL;
		if ((grown = tnf_grow(im->part, im->n_parts, sizeof *grown)) == NULL)
			return ENOMEM;
		im->part = grown;
		im->part[im->n_parts++] = (struct image_part){ first * k->page,
			(end - first) * k->page, first * k->page };
		first = end;
	}
	return 0;
}

static int
find_parts(struct image *im)
{
	struct image_kdump *k = im->kdump;
	kdump_attr_t a = { .type = KDUMP_BITMAP };
	kdump_status s = k->kdump_get_typed_attr(k->ctx, KDUMP_ATTR_FILE_PAGEMAP, &a);

	/* The bitmap stays the library's. */
	return s != KDUMP_OK ? kdump_error(s) : add_parts(im, a.val.bitmap);
}

static void
find_facts(struct image *im)
{
	struct image_kdump *k = im->kdump;
	kdump_attr_t a = { .type = KDUMP_STRING };
	kdump_attr_t os = { .type = KDUMP_STRING, .val.string = "linux" };
	char *text;

	/* The notes need the type of the system; its other results are not needed. */
	k->kdump_set_attr(k->ctx, KDUMP_ATTR_OSTYPE, &os);
	if (k->kdump_vmcoreinfo_raw(k->ctx, &text) == KDUMP_OK) {
		image_note(im, text, strlen(text));
		free(text);
	}
	if (im->release[0] == '\0' &&
	    k->kdump_get_typed_attr(k->ctx, "linux.uts.release", &a) == KDUMP_OK)
		image_text(im->release, sizeof im->release, a.val.string,
		    strlen(a.val.string));
	if (k->kdump_get_typed_attr(k->ctx, "linux.uts.machine", &a) == KDUMP_OK &&
	    im->arch == NULL)
		im->arch = image_arch_by_name(a.val.string);
	if (k->kdump_get_typed_attr(k->ctx, "linux.uts.nodename", &a) == KDUMP_OK)
		image_text(im->host, sizeof im->host, a.val.string,
		    strlen(a.val.string));
}

/* Sets the page size from the dump's header: the library would take the kernel's from the
   notes.  QEMU's dump of arm64 has pages of 64 KiB, whatever the kernel's are, and the
   library would then write beyond its memory. */
static kdump_status
keep_page(struct image *im)
{
	struct image_kdump *k = im->kdump;
	kdump_attr_t page = { .type = KDUMP_NUMBER };
	char head[8] = "";
	uint32_t block = 0;

	if (pread(im->fd, head, sizeof head, 0) != sizeof head ||
	    memcmp(head, "KDUMP   ", sizeof head) != 0 ||
	    pread(im->fd, &block, sizeof block, BLOCK_AT) != sizeof block ||
	    block < 4096 || block > 1 << 20)
		return KDUMP_OK;
	k->page = page.val.number = block;
	return k->kdump_set_attr(k->ctx, KDUMP_ATTR_PAGE_SIZE, &page);
}

static int
image_kdump_open(struct image *im)
{
	kdump_attr_t fd = { .type = KDUMP_NUMBER, .val.number = (kdump_num_t)im->fd };
	kdump_attr_t no_mmap = { .type = KDUMP_NUMBER, .val.number = KDUMP_MMAP_NEVER };
	struct image_kdump *k = im->kdump = calloc(1, sizeof *im->kdump);
	int e;

	if (k == NULL)
		return ENOMEM;
	if ((e = load_library(k)) != 0)
		return e;
	if ((k->ctx = k->kdump_new()) == NULL)
		return ENOMEM;
	/* Without mmap: a mapped dump that is cut short would cause a SIGBUS. */
	k->kdump_set_attr(k->ctx, KDUMP_ATTR_FILE_MMAP_POLICY, &no_mmap);
	errno = 0;
	kdump_status s = k->kdump_set_attr(k->ctx, KDUMP_ATTR_FILE_FD, &fd);
	if (s == KDUMP_OK)
		s = get_number(k, KDUMP_ATTR_PAGE_SIZE, &k->page);
	if (s != KDUMP_OK)
		return kdump_error(s);
	find_facts(im);
	if ((s = keep_page(im)) != KDUMP_OK)
		return kdump_error(s);
	if (k->page < 4096 || (k->page & (k->page - 1)) != 0)
		return EINVAL;
	return find_parts(im);
}

/* EBADMSG: nothing more may be read. */
static ssize_t
image_kdump_read(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	struct image_kdump *k = im->kdump;
	size_t got = n;

	/* 'got' is the part read before a page that is missing. */
	kdump_status s = k->kdump_read(k->ctx, KDUMP_MACHPHYSADDR, offset, buf, &got);
	if (s != KDUMP_OK && got == 0) {
		errno = s == KDUMP_ERR_NODATA ? EIO : EBADMSG;
		return -1;
	}
	return (ssize_t)got;
}

static uint64_t
image_kdump_page(const struct image *im)
{
	return im->kdump->page;
}

#else

static int
image_kdump_open(struct image *im)
{
	return ENOEXEC;
}

static ssize_t
image_kdump_read(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	errno = ENOSYS;
	return -1;
}

static uint64_t
image_kdump_page(const struct image *im)
{
	return 1;
}

#endif

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
