/*
 * config.c - what a configuration says: read, and given back.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tnfwatch/config-impl.h"
#include "tnfwatch/util.h"

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

/* What it says, and how many mistakes are in it. */
static struct config *
reader_run(struct config_reader *r, const char *file)
{
	struct config *c = tnf_xcalloc(1, sizeof *c);

	r->c = c;
	c->file = tnf_xstrdup(file);
	config_defaults(c);
	config_read_files(r, file);
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
	enable_free(c->kernel_channel);
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

char *
incident_path(const struct config *c, const char *id)
{
	return tnf_xasprintf("%s/incidents/%s", c->directory, id);
}
