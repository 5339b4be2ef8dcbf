/*
 * action.c - reads what a trigger does at once when it makes an incident, beside the incident:
 * "then = enable io for 30s, mark slow order, run /usr/local/bin/page".
 *
 * Actions are separated by commas.  "enable" switches on probes of the kernel that are off, and
 * off again after its time; "mark" writes a mark; "run" starts a shell command, which gets what
 * was captured in its environment; "webhook" sends it to an address; "freeze" ends the recording.
 */
#include <stdio.h>

#include "analysis/timespec.h"
#include "tnfwatch/config.h"
#include "tnfwatch/watch.h"

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

bool
actions_check(const char *text, char *why, size_t size)
{
	return actions_each(text, NULL, NULL, why, size);
}
