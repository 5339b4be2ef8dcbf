/*
 * server.c - a daemon as they are: it goes into the background, gives up root,
 * and answers one request at a time, with the text of it turned round.
 *
 *	server [-u uid] /run/server.sock	the server
 *	server -q TEXT /run/server.sock		one request
 *
 * Look at it while it runs, and let it record on:
 *
 *	prex -p PID -c 'list probes $all'
 *	prex -p PID -o /tmp/server.tnf -c 'enable $all'
 */
#include <err.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <tnf/probe.h>

#define REQUEST_MAX	200

static int
open_socket(const char *path, struct sockaddr_un *ret)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	if (strlen(path) >= sizeof(ret->sun_path))
		errx(1, "%s: too long for a socket", path);
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(ret->sun_path, path);
	return fd;
}

static int
ask(const char *path, const char *text)
{
	char answer[REQUEST_MAX];
	struct sockaddr_un at;
	int fd = open_socket(path, &at);
	ssize_t n;

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		err(1, "%s", path);
	if (write(fd, text, strlen(text)) < 0 || shutdown(fd, SHUT_WR) < 0)
		err(1, "%s", path);
	n = read(fd, answer, sizeof(answer));
	if (n <= 0)
		errx(1, "%s: no answer", path);
	printf("%.*s\n", (int)n, answer);
	return 0;
}

static void
turn_round(char *text, size_t n)
{
	size_t i;
	char c;

	for (i = 0; i < n / 2; i++) {
		c = text[i];
		text[i] = text[n - 1 - i];
		text[n - 1 - i] = c;
	}
}

static void
answer(int fd, long number)
{
	char text[REQUEST_MAX + 1];
	ssize_t got;
	size_t n = 0;

	while (n < REQUEST_MAX &&
	    (got = read(fd, text + n, REQUEST_MAX - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	TNF_PROBE_2(request_start, "server request", "", tnf_long, number, number,
	    tnf_string, text, text);
	turn_round(text, n);
	got = send(fd, text, n, MSG_NOSIGNAL);
	TNF_PROBE_2(request_end, "server request", "", tnf_long, number, number,
	    tnf_long, sent, (long)got);
}

static void
give_up_root(uid_t uid)
{
	if (uid == 0)
		return;
	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		err(1, "user %d", (int)uid);
}

static int
serve(const char *path, uid_t uid)
{
	struct sockaddr_un at;
	int fd = open_socket(path, &at), client;
	long number = 0;

	unlink(path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 16) < 0)
		err(1, "%s", path);
	if (daemon(0, 0) < 0)
		err(1, "daemon");
	give_up_root(uid);
	for (;;) {
		if ((client = accept(fd, NULL, NULL)) < 0)
			continue;
		answer(client, ++number);
		close(client);
	}
}

int
main(int argc, char **argv)
{
	const char *text = NULL;
	uid_t uid = 0;
	int c;

	while ((c = getopt(argc, argv, "q:u:")) != -1)
		if (c == 'q')
			text = optarg;
		else if (c == 'u')
			uid = (uid_t)atoi(optarg);
		else
			return 2;
	if (optind != argc - 1)
		errx(2, "usage: server [-u uid | -q text] socket");
	return text != NULL ? ask(argv[optind], text) : serve(argv[optind], uid);
}
