/*
 * option.h - the options of the command line, and the command of --run.
 */
#ifndef PREX_OPTION_H
#define PREX_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "prex/target.h"

struct shell;

struct input {
	const char *arg;
	bool	is_text;	/* -c; else a file, -f */
};

struct options {
	struct target_options target;
	size_t	buffer_size;
	bool	test_mode;
	bool	run;		/* the kernel around a command */
	struct input *inputs;	/* none: standard input */
	size_t	n_inputs;
};

/* In a kernel session that has nothing set: makes a buffer, runs prex's commands (by default:
   all probes) and sets the filter; runs the command, puts a snapshot into the file, and leaves
   nothing behind.  Returns the exit status: the command's, 128 + its signal, or 1. */
int	run_command(struct shell *, const struct options *);

#endif
