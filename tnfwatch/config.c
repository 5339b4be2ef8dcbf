/*
 * config.c - a configuration is read, and every mistake in it told.
 *
 * libinih cuts lines into section, key and value; which line that was is counted
 * where it takes them.  A value that goes on in indented lines comes to us in
 * pieces, each under the same key.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <ini.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/units.h"
#include "common/guess.h"
#include "common/printable.h"
#include "tnfwatch/config.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/util.h"
#include "tnfwatch/webhook.h"

#define LINE_MAX_BYTES	4096
#define NAME_BYTES	48	/* of a section: it becomes part of file names */
#define SIZE_MIN	(128u << 10)

enum section { S_NONE, S_WATCH, S_FLEET, S_KERNEL, S_PROCESS, S_FILE, S_TRIGGER };

struct config_reader {
	struct config *c;
	FILE	*mistakes;
	unsigned n_mistakes;
	const char *path;	/* of the file that is read */
	FILE	*f;
	unsigned line;		/* that was read last */
	bool	 goes_on;	/* ... is indented */

	enum section section;	/* the one that values are for, ... */
	char	*section_text;
	size_t	 index;		/* ... and which of its kind */

	/* A value is complete when the next one begins. */
	char	*key, *value;
	unsigned value_line;
};

/* FILE:LINE: what: remedy */
__attribute__((format(printf, 3, 4))) static void
mistake(struct config_reader *r, unsigned line, const char *fmt, ...)
{
	va_list ap;

	r->n_mistakes++;
	if (r->mistakes == NULL)
		return;
	printable_printf(r->mistakes, "%s:%u: ", r->path, line);
	va_start(ap, fmt);
	printable_vprintf(r->mistakes, fmt, ap);
	va_end(ap);
	putc('\n', r->mistakes);
}

/* The text, and a caret below what is wrong in it. */
static void
mistake_caret(struct config_reader *r, const char *text, size_t offset)
{
	if (r->mistakes == NULL || offset > strlen(text))
		return;
	printable_printf(r->mistakes, "    %s\n", text);
	fprintf(r->mistakes, "    %*s^\n", (int)offset, "");
}

/* Setters: the value of a key; false: the mistake has been told. */
static bool name_is_good(const char *name);

typedef bool config_set(struct config_reader *, const char *key, const char *value, void *at);

static bool
set_string(struct config_reader *r, const char *key, const char *value, void *at)
{
	char **s = at;

	free(*s);
	*s = xstrdup(value);
	return true;
}

static bool
set_path(struct config_reader *r, const char *key, const char *value, void *at)
{
	if (value[0] != '/') {
		mistake(r, r->value_line, "%s = %s: not a path from the root: begin it "
		    "with /", key, value);
		return false;
	}
	return set_string(r, key, value, at);
}

static bool
set_duration(struct config_reader *r, const char *key, const char *value, void *at)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < 0) {
		mistake(r, r->value_line, "%s = %s: not a duration: write 200ms, 5s, 2m", key,
		    value);
		return false;
	}
	*(int64_t *)at = ns;
	return true;
}

static bool
set_size(struct config_reader *r, const char *key, const char *value, void *at)
{
	char *end;
	unsigned long long n = strtoull(value, &end, 10);
	static const char units[] = "kmgt";
	const char *u = *end != '\0' ? strchr(units, tolower((unsigned char)*end)) : NULL;
	unsigned shift = u != NULL ? 10 * (unsigned)(u - units + 1) : 0;

	if (end == value || !isdigit((unsigned char)value[0]) ||
	    (*end != '\0' && (u == NULL || end[1] != '\0')) || n > UINT64_MAX >> shift) {
		mistake(r, r->value_line, "%s = %s: not a size: write 512k, 16m, 1g", key, value);
		return false;
	}
	*(uint64_t *)at = (uint64_t)n << shift;
	return true;
}

