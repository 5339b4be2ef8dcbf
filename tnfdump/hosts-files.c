/*
 * hosts-files.c - finds the trace files in a directory that stands for a machine.
 *
 * A directory written by "tnfwatch ask" holds trace files, perhaps in subdirectories, and a
 * file "clock".  Each line of "clock" is a word and its value ("host NAME", "offset NS",
 * "error NS"); unknown words are ignored.
 */
#include <dirent.h>

#include "tnfdump/hosts.h"

#define DEPTH_MAX	4
#define NOTE_MAX	4096

static bool
host_is_trace(const char *name)
{
	size_t n = strlen(name);

	return *name != '.' && ((n > 4 && strcmp(name + n - 4, ".tnf") == 0) ||
	    (n > 8 && strcmp(name + n - 8, ".tnf.zst") == 0));
}

static int
host_not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

struct host_found {
	char	***list;
	unsigned **place_of;
	size_t	*n;
	unsigned place;
};

static void
host_add(const struct host_found *f, char *path)
{
	*f->list = tnf_xreallocarray(*f->list, *f->n + 2, sizeof(char *));
	*f->place_of = tnf_xreallocarray(*f->place_of, *f->n + 1, sizeof(unsigned));
	(*f->list)[*f->n] = path;
	(*f->place_of)[(*f->n)++] = f->place;
	(*f->list)[*f->n] = NULL;
}

/* A subdirectory belongs to another machine if it has a file "clock" of its own.  So do the
   directories in "hosts" of an incident: its trigger asked other machines for them. */
static bool
host_is_another(const char *path, const char *name)
{
	char *clock = tnf_xasprintf("%s/clock", path);
	struct stat st;
	bool another = strcmp(name, "hosts") == 0 || lstat(clock, &st) == 0;

	free(clock);
	return another;
}

/* Walks in the order of the names, so that each run gives the same output. */
static bool
host_walk(const struct host_found *f, const char *path, unsigned depth)
{
	struct dirent **e;
	struct stat st;
	int n = scandir(path, &e, host_not_hidden, alphasort);

	if (n < 0)
		return false;
	for (int i = 0; i < n; i++) {
		char *below = tnf_xasprintf("%s/%s", path, e[i]->d_name);

		if (lstat(below, &st) != 0)
			st.st_mode = 0;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX &&
		    !host_is_another(below, e[i]->d_name))
			host_walk(f, below, depth + 1);
		if (S_ISREG(st.st_mode) && host_is_trace(e[i]->d_name)) {
			host_add(f, below);
			below = NULL;
		}
		free(below);
		free(e[i]);
	}
	free(e);
	return true;
}

static void
host_files(struct dump *d, const char *path, unsigned place, char ***list,
    unsigned **place_of, size_t *n)
{
	struct host_found f = { list, place_of, n, place };
	size_t before = *n;
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		host_add(&f, tnf_xstrdup(path));
		return;
	}
	if (!host_walk(&f, path, 0))
		dump_error(d, "cannot open %s: %s", path, strerror(errno));
	else if (*n == before)
		dump_error(d, "%s: holds no trace file (*.tnf, *.tnf.zst)", path);
}

static void
host_note_read(struct dump *d, const char *directory, struct host_note *note)
{
	char *path = tnf_xasprintf("%s/clock", directory), line[512], *end;
	FILE *f = fopen(path, "re");
	bool offset = false, error = false;

	free(path);
	if (f == NULL)
		return;
	for (unsigned i = 0; i < NOTE_MAX && fgets(line, sizeof line, f) != NULL; i++) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "host ", 5) == 0 && line[5] != '\0' && note->name == NULL) {
			note->name = tnf_xstrdup(line + 5);
			continue;
		}
		if (strncmp(line, "offset ", 7) != 0 && strncmp(line, "error ", 6) != 0)
			continue;
		errno = 0;
		int64_t v = strtoll(strchr(line, ' ') + 1, &end, 10);
		if (errno != 0 || *end != '\0' || v < -HOSTS_CLOCK_MAX ||
		    v > HOSTS_CLOCK_MAX) {
			dump_error(d, "%s/clock: %s: is no number of ns", directory, line);
			continue;
		}
		if (*line == 'o') {
			note->offset = v;
			offset = true;
		} else {
			note->error = v < 0 ? -v : v;
			error = true;
		}
	}
	fclose(f);
	note->measured = offset && error;
}

char **
hosts_paths(struct dump *d, char **paths)
{
	struct hosts *h = d->hosts;
	size_t n = 0;

	h->paths = tnf_xcalloc(1, sizeof(char *));
	for (; *paths != NULL; paths++) {
		size_t before = n;
		unsigned place = h->n_places++;
		size_t len = strlen(*paths);

		h->places = tnf_xreallocarray(h->places, h->n_places, sizeof(*h->places));
		h->places[place] = (struct host_place){ 0 };
		host_files(d, *paths, place, &h->paths, &h->place_of, &n);
		if (n == before || strcmp(h->paths[before], *paths) == 0)
			continue;
		while (len > 1 && (*paths)[len - 1] == '/')
			len--;
		h->places[place].path = tnf_xstrndup(*paths, len);
		host_note_read(d, h->places[place].path, &h->places[place].note);
	}
	return h->paths;
}
