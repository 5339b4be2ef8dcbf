/*
 * check.c - "tnfwatch check": what of a configuration would match nothing.
 *
 * A configuration may be right and still watch nothing: a key with a letter too few, a pair
 * that no probe has.  The kernel's own probes are known here, so selectors and triggers are
 * tried on them.  Probes of programs are known only when the programs run.
 */
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "format/selector.h"
#include "tnfwatch/config.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

#ifdef HAVE_KERNEL

#include "kernel-probes/catalogue.h"

struct check {
	const struct config *c;
	struct tnf_probe probe[KP_PROBES];	/* as a trace of the kernel has them */
	struct tnf_member member[KP_PROBES][KP_MEMBERS_MAX];
	bool	 on[KP_PROBES];		/* by "enable" */
	unsigned n;
	unsigned mistakes;
};

static const struct tnf_type a_type = { .name = "tnf_int64", .base = "tnf_int64",
	.kind = TNF_K_INT64, .size = 8, .align = 8 };

static void
check_probes(struct check *k)
{
	for (unsigned i = 0; i < KP_PROBES; i++) {
		const struct kp_row *row = &kp_catalogue[i];
		struct tnf_probe *p = &k->probe[k->n];

		/* Not each number is a probe's. */
		if (row->name == NULL)
			continue;
		*p = (struct tnf_probe){ .name = row->name, .keys = row->keys, .id = k->n,
		    .members = k->member[k->n], .attrs = tnf_xasprintf("keys %s;", row->keys) };
		for (; row->member[p->n_members].name != NULL; p->n_members++)
			k->member[k->n][p->n_members] = (struct tnf_member){
			    row->member[p->n_members].name, &a_type, 8 * p->n_members };
		k->on[k->n++] = k->c->kernel_enable == NULL || enable_has(k->c->kernel_enable, p);
	}
}

static void
check_free(struct check *k)
{
	for (unsigned i = 0; i < k->n; i++)
		free((void *)(uintptr_t)k->probe[i].attrs);
	free(k);
}

/* Tells each word of "enable" or "channel" that no probe of the kernel has. */
static void
check_enable(struct check *k, const char *key, const struct enable *e)
{
	bool *used;
	size_t n;

	if (e == NULL)
		return;
	used = enable_used(e, k->probe, k->n, &n);
	for (size_t i = 0; i < n; i++)
		if (!used[i]) {
			char *text = enable_word(e, i);

			say("%s: [kernel]: %s: %s: no probe of the kernel is meant: prex -k lists "
			    "them", k->c->file, key, text);
			free(text);
			k->mistakes++;
		}
	free(used);
}

/* Prints the probes of the kernel that a trigger is about; false: there are none. */
static bool
print_concerned(const struct check *k, const struct trigger_source *s, unsigned trigger, bool *off)
{
	bool any = false;

	for (unsigned i = 0; i < k->n; i++) {
		if (!trigger_concerns(s, trigger, &k->probe[i]))
			continue;
		if (!k->on[i]) {
			*off = true;
			continue;
		}
		/* Two rows of the catalogue may be one probe. */
		if (i == 0 || strcmp(k->probe[i - 1].name, k->probe[i].name) != 0 || !k->on[i - 1])
			tnf_printable_printf(stdout, "%s %s", any ? "" : " of the kernel", k->probe[i].name);
		any = true;
	}
	return any;
}

static void
check_trigger(struct check *k, const struct trigger_source *s, unsigned i)
{
	const struct config_trigger *t = &k->c->trigger[i];
	bool alone = k->c->n_processes == 0 && k->c->n_files == 0, off = false;
	bool meant = t->of != NULL && strcmp(t->of, "kernel") == 0;

	if (t->when == NULL || !trigger_concerns(s, i, NULL))
		return;
	tnf_printable_printf(stdout, "[trigger %s]:", t->name);
	if (print_concerned(k, s, i, &off)) {
		putchar('\n');
		return;
	}
	puts(off ? " of the kernel probes that are not on" : " no probe of the kernel");
	if (!alone && !meant)
		return;
	fflush(stdout);
	say("%s: [trigger %s]: %s: %s", k->c->file, t->name, t->when, off ?
	    "its probes are not on: add them to enable" :
	    "no probe of the kernel is meant: tnf_kernel_probes(7) lists them");
	/* A program of a section that is to come may have them. */
	k->mistakes += meant;
}

static unsigned
check_kernel(const struct config *c)
{
	struct trigger_engine *e = trigger_engine_new(NULL, NULL);
	struct check *k = tnf_xcalloc(1, sizeof *k);
	struct trigger_error err;
	struct trigger_source *s;
	unsigned mistakes;

	k->c = c;
	check_probes(k);
	check_enable(k, "enable", c->kernel_enable);
	check_enable(k, "channel", c->kernel_channel);
	for (size_t i = 0; i < c->n_triggers; i++)
		trigger_about(e, trigger_add(e, c->trigger[i].name, c->trigger[i].when, &err),
		    c->trigger[i].of);
	s = trigger_source_open(e, NULL, "kernel", 0, true, NULL);
	for (unsigned i = 0; i < c->n_triggers; i++)
		check_trigger(k, s, i);
	trigger_engine_free(e);
	mistakes = k->mistakes;
	check_free(k);
	return mistakes;
}

#else

static unsigned
check_kernel(const struct config *c)
{
	return 0;
}

#endif

/* Programs that are not there; their names may be those of links, or of later versions. */
static void
check_programs(const struct config *c)
{
	for (size_t i = 0; i < c->n_processes; i++)
		if (c->process[i].program != NULL && !path_exists("%s", c->process[i].program))
			tnf_printable_printf(stdout, "[process %s]: %s is not there so far\n",
			    c->process[i].name, c->process[i].program);
}

int
check_run(const struct watch_options *o, int argc, char **argv)
{
	struct config *c = config_read(o->config, stderr);
	unsigned mistakes;

	if (c == NULL)
		return 1;
	mistakes = c->kernel ? check_kernel(c) : 0;
	check_programs(c);
	if (mistakes == 0)
		tnf_printable_printf(stdout, "%s: right: %zu [process], %zu [file], %zu [trigger]%s\n",
		    o->config, c->n_processes, c->n_files, c->n_triggers, c->kernel ? ", [kernel]" : "");
	config_free(c);
	return fflush(stdout) == 0 && mistakes == 0 ? 0 : 1;
}
