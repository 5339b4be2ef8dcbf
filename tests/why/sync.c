/*
 * sync.c - causes behind what libraries make of futexes, and behind queues of threads.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/why/causes.h"

static int to[2], back[2];

static void
pipes(void)
{
	make_pipe(to);
	make_pipe(back);
}

/* A semaphore that two processes share; the other computes before it posts. */
static sem_t *sem;

static void
poster_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		spin_ms(15);
		sem_post(sem);
	}
}

static void
sem_setup(const char *path)
{
	sem = mmap(NULL, sizeof(*sem), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sem == MAP_FAILED || sem_init(sem, 1, 0) != 0)
		die("sem_init");
	pipes();
	child("poster", poster_main, NULL);
}

static void
sem_request(int id, bool slow)
{
	if (!slow)
		return;
	put1(to[1]);
	sem_wait(sem);
}

/* The last of three threads comes late to a barrier. */
static pthread_barrier_t barrier;

static void *
late_main(void *ms)
{
	for (;;) {
		get1(to[0]);
		sleep_ms(*(double *)ms);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void
barrier_setup(const char *path)
{
	static double ms = 15;

	pipes();
	pthread_barrier_init(&barrier, NULL, 2);
	thread("late", late_main, &ms);
}

static void
barrier_request(int id, bool slow)
{
	if (!slow)
		return;
	put1(to[1]);
	pthread_barrier_wait(&barrier);
}

/* A writer waits for a reader. */
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *
reader_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		pthread_rwlock_rdlock(&rwlock);
		put1(back[1]);
		spin_ms(15);
		pthread_rwlock_unlock(&rwlock);
	}
	return NULL;
}

static void
rwlock_setup(const char *path)
{
	pipes();
	thread("rdlocker", reader_main, NULL);
}

static void
rwlock_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
	}
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void *
joined_main(void *arg)
{
	name_me("joined");
	spin_ms(15);
	return NULL;
}

static void
join_request(int id, bool slow)
{
	pthread_t t;

	if (!slow)
		return;
	if ((errno = pthread_create(&t, NULL, joined_main, NULL)) != 0)
		die("pthread_create");
	pthread_join(t, NULL);
}

/* A lock of one word, as other languages' libraries have it: no owner is in it. */
static int word;

static long
futex(int op, int value)
{
	return syscall(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void
word_lock(void)
{
	while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0)
		futex(FUTEX_WAIT, 2);
}

static void
word_unlock(void)
{
	if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2)
		futex(FUTEX_WAKE, 1);
}

static void *
word_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		word_lock();
		put1(back[1]);
		sleep_ms(15);
		word_unlock();
	}
	return NULL;
}

static void
word_setup(const char *path)
{
	pipes();
	thread("keeper", word_main, NULL);
}

static void
word_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
	}
	word_lock();
	word_unlock();
}

/* A spin lock, whose holder has lost its CPU to another. */
static pthread_spinlock_t spin;
static int hog[2];

static void *
spinner_main(void *arg)
{
	pin(0);
	for (;;) {
		get1(to[0]);
		pthread_spin_lock(&spin);
		put1(back[1]);
		spin_ms(4);
		pthread_spin_unlock(&spin);
	}
	return NULL;
}

static void *
hog_main(void *arg)
{
	pin(0);
	for (;;) {
		get1(hog[0]);
		spin_ms(30);
	}
	return NULL;
}

static void
spinlock_setup(const char *path)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pipes();
	make_pipe(hog);
	thread("spinner", spinner_main, NULL);
	thread("cpuhog", hog_main, NULL);
	pin(1);
}

static void
spinlock_request(int id, bool slow)
{
	if (slow) {
		put1(to[1]);
		get1(back[0]);
		put1(hog[1]);
	}
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
}

/* Gives its CPU away in a loop until another thread has slept. */
static volatile int flag;

static void *
flag_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		sleep_ms(20);
		flag = 1;
	}
	return NULL;
}

