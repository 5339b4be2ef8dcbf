/*
 * check.c - "tnfwatch check": what of a configuration would match nothing.
 *
 * A configuration may be right and still watch nothing: a key with a letter too few, a pair
 * that no probe has.  The kernel's own probes are known here, and those of programs that run
 * now (check_live()); so selectors and triggers are tried on them.
 */
#include "common/text.h"
#include "format/selector.h"
#include "tnfwatch/daemon.h"

#ifdef HAVE_KERNEL
#include "kernel-probes/catalogue.h"
#endif

#define PROCESSES_MAX	16u	/* of a section that are read; the others run the same programs */

struct check_probes {
	struct tnf_probe *v;	/* as a trace would have them */
	bool	*on;		/* meant by "enable" */
	size_t	 n;
};

/* The probes of a section, and how triggers see them. */
struct checked {
	const char *name;
	struct check_probes probes;
	struct trigger_source *source;
	unsigned processes;
};

struct check {
	const struct config *c;
	struct trigger_engine *engine;
	struct checked *of;	/* the kernel, if it is configured, and then each [process] */
	size_t	 n;
	unsigned mistakes;
};

static const struct tnf_type a_type = { .name = "tnf_int64", .base = "tnf_int64",
	.kind = TNF_K_INT64, .size = 8, .align = 8 };

/* A copy of an attribute's value; "": there is none. */
static char *
attr_copy(const struct tnf_probe_attrs *attrs, const char *name)
{
	struct attribute a;

	return tnf_probe_attrs_find(attrs, name, &a) ? tnf_xstrndup(a.value, a.value_len) :
	    tnf_xstrdup("");
}

/* Members have the names of slots, and some type. */
static void
add_members(struct tnf_probe *p, char *slots)
{
	struct tnf_member *members = NULL;
	char *name;

	while ((name = strsep(&slots, " ")) != NULL) {
		if (*name == '\0')
			continue;
		members = tnf_xreallocarray(members, p->n_members + 1, sizeof *members);
		members[p->n_members] = (struct tnf_member){ tnf_xstrdup(name), &a_type,
		    8 * p->n_members };
		p->n_members++;
	}
	p->members = members;
}

/* Adds a probe by its attributes, "name N;slots A B;keys K". */
static void
check_probes_add(struct check_probes *all, const char *text, bool on)
{
	const struct tnf_probe_attrs attrs = { .own = text };
	struct attribute origin;
	char *name = attr_copy(&attrs, "name"), *slots = attr_copy(&attrs, "slots");

	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].name, name) == 0 && strcmp(all->v[i].attrs, text) == 0) {
			all->on[i] |= on;
			goto out;
		}
	/* There are thousands of functions and tracepoints that nobody asks for. */
	if (!on && tnf_probe_attrs_find(&attrs, "origin", &origin))
		goto out;
	all->v = tnf_xreallocarray(all->v, all->n + 1, sizeof *all->v);
	all->on = tnf_xreallocarray(all->on, all->n + 1, sizeof *all->on);
	all->v[all->n] = (struct tnf_probe){ .name = name, .keys = attr_copy(&attrs, "keys"),
	    .id = (uint32_t)all->n, .attrs = tnf_xstrdup(text) };
	add_members(&all->v[all->n], slots);
	all->on[all->n++] = on;
	name = NULL;
out:
	free(name);
	free(slots);
}

static void
free_const(const void *p)
{
	free((void *)(uintptr_t)p);
}

static void
check_probes_free(struct check_probes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct tnf_probe *p = &all->v[i];

		for (unsigned m = 0; m < p->n_members; m++)
			free_const(p->members[m].name);
		free_const(p->members);
		free_const(p->name);
		free_const(p->keys);
		free_const(p->attrs);
	}
	free(all->v);
	free(all->on);
}

/* Tells the words by which no probe is meant. */
static void
tell_unused(struct check *k, const char *section, const char *key, const struct enable *e,
    const bool *used, const char *fact)
{
	for (size_t i = 0; i < enable_words(e); i++) {
		autofree char *text = used[i] ? NULL : enable_word(e, i);

		if (text != NULL)
			say("%s: [%s]: %s: %s: %s", k->c->file, section, key, text, fact);
	}
}

#ifdef HAVE_KERNEL

/* The kernel's own probes. */
static void
add_catalogue(struct check_probes *probes, const struct enable *e, bool *used)
{
	for (unsigned i = 0; i < KP_PROBES; i++) {
		const struct kp_row *row = &kp_catalogue[i];
		char slots[512] = "", *attrs;

		/* Not each number is a probe's. */
		if (row->name == NULL)
			continue;
		for (unsigned m = 0; row->member[m].name != NULL; m++)
			snprintf(slots + strlen(slots), sizeof slots - strlen(slots), "%s ",
			    row->member[m].name);
		attrs = tnf_xasprintf("name %s;slots %s;keys %s;", row->name, slots, row->keys);
		const struct tnf_probe p = { .name = row->name, .attrs = attrs };
		check_probes_add(probes, attrs, e == NULL || enable_has(e, &p, used));
		free(attrs);
	}
}