/* Of a buffer: what libtnfctl takes. */
static bool
set_buffer(struct config_reader *r, const char *key, const char *value, void *at)
{
	uint64_t n;

	if (!set_size(r, key, value, &n))
		return false;
	if (n < SIZE_MIN || n > 1u << 30) {
		mistake(r, r->value_line, "%s = %s: a buffer has 128k to 1g", key, value);
		return false;
	}
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
	mistake(r, r->value_line, "%s = %s: write yes or no", key, value);
	return false;
}

static bool
set_enable(struct config_reader *r, const char *key, const char *value, void *at)
{
	struct enable **e = at, *now;
	size_t offset = 0;
	char why[200];

	if ((now = enable_parse(value, why, sizeof why, &offset)) == NULL) {
		mistake(r, r->value_line, "%s: %s", key, why);
		mistake_caret(r, value, offset);
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

	if (*value == '\0' || *end != '\0' || pid <= 0 || pid > INT32_MAX) {
		mistake(r, r->value_line, "%s = %s: not the number of a process", key, value);
		return false;
	}
	*(pid_t *)at = (pid_t)pid;
	return true;
}

static bool
set_segments(struct config_reader *r, const char *key, const char *value, void *at)
{
	bool memory = strcmp(value, "memory") == 0;

	if (!memory && strcmp(value, "disk") != 0) {
		mistake(r, r->value_line, "%s = %s: write memory or disk", key, value);
		return false;
	}
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
	mistake(r, r->value_line, "%s = %s: not a limit: write 6/hour (second, minute, hour, day)",
	    key, value);
	return false;
}

static bool
set_when(struct config_reader *r, const char *key, const char *value, void *at)
{
	struct trigger_engine *e = trigger_engine_new(NULL, NULL);
	struct trigger_error err = { .offset = 0 };
	bool ok = e != NULL && trigger_add(e, "", value, &err) >= 0;

	trigger_engine_free(e);
	if (!ok) {
		mistake(r, r->value_line, "%s: %s", key, err.text);
		mistake_caret(r, value, err.offset);
		return false;
	}
	return set_string(r, key, value, at);
}

static bool
set_webhook(struct config_reader *r, const char *key, const char *value, void *at)
{
	char why[WEBHOOK_WHY];

	if (webhook_check(value, why))
		return set_string(r, key, value, at);
	mistake(r, r->value_line, "%s = %s: %s", key, value, why);
	return false;
}

/* "label role=db hosts web*": pairs of what tnfwatch ask has as options. */
static bool
set_ask(struct config_reader *r, const char *key, const char *value, void *at)
{
	static const char *const known[] = { "label", "hosts", "last", "where", "wait", NULL };
	char *copy = xstrdup(value), *rest = copy, *word;
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
	free(copy);
	if (good && before == NULL)
		return set_string(r, key, value, at);
	mistake(r, r->value_line, "%s = %s: write label NAME=VALUE, hosts PATTERN, last TIME, "
	    "wait TIME, where EXPR without blanks", key, value);
	return false;
}

/* Part of a subject's name and of a bucket's. */
static bool
set_name(struct config_reader *r, const char *key, const char *value, void *at)
{
	if (name_is_good(value))
		return set_string(r, key, value, at);
	mistake(r, r->value_line, "%s = %s: not a name of up to %d letters, digits, - _ .", key,
	    value, NAME_BYTES);
	return false;
}

/* "role=db site=b" */
static bool
set_labels(struct config_reader *r, const char *key, const char *value, void *at)
{
	char *copy = xstrdup(value), *rest = copy, *word;
	unsigned n = 0;
	bool good = true;

	while (good && (word = strsep(&rest, " \t,")) != NULL)
		if (*word != '\0')
			good = strchr(word, '=') != NULL && *word != '=' && strlen(word) < 128 &&
			    ++n <= 8;
	free(copy);
	if (good)
		return set_string(r, key, value, at);
	mistake(r, r->value_line, "%s = %s: write NAME=VALUE, at most eight, with blanks between "
	    "them", key, value);
	return false;
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

/* Where the values of a section's keys go, from the start of its struct. */
struct config_key {
	const char *name;
	config_set *set;
	size_t	 offset;
};

#define KEY(s, m)	offsetof(struct s, m)

static const struct config_key watch_keys[] = {
	{ "keep", set_duration, KEY(config, keep) },
	{ "limit", set_size, KEY(config, limit) },
	{ "directory", set_path, KEY(config, directory) },
	{ "rings", set_path, KEY(config, rings) },
	{ "run", set_path, KEY(config, run) },
	{ "segments", set_segments, KEY(config, in_memory) },
	{ "webhook", set_webhook, KEY(config, webhook) },
	{ NULL, NULL, 0 }
};
static const struct config_key fleet_keys[] = {
	{ "servers", set_string, KEY(config, fleet.servers) },
	{ "name", set_name, KEY(config, fleet.name) },
	{ "labels", set_labels, KEY(config, fleet.labels) },
	{ "prefix", set_name, KEY(config, fleet.prefix) },
	{ "credentials", set_path, KEY(config, fleet.credentials) },
	{ "ca", set_path, KEY(config, fleet.ca) },
	{ "cert", set_path, KEY(config, fleet.cert) },
	{ "key", set_path, KEY(config, fleet.key) },
	{ "recorded", set_path, KEY(config, fleet.recorded) },
	{ "rate", set_size, KEY(config, fleet.rate) },
	{ "limit", set_fleet_rate, 0 },
	{ NULL, NULL, 0 }
};
static const struct config_key kernel_keys[] = {
	{ "buffer", set_buffer, KEY(config, kernel_buffer) },
	{ "enable", set_enable, KEY(config, kernel_enable) },
	{ "pfilter", set_string, KEY(config, kernel_pfilter) },
	{ NULL, NULL, 0 }
};
static const struct config_key process_keys[] = {
	{ "program", set_path, KEY(config_process, program) },
	{ "comm", set_string, KEY(config_process, comm) },
	{ "unit", set_string, KEY(config_process, unit) },
	{ "pid", set_pid, KEY(config_process, pid) },
	{ "enable", set_enable, KEY(config_process, enable) },
	{ "size", set_buffer, KEY(config_process, size) },
	{ NULL, NULL, 0 }
};
static const struct config_key file_keys[] = {
	{ "path", set_path, KEY(config_file, path) },
	{ NULL, NULL, 0 }
};
static const struct config_key trigger_keys[] = {
	{ "when", set_when, KEY(config_trigger, when) },
	{ "after", set_duration, KEY(config_trigger, after) },
	{ "limit", set_rate, 0 },
	{ "once", set_flag, KEY(config_trigger, once) },
	{ "run", set_string, KEY(config_trigger, run) },
	{ "ask", set_ask, KEY(config_trigger, ask) },
	{ NULL, NULL, 0 }
};

static const struct section_kind {
	const char *name;
	enum section section;
	bool	 named;		/* "[process NAME]" */
	const struct config_key *keys;
} kinds[] = {
	{ "watch", S_WATCH, false, watch_keys },
	{ "fleet", S_FLEET, false, fleet_keys },
	{ "kernel", S_KERNEL, false, kernel_keys },
	{ "process", S_PROCESS, true, process_keys },
	{ "file", S_FILE, true, file_keys },
	{ "trigger", S_TRIGGER, true, trigger_keys },
};
#define N_KINDS	(sizeof kinds / sizeof kinds[0])

static const struct section_kind *
section_kind_of(enum section s)
{
	return &kinds[s - S_WATCH];
}

/* The struct that the values of the section go to. */
static void *
section_base(const struct config_reader *r)
{
	switch (r->section) {
	case S_PROCESS:
		return &r->c->process[r->index];
	case S_FILE:
		return &r->c->files[r->index];
	case S_TRIGGER:
		return &r->c->trigger[r->index];
	default:
		return r->c;
	}
}

static void
key_unknown(struct config_reader *r, const struct section_kind *k)
{
	const char *names[16], *guess;
	char list[256] = "";
	size_t n = 0;

	for (; k->keys[n].name != NULL; n++) {
		names[n] = k->keys[n].name;
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
		    n > 0 ? ", " : "", names[n]);
	}
	names[n] = NULL;
	if ((guess = word_guess(names, r->key)) != NULL)
		mistake(r, r->value_line, "%s: no key of [%s]: did you mean \"%s\"?", r->key,
		    k->name, guess);
	else
		mistake(r, r->value_line, "%s: no key of [%s]: it has %s", r->key, k->name, list);
}

/* The value that has been put together goes where it belongs. */
static void
value_done(struct config_reader *r)
{
	const struct section_kind *k;
	const struct config_key *key;

	if (r->key != NULL && r->section != S_NONE) {
		k = section_kind_of(r->section);
		for (key = k->keys; key->name != NULL && strcmp(key->name, r->key) != 0; key++)
			;
		if (key->name == NULL)
			key_unknown(r, k);
		else
			key->set(r, key->name, r->value, (char *)section_base(r) + key->offset);
	}
	free(r->key);
	free(r->value);
	r->key = r->value = NULL;
}

/* Names become parts of file names and are typed in shells. */
static bool
name_is_good(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= NAME_BYTES && name[0] != '.' && name[0] != '-' &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == n;
}

#define GROW(list, n)	xreallocarray((list), (n) + 1, sizeof *(list))

static size_t
process_section(struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_processes; i++)
		if (strcmp(c->process[i].name, name) == 0)
			return i;
	c->process = GROW(c->process, c->n_processes);
	c->process[c->n_processes] = (struct config_process){ .name = xstrdup(name),
	    .size = 16 << 20 };
	return c->n_processes++;
}

