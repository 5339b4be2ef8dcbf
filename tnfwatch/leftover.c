/*
 * leftover.c - handles rings and segments that an earlier tnfwatch has left, in this boot of the
 * machine or in another.
 *
 * While tnfwatch runs, the file segments/boot has the id of the boot.  A tnfwatch that ends in
 * order removes the file; if the file has the id of another boot, the machine went down.
 */
#include "analysis/json.h"
#include "common/proc.h"
#include "format/core.h"
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/source.h"
#include "tnfwatch/watch.h"

#define BEGUN	".trace-"	/* of a file that libtnfctl or libtnfprobe is still making */
#define BOOT	"%s/segments/boot"
#define CRASH	"crash"		/* stands for the trigger in the incident's name */

/* The id of the boot in which a tnfwatch ran that did not end in order; NULL: there is none. */
static char *
boot_of_before(const struct config *c)
{
	char *text = path_text(64, BOOT, c->directory);

	if (text != NULL)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

static void
boot_note(const struct config *c)
{
	autofree char *path = tnf_xasprintf(BOOT, c->directory);
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || dprintf(fd, "%s\n", boot_id()) < 0 || fsync(fd) != 0)
		say("%s: %s", path, strerror(errno));
}

/* Reads the extension of a trace file; false: the file cannot be opened, has no extension, or is
   still without events. */
static bool
ext_read(const char *path, struct tnf_ext *ext)
{
	struct stat st;
	autoclose int fd = tnf_open_regular(path, O_RDONLY, &st);

	return fd >= 0 && pread(fd, ext, sizeof *ext, TNF_EXT_OFFSET) == sizeof *ext &&
	    ext->magic == TNF_EXT_MAGIC;
}

static bool
is_of_this_boot(const struct tnf_ext *ext)
{
	uint8_t id[TNF_BOOT_ID_SIZE];

	return !tnf_boot_id(id) || memcmp(id, ext->boot_id, sizeof id) == 0;
}

