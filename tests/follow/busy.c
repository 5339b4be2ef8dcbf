/*
 * busy.c N US FILE - hits one probe N times, a pause of US microseconds between;
 * half way it waits until there is the FILE.
 */
#include <stdlib.h>
#include <unistd.h>

#include <tnf/probe.h>

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, us = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < n; i++) {
		while (argc > 3 && i == n / 2 && access(argv[3], F_OK) != 0)
			usleep(10000);
		TNF_PROBE_1(tick, "follow", "", tnf_int, i, i);
		if (us > 0)
			usleep((useconds_t)us);
	}
	return 0;
}