static size_t
file_section(struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_files; i++)
		if (strcmp(c->files[i].name, name) == 0)
			return i;
	c->files = GROW(c->files, c->n_files);
	c->files[c->n_files] = (struct config_file){ .name = xstrdup(name) };
	return c->n_files++;
}

static size_t
trigger_section(struct config *c, const char *name)
{
	int i = config_trigger_find(c, name);

	if (i >= 0)
		return (size_t)i;
	c->trigger = GROW(c->trigger, c->n_triggers);
	c->trigger[c->n_triggers] = (struct config_trigger){ .name = xstrdup(name),
	    .after = 5 * SECOND };
	return c->n_triggers++;
}

static void
section_begin_named(struct config_reader *r, const char *name)
{
	switch (r->section) {
	case S_PROCESS:
		r->index = process_section(r->c, name);
		break;
	case S_FILE:
		r->index = file_section(r->c, name);
		break;
	case S_TRIGGER:
		r->index = trigger_section(r->c, name);
		break;
	case S_KERNEL:
		r->c->kernel = true;
		break;
	default:
		break;
	}
}

static void
section_begin(struct config_reader *r, const char *text)
{
	const char *name;
	size_t n = strcspn(text, " \t"), i;

	value_done(r);
	r->section = S_NONE;
	free(r->section_text);
	r->section_text = xstrdup(text);
	name = text + n + strspn(text + n, " \t");
	for (i = 0; i < N_KINDS; i++)
		if (strlen(kinds[i].name) == n && strncmp(kinds[i].name, text, n) == 0)
			break;
	if (i == N_KINDS)
		mistake(r, r->line, "[%s]: no such section: there are watch, fleet, kernel, "
		    "process NAME, file NAME, trigger NAME", text);
	else if (kinds[i].named && !name_is_good(name))
		mistake(r, r->line, "[%s]: it needs a name of up to %d letters, digits, - _ .",
		    text, NAME_BYTES);
	else if (!kinds[i].named && *name != '\0')
		mistake(r, r->line, "[%s]: there is one [%s], without a name", text, kinds[i].name);
	else {
		r->section = kinds[i].section;
		section_begin_named(r, name);
	}
}

