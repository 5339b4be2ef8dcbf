/*
 * prex.c - control the probes of a process or of the kernel: options, and
 * what they come to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "prex/cmd.h"
#include "prex/ending.h"
#include "prex/option.h"
#include "prex/rc.h"
#include "prex/run.h"
#include "prex/shell.h"
#include "prex/source.h"
#include "prex/target.h"

/* The last one pushed is read first. */
static bool
push_sources(struct shell *sh, const struct options *o)
{
	if (o->run && o->n_inputs == 0)
		source_push_string(sh, "trace $all; enable $all", "--run");
	else if (o->n_inputs == 0)
		source_push_stdin(sh);
	for (size_t i = o->n_inputs; i > 0; i--) {
		const struct input *in = &o->inputs[i - 1];
		int error;

		if (in->is_text) {
			source_push_string(sh, in->arg, "-c");
		} else if ((error = source_push_file(sh, in->arg)) != 0) {
			shell_error(sh, ERROR_TARGET, "cannot open \"%s\": %s",
			    in->arg, strerror(error));
			return false;
		}
	}
	rc_push(sh);
	return sh->interactive || !sh->failed;
}

static int
close_stdout(const struct shell *sh, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: cannot write standard output: %s\n", sh->argv0,
	    strerror(errno));
	return EXIT_FAILURE;
}

static int
prex_session(struct shell *sh, const struct options *o)
{
	int status;

	if (!target_open(sh, &o->target))
		return EXIT_FAILURE;
	if (sh->mode == MODE_USER)
		target_catch_interrupt(sh);
	if (sh->failed || !push_sources(sh, o) ||
	    !target_set_up(sh, &o->target)) {
		trace_plan_free(&sh->plan);
		target_close(sh);
		return EXIT_FAILURE;
	}
	if (!o->run)
		return shell_run(sh);
	status = run_command(sh, o);
	return target_close(sh) ? status : EXIT_FAILURE;
}

static void
prex_out_of_memory(void)
{
	fputs("new; out of memory, aborting\n", stderr);
	abort();
}

int
main(int argc, char **argv)
{
	struct options o;
	struct shell sh;
	int status;

	tnf_xalloc_failed = prex_out_of_memory;
	options_parse(&o, argc, argv);
	shell_init(&sh, argv[0]);
	sh.mode = o.target.kernel ? MODE_KERNEL : MODE_USER;
	sh.buffer_size = o.buffer_size;
	sh.test_mode = o.test_mode;
	sh.interactive = o.n_inputs == 0 && !o.run && isatty(STDIN_FILENO);
	if (o.test_mode)
		setvbuf(stdout, NULL, _IOLBF, 0);
	status = prex_session(&sh, &o);
	shell_free(&sh);
	options_free(&o);
	ending_die();
	return close_stdout(&sh, status);
}
