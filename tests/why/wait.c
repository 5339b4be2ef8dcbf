/*
 * wait.c - causes of waits for other threads and processes, and for time.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/why/causes.h"

static int to[2], back[2], server = -1;
static volatile bool is_slow;

/* Three processes pass a byte on; the last is slow. */
struct stage {
	int in, out;
	bool last;
};

static void
stage_main(void *arg)
{
	struct stage *s = arg;
	char c;

	while (read(s->in, &c, 1) == 1) {
		if (s->last && c == 's')
			sleep_ms(15);
		if (write(s->out, &c, 1) != 1)
			return;
	}
}

static void
chain_setup(const char *path)
{
	static const char *const name[] = { "stage1", "stage2", "stage3" };
	int p[4][2];

	for (int i = 0; i < 4; i++)
		make_pipe(p[i]);
	for (int i = 0; i < 3; i++) {
		struct stage s = { p[i][0], p[i + 1][1], i == 2 };
		child(name[i], stage_main, &s);
	}
	to[1] = p[0][1];
	back[0] = p[3][0];
}

static void
ask(int out, int in, bool slow)
{
	if (write(out, slow ? "s" : "f", 1) != 1)
		die("write");
	get1(in);
}

static void
chain_request(int id, bool slow)
{
	ask(to[1], back[0], slow);
}

static void
sleep_request(int id, bool slow)
{
	sleep_ms(slow ? 20 : 0.1);
}

/* No thread signals the condition. */
static void
timed_request(int id, bool slow)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec t;

	if (!slow)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 20000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	pthread_mutex_lock(&mutex);
	while (pthread_cond_timedwait(&cond, &mutex, &t) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&mutex);
}

/* A peer that computes before it answers. */
static void
peer_main(void *arg)
{
	int fd = *(int *)arg;
	char c;

	while (read(fd, &c, 1) == 1) {
		if (c == 's')
			spin_ms(15);
		if (write(fd, &c, 1) != 1)
			return;
	}
}

static void
tcp_peer(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);

	peer_main(&fd);
}

static void
tcp_setup(const char *path)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (l < 0 || bind(l, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(l, 1) != 0 ||
	    getsockname(l, (struct sockaddr *)&at, &len) != 0)
		die("listen");
	child("peer", tcp_peer, &l);
	server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0 || connect(server, (struct sockaddr *)&at, sizeof(at)) != 0)
		die("connect");
}

static void
unix_setup(const char *path)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
		die("socketpair");
	child("peer", peer_main, &fd[1]);
	server = fd[0];
}

static void
socket_request(int id, bool slow)
{
	ask(server, server, slow);
}

/* A pool with one thread, which is busy with another's request. */
static void *
worker_main(void *arg)
{
	char c;

	while (read(to[0], &c, 1) == 1) {
		if (c == 'b') {		/* of somebody else */
			spin_ms(15);
			continue;
		}
		request_taken(c);
		spin_ms(0.2);
		request_ends(c);
		put1(back[1]);
	}
	return NULL;
}

static void
pool_setup(const char *path)
{
	make_pipe(to);
	make_pipe(back);
	thread("worker", worker_main, NULL);
}

static void
pool_request(int id, bool slow)
{
	char c = (char)id;

	if (slow && write(to[1], "b", 1) != 1)
		die("write");
	request_begins(id);
	if (write(to[1], &c, 1) != 1)
		die("write");
	get1(back[0]);
}

static void
child_request(int id, bool slow)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		execlp("sleep", "sleep", slow ? "0.03" : "0", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

/* An event loop, and a thread that makes the event. */
static int ep = -1, event = -1;

static void *
slowpoke_main(void *arg)
{
	uint64_t one = 1;

	for (;;) {
		get1(to[0]);
		if (is_slow)
			spin_ms(15);
		if (write(event, &one, sizeof(one)) != sizeof(one))
			die("eventfd");
	}
	return NULL;
}

static void
epoll_setup(const char *path)
{
	struct epoll_event e = { .events = EPOLLIN };

	make_pipe(to);
	event = eventfd(0, 0);
	ep = epoll_create1(0);
	if (event < 0 || ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, event, &e) != 0)
		die("epoll");
	thread("slowpoke", slowpoke_main, NULL);
}

static void
epoll_request(int id, bool slow)
{
	struct epoll_event e;
	uint64_t n;

	is_slow = slow;
	put1(to[1]);
	if (epoll_wait(ep, &e, 1, -1) != 1 || read(event, &n, sizeof(n)) != sizeof(n))
		die("epoll_wait");
}

/* A full pipe, whose reader is slow. */
static void
reader_main(void *arg)
{
	static char buf[65536];

	for (;;) {
		get1(back[0]);
		sleep_ms(20);
		for (size_t got = 0; got < 65536 + 4096; ) {
			ssize_t n = read(to[0], buf, sizeof(buf));
			if (n <= 0)
				return;
			got += (size_t)n;
		}
	}
}

static void
full_setup(const char *path)
{
	make_pipe(to);
	make_pipe(back);
	child("reader", reader_main, NULL);
}

static void
full_request(int id, bool slow)
{
	static char buf[65536 + 4096];

	if (!slow)
		return;
	put1(back[1]);
	for (size_t put = 0; put < sizeof(buf); ) {
		ssize_t n = write(to[1], buf + put, sizeof(buf) - put);
		if (n <= 0)
			die("write");
		put += (size_t)n;
	}
}

const struct cause causes_wait[] = {
	{ "pipes", chain_setup, chain_request, false },
	{ "sleep", NULL, sleep_request, false },
	{ "timed-wait", NULL, timed_request, false },
	{ "tcp-peer", tcp_setup, socket_request, false },
	{ "unix-peer", unix_setup, socket_request, false },
	{ "pool", pool_setup, pool_request, true },
	{ "child", NULL, child_request, false },
	{ "epoll", epoll_setup, epoll_request, false },
	{ "full-pipe", full_setup, full_request, false },
	{ NULL, NULL, NULL, false }
};
