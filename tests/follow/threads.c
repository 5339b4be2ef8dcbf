/*
 * threads.c - guards: an event that a follower does not see, or sees twice, because
 * its thread has held its block for laps, or took the block's number long before.
 *
 * threads FILE SIZE AHEAD EVENTS THREADS.  Threads write in bursts, and pause for laps of
 * a small ring.  None gets ahead of the follower by more than the ring holds, so that each
 * event has to come.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>
#include <tnf/stream.h>
#include <tnf/tnfctl.h>

#define THREADS	6
#define PATIENCE 100	/* seconds without any event: then one is missing */

static atomic_long written[THREADS], followed[THREADS], seen_all, written_all;
static atomic_int ended;
static atomic_bool done;
static char *seen[THREADS];	/* by thread and number */
static long ahead, events, room;
static int threads;

/*
 * The block that a thread has held for laps may be the next that is taken when it gives
 * it back, and then nobody sees the last events of it in time.  So where there are several
 * threads, each of them waits until its event has been seen.
 */
static void
hit(int me)
{
	while (written_all - seen_all > ahead || (threads > 1 && followed[me] < written[me]))
		sched_yield();
	TNF_PROBE_2(step, "follow", "", tnf_int, thread, me, tnf_long, n, (long)written[me]);
	written[me]++;
	written_all++;
}

/* The first one does not pause, so that time goes on for the others. */
static void *
writer(void *arg)
{
	int me = (int)(long)arg;
	unsigned r = (unsigned)me;
	long until;

	while (!done) {
		for (int i = 0, n = rand_r(&r) % 100; i <= n; i++)
			hit(me);
		until = written_all + rand_r(&r) % 5000;
		while (me != 0 && !done && written_all < until)
			sched_yield();
		if (me == 0 && written[0] >= events)
			done = true;
	}
	hit(me);
	ended++;
	return NULL;
}

static void
fail(const char *what)
{
	fprintf(stderr, "FAIL: %s\n", what);
	exit(1);
}

static void
begin(const char *path, unsigned size)
{
	tnfctl_handle_t *h;

	if (tnfctl_internal_open(&h) != TNFCTL_ERR_NONE ||
	    tnfctl_buffer_alloc(h, path, size) != TNFCTL_ERR_NONE ||
	    tnfctl_probe_apply(h, tnfctl_probe_trace, NULL) != TNFCTL_ERR_NONE ||
	    tnfctl_probe_apply(h, tnfctl_probe_enable, NULL) != TNFCTL_ERR_NONE)
		fail(tnfctl_error_detail());
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
}

static tnf_stream_t *
follow(const char *path)
{
	int fd = open(path, O_RDONLY);
	tnf_stream_t *s = NULL;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) != 0)
		fail(path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED || tnf_stream_new(&s) != 0)
		fail("mmap");
	tnf_stream_follow(s);
	if (tnf_stream_add_mem(s, map, (size_t)st.st_size, path, NULL) != 0)
		fail("the file cannot be read");
	return s;
}

static void
take(const struct tnf_event *ev)
{
	struct tnf_value thread, n;

	if (!tnf_event_value(ev, 0, &thread) || !tnf_event_value(ev, 1, &n))
		fail("an event without values");
	/* An event that a thread commits while we look may come before what it committed just
	   before that: in an order of time alone if one waits a little. */
	if (thread.u.i < 0 || thread.u.i >= THREADS || n.u.i < 0 || n.u.i >= room)
		fail("an event with wrong values");
	if (seen[thread.u.i][n.u.i]++ != 0)
		fail("an event comes twice");
	followed[thread.u.i]++;
	seen_all++;
}

/* Which: of each thread the first that has been written and not been seen. */
static void
fail_missing(void)
{
	for (int i = 0; i < THREADS; i++)
		for (long n = 0; n < written[i]; n++)
			if (seen[i][n] == 0) {
				fprintf(stderr, "thread %d: event %ld of %ld\n", i, n, (long)written[i]);
				break;
			}
	fail("an event is missing");
}

int
main(int argc, char **argv)
{
	pthread_t t[THREADS];
	struct tnf_progress p;
	struct tnf_event ev;
	time_t last = time(NULL);
	tnf_stream_t *s;
	long before;
	int r;

	if (argc < 6)
		return 2;
	ahead = atol(argv[3]);
	events = atol(argv[4]);
	threads = atoi(argv[5]);
	room = THREADS * (events + ahead + 1000);
	for (int i = 0; i < THREADS; i++)
		seen[i] = calloc((size_t)room, 1);
	begin(argv[1], (unsigned)atol(argv[2]));
	/* Without an event there is no file. */
	hit(0);
	s = follow(argv[1]);
	while (tnf_stream_next(s, &ev) == 1)
		take(&ev);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, writer, (void *)i);
	while (ended < threads || seen_all < written_all) {
		before = seen_all;
		if (tnf_stream_refresh(s, INT64_MAX, &p) != 0)
			fail("refresh");
		if (p.blocks_missed != 0)
			fail("fell behind");
		while ((r = tnf_stream_next(s, &ev)) == 1)
			take(&ev);
		if (r < 0)
			fail(tnf_error_message(-r));
		if (seen_all != before)
			last = time(NULL);
		else if (time(NULL) - last > PATIENCE)
			fail_missing();
		usleep(1);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("%ld events, each once\n", (long)seen_all);
	tnf_stream_close(s);
	return 0;
}
