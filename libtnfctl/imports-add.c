/*
 * imports-add.c - imported probes are added: to those of a process, or to the kernel's.
 */
#include "common/elf-file.h"
#include "libtnfctl/fast.h"
#include "libtnfctl/functions.h"
#include "libtnfctl/proc.h"

/* The state while the probes of one file after the other are added to a list. */
struct adding {
	tnfctl_handle_t *h;	/* a process's, or ... */
	struct kp *kp;		/* ... the kernel; else NULL */
	const struct maps *maps;	/* of the process, ... */
	const struct mapping *m;	/* ... and the file's */
	struct kp_uprobe_spec spec;
	const char *base;	/* of the file's name */
	bool	asked;		/* for the returns alone, whatever becomes of the program */
	int	fd;		/* the file, ... */
	bool	looked;
	uint32_t returns;	/* ... and its tnfctl_functions_returns(), once looked at */
	char	said[512];	/* about returns, "" if all is well */
	struct fast *fast;	/* of the next probe, or ... */
	const char *slow;	/* ... why it is no fast one; both NULL: nobody asks */
	const char *none;	/* why there are no fast probes at all, or NULL */
	struct map listed;	/* functions: the probes that the process has */
	int	error;
};

char *
tnfctl_import_attrs(const struct import *i, const struct kp_uprobe_found *found)
{
	bool function = i->spec.flags & KP_UPROBE_FUNCTION;
	char slots[KP_OPERANDS_MAX * (sizeof found->member[0].name + 1) + 1] = "";
	char words[KP_FUNCTION_ATTRS] = "", *text;
	size_t n = 0;

	for (unsigned m = 0; found != NULL && m < found->members; m++)
		if (found->member[m].type != NULL)
			n += (size_t)snprintf(slots + n, sizeof slots - n, "%s ",
			    found->member[m].name);
	if (function)
		kp_uprobe_function_attrs(&i->spec, words);
	return asprintf(&text, "name %s;%s%s%skeys %s;origin %s;%sfile %s;%s%s%s%s%s%s%s", i->name,
	    found ? "slots " : "", slots, found ? ";" : "", i->keys, function ? "function" : "usdt",
	    words, i->spec.shown, found ? found->attrs : "", i->refused ? "unavailable " : "",
	    i->refused ? i->refused : "", i->refused ? ";" : "", i->fast ? "fast yes" : i->slow ? "fast no: " : "",
	    i->slow ? i->slow : "", i->fast || i->slow ? ";" : "") < 0 ? NULL : text;
}

/* Notes a probe of the process, by its file and symbol; false: it was there before. */
static bool
note_listed(struct adding *a, struct file_id file, const struct kp_uprobe_spec *spec)
{
	char key[sizeof spec->symbol + 64];
	bool fresh = true;
	int n = snprintf(key, sizeof key, "%jx %jx %x %s", (uintmax_t)file.device,
	    (uintmax_t)file.inode, spec->flags, spec->symbol);

	tnf_map_put(&a->listed, key, (size_t)n, &fresh);
	return fresh;
}

static void
note_all_listed(struct adding *a)
{
	for (size_t i = 0; a->kp == NULL && i < a->h->nprobes; i++) {
		const struct import *im = a->h->probes[i]->import;

		if (im != NULL && !a->h->probes[i]->gone)
			note_listed(a, im->file, &im->spec);
	}
}

static bool
is_fast_wanted(const tnfctl_handle_t *h)
{
	return h != NULL && h->fast_wanted;
}

/* Adds a probe to those of the process: traced, as fast ones are.  found: see tnfctl_import_attrs(). */
static int
list_probe(struct adding *a, const char *name, const char *keys, const char *refused,
    const struct kp_uprobe_found *found)
{
	struct import *i = calloc(1, sizeof *i);
	tnfctl_probe_t *p = NULL;
	char *attrs = NULL;

	if (i == NULL)
		return -ENOMEM;
	*i = (struct import){ .file = { a->m->device, a->m->inode }, .spec = a->spec,
	    .name = strdup(name), .keys = strdup(keys), .refused = refused,
	    .described = found != NULL, .fast = a->fast != NULL, .slow = a->slow };
	if (i->name != NULL && i->keys != NULL &&
	    (attrs = tnfctl_import_attrs(i, found)) != NULL)
		p = tnfctl_probe_add(a->h, attrs);
	free(attrs);
	if (p == NULL) {
		tnfctl_import_free(i);
		tnfctl_fast_free(a->fast);
		a->fast = NULL;
		return -ENOMEM;
	}
	p->import = i;
	p->traced = is_fast_wanted(a->h);
	p->fast = a->fast;
	a->fast = NULL;
	if (p->fast != NULL)
		tnfctl_fast_placed(a->h, p);
	return 0;
}

