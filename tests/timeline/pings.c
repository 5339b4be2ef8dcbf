/*
 * pings.c - a system call between two probes, again and again.
 *
 * pings FILE N: writes its pid to FILE, waits until FILE.go is there, does N
 * rounds in each of two threads.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tnf/probe.h>

static long rounds;

static void *
ping(void *arg)
{
	long i;

	for (i = 0; i < rounds; i++) {
		TNF_PROBE_0(before, "ping", "");
		syscall(SYS_getppid);
		TNF_PROBE_0(after, "ping", "");
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	char go[4096];
	pthread_t other;
	FILE *f;
	int i;

	if (argc != 3)
		errx(2, "usage: pings FILE N");
	rounds = atol(argv[2]);
	snprintf(go, sizeof go, "%s.go", argv[1]);
	f = fopen(argv[1], "w");
	if (f == NULL || fprintf(f, "%d\n", (int)getpid()) < 0 ||
	    fclose(f) != 0)
		err(1, "%s", argv[1]);
	for (i = 0; access(go, F_OK) != 0; i++) {
		if (i > 3000)
			errx(1, "%s does not come", go);
		usleep(10000);
	}
	if (pthread_create(&other, NULL, ping, NULL) != 0)
		errx(1, "thread");
	ping(NULL);
	pthread_join(other, NULL);
	return 0;
}
