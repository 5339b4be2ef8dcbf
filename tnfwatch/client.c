/*
 * client.c - asks a running tnfwatch over its socket; the commands status, fire and mark.
 */
#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/timespec.h"
#include "common/printable.h"
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

static int
cmd_ask_with(const struct watch_options *o, const char *const *words)
{
	struct config *c = config_read_places(o->config);

	if (c == NULL)
		return 1;
	int status = client_ask(c, stdout, words);
	config_free(c);
	return status;
}

static int
status_run(const struct watch_options *o, int argc, char **argv)
{
	return cmd_ask_with(o, (const char *const[]){ "status", NULL });
}

static int
mark_run(const struct watch_options *o, int argc, char **argv)
{
	return cmd_ask_with(o, (const char *const[]){ "mark", argv[0], NULL });
}

/* To monotonic ns; -1: it has been said what is wrong. */
static int64_t
fire_time(const char *text)
{
	struct timespec_clock clock = { .first = now_mono(), .wall = true,
	    .mono_to_wall = now_wall() - now_mono() };
	struct timespec_arg arg;
	const char *wrong = timespec_parse(text, &arg);
	int64_t time = 0;

	if (wrong == NULL && arg.kind == TIMESPEC_ELAPSED)
		wrong = "a duration says no time: write 03:12:20 or @NANOSECONDS";
	if (wrong == NULL)
		wrong = timespec_resolve(&arg, &clock, &time);
	if (wrong == NULL && time <= now_mono())
		return time;
	say("--at %s: %s", text, wrong != NULL ? wrong : "that is still to come");
	return -1;
}

static int
fire_run(const struct watch_options *o, int argc, char **argv)
{
	const char *name = NULL, *note = "", *at = NULL;
	char time[32] = "";
	int64_t ns;
	int i;

	for (i = 0; i < argc; i++)
		if (strcmp(argv[i], "--note") == 0 && i + 1 < argc)
			note = argv[++i];
		else if (strcmp(argv[i], "--at") == 0 && i + 1 < argc)
			at = argv[++i];
		else if (name == NULL && argv[i][0] != '-')
			name = argv[i];
		else
			break;
	if (i < argc || name == NULL) {
		fputs("usage: tnfwatch fire NAME [--at TIME] [--note TEXT]\n", stderr);
		return 2;
	}
	if (at != NULL) {
		if ((ns = fire_time(at)) < 0)
			return 2;
		snprintf(time, sizeof time, "%lld", (long long)ns);
	}
	return cmd_ask_with(o, (const char *const[]){ "fire", name, time, note, NULL });
}

const struct watch_command command_status = {
	.name = "status", .usage = "", .run = status_run,
	.help = "sources, how far back they reach, triggers"
};

const struct watch_command command_mark = {
	.name = "mark", .usage = "TEXT", .min = 1, .max = 1, .run = mark_run,
	.help = "a mark in what is kept of now"
};

const struct watch_command command_fire = {
	.name = "fire", .usage = "NAME [--at TIME] [--note TEXT]", .min = 1, .max = 5,
	.run = fire_run, .help = "an incident from outside"
};
