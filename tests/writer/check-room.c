/*
 * check-room.c - blocks and definitions: who gets them, what is counted when there are none,
 * who gives them back.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/writer/suite.h"

static void *
one_hit(void *arg)
{
	TNF_PROBE_1(thread, "", "", tnf_long, i, (long)arg);
	return NULL;
}

/* Ten times as many threads as the file has blocks, one after another. */
START_TEST(thread_exit)
{
	pthread_t t;
	long i;

	start(128);
	for (i = 0; i < 640; i++) {
		ck_assert_int_eq(pthread_create(&t, NULL, one_hit, (void *)i), 0);
		pthread_join(t, NULL);
	}
	finish();
	ck_assert_uint_ge(ev.n, 63);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
	IS(ev.n - 1, "thread i=639");
}
END_TEST

static pthread_barrier_t all_in, go_on;

/* Without an argument it only makes the probe known: whoever comes while another
   thread does that has an event less, and a block. */
static void *
holder(void *barriers)
{
	TNF_PROBE_0(hold, "", "");
	if (barriers == NULL)
		return NULL;
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&go_on);
	return NULL;
}

/* All blocks are held: events are lost and counted; when blocks come back
   tracing goes on. */
START_TEST(no_block)
{
	struct timespec ms = { 0, 2000000 };
	pthread_t t[100];
	int i;

	start(128);
	pthread_barrier_init(&all_in, NULL, 101);
	pthread_barrier_init(&go_on, NULL, 101);
	pthread_create(&t[0], NULL, holder, NULL);
	pthread_join(t[0], NULL);
	for (i = 0; i < 100; i++)
		pthread_create(&t[i], NULL, holder, &all_in);
	pthread_barrier_wait(&all_in);
	TNF_PROBE_0(lost, "", "");
	pthread_barrier_wait(&go_on);
	for (i = 0; i < 100; i++)
		pthread_join(t[i], NULL);
	nanosleep(&ms, NULL);
	TNF_PROBE_0(found, "", "");
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK] +
	    ev.ext.lost[TNF_LOST_BUSY], 100 - 64 + 1);
	IS(ev.n - 1, "found");
	/* It has taken the place of one that was held. */
	ck_assert_uint_eq(ev.n, 64);
}
END_TEST

/* Children that are killed leave their blocks locked; they are found. */
START_TEST(killed_owners)
{
	struct timespec ms = { 0, 2000000 };
	int i, fd[2];
	pid_t child;
	char c;

	start(128);
	TNF_PROBE_0(parent, "", "");
	for (i = 0; i < 200; i++) {
		ck_assert_int_eq(pipe(fd), 0);
		child = fork();
		if (child == 0) {
			TNF_PROBE_1(child, "", "", tnf_int, i, i);
			/* Not ck_assert: the two would write one file at a time. */
			if (write(fd[1], "x", 1) == 1)
				pause();
			_exit(1);
		}
		ck_assert_int_eq(read(fd[0], &c, 1), 1);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(fd[0]);
		close(fd[1]);
	}
	nanosleep(&ms, NULL);
	TNF_PROBE_0(parent, "", "");
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
	IS(ev.n - 2, "child i=199");
}
END_TEST

/* A thread sleeps on its half-filled block while the others go round the file
   so often that no reference leads from there to a new block. */
static void *
sleeper(void *arg)
{
	char big[256];

	memset(big, 'b', 255);
	big[255] = '\0';
	TNF_PROBE_2(sleeper, "", "", tnf_int, i, 1, tnf_string, s, big);
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&go_on);
	TNF_PROBE_2(sleeper, "", "", tnf_int, i, 2, tnf_string, s, big);
	TNF_PROBE_2(sleeper, "", "", tnf_int, i, 3, tnf_string, s, big);
	return NULL;
}

