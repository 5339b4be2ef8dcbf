/*
 * imports.c - probes of a process that the kernel hits for us: USDT.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "common/proc.h"
#include "kernel-probes/kernel_probes.h"
#include "kernel-probes/uprobe.h"
#include "libtnfctl/functions.h"
#include "libtnfctl/imports.h"
#include "libtnfctl/objects.h"
#include "libtnfctl/proc.h"
#include "libtnfctl/usdt.h"

#define FILES_MAX	8192u
#define BUFFER_SIZE	(4u << 20)	/* as prex makes one */

struct file_id {		/* as the process's mappings tell it */
	uint64_t device;
	uint64_t inode;
};

struct import {
	struct kp_uprobe_spec spec;
	char	*keys;
	char	*name;
	char	*args;		/* how somebody has called its arguments, or NULL */
	struct file_id file;
	const char *refused;	/* why it cannot be enabled; static; NULL: it can */
	bool	 described;	/* the attributes tell the slots */
	char	*undescribed;	/* the attributes before that, which somebody may have */
};

struct mapped_file {
	struct file_id id;
	bool	 seen;
	char	*path;
};

struct imports {
	struct kp *kp;		/* NULL: no session now */
	struct mapped_file *file;
	size_t	 n;
};

static struct file_id
id_of(const struct mapping *m)
{
	return (struct file_id){ m->device, m->inode };
}

/* Numbers of files are those of one file system; containers have several. */
static bool
id_is(struct file_id a, struct file_id b)
{
	return a.inode == b.inode && a.device == b.device;
}

void
tnfctl_import_free(struct import *i)
{
	if (i == NULL)
		return;
	free(i->keys);
	free(i->name);
	free(i->args);
	free(i->undescribed);
	free(i);
}

void
tnfctl_imports_release(tnfctl_handle_t *h)
{
	if (h->imports == NULL)
		return;
	kp_close(h->imports->kp);
	h->imports->kp = NULL;
}

void
tnfctl_imports_free(tnfctl_handle_t *h)
{
	struct imports *im = h->imports;

	if (im == NULL)
		return;
	tnfctl_imports_release(h);
	for (size_t i = 0; i < im->n; i++)
		free(im->file[i].path);
	free(im->file);
	free(im);
	h->imports = NULL;
}

/* Files that are mapped. */

static struct mapped_file *
file_known(struct imports *im, struct file_id id)
{
	for (size_t i = 0; i < im->n; i++)
		if (id_is(im->file[i].id, id))
			return &im->file[i];
	return NULL;
}

static struct mapped_file *
file_add(struct imports *im, const struct mapping *m)
{
	struct mapped_file *v;
	char *path = strdup(m->path);

	v = path == NULL ? NULL : reallocarray(im->file, im->n + 1, sizeof *v);
	if (v == NULL) {
		free(path);
		return NULL;
	}
	im->file = v;
	v[im->n] = (struct mapped_file){ id_of(m), true, path };
	return &v[im->n++];
}

/* Probes. */

struct words {			/* an attribute string that grows */
	char	text[2048];
	size_t	n;
};

static void __attribute__((format(printf, 2, 3)))
words_add(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->text + w->n, sizeof w->text - w->n, fmt, ap);
	va_end(ap);
	w->n = n < 0 || (size_t)n >= sizeof w->text - w->n ? sizeof w->text - 1 : w->n + n;
}

static void
add_slots(struct words *attrs, const struct kp_uprobe_found *found)
{
	words_add(attrs, "slots ");
	for (unsigned m = 0; m < found->members; m++)
		if (found->member[m].type != NULL)
			words_add(attrs, "%s ", found->member[m].name);
	words_add(attrs, ";");
}

static void
imports_describe(const struct usdt_probe *p, const struct import *i, struct words *ret)
{
	struct kp_uprobe_found found = { .members = 0 };
	struct usdt_args_named named;

	tnfctl_usdt_catalogue_find(p->provider, p->name, &named);
	tnfctl_usdt_describe(p, &named, &found);
	words_add(ret, "name %s;", i->name);
	add_slots(ret, &found);
	words_add(ret, "keys %s;origin usdt;file %s;%s", i->keys, i->spec.shown, found.attrs);
	if (p->refused != NULL)
		words_add(ret, "unavailable %s;", p->refused);
}