static void
add_found(void *arg, const char *attrs, bool meant)
{
	if (meant)
		check_probes_add(arg, attrs, true);
}

/* Looks for tracepoints and functions, if words mean none of the kernel's own probes.  False:
   that cannot be seen. */
static bool
add_imports(const struct config *c, const struct enable *e, struct check_probes *probes, bool *used)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;

	if (tnfctl_kernel_look(&h) != TNFCTL_ERR_NONE)
		return false;
	err = enable_find(e, h, false, c->kernel_import, used, add_found, probes);
	if (err != TNFCTL_ERR_NONE)
		say("%s: [kernel]: %s", c->file, *tnfctl_error_detail() != '\0' ?
		    tnfctl_error_detail() : tnfctl_strerror(err));
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	return err == TNFCTL_ERR_NONE;
}

/* Tries the words of "enable" or "channel" on the kernel's probes. */
static void
check_words(struct check *k, const char *key, const struct enable *e, struct check_probes *probes)
{
	bool *used = tnf_xcalloc(enable_words(e) + 1, sizeof *used), all = true, seen = true;

	add_catalogue(probes, e, used);
	for (size_t i = 0; i < enable_words(e); i++)
		all &= used[i];
	if (e != NULL && (!all || k->c->kernel_import != NULL))
		seen = add_imports(k->c, e, probes, used);
	for (size_t i = 0; i < enable_words(e); i++) {
		if (!used[i] && !seen && enable_imports(e, i)) {
			used[i] = true;
			say("%s: [kernel]: %s: a function or tracepoint is asked for, which cannot be "
			    "looked for: be root", k->c->file, key);
		}
		k->mistakes += !used[i];
	}
	tell_unused(k, "kernel", key, e, used, "no probe of the kernel is meant: prex -k lists them");
	free(used);
}

static void
check_kernel(struct check *k)
{
	struct checked *of = &k->of[k->n++];
	struct check_probes rare = { .n = 0 };

	of->name = "kernel";
	of->processes = 1;
	check_words(k, "enable", k->c->kernel_enable, &of->probes);
	if (k->c->kernel_channel != NULL)
		check_words(k, "channel", k->c->kernel_channel, &rare);
	check_probes_free(&rare);
	of->source = trigger_source_open(k->engine, NULL, of->name, 0, true, NULL);
}

#else

static void
check_kernel(struct check *k)
{
}

#endif

static void
live_add_probe(void *arg, const char *attrs, bool meant)
{
	check_probes_add(arg, attrs, meant);
}

static void
check_look(const struct config_process *p, pid_t pid, struct check_probes *probes, bool *used)
{
	tnfctl_handle_t *h;

	if (tnfctl_pid_look(pid, &h) != TNFCTL_ERR_NONE)
		return;
	enable_find(p->enable, h, true, NULL, used, live_add_probe, probes);
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
}

/*
 * Adds the probes of the section's processes that run now, and sets used[] for the words of its
 * "enable" by which some of them are meant.  Returns the number of processes.  A process is only
 * read: it is neither stopped nor changed.
 */
static unsigned
check_live(const struct config_process *p, struct check_probes *probes, bool *used)
{
	autoclosedir DIR *dir = opendir("/proc");
	struct dirent *d;
	unsigned n = 0;
	pid_t pid;

	while (dir != NULL && (d = readdir(dir)) != NULL)
		if ((pid = (pid_t)atoi(d->d_name)) > 0 && pid != getpid() && taker_means(p, pid) &&
		    n++ < PROCESSES_MAX)
			check_look(p, pid, probes, used);
	return n;
}

/* Prints what a section means now. */
static void
check_process(struct check *k, const struct config_process *p)
{
	struct checked *of = &k->of[k->n++];
	autofree bool *used = tnf_xcalloc(enable_words(p->enable) + 1, sizeof *used);
	size_t on = 0;

	of->name = p->name;
	of->processes = check_live(p, &of->probes, used);
	of->source = trigger_source_open(k->engine, NULL, p->name, 1, false, NULL);
	for (size_t i = 0; i < of->probes.n; i++)
		on += of->probes.on[i];
	/* The name may be that of a link, or of a later version. */
	if (p->program != NULL && !path_exists("%s", p->program))
		tnf_printable_printf(stdout, "[process %s]: %s is not there so far\n", p->name,
		    p->program);
	else if (of->processes == 0)
		tnf_printable_printf(stdout, "[process %s]: no process of it runs now\n", p->name);
	else
		tnf_printable_printf(stdout, "[process %s]: %u process%s, %zu probe%s to be on\n",
		    p->name, of->processes, of->processes == 1 ? "" : "es", on,
		    on == 1 ? "" : "s");
	fflush(stdout);
	autofree char *section = tnf_xasprintf("process %s", p->name);
	if (of->processes > 0)
		tell_unused(k, section, "enable", p->enable, used,
		    "none of its processes that run now has such a probe");
}