START_TEST(long_sleep)
{
	pthread_t t;
	int i;

	start(128);
	pthread_barrier_init(&all_in, NULL, 2);
	pthread_barrier_init(&go_on, NULL, 2);
	pthread_create(&t, NULL, sleeper, NULL);
	pthread_barrier_wait(&all_in);
	/* 8192 laps of 64 blocks of some 30 events. */
	for (i = 0; i < 8200 * 64 * 40; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	pthread_barrier_wait(&go_on);
	pthread_join(t, NULL);
	finish();
	for (i = 0; i < TNF_LOST_REASONS; i++)
		ck_assert_uint_eq(ev.ext.lost[i], 0);
	ck_assert(strncmp(ev.v[ev.n - 2].text, "sleeper i=2 s=\"bbb", 18) == 0);
	ck_assert(strncmp(ev.v[ev.n - 1].text, "sleeper i=3 s=\"bbb", 18) == 0);
}
END_TEST

static void *
hurried(void *arg)
{
	int i;

	for (i = 0; i < 10000; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	pthread_barrier_wait(&all_in);
	pthread_barrier_wait(&go_on);
	for (i = 0; i < 100; i++)
		TNF_PROBE_1(mark, "", "", tnf_int, i, i);
	return NULL;
}

/* A thread in a hurry has taken blocks beforehand, and pauses.  They are no
   place for its next events when the others have nearly come round. */
START_TEST(pause_in_a_hurry)
{
	const int blocks = (2048 * 1024 - 0x18000) / 512, each = 28;
	size_t n, marks = 0;
	pthread_t t;
	int i;

	start(2048);
	pthread_barrier_init(&all_in, NULL, 2);
	pthread_barrier_init(&go_on, NULL, 2);
	pthread_create(&t, NULL, hurried, NULL);
	pthread_barrier_wait(&all_in);
	for (i = 0; i < blocks * 9 / 10 * each; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	pthread_barrier_wait(&go_on);
	pthread_join(t, NULL);
	for (i = 0; i < blocks / 4 * each; i++)
		TNF_PROBE_1(loop, "", "", tnf_int, i, i);
	finish();
	for (n = 0; n < ev.n; n++)
		marks += strncmp(ev.v[n].text, "mark", 4) == 0;
	/* The block that it held all the time is the oldest. */
	ck_assert_uint_ge(marks, 100 - 30);
}
END_TEST

/* Probes made at run time: more than the directory and the reserve hold. */
static void
many_probes(int count, unsigned kbytes)
{
	static struct tnf_probe_control *all;	/* probes live as long as the program */
	struct tnf_probe_control *p;
	static const struct tnf_tag_data *const slots[] = {
		&tnf_int_tag_data, NULL
	};
	struct tnf_probe_setup setup;
	uint32_t *e;
	char *attrs;
	int i;

	all = aligned_alloc(64, count * sizeof(*all));
	start(kbytes);
	for (i = 0; i < count; i++) {
		p = &all[i];
		memset(p, 0, sizeof(*p));
		ck_assert_int_gt(asprintf(&attrs,
		    "name p%d;slots i ;keys k;file f.c;line %d;", i, i), 0);
		p->tnf_version = TNF_PROBE_ABI;
		p->size = sizeof(*p);
		p->test = p->traced = 1;
		p->ops = _tnf_process_control.ops;
		p->event_size = 12;
		p->attrs = attrs;
		p->slots = slots;
		e = p->ops->alloc(p, &setup);
		if (e != NULL) {
			e[2] = (uint32_t)i;
			p->ops->commit(&setup);
		}
	}
}

START_TEST(directory_full)
{
	char want[32];
	int i;

	many_probes(17000, 64 * 1024);
	finish();
	ck_assert_uint_eq(ev.n, 17000);
	ck_assert_uint_eq(ev.probes, 17000);
	for (i = 0; i < 17000; i++) {
		snprintf(want, sizeof(want), "p%d i=%d", i, i);
		IS(i, want);
	}
}
END_TEST

/* Definitions do not fit a small file: what does not is counted. */
START_TEST(tag_space_full)
{
	many_probes(2000, 128);
	TNF_PROBE_0(not_defined, "", "");
	finish();
	ck_assert_uint_gt(ev.n, 10);
	ck_assert_uint_gt(ev.ext.lost[TNF_LOST_NO_TAG_SPACE], 100);
}
END_TEST

/* The file of the name in 'path', as another process sees it: its first bytes. */
static char *
look(size_t size)
{
	int fd = open(path, O_RDWR);
	char *file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	ck_assert(file != MAP_FAILED);
	close(fd);
	return file;
}

/* All generations have been used: they begin again. */
START_TEST(generations)
{
	const uint32_t last = 0xfffffffe, blocks = 64, data = 0x18000;
	char want[32], *file;
	size_t i;
	int n;

	start(128);
	TNF_PROBE_0(first, "", "");
	tnf_thread_disable();
	file = look(0x20000);
	for (i = 0; i < blocks; i++)
		((uint32_t *)(void *)(file + data + i * 512))[1] = last - 1;
	((struct tnf_ext *)(void *)(file + TNF_EXT_OFFSET))->data_cursor =
	    (uint64_t)(last - 1) * blocks;
	tnf_thread_enable();
	for (n = 0; n < 100000; n++)
		TNF_PROBE_2(loop, "", "", tnf_int, i, n, tnf_string, s, "x");
	finish();
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NO_BLOCK], 0);
	ck_assert_uint_gt(ev.n, 63 * 13);
	for (i = 0; i < ev.n; i++) {
		snprintf(want, sizeof(want), "loop i=%d s=\"x\"",
		    (int)(100000 - ev.n + i));
		IS(i, want);
	}
}
END_TEST

/* In the largest file no reference leads to the next lap.  So a thread whose block is of the
   lap before takes a fresh one for its next event, whose strings may need one more. */
START_TEST(lap_of_the_largest)
{
	const uint64_t size = 1 << 30;
	char big[251];
	struct tnf_ext *ext;
	int fd;

	memset(big, 'b', 250);
	big[250] = '\0';
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);	/* hardly any of it is written */
	close(fd);
	_tnf_process_control.open(path, size, -1);
	ck_assert_int_eq(_tnf_process_control.open_result, 0);
	selfctl_enable(NULL);
	TNF_PROBE_2(lap, "", "", tnf_string, a, big, tnf_string, b, big + 1);
	ext = (struct tnf_ext *)(void *)(look(4096) + TNF_EXT_OFFSET);
	ck_assert_uint_gt(ext->data_cursor, 0);
	ext->data_cursor += (size - 0x18000) / 512;
	TNF_PROBE_2(lap, "", "", tnf_string, a, big, tnf_string, b, big + 1);
	for (int i = 0; i < TNF_LOST_REASONS; i++)
		ck_assert_uint_eq(ext->lost[i], 0);
}
END_TEST

