/*
 * ipc.c - causes behind further ways in which processes wait for each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/why/causes.h"

static int to[2], back[2], fd;
static const char *file;

static void
pipes(void)
{
	make_pipe(to);
	make_pipe(back);
}

/* A FIFO is opened by the other end after a while. */
static void
opener_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		sleep_ms(15);
		close(open(file, O_WRONLY | O_CLOEXEC));
	}
}

static void
fifo_setup(const char *path)
{
	pipes();
	file = path;
	if (mkfifo(path, 0600) != 0)
		die(path);
	child("opener", opener_main, NULL);
}

static void
fifo_request(int id, bool slow)
{
	if (!slow)
		return;
	put1(to[1]);
	close(open(file, O_RDONLY | O_CLOEXEC));
}

/* A lock of fcntl(2). */
static void
set_lock(int of, int type)
{
	struct flock l = { .l_type = (short)type, .l_whence = SEEK_SET, .l_len = 1 };

	fcntl(of, F_SETLKW, &l);
}

static void
locker_main(void *arg)
{
	int mine = open(file, O_RDWR | O_CLOEXEC);

	for (;;) {
		get1(to[0]);
		set_lock(mine, F_WRLCK);
		put1(back[1]);
		spin_ms(15);
		set_lock(mine, F_UNLCK);
	}
}

static void
posix_setup(const char *path)
{
	pipes();
	file = path;
	fd = make_file(path, 4096, 0);
	child("locker", locker_main, NULL);
}

static void
posix_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
	}
	set_lock(fd, F_WRLCK);
	set_lock(fd, F_UNLCK);
}

/* Message queues of POSIX and of System V. */
static mqd_t mq;
static int sysv;

static void
sender_main(void *arg)
{
	struct { long type; char text[8]; } m = { 1, "" };

	for (;;) {
		get1(to[0]);
		spin_ms(15);
		if ((sysv < 0 ? mq_send(mq, "x", 1, 0) : msgsnd(sysv, &m, sizeof(m.text), 0)) != 0)
			return;
	}
}

static void
mq_setup(const char *path)
{
	struct mq_attr a = { .mq_maxmsg = 4, .mq_msgsize = 64 };

	pipes();
	sysv = -1;
	mq = mq_open("/tnf-why", O_RDWR | O_CREAT, 0600, &a);
	if (mq == (mqd_t)-1)
		die("mq_open");
	mq_unlink("/tnf-why");
	child("sender", sender_main, NULL);
}

static void
mq_request(int id, bool slow)
{
	char buf[64];

	if (!slow)
		return;
	put1(to[1]);
	if (mq_receive(mq, buf, sizeof(buf), NULL) < 0)
		die("mq_receive");
}

static void
sysv_gone(void)
{
	msgctl(sysv, IPC_RMID, NULL);
}

static void
msg_setup(const char *path)
{
	pipes();
	if ((sysv = msgget(IPC_PRIVATE, 0600)) < 0)
		die("msgget");
	child("sender", sender_main, NULL);
	atexit(sysv_gone);
}

static void
msg_request(int id, bool slow)
{
	struct { long type; char text[8]; } m;

	if (!slow)
		return;
	put1(to[1]);
	if (msgrcv(sysv, &m, sizeof(m.text), 0, 0) < 0)
		die("msgrcv");
}

/* A file that another process changes after a while. */
static void
toucher_main(void *arg)
{
	int mine = open(file, O_WRONLY | O_CLOEXEC);

	for (;;) {
		get1(to[0]);
		sleep_ms(15);
		put1(mine);
	}
}

static void
inotify_setup(const char *path)
{
	pipes();
	file = path;
	close(make_file(path, 0, 0));
	fd = inotify_init1(IN_CLOEXEC);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY) < 0)
		die("inotify");
	child("toucher", toucher_main, NULL);
}

static void
inotify_request(int id, bool slow)
{
	char buf[512];

	if (!slow)
		return;
	put1(to[1]);
	if (read(fd, buf, sizeof(buf)) <= 0)
		die("inotify");
}

/* Datagrams. */
static struct sockaddr_in udp_at = { .sin_family = AF_INET };
static int udp[2];

static int
udp_socket(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (s < 0 || bind(s, (struct sockaddr *)at, sizeof(*at)) != 0 ||
	    getsockname(s, (struct sockaddr *)at, &len) != 0)
		die("udp");
	return s;
}

static void
udp_main(void *arg)
{
	struct sockaddr_in from;
	char c;

	for (;;) {
		socklen_t len = sizeof(from);
		if (recvfrom(udp[0], &c, 1, 0, (struct sockaddr *)&from, &len) != 1)
			return;
		if (c == 's')
			sleep_ms(15);
		sendto(udp[0], &c, 1, 0, (struct sockaddr *)&from, len);
	}
}

static void
udp_setup(const char *path)
{
	struct sockaddr_in mine;

	udp[0] = udp_socket(&udp_at);
	udp[1] = udp_socket(&mine);
	child("dgrams", udp_main, NULL);
}