static void
flag_setup(const char *path)
{
	make_pipe(to);
	thread("setter", flag_main, NULL);
}

static void
yield_request(int id, bool slow)
{
	if (!slow)
		return;
	flag = 0;
	put1(to[1]);
	while (!flag)
		sched_yield();
}

/* Looks each millisecond. */
static void
polling_request(int id, bool slow)
{
	if (!slow)
		return;
	flag = 0;
	put1(to[1]);
	while (!flag)
		sleep_ms(1);
}

/* A queue with a lock and a condition, two workers, which sleep over others' work. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int queue[64], queued, answered;

static void
queue_put(int id)
{
	pthread_mutex_lock(&mutex);
	queue[queued++] = id;
	pthread_cond_signal(&some);
	pthread_mutex_unlock(&mutex);
}

static void *
pool_main(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (queued == 0)
			pthread_cond_wait(&some, &mutex);
		int id = queue[0];
		queued--;
		for (int i = 0; i < queued; i++)
			queue[i] = queue[i + 1];
		pthread_mutex_unlock(&mutex);
		if (id == 0) {		/* of somebody else */
			sleep_ms(15);
			continue;
		}
		request_taken(id);
		spin_ms(0.2);
		pthread_mutex_lock(&mutex);
		answered = id;
		pthread_cond_broadcast(&done);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void
pool_setup(const char *path)
{
	for (int i = 0; i < 2; i++)
		thread("worker", pool_main, NULL);
}

static void
pool_request(int id, bool slow)
{
	if (slow) {
		queue_put(0);
		queue_put(0);
		sleep_ms(1);
	}
	request_begins(id);
	queue_put(id);
	pthread_mutex_lock(&mutex);
	while (answered != id)
		pthread_cond_wait(&done, &mutex);
	pthread_mutex_unlock(&mutex);
	request_ends(id);
}

/* Waits with a timeout in a loop, as for a lock of an interpreter. */
static bool is_ready;

static void *
ready_main(void *arg)
{
	for (;;) {
		get1(to[0]);
		spin_ms(22);
		pthread_mutex_lock(&mutex);
		is_ready = true;
		pthread_cond_broadcast(&done);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void
ready_setup(const char *path)
{
	make_pipe(to);
	thread("computes", ready_main, NULL);
}

static void
timed_request(int id, bool slow)
{
	struct timespec t;

	if (!slow)
		return;
	is_ready = false;
	put1(to[1]);
	pthread_mutex_lock(&mutex);
	while (!is_ready) {
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 5000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&done, &mutex, &t);
	}
	pthread_mutex_unlock(&mutex);
}

/* The same without a timeout, but a third thread wakes it for nothing all the time. */
static void *
noise_main(void *arg)
{
	for (;;) {
		sleep_ms(2);
		pthread_cond_broadcast(&done);
	}
	return NULL;
}

static void
noise_setup(const char *path)
{
	ready_setup(path);
	thread("noise", noise_main, NULL);
}

static void
noise_request(int id, bool slow)
{
	if (!slow)
		return;
	is_ready = false;
	put1(to[1]);
	pthread_mutex_lock(&mutex);
	while (!is_ready)
		pthread_cond_wait(&done, &mutex);
	pthread_mutex_unlock(&mutex);
}

const struct cause causes_sync[] = {
	{ "semaphore", sem_setup, sem_request, false },
	{ "barrier", barrier_setup, barrier_request, false },
	{ "rwlock", rwlock_setup, rwlock_request, false },
	{ "join", NULL, join_request, false },
	{ "word-lock", word_setup, word_request, false },
	{ "spin-lock", spinlock_setup, spinlock_request, false },
	{ "yields", flag_setup, yield_request, false },
	{ "polls", flag_setup, polling_request, false },
	{ "pool-of-two", pool_setup, pool_request, true },
	{ "timed-loop", ready_setup, timed_request, false },
	{ "woken-for-nothing", noise_setup, noise_request, false },
	{ NULL, NULL, NULL, false }
};