/* The handle has a fast probe there already: from an earlier session, or by another name of the
   function. */
static int
drop_fast(struct adding *a)
{
	tnfctl_fast_free(a->fast);
	a->fast = NULL;
	return 0;
}

/* The same for a return, whose entry was listed before.  One that the kernel would have to trace,
   which does harm, is there only if somebody asks for it. */
static int
list_return(struct adding *a, const char *function, uint64_t address, const char *name,
    const char *keys)
{
	tnfctl_probe_t *entry = NULL;
	int e;

	a->slow = a->none != NULL ? a->none : tnfctl_fast_return_none(a->h, function);
	if (a->slow == NULL)
		a->fast = tnfctl_fast_function(a->h, a->maps, a->fd, a->m, address, &a->slow);
	if (a->fast != NULL && (entry = tnfctl_fast_at(a->h, a->fast->v[0].address)) == NULL) {
		drop_fast(a);
		a->slow = "its entry is no fast probe";
	}
	if (entry != NULL && entry->fast->other != NULL)
		return drop_fast(a);
	if (a->fast != NULL) {
		a->fast->at_return = true;
		a->fast->alone = a->returns != 0 && !a->asked;
		a->fast->other = entry;
	} else
		a->spec.flags |= a->returns;
	e = list_probe(a, name, keys, a->fast == NULL && a->returns != 0 && !a->asked ? a->slow : NULL, NULL);
	if (e == 0 && entry != NULL)
		entry->fast->other = a->h->probes[a->h->nprobes - 1];
	return e;
}

/* A function of a process: finds out whether its probe can be a fast one. */
static int
list_function(struct adding *a, const char *function, uint64_t address, const char *name,
    const char *keys)
{
	a->slow = NULL;
	if (!is_fast_wanted(a->h))
		return list_probe(a, name, keys, NULL, NULL);
	tnfctl_work(a->h, WORK_LOOK);
	if (a->spec.flags & KP_UPROBE_RETURN)
		return list_return(a, function, address, name, keys);
	if (a->none != NULL)
		a->slow = a->none;
	else if (strstr(function, ".cold") != NULL)
		a->slow = "it is a part of a function, to which jumps lead";
	else
		a->fast = tnfctl_fast_function(a->h, a->maps, a->fd, a->m, address, &a->slow);
	if (a->fast != NULL && tnfctl_fast_at(a->h, a->fast->v[0].address) != NULL)
		return drop_fast(a);
	return list_probe(a, name, keys, NULL, NULL);
}

static bool
set_file(struct adding *a, int fd, const char *path, const char *shown)
{
	const char *slash = strrchr(shown, '/');

	a->fd = fd;
	a->looked = false;
	a->base = slash != NULL ? slash + 1 : shown;
	snprintf(a->spec.shown, sizeof a->spec.shown, "%s", shown);
	return snprintf(a->spec.path, sizeof a->spec.path, "%s", path) < (int)sizeof a->spec.path;
}

/* USDT. */

static int
add_usdt_probe(struct adding *a, const struct usdt_probe *p)
{
	char name[2 * USDT_NAME_MAX + 1], keys[USDT_NAME_MAX + 8];
	struct kp_uprobe_found found = { .members = 0 };
	struct usdt_args_named named;
	unsigned id;

	snprintf(name, sizeof name, "%s.%s", p->provider, p->name);
	snprintf(keys, sizeof keys, "usdt %s", p->provider);
	if (!tnfctl_usdt_symbol(p, a->spec.symbol, sizeof a->spec.symbol))
		return 0;
	if (a->kp != NULL)
		return kp_uprobe_add(a->kp, name, keys, &a->spec, &id);
	if (is_fast_wanted(a->h) && tnfctl_fast_any(a->h))
		a->fast = tnfctl_fast_usdt(a->h, a->maps, a->fd, a->m, p, &a->slow);
	if (a->fast != NULL && tnfctl_fast_at(a->h, a->fast->v[0].address) != NULL)
		return drop_fast(a);
	if (a->fast != NULL)
		a->fast->alone = p->refused != NULL;
	tnfctl_usdt_catalogue_find(p->provider, p->name, &named);
	tnfctl_usdt_describe(p, &named, &found);
	return list_probe(a, name, keys, a->fast != NULL ? NULL : p->refused, &found);
}

