/*
 * fleet-kept.c - what a question has kept: its note, and which files belong to it.
 *
 * A question is a file DIRECTORY/fleet/QUESTION with the answer in it, what was cut out
 * for it a directory beside that.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/fleet-agent.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/util.h"

#define RECORD_YOUNG	(3600 * SECOND)	/* its incident may still be written */

static char *
agent_record_path(const struct agent *a, const char *question)
{
	return tnf_xasprintf("%s/%s", a->directory, question);
}

bool
agent_record_read(const struct agent *a, const char *question, struct fleet_message *m)
{
	char *path = agent_record_path(a, question), *text = read_text(path, FLEET_HEAD_MAX);
	bool good = text != NULL && fleet_decode(text, strlen(text), m, NULL);

	free(text);
	free(path);
	return good;
}

bool
agent_record_write(const struct agent *a, const struct fleet_message *m)
{
	char *path = agent_record_path(a, m->question),
	    *temp = tnf_xasprintf("%s/.new", a->directory);
	size_t size;
	void *text = fleet_encode(m, &size);
	FILE *f = text != NULL ? fopen(temp, "we") : NULL;
	bool good = f != NULL && fwrite(text, 1, size, f) == size;

	if (f != NULL && fclose(f) != 0)
		good = false;
	good = good && rename(temp, path) == 0;
	if (!good)
		say("%s: %s", path, strerror(errno));
	free(text);
	free(temp);
	free(path);
	return good;
}

static bool
sync_path(const char *path, int flags)
{
	int fd = open(path, flags | O_RDONLY | O_CLOEXEC), e;

	if (fd < 0)
		return false;
	e = fsync(fd) == 0 ? 0 : errno;
	close(fd);
	errno = e;
	return e == 0;
}

void
agent_record_sync(const struct agent *a, const char *question)
{
	char *path = agent_record_path(a, question);

	/* The name is in the directory. */
	if (!sync_path(path, 0) || !sync_path(a->directory, O_DIRECTORY))
		say("%s: not on the disk: %s", path, strerror(errno));
	free(path);
}

/* Files that are there anyway do not go like incidents: their questions go by age. */
static bool
agent_is_over(const struct agent *a, const struct fleet_message *record, int64_t age)
{
	if (strcmp(record->incident, AGENT_RECORDED) == 0)
		return age > FLEET_FORGET;
	char *path = incident_path(a->c, record->incident);
	bool gone = access(path, F_OK) != 0;
	free(path);
	return gone;
}

void
agent_clean(const struct agent *a)
{
	struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	DIR *dir = opendir(a->directory);
	const struct dirent *e;
	struct stat st;
	int64_t age;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		/* An incident gets its name only when it is complete. */
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    (age = now_wall() - (int64_t)st.st_mtim.tv_sec * SECOND) < RECORD_YOUNG)
			continue;
		if (!fleet_name_is_good(e->d_name) || strstr(e->d_name, ".slice") != NULL)
			continue;
		/* The machine may have gone down before the disk had the note. */
		if (agent_record_read(a, e->d_name, m) ? !agent_is_over(a, m, age) :
		    age <= FLEET_FORGET)
			continue;
		char *slice = tnf_xasprintf("%s.slice", e->d_name);
		remove_all(dirfd(dir), slice);
		unlinkat(dirfd(dir), e->d_name, 0);
		free(slice);
	}
	if (dir != NULL)
		closedir(dir);
	free(m);
}

/* The slice that was made first; the caller frees; NULL: there is none. */
static char *
agent_oldest_slice(const struct agent *a, uint64_t *all)
{
	DIR *dir = opendir(a->directory);
	const struct dirent *e;
	struct stat st;
	char *oldest = NULL;
	int64_t time = INT64_MAX;

	*all = 0;
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (!fleet_name_is_good(e->d_name) || strstr(e->d_name, ".slice") == NULL ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		*all += disk_usage(dirfd(dir), e->d_name);
		if (st.st_mtim.tv_sec < time) {
			time = st.st_mtim.tv_sec;
			free(oldest);
			oldest = tnf_xstrdup(e->d_name);
		}
	}
	if (dir != NULL)
		closedir(dir);
	return oldest;
}

void
agent_slices_trim(const struct agent *a, uint64_t max)
{
	char *oldest, *path;
	uint64_t all;
	int e = 0;

	while (e == 0 && (oldest = agent_oldest_slice(a, &all)) != NULL) {
		path = tnf_xasprintf("%s/%s", a->directory, oldest);
		e = all > max ? remove_all(AT_FDCWD, path) : -1;
		free(path);
		free(oldest);
	}
}

bool
agent_wants_slice(const struct fleet_message *record)
{
	return *record->where != '\0' || record->last != 0;
}

bool
agent_gives(const struct agent *a, const struct fleet_message *record)
{
	return strcmp(record->incident, AGENT_RECORDED) != 0 || a->c->fleet.recorded != NULL;
}

char *
agent_place(const struct agent *a, const struct fleet_message *record)
{
	if (agent_wants_slice(record))
		return tnf_xasprintf("%s/%s.slice", a->directory, record->question);
	if (strcmp(record->incident, AGENT_RECORDED) == 0)
		return tnf_xstrdup(a->c->fleet.recorded);
	return incident_path(a->c, record->incident);
}

bool
agent_is_trace(const char *name)
{
	size_t n = strlen(name);

	return fleet_name_is_good(name) && ((n > 4 && strcmp(name + n - 4, ".tnf") == 0) ||
	    (n > 8 && strcmp(name + n - 8, ".tnf.zst") == 0));
}

bool
agent_list(const char *path, struct fleet_message *m)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	struct stat st;
	unsigned left = 0;

	m->n_files = 0;
	if (dir == NULL) {
		snprintf(m->why, sizeof m->why, "its files cannot be listed: %s", strerror(errno));
		return false;
	}
	while ((e = readdir(dir)) != NULL) {
		if (!agent_is_trace(e->d_name) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (m->n_files == FLEET_FILES) {
			left++;
			continue;
		}
		strcpy(m->files[m->n_files].name, e->d_name);
		m->files[m->n_files++].size = st.st_size;
	}
	closedir(dir);
	if (left > 0)
		snprintf(m->why, sizeof m->why, "without %u of its files: one answer has at most %d",
		    left, FLEET_FILES);
	return true;
}
