/*
 * main.c - tnffleet: asks other machines for what they have kept, and answers them.
 *
 * "tnfwatch ask" and "tnfwatch agent" are this program: it has tnfwatch's configuration,
 * and asks a running tnfwatch over its socket.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tnffleet/fleet.h"

static _Noreturn void
usage(FILE *f, int status)
{
	fprintf(f, "usage: %s [-c FILE] ask [OPTION ...] -o DIRECTORY\n"
	    "       %s [-c FILE] agent\n", program_invocation_short_name, program_invocation_short_name);
	exit(fflush(f) == 0 ? status : 1);
}

int
main(int argc, char **argv)
{
	enum { HELP = 256, VERSION };
	static const struct option names[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ NULL, 0, NULL, 0 }
	};
	const char *file = CONFIG_FILE;
	int c;

	while ((c = getopt_long(argc, argv, "+c:", names, NULL)) != -1)
		switch (c) {
		case 'c':
			file = optarg;
			break;
		case HELP:
			usage(stdout, 0);
		case VERSION:
			printf("tnffleet %s\n", TNF_VERSION);
			exit(fflush(stdout) == 0 ? 0 : 1);
		default:
			usage(stderr, 2);
		}
	argc -= optind;
	argv += optind;
	if (argc > 0 && strcmp(argv[0], "ask") == 0)
		return ask_run(file, argc - 1, argv + 1);
	if (argc == 1 && strcmp(argv[0], "agent") == 0)
		return agent_run(file);
	usage(stderr, 2);
}
