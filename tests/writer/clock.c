/*
 * clock.c - a thread's times never stand still.
 *
 * Where the counter had run ahead of the clock, a new anchor took the time of
 * the last event for the next one; with a new block in between that lay before
 * the old one in the file, readers then had them the wrong way round.
 */
#include <err.h>

#include "../../libtnfprobe/clock.c"

int
main(void)
{
	static struct thread t = { .last = 7 };
	int i;

	for (i = 0; i < 2; i++) {
		scale.counter = i;
		t.base = tnf_clock_now() + 1000000000;
		tnf_clock_anchor(&t);
		if (t.abs != t.base + t.last + 1)
			errx(1, "counter %d: %lld instead of %lld", i,
			    (long long)(t.abs - t.base), (long long)t.last + 1);
	}
	return 0;
}
