/*
 * probe.c - what a user probe costs, off and on.
 *
 *	bench-probe [loops]	table of medians, ratios to the floor
 *	bench-probe --one WHAT loops threads	the least piece, and the mean
 *	bench-probe --trace FILE WHAT loops	leaves the trace, with room for all
 *
 * CPU nanoseconds per event.  The floor is what no tracer can be faster than
 * that says when something happened: a reading of the counter and a 24-byte
 * store into a ring of the thread's own.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "selfctl.h"
#ifdef OTEL
#include <tnf/otel.h>
#endif

#if defined(__x86_64__)
#include <x86intrin.h>
#define counter()	__rdtsc()
#else
#define counter()	0ull
#endif

#define ROUNDS		9
#define PIECES		250	/* of a thread's events */
#define PIECE_MIN	2000	/* events: reading the clock is 1 % of them */
#define THREADS_MAX	1000
#define RING		4096
#define barrier()	__asm__ volatile("" : : : "memory")

struct slot { uint64_t time, a, b; };

static __thread struct slot ring[RING];
static long loops = 5000000;
static char path[4096];

static void
empty(long n)
{
	long i;

	for (i = 0; i < n; i++)
		barrier();
}

static void
read_counter(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		ring[0].time = counter();
		barrier();
	}
}

static void
store_in_ring(long n)
{
	struct slot *s;
	long i;

	for (i = 0; i < n; i++) {
		s = &ring[i % RING];
		s->time = counter();
		s->a = (uint64_t)i;
		s->b = 7;
		barrier();
	}
}

static void
probe_off(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		TNF_PROBE_0(off, "bench", "");
		barrier();
	}
}

static void
probe_none(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		TNF_PROBE_0(none, "bench", "");
		barrier();
	}
}

static void
probe_ints(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		TNF_PROBE_2(ints, "bench", "", tnf_long, a, i, tnf_long, b, 7);
		barrier();
	}
}

#ifdef OTEL
static void
probe_span(long n)
{
	static const struct tnf_otel_span span = { { 1 }, { 2 } };

	tnf_otel_set(&span);
	probe_ints(n);
	tnf_otel_set(NULL);
}
#endif

static void
probe_args(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		TNF_PROBE_3(args, "bench", "", tnf_int, a, (int)i,
		    tnf_int, b, 7, tnf_string, s, "hello");
		barrier();
	}
}

static const struct what {
	const char *name;
	void	  (*run)(long);
} whats[] = {
	{ "empty", empty },
	{ "clock", read_counter },
	{ "floor", store_in_ring },
	{ "off", probe_off },
	{ "none", probe_none },
	{ "ints", probe_ints },
#ifdef OTEL
	{ "span", probe_span },
#endif
	{ "args", probe_args },
};
#define NWHATS	(sizeof(whats) / sizeof(whats[0]))

struct job {
	const struct what *what;
	long	 loops;
	double	 ns;		/* CPU time per event */
	double	 least;		/* of the piece that took least */
	pthread_barrier_t *start;
};

static double
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/*
 * In pieces: what a host takes away from a virtual machine counts as CPU time there,
 * and so do the caches that others leave cold.  Either only adds, and to few pieces of
 * a quarter of a millisecond.  Each has some hundred blocks, so that it lacks nothing.
 */
static void *
run(void *arg)
{
	struct job *j = arg;
	long piece = j->loops / PIECES > PIECE_MIN ? j->loops / PIECES : PIECE_MIN, n, done;
	double start, last, now;

	j->what->run(1000);
	pthread_barrier_wait(j->start);
	start = last = cpu_ns();
	for (done = 0; done < j->loops; done += n, last = now) {
		n = j->loops - done < piece ? j->loops - done : piece;
		j->what->run(n);
		now = cpu_ns();
		if (done == 0 || (n == piece && (now - last) / n < j->least))
			j->least = (now - last) / n;
	}
	j->ns = (last - start) / j->loops;
	return NULL;
}

struct result { double mean, least; };

