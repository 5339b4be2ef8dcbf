/*
 * maps.c - what is mapped where in a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/maps.h"
#include "common/proc-status.h"

static bool
maps_parse(char *line, struct mapping *m)
{
	unsigned int major, minor;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64
	    " %x:%x %" SCNu64 "%n", &m->start, &m->end, perms, &m->offset,
	    &major, &minor, &m->inode, &at) != 7)
		return false;
	m->device = makedev(major, minor);
	m->exec = perms[2] == 'x';
	m->write = perms[1] == 'w';
	m->shared = perms[3] == 's';
	m->path = line + at + strspn(line + at, " ");
	return true;
}

static int
maps_split(struct maps *maps)
{
	char *line, *rest = maps->text;
	struct mapping *grown;
	size_t room = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (maps->n == room) {
			room = room ? room * 2 : 256;
			grown = realloc(maps->m, room * sizeof(*grown));
			if (grown == NULL)
				return ENOMEM;
			maps->m = grown;
		}
		if (maps_parse(line, &maps->m[maps->n]))
			maps->n++;
	}
	return 0;
}

int
tnf_maps_read(pid_t pid, struct maps *ret)
{
	char name[64];
	int fd, error;

	*ret = (struct maps){ 0 };
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		return errno;
	error = tnf_read_all(fd, &ret->text, NULL);
	close(fd);
	if (error == 0)
		error = maps_split(ret);
	if (error != 0)
		tnf_maps_free(ret);
	return error;
}

void
tnf_maps_free(struct maps *maps)
{
	free(maps->m);
	free(maps->text);
	*maps = (struct maps){ 0 };
}

const char *
tnf_mapping_file(const struct mapping *m, pid_t pid, char name[MAPPING_FILE_MAX])
{
	snprintf(name, MAPPING_FILE_MAX, "/proc/%d/map_files/%" PRIxPTR "-%" PRIxPTR,
	    (int)pid, m->start, m->end);
	return name;
}

bool
tnf_mapping_is_written(const struct mapping *m)
{
	return m->write && m->shared && m->path[0] == '/';
}

bool
tnf_maps_write_file(pid_t pid, const struct stat *file)
{
	char path[MAPPING_FILE_MAX];
	bool found = false;
	struct maps maps;
	struct stat st;

	if (tnf_maps_read(pid, &maps) != 0)
		return false;
	for (size_t i = 0; i < maps.n && !found; i++)
		found = tnf_mapping_is_written(&maps.m[i]) &&
		    stat(tnf_mapping_file(&maps.m[i], pid, path), &st) == 0 &&
		    st.st_ino == file->st_ino && st.st_dev == file->st_dev;
	tnf_maps_free(&maps);
	return found;
}

const struct mapping *
tnf_maps_find(const struct maps *maps, uintptr_t address)
{
	size_t low = 0, high = maps->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (address < maps->m[mid].start)
			high = mid;
		else if (address >= maps->m[mid].end)
			low = mid + 1;
		else
			return &maps->m[mid];
	}
	return NULL;
}

const struct mapping *
tnf_maps_file_start(const struct maps *maps, const struct mapping *m)
{
	for (const struct mapping *at = m; at >= maps->m; at--)
		if (at->inode == m->inode && at->device == m->device && at->offset == 0 &&
		    strcmp(at->path, m->path) == 0)
			return at;
	return NULL;
}
