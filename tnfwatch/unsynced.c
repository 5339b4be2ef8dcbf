/*
 * unsynced.c - incidents that have their name, and are perhaps not on the disk yet.
 */
#include <sys/file.h>

#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/watch.h"

#define NOTE	".unsynced"
#define NOTE_NEW	".unsynced.new"
#define LAST	"all"	/* line of a note that has all files */
#define PIECE	(64u << 10)	/* bytes, whole words */

/* Calls fn() for each file of the directory whose name has no dot in front, until it
   returns an errno. */
static int
each_file(int dir, int (*fn)(int dir, const char *name, void *arg), void *arg)
{
	autoclosedir DIR *list = directory_open(dir, ".");
	struct dirent *d;
	int e = 0;

	if (list == NULL)
		return errno;
	while (e == 0 && (d = readdir(list)) != NULL)
		if (d->d_name[0] != '.')
			e = fn(dir, d->d_name, arg);
	return e;
}

/* The sum depends on each word's place: zeros in a page that was never written change it. */
static uint64_t
sum_words(uint64_t sum, const unsigned char *bytes, size_t n)
{
	uint64_t word;

	for (size_t i = 0; i < n; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	return sum;
}

/* Reads until there is no more room, or the file ends; -1: errno. */
static ssize_t
read_full(int fd, unsigned char *to, size_t room)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < room && got > 0)
		if ((got = read(fd, to + n, room - n)) > 0)
			n += (size_t)got;
	return got < 0 ? -1 : (ssize_t)n;
}

/* Opens a file to read; -1: errno.  A FIFO that somebody has put there does not make us wait,
   and does not count as an empty file, either. */
static int
open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* The size and the sum of a file's bytes, zeros behind the last ones; 0 or an errno. */
static int
sum_file(int dir, const char *name, uint64_t *size, uint64_t *sum)
{
	static unsigned char bytes[PIECE];
	autoclose int fd = open_file(dir, name);
	ssize_t n = 1;

	*size = *sum = 0;
	while (fd >= 0 && (n = read_full(fd, bytes, sizeof bytes)) > 0) {
		memset(bytes + n, 0, -(size_t)n % sizeof *sum);
		*sum = sum_words(*sum, bytes, (size_t)n);
		*size += (uint64_t)n;
	}
	return fd < 0 || n < 0 ? errno : 0;
}

static int
note_file(int dir, const char *name, void *arg)
{
	uint64_t size, sum;
	struct stat st;
	int e = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		e = errno;
	else if (S_ISREG(st.st_mode) && (e = sum_file(dir, name, &size, &sum)) == 0)
		fprintf(arg, "%016llx %llu %s\n", (unsigned long long)sum, (unsigned long long)size,
		    name);
	return e;
}

/* Writes a note with the sums of the files in the directory, or with the boot alone. */
static int
note_write(int dir, const char *note, bool files)
{
	int fd = openat(dir, note, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	int e = f == NULL ? errno : 0;

	if (f == NULL) {
		if (fd >= 0)
			close(fd);
		return e;
	}
	fprintf(f, "%s\n", boot_id());
	if (files && (e = each_file(dir, note_file, f)) == 0)
		fputs(LAST "\n", f);
	if ((fflush(f) != 0 || ferror(f) || (files && fsync(fd) != 0)) && e == 0)
		e = errno != 0 ? errno : EIO;
	if (fclose(f) != 0 && e == 0)
		e = errno;
	return e;
}

int
unsynced_note(int dir)
{
	return note_write(dir, NOTE, false);
}

/* Only regular files have contents that the disk could lack. */
static int
sync_file(int dir, const char *name, void *arg)
{
	struct stat st;
	int fd, e = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if ((fd = open_file(dir, name)) < 0)
		return errno;
	if (fsync(fd) != 0)
		e = errno;
	close(fd);
	return e;
}

int
unsynced_sync(int dir, int all)
{
	/* A killed writer may have left a new note. */
	unlinkat(dir, NOTE_NEW, 0);
	/* If the disk has no room for the sums, the files are synced without them. */
	if (note_write(dir, NOTE_NEW, true) != 0 || renameat(dir, NOTE_NEW, dir, NOTE) != 0)
		unlinkat(dir, NOTE_NEW, 0);
	int e = each_file(dir, sync_file, NULL);
	/* The names are on the disk before the note goes. */
	if (e == 0 && (fsync(dir) != 0 || fsync(all) != 0))
		e = errno;
	if (e == 0 && unlinkat(dir, NOTE, 0) != 0 && errno != ENOENT)
		e = errno;
	return e;
}

/* True if each file that the note names has its size and sum, and the note names all files. */
static bool
has_all(int dir, FILE *note)
{
	unsigned long long sum, size;
	uint64_t sum_now, size_now;
	char line[4096];
	int at, n = 0;

	while (fgets(line, sizeof line, note) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, LAST) == 0)
			return n > 0;
		if (sscanf(line, "%llx %llu %n", &sum, &size, &at) != 2 || line[at] == '.' ||
		    strchr(line + at, '/') != NULL ||
		    sum_file(dir, line + at, &size_now, &sum_now) != 0 || size_now != size ||
		    sum_now != sum)
			return false;
		n++;
	}
	return false;
}

/* True if the incident is whole.  In the boot of the note it is: all written bytes are there, on
   the disk or in memory. */
static bool
is_whole(int dir)
{
	int fd = open_file(dir, NOTE);
	FILE *note = fd >= 0 ? fdopen(fd, "r") : NULL;
	char boot[64];

	if (note == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	bool is = fgets(boot, sizeof boot, note) != NULL;
	boot[is ? strcspn(boot, "\n") : 0] = '\0';
	is = is && (strcmp(boot, boot_id()) == 0 || has_all(dir, note));
	fclose(note);
	return is;
}

static void
clean_one(const struct config *c, const char *id, int all)
{
	autoclose int dir = openat(all, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int e = 0;

	/* A writer that lives syncs its incident itself, and holds the lock. */
	if (dir >= 0 && faccessat(dir, NOTE, F_OK, 0) == 0 && flock(dir, LOCK_EX | LOCK_NB) == 0) {
		if (!is_whole(dir)) {
			say("%s: lost: the machine went down before it was on the disk", id);
			e = incident_remove(c, id);
		} else
			e = unsynced_sync(dir, all);
		if (e != 0)
			say("%s: %s", id, strerror(e));
	}
}

void
unsynced_clean(const struct config *c)
{
	autoclose int all = path_open(O_RDONLY | O_DIRECTORY, "%s/incidents", c->directory);
	char **list;
	size_t n = incident_list(c, &list);

	for (size_t i = 0; all >= 0 && i < n; i++)
		clean_one(c, list[i], all);
	names_free(list, n);
}
