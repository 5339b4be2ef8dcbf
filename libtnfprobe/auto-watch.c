/*
 * auto-watch.c - the requests of a running tnfwatch to programs that start.
 *
 * tnfwatch attaches to a program some milliseconds after its start, and what the program
 * did until then would not be recorded.  So tnfwatch leaves a text in its directory
 * (tnfwatch/start.c), which says of which programs it wants which probes.  A program that
 * the text names makes its ring itself, and tnfwatch finds the ring when it attaches.  Neither waits for the other, and where anything is not as it should be, the
 * program starts as if there were no tnfwatch.
 */
#include <link.h>
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/statfs.h>

#include "libtnfprobe/internal.h"

#define DIRECTORY	"/run/tnf"
#define TEXT_MAX	(256u << 10)
#define STACK_NEAR	(256u << 10)	/* bytes of it that a start may have used */
#define START_SIZE	128		/* bytes of _start, at most */
#define FREE_MIN	((uint64_t)1 << 30)
#define RINGS_MAX	1000		/* of one process number */

/* A copy of a small file, which the caller frees; NULL: it is too large, or cannot be read. */
static char *
read_text(int fd)
{
	char *text = malloc(TEXT_MAX);
	size_t n = 0;
	ssize_t got = 1;

	while (text != NULL && n < TEXT_MAX - 1 && (got = read(fd, text + n, TEXT_MAX - 1 - n)) > 0)
		n += (size_t)got;
	if (text == NULL || got != 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

static char *
read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd >= 0 ? read_text(fd) : NULL;

	if (fd >= 0)
		close(fd);
	return text;
}

/* True if the file is of this type, belongs to root or to our effective user, and nobody else may
   write to it. */
static bool
is_believed(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type &&
	    (st.st_uid == 0 || st.st_uid == getauxval(AT_EUID)) && (st.st_mode & 0022) == 0;
}

/* True if the program has inherited a seccomp filter, or we cannot tell: the filter may kill the
   program for calls that a ring needs. */
static bool
is_filtered(void)
{
	static const char word[] = "\nSeccomp:\t";
	char *text = read_file("/proc/self/status"), *at;
	bool is = true;

	if (text != NULL && (at = strstr(text, word)) != NULL)
		is = at[sizeof(word) - 1] != '0';
	free(text);
	return is;
}

/* True on the stack of the program's first thread, near its end, where the kernel has put some
   random bytes.  Other threads, and calls that a controller makes, run on other stacks. */
static bool
is_first_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), end = getauxval(AT_RANDOM);

	return here < end && end - here < STACK_NEAR;
}

/* The ELF header of the object that has this code: the program's, if libtnfprobe is linked into it. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"), weak));

/*
 * True if main() has not begun, so that we were not loaded by dlopen() into a program which may
 * have given up rights since its start.  The dynamic linker calls constructors before it enters the
 * program; afterwards the stack holds an address in _start, to which main()'s caller would
 * return.  The upper bits of an address may be a signature of it (arm64).
 */
static bool __attribute__((no_sanitize_address))
is_before_main(void)
{
	const uintptr_t *at = __builtin_frame_address(0);
	const uintptr_t *end = (const uintptr_t *)(getauxval(AT_RANDOM) & ~(sizeof(*at) - 1));
	uintptr_t entry = getauxval(AT_ENTRY), mask = ((uintptr_t)1 << 48) - 1, past;
	const ElfW(Ehdr) *own = &__ehdr_start;

	if (own != NULL && (uintptr_t)own + own->e_phoff == getauxval(AT_PHDR))
		return true;
	for (; at < end; at++) {
		past = (*at - entry) & mask;
		if (past > 0 && past < START_SIZE)
			return false;
	}
	return true;
}

/* Until we know that there is no filter, we make only calls that the start of each program
   makes, too.  If no tnfwatch has the lock of the text, the one that wrote it has ended:
   nobody would read or remove our ring, so we make none. */
