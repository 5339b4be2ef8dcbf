/*
 * property.c - random events from several threads into files of random size.
 *
 * The contents of an event follow from its thread and number alone, so whatever
 * is read can be checked.  The events that are left of each thread must be its
 * last ones, in order and without a gap; all of them if the file has not gone
 * round.  An event whose block the others have passed over, while it was being
 * written or looked at, outlives what followed it in other blocks: what it refers to,
 * and the thread's next events.  Those may be missing then.
 *
 *	property [rounds [seed]]
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/runtime.h>

#include "tests/writer/events.h"
#include "tests/writer/selfctl.h"

#define THREADS_MAX	8
#define TEXT_MAX	300
#define LONG_SIZE	3000
#define DATA_START	0x18000u
#define BLOCK_SIZE	512u

struct pair { int a; const char *s; struct pair *next; };
TNF_DECLARE_RECORD(struct pair, t_pair);
TNF_DEFINE_RECORD_3(struct pair, t_pair, tnf_int, a, tnf_string, s,
    t_pair, next)

static unsigned seed;
static int nevents;
static char path[64];

static unsigned
mix(unsigned x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Text k of event n of a thread. */
static const char *
text(char *buf, int thread, int n, int k)
{
	unsigned r = mix(seed ^ mix(thread * 1000003u + n * 8u + k));
	size_t len = r % 16 == 0 ? r / 16 % 256 : r / 16 % 40;

	memset(buf, 'a' + k, len);
	buf[len] = '\0';
	return buf;
}

static unsigned
kind(int thread, int n)
{
	return mix(seed + mix(thread * 31u + n * 977u)) % 7;
}

/* A probe that is made at run time, with a value that may fill several blocks. */
static const char *
long_text(char *buf, int t, int n)
{
	size_t len = mix(seed ^ mix(t * 77773u + n)) % LONG_SIZE;

	memset(buf, 'a' + n % 26, len);
	buf[len] = '\0';
	return buf;
}

static void
hit_made(int t, int n)
{
	static const struct tnf_probe_argument_type args[] = {
		{ "t", TNF_ARG_INT32 }, { "n", TNF_ARG_INT32 },
		{ "s", TNF_ARG_TEXT },
	};
	static struct tnf_probe_control *made;
	struct tnf_probe_value v[3];
	char buf[LONG_SIZE];

	/* By the first thread, before there are others. */
	if (made == NULL) {
		made = tnf_probe_define("k6", "", "", 3, args);
		selfctl_on(made);
	}
	v[0].u.i = t;
	v[1].u.i = n;
	v[2].u.text = long_text(buf, t, n);
	v[2].size = TNF_SIZE_NUL;
	tnf_probe_hit(made, v);
}

static void
hit(int t, int n)
{
	char b[5][TEXT_MAX];
	struct pair p[3] = {
		{ n, text(b[0], t, n, 0), &p[1] },
		{ n + 1, text(b[1], t, n, 1), &p[2] },
		{ n + 2, text(b[2], t, n, 2), NULL },
	};

	switch (kind(t, n)) {
	case 0:
		TNF_PROBE_2(k0, "", "", tnf_int, t, t, tnf_int, n, n);
		break;
	case 1:
		TNF_PROBE_3(k1, "", "", tnf_int, t, t, tnf_int, n, n,
		    tnf_string, s, text(b[0], t, n, 0));
		break;
	case 2:
		TNF_PROBE_5(k2, "", "", tnf_int, t, t, tnf_int, n, n,
		    tnf_string, s, text(b[0], t, n, 0),
		    tnf_string, u, text(b[1], t, n, 1),
		    tnf_string, v, text(b[2], t, n, 2));
		break;
	case 3:
		TNF_PROBE_3(k3, "", "", tnf_int, t, t, tnf_int, n, n, t_pair,
		    p, p);
		break;
	case 4:
		TNF_PROBE_4(k4, "", "", tnf_char, c, 'c', tnf_int, t, t,
		    tnf_longlong, l, n * 1000003ll, tnf_int, n, n);
		break;
	case 5:
		TNF_PROBE_5(k5, "", "", tnf_int, t, t, tnf_int, n, n,
		    tnf_double, d, n / 4., tnf_short, h, n % 100,
		    tnf_string, s, NULL);
		break;
	case 6:
		hit_made(t, n);
		break;
	}
}

static void
expect(char *out, size_t size, int t, int n)
{
	char b[3][TEXT_MAX], l[LONG_SIZE];
	int i;

	for (i = 0; i < 3; i++)
		text(b[i], t, n, i);
	switch (kind(t, n)) {
	case 0:
		snprintf(out, size, "k0 t=%d n=%d", t, n);
		break;
	case 1:
		snprintf(out, size, "k1 t=%d n=%d s=\"%s\"", t, n, b[0]);
		break;
	case 2:
		snprintf(out, size, "k2 t=%d n=%d s=\"%s\" u=\"%s\" v=\"%s\"",
		    t, n, b[0], b[1], b[2]);
		break;
	case 3:
		snprintf(out, size, "k3 t=%d n=%d p={a=%d s=\"%s\" next={a=%d "
		    "s=\"%s\" next={a=%d s=\"%s\" next=NULL}}}", t, n, n, b[0],
		    n + 1, b[1], n + 2, b[2]);
		break;
	case 4:
		snprintf(out, size, "k4 c=99 t=%d l=%lld n=%d", t,
		    n * 1000003ll, n);
		break;
	case 5:
		snprintf(out, size, "k5 t=%d n=%d d=%g h=%d s=NULL", t, n,
		    n / 4., n % 100);
		break;
	case 6:
		snprintf(out, size, "k6 t=%d n=%d s=\"%s\"", t, n,
		    long_text(l, t, n));
		break;
	}
}

