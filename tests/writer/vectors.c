/*
 * vectors.c - there is room for all vector registers that the kernel has switched on, whichever
 * of their parts lies last.  Which one does depends on the processor, so this one is not asked.
 */
#include <cpuid.h>
#include <err.h>
#include <stdio.h>

#define AT	576u	/* where the parts lie that are not the last */
#define LAST_AT	4000u
#define SIZE	64u

static unsigned last;

static int
cpuid_instead(unsigned leaf, unsigned part, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
	*a = SIZE;
	*b = part == last ? LAST_AT : AT;
	*c = *d = 0;
	return leaf == 0xd;
}

#define __get_cpuid_count cpuid_instead
#include "libtnfprobe/vectors.c"

int
main(void)
{
	unsigned want;

	tnf_vectors_look();
	if (parts == 0) {
		puts("no xsave here");
		return 77;
	}
	for (last = 2; last < 8; last++) {
		tnf_vectors_look();
		want = (parts >> last & 1) != 0 ? LAST_AT + SIZE : parts > 3 ? AT + SIZE : LEGACY + HEADER;
		if (area_size != want)
			errx(1, "part %u of %#x is the last: room for %u bytes, not for %u", last, parts, area_size,
			    want);
	}
	return 0;
}