static struct import *
import_new(tnfctl_handle_t *h, const struct usdt_probe *p, const struct mapping *m,
    const char *path)
{
	struct import *i = calloc(1, sizeof *i);

	if (i == NULL)
		return NULL;
	i->file = id_of(m);
	i->described = true;
	i->refused = p->refused;
	i->spec.pid = (int32_t)h->pid;
	snprintf(i->spec.path, sizeof i->spec.path, "%s", path);
	snprintf(i->spec.shown, sizeof i->spec.shown, "%s", m->path);
	if (!tnfctl_usdt_symbol(p, i->spec.symbol, sizeof i->spec.symbol) ||
	    asprintf(&i->name, "%s.%s", p->provider, p->name) < 0)
		i->name = NULL;
	if (asprintf(&i->keys, "usdt %s", p->provider) < 0)
		i->keys = NULL;
	if (i->name == NULL || i->keys == NULL) {
		tnfctl_import_free(i);
		return NULL;
	}
	return i;
}

static bool
add_probe(tnfctl_handle_t *h, const struct usdt_probe *usdt, const struct mapping *m,
    const char *path)
{
	struct import *i = import_new(h, usdt, m, path);
	struct words attrs = { .n = 0 };
	tnfctl_probe_t *p;

	if (i == NULL)
		return false;
	imports_describe(usdt, i, &attrs);
	p = tnfctl_probe_add(h, attrs.text);
	if (p == NULL) {
		tnfctl_import_free(i);
		return false;
	}
	p->import = i;
	return true;
}

static bool
read_file(tnfctl_handle_t *h, const struct mapping *m)
{
	char path[KP_FILE_MAX];
	const struct usdt_object *o;
	bool good = true;
	int fd;

	if (h->imports->n == FILES_MAX || file_add(h->imports, m) == NULL)
		return false;
	if ((fd = tnfctl_proc_open_mapped(h->pid, m, path, sizeof path)) < 0)
		return true;
	o = tnfctl_usdt_probes_of(fd);
	for (size_t i = 0; good && o != NULL && i < o->n; i++)
		good = add_probe(h, &o->v[i], m, path);
	close(fd);
	return good;
}

/* Files that are mapped no more. */
static void
forget_files(tnfctl_handle_t *h)
{
	struct imports *im = h->imports;

	for (size_t f = 0; f < im->n;) {
		if (im->file[f].seen) {
			f++;
			continue;
		}
		for (size_t i = 0; i < h->nprobes; i++)
			if (h->probes[i]->import != NULL &&
			    id_is(h->probes[i]->import->file, im->file[f].id))
				h->probes[i]->gone = true;
		free(im->file[f].path);
		im->file[f] = im->file[--im->n];
	}
}

static void read_states(tnfctl_handle_t *h, size_t first);

tnfctl_errcode_t
tnfctl_imports_refresh(tnfctl_handle_t *h)
{
	size_t first = h->nprobes;
	struct mapped_file *f;
	struct maps maps;
	bool good = true;
	int error;

	if (h->imports == NULL || h->gone)
		return TNFCTL_ERR_NONE;
	if ((error = tnf_maps_read(h->pid, &maps)) != 0)
		return tnfctl_error_set_errno(error, "process %d: its mappings", (int)h->pid);
	for (size_t i = 0; i < h->imports->n; i++)
		h->imports->file[i].seen = false;
	for (size_t i = 0; good && i < maps.n; i++) {
		if (!maps.m[i].exec || maps.m[i].inode == 0)
			continue;
		if ((f = file_known(h->imports, id_of(&maps.m[i]))) != NULL)
			f->seen = true;
		else
			good = read_file(h, &maps.m[i]);
	}
	if (maps.n > 0)
		forget_files(h);
	tnf_maps_free(&maps);
	read_states(h, first);
	if (h->nprobes > first)
		tnfctl_probes_created(h, first);
	return good ? TNFCTL_ERR_NONE : tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
}

/* The kernel's part. */

static int
imports_find(const struct kp_uprobe_spec *spec, struct kp_uprobe_found *ret)
{
	return spec->flags & KP_UPROBE_FUNCTION ? tnfctl_functions_find(spec, ret) :
	    tnfctl_usdt_find(spec, ret);
}

void
tnfctl_imports_finder(void)
{
	kp_uprobe_finder(imports_find);
}

