/*
 * lock.c - causes behind locks.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/why/causes.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int to[2], back[2], fd;
static const char *file;

/* Takes the mutex when it is told to, does something, and gives it back. */
static void *
holder(void (*work)(void))
{
	for (;;) {
		get1(to[0]);
		pthread_mutex_lock(&mutex);
		put1(back[1]);
		work();
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void
lock_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
	}
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void
pipes(void)
{
	make_pipe(to);
	make_pipe(back);
}

static void
sync_work(void)
{
	static char block[1 << 20];

	for (int i = 0; i < 12; i++) {
		if (pwrite(fd, block, sizeof(block), 0) < 0)
			die("pwrite");
		fsync(fd);
	}
}

static void *
sync_main(void *arg)
{
	return holder(sync_work);
}

static void
sync_setup(const char *path)
{
	pipes();
	fd = make_file(path, 1 << 20, 0);
	thread("holder", sync_main, NULL);
}

static void
spin_work(void)
{
	spin_ms(10);
}

static void *
preempted_main(void *arg)
{
	pin(0);
	return holder(spin_work);
}

static void *
hog_main(void *arg)
{
	pin(0);
	for (;;) {
		get1(*(int *)arg);
		spin_ms(40);
	}
	return NULL;
}

static int hog[2];

static void
preempted_setup(const char *path)
{
	pipes();
	make_pipe(hog);
	thread("holder", preempted_main, NULL);
	thread("cpuhog", hog_main, &hog[0]);
	pin(1);
}

static void
preempted_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
		put1(hog[1]);
	}
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *
spin_main(void *arg)
{
	return holder(spin_work);
}

static void
pi_setup(const char *path)
{
	pthread_mutexattr_t a;

	pipes();
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &a);
	thread("holder", spin_main, NULL);
}

/* Six threads in a row want the lock, each for some milliseconds, and then the request. */
static void *
convoy_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		pthread_mutex_lock(&mutex);
		put1(back[1]);
		spin_ms(4);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void
convoy_setup(const char *path)
{
	pipes();
	for (int i = 0; i < 6; i++)
		thread("convoy", convoy_main, NULL);
}

static void
convoy_request(int id, bool slow)
{
	if (slow) {
		for (int i = 0; i < 6; i++)
			put1(to[1]);
		get1(back[0]);
		sleep_ms(1);
	}
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

/* Woken many times for nothing, in the end for something. */
static int generation;

static void *
waker_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		for (int i = 0; i < 20; i++) {
			spin_ms(1);
			pthread_cond_broadcast(&cond);
		}
		pthread_mutex_lock(&mutex);
		generation++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void
false_setup(const char *path)
{
	pipes();
	thread("waker", waker_main, NULL);
}

static void
false_request(int id, bool slow)
{
	if (!slow)
		return;
	pthread_mutex_lock(&mutex);
	int now = generation;
	put1(to[1]);
	while (generation == now)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

/* flock(2) of another process. */
static void
flock_main(void *arg)
{
	int mine = open(file, O_RDWR | O_CLOEXEC);

	for (;;) {
		get1(to[0]);
		flock(mine, LOCK_EX);
		put1(back[1]);
		sleep_ms(15);
		flock(mine, LOCK_UN);
	}
}

static void
flock_setup(const char *path)
{
	pipes();
	file = path;
	fd = make_file(path, 4096, 0);
	child("locker", flock_main, NULL);
}

static void
flock_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
	}
	flock(fd, LOCK_EX);
	flock(fd, LOCK_UN);
}

/* The lock of the address space, which another thread has while it makes pages. */
static void *
mapper_main(void *arg)
{
	size_t size = 256u << 20;

	for (;;) {
		get1(to[0]);
		put1(back[1]);
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			die("mmap");
		madvise(p, size, MADV_NOHUGEPAGE);
		madvise(p, size, MADV_POPULATE_WRITE);
		munmap(p, size);
	}
	return NULL;
}

static void
rwsem_setup(const char *path)
{
	pipes();
	thread("mapper", mapper_main, NULL);
}

static void
rwsem_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
		sleep_ms(1);
	}
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p, 4096);
}

const struct cause causes_lock[] = {
	{ "fsync-holder", sync_setup, lock_request, false },
	{ "preempted-holder", preempted_setup, preempted_request, false },
	{ "pi-futex", pi_setup, lock_request, false },
	{ "convoy", convoy_setup, convoy_request, false },
	{ "false-wakeups", false_setup, false_request, false },
	{ "flock", flock_setup, flock_request, false },
	{ "rwsem", rwsem_setup, rwsem_request, false },
	{ NULL, NULL, NULL, false }
};
