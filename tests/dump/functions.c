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

/* An address in whatever function this is put into. */
static inline __attribute__((always_inline)) void *
inlined_function(void)
{
	void *here;

#ifdef __aarch64__
	__asm__ volatile("adr %0, ." : "=r" (here));
#else
	__asm__ volatile("1: lea 1b(%%rip), %0" : "=r" (here));
#endif
	return here;
}

static __attribute__((noinline)) void *
outer_function(void)
{
	return inlined_function();
}

int
main(int argc, char **argv)
{
	TNF_PROBE_2(address, "symbols", "", tnf_opaque, start,
	    (void *)known_function, tnf_opaque, nothing, (void *)8);
	TNF_PROBE_1(within, "symbols", "", tnf_opaque, place, outer_function());
	while (argc > 1 && access(argv[1], F_OK) != 0)
		usleep(1000);
	return known_function(-1);
}
