/*
 * option.c - the command line.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"
#include "util.h"

enum { OPT_HELP = 256, OPT_VERSION, OPT_FOLLOW_FORK, OPT_SET };

static const struct option longopts[] = {
	{ "follow-fork", no_argument, NULL, OPT_FOLLOW_FORK },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "set", required_argument, NULL, OPT_SET },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static void
print_usage(FILE *fp, const char *argv0)
{
	fprintf(fp,
	    "usage: %s [options] <cmd> [cmd-args...]\n"
	    "usage: %s [options] -p <pid>\n"
	    "usage: %s -s <kbytes-size> -k\n"
	    "options:\n"
	    "\t-o <outfilename>   set trace output file name\n"
	    "\t-s <kbytes-size>   set trace file size\n"
	    "\t-l <sharedobjs>    shared objects to be preloaded (cmd only)\n",
	    argv0, argv0, argv0);
}

static void
print_help(const char *argv0)
{
	print_usage(stdout, argv0);
	printf(
	    "\t-p <pid>           attach to a process that runs\n"
	    "\t-k                 control the probes of the kernel\n"
	    "\t-f <file>          read commands from the file, then quit\n"
	    "\t-c <commands>      run the commands (\";\" separates), then quit\n"
	    "\t-t                 for tests: write line by line\n"
	    "\t--follow-fork      control the children of the target as well\n"
	    "\t--set <name=value>  setting of the kernel's probes (with -k)\n"
	    "\t--help             print this\n"
	    "\t--version          print the version\n");
}

static _Noreturn void
usage(const char *argv0, const char *reason)
{
	fprintf(stderr, "%s: %s\n", argv0, reason);
	print_usage(stderr, argv0);
	exit(EXIT_FAILURE);
}

static _Noreturn void
finish(const char *argv0)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		exit(EXIT_SUCCESS);
	fprintf(stderr, "%s: cannot write standard output\n", argv0);
	exit(EXIT_FAILURE);
}

static void
add_input(struct options *o, const char *arg, bool is_text)
{
	o->inputs = xreallocarray(o->inputs, o->n_inputs + 1,
	    sizeof *o->inputs);
	o->inputs[o->n_inputs].arg = arg;
	o->inputs[o->n_inputs++].is_text = is_text;
}

static void
add_setting(struct options *o, const char *arg, const char *argv0)
{
	struct target_options *t = &o->target;
	const char *eq = strchr(arg, '=');
	unsigned long value;
	char *end;

	if (eq == NULL || eq == arg || eq[1] == '\0')
		usage(argv0, "--set needs name=value");
	t->settings = xreallocarray(t->settings, t->n_settings + 1,
	    sizeof *t->settings);
	t->settings[t->n_settings].name = xasprintf("%.*s", (int)(eq - arg), arg);
	value = strtoul(eq + 1, &end, 10);
	t->settings[t->n_settings++].value = (unsigned)value;
	if (*end != '\0' || value > UINT_MAX)
		usage(argv0, "the value of --set is a number");
}

/* As atoi() reads it, but no process has a number that fits no int. */
static pid_t
pid_of(const char *argv0, const char *arg)
{
	long n = strtol(arg, NULL, 10);

	if (n > INT_MAX || n < INT_MIN)
		usage(argv0, "pid out of range");
	return (pid_t)n;
}

/* As atoi() reads it, but a size that fits no int does not become another. */
static size_t
kilobytes(const char *argv0, const char *arg)
{
	long n = strtol(arg, NULL, 10);

	if (n > UINT_MAX / 1024)
		usage(argv0, "trace file size too big");
	/* At least one byte, as 0 would mean that no size was given. */
	return n > 0 ? (size_t)n * 1024 : 1;
}

static void
take(struct options *o, int c, const char *argv0)
{
	switch (c) {
	case 'l':
		o->target.preload = optarg;
		break;
	case 'o':
		o->target.file = optarg;
		break;
	case 'p':
		o->target.pid = pid_of(argv0, optarg);
		break;
	case 's':
		o->buffer_size = kilobytes(argv0, optarg);
		break;
	case 't':
		o->test_mode = true;
		break;
	case 'k':
		o->target.kernel = true;
		break;
	case 'c':
	case 'f':
		add_input(o, optarg, c == 'c');
		break;
	case OPT_FOLLOW_FORK:
		o->target.follow_fork = true;
		break;
	case OPT_SET:
		add_setting(o, optarg, argv0);
		break;
	case OPT_HELP:
		print_help(argv0);
		finish(argv0);
	case OPT_VERSION:
		puts("prex " PREX_VERSION);
		finish(argv0);
	default:
		usage(argv0, "unrecognized argument");
	}
}

static void
check(const struct options *o, const char *argv0)
{
	const struct target_options *t = &o->target;

	if (!t->kernel) {
		if (t->n_settings > 0)
			usage(argv0, "--set is for the kernel: use it with -k");
		if (t->argv == NULL && t->pid == 0)
			usage(argv0, "need to specify cmd or pid");
		if (t->argv != NULL && t->pid != 0)
			usage(argv0, "can't specify both cmd and pid");
		if (t->pid != 0 && t->preload != NULL)
			usage(argv0, "can't use preload option with attach");
		return;
	}
	if (t->file != NULL)
		usage(argv0, "can't specify a filename in kernel mode");
	if (t->argv != NULL)
		usage(argv0, "can't specify a command in kernel mode");
	if (t->pid != 0)
		usage(argv0, "can't specify pid in kernel mode");
	if (t->preload != NULL)
		usage(argv0, "can't use preload option in kernel mode");
}

void
options_parse(struct options *o, int argc, char **argv)
{
	int c;

	memset(o, 0, sizeof *o);
	/* "+": what follows the command is its own. */
	while ((c = getopt_long(argc, argv, "+l:o:p:s:tkc:f:", longopts,
	    NULL)) != -1)
		take(o, c, argv[0]);
	if (optind < argc)
		o->target.argv = argv + optind;
	check(o, argv[0]);
}

void
options_free(struct options *o)
{
	for (size_t i = 0; i < o->target.n_settings; i++)
		free(o->target.settings[i].name);
	free(o->target.settings);
	free(o->inputs);
}
