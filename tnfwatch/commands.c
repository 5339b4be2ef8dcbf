/*
 * commands.c - the commands that need no running tnfwatch: check, list, show, pin, rm, and
 * ask and agent, which are tnffleet's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/printable.h"
#include "common/program.h"
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

#define JSON_MAX	(16u << 20)

/* The value of a member of the first level, as it stands there; the caller frees. */
static char *
json_member(const char *text, const char *name)
{
	char *key = tnf_xasprintf("\n  \"%s\": ", name), *at = strstr(text, key), *s;
	size_t n = strlen(key), i = 0;

	free(key);
	if (at == NULL || at[n] != '"')
		return NULL;
	at += n + 1;
	s = tnf_xstrdup(at);
	while (*at != '\0' && *at != '"') {
		if (*at == '\\' && at[1] != '\0')
			at++;
		s[i++] = *at++;
	}
	s[i] = '\0';
	return s;
}

static void
list_one(const struct config *c, const char *id)
{
	char *path = incident_path(c, id), *json = tnf_xasprintf("%s/incident.json", path);
	char *text = read_text(json, JSON_MAX), *reason = text != NULL ?
	    json_member(text, "reason") : NULL;

	tnf_printable_printf(stdout, "%-44s %8" PRIu64 "K %s %s\n", id,
	    disk_usage(AT_FDCWD, path) / 1024, incident_pinned(c, id) ? "pinned" : "      ",
	    reason != NULL ? reason : "");
	free(reason);
	free(text);
	free(json);
	free(path);
}

static int
list_run(const struct watch_options *o, int argc, char **argv)
{
	struct config *c = config_read_places(o->config);
	char **list;

	if (c == NULL || !incidents_readable(c)) {
		config_free(c);
		return 1;
	}
	size_t n = incident_list(c, &list);
	for (size_t i = 0; i < n; i++) {
		list_one(c, list[i]);
		free(list[i]);
	}
	free(list);
	config_free(c);
	return fflush(stdout) == 0 ? 0 : 1;
}

/* A command about one incident. */
static int
with_incident(const struct watch_options *o, const char *text,
    int (*fn)(const struct config *, const char *id, const char *path))
{
	struct config *c = config_read_places(o->config);
	char *id = c != NULL && incidents_readable(c) ? incident_find(c, text) : NULL, *path;
	int status = 1;

	if (id != NULL) {
		path = incident_path(c, id);
		status = fn(c, id, path);
		free(path);
	}
	free(id);
	config_free(c);
	return status;
}

static int
show_one(const struct config *c, const char *id, const char *path)
{
	char *json = tnf_xasprintf("%s/incident.json", path), *text = read_text(json, JSON_MAX);
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort);

	free(json);
	if (text == NULL || n < 0) {
		say("%s: %s", path, strerror(errno));
		free(text);
		return 1;
	}
	tnf_printable_printf(stdout, "%s\n", path);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.')
			tnf_printable_printf(stdout, "    %s\n", list[i]->d_name);
		free(list[i]);
	}
	free(list);
	/* The configuration is long, and the last one. */
	json = strstr(text, "\n  \"configuration\": ");
	fwrite(text, 1, json != NULL ? (size_t)(json - text) : strlen(text), stdout);
	putchar('\n');
	free(text);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int
show_run(const struct watch_options *o, int argc, char **argv)
{
	return with_incident(o, argv[0], show_one);
}

static int
pin_one(const struct config *c, const char *id, const char *path)
{
	char *file = tnf_xasprintf("%s/%s", path, INCIDENT_PINNED);
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		say("%s: %s", file, strerror(errno));
	else
		close(fd);
	free(file);
	return fd >= 0 ? 0 : 1;
}

static int
pin_run(const struct watch_options *o, int argc, char **argv)
{
	return with_incident(o, argv[0], pin_one);
}

static int
rm_one(const struct config *c, const char *id, const char *path)
{
	int e = incident_remove(c, id);

	if (e != 0)
		say("%s: %s", path, strerror(e));
	return e == 0 ? 0 : 1;
}

static int
rm_run(const struct watch_options *o, int argc, char **argv)
{
	return with_incident(o, argv[0], rm_one);
}

static int
check_run(const struct watch_options *o, int argc, char **argv)
{
	struct config *c = config_read(o->config, stderr);

	if (c == NULL)
		return 1;
	tnf_printable_printf(stdout, "%s: right: %zu [process], %zu [file], %zu [trigger]%s\n",
	    o->config, c->n_processes, c->n_files, c->n_triggers, c->kernel ? ", [kernel]" : "");
	config_free(c);
	return fflush(stdout) == 0 ? 0 : 1;
}

/* Becomes tnffleet, which prints its messages under our name. */
static int
fleet_run(const struct watch_options *o, const char *command, int argc, char **argv)
{
	char *path = tnf_program_path("tnffleet"), **list = tnf_xcalloc((size_t)argc + 5, sizeof *list);

	list[0] = program_invocation_name;
	list[1] = (char *)(uintptr_t)"-c";
	list[2] = (char *)(uintptr_t)o->config;
	list[3] = (char *)(uintptr_t)command;
	memcpy(list + 4, argv, (size_t)argc * sizeof *list);
	execvp(path, list);
	say("%s: %s: install tnf-fleet", path, strerror(errno));
	free(list);
	free(path);
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

const struct watch_command command_check = {
	.name = "check",
	.usage = "",
	.help = "tell every mistake of the configuration",
	.run = check_run
};

const struct watch_command command_list = {
	.name = "list", .usage = "", .run = list_run,
	.help = "what was kept, and why"
};
const struct watch_command command_show = {
	.name = "show", .usage = "ID", .min = 1, .max = 1, .run = show_run,
	.help = "one incident in full"
};
const struct watch_command command_pin = {
	.name = "pin", .usage = "ID", .min = 1, .max = 1, .run = pin_run,
	.help = "never remove it for room"
};
const struct watch_command command_rm = {
	.name = "rm", .usage = "ID", .min = 1, .max = 1, .run = rm_run,
	.help = "remove it"
};

const struct watch_command command_ask = {
	.name = "ask", .usage = "[OPTION ...] -o DIRECTORY", .max = 64, .run = ask_run,
	.help = "the history of many machines, tnfwatch(1)"
};

const struct watch_command command_agent = {
	.name = "agent", .usage = "", .run = agent_run,
	.help = "answers other machines; started where there is [fleet]"
};
