/*
 * threads.c - victim: N threads that work, under signals and dlopen if asked.
 *
 * threads N SECONDS|- [signals] [dlopen FILE]: each thread computes something
 * that it can check, in registers and memory, and counts what it has done.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include <tnf/probe.h>

#include "victim.h"

static volatile int stop;
static volatile sig_atomic_t handled;
static const char *plugin;

static void
on_signal(int sig)
{
	int saved = errno;

	handled++;
	TNF_PROBE_0(in_handler, "signal", "");
	errno = saved;
}

/* Floating point and integers, long enough to be stopped in. */
static void
compute(unsigned int seed)
{
	uint64_t x = seed + 1, y = x;
	double f = 1.0, g = 1.0;
	int i;

	for (i = 0; i < 20000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		f = f * 1.0000001 + (double)(i & 7);
	}
	for (i = 0; i < 20000; i++) {
		y = y * 6364136223846793005u + 1442695040888963407u;
		g = g * 1.0000001 + (double)(i & 7);
	}
	if (x != y || memcmp(&f, &g, sizeof(f)) != 0)
		victim_harmed("a computation");
}

static void *
work(void *arg)
{
	const struct timespec ts = { .tv_nsec = 500000 };
	unsigned int n = (unsigned int)(uintptr_t)arg;
	uintptr_t count = 0;
	struct timespec left;

	/* On a busy machine it may begin when all is over. */
	do {
		TNF_PROBE_1(work, "threads", "", tnf_uint, n, n);
		compute(n);
		count++;
		if (n % 2 == 0)
			while (nanosleep(&ts, &left) < 0)
				if (errno != EINTR)
					victim_harmed("nanosleep");
	} while (!stop);
	return (void *)count;
}

static void *
load(void *arg)
{
	const useconds_t rest = (useconds_t)(2000 * times_slower());
	void *h;

	while (!stop) {
		if ((h = dlopen(plugin, RTLD_NOW)) == NULL)
			victim_harmed(dlerror());
		usleep(rest);
		dlclose(h);
		usleep(rest);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 4, i;
	const char *seconds = argc > 2 ? argv[2] : "2";
	pthread_t *t = calloc((size_t)n + 2, sizeof(*t));
	void *count;

	for (i = 3; i < argc; i++) {
		if (strcmp(argv[i], "signals") == 0)
			victim_signals(on_signal, 1000000);
		if (strcmp(argv[i], "dlopen") == 0 && i + 1 < argc)
			plugin = argv[++i];
	}
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i) != 0)
			victim_harmed("pthread_create");
	if (plugin != NULL)
		pthread_create(&t[n], NULL, load, NULL);
	victim_ready();
	do
		usleep(10000);
	while (!victim_is_over(seconds));
	stop = 1;
	for (i = 0; i < n; i++) {
		pthread_join(t[i], &count);
		if (count == NULL)
			victim_harmed("a thread that has not worked");
	}
	if (plugin != NULL)
		pthread_join(t[n], NULL);
	puts("unharmed");
	return 7;
}
