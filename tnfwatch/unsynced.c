/*
 * unsynced.c - incidents that have their name, and may not be on the disk yet.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/directory.h"
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/unsynced.h"
#include "tnfwatch/util.h"

#define NOTE	".unsynced"

/* Calls fn() for each file of the directory whose name has no dot in front, until it
   returns an errno. */
static int
each_file(int dir, int (*fn)(int dir, const char *name, void *arg), void *arg)
{
	DIR *list = directory_open(dir, ".");
	struct dirent *d;
	int e = 0;

	if (list == NULL)
		return errno;
	while (e == 0 && (d = readdir(list)) != NULL)
		if (d->d_name[0] != '.')
			e = fn(dir, d->d_name, arg);
	closedir(list);
	return e;
}

static int
note_size(int dir, const char *name, void *arg)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno;
	fprintf(arg, "%lld %s\n", (long long)st.st_size, name);
	return 0;
}

int
unsynced_note(int dir)
{
	int fd = openat(dir, NOTE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), e;
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (f == NULL)
		return errno;
	fprintf(f, "%s\n", boot_id());
	e = each_file(dir, note_size, f);
	if ((fflush(f) != 0 || ferror(f)) && e == 0)
		e = errno != 0 ? errno : EIO;
	if (fclose(f) != 0 && e == 0)
		e = errno;
	return e;
}

static int
sync_file(int dir, const char *name, void *arg)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), e = 0;

	if (fd < 0)
		return errno;
	if (fsync(fd) != 0)
		e = errno;
	close(fd);
	return e;
}

int
unsynced_sync(int dir, int all)
{
	int e = each_file(dir, sync_file, NULL);

	/* The names are on the disk before the note goes. */
	if (e == 0 && (fsync(dir) != 0 || fsync(all) != 0))
		e = errno;
	if (e == 0 && unlinkat(dir, NOTE, 0) != 0 && errno != ENOENT)
		e = errno;
	return e;
}

/* Each file that the note names has its whole size, and there is one. */
static bool
has_all(int dir, FILE *note)
{
	char line[4096];
	struct stat st;
	long long size;
	int at, n = 0;

	while (fgets(line, sizeof line, note) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%lld %n", &size, &at) != 1 ||
		    fstatat(dir, line + at, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    st.st_size != size)
			return false;
		n++;
	}
	return n > 0;
}

/* Of this boot: what was written is there, be it on the disk or not. */
static bool
is_whole(int dir)
{
	int fd = openat(dir, NOTE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *note = fd >= 0 ? fdopen(fd, "r") : NULL;
	char boot[64];

	if (note == NULL)
		return false;
	bool is = fgets(boot, sizeof boot, note) != NULL;
	boot[is ? strcspn(boot, "\n") : 0] = '\0';
	is = is && (strcmp(boot, boot_id()) == 0 || has_all(dir, note));
	fclose(note);
	return is;
}

static void
clean_one(const struct config *c, const char *id, int all)
{
	int dir = openat(all, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e = 0;

	/* One whose writer lives is synced by that one. */
	if (dir >= 0 && faccessat(dir, NOTE, F_OK, 0) == 0 && flock(dir, LOCK_EX | LOCK_NB) == 0) {
		if (!is_whole(dir)) {
			say("%s: lost: the machine went down before it was on the disk", id);
			e = incident_remove(c, id);
		} else
			e = unsynced_sync(dir, all);
		if (e != 0)
			say("%s: %s", id, strerror(e));
	}
	if (dir >= 0)
		close(dir);
}

void
unsynced_clean(const struct config *c)
{
	char *path = tnf_xasprintf("%s/incidents", c->directory), **list;
	int all = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = incident_list(c, &list);

	for (size_t i = 0; i < n; i++) {
		if (all >= 0)
			clean_one(c, list[i], all);
		free(list[i]);
	}
	if (all >= 0)
		close(all);
	free(list);
	free(path);
}
