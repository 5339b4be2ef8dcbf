/*
 * control.c - what a running tnfwatch is asked, over a socket in its directory.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/printable.h"
#include "common/who.h"
#include "tnfwatch/config.h"
#include "tnfwatch/control.h"
#include "tnfwatch/daemon.h"
#include "tnfwatch/util.h"

#define REQUEST_MAX	4096
#define PATIENCE_MS	200	/* of the daemon, with one who asks */
#define PATIENCE_S	30	/* of one who asks, with the daemon */

static bool
control_address(const struct config *c, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int n = snprintf(a->sun_path, sizeof a->sun_path, "%s/watch.sock", c->run);
	if (n < (int)sizeof a->sun_path)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

int
control_open(const struct config *c)
{
	struct sockaddr_un a;
	int fd, e;

	if (!control_address(c, &a) ||
	    (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		return -1;
	/* Whoever left one there has ended: we hold the lock. */
	unlink(a.sun_path);
	mode_t mask = umask(0177);
	e = bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 16) == 0 ? 0 : errno;
	umask(mask);
	if (e == 0)
		return fd;
	close(fd);
	errno = e;
	return -1;
}

static int
words_cut(char *line, const char *words[CONTROL_WORDS])
{
	int n = 0;
	char *p;

	line[strcspn(line, "\n")] = '\0';
	while (n < CONTROL_WORDS && (p = strsep(&line, "\t")) != NULL)
		words[n++] = p;
	return n;
}

static void
answer_fire(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	int64_t time = n > 2 && *words[2] != '\0' ? strtoll(words[2], NULL, 10) : now_mono();
	const char *note = n > 3 && *words[3] != '\0' ? words[3] : NULL;

	if (n < 2 || !daemon_fire(d, words[1], time, note))
		fprintf(f, "error\n%s: no such trigger: its [trigger] is not in %s\n",
		    n > 1 ? words[1] : "", d->config->file);
	else
		fprintf(f, "ok\n%s\n", d->window.open ? d->window.id : "");
}

static void
answer_mark(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	if (n > 1)
		daemon_mark(d, words[1], by);
	fputs("ok\n", f);
}

/* Another machine's question: all of now is kept.  The answer is the incident's name. */
static void
answer_pin(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	daemon_pin(d, n > 1 ? words[1] : "");
	fprintf(f, "ok\n%s\n", d->window.id);
}

static void
answer_status(struct daemon *d, FILE *f, int n, const char **words, const char *by)
{
	fputs("ok\n", f);
	control_status(d, f);
}

static const struct {
	const char *word;
	void	(*answer)(struct daemon *, FILE *, int n, const char **words, const char *by);
} requests[] = {
	{ "status", answer_status },
	{ "fire", answer_fire },
	{ "mark", answer_mark },
	{ "pin", answer_pin },
};

static void
control_answer(struct daemon *d, FILE *f, char *line, const char *by)
{
	const char *words[CONTROL_WORDS];
	int n = words_cut(line, words);

	for (size_t i = 0; n > 0 && i < sizeof requests / sizeof requests[0]; i++)
		if (strcmp(words[0], requests[i].word) == 0) {
			requests[i].answer(d, f, n, words, by);
			return;
		}
	fputs("error\nno such request: the programs are of different versions\n", f);
}

/* May this one ask?  'by' says who it is. */
static bool
control_may(int fd, char *by, size_t size)
{
	struct ucred who;
	socklen_t n = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 ||
	    (who.uid != 0 && who.uid != geteuid()))
		return false;
	tnf_who_is(who.uid, who.pid, by, size);
	return true;
}

static void
control_send(int fd, const char *text, size_t size)
{
	ssize_t n;

	while (size > 0 && (n = send(fd, text, size, MSG_NOSIGNAL)) > 0) {
		text += n;
		size -= (size_t)n;
	}
}

/* A request comes in one piece, or its sender is not ours. */
void
control_serve(struct daemon *d, int socket)
{
	const struct timeval patience = { .tv_usec = PATIENCE_MS * 1000 };
	char line[REQUEST_MAX], by[128], *text = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;
	int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (control_may(fd, by, sizeof by) && (n = recv(fd, line, sizeof line - 1, 0)) > 0 &&
	    (f = open_memstream(&text, &size)) != NULL) {
		line[n] = '\0';
		control_answer(d, f, line, by);
		fclose(f);
		control_send(fd, text, size);
	}
	free(text);
	close(fd);
}

static int
control_connect(const struct config *c)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un a;
	int fd, e;

	if (!control_address(c, &a) || (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
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
control_request(int fd, const char *const *words)
{
	char *line = tnf_xstrdup(""), *more;

	for (size_t i = 0; words[i] != NULL; i++) {
		more = tnf_xasprintf("%s%s%s", line, i > 0 ? "\t" : "", words[i]);
		free(line);
		line = more;
		/* What separates words and lines cannot be in one. */
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
control_ask(const struct config *c, FILE *to, const char *const *words)
{
	char line[4096];
	int fd = control_connect(c);
	FILE *f;

	if (fd < 0)
		return 1;
	if (!control_request(fd, words) || (f = fdopen(fd, "r")) == NULL) {
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
