/*
 * coroutines.c - victim: runs on small stacks that lie side by side.
 *
 * coroutines HOW: "contexts" switches between them in one thread, "threads"
 * gives each thread one, and the main thread waits in a signal handler.  Each
 * stack is full of a pattern but for the last pages, and sleeps.  Prints
 * "unharmed" after the end of its input if every pattern is still there.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <tnf/probe.h>

#include "victim.h"

#define STACKS		16
#define FIRST		8	/* to sleep: there is much in front of it */
#define STACK		16384u
#define FILLED		8192u	/* of each */

static char *stacks;
static ucontext_t scheduler, context[STACKS];
static volatile bool over;

/* True: no more input. */
static bool
wait_a_moment(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char line[16];

	return poll(&p, 1, 2) > 0 && read(0, line, sizeof(line)) == 0;
}

static void
sleep_on(int n)
{
	TNF_PROBE_1(coroutine, "coroutine", "", tnf_int, number, n);
	if (n >= FIRST && wait_a_moment())
		over = true;
}

static void
coroutine(int n)
{
	while (!over) {
		sleep_on(n);
		swapcontext(&context[n], &scheduler);
	}
}

/* Apart from the loop around it: getcontext() may return twice. */
static void
make_context(int n)
{
	getcontext(&context[n]);
	context[n].uc_stack.ss_sp = stacks + (size_t)n * STACK;
	context[n].uc_stack.ss_size = STACK;
	context[n].uc_link = &scheduler;
	makecontext(&context[n], (void (*)(void))(uintptr_t)coroutine, 1, n);
}

static void
run_contexts(void)
{
	int i;

	for (i = 0; i < STACKS; i++)
		make_context(i);
	victim_ready();
	for (i = 0; !over; i = (i + 1) % STACKS)
		swapcontext(&scheduler, &context[i]);
}

static void *
thread(void *arg)
{
	while (!over)
		sleep_on((int)(intptr_t)arg);
	return NULL;
}

static void
wait_in_handler(int sig)
{
	victim_ready();
	while (!over)
		usleep(1000);
}

static void
run_threads(void)
{
	pthread_attr_t attr;
	pthread_t t;
	intptr_t i;

	for (i = FIRST; i < STACKS; i++) {
		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stacks + (size_t)i * STACK, STACK);
		if (pthread_create(&t, &attr, thread, (void *)i) != 0)
			victim_harmed("no thread");
	}
	signal(SIGUSR1, wait_in_handler);
	raise(SIGUSR1);
}

static unsigned char
pattern(size_t at)
{
	return (unsigned char)(at * 131 + at / STACK + 1);
}

int
main(int argc, char **argv)
{
	size_t i;

	stacks = mmap(NULL, STACKS * STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || stacks == MAP_FAILED)
		return 2;
	for (i = 0; i < STACKS * STACK; i++)
		if (i % STACK < FILLED)
			stacks[i] = (char)pattern(i);
	if (strcmp(argv[1], "threads") == 0)
		run_threads();
	else
		run_contexts();
	for (i = 0; i < STACKS * STACK; i++)
		if (i % STACK < FILLED && stacks[i] != (char)pattern(i))
			victim_harmed("somebody else's stack was written");
	puts("unharmed");
	return 0;
}
