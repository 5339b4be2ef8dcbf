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
	autoclose int info = -1;
	unsigned flags;
	ssize_t n;

	snprintf(path, sizeof path, "../fdinfo/%s", fd);
	if ((info = openat(dir, path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    (n = read(info, text, sizeof text - 1)) < 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "pos: %*s flags: %o", &flags) == 1 && flags & O_DIRECT;
}

static bool
process_has_raw(int proc, const char *pid)
{
	char path[NAME_MAX + 16];
	autoclosedir DIR *d = NULL;
	struct dirent *e;
	struct stat st;

	snprintf(path, sizeof path, "%s/fd", pid);
	if ((d = directory_open(proc, path)) == NULL)
		return false;
	while ((e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISBLK(st.st_mode) &&
		    is_direct(dirfd(d), e->d_name))
			return true;
	return false;
}

bool
kp_raw_is_open(void)
{
	autoclosedir DIR *proc = opendir("/proc");
	struct dirent *e;

	if (proc == NULL)
		return true;	/* who cannot be asked may do it */
	while ((e = readdir(proc)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    process_has_raw(dirfd(proc), e->d_name))
			return true;
	return false;
}