/* Finds out whether a USDT probe that is listed can be a fast one. */
static void
decide_usdt(struct adding *a, tnfctl_probe_t *p)
{
	const struct usdt_object *o = tnfctl_usdt_probes_of(a->fd);
	char symbol[sizeof a->spec.symbol], *attrs;
	struct import *i = p->import;

	i->slow = p->enabled ? "the kernel has it already" : a->none;
	for (size_t n = 0; i->slow == NULL && o != NULL && n < o->n && p->fast == NULL; n++)
		if (tnfctl_usdt_symbol(&o->v[n], symbol, sizeof symbol) &&
		    strcmp(symbol, i->spec.symbol) == 0)
			p->fast = tnfctl_fast_usdt(a->h, a->maps, a->fd, a->m, &o->v[n], &i->slow);
	if (p->fast == NULL && i->slow == NULL)
		i->slow = "its file has changed";
	i->fast = p->fast != NULL;
	if (i->fast) {
		/* The kernel's way with its nop does not matter any more, unless the kernel is asked. */
		p->fast->alone = i->refused != NULL;
		i->refused = NULL;
		tnfctl_fast_placed(a->h, p);
	}
	if (i->fast && p->fast->alone) {
		attrs = tnfctl_import_attrs(i, NULL);
		i->described = false;
	} else if (asprintf(&attrs, "%sfast %s%s;", p->attrs, i->fast ? "yes" : "no: ", i->fast ? "" : i->slow) < 0)
		attrs = NULL;
	if (attrs == NULL)
		return;
	free(i->undescribed);
	i->undescribed = p->attrs;
	p->attrs = attrs;
}

/* True if it is not known so far whether a USDT probe of the process can be a fast one. */
static bool
is_undecided(const tnfctl_handle_t *h, const tnfctl_probe_t *p)
{
	const struct import *i = p->import;

	return h->fast_wanted && !(i->spec.flags & KP_UPROBE_FUNCTION) && p->fast == NULL &&
	    i->slow == NULL;
}

/* The same for all of a mapped file. */
static void
decide_file(struct adding *a, const struct mapping *m)
{
	char path[KP_FILE_MAX];

	a->m = m;
	if ((a->fd = tnfctl_proc_open_mapped(a->h->pid, m, path, sizeof path)) < 0)
		return;
	for (size_t n = 0; n < a->h->nprobes; n++) {
		tnfctl_probe_t *p = a->h->probes[n];

		if (p->import != NULL && !p->gone && is_undecided(a->h, p) &&
		    tnfctl_file_is(p->import->file, m))
			decide_usdt(a, p);
	}
	close(a->fd);
}

/* The analysis of code takes time, so it waits until somebody wants the probes of the file. */
void
tnfctl_import_decide(tnfctl_handle_t *h, tnfctl_probe_t *p, bool run)
{
	struct maps maps;
	struct adding a = { .h = h, .maps = &maps };

	if (p->import == NULL || p->gone || !is_undecided(h, p) ||
	    ((a.none = tnfctl_fast_none(h, run)) != NULL && !run) || tnf_maps_read(h->pid, &maps) != 0)
		return;
	for (size_t i = 0; i < maps.n && is_undecided(h, p); i++)
		if (maps.m[i].exec && tnfctl_file_is(p->import->file, &maps.m[i]))
			decide_file(&a, &maps.m[i]);
	tnf_maps_free(&maps);
}

bool
tnfctl_imports_add_usdt(tnfctl_handle_t *h, int fd, const struct maps *maps, const struct mapping *m,
    const char *path)
{
	struct adding a = { .h = h, .maps = maps, .m = m, .spec.pid = (int32_t)h->pid };
	const struct usdt_object *o = tnfctl_usdt_probes_of(fd);

	set_file(&a, fd, path, m->path);
	for (size_t i = 0; a.error == 0 && o != NULL && i < o->n; i++)
		a.error = add_usdt_probe(&a, &o->v[i]);
	return a.error == 0;
}