static tnfctl_errcode_t
imports_session(tnfctl_handle_t *h)
{
	tnfctl_errcode_t err;
	struct kp *kp = NULL;
	int e;

	if (h->imports->kp != NULL)
		return TNFCTL_ERR_NONE;
	tnfctl_imports_finder();
	e = kp_open(true, &kp);
	if (e != 0) {
		err = tnfctl_kernel_code(kp, e);
		kp_close(kp);
		return err;
	}
	h->imports->kp = kp;
	return TNFCTL_ERR_NONE;
}

static int
number_of(struct kp *kp, const tnfctl_probe_t *p, unsigned *ret)
{
	const struct import *i = p->import;
	int e = kp_uprobe_add(kp, i->name, i->keys, &i->spec, ret);

	return e != 0 || i->args == NULL ? e : kp_uprobe_args(kp, *ret, i->args);
}

/* What an earlier session has left on; who may not look sees them off. */
static void
read_states(tnfctl_handle_t *h, size_t first)
{
	struct kp_probe state;
	struct kp *kp = NULL;
	unsigned id;
	size_t i;

	for (i = first; i < h->nprobes && h->probes[i]->import == NULL; i++)
		;
	if (i == h->nprobes)
		return;
	tnfctl_imports_finder();
	if (kp_open(false, &kp) == 0)
		for (; i < h->nprobes; i++)
			if (h->probes[i]->import != NULL &&
			    number_of(kp, h->probes[i], &id) == 0 &&
			    kp_probe_get(kp, id, &state) == 0) {
				h->probes[i]->enabled = state.enabled;
				h->probes[i]->traced = state.traced;
			}
	kp_close(kp);
}

tnfctl_errcode_t
tnfctl_imports_begin(tnfctl_handle_t *h)
{
	if (h->imports != NULL)
		return TNFCTL_ERR_NONE;
	h->imports = calloc(1, sizeof *h->imports);
	if (h->imports == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	return tnfctl_imports_refresh(h);
}

tnfctl_errcode_t
tnfctl_imports_add(tnfctl_handle_t *h, const char *kind, const char *source)
{
	bool asked = strcmp(kind, "return") == 0;

	if (asked || strcmp(kind, "function") == 0)
		return source == NULL ? tnfctl_error_set(TNFCTL_ERR_BADARG, "function: which?") :
		    tnfctl_imports_functions(h, source, asked);
	if (strcmp(kind, "usdt") != 0)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "only the kernel has tracepoints");
	return source == NULL ? tnfctl_imports_begin(h) :
	    tnfctl_error_set(TNFCTL_ERR_BADARG, "a process has the probes of its files");
}

tnfctl_errcode_t
tnfctl_imports_of_file(struct kp *kp, const char *path, size_t *ret_n)
{
	struct kp_uprobe_spec spec = { .pid = 0 };
	const struct usdt_object *o;
	char name[2 * USDT_NAME_MAX + 1], keys[USDT_NAME_MAX + 8], *real;
	const char *why = "it is no program or library of this machine";
	int fd, e = 0, n;
	unsigned id;

	tnfctl_imports_finder();
	real = realpath(path, NULL);
	if (real == NULL || (fd = tnfctl_file_open(real)) < 0) {
		e = errno;
		free(real);
		return tnfctl_error_set_errno(e, "%s", path);
	}
	n = snprintf(spec.path, sizeof spec.path, "%s", real);
	snprintf(spec.shown, sizeof spec.shown, "%s", real);
	free(real);
	o = tnfctl_usdt_probes_of(fd);
	if (o == NULL && tnf_elffile_kind_of(fd, "") == ELFFILE_OTHER_CLASS)
		why = "it has 32 bits or another byte order: probes of 64-bit programs and "
		    "libraries alone can be had";
	close(fd);
	if (o == NULL || n >= (int)sizeof spec.path)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: %s", path, o == NULL ? why :
		    "the path is too long");
	for (size_t i = 0; e == 0 && i < o->n; i++) {
		snprintf(name, sizeof name, "%s.%s", o->v[i].provider, o->v[i].name);
		snprintf(keys, sizeof keys, "usdt %s", o->v[i].provider);
		if (tnfctl_usdt_symbol(&o->v[i], spec.symbol, sizeof spec.symbol))
			e = kp_uprobe_add(kp, name, keys, &spec, &id);
	}
	*ret_n = o->n;
	return tnfctl_kernel_code(kp, e);
}

/* Functions. */

