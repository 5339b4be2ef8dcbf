/*
 * desk.c - does what it is told on standard input, a line each, and says the line when it
 * is done.
 *
 *	orders N MS	N orders, each open for so long
 *	begin, end	half of one
 *	beats N MS	N heartbeats, one every MS
 *	spills N	N events as fast as they come
 *	stuck N		the incident "checkout N is stuck"
 *	refused N	N system calls that end with EIO
 *	exit STATUS
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tnf/incident.h>
#include <tnf/probe.h>

static long id;

static void
wait_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	if (ms > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void
begin(void)
{
	TNF_PROBE_1(order_start, "order", "", tnf_long, id, ++id);
}

static void
end(void)
{
	TNF_PROBE_1(order_end, "order", "", tnf_long, id, id);
}

static void
orders(long n, long ms)
{
	for (; n > 0; n--) {
		begin();
		wait_ms(ms);
		end();
	}
}

static void
beats(long n, long ms)
{
	for (; n > 0; n--) {
		TNF_PROBE_0(beat, "beat", "");
		wait_ms(ms);
	}
}

static void
spills(long n)
{
	for (; n > 0; n--)
		TNF_PROBE_0(spill, "spill", "");
}

/* Nothing is mapped at 0. */
static void
refused(long n)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char c;

	for (; n > 0; n--)
		if (pread(fd, &c, 1, 0) != -1 || errno != EIO)
			exit(2);
	close(fd);
}

int
main(void)
{
	char line[100], word[20];
	long a, b;

	while (fgets(line, sizeof line, stdin) != NULL) {
		a = b = 0;
		if (sscanf(line, "%19s %ld %ld", word, &a, &b) < 1)
			continue;
		if (strcmp(word, "orders") == 0)
			orders(a, b);
		else if (strcmp(word, "begin") == 0)
			begin();
		else if (strcmp(word, "end") == 0)
			end();
		else if (strcmp(word, "beats") == 0)
			beats(a, b);
		else if (strcmp(word, "spills") == 0)
			spills(a);
		else if (strcmp(word, "stuck") == 0)
			tnf_incident("checkout %ld is stuck", a);
		else if (strcmp(word, "refused") == 0)
			refused(a);
		else if (strcmp(word, "exit") == 0)
			return (int)a;
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
