/*
 * guest.c - a program in a container: hits its probe often, until it is killed.
 *
 *	guest NAME	NAME: what it calls itself
 *
 * GUEST_USDT: its probe is a note for the kernel, and it needs nothing but a C library.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef GUEST_USDT
#include <sys/sdt.h>
#define HIT(n)	DTRACE_PROBE1(guest, hit, n)
#else
#include <tnf/probe.h>
#define HIT(n)	TNF_PROBE_1(guest_hit, "guest", "", tnf_int, n, n)
#endif

int
main(int argc, char **argv)
{
	if (argc > 1)
		prctl(PR_SET_NAME, argv[1]);
	puts("ready");
	fflush(stdout);
	for (int n = 0; ; n++) {
		HIT(n);
		usleep(20000);
	}
}