/* A line "[section]" is looked at here: libinih tells of sections only with a key. */
static char *
reader_line(char *buf, int size, void *arg)
{
	struct config_reader *r = arg;
	char *p, *end;
	int c;

	if (fgets(buf, size, r->f) == NULL)
		return NULL;
	r->line++;
	if (strchr(buf, '\n') == NULL && !feof(r->f)) {
		mistake(r, r->line, "longer than %d bytes: go on in a line that is indented",
		    size);
		while ((c = getc(r->f)) != '\n' && c != EOF)
			;
	}
	p = buf + strspn(buf, " \t");
	r->goes_on = p > buf;
	if (*p == '[' && p == buf && (end = strchr(p, ']')) != NULL) {
		*end = '\0';
		section_begin(r, p + 1);
		*end = ']';
	}
	return buf;
}

/* libinih calls this for each line with a value. */
static int
reader_value(void *arg, const char *section, const char *key, const char *value)
{
	struct config_reader *r = arg;
	/* libinih leaves the end of a line that goes on as it is. */
	int len = (int)strlen(value);
	char *both;

	while (len > 0 && isspace((unsigned char)value[len - 1]))
		len--;
	if (r->section_text == NULL) {
		mistake(r, r->line, "%s: before the first section: write [watch] first", key);
		return 1;
	}
	/* It goes on from the line before. */
	if (r->goes_on && r->key != NULL && strcmp(r->key, key) == 0) {
		both = xasprintf("%s %.*s", r->value, len, value);
		free(r->value);
		r->value = both;
		return 1;
	}
	value_done(r);
	r->key = xstrdup(key);
	r->value = xstrndup(value, (size_t)len);
	r->value_line = r->line;
	return 1;
}

