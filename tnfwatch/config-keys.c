/*
 * config-keys.c - the keys of each section, and what their values may be.
 *
 * "then" says what a trigger does at once when it makes an incident, beside the incident: "then =
 * enable io for 30s, mark slow order, run /usr/local/bin/page".  Its actions are separated by commas.
 * "enable" switches on probes of the kernel that are off, and off again after its time; "mark" writes a
 * mark; "run" starts a shell command, which gets what was captured in its environment; "webhook" sends
 * it to an address; "freeze" ends the recording.
 */
#include <ctype.h>

#include "analysis/value.h"
#include "tnfwatch/config.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/watch.h"
#include "tnfwatch/webhook.h"

#define FOR	" for "

/* "io thread for 30s" */
static bool
parse_enable(struct action *a, char *text, char *why, size_t size)
{
	char *at = NULL;
	size_t offset;

	for (char *p = text; (p = strstr(p, FOR)) != NULL; p++)
		at = p;
	if (at == NULL || !duration_parse(at + strlen(FOR), &a->time) || a->time <= 0) {
		snprintf(why, size, "enable: no time: write enable io for 30s");
		return false;
	}
	*at = '\0';
	a->enable = enable_parse(text, why, size, &offset);
	return a->enable != NULL;
}

static bool
is_address(const char *text, char *why, size_t size)
{
	if ((strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0) &&
	    text[strcspn(text, " \t\"\\")] == '\0')
		return true;
	snprintf(why, size, "webhook: %s: no address: write webhook https://example.com/alert", text);
	return false;
}

/* Parses one action; 'text' is changed. */
static bool
action_parse(struct action *a, char *text, char *why, size_t size)
{
	static const char *const words[] = { "enable", "mark", "run", "webhook", "freeze" };
	size_t n = strcspn(text, " \t");
	char *rest = text + n + strspn(text + n, " \t");

	for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i]) != n || strncmp(words[i], text, n) != 0)
			continue;
		a->kind = i;
		if ((*rest == '\0') != (a->kind == ACTION_FREEZE)) {
			snprintf(why, size, *rest == '\0' ? "%s: of what?" : "%s: stands alone", words[i]);
			return false;
		}
		if (a->kind == ACTION_ENABLE)
			return parse_enable(a, rest, why, size);
		a->text = tnf_xstrdup(rest);
		return a->kind != ACTION_WEBHOOK || is_address(rest, why, size);
	}
	snprintf(why, size, "%.*s: no action: there are enable, mark, run, webhook and freeze", (int)n, text);
	return false;
}

static void
action_free(struct action *a)
{
	free(a->text);
	enable_free(a->enable);
}

bool
actions_each(const char *text, void (*fn)(void *, const struct action *), void *arg, char *why,
    size_t size)
{
	char *copy = tnf_xstrdup(text), *rest = copy, *one;
	bool good = true;

	while (good && (one = strsep(&rest, ",")) != NULL) {
		struct action a = { .kind = ACTION_MARK };

		one += strspn(one, " \t");
		good = action_parse(&a, one, why, size);
		if (good && fn != NULL)
			fn(arg, &a);
		action_free(&a);
	}
	free(copy);
	return good;
}

#define SIZE_MIN	(128u << 10)

bool
config_name_good(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= NAME_BYTES && name[0] != '.' && name[0] != '-' &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == n;
}

/* Says what is wrong with a value; false, which the setter returns. */
static bool
wrong(struct config_reader *r, const char *key, const char *value, const char *fact)
{
	config_mistake(r, r->value_line, "%s = %s: %s", key, value, fact);
	return false;
}

/* Setters. */

static bool
set_string(struct config_reader *r, const char *key, const char *value, void *at)
{
	char **s = at;

	free(*s);
	*s = tnf_xstrdup(value);
	return true;
}

static bool
set_path(struct config_reader *r, const char *key, const char *value, void *at)
{
	return *value == '/' ? set_string(r, key, value, at) :
	    wrong(r, key, value, "not a path from the root: begin it with /");
}

/* Several, with blanks between them. */
static bool
set_paths(struct config_reader *r, const char *key, const char *value, void *at)
{
	autofree char *copy = tnf_xstrdup(value);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " \t")) != NULL)
		if (*word != '\0' && *word != '/') {
			config_mistake(r, r->value_line, "%s: %s: not a path from the root: begin it "
			    "with /", key, word);
			return false;
		}
	return set_string(r, key, value, at);
}

