/*
 * relay.c - a machine's part of a request: it takes one, asks the next machine, replies.
 *
 *	relay PORT [HOST PORT]		takes requests, and asks HOST
 *	relay -n COUNT HOST PORT	COUNT requests, one after the other
 *
 * A request is the line "REQUEST HOP".  A message between two machines has a number of
 * its own, the same on both sides: 'call' here is 'took' there, 'reply' there 'back' here.
 */
#include <err.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tnf/probe.h>

#define LINE	64
#define HOPS	8

static int
open_socket(const char *host, const char *port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET,
		.ai_flags = host == NULL ? AI_PASSIVE : 0 };
	struct addrinfo *at;
	int e = getaddrinfo(host, port, &hints, &at), fd, one = 1;

	if (e != 0)
		errx(1, "%s: %s", host != NULL ? host : port, gai_strerror(e));
	if ((fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (host == NULL && (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, 16) < 0))
		err(1, "%s", port);
	if (host != NULL && connect(fd, at->ai_addr, at->ai_addrlen) < 0) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(at);
	return fd;
}

/* A line is what comes until the other side has said all. */
static void
read_line(int fd, char line[LINE])
{
	size_t n = 0;
	ssize_t got;

	while (n < LINE - 1 && (got = read(fd, line + n, LINE - 1 - n)) > 0)
		n += (size_t)got;
	line[n] = '\0';
}

/* Asks the next machine, and waits for what it says. */
static void
ask(long request, int hop, const char *host, const char *port)
{
	long message = request * HOPS + hop;
	char line[LINE];
	int fd = open_socket(host, port), n;

	if (fd < 0)
		return;
	TNF_PROBE_2(call, "relay", "", tnf_long, request, request, tnf_long, message, message);
	n = snprintf(line, sizeof line, "%ld %d\n", request, hop);
	if (send(fd, line, (size_t)n, MSG_NOSIGNAL) == n && shutdown(fd, SHUT_WR) == 0)
		read_line(fd, line);
	TNF_PROBE_2(back, "relay", "", tnf_long, request, request, tnf_long, message, message);
	close(fd);
}

static void
answer(int fd, const char *host, const char *port)
{
	char line[LINE];
	long request = 0, message;
	int hop = 0;

	read_line(fd, line);
	if (sscanf(line, "%ld %d", &request, &hop) != 2)
		return;
	message = request * HOPS + hop;
	TNF_PROBE_2(took, "relay", "", tnf_long, request, request, tnf_long, message, message);
	if (host != NULL)
		ask(request, hop + 1, host, port);
	TNF_PROBE_2(reply, "relay", "", tnf_long, request, request, tnf_long, message, message);
	send(fd, line, strlen(line), MSG_NOSIGNAL);
}

int
main(int argc, char **argv)
{
	int fd, client;

	if (argc == 5 && strcmp(argv[1], "-n") == 0) {
		for (long i = 1; i <= atol(argv[2]); i++)
			ask(i, 0, argv[3], argv[4]);
		return 0;
	}
	if (argc != 2 && argc != 4)
		errx(2, "usage: relay PORT [HOST PORT] | relay -n COUNT HOST PORT");
	fd = open_socket(NULL, argv[1]);
	for (;;) {
		if ((client = accept(fd, NULL, NULL)) < 0)
			continue;
		answer(client, argc == 4 ? argv[2] : NULL, argc == 4 ? argv[3] : NULL);
		close(client);
	}
}