struct adding {
	tnfctl_handle_t *h;	/* a process's, or NULL */
	struct kp *kp;		/* the kernel, or NULL */
	const struct mapping *m;
	struct kp_uprobe_spec spec;
	const char *base;	/* of the file's name */
	bool	asked;		/* for the returns alone, whatever becomes of the program */
	int	fd;		/* the file, ... */
	bool	looked;
	uint32_t returns;	/* ... and its tnfctl_functions_returns(), once looked at */
	char	said[512];	/* about returns, "" if all is well */
	int	error;
};

static const struct side { const char *suffix; uint32_t flags; } sides[] = {
	{ "_entry", KP_UPROBE_FUNCTION },
	{ "_return", KP_UPROBE_FUNCTION | KP_UPROBE_RETURN },
};

static bool
has_side(const struct adding *a, const struct side *s)
{
	bool at_return = s->flags & KP_UPROBE_RETURN;

	return a->asked ? at_return : !at_return || a->returns == 0;
}

/* Of the first file that needs it: what may become of it, or why there are entries alone. */
static void
say_returns(struct adding *a, const char *function)
{
	if (a->returns == 0 || a->said[0] != '\0')
		return;
	if (a->returns == KP_UPROBE_NO_RETURN)
		snprintf(a->said, sizeof a->said, "%s: %s is a Go program, which moves its stacks: "
		    "calls are traced, returns cannot be", function, a->spec.shown);
	else
		snprintf(a->said, sizeof a->said, a->asked ? "%s: %s may have exceptions: one that "
		    "passes a function whose return is traced ends the program: "
		    "function=%s traces calls alone" : "%s: %s may have exceptions: calls are traced, "
		    "returns not, as they would end the program then: return=%s traces them all the same",
		    function, a->spec.shown, function);
}

static bool
is_listed(const tnfctl_handle_t *h, const struct kp_uprobe_spec *spec, struct file_id id)
{
	for (size_t i = 0; i < h->nprobes; i++) {
		const struct import *im = h->probes[i]->import;

		if (im != NULL && !h->probes[i]->gone && id_is(im->file, id) &&
		    im->spec.flags == spec->flags && strcmp(im->spec.symbol, spec->symbol) == 0)
			return true;
	}
	return false;
}

/* What is known of a function before somebody looks at its debugging information. */
static void
add_function_words(struct words *attrs, const struct import *i)
{
	char words[KP_FUNCTION_ATTRS];

	kp_uprobe_function_attrs(&i->spec, words);
	words_add(attrs, "keys %s;origin function;%sfile %s;", i->keys, words, i->spec.shown);
}

static bool
list_side(struct adding *a, const char *name, const char *keys)
{
	struct words attrs = { .n = 0 };
	struct import *i;
	tnfctl_probe_t *p = NULL;

	if (is_listed(a->h, &a->spec, id_of(a->m)))
		return true;
	if ((i = calloc(1, sizeof *i)) == NULL)
		return false;
	i->file = id_of(a->m);
	i->spec = a->spec;
	i->name = strdup(name);
	i->keys = strdup(keys);
	if (i->name != NULL && i->keys != NULL) {
		words_add(&attrs, "name %s;", name);
		add_function_words(&attrs, i);
		p = tnfctl_probe_add(a->h, attrs.text);
	}
	if (p == NULL) {
		tnfctl_import_free(i);
		return false;
	}
	p->import = i;
	return true;
}

static bool
add_function(void *arg, const char *function)
{
	struct adding *a = arg;
	char name[KP_SYMBOL_MAX], keys[128];
	unsigned id;

	snprintf(keys, sizeof keys, "function %.100s", a->base);
	snprintf(a->spec.symbol, sizeof a->spec.symbol, "%s", function);
	if (!a->looked)
		a->returns = tnfctl_functions_returns(a->fd);
	a->looked = true;
	say_returns(a, function);
	for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
		if (!has_side(a, &sides[s]))
			continue;
		snprintf(name, sizeof name, "%s%s", function, sides[s].suffix);
		a->spec.flags = sides[s].flags | a->returns;
		if (a->kp != NULL)
			a->error = kp_uprobe_add(a->kp, name, keys, &a->spec, &id);
		else if (!list_side(a, name, keys))
			a->error = -ENOMEM;
		if (a->error != 0)
			return false;
	}
	return true;
}

static tnfctl_errcode_t
too_many(const char *pattern, const char *path, long n)
{
	return tnfctl_error_set(TNFCTL_ERR_BADARG,
	    "function=%s: it fits %ld functions of %s: at most "
	    "%u can be imported at once", pattern, n, path, FUNCTIONS_MAX);
}