/* A path below /sys/fs/cgroup, as /proc/PID/cgroup has it. */
static bool
set_cgroup(struct config_reader *r, const char *key, const char *value, void *at)
{
	static const char mount[] = "/sys/fs/cgroup/";
	bool mounted = strncmp(value, mount, strlen(mount)) == 0;

	return set_path(r, key, mounted ? value + strlen(mount) - 1 : value, at);
}

static bool
set_duration(struct config_reader *r, const char *key, const char *value, void *at)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < 0)
		return wrong(r, key, value, "not a duration: write 200ms, 5s, 2m");
	*(int64_t *)at = ns;
	return true;
}

static bool
set_size(struct config_reader *r, const char *key, const char *value, void *at)
{
	return size_parse(value, at) || wrong(r, key, value, "not a size: write 512k, 16m, 1g");
}

/* The size of a buffer, as libtnfctl takes it. */
static bool
set_buffer(struct config_reader *r, const char *key, const char *value, void *at)
{
	uint64_t n;

	if (!set_size(r, key, value, &n))
		return false;
	if (n < SIZE_MIN || n > 1u << 30)
		return wrong(r, key, value, "a buffer has 128k to 1g");
	*(uint64_t *)at = n;
	return true;
}

static bool
set_flag(struct config_reader *r, const char *key, const char *value, void *at)
{
	static const char *const yes[] = { "yes", "true", "on", "1", NULL };
	static const char *const no[] = { "no", "false", "off", "0", NULL };

	for (unsigned i = 0; yes[i] != NULL; i++)
		if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0) {
			*(bool *)at = strcmp(value, yes[i]) == 0;
			return true;
		}
	return wrong(r, key, value, "write yes or no");
}

static bool
set_no_page(struct config_reader *r, const char *key, const char *value, void *at)
{
	bool page;

	if (!set_flag(r, key, value, &page))
		return false;
	*(bool *)at = !page;
	return true;
}

static bool
set_count(struct config_reader *r, const char *key, const char *value, void *at)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end != '\0' || n == 0 || n > 1000000000)
		return wrong(r, key, value, "not a number from 1 on");
	*(unsigned *)at = (unsigned)n;
	return true;
}

static bool
set_enable(struct config_reader *r, const char *key, const char *value, void *at)
{
	struct enable **e = at, *now;
	size_t offset = 0;
	char why[200];

	if ((now = enable_parse(value, why, sizeof why, &offset)) == NULL) {
		config_mistake(r, r->value_line, "%s: %s", key, why);
		config_mistake_caret(r, value, offset);
		return false;
	}
	enable_free(*e);
	*e = now;
	return true;
}

static bool
set_pid(struct config_reader *r, const char *key, const char *value, void *at)
{
	char *end;
	long pid = strtol(value, &end, 10);

	if (*value == '\0' || *end != '\0' || pid <= 0 || pid > INT32_MAX)
		return wrong(r, key, value, "not the number of a process");
	*(pid_t *)at = (pid_t)pid;
	return true;
}

static bool
set_segments(struct config_reader *r, const char *key, const char *value, void *at)
{
	bool memory = strcmp(value, "memory") == 0;

	if (!memory && strcmp(value, "disk") != 0)
		return wrong(r, key, value, "write memory or disk");
	*(bool *)at = memory;
	return true;
}

/* "6/hour": sets limit_n and, behind it, limit_ns. */
static bool
set_rate(struct config_reader *r, const char *key, const char *value, void *at)
{
	static const struct { const char *name; int64_t ns; } unit[] = {
		{ "second", SECOND }, { "minute", 60 * SECOND }, { "hour", 3600 * SECOND },
		{ "day", 86400 * SECOND } };
	struct config_trigger *t = at;
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++)
		if (end > value && *end == '/' && strcmp(end + 1, unit[i].name) == 0 && n > 0 &&
		    n <= 1000000) {
			t->limit_n = (unsigned)n;
			t->limit_ns = unit[i].ns;
			return true;
		}
	return wrong(r, key, value, "not a limit: write 6/hour (second, minute, hour, day)");
}

static bool
set_when(struct config_reader *r, const char *key, const char *value, void *at)
{
	struct trigger_engine *e = trigger_engine_new(NULL, NULL);
	struct trigger_error err = { .offset = 0 };
	bool ok = e != NULL && trigger_add(e, "", value, &err) >= 0;

	trigger_engine_free(e);
	if (!ok) {
		config_mistake(r, r->value_line, "%s: %s", key, err.text);
		config_mistake_caret(r, value, err.offset);
		return false;
	}
	return set_string(r, key, value, at);
}

