/*
 * buffer.c - the trace file of a process.
 *
 * We create it under a random name and rename it.  So a file or link that has the
 * final name is replaced, and never followed or written; a device or directory of
 * that name is an error.  The file's blocks are reserved: if the file system is
 * full, we report that here, and the target gets no SIGBUS later.
 *
 * In a tmpfs to reserve them takes a microsecond for each page.  tnfctl_buffer_prepare() lets a thread
 * do that while the target starts, for a file without a name, of which a kill leaves nothing.
 */
#include <sys/random.h>
#include <sys/resource.h>

#include "libtnfctl/control.h"

#define SIZE_MAX_	(1u << 30)	/* what a reference can reach */

struct place {
	char	 path[TNF_PATH_SIZE];	/* absolute */
	const char *base;		/* last part of path */
	int	 dir;
};

/* The remedy for each reason that the file cannot be made. */
static const struct {
	int	    error;
	const char *remedy;
} remedies[] = {
	{ EACCES, "choose another directory" },
	{ EDQUOT, "make it smaller, or choose another file system" },
	{ EFBIG, "make it smaller, or raise the limit (ulimit -f)" },
	{ ENAMETOOLONG, "choose another name" },
	{ ENOENT, "make the directory (mkdir), or choose another" },
	{ ENOSPC, "make it smaller, or choose another file system" },
	{ ENOTDIR, "choose another directory" },
	{ EOPNOTSUPP, "choose another file system" },
	{ EPERM, "choose another directory" },
	{ EROFS, "choose another directory" },
};

static tnfctl_errcode_t
cannot_create(int error, const char *path, unsigned int bytes)
{
	tnfctl_errcode_t err = tnfctl_error_set_errno(error, "%s: %u bytes", path, bytes);

	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].error == error)
			return tnfctl_error_set(err, "%s: %u bytes: %s: %s", path, bytes,
			    strerror(error), remedies[i].remedy);
	return err;
}

static tnfctl_errcode_t
a_directory(const struct place *p)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: names a directory: "
	    "choose another name", p->path);
}

static tnfctl_errcode_t
make_absolute(const char *file, struct place *ret)
{
	size_t n = 0;

	if (file == NULL || *file == '\0')
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "trace file: it needs a name");
	if (*file != '/') {
		if (getcwd(ret->path, sizeof(ret->path)) == NULL)
			return tnfctl_error_set_errno(errno, "current directory");
		n = strlen(ret->path);
		if (n < sizeof(ret->path) - 1)
			ret->path[n++] = '/';
	}
	if (n + strlen(file) >= sizeof(ret->path))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "trace file: the name is longer "
		    "than %d bytes", TNF_PATH_SIZE - 1);
	strcpy(ret->path + n, file);
	ret->base = strrchr(ret->path, '/') + 1;
	return *ret->base == '\0' ? a_directory(ret) : TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
open_directory(struct place *p, unsigned int bytes)
{
	char dir[TNF_PATH_SIZE];
	size_t n = (size_t)(p->base - p->path);

	memcpy(dir, p->path, n);
	dir[n] = '\0';
	p->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->dir < 0 ? cannot_create(errno, p->path, bytes) :
	    TNFCTL_ERR_NONE;
}

/* Checks that the file's name means the same to a target that opens the file by name. */
static tnfctl_errcode_t
same_directory(tnfctl_handle_t *h, const struct place *p)
{
	char theirs[TNF_PATH_SIZE + 32];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%d/root%.*s", (int)h->pid,
	    (int)(p->base - p->path), p->path);
	if (fstat(p->dir, &a) < 0)
		return tnfctl_error_set_errno(errno, "%s", p->path);
	/* If we have no right to look into its root, we assume that the directory is the same. */
	if (stat(theirs, &b) < 0)
		return errno != ENOENT ? TNFCTL_ERR_NONE :
		    tnf_proc_status(h->pid, "VmSize") < 0 ? tnfctl_error_ended(h) :
		    tnfctl_error_set(TNFCTL_ERR_FILENOTFOUND, "%s: process %d has another "
		    "root directory and no such directory in it: name one "
		    "that means the same to both", p->path, (int)h->pid);
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return TNFCTL_ERR_NONE;
	return tnfctl_error_set(TNFCTL_ERR_ACCES, "%s: process %d sees another directory "
	    "under this name: run the controller in its mount name space "
	    "(nsenter -t %d -m)", p->path, (int)h->pid, (int)h->pid);
}

