/*
 * main.c - tnfwatch: keeps the history from before something went wrong.
 */
#include <sys/utsname.h>

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "analysis/pretty-names.h"
#include "common/guess.h"
#include "tnfwatch/config.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

static const struct watch_command *const commands[] = {
	&command_check, &command_status, &command_fire, &command_list, &command_show,
	&command_pin, &command_rm, &command_mark, &command_ask, &command_agent,
	NULL
};

static void
usage(FILE *f)
{
	fputs("usage: tnfwatch [-c FILE] [COMMAND [ARGUMENT ...]]\n", f);
}

static void
main_help(void)
{
	usage(stdout);
	puts("Watches traced processes and the kernel, and keeps what happened before a\n"
	    "trigger fired.  Without a command it does so in the foreground.");
	for (size_t i = 0; commands[i] != NULL; i++)
		printf("  %-7s %-32s %s\n", commands[i]->name, commands[i]->usage,
		    commands[i]->help);
	puts("  -c, --config FILE   the configuration (" CONFIG_FILE ")\n"
	    "  --help, --version");
}

static _Noreturn void
main_misuse(void)
{
	usage(stderr);
	exit(2);
}

static void
parse_options(int argc, char **argv, struct watch_options *o)
{
	enum { HELP = 256, VERSION };
	static const struct option names[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	*o = (struct watch_options){ .config = CONFIG_FILE };
	while ((c = getopt_long(argc, argv, "+c:", names, NULL)) != -1)
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case HELP:
			main_help();
			exit(fflush(stdout) == 0 ? 0 : 1);
		case VERSION:
			printf("tnfwatch %s\n", TNF_VERSION);
			exit(fflush(stdout) == 0 ? 0 : 1);
		default:
			main_misuse();
		}
}

/* Also "tnfwatch check -c FILE". */
static int
command_options(int argc, char **argv, struct watch_options *o)
{
	int i, n = 1;

	for (i = 1; i < argc; i++)
		if (strcmp(argv[i], "-c") == 0 && i + 1 < argc)
			o->config = argv[++i];
		else
			argv[n++] = argv[i];
	argv[n] = NULL;
	return n;
}

static const struct watch_command *
command_find(const char *name)
{
	const char *names[sizeof commands / sizeof commands[0]], *guess;
	size_t i;

	for (i = 0; commands[i] != NULL; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
		names[i] = commands[i]->name;
	}
	names[i] = NULL;
	if ((guess = tnf_word_guess(names, name)) != NULL)
		say("%s: no such command: did you mean \"%s\"?", name, guess);
	else
		say("%s: no such command: tnfwatch --help lists them", name);
	exit(2);
}

/* What is watched runs on this machine: its numbers of system calls are the kernel's. */
static void
name_calls(void)
{
	struct utsname u;

	if (uname(&u) == 0)
		pretty_machine_set(u.machine);
}

int
main(int argc, char **argv)
{
	struct watch_options o;

	parse_options(argc, argv, &o);
	name_calls();
	if (optind == argc)
		return watch_run(&o);
	const struct watch_command *c = command_find(argv[optind]);
	argc = command_options(argc - optind, argv + optind, &o);
	if (argc - 1 < c->min || argc - 1 > c->max) {
		fprintf(stderr, "usage: tnfwatch %s %s\n", c->name, c->usage);
		return 2;
	}
	return c->run(&o, argc - 1, argv + optind + 1);
}