/* Words as kernel.c takes them: the rules of prex(1), such as "name=x", and numbers of processes. */
static bool
set_pfilter(struct config_reader *r, const char *key, const char *value, void *at)
{
	static const char *const rules[] = { "name=", "cgroup=", "unit=", "pod=" };
	autofree char *copy = tnf_xstrdup(value);
	char *rest = copy, *word;
	bool good = true;

	while (good && (word = strsep(&rest, " \t,")) != NULL) {
		good = strspn(word, "0123456789") == strlen(word);
		for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
			good |= strncmp(word, rules[i], strlen(rules[i])) == 0 &&
			    word[strlen(rules[i])] != '\0';
		if (!good)
			config_mistake(r, r->value_line, "%s: %s: no rule: write a process number, "
			    "name=PROGRAM, cgroup=PATH, unit=NAME or pod=NAME", key, word);
	}
	return good && set_string(r, key, value, at);
}

static bool
set_then(struct config_reader *r, const char *key, const char *value, void *at)
{
	char why[200];

	if (actions_each(value, NULL, NULL, why, sizeof why))
		return set_string(r, key, value, at);
	config_mistake(r, r->value_line, "%s: %s", key, why);
	return false;
}

static bool
set_webhook(struct config_reader *r, const char *key, const char *value, void *at)
{
	char why[WEBHOOK_WHY];

	return webhook_check(value, why) ? set_string(r, key, value, at) : wrong(r, key, value, why);
}

/* "label role=db hosts web*": pairs of an option of tnfwatch ask and its value. */
static bool
set_ask(struct config_reader *r, const char *key, const char *value, void *at)
{
	static const char *const known[] = { "label", "hosts", "last", "where", "wait", NULL };
	autofree char *copy = tnf_xstrdup(value);
	char *rest = copy, *word;
	const char *before = NULL;
	bool good = true;

	while (good && (word = strsep(&rest, " \t")) != NULL) {
		if (*word == '\0')
			continue;
		if (before != NULL) {
			good = strcmp(before, "label") != 0 ||
			    (strchr(word, '=') != NULL && *word != '=');
			before = NULL;
			continue;
		}
		for (unsigned i = 0; known[i] != NULL && before == NULL; i++)
			if (strcmp(known[i], word) == 0)
				before = known[i];
		good = before != NULL;
	}
	return good && before == NULL ? set_string(r, key, value, at) : wrong(r, key, value,
	    "write label NAME=VALUE, hosts PATTERN, last TIME, wait TIME, where EXPR without blanks");
}

/* Part of a subject's name and of a bucket's. */
static bool
set_name(struct config_reader *r, const char *key, const char *value, void *at)
{
	if (config_name_good(value))
		return set_string(r, key, value, at);
	config_mistake(r, r->value_line, "%s = %s: not a name of up to %d letters, digits, - _ .", key,
	    value, NAME_BYTES);
	return false;
}

/* "role=db site=b" */
static bool
set_labels(struct config_reader *r, const char *key, const char *value, void *at)
{
	autofree char *copy = tnf_xstrdup(value);
	char *rest = copy, *word;
	unsigned n = 0;

	while ((word = strsep(&rest, " \t,")) != NULL)
		if (*word != '\0' && (strchr(word, '=') == NULL || *word == '=' ||
		    strlen(word) >= 128 || ++n > 8))
			return wrong(r, key, value,
			    "write NAME=VALUE, at most eight, with blanks between them");
	return set_string(r, key, value, at);
}

static bool
set_fleet_rate(struct config_reader *r, const char *key, const char *value, void *at)
{
	struct config_trigger t = { .name = NULL };
	struct config *c = at;

	if (!set_rate(r, key, value, &t))
		return false;
	c->fleet.limit_n = t.limit_n;
	c->fleet.limit_ns = t.limit_ns;
	return true;
}

#define KEY(s, m)	offsetof(struct s, m)

