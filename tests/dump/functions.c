/*
 * functions.c - leaves the addresses of its functions in a trace.
 */
#include <unistd.h>

#include <tnf/probe.h>

static int
known_function(int x)
{
	return x + 1;
}

int
main(void)
{
	TNF_PROBE_2(address, "symbols", "", tnf_opaque, start,
	    (void *)known_function, tnf_opaque, nothing, (void *)8);
	sleep(1);
	return known_function(-1);
}
