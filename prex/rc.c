/*
 * rc.c - find the init files, and refuse what others may have written: a
 * .prexrc in a shared directory must not make us act for its owner.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prex/rc.h"
#include "prex/shell.h"
#include "prex/source.h"
#include "prex/util.h"

#define RC_FILE		".prexrc"
enum { MAX_LINKS = 8 };

static bool
rc_trusted(uid_t uid)
{
	return uid == geteuid() || uid == 0;
}

static void __attribute__((format(printf, 3, 4)))
rc_refuse(struct shell *sh, const char *path, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	shell_say(sh, "%s: not read: %s", path, text);
	free(text);
}

/* What the link at path points to, from the same directory; NULL: trouble. */
static char *
read_link(const char *path)
{
	char buf[PATH_MAX];
	ssize_t n = readlink(path, buf, sizeof buf - 1);
	const char *slash = strrchr(path, '/');

	if (n < 0)
		return NULL;
	buf[n] = '\0';
	if (buf[0] == '/' || slash == NULL)
		return tnf_xstrdup(buf);
	return tnf_xasprintf("%.*s/%s", (int)(slash - path), path, buf);
}

/* Opens the file behind links of people we trust; -1: not, and said why unless
   there is no such file. */
static int
open_through_links(struct shell *sh, const char *path)
{
	char *at = tnf_xstrdup(path), *next;
	struct stat sb;
	int fd = -1, i;

	for (i = 0; i < MAX_LINKS && lstat(at, &sb) == 0 &&
	    S_ISLNK(sb.st_mode); i++) {
		if (!rc_trusted(sb.st_uid)) {
			rc_refuse(sh, path, "%s is a symbolic link of user %u: "
			    "remove it", at, (unsigned)sb.st_uid);
			free(at);
			return -1;
		}
		next = read_link(at);
		free(at);
		if ((at = next) == NULL)
			return -1;
	}
	/* Not blocking, should it be a pipe. */
	fd = open(at, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		shell_error(sh, ERROR_TARGET, "cannot open \"%s\": %s", path,
		    strerror(errno));
	free(at);
	return fd;
}

static bool
rc_acceptable(struct shell *sh, const char *path, const struct stat *sb)
{
	if (!S_ISREG(sb->st_mode))
		rc_refuse(sh, path, "not a regular file");
	else if (!rc_trusted(sb->st_uid))
		rc_refuse(sh, path, "it belongs to user %u: remove it, or make it "
		    "yours (chown)", (unsigned)sb->st_uid);
	else if (sb->st_mode & (S_IWGRP | S_IWOTH))
		rc_refuse(sh, path, "others may write to it: chmod go-w %s", path);
	else
		return true;
	return false;
}

static void
rc_push_checked(struct shell *sh, const char *path, struct stat *sb)
{
	int fd = open_through_links(sh, path);
	FILE *fp;

	memset(sb, 0, sizeof *sb);
	if (fd < 0)
		return;
	if (fstat(fd, sb) == 0 && rc_acceptable(sh, path, sb) &&
	    (fp = fdopen(fd, "r")) != NULL)
		source_push_stream(sh, fp, path);
	else
		close(fd);
}

void
rc_push(struct shell *sh)
{
	const char *home = getenv("HOME");
	struct stat here, there;
	char *path = NULL;

	/* Here may be home: then it is read once. */
	if (home != NULL && *home != '\0')
		path = tnf_xasprintf("%s/" RC_FILE, home);
	if (path == NULL || stat(RC_FILE, &here) < 0 || stat(path, &there) < 0 ||
	    here.st_dev != there.st_dev || here.st_ino != there.st_ino)
		rc_push_checked(sh, "./" RC_FILE, &here);
	if (path != NULL)
		rc_push_checked(sh, path, &there);
	free(path);
}
