/*
 * silent.c - a FUSE server: the file is the root of its file system, mounted on the file itself.
 */
#include "tests/live/silent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM	(1u << 18)	/* for a request, and for what is read */

struct server {
	int	 dev, file;
	struct stat st;
	volatile int *silence;
};

static void
reply(const struct server *s, const struct fuse_in_header *in, int error, const void *data, size_t n)
{
	struct fuse_out_header h = { .unique = in->unique, .error = -error,
	    .len = (uint32_t)(sizeof(h) + n) };
	const struct iovec v[2] = { { &h, sizeof(h) }, { (void *)(uintptr_t)data, n } };

	/* Whoever has asked may be gone. */
	if (writev(s->dev, v, n > 0 ? 2 : 1) < 0 && errno != ENOENT)
		_exit(1);
}

static void
answer_init(const struct server *s, const struct fuse_in_header *in)
{
	const struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = 31,
	    .max_readahead = 1 << 16, .max_write = 4096, .max_background = 16, .time_gran = 1 };

	reply(s, in, 0, &out, sizeof(out));
}

static void
answer_attributes(const struct server *s, const struct fuse_in_header *in)
{
	/* The kernel keeps no attribute: each stat(2) asks. */
	const struct fuse_attr_out out = { .attr = { .ino = in->nodeid,
	    .size = (uint64_t)s->st.st_size, .blocks = (uint64_t)s->st.st_blocks,
	    .mode = s->st.st_mode, .nlink = 1, .blksize = 4096 } };

	reply(s, in, 0, &out, sizeof(out));
}

static void
answer_read(const struct server *s, const struct fuse_in_header *in)
{
	const struct fuse_read_in *r = (const void *)(in + 1);
	static char data[ROOM];
	ssize_t n = pread(s->file, data, r->size < ROOM ? r->size : ROOM, (off_t)r->offset);

	reply(s, in, n < 0 ? errno : 0, data, n > 0 ? (size_t)n : 0);
}

static void
wait_while(const struct server *s, enum silence what)
{
	while (*s->silence == (int)what)
		usleep(10000);
}

static void
answer(const struct server *s, const struct fuse_in_header *in)
{
	/* Without FOPEN_KEEP_CACHE the kernel forgets all pages of the file. */
	const struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer_init(s, in);
		break;
	case FUSE_GETATTR:
		answer_attributes(s, in);
		break;
	case FUSE_OPEN:
		wait_while(s, SILENT_OPEN);
		reply(s, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		wait_while(s, SILENT_READ);
		answer_read(s, in);
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		reply(s, in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(s, in, ENOSYS, NULL, 0);
	}
}

static _Noreturn void
serve(const struct server *s)
{
	static char request[ROOM] __attribute__((aligned(8)));
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		n = read(s->dev, request, sizeof(request));
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer(s, (const void *)request);
		else if (errno != EINTR && errno != ENOENT && errno != EAGAIN)
			_exit(0);
	}
}

/* In a list of mounts of our own, which ends with us. */
static bool
mount_on(const struct server *s, const char *path)
{
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=0,group_id=0,allow_other",
	    s->dev, (unsigned)s->st.st_mode);
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("tnf-silent", path, "fuse", MS_NOSUID | MS_NODEV, options) == 0;
}

bool
silent_begin(struct silent *f, const char *path)
{
	struct server s = { .dev = open("/dev/fuse", O_RDWR | O_CLOEXEC),
	    .file = open(path, O_RDONLY | O_CLOEXEC) };

	s.silence = f->silence = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.dev < 0 || s.file < 0 || f->silence == MAP_FAILED || fstat(s.file, &s.st) != 0 ||
	    !mount_on(&s, path)) {
		printf("%s: no file system of ours (FUSE): %s\n", path, strerror(errno));
		return false;
	}
	fflush(stdout);
	snprintf(f->path, sizeof(f->path), "%s", path);
	if ((f->server = fork()) == 0)
		serve(&s);
	close(s.dev);
	close(s.file);
	return f->server > 0;
}

void
silent_end(struct silent *f)
{
	*f->silence = SILENT_NEVER;
	umount2(f->path, MNT_DETACH);
	kill(f->server, SIGKILL);
	waitpid(f->server, NULL, 0);
}