/* Adds all probes of a file, in whatever process runs it. */
static tnfctl_errcode_t
add_usdt_of(struct kp *kp, const char *path, int fd, const char *real)
{
	struct adding a = { .kp = kp };
	const struct usdt_object *o = tnfctl_usdt_probes_of(fd);

	if (o == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: %s", path,
		    tnf_elffile_kind_of(fd, "") == ELFFILE_OTHER_CLASS ?
		    "it has 32 bits or another byte order: probes of 64-bit programs and "
		    "libraries alone can be had" : "it is no program or library of this machine");
	if (!set_file(&a, fd, real, real))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: the path is too long", path);
	for (size_t i = 0; a.error == 0 && i < o->n; i++)
		a.error = add_usdt_probe(&a, &o->v[i]);
	return tnfctl_kernel_code(kp, a.error);
}

/* Adds a file's USDT probes; the handle keeps 'real', as a client may ask for the file's
   functions later. */
static tnfctl_errcode_t
add_usdt(tnfctl_handle_t *h, struct kp *kp, const char *path)
{
	tnfctl_errcode_t err;
	char *real, **v;
	int fd;

	if (path == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "usdt: of which file?");
	if ((real = realpath(path, NULL)) == NULL || (fd = tnfctl_file_open(real)) < 0) {
		err = tnfctl_error_set_errno(errno, "%s", path);
		free(real);
		return err;
	}
	err = add_usdt_of(kp, path, fd, real);
	close(fd);
	if (err == TNFCTL_ERR_NONE &&
	    (v = reallocarray(h->files, h->nfiles + 1, sizeof *v)) != NULL) {
		h->files = v;
		v[h->nfiles++] = real;
		return TNFCTL_ERR_NONE;
	}
	free(real);
	return err != TNFCTL_ERR_NONE ? err : tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
}

/* Functions. */

static const struct side { const char *suffix; uint32_t flags; } sides[] = {
	{ "_entry", KP_UPROBE_FUNCTION },
	{ "_return", KP_UPROBE_FUNCTION | KP_UPROBE_RETURN },
};

static bool
has_side(const struct adding *a, const struct side *s)
{
	bool at_return = s->flags & KP_UPROBE_RETURN;

	if (a->h != NULL && a->h->fast_returns)
		return !at_return || a->returns != KP_UPROBE_NO_RETURN;
	/* Fast probes need nobody's rights, but a return does: so it comes only if somebody asks. */
	return a->asked ? at_return : !at_return || (a->returns == 0 && !is_fast_wanted(a->h));
}

/* Notes, for the first file that needs it, the harm that return probes may do to the program,
   or why there are entries alone. */
static void
say_returns(struct adding *a, const char *function)
{
	if (a->returns == 0 || (a->h != NULL && a->h->fast_returns) || a->said[0] != '\0' || (is_fast_wanted(a->h) && !a->asked))
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
add_function(void *arg, const char *function, uint64_t address)
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
		a->spec.flags = sides[s].flags;
		if (a->h == NULL || !a->h->fast_returns)
			a->spec.flags |= a->returns;
		if (a->kp != NULL)
			a->error = kp_uprobe_add(a->kp, name, keys, &a->spec, &id);
		else if (note_listed(a, (struct file_id){ a->m->device, a->m->inode }, &a->spec))
			a->error = list_function(a, function, address, name, keys);
		if (a->error != 0)
			return false;
	}
	return true;
}

/* Adds functions of the current file; false: they are too many, and the error is set. */
static bool
add_functions_of(struct adding *a, const char *pattern)
{
	long max = is_fast_wanted(a->h) ? FUNCTIONS_FAST_MAX : FUNCTIONS_MAX;
	long n = tnfctl_functions_choose(a->fd, pattern, max, add_function, a);

	if (n > max)
		tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "function=%s: it fits %ld functions of %s: at most "
		    "%ld can be imported at once", pattern, n, a->spec.shown, max);
	return n <= max;
}

/* Adds functions of the files that the handle on the kernel was given. */
static tnfctl_errcode_t
add_of_files(struct adding *a, const char *pattern)
{
	const char *path;
	bool fits = true;
	int fd;

	for (size_t i = 0; fits && a->error == 0 && i < a->h->nfiles; i++) {
		path = a->h->files[i];
		if ((fd = tnfctl_file_open(path)) < 0)
			return tnfctl_error_set_errno(errno, "%s", path);
		set_file(a, fd, path, path);
		fits = add_functions_of(a, pattern);
		close(fd);
	}
	return fits ? tnfctl_kernel_code(a->kp, a->error) : TNFCTL_ERR_BADARG;
}

