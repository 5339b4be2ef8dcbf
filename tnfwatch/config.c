/*
 * config.c - reads a configuration from its files, tells every mistake, and frees it.
 *
 * libinih cuts lines into section, key and value; we count lines as we read them.  A value
 * that goes on in indented lines comes in pieces, each under the same key.
 */
#include <ctype.h>
#include <glob.h>
#include <ini.h>
#include <libgen.h>

#include "common/text.h"
#include "tnfwatch/config.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/watch.h"

#define LINE_MAX_BYTES	4096

void
config_mistake(struct config_reader *r, unsigned line, const char *fmt, ...)
{
	va_list ap;

	r->n_mistakes++;
	if (r->mistakes == NULL)
		return;
	tnf_printable_printf(r->mistakes, "%s:%u: ", r->path, line);
	va_start(ap, fmt);
	tnf_printable_vprintf(r->mistakes, fmt, ap);
	va_end(ap);
	putc('\n', r->mistakes);
}

void
config_mistake_caret(struct config_reader *r, const char *text, size_t offset)
{
	if (r->mistakes == NULL || offset > strlen(text))
		return;
	tnf_printable_printf(r->mistakes, "    %s\n", text);
	fprintf(r->mistakes, "    %*s^\n", (int)offset, "");
}

static const struct config_section *
section_of(enum section s)
{
	return &config_sections[s - S_WATCH];
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
key_unknown(struct config_reader *r, const struct config_section *k)
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
	if ((guess = tnf_word_guess(names, r->key)) != NULL)
		config_mistake(r, r->value_line, "%s: no key of [%s]: did you mean \"%s\"?", r->key,
		    k->name, guess);
	else
		config_mistake(r, r->value_line, "%s: no key of [%s]: it has %s", r->key, k->name, list);
}

static void
config_value_done(struct config_reader *r)
{
	const struct config_key *key;

	if (r->key != NULL && r->section != S_NONE) {
		const struct config_section *k = section_of(r->section);
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

static size_t
process_section(struct config *c, const char *name)
{
	const struct config_process *p = config_process_find(c, name);

	if (p != NULL)
		return (size_t)(p - c->process);
	c->process = tnf_xgrow(c->process, c->n_processes, sizeof *c->process);
	c->process[c->n_processes] = (struct config_process){ .name = tnf_xstrdup(name),
	    .size = 16 << 20 };
	return c->n_processes++;
}

static size_t
file_section(struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_files; i++)
		if (strcmp(c->files[i].name, name) == 0)
			return i;
	c->files = tnf_xgrow(c->files, c->n_files, sizeof *c->files);
	c->files[c->n_files] = (struct config_file){ .name = tnf_xstrdup(name) };
	return c->n_files++;
}

static size_t
section_of_trigger(struct config *c, const char *name)
{
	int i = config_trigger_find(c, name);

	if (i >= 0)
		return (size_t)i;
	c->trigger = tnf_xgrow(c->trigger, c->n_triggers, sizeof *c->trigger);
	c->trigger[c->n_triggers] = (struct config_trigger){ .name = tnf_xstrdup(name),
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
		r->index = section_of_trigger(r->c, name);
		break;
	case S_KERNEL:
		r->c->kernel = true;
		break;
	default:
		break;
	}
}

static void
config_section_begin(struct config_reader *r, const char *text)
{
	size_t n = strcspn(text, " \t"), i;

	config_value_done(r);
	r->section = S_NONE;
	free(r->section_text);
	r->section_text = tnf_xstrdup(text);
	const char *name = text + n + strspn(text + n, " \t");
	for (i = 0; i < CONFIG_SECTIONS; i++)
		if (strlen(config_sections[i].name) == n && strncmp(config_sections[i].name, text, n) == 0)
			break;
	if (i == CONFIG_SECTIONS)
		config_mistake(r, r->line, "[%s]: no such section: there are watch, fleet, kernel, "
		    "process NAME, file NAME, trigger NAME", text);
	else if (config_sections[i].named && !config_name_good(name))
		config_mistake(r, r->line, "[%s]: it needs a name of up to %d letters, digits, - _ .",
		    text, NAME_BYTES);
	else if (!config_sections[i].named && *name != '\0')
		config_mistake(r, r->line, "[%s]: there is one [%s], without a name", text, config_sections[i].name);
	else {
		r->section = config_sections[i].section;
		section_begin_named(r, name);
	}
}

static void
reader_check_fleet(struct config_reader *r)
{
	const struct config_fleet *f = &r->c->fleet;
	bool any = f->name != NULL || f->labels != NULL || f->credentials != NULL ||
	    f->ca != NULL || f->cert != NULL || f->key != NULL || f->recorded != NULL;

	if (f->servers == NULL && any)
		config_mistake(r, r->line, "[fleet]: no servers: give servers = nats://HOST:4222");
	if ((f->cert != NULL) != (f->key != NULL))
		config_mistake(r, r->line, "[fleet]: cert and key belong together: give both");
	for (size_t i = 0; i < r->c->n_triggers; i++)
		if (r->c->trigger[i].ask != NULL && f->servers == NULL)
			config_mistake(r, r->line, "[trigger %s]: ask: nobody can be asked without [fleet] "
			    "and servers", r->c->trigger[i].name);
}

static bool
has_section(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_files; i++)
		if (strcmp(c->files[i].name, name) == 0)
			return true;
	return config_process_find(c, name) != NULL || (c->kernel && strcmp(name, "kernel") == 0);
}

