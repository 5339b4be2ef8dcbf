/*
 * main.c - tnfwatch keeps the history from before something went wrong: its command line.
 */
#include <sys/utsname.h>

#include <getopt.h>

#include "analysis/pretty-names.h"
#include "common/text.h"
#include "tnfwatch/config.h"
#include "tnfwatch/watch.h"

/* Becomes tnffleet, which prints its messages under our name. */
static int
fleet_run(const struct watch_options *o, const char *command, int argc, char **argv)
{
	autofree char **list = tnf_xcalloc((size_t)argc + 5, sizeof *list);
	autofree char *path = tnf_program_path("tnffleet");

	list[0] = program_invocation_name;
	list[1] = (char *)(uintptr_t)"-c";
	list[2] = (char *)(uintptr_t)o->config;
	list[3] = (char *)(uintptr_t)command;
	memcpy(list + 4, argv, (size_t)argc * sizeof *list);
	execvp(path, list);
	say("%s: %s: install tnf-fleet", path, strerror(errno));
	return 1;
}

static int
ask_run(const struct watch_options *o, int argc, char **argv)
{
	return fleet_run(o, "ask", argc, argv);
}

static int
agent_run(const struct watch_options *o, int argc, char **argv)
{
	return fleet_run(o, "agent", argc, argv);
}

static int
daemon_ask(const struct watch_options *o, const char *const *words)
{
	struct config *c = config_read_places(o->config);

	if (c == NULL)
		return 1;
	int status = client_ask(c, stdout, words);
	config_free(c);
	return status;
}

static int
status_run(const struct watch_options *o, int argc, char **argv)
{
	return daemon_ask(o, (const char *const[]){ "status", NULL });
}

static int
metrics_run(const struct watch_options *o, int argc, char **argv)
{
	return daemon_ask(o, (const char *const[]){ "metrics", NULL });
}

static int
mark_run(const struct watch_options *o, int argc, char **argv)
{
	return daemon_ask(o, (const char *const[]){ "mark", argv[0], NULL });
}

/* The time of --at in monotonic ns; -1: a message has said what is wrong. */
static int64_t
fire_time(const char *text)
{
	struct timespec_clock clock;
	int64_t time = 0;
	const char *wrong = moment_parse(text, "a duration says no time: write 03:12:20 or "
	    "@NANOSECONDS", &clock, &time);

	if (wrong == NULL && time <= now_mono())
		return time;
	say("--at %s: %s", text, wrong != NULL ? wrong : "that is still to come");
	return -1;
}

#define WAIT_NS	(100 * 1000 * 1000)	/* between two looks for the incident */

/* Asks one thing; the first line of the answer, which the caller frees, or NULL. */
static char *
ask_line(const struct config *c, const char *const *words)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int status = f != NULL ? client_ask(c, f, words) : 1;

	if (f != NULL)
		fclose(f);
	if (status != 0) {
		free(text);
		return NULL;
	}
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Waits until the incident is kept or lost. */
static int
fire_wait(const struct config *c, const char *id)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };

	for (;; nanosleep(&pause, NULL)) {
		autofree char *said = ask_line(c, (const char *const[]){ "incident", id, NULL });

		if (said != NULL && strcmp(said, "kept") == 0)
			return 0;
		if (said == NULL || strcmp(said, "open") != 0)
			break;
	}
	say("%s: not kept: the log of tnfwatch says why", id);
	return 1;
}

static int
fire_and_wait(const struct watch_options *o, const char *const *words)
{
	struct config *c = config_read_places(o->config);
	autofree char *id = c != NULL ? ask_line(c, words) : NULL;
	int status = 1;

	if (id != NULL && (status = fire_wait(c, id)) == 0)
		puts(id);
	config_free(c);
	return fflush(stdout) == 0 ? status : 1;
}

static int
fire_run(const struct watch_options *o, int argc, char **argv)
{
	const char *name = NULL, *note = "", *at = NULL;
	char time[32] = "";
	bool wait = false;
	int64_t ns;
	int i;

	for (i = 0; i < argc; i++)
		if (strcmp(argv[i], "--note") == 0 && i + 1 < argc)
			note = argv[++i];
		else if (strcmp(argv[i], "--at") == 0 && i + 1 < argc)
			at = argv[++i];
		else if (strcmp(argv[i], "--wait") == 0)
			wait = true;
		else if (name == NULL && argv[i][0] != '-')
			name = argv[i];
		else
			break;
	if (i < argc || name == NULL) {
		fputs("usage: tnfwatch fire NAME [--at TIME] [--note TEXT] [--wait]\n", stderr);
		return 2;
	}
	if (at != NULL) {
		if ((ns = fire_time(at)) < 0)
			return 2;
		snprintf(time, sizeof time, "%lld", (long long)ns);
	}
	const char *const words[] = { "fire", name, time, note, NULL };
	return wait ? fire_and_wait(o, words) : daemon_ask(o, words);
}

/* A command of the command line. */
struct watch_command {
	const char *name;
	const char *usage;	/* its arguments */
	const char *help;	/* one line */
	int	 min, max;	/* how many arguments */
	int	(*run)(const struct watch_options *, int argc, char **argv);	/* its exit status */
};

static const struct watch_command commands[] = {
	{ "check", "", "tell every mistake of the configuration", 0, 0, config_check_run },
	{ "status", "", "sources, how far back they reach, triggers", 0, 0, status_run },
	{ "metrics", "", "the same for Prometheus", 0, 0, metrics_run },
	{ "fire", "NAME [--at TIME] [--note TEXT] [--wait]", "an incident from outside", 1, 6, fire_run },
	{ "list", "[--causes]", "what was kept, and why", 0, 1, list_run },
	{ "show", "ID", "one incident in full", 1, 1, show_run },
	{ "export", "ID [FILE] [--redact]", "one archive of it, to give away", 1, 3, export_run },
	{ "pin", "ID", "never remove it for room", 1, 1, pin_run },
	{ "rm", "ID", "remove it", 1, 1, rm_run },
	{ "mark", "TEXT", "a mark in what is kept of now", 1, 1, mark_run },
	{ "ask", "[OPTION ...] -o DIRECTORY", "the history of many machines, tnfwatch(1)", 0, 64, ask_run },
	{ "agent", "", "answers other machines; started where there is [fleet]", 0, 0, agent_run },
};
#define COMMANDS	(sizeof commands / sizeof commands[0])

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
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-7s %-32s %s\n", commands[i].name, commands[i].usage, commands[i].help);
	puts("  -c, --config FILE   the configuration (" CONFIG_FILE ")\n"
	    "  --help, --version");
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
			usage(stderr);
			exit(2);
		}
}

/* Reads options behind the command, as in "tnfwatch check -c FILE". */
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
	const char *names[COMMANDS + 1] = { NULL }, *guess;

	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
		names[i] = commands[i].name;
	}
	if ((guess = tnf_word_guess(names, name)) != NULL)
		say("%s: no such command: did you mean \"%s\"?", name, guess);
	else
		say("%s: no such command: tnfwatch --help lists them", name);
	exit(2);
}

/* Watched programs run on this machine, so their numbers of system calls are this kernel's. */
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
