/*
 * notify.c - what systemd(1) is told (sd_notify(3)), without its library.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/notify.h"
#include "tnfwatch/util.h"

void
notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = path != NULL ? strlen(path) : 0;
	int fd;

	if (n < 2 || n >= sizeof a.sun_path || (*path != '/' && *path != '@') ||
	    (fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0)
		return;
	memcpy(a.sun_path, path, n);
	if (*path == '@')
		a.sun_path[0] = '\0';
	/* Whether anybody listens is not our concern. */
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&a,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		n = 0;
	close(fd);
}

void
notify_reloading(void)
{
	char *text = tnf_xasprintf("RELOADING=1\nMONOTONIC_USEC=%lld",
	    (long long)(now_mono() / 1000));

	notify(text);
	free(text);
}

int64_t
notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (usec == NULL || (pid != NULL && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoll(usec, NULL, 10) * 1000;
}
