/*
 * plain.c - a program that nobody has prepared: it has no probes of ours and no library.
 *
 * Each line of its input is a command: "work N MS" calls work() so often, each call for so long.
 * It prints the line when that is done.
 */
#include <stdio.h>
#include <time.h>

#if defined __has_include
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif
#endif
#ifndef DTRACE_PROBE1
#define DTRACE_PROBE1(provider, name, arg)
#endif

int work(int ms, const char *name);

__attribute__((noinline)) int
work(int ms, const char *name)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
	DTRACE_PROBE1(plain, worked, ms);
	return ms + (name[0] == 'x');
}

int
main(void)
{
	char line[64];
	int n, ms;

	while (fgets(line, sizeof line, stdin) != NULL) {
		if (sscanf(line, "work %d %d", &n, &ms) != 2)
			continue;
		while (n-- > 0)
			work(ms, "order");
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