static char *
request_read(void)
{
	const char *path = secure_getenv("TNF_WATCH");
	char *text = NULL;
	int dir, fd = -1;

	if (path == NULL)
		path = DIRECTORY;
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && is_believed(dir, S_IFDIR))
		fd = openat(dir, "start", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && is_believed(fd, S_IFREG) && is_before_main() &&
	    !is_filtered() && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		text = read_text(fd);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return text;
}

static bool
is_our_program(const char *path)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat("/proc/self/exe", &b) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino;
}

static bool
is_our_name(const char *comm)
{
	char *own = read_file("/proc/self/comm");
	size_t n = strlen(comm);
	bool is = own != NULL && strncmp(own, comm, n) == 0 && (own[n] == '\n' || own[n] == '\0');

	free(own);
	return is;
}

/* The value behind the word with which the line begins; NULL: the line begins otherwise. */
static const char *
value_of(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

static void
line_read(struct tnf_auto_watch *w, const char *line, bool *means_us)
{
	const char *v;

	if ((v = value_of(line, "process")) != NULL) {
		w->name = v;
		*means_us = false;
	} else if ((v = value_of(line, "rings")) != NULL)
		w->rings = v;
	else if ((v = value_of(line, "size")) != NULL)
		w->size = strtoull(v, NULL, 10);
	else if ((v = value_of(line, "program")) != NULL)
		*means_us = is_our_program(v);
	else if ((v = value_of(line, "comm")) != NULL)
		*means_us = is_our_name(v);
	else if ((v = value_of(line, "enable")) != NULL)
		w->enable = v;
}

/* The first section that means us; 'enable' is its last line. */
static bool
request_find(struct tnf_auto_watch *w, char *text)
{
	bool means_us = false;
	char *line = strsep(&text, "\n");
	const char *pidns;
	struct stat st;

	if (line == NULL || strcmp(line, "tnf-start 1") != 0)
		return false;
	/* The ring's name has our number, so we must be in tnfwatch's pid name space. */
	line = strsep(&text, "\n");
	if (line == NULL || (pidns = value_of(line, "pidns")) == NULL ||
	    stat("/proc/self/ns/pid", &st) != 0 || strtoull(pidns, NULL, 10) != st.st_ino)
		return false;
	while ((line = strsep(&text, "\n")) != NULL) {
		line_read(w, line, &means_us);
		if (means_us && w->enable != NULL)
			return w->rings != NULL && w->name != NULL && w->size != 0;
		w->enable = NULL;
	}
	return false;
}

bool
tnf_auto_watch(struct tnf_auto_watch *ret)
{
	static char *text;	/* what we return are parts of it */
	struct tnf_auto_watch w = { .size = 0 };

	free(text);
	text = is_first_stack() ? request_read() : NULL;
	if (text != NULL && request_find(&w, text)) {
		*ret = w;
		return true;
	}
	free(text);
	text = NULL;
	return false;
}

/* Programs may start often, and each leaves its ring for a while: others shall not run out
   of space by it.  A ring in memory would be charged to the program. */
static bool
has_room(const struct tnf_auto_watch *w)
{
	struct statfs fs;
	uint64_t all, left;

	if (statfs(w->rings, &fs) != 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return false;
	all = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
	left = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	return w->size <= left / 4 && left - w->size >= FREE_MIN && left - w->size >= all / 10;
}

/* Names the file as tnfwatch does; a file of an earlier use of our number may still exist. */
char *
tnf_auto_watch_file(const struct tnf_auto_watch *w, uint64_t *size, int *fd)
{
	char *path = NULL;
	int error = EEXIST, n;

	if (!has_room(w))
		return NULL;
	*size = w->size;
	for (unsigned i = 1; i < RINGS_MAX && error == EEXIST; i++) {
		free(path);
		n = i == 1 ? asprintf(&path, "%s/%s-%d.tnf", w->rings, w->name, (int)getpid()) :
		    asprintf(&path, "%s/%s-%d.%u.tnf", w->rings, w->name, (int)getpid(), i);
		if (n < 0)
			return NULL;
		error = tnf_auto_file_new(path, *size, fd);
	}
	if (error == 0)
		return path;
	free(path);
	return NULL;
}
