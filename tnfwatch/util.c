/*
 * util.c - functions that all of tnfwatch uses, and how a running tnfwatch is asked over its socket.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <ctype.h>

#include "common/proc.h"
#include "common/text.h"
#include "format/core.h"
#include "tnfwatch/config.h"
#include "tnfwatch/watch.h"

int64_t
now_mono(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t
now_boot(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

int64_t
now_wall(void)
{
	return clock_ns(CLOCK_REALTIME);
}

void
say(const char *fmt, ...)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&line, &size), *to = f != NULL ? f : stderr;
	va_list ap;

	fprintf(to, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	tnf_printable_vprintf(to, fmt, ap);
	va_end(ap);
	putc('\n', to);
	/* One write: stderr has no buffer, and is a log to which other processes write. */
	if (f != NULL && fclose(f) == 0)
		fwrite(line, 1, size, stderr);
	free(line);
}

int
make_directory(const char *path)
{
	char *name = tnf_xstrdup(path), *p;
	int e = 0;

	for (p = name + 1; e == 0 && (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = '\0';
		if (mkdir(name, 0755) != 0 && errno != EEXIST)
			e = errno;
	}
	if (e == 0 && mkdir(name, 0700) != 0 && errno != EEXIST)
		e = errno;
	free(name);
	return e;
}

/* Each name that was found is removed at once, so the order in the directory does not
   matter. */
static int
remove_inside(int dir, const char *name)
{
	autoclosedir DIR *list = directory_open(dir, name);
	struct dirent *d;
	int e = 0, one;

	if (list == NULL)
		return errno;
	while ((d = directory_next(list)) != NULL)
		if ((one = remove_all(dirfd(list), d->d_name)) != 0)
			e = one;
	return e;
}

int
remove_all(int dir, const char *name)
{
	int e;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return errno;
	if ((e = remove_inside(dir, name)) != 0)
		return e;
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

bool
disk_refuses(int e)
{
	return e == ENOSPC || e == EDQUOT || e == EIO || e == EROFS;
}

uint64_t
disk_usage(int dir, const char *name)
{
	uint64_t sum = 0;
	struct dirent *d;
	struct stat st;
	DIR *list;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	sum = (uint64_t)st.st_blocks * 512;
	/* A segment has a name in each incident that it belongs to. */
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		sum /= st.st_nlink;
	if (!S_ISDIR(st.st_mode) || (list = directory_open(dir, name)) == NULL)
		return sum;
	while ((d = directory_next(list)) != NULL)
		sum += disk_usage(dirfd(list), d->d_name);
	closedir(list);
	return sum;
}

const char *
boot_id(void)
{
	static char id[TNF_BOOT_ID_TEXT];
	uint8_t bytes[TNF_BOOT_ID_SIZE];

	if (*id == '\0' && tnf_boot_id(bytes))
		tnf_boot_id_text(bytes, id);
	return id;
}

bool
size_parse(const char *text, uint64_t *ret)
{
	static const char units[] = "kmgt";
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	const char *u = *end != '\0' ? strchr(units, tolower((unsigned char)*end)) : NULL;
	unsigned shift = u != NULL ? 10 * (unsigned)(u - units + 1) : 0;

	if (!isdigit((unsigned char)*text) || (*end != '\0' && (u == NULL || end[1] != '\0')) ||
	    n > UINT64_MAX >> shift)
		return false;
	*ret = (uint64_t)n << shift;
	return true;
}

const char *
moment_parse(const char *text, const char *no_duration, struct timespec_clock *clock, int64_t *mono)
{
	struct timespec_arg arg;
	const char *wrong = timespec_parse(text, &arg);

	*clock = (struct timespec_clock){ .first = now_mono(), .wall = true,
	    .mono_to_wall = now_wall() - now_mono() };
	if (wrong == NULL && arg.kind == TIMESPEC_ELAPSED)
		wrong = no_duration;
	return wrong != NULL ? wrong : timespec_resolve(&arg, clock, mono);
}

void
names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

bool
path_exists(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	autofree char *path = tnf_xvasprintf(fmt, ap);
	va_end(ap);

	return access(path, F_OK) == 0;
}

int
path_open(int flags, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	autofree char *path = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	return open(path, flags | O_CLOEXEC, 0600);
}

char *
path_text(size_t max, const char *fmt, ...)
{
	va_list ap;
	size_t n = 0;
	ssize_t r;

	va_start(ap, fmt);
	autofree char *path = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = tnf_xcalloc(1, max + 1);
	while (n < max && (r = read(fd, text + n, max - n)) > 0)
		n += (size_t)r;
	return text;
}

void
path_unlink(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	autofree char *path = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	unlink(path);
}

void
read_comm(pid_t pid, char comm[64])
{
	if (tnf_proc_file(comm, 64, "/proc/%d/comm", (int)pid) < 0)
		*comm = '\0';
	comm[strcspn(comm, "\n")] = '\0';
}

bool
child_begin(pid_t parent, int priority)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, priority);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return getppid() == parent;
}

int
child_wait(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/*
 * Asks a running tnfwatch over its socket.
 */

#define PATIENCE_S	30	/* with the daemon */

bool
client_address(const struct config *c, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int n = snprintf(a->sun_path, sizeof a->sun_path, "%s/watch.sock", c->run);
	if (n < (int)sizeof a->sun_path)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

static int
client_connect(const struct config *c)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un a;
	int fd, e;

	if (!client_address(c, &a) || (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	say("%s: %s: %s", a.sun_path, strerror(e), e == ENOENT || e == ECONNREFUSED ?
	    "tnfwatch does not run: systemctl start tnfwatch" : "be root");
	return -1;
}

static bool
client_send(int fd, const char *const *words)
{
	char *line = tnf_xstrdup(""), *more;

	for (size_t i = 0; words[i] != NULL; i++) {
		more = tnf_xasprintf("%s%s%s", line, i > 0 ? "\t" : "", words[i]);
		free(line);
		line = more;
		/* Tabs and newlines separate words and requests: in a word they become
		   blanks. */
		for (char *p = more + strlen(more) - strlen(words[i]); *p != '\0'; p++)
			if (*p == '\t' || *p == '\n')
				*p = ' ';
	}
	more = tnf_xasprintf("%s\n", line);
	bool ok = strlen(more) < REQUEST_MAX &&
	    send(fd, more, strlen(more), MSG_NOSIGNAL) == (ssize_t)strlen(more);
	if (!ok)
		say("too long, or tnfwatch has ended");
	free(more);
	free(line);
	return ok;
}

int
client_ask(const struct config *c, FILE *to, const char *const *words)
{
	char line[4096];
	int fd = client_connect(c);
	FILE *f;

	if (fd < 0)
		return 1;
	if (!client_send(fd, words) || (f = fdopen(fd, "r")) == NULL) {
		close(fd);
		return 1;
	}
	if (fgets(line, sizeof line, f) == NULL) {
		say("no answer: only root and its own user may ask");
		fclose(f);
		return 1;
	}
	bool ok = strcmp(line, "ok\n") == 0;
	while (fgets(line, sizeof line, f) != NULL)
		tnf_printable_printf(ok ? to : stderr, ok ? "%.*s\n" : "tnfwatch: %.*s\n",
		    (int)strcspn(line, "\n"), line);
	fclose(f);
	return ok && fflush(to) == 0 ? 0 : 1;
}
