/*
 * fast-threads.c - a program for fast-programs.sh with very many threads, which work and sleep by turns, while
 * others come and go.
 *
 *	fast-threads COUNT
 *
 * Prints "ready", and at SIGTERM "threads COUNT calls N wrong W".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if __has_attribute(noipa)
#define NOIPA		__attribute__((noipa, used))
#else
#define NOIPA		__attribute__((noinline, optnone, used))
#endif
#define STACK		65536
#define SLEEP_US	200000

static long calls, wrong;
static volatile sig_atomic_t over;

static NOIPA long
thread_work(long a, long b)
{
	volatile long v = a * 7;

	return v + b;
}

static NOIPA long
thread_deep(int n)
{
	return n == 0 ? 1 : n + thread_deep(n - 1);
}

static void
once(long n)
{
	long bad = (thread_work(n, 3) != n * 7 + 3) + (thread_deep(10) != 56);

	__atomic_add_fetch(&calls, 2, __ATOMIC_RELAXED);
	__atomic_add_fetch(&wrong, bad, __ATOMIC_RELAXED);
}

static void *
many(void *arg)
{
	for (long n = 0; !over; n++) {
		once(n);
		usleep(SLEEP_US);
	}
	return arg;
}

static void *
one(void *arg)
{
	once(5);
	return arg;
}

static void
on_term(int sig)
{
	over = 1;
}

int
main(int argc, char *argv[])
{
	long count = argc > 1 ? atol(argv[1]) : 0;
	pthread_t *v = calloc((size_t)count + 1, sizeof(*v)), t;
	pthread_attr_t attr;

	signal(SIGTERM, on_term);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (long i = 0; i < count; i++)
		if (pthread_create(&v[i], &attr, many, NULL) != 0) {
			printf("%ld threads and no more\n", i);
			return 1;
		}
	puts("ready");
	fflush(stdout);
	while (!over)
		if (pthread_create(&t, &attr, one, NULL) == 0)
			pthread_join(t, NULL);
	for (long i = 0; i < count; i++)
		pthread_join(v[i], NULL);
	printf("threads %ld calls %ld wrong %ld\n", count, calls, wrong);
	free(v);
	return wrong != 0;
}
