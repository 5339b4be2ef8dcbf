/*
 * clock.c - a thread's times never stand still from block to block.
 *
 * Where the counter had run ahead of the clock, a new anchor took the time of
 * the last event for the next one; so did a counter that had not moved since
 * the last event.  With a new block in between that lay before the old one in
 * the file, readers then had them the wrong way round.
 */
#include <err.h>

#include "libtnfprobe/clock.c"

/* For fast probes, which this program has none of. */
uintptr_t
tnf_vectors_keep(uintptr_t (*fn)(void *), void *arg)
{
	return fn(arg);
}

int
main(void)
{
	static struct thread t = { .last = 7 };
	int i;

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