static void
set_file(struct adding *a, int fd, const char *path, const char *shown)
{
	const char *slash = strrchr(shown, '/');

	snprintf(a->spec.path, sizeof a->spec.path, "%s", path);
	snprintf(a->spec.shown, sizeof a->spec.shown, "%s", shown);
	a->fd = fd;
	a->looked = false;
	a->base = slash != NULL ? slash + 1 : shown;
}

tnfctl_errcode_t
tnfctl_imports_functions_of_file(struct kp *kp, const char *path, const char *pattern,
    bool asked)
{
	struct adding a = { .kp = kp, .asked = asked };
	int fd = tnfctl_file_open(path);
	long n;

	tnfctl_imports_finder();
	if (fd < 0)
		return tnfctl_error_set_errno(errno, "%s", path);
	set_file(&a, fd, path, path);
	n = tnfctl_functions_choose(fd, pattern, add_function, &a);
	close(fd);
	if (n > (long)FUNCTIONS_MAX)
		return too_many(pattern, path, n);
	if (a.error == 0 && a.said[0] != '\0')
		tnfctl_error_set(TNFCTL_ERR_NONE, "%s", a.said);
	return tnfctl_kernel_code(kp, a.error);
}

tnfctl_errcode_t
tnfctl_imports_functions(tnfctl_handle_t *h, const char *pattern, bool asked)
{
	struct adding a = { .h = h, .spec.pid = (int32_t)h->pid, .asked = asked };
	size_t first = h->nprobes;
	const struct mapping *latest = NULL;
	char path[KP_FILE_MAX];
	struct maps maps;
	long n = 0;
	int fd, error;

	if (h->imports == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "this handle has no imported probes");
	if ((error = tnf_maps_read(h->pid, &maps)) != 0)
		return tnfctl_error_set_errno(error, "process %d: its mappings", (int)h->pid);
	for (size_t i = 0; i < maps.n && n <= (long)FUNCTIONS_MAX && a.error == 0; i++) {
		a.m = &maps.m[i];
		if (!a.m->exec || a.m->inode == 0 || (latest != NULL && mapping_same_file(a.m, latest)) ||
		    (fd = tnfctl_proc_open_mapped(h->pid, a.m, path, sizeof path)) < 0)
			continue;
		latest = a.m;
		set_file(&a, fd, path, a.m->path);
		n = tnfctl_functions_choose(fd, pattern, add_function, &a);
		if (n > (long)FUNCTIONS_MAX)
			too_many(pattern, a.m->path, n);
		close(fd);
	}
	tnf_maps_free(&maps);
	read_states(h, first);
	if (h->nprobes > first)
		tnfctl_probes_created(h, first);
	if (a.error != 0)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (n > (long)FUNCTIONS_MAX)
		return TNFCTL_ERR_BADARG;
	return a.said[0] == '\0' ? tnfctl_error_set(TNFCTL_ERR_NONE, NULL) :
	    tnfctl_error_set(TNFCTL_ERR_NONE, "%s", a.said);
}