bool
tnfctl_owner_of(pid_t pid, uid_t *uid, gid_t *gid)
{
	long u = tnf_proc_status_nth(pid, "Uid", PROC_ID_FS);
	long g = tnf_proc_status_nth(pid, "Gid", PROC_ID_FS);

	*uid = (uid_t)u;
	*gid = (gid_t)g;
	return u >= 0 && g >= 0;
}

tnfctl_errcode_t
tnfctl_buffer_give(tnfctl_handle_t *h, int fd, const char *path)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() == 0 && tnfctl_owner_of(h->pid, &uid, &gid) &&
	    (uid != 0 || gid != getegid()) && fchown(fd, uid, gid) < 0)
		return tnfctl_error_set_errno(errno, "%s", path);
	return TNFCTL_ERR_NONE;
}

/* Notes the mode in the file itself, before a target writes there. */
static int
buffer_mode(int fd, bool fill)
{
	const tnf_uint32_t mode = TNF_EXT_FILL;
	ssize_t n = sizeof(mode);

	if (fill)
		n = pwrite(fd, &mode, sizeof(mode),
		    TNF_EXT_OFFSET + offsetof(struct tnf_ext, compatible));
	return n == sizeof(mode) ? 0 : n < 0 ? errno : EIO;
}

static int
buffer_reserve(int fd, unsigned int bytes)
{
	struct rlimit limit;

	/* A umask may have left its owner out. */
	if (fchmod(fd, 0600) < 0)
		return errno;
	/* A write past this limit would raise SIGXFSZ in our client. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur)
		return EFBIG;
	return posix_fallocate(fd, 0, bytes);
}

#define NAME_SIZE	sizeof(".trace-0123456789abcdef")

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	int	 fd;		/* -1: there is none, and no thread */
	unsigned int bytes;
	int	 error;
} prepared = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static void *
reserve_prepared(void *arg)
{
	prepared.error = buffer_reserve(prepared.fd, prepared.bytes);
	return NULL;
}

/* The file that was prepared, if it has this size and no error; -1: there is none. */
static int
take_prepared(unsigned int bytes)
{
	int fd;

	pthread_mutex_lock(&prepared.lock);
	if ((fd = prepared.fd) >= 0)
		pthread_join(prepared.thread, NULL);
	if (fd >= 0 && (prepared.bytes != bytes || prepared.error != 0)) {
		close(fd);
		fd = -1;
	}
	prepared.fd = -1;
	pthread_mutex_unlock(&prepared.lock);
	return fd;
}

TNFCTL_API void
tnfctl_buffer_prepare(const char *file, unsigned int bytes)
{
	struct place p = { .dir = -1 };
	int fd;

	take_prepared(0);
	if (bytes == 0 || bytes > SIZE_MAX_ || make_absolute(file, &p) != TNFCTL_ERR_NONE ||
	    open_directory(&p, bytes) != TNFCTL_ERR_NONE)
		return;
	fd = openat(p.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	close(p.dir);
	pthread_mutex_lock(&prepared.lock);
	if (fd >= 0 && prepared.fd < 0) {
		prepared.fd = fd;
		prepared.bytes = bytes;
		if (!tnfctl_thread_start(&prepared.thread, reserve_prepared, NULL))
			prepared.fd = -1;
	}
	if (fd >= 0 && prepared.fd != fd)
		close(fd);
	pthread_mutex_unlock(&prepared.lock);
}

/* Gives a file that was prepared this name, and opens the file by it: a target that gets the
   descriptor shows the name in its maps.  -1: there is none, it is of another file system, or
   somebody has put another file under the name. */
static int
name_prepared(const struct place *p, const char *name, unsigned int bytes)
{
	autoclose int fd = take_prepared(bytes);
	struct stat ours, named;
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || linkat(AT_FDCWD, path, p->dir, name, AT_SYMLINK_FOLLOW) != 0)
		return -1;
	if ((again = openat(p->dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) < 0) {
		unlinkat(p->dir, name, 0);
		return -1;
	}
	if (fstat(fd, &ours) == 0 && fstat(again, &named) == 0 && stat_same(&ours, &named))
		return again;
	close(again);
	return -1;
}

/* A name that nobody can guess; 0 or an errno. */
static int
draw_name(char name[static NAME_SIZE])
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		return errno;
	snprintf(name, NAME_SIZE, ".trace-%016llx", (unsigned long long)n);
	return 0;
}