static void
text_add(struct config *c, const char *path)
{
	char *text = read_text(path, 1 << 20), *all;

	if (text == NULL)
		return;
	all = xasprintf("%s# %s\n%s", c->text != NULL ? c->text : "", path, text);
	free(c->text);
	free(text);
	c->text = all;
}

static void
reader_file(struct config_reader *r, const char *path)
{
	int line;

	r->path = path;
	r->line = 0;
	if ((r->f = fopen(path, "re")) == NULL) {
		r->n_mistakes++;
		if (r->mistakes != NULL)
			printable_printf(r->mistakes, "%s: %s: %s\n", path, strerror(errno),
			    errno == ENOENT ? "name the configuration with -c" :
			    "be root, or name another with -c");
		return;
	}
	ini_max_line = LINE_MAX_BYTES;
	ini_use_stack = true;
	/* Only the first line that is neither is known. */
	if ((line = ini_parse_stream(reader_line, r, reader_value, r)) > 0)
		mistake(r, (unsigned)line, "neither [section] nor key = value");
	value_done(r);
	fclose(r->f);
	free(r->section_text);
	r->section_text = NULL;
	r->section = S_NONE;
	text_add(r->c, path);
}

static void
reader_check_fleet(struct config_reader *r)
{
	const struct config_fleet *f = &r->c->fleet;
	bool any = f->name != NULL || f->labels != NULL || f->credentials != NULL ||
	    f->ca != NULL || f->cert != NULL || f->key != NULL || f->recorded != NULL;

	if (f->servers == NULL && any)
		mistake(r, r->line, "[fleet]: no servers: give servers = nats://HOST:4222");
	if ((f->cert != NULL) != (f->key != NULL))
		mistake(r, r->line, "[fleet]: cert and key belong together: give both");
	for (size_t i = 0; i < r->c->n_triggers; i++)
		if (r->c->trigger[i].ask != NULL && f->servers == NULL)
			mistake(r, r->line, "[trigger %s]: ask: nobody can be asked without [fleet] "
			    "and servers", r->c->trigger[i].name);
}

