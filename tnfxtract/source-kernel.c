/*
 * source-kernel.c - the buffer of the running kernel.
 */
#include "tnfxtract/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/kallsyms.h"
#include "kernel-probes/kernel_probes.h"
#include "tnfxtract/tnfxtract.h"

static bool
complain_kernel(struct kp *kp, int e)
{
	const char *detail = kp_detail(kp);

	if (e == -ENOENT)
		fprintf(stderr, "No trace data available in the kernel.\n");
	else if (*detail != '\0')
		complain("%s", detail);
	else
		complain("kernel: %s", strerror(-e));
	return false;
}

bool
source_open_kernel(struct source *s)
{
	memset(s, 0, sizeof *s);
	s->image.fd = -1;
	s->symbols = KALLSYMS;
	int e = kp_open(false, &s->kernel);
	if (e == 0 && kp_standing(s->kernel) != KP_OK)
		e = -ENOENT;
	if (e == 0)
		e = kp_map(s->kernel, &s->base, &s->size);
	return e == 0 || complain_kernel(s->kernel, e);
}