/* Several probes may have one name. */
static bool
is_printed(const struct checked *of, unsigned trigger, size_t at)
{
	const struct check_probes *p = &of->probes;

	for (size_t i = 0; i < at; i++)
		if (p->on[i] && strcmp(p->v[i].name, p->v[at].name) == 0 &&
		    trigger_concerns(of->source, trigger, &p->v[i]))
			return true;
	return false;
}

/* Prints the probes of the section that a trigger is about; false: there are none. */
static bool
print_concerned(const struct checked *of, unsigned trigger, bool first, bool *off)
{
	const struct check_probes *p = &of->probes;
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		if (!trigger_concerns(of->source, trigger, &p->v[i]))
			continue;
		if (!p->on[i]) {
			*off = true;
			continue;
		}
		if (is_printed(of, trigger, i))
			continue;
		if (!any)
			tnf_printable_printf(stdout, "%s of %s%s", first ? "" : ",",
			    of->source != NULL && strcmp(of->name, "kernel") == 0 ? "the " : "", of->name);
		tnf_printable_printf(stdout, " %s", p->v[i].name);
		any = true;
	}
	return any;
}

/* True if the trigger can have probes that are not known now. */
static bool
may_come(const struct check *k, const struct config_trigger *t)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->of[i].processes == 0 && (t->of == NULL || strcmp(t->of, k->of[i].name) == 0))
			return true;
	return t->of == NULL ? k->c->n_files > 0 : strcmp(t->of, "kernel") != 0 &&
	    config_process_find(k->c, t->of) == NULL;
}

static void
check_trigger(struct check *k, unsigned i)
{
	const struct config_trigger *t = &k->c->trigger[i];
	bool any = false, off = false, about = false;

	for (size_t s = 0; s < k->n; s++)
		about |= trigger_concerns(k->of[s].source, i, NULL);
	if (t->when == NULL || !about)
		return;
	tnf_printable_printf(stdout, "[trigger %s]:", t->name);
	for (size_t s = 0; s < k->n; s++)
		any |= print_concerned(&k->of[s], i, !any, &off);
	if (any) {
		putchar('\n');
		return;
	}
	puts(off ? " of probes that are not on" : " no probe that is known now");
	if (!off && may_come(k, t))
		return;
	fflush(stdout);
	say("%s: [trigger %s]: %s: %s", k->c->file, t->name, t->when, off ?
	    "its probes are not on: add them to enable" :
	    "no probe of the kernel is meant, nor of a process that runs now: "
	    "tnf_kernel_probes(7), prex -p PID");
	/* A library that a program loads later may have them. */
	k->mistakes += t->of != NULL && strcmp(t->of, "kernel") == 0;
}

static void
check_all(struct check *k)
{
	struct trigger_error err;

	k->engine = trigger_engine_new(NULL, NULL);
	k->of = tnf_xcalloc(k->c->n_processes + 1, sizeof *k->of);
	for (size_t i = 0; i < k->c->n_triggers; i++)
		trigger_about(k->engine, trigger_add(k->engine, k->c->trigger[i].name,
		    k->c->trigger[i].when, &err), k->c->trigger[i].of);
	if (k->c->kernel)
		check_kernel(k);
	for (size_t i = 0; i < k->c->n_processes; i++)
		check_process(k, &k->c->process[i]);
	for (unsigned i = 0; i < k->c->n_triggers; i++)
		check_trigger(k, i);
	trigger_engine_free(k->engine);
	for (size_t i = 0; i < k->n; i++)
		check_probes_free(&k->of[i].probes);
	free(k->of);
}

int
config_check_run(const struct watch_options *o, int argc, char **argv)
{
	struct check k = { .c = config_read(o->config, stderr) };

	if (k.c == NULL)
		return 1;
	check_all(&k);
	if (k.mistakes == 0)
		tnf_printable_printf(stdout, "%s: right: %zu [process], %zu [file], %zu [trigger]%s\n",
		    o->config, k.c->n_processes, k.c->n_files, k.c->n_triggers,
		    k.c->kernel ? ", [kernel]" : "");
	config_free((struct config *)(uintptr_t)k.c);
	return fflush(stdout) == 0 && k.mistakes == 0 ? 0 : 1;
}
