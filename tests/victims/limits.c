/*
 * limits.c - victim: a thread for each system call that waits with, or without,
 * a time limit.
 *
 * limits MS: each call is made once, with this limit.  Prints "NAME slept" for
 * each that came back when its time was over, "NAME interrupted" for EINTR, in
 * the order in which they end, then "limits ended".
 * limits 0: no limits; after a line of input each thread is given what it waits
 * for.  "NAME slept", if it got that.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#ifndef LIMITS_NO_PROBES
#include <tnf/probe.h>
#endif

#include "victim.h"

static struct timespec limit;	/* from now */
static struct timespec until;	/* CLOCK_REALTIME */
static struct timeval limit_tv;
static int limit_ms, pipe_fd[2];

/* Each returns 0 when its time was over, or -1 and errno. */
static int
limits_timeout(long r, int error)
{
	return r < 0 && errno == error ? 0 : -1;
}

static int
wait_nanosleep(void)
{
	return nanosleep(&limit, NULL);
}

static int
wait_clock_nanosleep(void)
{
	return errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL);
}

static int
wait_poll(void)
{
	return poll(NULL, 0, limit_ms);
}

static int
wait_ppoll(void)
{
	return ppoll(NULL, 0, &limit, NULL);
}

static int
wait_select(void)
{
	struct timeval tv = limit_tv;

	return select(0, NULL, NULL, NULL, &tv);
}

static int
wait_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &limit, NULL);
}

static int
wait_futex(void)
{
	int word = 0;

	return limits_timeout(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0,
	    &limit, NULL, 0), ETIMEDOUT);
}

static int
wait_mq(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[32], buf[8];
	mqd_t q;

	snprintf(name, sizeof(name), "/tnf-limits-%d", (int)getpid());
	q = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	mq_unlink(name);
	return limits_timeout(mq_timedreceive(q, buf, sizeof(buf), NULL, &until),
	    ETIMEDOUT);
}

static int
wait_epoll(void)
{
	struct epoll_event ev;

	return epoll_wait(epoll_create1(0), &ev, 1, limit_ms);
}

static int
wait_epoll_pwait2(void)
{
	struct epoll_event ev;

	return (int)syscall(SYS_epoll_pwait2, epoll_create1(0), &ev, 1, &limit,
	    NULL, 0);
}

static int
wait_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return limits_timeout(sigtimedwait(&set, NULL, &limit), EAGAIN);
}

static int
wait_semtimedop(void)
{
	struct sembuf op = { .sem_num = 0, .sem_op = -1 };
	int id = semget(IPC_PRIVATE, 1, 0600), r;

	r = limits_timeout(semtimedop(id, &op, 1, &limit), EAGAIN);
	semctl(id, 0, IPC_RMID);
	return r;
}

static int
limits_socket(int what)
{
	int fd[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
	setsockopt(fd[0], SOL_SOCKET, what, &limit_tv, sizeof(limit_tv));
	return fd[0];
}

static int
wait_recv(void)
{
	char c;

	return limits_timeout(recv(limits_socket(SO_RCVTIMEO), &c, 1, 0),
	    EAGAIN);
}

static int
wait_readv(void)
{
	char c;
	struct iovec v = { &c, 1 };

	return limits_timeout(readv(limits_socket(SO_RCVTIMEO), &v, 1), EAGAIN);
}

static int
wait_send(void)
{
	static char buf[1 << 20];
	int fd = limits_socket(SO_SNDTIMEO);

	while (send(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	return limits_timeout(send(fd, buf, 1, 0), EAGAIN);
}

/* Without limits. */

static sigset_t usr1;

static int
wait_forever_epoll(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, pipe_fd[0], &ev);
	return epoll_wait(fd, &ev, 1, -1) == 1 ? 0 : -1;
}

static int
wait_forever_sigwaitinfo(void)
{
	return sigwaitinfo(&usr1, NULL) == SIGUSR1 ? 0 : -1;
}

static int sem_id;

static int
wait_forever_semop(void)
{
	struct sembuf op = { .sem_num = 0, .sem_op = -1 };

	return semop(sem_id, &op, 1);
}

static char watched[] = "/tmp/tnf-limits-XXXXXX";
static int inotify_fd;

static int
wait_forever_inotify(void)
{
	char buf[4096];

	return read(inotify_fd, buf, sizeof(buf)) > 0 ? 0 : -1;
}

static int
wait_forever_inotify_readv(void)
{
	char buf[4096];
	struct iovec v = { buf, sizeof(buf) };

	return readv(inotify_fd, &v, 1) > 0 ? 0 : -1;
}

/* Polls the pipe, and waits for that. */
static int
wait_forever_io_uring(void)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	struct io_uring_sqe *sqe;
	unsigned char *sq;

	if (fd < 0)
		return errno == EPERM || errno == ENOSYS ? 0 : -1;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(uint32_t),
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, IORING_OFF_SQES);
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD,
	    .fd = pipe_fd[0], .poll32_events = POLLIN };
	((uint32_t *)(void *)(sq + p.sq_off.array))[0] = 0;
	__atomic_store_n((uint32_t *)(void *)(sq + p.sq_off.tail), 1,
	    __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) != 1)
		return -1;
	return syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS,
	    NULL, 0) >= 0 ? 0 : -1;
}

