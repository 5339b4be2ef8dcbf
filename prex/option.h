/*
 * option.h - the command line.
 */
#ifndef PREX_OPTION_H
#define PREX_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "prex/target.h"

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

/* Ends the program for --help, --version and mistakes. */
void	options_parse(struct options *, int argc, char **argv);
void	options_free(struct options *);

#endif
