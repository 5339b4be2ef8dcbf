/*
 * pins.c - makes, searches and removes the directory of our pins.
 */
#include <sys/mount.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "kernel-probes/handle.h"

static bool
is_bpffs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == BPF_FS_MAGIC;
}

int
kp_pins_mount(struct kp *kp)
{
	int r;

	if (is_bpffs(KP_BPFFS))
		return 0;
	if (mount("bpf", KP_BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    "mode=0700") == -1) {
		r = -errno;
		return kp_fail(kp, r, KP_BPFFS ": no bpf file system, and mounting "
		    "one failed: %s: mount -t bpf -o mode=0700 bpf " KP_BPFFS " as root",
		    strerror(-r));
	}
	kp_fail(kp, 0, KP_BPFFS ": the bpf file system was not mounted: it is now");
	return 0;
}

/*
 * Root follows what lies in our directory: programs it attaches, pins that it
 * removes.  So no other user may be able to put anything there, or to
 * exchange the directory itself.
 */
static int
pins_owned(struct kp *kp, const char *path, const struct stat *st)
{
	if (!S_ISDIR(st->st_mode))
		return kp_fail(kp, -EPERM, "%s: not a directory: remove it", path);
	if (st->st_uid == 0 || st->st_uid == geteuid())
		return 0;
	return kp_fail(kp, -EPERM, "%s: belongs to user %u, who could remove or "
	    "replace our pins: remove it", path, (unsigned)st->st_uid);
}

static int
pins_parent(struct kp *kp)
{
	struct stat st;
	int r;

	if (lstat(KP_BPFFS, &st) == -1)
		return kp_refused(kp, -errno, KP_BPFFS);
	if ((r = pins_owned(kp, KP_BPFFS, &st)) < 0)
		return r;
	if (st.st_mode & S_IWOTH && !(st.st_mode & S_ISVTX))
		return kp_fail(kp, -EPERM, KP_BPFFS ": others may write there: "
		    "chmod 0700 " KP_BPFFS);
	return 0;
}

/* Opens the directory of our pins if it can be believed; returns a descriptor. */
int
kp_pins_open(struct kp *kp)
{
	struct stat st;
	int fd, r;

	if ((r = pins_parent(kp)) < 0)
		return r;
	fd = open(KP_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 && (errno == ELOOP || errno == ENOTDIR))
		return kp_fail(kp, -EPERM, KP_DIR ": not a directory: remove it");
	if (fd == -1)
		return errno == ENOENT ? -ENOENT : kp_refused(kp, -errno, KP_DIR);
	if (fstat(fd, &st) == -1)
		r = kp_fail(kp, -errno, KP_DIR ": %s", strerror(errno));
	else if ((r = pins_owned(kp, KP_DIR, &st)) == 0 &&
	    st.st_mode & (S_IWGRP | S_IWOTH))
		r = kp_fail(kp, -EPERM, KP_DIR ": others may write there: remove it");
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int
kp_pins_dir(struct kp *kp, const char *path)
{
	int r;

	if (mkdir(path, 0700) == -1 && errno != EEXIST) {
		r = -errno;
		return r == -EPERM || r == -EACCES ? kp_refused(kp, r, path) :
		    kp_fail(kp, r, "%s: cannot make the directory: %s", path,
		    strerror(-r));
	}
	return 0;
}

bool
kp_pinned(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

int
kp_pin(struct kp *kp, int fd, const char *path)
{
	int r = bpf_obj_pin(fd, path);

	return r < 0 ? kp_refused(kp, r, path) : 0;
}

int
kp_pin_programs(struct kp *kp, const struct bpf_object *obj)
{
	struct bpf_program *p;
	char path[PATH_MAX];
	int r;

	bpf_object__for_each_program(p, obj) {
		if (!bpf_program__autoload(p))
			continue;
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", bpf_program__name(p));
		unlink(path);
		if ((r = kp_pin(kp, bpf_program__fd(p), path)) < 0)
			return r;
	}
	return 0;
}

int
kp_map_open(const char *path, uint32_t key_size, uint32_t value_size)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;
	int fd = bpf_obj_get(path);

	if (fd < 0 || (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	    info.key_size == key_size && info.value_size == value_size))
		return fd;
	close(fd);
	return -EPROTO;
}

void
kp_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Follows no link, and removes nothing that lies deeper than we make pins. */
static void
pins_empty(DIR *d)
{
	struct dirent *e;

	while ((e = directory_next(d)) != NULL)
		if (unlinkat(dirfd(d), e->d_name, 0) == -1)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
}

/* Removes the pins in one of our directories, or a file that is there instead of it. */
void
kp_pins_remove(struct kp *kp, const char *name)
{
	autoclosedir DIR *d = directory_open(kp->lock, name);

	if (d == NULL) {
		unlinkat(kp->lock, name, 0);
		return;
	}
	pins_empty(d);
}

/* Removes everything in the directory that we hold the lock on. */
void
kp_pins_remove_all(struct kp *kp)
{
	autoclosedir DIR *d = directory_open(kp->lock, ".");
	struct dirent *e;

	while (d != NULL && (e = directory_next(d)) != NULL) {
		kp_pins_remove(kp, e->d_name);
		unlinkat(kp->lock, e->d_name, AT_REMOVEDIR);
	}
}