static void
begin_forever(void)
{
	sem_id = semget(IPC_PRIVATE, 1, 0600);
	close(mkstemp(watched));
	inotify_fd = inotify_init1(0);
	inotify_add_watch(inotify_fd, watched, IN_ATTRIB);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
}

/* Ends what they wait for; inotify's event is for two. */
static void
end_forever(void)
{
	struct sembuf op = { .sem_num = 0, .sem_op = 1 };
	struct timespec pause = { .tv_nsec = 100000000 };

	getchar();
	if (write(pipe_fd[1], "x", 1) != 1)
		victim_harmed("write");
	kill(getpid(), SIGUSR1);
	semop(sem_id, &op, 1);
	chmod(watched, 0400);
	nanosleep(&pause, NULL);
	chmod(watched, 0600);
}

struct wait {
	const char *name;
	int	(*wait)(void);
};

static const struct wait limited[] = {
	{ "nanosleep", wait_nanosleep },
	{ "clock_nanosleep", wait_clock_nanosleep },
	{ "poll", wait_poll },
	{ "ppoll", wait_ppoll },
	{ "select", wait_select },
	{ "pselect", wait_pselect },
	{ "futex", wait_futex },
	{ "mq_timedreceive", wait_mq },
	{ "epoll_wait", wait_epoll },
	{ "epoll_pwait2", wait_epoll_pwait2 },
	{ "sigtimedwait", wait_sigtimedwait },
	{ "semtimedop", wait_semtimedop },
	{ "recv", wait_recv },
	{ "readv", wait_readv },
	{ "send", wait_send },
	{ NULL, NULL },
}, forever[] = {
	{ "epoll_wait", wait_forever_epoll },
	{ "sigwaitinfo", wait_forever_sigwaitinfo },
	{ "semop", wait_forever_semop },
	{ "inotify", wait_forever_inotify },
	{ "inotify readv", wait_forever_inotify_readv },
	{ "io_uring_enter", wait_forever_io_uring },
	{ NULL, NULL },
};

static void *
wait_in_thread(void *arg)
{
	const struct wait *w = arg;

	errno = 0;
	if (w->wait() == 0)
		printf("%s slept\n", w->name);
	else
		printf("%s %s\n", w->name, errno == EINTR ? "interrupted" :
		    strerror(errno));
	fflush(stdout);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t[32];
	const struct wait *w;
	size_t i, n = 0;

	limit_ms = argc > 1 ? atoi(argv[1]) : 500;
	limit = (struct timespec){ limit_ms / 1000, limit_ms % 1000 * 1000000L };
	limit_tv = (struct timeval){ limit.tv_sec, limit.tv_nsec / 1000 };
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += limit.tv_sec + (until.tv_nsec + limit.tv_nsec) / 1000000000;
	until.tv_nsec = (until.tv_nsec + limit.tv_nsec) % 1000000000;
	if (pipe(pipe_fd) < 0)
		return 2;
	if (limit_ms == 0)
		begin_forever();
	victim_ready();
	for (w = limit_ms == 0 ? forever : limited; w->name != NULL; w++)
		pthread_create(&t[n++], NULL, wait_in_thread,
		    (void *)(uintptr_t)w);
#ifndef LIMITS_NO_PROBES
	TNF_PROBE_0(limits, "limits", "");
#endif
	if (limit_ms == 0)
		end_forever();
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (limit_ms == 0) {
		unlink(watched);
		semctl(sem_id, 0, IPC_RMID);
	}
	puts("limits ended");
	return 0;
}
