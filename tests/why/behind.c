/*
 * behind.c - causes behind several others, or behind what the server is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/why/causes.h"

#define SIZE	(16u << 20)

static int to[2], back[2], on[2], pair[2], fd;
static const char *file;

static void
pipes(const char *path)
{
	make_pipe(to);
	make_pipe(back);
	make_pipe(on);
	file = path;
}

/* Lets the other one take what the request needs. */
static void
ready(void)
{
	put1(to[1]);
	get1(back[0]);
}

/* Another process has the file locked for a while; the server does not wait, it tries again. */
static void
locker_main(void *arg)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 100 };
	bool whole = arg != NULL;
	int mine = open(file, O_RDWR | O_CLOEXEC);

	for (;;) {
		get1(to[0]);
		l.l_type = F_WRLCK;
		if (whole ? flock(mine, LOCK_EX) : fcntl(mine, F_SETLK, &l))
			die("lock");
		put1(back[1]);
		sleep_ms(25);
		l.l_type = F_UNLCK;
		if (whole ? flock(mine, LOCK_UN) : fcntl(mine, F_SETLK, &l))
			die("unlock");
	}
}

static void
lock_poll_setup(const char *path)
{
	pipes(path);
	fd = make_file(path, 1 << 16, 0);
	child("locker", locker_main, NULL);
}

static void
flock_poll_setup(const char *path)
{
	pipes(path);
	fd = make_file(path, 1 << 16, 0);
	child("locker", locker_main, &fd);
}

static void
lock_poll_request(int id, bool slow)
{
	struct flock l = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 50, .l_len = 1 };

	if (slow)
		ready();
	for (double ms = 1; fcntl(fd, F_SETLK, &l) != 0 && (errno == EAGAIN || errno == EACCES); ms *= 2)
		sleep_ms(ms);
	l.l_type = F_UNLCK;
	fcntl(fd, F_SETLK, &l);
}

static void
flock_poll_request(int id, bool slow)
{
	if (slow)
		ready();
	while (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		sleep_ms(4);
	flock(fd, LOCK_UN);
}

/* A control group (WHY_BLKIO, by the script) lets through no more than 4 MiB a second. */
static void
limit_setup(const char *path)
{
	const char *group = getenv("WHY_BLKIO");
	char procs[512], pid[32];
	int p;

	if (group == NULL) {
		fprintf(stderr, "no control group for block requests\n");
		exit(77);
	}
	fd = make_file(path, SIZE, 0);
	close(fd);
	if ((fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC)) < 0)
		die("O_DIRECT");
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
	int n = snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if ((p = open(procs, O_WRONLY | O_CLOEXEC)) < 0 || write(p, pid, (size_t)n) != n)
		die(procs);
	close(p);
}

static void
limit_request(int id, bool slow)
{
	static char block[1 << 19] __attribute__((aligned(4096)));

	if (slow && pread(fd, block, sizeof(block), (off_t)(id / 8) << 19) != sizeof(block))
		die("pread");
}

/* The result comes by an eventfd, of a thread that computes. */
static int event;

static void *
computes_main(void *arg)
{
	uint64_t one = 1;

	for (;;) {
		get1(to[0]);
		spin_ms(10);
		if (write(event, &one, sizeof(one)) != sizeof(one))
			exit(0);
	}
	return NULL;
}

static void
eventfd_setup(const char *path)
{
	pipes(path);
	if ((event = eventfd(0, EFD_CLOEXEC)) < 0)
		die("eventfd");
	thread("computes", computes_main, NULL);
}

static void
eventfd_request(int id, bool slow)
{
	uint64_t n;

	if (!slow)
		return;
	put1(to[1]);
	if (read(event, &n, sizeof(n)) != sizeof(n))
		die("eventfd");
}

/* The first waits by a condition variable for the second, which waits by a semaphore for the third. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int done;

static void *
third_main(void *arg)
{
	for (;;) {
		get1(on[0]);
		sleep_ms(12);
		sem_post(&sem);
	}
	return NULL;
}

static void *
second_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		put1(on[1]);
		sem_wait(&sem);
		pthread_mutex_lock(&mutex);
		done++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void
cond_setup(const char *path)
{
	pipes(path);
	sem_init(&sem, 0, 0);
	thread("second", second_main, NULL);
	thread("third", third_main, NULL);
}

static void
cond_request(int id, bool slow)
{
	if (!slow)
		return;
	put1(to[1]);
	pthread_mutex_lock(&mutex);
	while (done < id / 8)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

/* The buffer of the socket is full, as its reader sleeps. */
static void
lazy_main(void *arg)
{
	static char block[1 << 16];

	for (;;) {
		get1(to[0]);
		sleep_ms(15);
		for (size_t n = 0; n < SIZE / 4; ) {
			ssize_t r = read(pair[1], block, sizeof(block));
			if (r <= 0)
				exit(0);
			n += (size_t)r;
		}
		put1(back[1]);
	}
}

static void
full_socket_setup(const char *path)
{
	pipes(path);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		die("socketpair");
	child("lazy", lazy_main, NULL);
}

static void
full_socket_request(int id, bool slow)
{
	static char block[SIZE / 4];

	if (!slow)
		return;
	put1(to[1]);
	for (size_t n = 0; n < sizeof(block); ) {
		ssize_t r = write(pair[0], block + n, sizeof(block) - n);
		if (r <= 0)
			die("write");
		n += (size_t)r;
	}
	get1(back[0]);
}

