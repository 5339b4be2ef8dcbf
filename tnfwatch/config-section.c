/*
 * config-section.c - sections of a configuration: where their values go, and what
 * belongs together.
 */
#include <string.h>

#include "common/guess.h"
#include "tnfwatch/config-impl.h"
#include "tnfwatch/util.h"

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

void
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

#define GROW(list, n)	tnf_xreallocarray((list), (n) + 1, sizeof *(list))

static size_t
process_section(struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_processes; i++)
		if (strcmp(c->process[i].name, name) == 0)
			return i;
	c->process = GROW(c->process, c->n_processes);
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
	c->files = GROW(c->files, c->n_files);
	c->files[c->n_files] = (struct config_file){ .name = tnf_xstrdup(name) };
	return c->n_files++;
}

static size_t
trigger_section(struct config *c, const char *name)
{
	int i = config_trigger_find(c, name);

	if (i >= 0)
		return (size_t)i;
	c->trigger = GROW(c->trigger, c->n_triggers);
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
		r->index = trigger_section(r->c, name);
		break;
	case S_KERNEL:
		r->c->kernel = true;
		break;
	default:
		break;
	}
}

void
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

/* A program knows neither its unit nor what was read of its number, so it would follow the
   section behind one that means it by these. */
static void
check_order(struct config_reader *r, size_t i)
{
	const struct config_process *p = &r->c->process[i], *before;

	for (size_t j = 0; j < i; j++) {
		before = &r->c->process[j];
		if (before->unit != NULL || before->pid != 0)
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

void
config_check(struct config_reader *r)
{
	const struct config *c = r->c;

	for (size_t i = 0; i < c->n_processes; i++) {
		const struct config_process *p = &c->process[i];
		int ways = (p->program != NULL) + (p->comm != NULL) + (p->unit != NULL) +
		    (p->pid != 0);
		if (ways != 1)
			config_mistake(r, r->line, "[process %s]: %s: give one of program, comm, unit, "
			    "pid", p->name, ways == 0 ? "nothing says which processes" :
			    "it is found in more than one way");
		check_from_start(r, i);
	}
	for (size_t i = 0; i < c->n_files; i++)
		if (c->files[i].path == NULL)
			config_mistake(r, r->line, "[file %s]: no path: give path = FILE",
			    c->files[i].name);
	reader_check_fleet(r);
	if (!c->kernel && c->n_processes == 0 && c->n_files == 0 && c->fleet.servers == NULL)
		config_mistake(r, r->line, "nothing to watch: add [kernel], [process NAME] or "
		    "[file NAME]");
}
