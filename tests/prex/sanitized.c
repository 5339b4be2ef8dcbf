/*
 * sanitized.c - a program with a probe, built with AddressSanitizer.
 */
#include <stdio.h>
#include <stdlib.h>

#include <tnf/probe.h>

int
main(void)
{
	char *p = malloc(10);

	TNF_PROBE_1(hello, "greet", "", tnf_opaque, where, p);
	/* Not written before the end, which a search for leaks comes before. */
	printf("unharmed\n");
	free(p);
	return 0;
}
