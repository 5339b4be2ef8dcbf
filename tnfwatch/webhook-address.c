/*
 * webhook-address.c - the address for requests, which may come from this machine only.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/webhook.h"

union address {
	struct sockaddr	    any;
	struct sockaddr_un  un;
	struct sockaddr_in  in;
	struct sockaddr_in6 in6;
};

#define WANTED "wanted: an absolute path, or a port of this machine such as 127.0.0.1:9099"

/* "127.0.0.1:9099" after its host; 0: no port. */
static unsigned
port_of(const char *address, const char *host)
{
	size_t n = strlen(host);
	char *end;

	if (strncmp(address, host, n) != 0 || address[n] != ':' || address[n + 1] == '\0' ||
	    strspn(address + n + 1, "0123456789") != strlen(address + n + 1))
		return 0;
	unsigned long port = strtoul(address + n + 1, &end, 10);
	return port <= 65535 ? (unsigned)port : 0;
}

static bool
webhook_address_parse(const char *text, union address *a, socklen_t *len, char why[WEBHOOK_WHY])
{
	unsigned port;

	memset(a, 0, sizeof(*a));
	if (*text == '/') {
		a->un.sun_family = AF_UNIX;
		*len = sizeof(a->un);
		if (strlen(text) < sizeof(a->un.sun_path)) {
			strcpy(a->un.sun_path, text);
			return true;
		}
		snprintf(why, WEBHOOK_WHY, "a socket's path has at most %zu bytes",
		    sizeof(a->un.sun_path) - 1);
		return false;
	}
	if ((port = port_of(text, "[::1]")) != 0) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		a->in6.sin6_addr = in6addr_loopback;
		*len = sizeof(a->in6);
		return true;
	}
	if ((port = port_of(text, "127.0.0.1")) != 0 || (port = port_of(text, "localhost")) != 0) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)port);
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*len = sizeof(a->in);
		return true;
	}
	snprintf(why, WEBHOOK_WHY, "%s", WANTED);
	return false;
}

bool
webhook_check(const char *address, char why[WEBHOOK_WHY])
{
	union address a;
	socklen_t len;

	return webhook_address_parse(address, &a, &len, why);
}

/* Removes a socket on which nobody listens, which is left from before; anything else stays. */
static bool
make_way(const union address *a, char why[WEBHOOK_WHY])
{
	const char *path = a->un.sun_path;
	struct stat st;
	int fd, error = 0;

	if (a->any.sa_family != AF_UNIX || lstat(path, &st) != 0)
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(why, WEBHOOK_WHY, "is there, and no socket: choose another name");
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connect(fd, &a->any, sizeof(a->un)) != 0)
		error = errno;
	close(fd);
	if (error == ECONNREFUSED)
		return unlink(path) == 0 || errno == ENOENT;
	snprintf(why, WEBHOOK_WHY, "another program listens there");
	return false;
}

int
webhook_listen(const char *address, char why[WEBHOOK_WHY])
{
	union address a;
	socklen_t len;
	int fd, one = 1, error = 0;

	if (!webhook_address_parse(address, &a, &len, why) || !make_way(&a, why))
		return -1;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* The administrator may give the socket's group to the sender of alerts. */
	mode_t mask = umask(0117);
	if (fd < 0 || bind(fd, &a.any, len) != 0 || listen(fd, 16) != 0)
		error = errno;
	umask(mask);
	if (error == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(why, WEBHOOK_WHY, "cannot listen there: %s", strerror(error));
	return -1;
}

#ifndef HAVE_WEBHOOK

struct webhook *
webhook_open(const char *address, webhook_fn *fn, webhook_metrics_fn *metrics, void *arg,
    char why[WEBHOOK_WHY])
{
	snprintf(why, WEBHOOK_WHY, "this tnfwatch was built without libmicrohttpd and json-c");
	return NULL;
}

void
webhook_close(struct webhook *w)
{
}

void
webhook_forked(struct webhook *w)
{
}

int
webhook_fd(const struct webhook *w)
{
	return -1;
}

void
webhook_run(struct webhook *w)
{
}

#endif