/* 0, and the open file; or an errno. */
static int
buffer_create_file(const struct place *p, unsigned int bytes, bool fill, int *ret)
{
	char name[NAME_SIZE];
	int fd, error = draw_name(name);

	if (error != 0)
		return error;
	if ((fd = name_prepared(p, name, bytes)) < 0) {
		/* The file that somebody has put under the first name stays. */
		if ((error = draw_name(name)) != 0)
			return error;
		fd = openat(p->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
		if (fd < 0)
			return errno;
		error = buffer_reserve(fd, bytes);
	}
	if (error == 0)
		error = buffer_mode(fd, fill);
	if (error == 0 && renameat(p->dir, name, p->dir, p->base) < 0)
		error = errno;
	if (error == 0) {
		*ret = fd;
		return 0;
	}
	unlinkat(p->dir, name, 0);
	close(fd);
	return error;
}

/* /dev/null means the device, and /dev/stdout the file to which it links: we must not replace
   either by a file, and cannot replace a directory. */
static tnfctl_errcode_t
may_replace(const struct place *p)
{
	struct stat dev, dir, st;

	if (stat("/dev", &dev) == 0 && fstat(p->dir, &dir) == 0 &&
	    dev.st_dev == dir.st_dev && dev.st_ino == dir.st_ino)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: /dev is for devices: "
		    "choose another directory", p->path);
	if (fstatat(p->dir, p->base, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return TNFCTL_ERR_NONE;
	if (S_ISDIR(st.st_mode))
		return a_directory(p);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: is a device: "
		    "choose another name", p->path);
	return TNFCTL_ERR_NONE;
}

static bool
buffer_tell(tnfctl_handle_t *h, const char *path, uint64_t bytes)
{
	uint32_t state = TNF_PROC_READY;

	return h->ops->write(h, CONTROL(h, file_name), path, strlen(path) + 1) &&
	    h->ops->write(h, CONTROL(h, file_size), &bytes, sizeof(bytes)) &&
	    h->ops->write(h, CONTROL(h, state), &state, sizeof(state));
}

static tnfctl_errcode_t
keeps_file(tnfctl_handle_t *h, const char *why)
{
	return tnfctl_error_set(TNFCTL_ERR_BUFEXISTS, "process %d: it writes to %s%s",
	    (int)h->pid, h->trace_file ? h->trace_file : "a file", why);
}

/* Has the target open the file now, or tells the target where the file will be. */
static tnfctl_errcode_t
buffer_bring(tnfctl_handle_t *h, int fd, const struct place *p, unsigned int bytes)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	bool taken = false;

	if (h->ops->take_file != NULL)
		err = h->ops->take_file(h, fd, p->path, bytes, &taken);
	if (err == TNFCTL_ERR_NONE && !taken &&
	    h->proc_state != TNF_PROC_NO_BUFFER)
		return keeps_file(h, ", and cannot be called to open another");
	if (err == TNFCTL_ERR_NONE && !taken) {
		if ((err = same_directory(h, p)) == TNFCTL_ERR_NONE)
			err = tnfctl_buffer_give(h, fd, p->path);
		if (err == TNFCTL_ERR_NONE && !buffer_tell(h, p->path, bytes))
			err = tnfctl_error_lost(h, "its memory cannot be written");
	}
	if (err == TNFCTL_ERR_NONE)
		h->proc_state = taken ? TNF_PROC_RUNNING : TNF_PROC_READY;
	return err;
}

