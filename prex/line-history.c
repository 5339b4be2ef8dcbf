/*
 * line-history.c - the lines typed, kept in a file that sessions share: each
 * appends a line when it is entered, so that none is lost with a session.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "prex/term.h"
#include "prex/util.h"

enum { MAX_LINES = 1000 };

struct line_history {
	History	*h;
	char	*path;		/* NULL: this session only */
	int	fd;		/* -1: the same */
	char	*last;
};

/* $XDG_STATE_HOME/prex, else ~/.local/state/prex.  Root does not leave files
   of its own in somebody else's home. */
static char *
line_history_directory(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	struct stat sb;

	if (state != NULL && *state == '/')
		return tnf_xasprintf("%s/prex", state);
	if (home == NULL || *home != '/' || stat(home, &sb) < 0 || sb.st_uid != geteuid())
		return NULL;
	return tnf_xasprintf("%s/.local/state/prex", home);
}

static void
make_directories(char *path)
{
	for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	mkdir(path, 0700);
}

static int
line_history_open_file(const char *path)
{
	struct stat sb;
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) &&
	    sb.st_uid == geteuid() && fchmod(fd, 0600) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
line_history_enter(struct line_history *lh, const char *line)
{
	HistEvent ev;

	history(lh->h, &ev, H_ENTER, line);
	free(lh->last);
	lh->last = tnf_xstrdup(line);
}

/* Keeps the younger half of a file that has grown too long. */
static void
line_history_shorten(struct line_history *lh, char **lines, size_t n)
{
	autofree char *tmp = tnf_xasprintf("%s.%ld", lh->path, (long)getpid());
	int fd = open(tmp, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	for (size_t i = n / 2; fd >= 0 && i < n; i++)
		if (dprintf(fd, "%s", lines[i]) < 0) {
			close(fd);
			fd = -1;
		}
	if (fd >= 0 && rename(tmp, lh->path) == 0) {
		close(lh->fd);
		lh->fd = fd;
	} else {
		unlink(tmp);
		if (fd >= 0)
			close(fd);
	}
}

static void
line_history_load(struct line_history *lh)
{
	struct strings lines = { 0 };
	char *line = NULL;
	size_t i, size = 0;
	FILE *fp = fdopen(dup(lh->fd), "r");

	if (fp == NULL)
		return;
	while (getline(&line, &size, fp) > 0)
		strings_add(&lines, tnf_xstrdup(line));
	fclose(fp);
	free(line);
	for (i = lines.n > MAX_LINES ? lines.n - MAX_LINES : 0; i < lines.n; i++)
		line_history_enter(lh, lines.v[i]);
	if (lines.n > 2 * MAX_LINES)
		line_history_shorten(lh, lines.v, lines.n);
	strings_free(&lines);
}

struct line_history *
line_history_open(void)
{
	struct line_history *lh = tnf_xcalloc(1, sizeof *lh);
	char *dir = line_history_directory();
	HistEvent ev;

	lh->h = history_init();
	history(lh->h, &ev, H_SETSIZE, MAX_LINES);
	history(lh->h, &ev, H_SETUNIQUE, 1);
	lh->fd = -1;
	if (dir == NULL)
		return lh;
	make_directories(dir);
	lh->path = tnf_xasprintf("%s/history", dir);
	free(dir);
	if ((lh->fd = line_history_open_file(lh->path)) >= 0)
		line_history_load(lh);
	return lh;
}

History *
line_history_get(struct line_history *lh)
{
	return lh->h;
}

void
line_history_add(struct line_history *lh, const char *line)
{
	ssize_t n;

	if (line[strspn(line, " \t\n")] == '\0' ||
	    (lh->last != NULL && strcmp(lh->last, line) == 0))
		return;
	line_history_enter(lh, line);
	if (lh->fd < 0)
		return;
	/* One write, so that sessions do not mix within a line. */
	n = write(lh->fd, line, strlen(line));
	if (n < 0) {
		close(lh->fd);
		lh->fd = -1;
	}
}

void
line_history_close(struct line_history *lh)
{
	history_end(lh->h);
	if (lh->fd >= 0)
		close(lh->fd);
	free(lh->path);
	free(lh->last);
	free(lh);
}
