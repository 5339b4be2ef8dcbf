/*
 * client.c - asks a running tnfwatch over its socket.
 */
#include <sys/socket.h>
#include <sys/time.h>

#include "common/text.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

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
