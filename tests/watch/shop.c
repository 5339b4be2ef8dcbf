/*
 * shop.c - takes orders: shop PER_SECOND [ORDERS [STALL_EVERY [FILE]]].
 *
 * Each order is a pair of events.  One of every STALL_EVERY orders is kept waiting for
 * 50 to 500 ms and marked so; its number is printed when it has been.  With FILE it
 * takes none before that file is there.  "shop cut" cuts its own trace file to nothing after a
 * while, which is not nice of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>

static long long
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void
sleep_until(long long when)
{
	struct timespec t = { .tv_sec = when / 1000000000, .tv_nsec = when % 1000000000 };

	if (when > now())
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* The file that we have mapped is among our descriptors' or our mappings' names. */
static void
cut_own_file(void)
{
	char line[4096], *path;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strstr(line, "rw-s") != NULL && (path = strchr(line, '/')) != NULL) {
			path[strcspn(path, "\n")] = '\0';
			if (truncate(path, 4096) != 0)
				perror(path);
		}
	if (f != NULL)
		fclose(f);
}

int
main(int argc, char **argv)
{
	long rate = argc > 1 ? atol(argv[1]) : 0, n, orders = argc > 2 ? atol(argv[2]) : 0;
	long every = argc > 3 ? atol(argv[3]) : 0;
	int liar = argc > 1 && strcmp(argv[1], "cut") == 0, stalled;
	long long next;

	if (rate <= 0)
		rate = 1000;
#ifdef LINKED
	tnf_thread_enable();	/* so that the linker keeps the library */
#endif
	TNF_PROBE_0(shop_opens, "shop", "");
	srand((unsigned)getpid());
	while (argc > 4 && access(argv[4], F_OK) != 0)
		sleep_until(now() + 10000000);
	next = now();
	for (n = 1; orders == 0 || n <= orders; n++) {
		stalled = every > 0 && n % every == 0;
		TNF_PROBE_1(order_start, "order", "", tnf_long, id, n);
		if (stalled)
			sleep_until(now() + (50 + rand() % 451) * 1000000LL);
		TNF_PROBE_2(order_end, "order", "", tnf_long, id, n, tnf_long, stalled, stalled);
		if (stalled) {
			printf("%ld\n", n);
			fflush(stdout);
		}
		if (liar && n == 300)
			cut_own_file();
		next += 1000000000 / rate;
		sleep_until(next);
	}
	return 0;
}