/* What can be told only at the end. */
static void
reader_check(struct config_reader *r)
{
	const struct config *c = r->c;
	const struct config_process *p;
	int ways;

	for (size_t i = 0; i < c->n_processes; i++) {
		p = &c->process[i];
		ways = (p->program != NULL) + (p->comm != NULL) + (p->unit != NULL) +
		    (p->pid != 0);
		if (ways != 1)
			mistake(r, r->line, "[process %s]: %s: give one of program, comm, unit, "
			    "pid", p->name, ways == 0 ? "nothing says which processes" :
			    "it is found in more than one way");
	}
	for (size_t i = 0; i < c->n_files; i++)
		if (c->files[i].path == NULL)
			mistake(r, r->line, "[file %s]: no path: give path = FILE",
			    c->files[i].name);
	reader_check_fleet(r);
	if (!c->kernel && c->n_processes == 0 && c->n_files == 0 && c->fleet.servers == NULL)
		mistake(r, r->line, "nothing to watch: add [kernel], [process NAME] or "
		    "[file NAME]");
}

static void
config_defaults(struct config *c)
{
	c->keep = 60 * SECOND;
	c->limit = UINT64_C(1) << 30;
	c->directory = xstrdup("/var/lib/tnf");
	c->run = xstrdup("/run/tnf");
	c->kernel_buffer = 64 << 20;
	c->fleet.prefix = xstrdup("tnf");
	c->fleet.rate = 10 << 20;
	c->fleet.limit_n = 60;
	c->fleet.limit_ns = 3600 * SECOND;
}

static void
reader_directory(struct config_reader *r, const char *file)
{
	char *copy = xstrdup(file), *pattern = xasprintf("%s/watch.d/*.conf", dirname(copy));
	glob_t g;

	if (glob(pattern, 0, NULL, &g) == 0) {
		for (size_t i = 0; i < g.gl_pathc; i++)
			reader_file(r, g.gl_pathv[i]);
		/* The last names of the paths are needed no more. */
		r->path = file;
		globfree(&g);
	}
	free(pattern);
	free(copy);
}

/* What it says, and how many mistakes are in it. */
static struct config *
reader_run(struct config_reader *r, const char *file)
{
	struct config *c = xcalloc(1, sizeof *c);

	r->c = c;
	c->file = xstrdup(file);
	config_defaults(c);
	reader_file(r, file);
	if (r->f != NULL)
		reader_directory(r, file);
	if (r->n_mistakes == 0)
		reader_check(r);
	if (c->rings == NULL)
		c->rings = xasprintf("%s/rings", c->directory);
	return c;
}

struct config *
config_read(const char *file, FILE *mistakes)
{
	struct config_reader r = { .mistakes = mistakes };
	struct config *c = reader_run(&r, file);

	if (r.n_mistakes == 0)
		return c;
	config_free(c);
	return NULL;
}

struct config *
config_read_places(const char *file)
{
	struct config_reader r = { .mistakes = NULL };
	struct config *c;

	if (access(file, R_OK) != 0) {
		say("%s: %s", file, strerror(errno));
		return NULL;
	}
	c = reader_run(&r, file);
	return c;
}

static void
process_free(struct config_process *p)
{
	free(p->name);
	free(p->program);
	free(p->comm);
	free(p->unit);
	enable_free(p->enable);
}

static void
trigger_section_free(struct config_trigger *t)
{
	free(t->name);
	free(t->when);
	free(t->run);
	free(t->ask);
}

void
config_free(struct config *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n_processes; i++)
		process_free(&c->process[i]);
	for (size_t i = 0; i < c->n_triggers; i++)
		trigger_section_free(&c->trigger[i]);
	for (size_t i = 0; i < c->n_files; i++) {
		free(c->files[i].name);
		free(c->files[i].path);
	}
	free(c->process);
	free(c->trigger);
	free(c->files);
	enable_free(c->kernel_enable);
	free(c->kernel_pfilter);
	free(c->file);
	free(c->directory);
	free(c->rings);
	free(c->run);
	free(c->webhook);
	free(c->fleet.servers);
	free(c->fleet.name);
	free(c->fleet.labels);
	free(c->fleet.prefix);
	free(c->fleet.credentials);
	free(c->fleet.ca);
	free(c->fleet.cert);
	free(c->fleet.key);
	free(c->fleet.recorded);
	free(c->text);
	free(c);
}

int
config_trigger_find(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_triggers; i++)
		if (strcmp(c->trigger[i].name, name) == 0)
			return (int)i;
	return -1;
}
