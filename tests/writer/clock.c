/*
 * clock.c - a thread's times never stand still from block to block.
 *
 * If the counter had run ahead of the clock, a new anchor took the time of
 * the last event for the next one; so did a counter that had not moved since
 * the last event.  With a new block in between that lay before the old one in
 * the file, readers then had them the wrong way round.
 *
 * And the scale from the counter to the time is measured as its file says.
 */
#include <err.h>

#include "libtnfprobe/clock.c"

/* For fast probes, which this program has none of. */
uintptr_t
tnf_vectors_keep(uintptr_t (*fn)(void *), void *arg)
{
	return fn(arg);
}

/*
 * The scale is measured over ever longer times from one beginning, until these are long
 * enough for a good one; then the next begins.  A time that is too short gives none, and a
 * shorter one than before none that is better.
 */
static void
measures(void)
{
	const uint64_t hz = 3, begin = 1000;	/* ticks of a nanosecond */
	int64_t ns;

	memset(&scale, 0, sizeof(scale));
	clock_measure(begin, 500);
	for (ns = 1000; ns < SCALE_FIRST_NS; ns += 1000)
		clock_measure(begin + hz * (uint64_t)ns, 500 + ns);
	if (scale.mult != 0 || scale.span != 0)
		errx(1, "a scale from %lld ns", (long long)ns);
	for (ns = SCALE_FIRST_NS; ns <= SCALE_NS; ns += 7 * SCALE_FIRST_NS) {
		clock_measure(begin + hz * (uint64_t)ns, 500 + ns);
		if (scale.mult != ((uint64_t)1 << 32) / hz || scale.span != hz * (uint64_t)ns || scale.tsc != begin)
			errx(1, "after %lld ns: scale %llu over %llu ticks from %llu", (long long)ns,
			    (unsigned long long)scale.mult, (unsigned long long)scale.span,
			    (unsigned long long)scale.tsc);
	}
	clock_measure(begin + hz * SCALE_NS, 500 + SCALE_NS);
	if (scale.tsc != begin + hz * SCALE_NS || scale.ns != 500 + SCALE_NS || scale.span != hz * SCALE_NS)
		errx(1, "after a good scale the next does not begin");
	/* Interrupted between the two clocks, and short: the good one stays. */
	clock_measure(scale.tsc + 2 * hz * SCALE_FIRST_NS, scale.ns + SCALE_FIRST_NS);
	if (scale.mult != ((uint64_t)1 << 32) / hz || scale.span != hz * SCALE_NS)
		errx(1, "a short time has replaced a long one");
	/* Time has gone back, or the counter has. */
	clock_measure(begin + 5 * hz * SCALE_NS, scale.ns);
	if (scale.tsc != begin + 5 * hz * SCALE_NS)
		errx(1, "the time stands, and the measurement goes on");
	clock_measure(begin, scale.ns + 1);
	if (scale.tsc != begin || scale.mult != ((uint64_t)1 << 32) / hz)
		errx(1, "the counter has gone back, and the measurement goes on");
}

/* Another scale is believed if it is measured twice: the machine may have been suspended. */
static void
misfits(void)
{
	const uint64_t slow = ((uint64_t)1 << 32) / 2, fast = ((uint64_t)1 << 32) / 5;

	memset(&scale, 0, sizeof(scale));
	clock_measure(1000, 1000);
	clock_measure(1000 + 2 * SCALE_NS, 1000 + SCALE_NS);
	clock_measure(1000 + 7 * SCALE_NS, 1000 + 2 * SCALE_NS);
	if (scale.mult != slow)
		errx(1, "another scale is believed at once");
	clock_measure(1000 + 9 * SCALE_NS, 1000 + 3 * SCALE_NS);
	clock_measure(1000 + 14 * SCALE_NS, 1000 + 4 * SCALE_NS);
	if (scale.mult != slow)
		errx(1, "another scale is believed, though the next had been as before");
	clock_measure(1000 + 19 * SCALE_NS, 1000 + 5 * SCALE_NS);
	if (scale.mult != fast)
		errx(1, "another scale is not believed the second time");
}

int
main(void)
{
	static struct thread t = { .last = 7 };
	int i;

	measures();
	misfits();
	memset(&scale, 0, sizeof(scale));

	for (i = 0; i < 2; i++) {
		scale.counter = i;
		t.good = 0;
		t.base = tnf_clock_now() + 1000000000;
		if (tnf_clock_read(&t) != t.base + t.last + 1)
			errx(1, "counter %d: %lld instead of %lld", i,
			    (long long)(t.abs - t.base), (long long)t.last + 1);
	}
	/* With this scale the counter stands. */
	t = (struct thread){ .last = 7, .good = UINT64_MAX };
	t.abs = t.base + t.last;
	if (tnf_clock_read(&t) <= t.last)
		errx(1, "the counter stands, and so does the time");
	return 0;
}