/* How many blocks an event asks for that gets none, all being held by somebody who lives. */
static uint64_t
asked_for(const char *file, unsigned strings)
{
	const struct tnf_ext *ext = (const struct tnf_ext *)(const void *)(file + TNF_EXT_OFFSET);
	uint64_t before = ext->data_cursor, lost = ext->lost[TNF_LOST_NO_BLOCK];
	char a[251], b[251], c[251], d[251];

	memset(a, 'a', 250);
	a[250] = '\0';
	memcpy(b, a, 251);
	memcpy(c, a, 251);
	memcpy(d, a, 251);
	if (strings == 2) {
		TNF_PROBE_2(large, "", "", tnf_string, a, a, tnf_string, b, b);
	} else {
		TNF_PROBE_4(larger, "", "", tnf_string, a, a, tnf_string, b, b, tnf_string, c, c,
		    tnf_string, d, d);
	}
	ck_assert_uint_eq(ext->lost[TNF_LOST_NO_BLOCK], lost + 1);
	return ext->data_cursor - before;
}

/* An event that has found no block for one value looks for none for the others. */
START_TEST(asks_once)
{
	char *file;
	uint64_t one;

	start(128);
	TNF_PROBE_0(small, "", "");
	file = look(128 * 1024);
	for (uint32_t at = 0x18000; at < 0x20000; at += 512) {
		struct tnf_block_header *b = (struct tnf_block_header *)(void *)(file + at);

		if (b->next_block == 0)
			b->next_block = 1;
	}
	one = asked_for(file, 2);
	ck_assert_uint_gt(one, 0);
	ck_assert_uint_eq(asked_for(file, 4), one);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		thread_exit, no_block, killed_owners, long_sleep, pause_in_a_hurry,
		directory_full, tag_space_full, generations, lap_of_the_largest, asks_once,
	};

	return run_tests("room", tests, sizeof(tests) / sizeof(tests[0]));
}
