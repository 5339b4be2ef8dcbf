/*
 * ctl-internal.c - a program that switches its own probes: ctl-internal FILE
 */
#include <stdio.h>

#include <tnf/probe.h>
#include <tnf/tnfctl.h>

static void
work(int n)
{
	TNF_PROBE_1(work, "demo", "", tnf_int, n, n);
}

int
main(int argc, char **argv)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;
	int i;

	err = tnfctl_internal_open(&h);
	if (err == TNFCTL_ERR_NONE)
		err = tnfctl_buffer_alloc(h, argc > 1 ? argv[1] : "/tmp/demo.tnf",
		    1 << 20);
	if (err != TNFCTL_ERR_NONE) {
		fprintf(stderr, "%s: %s\n", tnfctl_strerror(err),
		    tnfctl_error_detail());
		return 1;
	}
	for (i = 0; i < 100; i++) {
		/* Recorded from 50 on. */
		if (i == 50)
			tnfctl_probe_apply(h, tnfctl_probe_enable, NULL);
		work(i);
	}
	return tnfctl_close(h, TNFCTL_TARG_DEFAULT) != TNFCTL_ERR_NONE;
}
