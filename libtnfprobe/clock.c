/*
 * clock.c - CLOCK_MONOTONIC, from the processor's counter (arch/) where it is sound.
 *
 * A thread keeps an anchor: a reading of the counter and of the clock at the
 * same instant.  For up to ANCHOR_NS the time is the anchor plus the ticks
 * since, scaled; then the thread takes a new one.  The scale is measured for
 * the whole process between two anchors that lie apart; until these are far
 * apart an anchor is good for no longer than the scale was measured, so that
 * the error of what is extrapolated stays about the error of the anchors.
 *
 * The process asks once, when it gets its file, whether the kernel itself keeps time with the
 * counter, and uses the counter only then.  If the kernel gives the counter up later, the process
 * does not notice; each new anchor bounds the error.
 */
#include "libtnfprobe/internal.h"

#define SCALE_FIRST_NS	20000ll		/* shortest base that gives a scale */
#define SCALE_NS	100000000ll	/* long enough for a good one */
#define TRIES		4

static struct {
	uint64_t mult;		/* 0: not known yet */
	uint64_t span;		/* ticks that it was measured over */
	uint64_t tsc;		/* where the next measurement starts */
	int64_t	 ns;
	uint32_t misfits;
	uint32_t lock;
	bool	 counter;	/* the counter can be used */
} scale;

int64_t
tnf_clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static bool
kernel_uses_counter(void)
{
#ifdef CLOCKSOURCE
	char name[sizeof(CLOCKSOURCE)];
	ssize_t n;
	int fd;

	fd = open("/sys/devices/system/clocksource/clocksource0/"
	    "current_clocksource", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, name, sizeof(name));
	close(fd);
	return n == sizeof(name) && memcmp(name, CLOCKSOURCE "\n", sizeof(name)) == 0;
#else
	return false;
#endif
}

void
tnf_clock_init(void)
{
	scale.counter = kernel_uses_counter();
	scale.lock = 0;
}

/* A thread of the parent may have held the lock. */
void
tnf_clock_unlock(void)
{
	scale.lock = 0;
}

/* Called with scale.lock held. */
static void
clock_measure(uint64_t tsc, int64_t ns)
{
	uint64_t span = tsc - scale.tsc, mult, diff;

	if (scale.tsc == 0 || (int64_t)span <= 0 || ns <= scale.ns)
		goto restart;
	if (ns - scale.ns < SCALE_FIRST_NS || (ns - scale.ns < SCALE_NS && span < scale.span))
		return;
	mult = (uint64_t)(((unsigned __int128)(ns - scale.ns) << 32) / span);
	diff = mult > scale.mult ? mult - scale.mult : scale.mult - mult;
	/*
	 * The first base is short, and an interrupt in it spoils it.  Later a
	 * misfit is a suspend, when the clock stands and the counter perhaps does not;
	 * it is believed if the next base says the same.
	 */
	if (scale.mult != 0 && diff > scale.mult >> 10 &&
	    ns - scale.ns >= SCALE_NS && scale.misfits++ == 0)
		goto restart;
	scale.misfits = 0;
	__atomic_store_n(&scale.mult, mult, __ATOMIC_RELAXED);
	if (span > scale.span)
		__atomic_store_n(&scale.span, span, __ATOMIC_RELAXED);
	if (ns - scale.ns < SCALE_NS)
		return;
restart:
	scale.tsc = tsc;
	scale.ns = ns;
}

/* One instant on both clocks: the tightest of some tries. */
static int64_t
clock_instant(uint64_t *tsc)
{
	uint64_t before, after, width = UINT64_MAX;
	int64_t ns, best = 0;

	after = ticks();
	for (int i = 0; i < TRIES; i++) {
		before = after;
		ns = tnf_clock_now();
		after = ticks();
		if (after - before < width) {
			width = after - before;
			*tsc = before + width / 2;
			best = ns;
		}
	}
	return best;
}

/* A new anchor, later than every time the thread has handed out. */
static uintptr_t
drop_anchor(void *thread)
{
	struct thread *t = thread;
	uint64_t span, limit;
	int64_t ns;

	t->good = 0;
	if (!scale.counter) {
		ns = tnf_clock_now();
		goto out;
	}
	ns = clock_instant(&t->tsc);
	if (__atomic_exchange_n(&scale.lock, 1, __ATOMIC_ACQUIRE) == 0) {
		clock_measure(t->tsc, ns);
		__atomic_store_n(&scale.lock, 0, __ATOMIC_RELEASE);
	}
	t->mult = __atomic_load_n(&scale.mult, __ATOMIC_RELAXED);
	span = __atomic_load_n(&scale.span, __ATOMIC_RELAXED);
	if (t->mult != 0) {
		limit = (ANCHOR_NS << 32) / t->mult;
		t->good = span < limit ? span : limit;
	}
out:
	if (ns <= t->base + t->last)
		ns = t->base + t->last + 1;
	t->abs = ns;
	return 0;
}

/*
 * The time, later than every one the thread has handed out: of equal times in
 * two blocks a reader does not know which came first.  There are counters that
 * step by as much as a hit takes.
 */
int64_t
tnf_clock_read(struct thread *t)
{
	uint64_t since = ticks() - t->tsc;
	int64_t now;

	if (since < t->good) {
		now = t->abs + (int64_t)scaled(since, t->mult);
		if (now > t->base + t->last)
			return now;
	}
	keep_vectors(t, drop_anchor, t);
	return t->abs;
}