void
tnfctl_buffer_drop_replaced(tnfctl_handle_t *h)
{
	if (h->replaced >= 0)
		close(h->replaced);
	h->replaced = -1;
}

/* Holds the file whose name the new one gets.  The kernel frees a file's blocks when nobody holds
   the file any more, which takes as long as it took to reserve them: that can be done when the target
   runs again. */
static void
hold_replaced(tnfctl_handle_t *h, const struct place *p)
{
	tnfctl_buffer_drop_replaced(h);
	h->replaced = openat(p->dir, p->base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static tnfctl_errcode_t
create_and_bring(tnfctl_handle_t *h, struct place *p, unsigned int bytes)
{
	tnfctl_errcode_t err = may_replace(p);
	autoclose int fd = -1;
	int error;

	if (err != TNFCTL_ERR_NONE)
		return err;
	hold_replaced(h, p);
	if ((error = buffer_create_file(p, bytes, h->fill, &fd)) != 0)
		return cannot_create(error, p->path, bytes);
	err = buffer_bring(h, fd, p, bytes);
	if (err != TNFCTL_ERR_NONE) {
		unlinkat(p->dir, p->base, 0);
		return err;
	}
	free(h->trace_file);
	free(h->given);
	h->trace_file = strdup(p->path);
	h->given = strdup(p->path);
	h->trace_size = h->given_size = bytes;
	return TNFCTL_ERR_NONE;
}

/* Refuses the file that the target has: it would be lost if the target could not open the new
   one. */
static tnfctl_errcode_t
refuse_same_file(tnfctl_handle_t *h, const struct place *p)
{
	struct stat old, new;

	if (h->proc_state == TNF_PROC_NO_BUFFER || h->trace_file == NULL ||
	    stat(h->trace_file, &old) < 0 ||
	    fstatat(p->dir, p->base, &new, 0) < 0 ||
	    old.st_dev != new.st_dev || old.st_ino != new.st_ino)
		return TNFCTL_ERR_NONE;
	return keeps_file(h, " already: choose another name");
}

static tnfctl_errcode_t
buffer_make(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	struct place place = { .dir = -1 };
	tnfctl_errcode_t err;

	if (h->gone)
		return tnfctl_error_ended(h);
	if (bytes < h->trace_min)
		return tnfctl_error_set(TNFCTL_ERR_SIZETOOSMALL,
		    "trace file: %u bytes: the least is %zu", bytes,
		    h->trace_min);
	if (bytes > SIZE_MAX_)
		return tnfctl_error_set(TNFCTL_ERR_SIZETOOBIG,
		    "trace file: %u bytes: the most is %u", bytes, SIZE_MAX_);
	if ((err = make_absolute(file, &place)) != TNFCTL_ERR_NONE ||
	    (err = open_directory(&place, bytes)) != TNFCTL_ERR_NONE)
		return err;
	if ((err = refuse_same_file(h, &place)) == TNFCTL_ERR_NONE)
		err = create_and_bring(h, &place, bytes);
	close(place.dir);
	return err;
}

tnfctl_errcode_t
tnfctl_buffer_create(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	if (!h->gone && h->proc_state != TNF_PROC_NO_BUFFER)
		return keeps_file(h, "");
	return buffer_make(h, file, bytes);
}

tnfctl_errcode_t
tnfctl_buffer_keep(tnfctl_handle_t *h, const char *path, size_t bytes)
{
	char *copy = strdup(path);

	if (copy == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (!buffer_tell(h, path, bytes)) {
		free(copy);
		return tnfctl_error_lost(h, "its memory cannot be written");
	}
	free(h->trace_file);
	h->trace_file = copy;
	h->trace_size = bytes;
	h->proc_state = TNF_PROC_READY;
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_buffer_exchange(tnfctl_handle_t *h, const char *file,
    unsigned int bytes)
{
	if (h->pid == 0)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "the kernel has no trace file");
	return buffer_make(h, file, bytes);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_buffer_fill_set(tnfctl_handle_t *h, boolean_t fill)
{
	h->fill = fill;
	return TNFCTL_ERR_NONE;
}