/* A trigger that is about a section that is not there would never fire. */
static void
reader_check_of(struct config_reader *r)
{
	char *of;

	for (size_t i = 0; i < r->c->n_triggers; i++) {
		const struct config_trigger *t = &r->c->trigger[i];

		if (t->of != NULL && !has_section(r->c, t->of))
			config_mistake(r, r->line, "[trigger %s]: of = %s: no such section: name a "
			    "[process] or [file], or write kernel", t->name, t->of);
		if ((of = trigger_section(t->when)) != NULL && !has_section(r->c, of))
			config_mistake(r, r->line, "[trigger %s]: of %s: no such section: name a "
			    "[process] or [file], or write kernel", t->name, of);
		free(of);
	}
}

/* A program that starts knows neither its unit nor a pid in the configuration: so it would skip
   a section that means it by these, and follow the one behind it. */
static void
check_order(struct config_reader *r, size_t i)
{
	const struct config_process *p = &r->c->process[i], *before;

	for (size_t j = 0; j < i; j++) {
		before = &r->c->process[j];
		if (before->program == NULL && before->comm == NULL)
			config_mistake(r, r->line, "[process %s]: from_start: [process %s] before it may "
			    "mean the same programs, which cannot tell at their start: put it behind "
			    "[process %s]", p->name, before->name, p->name);
	}
}

static void
check_from_start(struct config_reader *r, size_t i)
{
	const struct config_process *p = &r->c->process[i];

	if (!p->from_start)
		return;
	if (p->program == NULL && p->comm == NULL)
		config_mistake(r, r->line, "[process %s]: from_start: a program knows only its file and "
		    "its name when it starts: give program or comm", p->name);
	else if (p->enable == NULL)
		config_mistake(r, r->line, "[process %s]: from_start: no probes are named: give enable",
		    p->name);
	check_order(r, i);
}

static void
config_check(struct config_reader *r)
{
	const struct config *c = r->c;

	for (size_t i = 0; i < c->n_processes; i++) {
		const struct config_process *p = &c->process[i];
		int ways = (p->program != NULL) + (p->comm != NULL) + (p->unit != NULL) +
		    (p->cgroup != NULL) + (p->pod != NULL) + (p->pid != 0);
		if (ways != 1)
			config_mistake(r, r->line, "[process %s]: %s: give one of program, comm, unit, "
			    "cgroup, pod, pid", p->name, ways == 0 ? "nothing says which processes" :
			    "it is found in more than one way");
		check_from_start(r, i);
	}
	for (size_t i = 0; i < c->n_files; i++)
		if (c->files[i].path == NULL)
			config_mistake(r, r->line, "[file %s]: no path: give path = FILE",
			    c->files[i].name);
	reader_check_fleet(r);
	reader_check_of(r);
	if (!c->kernel && c->n_processes == 0 && c->n_files == 0 && c->fleet.servers == NULL)
		config_mistake(r, r->line, "nothing to watch: add [kernel], [process NAME] or "
		    "[file NAME]");
}

/* Reads a line, and handles "[section]" itself: libinih tells of sections only with a key. */
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
		config_mistake(r, r->line, "longer than %d bytes: go on in a line that is indented",
		    size);
		while ((c = getc(r->f)) != '\n' && c != EOF)
			;
	}
	p = buf + strspn(buf, " \t");
	r->goes_on = p > buf;
	if (*p == '[' && p == buf && (end = strchr(p, ']')) != NULL) {
		char *behind = end + 1 + strspn(end + 1, " \t\r\n");

		if (*behind != '\0' && *behind != ';' && *behind != '#')
			config_mistake(r, r->line, "%.*s: text behind it: write it in a line of its own",
			    (int)(end + 1 - p), p);
		*end = '\0';
		config_section_begin(r, p + 1);
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

	while (len > 0 && isspace((unsigned char)value[len - 1]))
		len--;
	if (r->section_text == NULL) {
		config_mistake(r, r->line, "%s: before the first section: write [watch] first", key);
		return 1;
	}
	/* An indented line goes on with the value of the line before. */
	if (r->goes_on && r->key != NULL && strcmp(r->key, key) == 0) {
		char *both = tnf_xasprintf("%s %.*s", r->value, len, value);
		free(r->value);
		r->value = both;
		return 1;
	}
	config_value_done(r);
	r->key = tnf_xstrdup(key);
	r->value = tnf_xstrndup(value, (size_t)len);
	r->value_line = r->line;
	return 1;
}

