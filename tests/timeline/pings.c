/*
 * pings.c - a system call between two probes, again and again.
 *
 * pings FILE N: writes its pid to FILE, waits until FILE.go is there, does N
 * rounds in each of four threads, which move to another CPU now and then.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tnf/probe.h>

#define THREADS		4
#define ROUNDS_A_CPU	256

static long rounds;

/* To the next CPU that we may use: the thread goes on there. */
static void
migrate(const cpu_set_t *may, int *cpu)
{
	cpu_set_t one;

	do
		*cpu = (*cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(*cpu, may));
	CPU_ZERO(&one);
	CPU_SET(*cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		err(1, "CPU %d", *cpu);
}

static void *
ping(void *arg)
{
	cpu_set_t may;
	int cpu = 0;
	long i;

	if (sched_getaffinity(0, sizeof may, &may) != 0)
		err(1, "CPUs");
	for (i = 0; i < rounds; i++) {
		if (i % ROUNDS_A_CPU == 0)
			migrate(&may, &cpu);
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
	pthread_t others[THREADS - 1];
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
	for (i = 0; i < THREADS - 1; i++)
		if (pthread_create(&others[i], NULL, ping, NULL) != 0)
			errx(1, "thread");
	ping(NULL);
	for (i = 0; i < THREADS - 1; i++)
		pthread_join(others[i], NULL);
	return 0;
}