/* Means over the threads. */
static struct result
measure(const struct what *what, long n, int threads)
{
	static pthread_t id[THREADS_MAX];
	static struct job job[THREADS_MAX];
	struct result sum = { 0, 0 };
	pthread_barrier_t start;
	int i;

	pthread_barrier_init(&start, NULL, threads);
	for (i = 0; i < threads; i++) {
		job[i] = (struct job){ what, n, 0, 0, &start };
		if (pthread_create(&id[i], NULL, run, &job[i]) != 0)
			errx(1, "cannot create %d threads", threads);
	}
	for (i = 0; i < threads; i++) {
		pthread_join(id[i], NULL);
		sum.mean += job[i].ns / threads;
		sum.least += job[i].least / threads;
	}
	pthread_barrier_destroy(&start);
	return sum;
}

static int
by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

/* A B C A B C ...; medians. */
static void
table(int threads)
{
	static double v[NWHATS][ROUNDS];
	double floor_ns;
	unsigned i, r;

	for (r = 0; r < ROUNDS; r++)
		for (i = 0; i < NWHATS; i++)
			v[i][r] = measure(&whats[i], loops / threads, threads).mean;
	for (i = 0; i < NWHATS; i++)
		qsort(v[i], ROUNDS, sizeof(double), by_value);
	floor_ns = v[2][ROUNDS / 2];
	printf("%d thread%s%12s%10s%10s%10s\n", threads,
	    threads == 1 ? " " : "s", "ns", "least", "most", "/ floor");
	for (i = 0; i < NWHATS; i++)
		printf("  %-9s%11.2f%10.2f%10.2f%10.2f\n", whats[i].name,
		    v[i][ROUNDS / 2], v[i][0], v[i][ROUNDS - 1],
		    v[i][ROUNDS / 2] / floor_ns);
}

static void
lost(void)
{
	struct tnf_ext x;
	FILE *f = fopen(path, "r");

	if (f == NULL || fseek(f, TNF_EXT_OFFSET, SEEK_SET) == -1 ||
	    fread(&x, sizeof(x), 1, f) != 1)
		err(1, "%s", path);
	fclose(f);
	printf("lost: %lu for want of a block, %lu for others; %lu blocks used\n",
	    (unsigned long)x.lost[TNF_LOST_NO_BLOCK],
	    (unsigned long)(x.lost[TNF_LOST_NESTED] + x.lost[TNF_LOST_BUSY] +
	    x.lost[TNF_LOST_TOO_LARGE]), (unsigned long)x.data_cursor);
}

static void
name_path(void)
{
	const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	snprintf(path, sizeof(path), "%s/bench-probe.%d", dir, (int)getpid());
}

static void
begin(unsigned kbytes)
{
	selfctl_file(path, kbytes);
	selfctl_enable("none");
	selfctl_enable("ints");
	selfctl_enable("args");
}

static int
one(const char *name, long n, int threads)
{
	struct result r;
	unsigned i;

	for (i = 0; i < NWHATS; i++)
		if (strcmp(whats[i].name, name) == 0) {
			r = measure(&whats[i], n, threads);
			printf("%.2f %.2f\n", r.least, r.mean);
			return 0;
		}
	errx(2, "%s: no such thing to measure", name);
}

int
main(int argc, char **argv)
{
	double ns;

	if (argc == 5 && strcmp(argv[1], "--trace") == 0) {
		snprintf(path, sizeof(path), "%s", argv[2]);
		begin((unsigned)(atol(argv[4]) / 16) + 4096);
		return one(argv[3], atol(argv[4]), 1);
	}
	name_path();
	if (argc > 1 && strcmp(argv[1], "--one") == 0) {
		if (argc != 5)
			errx(2, "usage: bench-probe --one what loops threads");
		begin(4096);
		one(argv[2], atol(argv[3]), atoi(argv[4]));
		unlink(path);
		return 0;
	}
	if (argc > 1)
		loops = atol(argv[1]);
	begin(4096);
	table(1);
	table(2);
	ns = measure(&whats[4], loops / 1000, 1000).mean;
	printf("1000 threads, 4 MiB: none %.2f ns\n", ns);
	lost();
	unlink(path);
	return 0;
}