tnfctl_errcode_t
tnfctl_import_state(tnfctl_handle_t *h, tnfctl_probe_t *p, tnfctl_probe_state_t *ret)
{
	if (p->gone)
		return tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
		    "probe %lu: its file is not mapped any more", p->id);
	*ret = (tnfctl_probe_state_t){
		.id = p->id,
		.attr_string = p->attrs,
		.enabled = p->enabled ? B_TRUE : B_FALSE,
		.traced = p->traced ? B_TRUE : B_FALSE,
		.new_probe = p->new_probe ? B_TRUE : B_FALSE,
		.obj_name = p->import->spec.shown,
		.client_registered_data = p->client,
	};
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_import_set(tnfctl_handle_t *h, tnfctl_probe_t *p, enum probe_change change)
{
	bool enabled = change == PROBE_ENABLE || (change != PROBE_DISABLE && p->enabled);
	bool traced = change == PROBE_TRACE || (change != PROBE_UNTRACE && p->traced);
	tnfctl_errcode_t err;
	unsigned id;
	int e;

	if (p->gone)
		return tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
		    "probe %lu: its file is not mapped any more", p->id);
	if (enabled == p->enabled && traced == p->traced)
		return TNFCTL_ERR_NONE;
	/* As for a probe that the kernel does not have: the others are not kept from it. */
	if (enabled && !p->enabled && p->import->refused != NULL)
		return tnfctl_error_set(TNFCTL_ERR_NONE, "%s: not available: %s",
		    p->import->name, p->import->refused);
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	e = number_of(h->imports->kp, p, &id);
	if (e == 0)
		e = kp_probe_set(h->imports->kp, id, enabled, traced);
	if (e != 0)
		return tnfctl_kernel_code(h->imports->kp, e);
	p->enabled = enabled;
	p->traced = traced;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_import_describe(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	struct kp_uprobe_found found = { .members = 0 };
	struct words attrs = { .n = 0 };
	struct import *i = p->import;
	struct kp_uprobe_spec spec;
	char *text;
	size_t n;

	if (i == NULL || i->described || p->gone)
		return TNFCTL_ERR_NONE;
	spec = i->spec;
	n = strlen(spec.symbol);
	if (i->args != NULL)
		snprintf(spec.symbol + n, sizeof spec.symbol - n, " %s", i->args);
	words_add(&attrs, "name %s;", i->name);
	imports_find(&spec, &found);
	free(found.site);
	add_slots(&attrs, &found);
	if (spec.flags & KP_UPROBE_FUNCTION)
		add_function_words(&attrs, i);
	else
		words_add(&attrs, "keys %s;origin usdt;file %s;", i->keys, i->spec.shown);
	words_add(&attrs, "%s", found.attrs);
	if ((text = strdup(attrs.text)) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	i->described = true;
	free(i->undescribed);
	i->undescribed = p->attrs;
	p->attrs = text;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_import_args(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *args)
{
	tnfctl_errcode_t err;
	char *copy, *old;
	unsigned id;
	int e;

	if (p->import == NULL || p->gone)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "args: only USDT probes and functions have them");
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	if ((copy = strdup(args)) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	old = p->import->args;
	p->import->args = copy;
	if ((e = number_of(h->imports->kp, p, &id)) == 0) {
		free(old);
		p->import->described = false;
		return tnfctl_import_describe(h, p);
	}
	p->import->args = old;
	free(copy);
	return tnfctl_kernel_argument(h->imports->kp, e);
}

tnfctl_errcode_t
tnfctl_import_where(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *conditions)
{
	tnfctl_errcode_t err;
	unsigned id;
	int e;

	if (p->import == NULL || p->gone)
		return conditions == NULL ? TNFCTL_ERR_NONE : tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "where: only imported probes have conditions");
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	e = number_of(h->imports->kp, p, &id);
	if (e == 0)
		e = kp_probe_where(h->imports->kp, id, conditions);
	return e == -EINVAL ? tnfctl_error_set(TNFCTL_ERR_BADARG, "%s",
	    kp_detail(h->imports->kp)) :
	    tnfctl_kernel_code(h->imports->kp, e);
}

tnfctl_errcode_t
tnfctl_import_mark(tnfctl_handle_t *h, const char *text, const char *by)
{
	tnfctl_errcode_t err = imports_session(h);
	struct kp_status status;
	int e;

	if (err != TNFCTL_ERR_NONE)
		return err;
	e = kp_mark(h->imports->kp, text, by);
	/* A pin that is gone is the same error; kernel-probes' own words are for a buffer
	   that one makes by a command, as prex -k does. */
	if (e == -ENOENT && kp_status(h->imports->kp, &status) == 0 && status.size == 0)
		return tnfctl_error_set(TNFCTL_ERR_NOBUF,
		    "mark: the kernel has no buffer for the events "
		    "of this process so far: enable a probe first");
	if (e == -EAGAIN)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "mark: tracing is off in the kernel, and nothing "
		    "is recorded: switch it on (prex -k, ktrace on)");
	return tnfctl_kernel_code(h->imports->kp, e);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_import_buffer(tnfctl_handle_t *h, size_t size, size_t *ret)
{
	struct kp_status status;
	tnfctl_errcode_t err;
	size_t got = 0;
	int e;

	if (h->imports == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "this handle has no imported probes");
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	e = kp_status(h->imports->kp, &status);
	if (e == 0 && status.state == KP_NONE) {
		e = kp_buffer_alloc(h->imports->kp, size == 0 ? BUFFER_SIZE : size, &got);
		if (e == 0)
			e = kp_trace_set(h->imports->kp, true);
	}
	if (e != 0)
		return tnfctl_kernel_code(h->imports->kp, e);
	*ret = got;
	return TNFCTL_ERR_NONE;
}