static void
text_add(struct config *c, const char *path)
{
	autofree char *text = path_text(1 << 20, "%s", path), *before = NULL;

	if (text == NULL)
		return;
	before = c->text;
	c->text = tnf_xasprintf("%s# %s\n%s", before != NULL ? before : "", path, text);
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
			tnf_printable_printf(r->mistakes, "%s: %s: %s\n", path, strerror(errno),
			    errno == ENOENT ? "name the configuration with -c" :
			    "be root, or name another with -c");
		return;
	}
	ini_max_line = LINE_MAX_BYTES;
	ini_use_stack = true;
	/* libinih tells only the first line that is neither a section nor a value. */
	if ((line = ini_parse_stream(reader_line, r, reader_value, r)) > 0)
		config_mistake(r, (unsigned)line, "neither [section] nor key = value");
	config_value_done(r);
	fclose(r->f);
	free(r->section_text);
	r->section_text = NULL;
	r->section = S_NONE;
	text_add(r->c, path);
}

static void
reader_directory(struct config_reader *r, const char *file)
{
	char *copy = tnf_xstrdup(file),
	    *pattern = tnf_xasprintf("%s/watch.d/*.conf", dirname(copy));
	glob_t g;

	if (glob(pattern, 0, NULL, &g) == 0) {
		for (size_t i = 0; i < g.gl_pathc; i++)
			reader_file(r, g.gl_pathv[i]);
		/* Names from the last glob() must not be used any more. */
		r->path = file;
		globfree(&g);
	}
	free(pattern);
	free(copy);
}

static void
config_defaults(struct config *c)
{
	c->keep = 60 * SECOND;
	c->kernel_channel_keep = 600 * SECOND;
	c->limit = UINT64_C(1) << 30;
	c->directory = tnf_xstrdup("/var/lib/tnf");
	c->run = tnf_xstrdup("/run/tnf");
	c->kernel_buffer = 64 << 20;
	c->fleet.prefix = tnf_xstrdup("tnf");
	c->fleet.rate = 10 << 20;
	c->fleet.limit_n = 60;
	c->fleet.limit_ns = 3600 * SECOND;
}

/* Reads the files into a new configuration and counts the mistakes. */
static struct config *
reader_run(struct config_reader *r, const char *file)
{
	struct config *c = tnf_xcalloc(1, sizeof *c);

	r->c = c;
	c->file = tnf_xstrdup(file);
	config_defaults(c);
	reader_file(r, file);
	if (r->f != NULL)
		reader_directory(r, file);
	if (r->n_mistakes == 0)
		config_check(r);
	if (c->rings == NULL)
		c->rings = tnf_xasprintf("%s/rings", c->directory);
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

	if (access(file, R_OK) != 0) {
		say("%s: %s", file, strerror(errno));
		return NULL;
	}
	struct config *c = reader_run(&r, file);
	return c;
}

/* Frees the values of one section; 'base' is the struct that they are in. */
static void
section_free(enum section section, void *base)
{
	for (const struct config_key *k = section_of(section)->keys; k->name != NULL; k++) {
		void **at = (void *)((char *)base + k->offset);

		if (k->kind == KEY_TEXT)
			free(*at);
		else if (k->kind == KEY_ENABLE)
			enable_free(*at);
	}
}

void
config_free(struct config *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n_processes; i++) {
		section_free(S_PROCESS, &c->process[i]);
		free(c->process[i].name);
	}
	for (size_t i = 0; i < c->n_files; i++) {
		section_free(S_FILE, &c->files[i]);
		free(c->files[i].name);
	}
	for (size_t i = 0; i < c->n_triggers; i++) {
		section_free(S_TRIGGER, &c->trigger[i]);
		free(c->trigger[i].name);
	}
	for (enum section i = S_WATCH; i <= S_KERNEL; i++)
		section_free(i, c);
	free(c->process);
	free(c->trigger);
	free(c->files);
	free(c->file);
	free(c->text);
	free(c);
}

static bool
is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
config_same_fleet(const struct config *a, const struct config *b)
{
	bool same = a->fleet.rate == b->fleet.rate && a->fleet.limit_n == b->fleet.limit_n &&
	    a->fleet.limit_ns == b->fleet.limit_ns;

	for (const struct config_key *k = section_of(S_FLEET)->keys; k->name != NULL; k++)
		if (k->kind == KEY_TEXT)
			same = same && is_same(*(char *const *)(const void *)((const char *)a + k->offset),
			    *(char *const *)(const void *)((const char *)b + k->offset));
	return same;
}

struct config_process *
config_process_find(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_processes; i++)
		if (strcmp(c->process[i].name, name) == 0)
			return &c->process[i];
	return NULL;
}

int
config_trigger_find(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_triggers; i++)
		if (strcmp(c->trigger[i].name, name) == 0)
			return (int)i;
	return -1;
}

char *
incident_path(const struct config *c, const char *id)
{
	return tnf_xasprintf("%s/incidents/%s", c->directory, id);
}
