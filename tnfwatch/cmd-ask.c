/*
 * cmd-ask.c - commands that a running tnfwatch answers: status, fire, mark.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/timespec.h"
#include "tnfwatch/config.h"
#include "tnfwatch/control.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

static int
cmd_ask_with(const struct watch_options *o, const char *const *words)
{
	struct config *c = config_read_places(o->config);

	if (c == NULL)
		return 1;
	int status = control_ask(c, stdout, words);
	config_free(c);
	return status;
}

static int
status_run(const struct watch_options *o, int argc, char **argv)
{
	return cmd_ask_with(o, (const char *const[]){ "status", NULL });
}

static int
mark_run(const struct watch_options *o, int argc, char **argv)
{
	return cmd_ask_with(o, (const char *const[]){ "mark", argv[0], NULL });
}

/* To monotonic ns; -1: it has been said what is wrong. */
static int64_t
fire_time(const char *text)
{
	struct timespec_clock clock = { .first = now_mono(), .wall = true,
	    .mono_to_wall = now_wall() - now_mono() };
	struct timespec_arg arg;
	const char *wrong = timespec_parse(text, &arg);
	int64_t time = 0;

	if (wrong == NULL && arg.kind == TIMESPEC_ELAPSED)
		wrong = "a duration says no time: write 03:12:20 or @NANOSECONDS";
	if (wrong == NULL)
		wrong = timespec_resolve(&arg, &clock, &time);
	if (wrong == NULL && time <= now_mono())
		return time;
	say("--at %s: %s", text, wrong != NULL ? wrong : "that is still to come");
	return -1;
}

static int
fire_run(const struct watch_options *o, int argc, char **argv)
{
	const char *name = NULL, *note = "", *at = NULL;
	char time[32] = "";
	int64_t ns;
	int i;

	for (i = 0; i < argc; i++)
		if (strcmp(argv[i], "--note") == 0 && i + 1 < argc)
			note = argv[++i];
		else if (strcmp(argv[i], "--at") == 0 && i + 1 < argc)
			at = argv[++i];
		else if (name == NULL && argv[i][0] != '-')
			name = argv[i];
		else
			break;
	if (i < argc || name == NULL) {
		fputs("usage: tnfwatch fire NAME [--at TIME] [--note TEXT]\n", stderr);
		return 2;
	}
	if (at != NULL) {
		if ((ns = fire_time(at)) < 0)
			return 2;
		snprintf(time, sizeof time, "%lld", (long long)ns);
	}
	return cmd_ask_with(o, (const char *const[]){ "fire", name, time, note, NULL });
}

const struct watch_command command_status = {
	.name = "status", .usage = "", .run = status_run,
	.help = "sources, how far back they reach, triggers"
};

const struct watch_command command_mark = {
	.name = "mark", .usage = "TEXT", .min = 1, .max = 1, .run = mark_run,
	.help = "a mark in what is kept of now"
};

const struct watch_command command_fire = {
	.name = "fire", .usage = "NAME [--at TIME] [--note TEXT]", .min = 1, .max = 5,
	.run = fire_run, .help = "an incident from outside"
};