/* A pattern is not meant for code that takes no probe at all; who names a function learns why. */
static bool
is_meant(const struct adding *a, const char *pattern)
{
	return pattern[0] != '/' || tnfctl_functions_refused(a->fd, a->spec.shown, false) == NULL;
}

/* Adds functions of the files that the process has mapped. */
static tnfctl_errcode_t
add_of_maps(struct adding *a, const char *pattern)
{
	const struct mapping *m, *latest = NULL;
	char path[KP_FILE_MAX];
	struct maps maps;
	bool fits = true;
	int fd, error;

	if (a->h->imports == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "this handle has no imported probes");
	if ((error = tnf_maps_read(a->h->pid, &maps)) != 0)
		return tnfctl_error_set_errno(error, "process %d: its mappings", (int)a->h->pid);
	a->maps = &maps;
	for (size_t i = 0; i < maps.n && fits && a->error == 0; i++) {
		a->m = m = &maps.m[i];
		if (!m->exec || m->inode == 0 || (latest != NULL && mapping_same_file(m, latest)) ||
		    (fd = tnfctl_proc_open_mapped(a->h->pid, m, path, sizeof path)) < 0)
			continue;
		latest = m;
		set_file(a, fd, path, m->path);
		fits = !is_meant(a, pattern) || add_functions_of(a, pattern);
		close(fd);
	}
	tnf_maps_free(&maps);
	return !fits ? TNFCTL_ERR_BADARG : a->error == 0 ? TNFCTL_ERR_NONE :
	    tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
}

/* Adds functions that the pattern fits (functions.h).  Their returns come with them if that
   does no harm; asked: the returns alone, in any case.  The detail of NONE tells of the harm. */
static tnfctl_errcode_t
add_functions(tnfctl_handle_t *h, struct kp *kp, const char *pattern, bool asked)
{
	struct adding a = { .h = h, .kp = kp, .spec.pid = (int32_t)h->pid, .asked = asked };
	tnfctl_errcode_t err;
	size_t first;

	if (pattern == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "function: which?");
	if (is_fast_wanted(h))
		a.none = tnfctl_fast_none(h, true);
	first = h->nprobes;
	note_all_listed(&a);
	/* Thousands of functions take time, and nothing of the process is looked at. */
	tnfctl_work(h, WORK_BEGIN);
	err = kp != NULL ? add_of_files(&a, pattern) : add_of_maps(&a, pattern);
	tnf_map_free(&a.listed);
	if (kp == NULL)
		tnfctl_imports_added(h, first);
	tnfctl_work(h, WORK_END);
	if (kp != NULL && err == TNFCTL_ERR_NONE)
		err = h->ops->refresh(h);
	if (err != TNFCTL_ERR_NONE)
		return err;
	return a.said[0] == '\0' ? tnfctl_error_set(TNFCTL_ERR_NONE, NULL) :
	    tnfctl_error_set(TNFCTL_ERR_NONE, "%s", a.said);
}

tnfctl_errcode_t
tnfctl_imports_add(tnfctl_handle_t *h, const char *kind, const char *source)
{
	struct kp *kp = tnfctl_kernel_of(h);
	bool asked = strcmp(kind, "return") == 0;
	tnfctl_errcode_t err;

	if (asked || strcmp(kind, "function") == 0)
		return add_functions(h, kp, source, asked);
	if (strcmp(kind, "fast") == 0) {
		h->fast_wanted = kp == NULL;
		h->fast_returns |= kp == NULL && source != NULL && strcmp(source, "returns") == 0;
		if (kp == NULL && source != NULL && strcmp(source, "start") == 0)
			tnfctl_fast_none(h, true);
		return kp != NULL ? tnfctl_wrong_kind("only processes have fast probes") : TNFCTL_ERR_NONE;
	}
	if (kp == NULL && strcmp(kind, "usdt") != 0)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "only the kernel has tracepoints");
	if (kp == NULL)
		return source == NULL ? tnfctl_imports_begin(h) :
		    tnfctl_error_set(TNFCTL_ERR_BADARG, "a process has the probes of its files");
	if (strcmp(kind, "usdt") == 0)
		err = add_usdt(h, kp, source);
	else if (strcmp(kind, "tracepoint") == 0 && source == NULL)
		err = tnfctl_kernel_code(kp, kp_import_tracepoints(kp));
	else
		err = tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: no kind of imported probes", kind);
	return err != TNFCTL_ERR_NONE ? err : h->ops->refresh(h);
}
