/*
 * pins.c - the directory of our pins: made, looked through, removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "handle.h"

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
		    "one failed: %s: mount -t bpf bpf " KP_BPFFS " as root",
		    strerror(-r));
	}
	kp_fail(kp, 0, KP_BPFFS ": the bpf file system was not mounted: it is now");
	return 0;
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

static bool
is_directory(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Everything in a directory of the bpffs, directories of pins included. */
void
kp_pins_remove(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!is_directory(dirfd(d), e->d_name)) {
			unlinkat(dirfd(d), e->d_name, 0);
			continue;
		}
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (strcmp(dir, KP_DIR) == 0)	/* no deeper than we made them */
			kp_pins_remove(path);
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}
