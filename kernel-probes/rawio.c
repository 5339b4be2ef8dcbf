/*
 * rawio.c - does anybody have a block device open for unbuffered I/O?
 *
 * The physio probes hang on every system call.  Unless the setting "rawio"
 * asks for them in any case, they are attached only if they would see something.
 */
#include <sys/stat.h>

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/files.h"
#include "kernel-probes/handle.h"

/* Is a descriptor open with O_DIRECT, by /proc/PID/fdinfo/N?  'dir' is /proc/PID/fd. */
static bool
is_direct(int dir, const char *fd)
{
	char path[NAME_MAX + 16], text[256];
	unsigned flags;
	ssize_t n;
	int info;

	snprintf(path, sizeof path, "../fdinfo/%s", fd);
	info = openat(dir, path, O_RDONLY | O_CLOEXEC);
	n = info == -1 ? -1 : read(info, text, sizeof text - 1);
	if (info != -1)
		close(info);
	if (n < 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "pos: %*s flags: %o", &flags) == 1 && flags & O_DIRECT;
}

static bool
process_has_raw(int proc, const char *pid)
{
	char path[NAME_MAX + 16];
	struct dirent *e;
	struct stat st;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof path, "%s/fd", pid);
	if ((d = directory_open(proc, path)) == NULL)
		return false;
	while (!found && (e = readdir(d)) != NULL)
		found = isdigit((unsigned char)e->d_name[0]) &&
		    fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISBLK(st.st_mode) &&
		    is_direct(dirfd(d), e->d_name);
	closedir(d);
	return found;
}

bool
kp_raw_is_open(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	bool found = false;

	if (proc == NULL)
		return true;	/* who cannot be asked may do it */
	while (!found && (e = readdir(proc)) != NULL)
		found = isdigit((unsigned char)e->d_name[0]) &&
		    process_has_raw(dirfd(proc), e->d_name);
	closedir(proc);
	return found;
}