static void
udp_request(int id, bool slow)
{
	char c = slow ? 's' : 'f';

	sendto(udp[1], &c, 1, 0, (struct sockaddr *)&udp_at, sizeof(udp_at));
	if (recv(udp[1], &c, 1, 0) != 1)
		die("recv");
}

/* A signal that is waited for. */
static void
killer_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		spin_ms(15);
		kill(getppid(), SIGUSR1);
	}
}

static void
signal_setup(const char *path)
{
	sigset_t set;

	pipes();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child("killer", killer_main, NULL);
}

static void
signal_request(int id, bool slow)
{
	sigset_t set;
	int got;

	if (!slow)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	put1(to[1]);
	if (sigwait(&set, &got) != 0)
		die("sigwait");
}

static void
timerfd_request(int id, bool slow)
{
	struct itimerspec t = { .it_value.tv_nsec = slow ? 20000000 : 1000 };
	int tfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t n;

	if (tfd < 0 || timerfd_settime(tfd, 0, &t, NULL) != 0 || read(tfd, &n, sizeof(n)) != sizeof(n))
		die("timerfd");
	close(tfd);
}

static void
poll_request(int id, bool slow)
{
	struct pollfd p = { .fd = to[0], .events = POLLIN };

	poll(&p, 1, slow ? 20 : 1);
}

/* A child that shares our memory until it executes something. */
static void
vfork_request(int id, bool slow)
{
	static const struct timespec t = { 0, 20000000 };

	if (!slow)
		return;
	pid_t pid = vfork();
	if (pid == 0) {
		name_me("vforked");
		nanosleep(&t, NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void
system_request(int id, bool slow)
{
	if (slow && system("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done") != 0)
		die("system");
}

static void
pipeline_request(int id, bool slow)
{
	if (slow && system("sleep 0.03 | cat") != 0)
		die("system");
}

/* A storm of children: each is short, all together are the cause. */
static void
children_request(int id, bool slow)
{
	for (int i = 0; i < (slow ? 12 : 1); i++) {
		pid_t pid = fork();
		if (pid < 0)
			die("fork");
		if (pid == 0) {
			name_me("kid");
			spin_ms(2);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* A page fault that another thread answers. */
static char *page;

static void *
fault_main(void *arg)
{
	static char content[4096] __attribute__((aligned(4096))) = "x";
	struct uffd_msg m;

	while (read(fd, &m, sizeof(m)) == sizeof(m)) {
		struct uffdio_copy c = { .dst = m.arg.pagefault.address & ~4095ull,
		    .src = (uintptr_t)content, .len = 4096 };
		spin_ms(15);
		ioctl(fd, UFFDIO_COPY, &c);
	}
	return NULL;
}

static void
uffd_setup(const char *path)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING };

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r.range.start = (uintptr_t)page;
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &r) != 0)
		die("userfaultfd");
	thread("filler", fault_main, NULL);
}

static void
uffd_request(int id, bool slow)
{
	if (!slow)
		return;
	(void)*(volatile char *)page;
	madvise(page, 4096, MADV_DONTNEED);
}

/* A pseudo-terminal, whose other side is slow. */
static void
typist_main(void *arg)
{
	char c;

	while (read(fd, &c, 1) == 1) {
		sleep_ms(c == 's' ? 15 : 0);
		if (write(fd, "\n", 1) != 1)
			return;
	}
}

static int tty = -1;

static void
tty_setup(const char *path)
{
	struct termios raw;

	fd = posix_openpt(O_RDWR | O_NOCTTY);
	if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 ||
	    (tty = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0 || tcgetattr(tty, &raw) != 0)
		die("pty");
	cfmakeraw(&raw);
	tcsetattr(tty, TCSANOW, &raw);
	child("typist", typist_main, NULL);
}

static void
tty_request(int id, bool slow)
{
	char buf[64];

	if (write(tty, slow ? "s" : "f", 1) != 1 || read(tty, buf, sizeof(buf)) <= 0)
		die("tty");
}

const struct cause causes_ipc[] = {
	{ "fifo", fifo_setup, fifo_request, false },
	{ "posix-lock", posix_setup, posix_request, false },
	{ "mqueue", mq_setup, mq_request, false },
	{ "sysv-msg", msg_setup, msg_request, false },
	{ "inotify", inotify_setup, inotify_request, false },
	{ "udp-peer", udp_setup, udp_request, false },
	{ "sigwait", signal_setup, signal_request, false },
	{ "timerfd", NULL, timerfd_request, false },
	{ "poll-timeout", fifo_setup, poll_request, false },
	{ "vfork", NULL, vfork_request, false },
	{ "system", NULL, system_request, false },
	{ "children", NULL, children_request, false },
	{ "pipeline", NULL, pipeline_request, false },
	{ "userfault", uffd_setup, uffd_request, false },
	{ "tty", tty_setup, tty_request, false },
	{ NULL, NULL, NULL, false }
};
