/*
 * whole.c - a file that appears under its name whole, or not at all.
 */
#include <sys/random.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/whole.h"

#define NAME_TRIES	100

static void
whole_temp_name(struct whole *w)
{
	unsigned long r;

	if (getrandom(&r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r)
		r = (unsigned long)getpid();
	snprintf(w->temp, sizeof w->temp, ".tnf.%016lx", r);
}

static int
whole_open_named(struct whole *w)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		whole_temp_name(w);
		w->fd = openat(w->dir, w->temp, O_RDWR | O_CREAT | O_EXCL |
		    O_NOFOLLOW | O_CLOEXEC, 0600);
		if (w->fd >= 0)
			return 0;
		w->temp[0] = '\0';
		if (errno != EEXIST)
			break;
	}
	return errno;
}

int
tnf_whole_open(struct whole *w, int dir, const char *name)
{
	*w = (struct whole){ .dir = dir, .name = name };
	w->fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (w->fd >= 0)
		return 0;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL ?
	    whole_open_named(w) : errno;
}

/* Gives the nameless file 'name'; without /proc that takes a capability. */
static int
whole_link_as(const struct whole *w, const char *name)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", w->fd);
	if (linkat(AT_FDCWD, path, w->dir, name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno == ENOENT &&
	    linkat(w->fd, "", w->dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	return errno;
}

static int
whole_name(struct whole *w)
{
	int e;

	if (w->temp[0] == '\0') {
		e = whole_link_as(w, w->name);
		if (e != EEXIST)
			return e;
		for (int i = 0; i < NAME_TRIES && e == EEXIST; i++) {
			whole_temp_name(w);
			e = whole_link_as(w, w->temp);
			if (e != 0)
				w->temp[0] = '\0';
		}
		if (e != 0)
			return e;
	}
	if (renameat(w->dir, w->temp, w->dir, w->name) != 0)
		return errno;
	w->temp[0] = '\0';
	return 0;
}

int
tnf_whole_commit(struct whole *w)
{
	int e = whole_name(w);

	tnf_whole_discard(w);
	return e;
}

void
tnf_whole_discard(struct whole *w)
{
	int e = errno;

	if (w->temp[0] != '\0')
		unlinkat(w->dir, w->temp, 0);
	w->temp[0] = '\0';
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	errno = e;
}