static const struct config_key watch_keys[] = {
	{ "keep", set_duration, KEY(config, keep), KEY_VALUE },
	{ "limit", set_size, KEY(config, limit), KEY_VALUE },
	{ "directory", set_path, KEY(config, directory), KEY_TEXT },
	{ "rings", set_path, KEY(config, rings), KEY_TEXT },
	{ "run", set_path, KEY(config, run), KEY_TEXT },
	{ "segments", set_segments, KEY(config, in_memory), KEY_VALUE },
	{ "lost", set_string, KEY(config, lost), KEY_TEXT },
	{ "webhook", set_webhook, KEY(config, webhook), KEY_TEXT },
	{ "metrics", set_flag, KEY(config, metrics), KEY_VALUE },
	{ "journal", set_path, KEY(config, journal), KEY_TEXT },
	{ NULL, NULL, 0, KEY_VALUE }
};
static const struct config_key fleet_keys[] = {
	{ "servers", set_string, KEY(config, fleet.servers), KEY_TEXT },
	{ "name", set_name, KEY(config, fleet.name), KEY_TEXT },
	{ "labels", set_labels, KEY(config, fleet.labels), KEY_TEXT },
	{ "prefix", set_name, KEY(config, fleet.prefix), KEY_TEXT },
	{ "asker", set_name, KEY(config, fleet.asker), KEY_TEXT },
	{ "credentials", set_path, KEY(config, fleet.credentials), KEY_TEXT },
	{ "ca", set_path, KEY(config, fleet.ca), KEY_TEXT },
	{ "cert", set_path, KEY(config, fleet.cert), KEY_TEXT },
	{ "key", set_path, KEY(config, fleet.key), KEY_TEXT },
	{ "recorded", set_path, KEY(config, fleet.recorded), KEY_TEXT },
	{ "rate", set_size, KEY(config, fleet.rate), KEY_VALUE },
	{ "limit", set_fleet_rate, 0, KEY_VALUE },
	{ NULL, NULL, 0, KEY_VALUE }
};
static const struct config_key kernel_keys[] = {
	{ "buffer", set_buffer, KEY(config, kernel_buffer), KEY_VALUE },
	{ "enable", set_enable, KEY(config, kernel_enable), KEY_ENABLE },
	{ "import", set_paths, KEY(config, kernel_import), KEY_TEXT },
	{ "channel", set_enable, KEY(config, kernel_channel), KEY_ENABLE },
	{ "channel_keep", set_duration, KEY(config, kernel_channel_keep), KEY_VALUE },
	{ "pfilter", set_pfilter, KEY(config, kernel_pfilter), KEY_TEXT },
	{ NULL, NULL, 0, KEY_VALUE }
};
static const struct config_key process_keys[] = {
	{ "program", set_path, KEY(config_process, program), KEY_TEXT },
	{ "comm", set_string, KEY(config_process, comm), KEY_TEXT },
	{ "unit", set_string, KEY(config_process, unit), KEY_TEXT },
	{ "cgroup", set_cgroup, KEY(config_process, cgroup), KEY_TEXT },
	{ "pod", set_string, KEY(config_process, pod), KEY_TEXT },
	{ "pid", set_pid, KEY(config_process, pid), KEY_VALUE },
	{ "enable", set_enable, KEY(config_process, enable), KEY_ENABLE },
	{ "size", set_buffer, KEY(config_process, size), KEY_VALUE },
	{ "fast", set_flag, KEY(config_process, fast), KEY_VALUE },
	{ "from_start", set_flag, KEY(config_process, from_start), KEY_VALUE },
	{ NULL, NULL, 0, KEY_VALUE }
};
static const struct config_key file_keys[] = {
	{ "path", set_path, KEY(config_file, path), KEY_TEXT },
	{ NULL, NULL, 0, KEY_VALUE }
};
static const struct config_key trigger_keys[] = {
	{ "when", set_when, KEY(config_trigger, when), KEY_TEXT },
	{ "after", set_duration, KEY(config_trigger, after), KEY_VALUE },
	{ "limit", set_rate, 0, KEY_VALUE },
	{ "of", set_string, KEY(config_trigger, of), KEY_TEXT },
	{ "every", set_count, KEY(config_trigger, every), KEY_VALUE },
	{ "same_cause", set_duration, KEY(config_trigger, same), KEY_VALUE },
	{ "page", set_no_page, KEY(config_trigger, no_page), KEY_VALUE },
	{ "once", set_flag, KEY(config_trigger, once), KEY_VALUE },
	{ "then", set_then, KEY(config_trigger, then), KEY_TEXT },
	{ "run", set_string, KEY(config_trigger, run), KEY_TEXT },
	{ "ask", set_ask, KEY(config_trigger, ask), KEY_TEXT },
	{ NULL, NULL, 0, KEY_VALUE }
};

const struct config_section config_sections[] = {
	{ "watch", S_WATCH, false, watch_keys },
	{ "fleet", S_FLEET, false, fleet_keys },
	{ "kernel", S_KERNEL, false, kernel_keys },
	{ "process", S_PROCESS, true, process_keys },
	{ "file", S_FILE, true, file_keys },
	{ "trigger", S_TRIGGER, true, trigger_keys },
};
