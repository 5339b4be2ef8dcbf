/*
 * ctl-exec.c - run a program with all its probes on: ctl-exec FILE PROGRAM ARGS
 */
#include <stdio.h>

#include <tnf/tnfctl.h>

static int
failed(const char *what, tnfctl_errcode_t err)
{
	fprintf(stderr, "%s: %s: %s\n", what, tnfctl_strerror(err),
	    tnfctl_error_detail());
	return 1;
}

int
main(int argc, char **argv)
{
	tnfctl_event_t event;
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;

	if (argc < 3)
		return failed("ctl-exec FILE PROGRAM ARGS", TNFCTL_ERR_BADARG);
	err = tnfctl_exec_open(argv[2], argv + 2, NULL, NULL, NULL, &h);
	if (err != TNFCTL_ERR_NONE)
		return failed(argv[2], err);
	if ((err = tnfctl_buffer_alloc(h, argv[1], 4 << 20)) != TNFCTL_ERR_NONE)
		return failed(argv[1], err);
	do {
		/* Objects that came while it ran have probes as well. */
		tnfctl_probe_apply(h, tnfctl_probe_enable, NULL);
		err = tnfctl_continue(h, &event, NULL);
	} while (err == TNFCTL_ERR_NONE && (event == TNFCTL_EVENT_DLOPEN ||
	    event == TNFCTL_EVENT_DLCLOSE));
	tnfctl_close(h, TNFCTL_TARG_RESUME);
	return err == TNFCTL_ERR_NONE ? 0 : failed(argv[2], err);
}
