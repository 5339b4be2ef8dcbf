/*
 * usersym.c - fuzzes an object file that tnfdump looks for functions in.
 *
 * It must be the object that was traced, by the build id of the seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/usersym.h"

#define PID	1
#define LOOK	0x1800u	/* bytes behind START that are asked for */
#define START	UINT64_C(0x10000)
#define STEP	5u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern size_t n_named;

size_t n_named;	/* external, so that no look is optimised away */

static tnf_context_t *
context_of(int fd)
{
	tnf_context_t *c;
	char text[256];
	int n;

	n = snprintf(text, sizeof text, "TNFCTX 1\n"
	    "object %d %llx %llx 0 00112233445566778899aabbccddeeff "
	    "/proc/self/fd/%d\nend 1\n", PID, (unsigned long long)START,
	    (unsigned long long)START * 2, fd);
	if (tnf_context_parse(text, (size_t)n, &c) != 0)
		abort();
	return c;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("object", MFD_CLOEXEC);
	uint64_t addr, offset;
	const char *name, *inlined[8];
	struct usersyms *u;
	tnf_context_t *c;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	c = context_of(fd);
	u = usersyms_new();
	for (addr = START; addr < START + LOOK; addr += STEP) {
		name = usersyms_find(u, c, PID, addr, &offset);
		n_named += name == NULL ? 0 : strlen(name);
		n_named += usersyms_inlined(u, c, PID, addr, inlined, 8);
	}
	usersyms_free(u);
	tnf_context_close(c);
	close(fd);
	return 0;
}
