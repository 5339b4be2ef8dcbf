/*
 * victim.h - what the programs that get traced have in common.
 */
#ifndef VICTIM_H
#define VICTIM_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tnf/target.h>

#ifdef VICTIM_KEEP_LIBRARY
/* Probes alone do not refer to the library, and the linker would drop it. */
extern struct tnf_process_control _tnf_process_control;
const void *const victim_library __attribute__((used)) =
    &_tnf_process_control;
#endif

/* The test waits for this line. */
static inline void
victim_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Something is not as it would be if nobody had looked. */
static inline void
victim_harmed(const char *what)
{
	printf("harmed: %s\n", what);
	fflush(stdout);
	_exit(9);
}

#endif