/* The peer stores something for another one first. */
static void
storer_main(void *arg)
{
	static char block[1 << 20];
	int mine = open(file, O_RDWR | O_CLOEXEC);
	char c;

	for (;;) {
		if (read(pair[1], &c, 1) != 1)
			exit(0);
		for (int i = 0; c == 's' && i < 8; i++)
			if (pwrite(mine, block, sizeof(block), (off_t)i << 20) < 0 || fdatasync(mine) != 0)
				die("fdatasync");
		if (write(pair[1], &c, 1) != 1)
			exit(0);
	}
}

static void
storer_setup(const char *path)
{
	pipes(path);
	fd = make_file(path, SIZE, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		die("socketpair");
	child("storer", storer_main, NULL);
}

static void
storer_request(int id, bool slow)
{
	char c = slow ? 's' : 'f';

	if (write(pair[0], &c, 1) != 1 || read(pair[0], &c, 1) != 1)
		exit(0);
}

/* The server sends a file that is not in memory. */
static void
sendfile_setup(const char *path)
{
	fd = make_file(path, SIZE, 0);
	if ((pair[0] = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
		die("/dev/null");
}

static void
sendfile_request(int id, bool slow)
{
	off_t at = 0;

	if (slow) {
		fsync(fd);
		posix_fadvise(fd, 0, SIZE, POSIX_FADV_DONTNEED);
	}
	while (at < (slow ? (off_t)SIZE : 4096))
		if (sendfile(pair[0], fd, &at, SIZE / 4) <= 0)
			die("sendfile");
}

static void
msync_request(int id, bool slow)
{
	static char *p;

	if (p == NULL && (p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		die("mmap");
	for (size_t at = 0; slow && at < SIZE / 2; at += 4096)
		p[at]++;
	if (slow)
		msync(p, SIZE / 2, MS_SYNC);
}

/* The end of a child is awaited by poll() of its pidfd. */
static void
quits_main(void *arg)
{
	spin_ms(12);
}

static void
pidfd_request(int id, bool slow)
{
	struct pollfd p = { .events = POLLIN };
	pid_t pid;

	if (!slow)
		return;
	pid = child("quits", quits_main, NULL);
	if ((p.fd = (int)syscall(SYS_pidfd_open, pid, 0)) < 0)
		die("pidfd_open");
	poll(&p, 1, -1);
	close(p.fd);
	waitpid(pid, NULL, 0);
}

/* The server waits for a lock of "upper", which waits for a lock of "deep", which stores. */
static void *
deep_main(void *arg)
{
	static char block[1 << 20];

	for (;;) {
		get1(on[0]);
		pthread_mutex_lock(&mutex);
		put1(back[1]);
		for (int i = 0; i < 8; i++)
			if (pwrite(fd, block, sizeof(block), (off_t)i << 20) < 0 || fdatasync(fd) != 0)
				die("fdatasync");
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *
upper_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		pthread_mutex_lock(&outer);
		put1(on[1]);
		sleep_ms(1);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_unlock(&outer);
	}
	return NULL;
}

static void
nested_setup(const char *path)
{
	pipes(path);
	fd = make_file(path, SIZE, 0);
	thread("upper", upper_main, NULL);
	thread("deep", deep_main, NULL);
}

static void
nested_request(int id, bool slow)
{
	if (slow)
		ready();
	pthread_mutex_lock(&outer);
	pthread_mutex_unlock(&outer);
}

/* The mutex is in memory that another process shares. */
static pthread_mutex_t *shared;

static void
keeper_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		pthread_mutex_lock(shared);
		put1(back[1]);
		sleep_ms(12);
		pthread_mutex_unlock(shared);
	}
}

static void
shared_setup(const char *path)
{
	pthread_mutexattr_t a;

	pipes(path);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &a);
	child("keeper", keeper_main, NULL);
}

static void
shared_request(int id, bool slow)
{
	if (slow)
		ready();
	pthread_mutex_lock(shared);
	pthread_mutex_unlock(shared);
}

/* A broker hands the request over to a worker, and the answer back. */
static int work[2], result[2];

static void
broker_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		put1(work[1]);
		get1(result[0]);
		put1(back[1]);
	}
}

static void
worker_main(void *arg)
{
	for (;;) {
		get1(work[0]);
		spin_ms(10);
		put1(result[1]);
	}
}

static void
broker_setup(const char *path)
{
	pipes(path);
	make_pipe(work);
	make_pipe(result);
	child("broker", broker_main, NULL);
	child("worker", worker_main, NULL);
}

static void
broker_request(int id, bool slow)
{
	if (slow)
		ready();
}

const struct cause causes_behind[] = {
	{ "lock-poll", lock_poll_setup, lock_poll_request, false },
	{ "flock-poll", flock_poll_setup, flock_poll_request, false },
	{ "io-limit", limit_setup, limit_request, false },
	{ "eventfd", eventfd_setup, eventfd_request, false },
	{ "cond-chain", cond_setup, cond_request, false },
	{ "full-socket", full_socket_setup, full_socket_request, false },
	{ "busy-storer", storer_setup, storer_request, false },
	{ "sendfile", sendfile_setup, sendfile_request, false },
	{ "msync", sendfile_setup, msync_request, false },
	{ "pidfd", NULL, pidfd_request, false },
	{ "nested-locks", nested_setup, nested_request, false },
	{ "shared-mutex", shared_setup, shared_request, false },
	{ "broker", broker_setup, broker_request, false },
	{ NULL, NULL, NULL, false }
};