/* The names in a directory that end with 'suffix'; the caller frees all (names_free()). */
static size_t
names_in(const char *directory, const char *suffix, char ***ret)
{
	struct dirent **found = NULL;
	int n = scandir(directory, &found, NULL, alphasort);
	size_t m = 0, len;

	*ret = tnf_xcalloc(n > 0 ? (size_t)n + 1 : 1, sizeof **ret);
	for (int i = 0; i < n; i++) {
		len = strlen(found[i]->d_name);
		if (len > strlen(suffix) && found[i]->d_name[0] != '.' &&
		    strcmp(found[i]->d_name + len - strlen(suffix), suffix) == 0)
			(*ret)[m++] = tnf_xstrdup(found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return m;
}

/* The state of crash_keep() while it makes the incident of a machine that went down. */
struct crash {
	const struct config *c;
	const char *boot;
	char	*id, *temp;	/* the temporary directory's path */
	char	**files;
	size_t	 n_files;
	int64_t	 last;		/* ns since 1970: when something was written last */
};

static void
crash_take(struct crash *x, const char *path, const char *name)
{
	autofree char *to = tnf_xasprintf("%s/%s", x->temp, name);
	struct stat st;

	if (stat(path, &st) == 0 && (int64_t)st.st_mtim.tv_sec * SECOND > x->last)
		x->last = (int64_t)st.st_mtim.tv_sec * SECOND;
	if (rename(path, to) == 0) {
		x->files = tnf_xreallocarray(x->files, x->n_files + 1, sizeof *x->files);
		x->files[x->n_files++] = tnf_xstrdup(name);
	} else
		say("%s: %s", path, strerror(errno));
}

/* True if the segment has blocks of this ring: "shop-4711.000001.tnf.zst" is of "shop-4711.tnf", not of
   "shop-4711.2.tnf". */
static bool
is_segment_of(const char *segment, const char *ring)
{
	size_t n = strlen(ring) - strlen("tnf");

	return strncmp(segment, ring, n) == 0 &&
	    strcmp(segment + n + strspn(segment + n, "0123456789"), ".tnf.zst") == 0;
}

/* Zeros the blocks of the ring that are in a segment, so that each event is in one file. */
static void
crash_blank(const struct crash *x, const char *ring, char **segments, size_t n)
{
	autoclose int fd = path_open(O_RDWR | O_NOFOLLOW, "%s/%s", x->c->rings, ring);

	for (size_t i = 0; fd >= 0 && i < n; i++)
		if (is_segment_of(segments[i], ring)) {
			autofree char *segment = tnf_xasprintf("%s/segments/%s", x->c->directory,
			    segments[i]);
			segment_blank(segment, fd);
		}
}

static void
crash_rings(struct crash *x, char **segments, size_t n_segments)
{
	struct tnf_ext ext;
	char **rings, *path;
	size_t n = names_in(x->c->rings, ".tnf", &rings);

	for (size_t i = 0; i < n; i++) {
		path = tnf_xasprintf("%s/%s", x->c->rings, rings[i]);
		if (ext_read(path, &ext) && !is_of_this_boot(&ext)) {
			crash_blank(x, rings[i], segments, n_segments);
			crash_take(x, path, rings[i]);
		}
		free(path);
	}
	names_free(rings, n);
}

static void
crash_json(const struct crash *x)
{
	autoclose int fd = path_open(O_WRONLY | O_CREAT | O_TRUNC, "%s/incident.json", x->temp);
	struct out o;

	if (fd >= 0 && tnf_out_init(&o, fd) == 0) {
		tnf_out_format(&o, "{\n  \"version\": 1,\n  \"number\": %" PRIu64 ",\n  \"id\": ",
		    incident_numbers(x->c) + 1);
		json_name(&o, x->id);
		out_lit(&o, ",\n  \"trigger\": {\"name\": \"" CRASH "\", \"when\": null},\n  \"wall\": ");
		json_wall(&o, x->last);
		out_lit(&o, ",\n  \"reason\": \"the machine went down while it was watched\",\n"
		    "  \"sources\": [{\"name\": \"all\", \"files\": [");
		for (size_t i = 0; i < x->n_files; i++) {
			out_str(&o, i > 0 ? ", " : "");
			json_name(&o, x->files[i]);
		}
		out_lit(&o, "]}],\n  \"boot\": ");
		json_name(&o, x->boot);
		out_lit(&o, "\n}\n");
		tnf_out_close(&o);
		fsync(fd);
	}
}

static void
crash_keep(const struct config *c, const char *boot)
{
	autofree char *incidents = tnf_xasprintf("%s/incidents", c->directory);
	char *path, **segments;
	autofree char *where = tnf_xasprintf("%s/segments", c->directory);
	struct crash x = { .c = c, .boot = boot };
	size_t n = names_in(where, ".tnf.zst", &segments);

	x.temp = tnf_xasprintf("%s/" INCIDENT_TEMP CRASH, incidents);
	if (mkdir(x.temp, 0700) != 0)
		say("%s: %s", x.temp, strerror(errno));
	crash_rings(&x, segments, n);
	for (size_t i = 0; i < n; i++) {
		path = tnf_xasprintf("%s/%s", where, segments[i]);
		crash_take(&x, path, segments[i]);
		free(path);
	}
	x.id = incident_name(c, CRASH, x.last, NULL, NULL);
	crash_json(&x);
	path = incident_path(c, x.id);
	if (x.n_files == 0)
		remove_all(AT_FDCWD, x.temp);
	else if (rename(x.temp, path) == 0)
		say("%s: kept: the machine went down while it was watched", path);
	else
		say("%s: %s", path, strerror(errno));
	names_free(x.files, x.n_files);
	names_free(segments, n);
	free(path);
	free(x.temp);
	free(x.id);
}

static int
is_begun(const struct dirent *d)
{
	return strncmp(d->d_name, BEGUN, strlen(BEGUN)) == 0;
}

/* Removes rings that were never given their name, because their maker was killed.  The kernel grants
   a lease only if nobody else has the file open: then nobody is making this ring now. */
static void
remove_begun(const struct config *c)
{
	struct dirent **found = NULL;
	int n = scandir(c->rings, &found, is_begun, alphasort);

	for (int i = 0; i < n; i++) {
		autoclose int fd = path_open(O_RDWR | O_NOFOLLOW | O_NONBLOCK, "%s/%s", c->rings,
		    found[i]->d_name);
		if (fd >= 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
			path_unlink("%s/%s", c->rings, found[i]->d_name);
		free(found[i]);
	}
	free(found);
}

/* Removes rings of another boot, and all segments: a new tnfwatch cannot continue them. */
static void
remove_rest(const struct config *c)
{
	char *where = tnf_xasprintf("%s/segments", c->directory), **names;
	size_t n = names_in(where, "", &names);
	struct tnf_ext ext;

	for (size_t i = 0; i < n; i++)
		path_unlink("%s/%s", where, names[i]);
	names_free(names, n);
	free(where);
	n = names_in(c->rings, ".tnf", &names);
	for (size_t i = 0; i < n; i++) {
		autofree char *path = tnf_xasprintf("%s/%s", c->rings, names[i]);
		if (ext_read(path, &ext) && !is_of_this_boot(&ext))
			unlink(path);
	}
	names_free(names, n);
	remove_begun(c);
}

void
leftover_begin(const struct config *c)
{
	char *before = boot_of_before(c);

	if (before != NULL && *boot_id() != '\0' && strcmp(before, boot_id()) != 0)
		crash_keep(c, before);
	free(before);
	remove_rest(c);
	boot_note(c);
}

void
leftover_end(const struct config *c)
{
	path_unlink(BOOT, c->directory);
}

/* True if the process has this file mapped. */
static bool
is_mapped(pid_t pid, const char *path)
{
	struct maps maps;
	bool found = false;

	if (tnf_maps_read(pid, &maps) != 0)
		return false;
	for (size_t i = 0; !found && i < maps.n; i++)
		found = strstr(maps.m[i].path, path) != NULL;
	tnf_maps_free(&maps);
	return found;
}

/* True if the pid belongs to another process by now: to one that began later than the ring (a second
   is tolerated). */
static bool
is_reused(pid_t pid, const struct tnf_ext *ext)
{
	int64_t began = (int64_t)tnf_proc_started(pid) * (SECOND / sysconf(_SC_CLK_TCK)) -
	    (now_boot() - now_mono());

	return began > ext->start_mono + SECOND;
}

/* Returns the pid in "NAME-PID.tnf" or "NAME-PID.2.tnf", or 0.  Cuts name down to NAME. */
static pid_t
ring_pid(char *name)
{
	char *dash = strrchr(name, '-');
	pid_t pid = dash != NULL ? (pid_t)atoi(dash + 1) : 0;

	if (dash != NULL)
		*dash = '\0';
	return pid;
}

/* Makes a source for a ring whose process has ended.  NULL: a process still uses the ring; or
   the ring was never used, and is removed. */
static struct source *
leftover_ring(const char *path, const char *name, pid_t pid)
{
	struct tnf_ext ext;

	/* A living process that has recorded nothing so far still needs its ring. */
	if (is_mapped(pid, path))
		return NULL;
	bool used = ext_read(path, &ext);
	if (kill(pid, 0) == 0 && !(used && is_reused(pid, &ext)))
		return NULL;
	if (used)
		return source_process_ended(name, pid, path, true);
	unlink(path);
	return NULL;
}

void
leftover_rings(const struct config *c,
    bool (*wants)(void *arg, const char *path, const char *section),
    void (*fn)(void *arg, struct source *), void *arg)
{
	char **names, *path;
	size_t n = names_in(c->rings, ".tnf", &names);
	struct source *s;

	for (size_t i = 0; i < n; i++) {
		path = tnf_xasprintf("%s/%s", c->rings, names[i]);
		pid_t pid = ring_pid(names[i]);
		if (pid > 0 && wants(arg, path, names[i]) &&
		    (s = leftover_ring(path, names[i], pid)) != NULL)
			fn(arg, s);
		free(path);
	}
	names_free(names, n);
}