static void *
run(void *arg)
{
	int t = (int)(intptr_t)arg, n;

	for (n = 0; n < nevents; n++) {
		hit(t, n);
		if (mix(n + t) % 997 == 0)
			usleep(1);
	}
	return NULL;
}

static int
number(const char *s, const char *name)
{
	s = strstr(s, name);
	return s == NULL ? -1 : atoi(s + strlen(name));
}

/* Has the cursor come round to the block of the event?  Then the block was held, and
   what followed it in other blocks may have been overwritten before it. */
static bool
passed_over(const struct events *e, uint32_t pos, unsigned kbytes)
{
	uint64_t blocks = (kbytes * 1024ull - DATA_START) / BLOCK_SIZE, n;
	struct tnf_block_header b;
	int fd = open(path, O_RDONLY);

	if (fd == -1 || pread(fd, &b, sizeof(b), pos & ~(BLOCK_SIZE - 1)) !=
	    sizeof(b))
		err(1, "%s", path);
	close(fd);
	n = (b.generation - 1) * blocks + (pos - DATA_START) / BLOCK_SIZE;
	return n + blocks < e->ext.data_cursor;
}

/* The rest is as it was written, and NULL or "..." tells that some is not. */
static bool
is_left_of(const char *want, const char *left)
{
	bool told = false;

	while (*left != '\0')
		if (strncmp(left, "NULL", 4) == 0 && *want != 'N') {
			left += 4;
			told = true;
		} else if (strncmp(left, "...", 3) == 0) {
			left += 3;
			told = true;
		} else if (*want == '\0') {
			return false;
		} else {
			left += *want++ == *left;
		}
	return told;
}

static void
check(int threads, unsigned kbytes)
{
	int last[THREADS_MAX], first[THREADS_MAX], t, n;
	uint32_t last_pos[THREADS_MAX] = { 0 };
	char want[LONG_SIZE + 100];
	struct events e;
	size_t i;
	bool round;

	events_read(path, &e);
	if (e.damaged)
		errx(1, "seed %u: damaged", seed);
	round = e.ext.data_cursor >= (kbytes * 1024ull - DATA_START) / BLOCK_SIZE;
	for (t = 0; t < threads; t++)
		first[t] = last[t] = -1;
	for (i = 0; i < e.n; i++) {
		t = number(e.v[i].text, " t=");
		n = number(e.v[i].text, " n=");
		if (t == THREADS_MAX)
			continue;
		if (t < 0 || t >= threads || n < 0 || n >= nevents)
			errx(1, "seed %u: strange event %s", seed, e.v[i].text);
		expect(want, sizeof(want), t, n);
		if (strcmp(want, e.v[i].text) != 0 &&
		    !(passed_over(&e, e.v[i].pos, kbytes) &&
		    is_left_of(want, e.v[i].text)))
			errx(1, "seed %u: read    %s\nwritten %s", seed,
			    e.v[i].text, want);
		if (first[t] == -1)
			first[t] = n;
		else if (n != last[t] + 1 && !(n > last[t] && passed_over(&e, last_pos[t], kbytes)))
			errx(1, "seed %u: thread %d: %d after %d", seed, t, n,
			    last[t]);
		last[t] = n;
		last_pos[t] = e.v[i].pos;
	}
	for (t = 0; t < TNF_LOST_REASONS; t++)
		if (e.ext.lost[t] != 0)
			errx(1, "seed %u: %d events lost for reason %d", seed,
			    (int)e.ext.lost[t], t);
	for (t = 0; t < threads; t++)
		if ((!round && first[t] != 0) ||
		    (last[t] != nevents - 1 && last[t] != -1 &&
		    !passed_over(&e, last_pos[t], kbytes)))
			errx(1, "seed %u: thread %d: only %d to %d of %d",
			    seed, t, first[t], last[t], nevents);
	printf("seed %u: %d threads, %u KiB, %zu of %d events left\n", seed,
	    threads, kbytes, e.n, threads * nevents);
	events_free(&e);
}

static void
one_round(void)
{
	int threads = 1 + mix(seed) % THREADS_MAX, t;
	unsigned kbytes = 128 + mix(seed + 1) % 1000 / 4 * 4;
	pthread_t id[THREADS_MAX];

	nevents = 500 + mix(seed + 2) % 5000;
	snprintf(path, sizeof(path), "/tmp/property.%d", (int)getpid());
	selfctl_file(path, kbytes);
	selfctl_enable(NULL);
	/* The definitions first: who waits for one too long loses an event. */
	for (t = 0; t < 100; t++)
		hit(THREADS_MAX, t);
	for (t = 0; t < threads; t++)
		pthread_create(&id[t], NULL, run, (void *)(intptr_t)t);
	for (t = 0; t < threads; t++)
		pthread_join(id[t], NULL);
	check(threads, kbytes);
	unlink(path);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20, i, status;
	unsigned base = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;

	for (i = 0; i < rounds; i++) {
		seed = base + i;
		fflush(stdout);
		if (fork() == 0) {
			one_round();
			exit(0);
		}
		wait(&status);
		if (status != 0)
			return 1;
	}
	return 0;
}
