/*
 * order.c - are a program's probes and the kernel's in the right order?
 *
 * order PID N USER.tnf KERNEL.tnf: each of N rounds of each of PID's four threads must
 * read before, syscall_start, syscall_end, after.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <tnf/stream.h>

#define THREADS_MAX	16
#define THREADS		4	/* those of pings */

static const char *const steps[] = {
	"before", "syscall_start", "syscall_end", "after"
};

struct thread {
	uint32_t lwpid;
	unsigned step;		/* expected next */
	long	 rounds;
	long	 wrong;
	bool	 in_call;	/* its syscall_start has been seen */
	bool	 other_call;	/* one that is not of a round */
};

static struct thread threads[THREADS_MAX];

static struct thread *
thread_of(uint32_t lwpid)
{
	struct thread *t;

	for (t = threads; t < threads + THREADS_MAX; t++)
		if (t->lwpid == lwpid || t->lwpid == 0) {
			t->lwpid = lwpid;
			return t;
		}
	errx(1, "too many threads");
}

/* System calls outside the rounds: mmap, futex, exit... and the end of one that
   began before tracing, or in the parent. */
static bool
is_other_call(struct thread *t, const struct tnf_event *ev)
{
	struct tnf_value v;
	bool other;

	if (strcmp(ev->probe->name, "syscall_start") == 0) {
		t->in_call = true;
		t->other_call = !tnf_event_value(ev, 0, &v) ||
		    v.u.i != SYS_getppid;
		return t->other_call;
	}
	if (strcmp(ev->probe->name, "syscall_end") != 0)
		return false;
	other = !t->in_call || t->other_call;
	t->in_call = t->other_call = false;
	return other;
}

static void
event(const struct tnf_event *ev)
{
	struct thread *t = thread_of(ev->lwpid);

	if (is_other_call(t, ev))
		return;
	if (strcmp(ev->probe->name, steps[t->step]) == 0) {
		t->step = (t->step + 1) % 4;
		t->rounds += t->step == 0;
		return;
	}
	if (t->wrong++ < 5)
		fprintf(stderr, "thread %u round %ld: %s at %lld, not %s\n",
		    t->lwpid, t->rounds, ev->probe->name, (long long)ev->time,
		    steps[t->step]);
	t->step = strcmp(ev->probe->name, "before") == 0 ? 1 : 0;
}

int
main(int argc, char **argv)
{
	long n, rounds = 0, wrong = 0;
	struct tnf_event ev;
	tnf_stream_t *s;
	int pid, i;

	if (argc != 5)
		errx(2, "usage: order PID N USER.tnf KERNEL.tnf");
	pid = atoi(argv[1]);
	n = atol(argv[2]);
	if (tnf_stream_new(&s) != 0 ||
	    tnf_stream_add(s, argv[3], NULL) != 0 ||
	    tnf_stream_add(s, argv[4], NULL) != 0)
		errx(1, "cannot read the traces");
	while (tnf_stream_next(s, &ev) == 1)
		if (ev.pid == pid)
			event(&ev);
	tnf_stream_close(s);
	for (i = 0; i < THREADS_MAX && threads[i].lwpid != 0; i++) {
		rounds += threads[i].rounds;
		wrong += threads[i].wrong;
	}
	printf("%ld rounds of %ld in order, %ld events out of order\n", rounds,
	    THREADS * n, wrong);
	return rounds != THREADS * n || wrong != 0;
}
