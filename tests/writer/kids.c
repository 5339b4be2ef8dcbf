/*
 * kids.c - a process with children, one of them with a child and threads, that hit a
 * probe until the file "stop" is there.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <tnf/probe.h>

static void *
work(void *arg)
{
	const char *who = arg;

	while (access("stop", F_OK) != 0) {
		TNF_PROBE_1(work, "order", "", tnf_string, who, who);
		usleep(5000);
	}
	return NULL;
}

static void
tell(const char *who)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof name, "%s.pid", who);
	if ((f = fopen(name, "w")) != NULL) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
	}
}

int
main(void)
{
	pthread_t thread;
	const char *who = "parent";

	if (fork() == 0) {
		who = "child";
		if (fork() == 0)
			who = "grandchild";
	} else if (fork() == 0) {
		who = "other";
	}
	tell(who);
	pthread_create(&thread, NULL, work, (void *)(uintptr_t)"thread");
	work((void *)(uintptr_t)who);
	pthread_join(thread, NULL);
	return 0;
}
