/*
 * storm.c - many threads fork, end and are killed while they record.
 *
 * After each storm the file is sound, and a probe hit then is recorded.
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/runtime.h>

#include "tests/writer/events.h"
#include "tests/writer/selfctl.h"

#define FORKERS	8
#define FORKS	50
#define KILLS	150

static char path[64];
static atomic_bool over;
static char text[2001];	/* of a long value */

/* Made anew by each thread and child, and each time the same.  (The allocator of
   AddressSanitizer may be locked in the child of a program with threads.) */
static struct tnf_probe_control *
make_probe(void)
{
	static const struct tnf_probe_argument_type args[] = {
		{ "i", TNF_ARG_INT32 }, { "s", TNF_ARG_TEXT }
	};
	static _Atomic(struct tnf_probe_control *) p_once;
	struct tnf_probe_control *p = p_once;

#ifdef __SANITIZE_ADDRESS__
	if (p != NULL)
		return p;
#endif
	p = tnf_probe_define("made", "", "", 2, args);
	if (p == NULL)
		err(1, "define");
	if (!tnf_probe_is_on(p))
		selfctl_on(p);
	p_once = p;
	return p;
}

static void
hits(int n)
{
	struct tnf_probe_control *made = make_probe();
	struct tnf_probe_value v[2];
	int i;

	for (i = 0; i < n; i++) {
		v[0].u.i = i;
		v[1].u.text = text;
		v[1].size = sizeof(text);
		if (i % 8 == 0)
			tnf_probe_hit(made, v);
		TNF_PROBE_1(number, "", "", tnf_int, i, i);
		TNF_PROBE_2(text, "", "", tnf_int, i, i, tnf_string, s,
		    "some text that is not so short");
	}
}

static void *
noise(void *arg)
{
	while (!over)
		hits(100);
	return NULL;
}

static void *
forker(void *arg)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < FORKS; i++) {
		hits(10);
		pid = fork();
		if (pid == 0) {
			hits(20);
			TNF_PROBE_0(only_child, "", "");
			_exit(0);
		}
		if (pid == -1 || waitpid(pid, &status, 0) != pid ||
		    status != 0)
			errx(1, "child: status %x", status);
	}
	return NULL;
}

/* A thread that does not live long; every other one leaves by the back door. */
static void *
mayfly(void *arg)
{
	hits(3);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	if (arg != NULL)
		syscall(SYS_exit, 0);
#endif
	return NULL;
}

static void
fork_storm(void)
{
	pthread_t id[FORKERS], other;
	int i;

	pthread_create(&other, NULL, noise, NULL);
	for (i = 0; i < FORKERS; i++)
		pthread_create(&id[i], NULL, forker, NULL);
	for (i = 0; i < FORKERS; i++)
		pthread_join(id[i], NULL);
	over = true;
	pthread_join(other, NULL);
}

static void
thread_storm(void)
{
	pthread_t id[64], other;
	int i, k;

	over = false;
	pthread_create(&other, NULL, noise, NULL);
	for (k = 0; k < 30; k++) {
		for (i = 0; i < 64; i++)
			pthread_create(&id[i], NULL, mayfly,
			    i % 2 ? path : NULL);
		for (i = 0; i < 64; i++)
			pthread_join(id[i], NULL);
	}
	over = true;
	pthread_join(other, NULL);
}

/* Children with threads that record without pause, killed at some instant. */
static void
kill_storm(void)
{
	struct timespec ts = { 0, 0 };
	pthread_t id;
	int i, status;
	pid_t pid;

	for (i = 0; i < KILLS; i++) {
		pid = fork();
		if (pid == 0) {
			over = false;
			pthread_create(&id, NULL, noise, NULL);
			noise(NULL);
		}
		ts.tv_nsec = 1000 * (1 + i * 7919 % 3000);
		nanosleep(&ts, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
}

static void
look(const char *storm)
{
	struct timespec ms = { 0, 2000000 };
	struct events e;

	nanosleep(&ms, NULL);
	TNF_PROBE_0(after, "", "");
	events_read(path, &e);
	printf("%s: %zu events, %u probes, %d processes, lost: %d no block, "
	    "%d nested, %d definition, %d busy\n", storm, e.n, e.probes,
	    (int)e.ext.attached, (int)e.ext.lost[TNF_LOST_NO_BLOCK],
	    (int)e.ext.lost[TNF_LOST_NESTED],
	    (int)e.ext.lost[TNF_LOST_NO_TAG_SPACE],
	    (int)e.ext.lost[TNF_LOST_BUSY]);
	if (e.damaged)
		errx(1, "%s: damaged", storm);
	if (e.n == 0 || strcmp(e.v[e.n - 1].text, "after") != 0)
		errx(1, "%s: no more events", storm);
	if (e.ext.lost[TNF_LOST_NO_TAG_SPACE] != 0)
		errx(1, "%s: no room for definitions", storm);
	events_free(&e);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(path, sizeof(path), "/tmp/storm.%d", (int)getpid());
	alarm(600);		/* for hangs, not for load */
	memset(text, 't', sizeof(text) - 1);
	selfctl_file(path, 512);
	selfctl_enable(NULL);
	make_probe();
	fork_storm();
	look("fork");
	thread_storm();
	look("threads");
	kill_storm();
	look("kill");
	unlink(path);
	return 0;
}
