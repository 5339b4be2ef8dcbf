/*
 * ctl-pid.c - list the probes of a running process: ctl-pid PID
 */
#include <stdio.h>
#include <stdlib.h>

#include <tnf/tnfctl.h>

static tnfctl_errcode_t
show(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t s;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &s);

	if (err == TNFCTL_ERR_NONE)
		printf("%3lu %-3s %s: %s\n", s.id, s.enabled ? "on" : "off",
		    s.obj_name, s.attr_string);
	return err;
}

int
main(int argc, char **argv)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;

	err = tnfctl_pid_open(argc > 1 ? atoi(argv[1]) : 0, &h);
	if (err == TNFCTL_ERR_NONE) {
		err = tnfctl_probe_apply(h, show, NULL);
		tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	}
	if (err != TNFCTL_ERR_NONE)
		fprintf(stderr, "ctl-pid: %s: %s\n", tnfctl_strerror(err),
		    tnfctl_error_detail());
	return err != TNFCTL_ERR_NONE;
}
