/*
 * connector.c - processes that exec and end, as the kernel's connector tells them.
 */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/connector.h"

#define ROOM	(4 << 20)	/* of the socket: a build makes thousands a second */

static int
connector_listen(int fd)
{
	union {
		struct nlmsghdr h;
		char room[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof(enum proc_cn_mcast_op))];
	} m = { .h = { .nlmsg_type = NLMSG_DONE, .nlmsg_len = NLMSG_LENGTH(
	    sizeof(struct cn_msg) + sizeof(enum proc_cn_mcast_op)) } };
	struct cn_msg *cn = NLMSG_DATA(&m.h);
	enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;

	cn->id.idx = CN_IDX_PROC;
	cn->id.val = CN_VAL_PROC;
	cn->len = sizeof op;
	memcpy(cn->data, &op, sizeof op);
	return send(fd, &m, m.h.nlmsg_len, 0) < 0 ? -1 : 0;
}

int
connector_open(void)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int room = ROOM, e;
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && connector_listen(fd) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static void
connector_tell(const struct proc_event *ev, connector_fn *fn, void *arg)
{
	if (ev->what == PROC_EVENT_EXEC)
		fn(arg, CONNECTOR_EXEC, ev->event_data.exec.process_tgid, 0);
	else if (ev->what == PROC_EVENT_EXIT &&
	    ev->event_data.exit.process_pid == ev->event_data.exit.process_tgid)
		fn(arg, CONNECTOR_EXIT, ev->event_data.exit.process_tgid,
		    (int)ev->event_data.exit.exit_code);
}

static void
connector_take(const char *buf, size_t size, connector_fn *fn, void *arg)
{
	struct proc_event ev;
	struct nlmsghdr h;
	struct cn_msg cn;

	if (size < NLMSG_HDRLEN + sizeof cn)
		return;
	memcpy(&h, buf, sizeof h);
	memcpy(&cn, buf + NLMSG_HDRLEN, sizeof cn);
	if (h.nlmsg_len > size || cn.id.idx != CN_IDX_PROC || cn.id.val != CN_VAL_PROC)
		return;
	/* Newer kernels have a longer struct, older ones a shorter one. */
	memset(&ev, 0, sizeof ev);
	size -= NLMSG_HDRLEN + sizeof cn;
	memcpy(&ev, buf + NLMSG_HDRLEN + sizeof cn, size < sizeof ev ? size : sizeof ev);
	connector_tell(&ev, fn, arg);
}

void
connector_read(int fd, connector_fn *fn, void *arg)
{
	struct sockaddr_nl from;
	char buf[1024];

	for (;;) {
		socklen_t len = sizeof from;
		ssize_t n = recvfrom(fd, buf, sizeof buf, 0, (struct sockaddr *)&from, &len);
		if (n < 0 && errno == ENOBUFS) {
			fn(arg, CONNECTOR_OVERFLOW, 0, 0);
			continue;
		}
		if (n <= 0)
			return;
		/* Another process may send us what it likes. */
		if (from.nl_pid == 0)
			connector_take(buf, (size_t)n, fn, arg);
	}
}
