/*
 * ctl-kernel.c - what the kernel's probes are and how they stand; changes
 * nothing.  Needs root.
 */
#include <stdio.h>

#include <tnf/tnfctl.h>

static tnfctl_errcode_t
show(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t s;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &s);

	if (err == TNFCTL_ERR_NONE)
		printf("%3lu %-3s %s\n", s.id, s.enabled ? "on" : "off",
		    s.attr_string);
	return err;
}

int
main(void)
{
	tnfctl_trace_attrs_t a;
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;

	if ((err = tnfctl_kernel_open(&h)) == TNFCTL_ERR_NONE) {
		err = tnfctl_trace_attrs_get(h, &a);
		if (err == TNFCTL_ERR_NONE)
			printf("buffer: %zu bytes, tracing %s\n",
			    a.trace_buf_size, a.trace_state ? "on" : "off");
		if (err == TNFCTL_ERR_NONE)
			err = tnfctl_probe_apply(h, show, NULL);
		tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	}
	if (err != TNFCTL_ERR_NONE)
		fprintf(stderr, "ctl-kernel: %s: %s\n", tnfctl_strerror(err),
		    tnfctl_error_detail());
	return err != TNFCTL_ERR_NONE;
}
