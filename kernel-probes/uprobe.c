/*
 * uprobe.c - attaches probes in programs at each of their places.
 *
 * A place is an offset in a file: the kernel puts its breakpoint there into all
 * processes that run the file, or into one, those that map it later included, and
 * counts the semaphore up in each.  The link holds all that: when its pin goes, so
 * do breakpoints and counts.
 */
#include <linux/perf_event.h>

#include "kernel-probes/handle.h"

#define ENOTSUPP 524	/* the kernel's own, which <errno.h> does not have */
#define PMU	"/sys/bus/event_source/devices/uprobe/"

static kp_uprobe_find_f *finder;

KP_EXPORT void
kp_uprobe_finder(kp_uprobe_find_f *fn)
{
	finder = fn;
}

/* Reads a number behind the text 'before' in one of the kernel's files of one line. */
static long
read_number(const char *path, const char *before)
{
	char line[64];
	const char *at = tnf_proc_file(line, sizeof line, "%s", path) < 0 ? NULL :
	    strstr(line, before);

	return at == NULL ? -1 : strtol(at + strlen(before), NULL, 10);
}

/* When the process was started; 0: there is none. */
static uint64_t
uprobe_started(pid_t pid)
{
	unsigned long long when;
	char text[1024];
	const char *p;

	if (tnf_proc_file(text, sizeof text, "/proc/%d/stat", (int)pid) < 0)
		return 0;
	p = strrchr(text, ')');		/* the name may hold anything */
	if (p == NULL || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
	    "%*u %*u %*d %*d %*d %*d %*d %*d %llu", &when) != 1)
		return 0;
	return when + 1;
}

static int
uprobe_find(struct kp *kp, struct kp_import *imp, const struct kp_uprobe_spec *spec,
    struct kp_uprobe_found *ret)
{
	int r;

	memset(ret, 0, sizeof *ret);
	if (finder == NULL || imp->spec_size != sizeof *spec)
		return kp_fail(kp, -ENOTSUP, "%s: this program cannot read programs",
		    imp->name);
	r = finder(spec, ret);
	if (r < 0) {
		kp_import_lacks(imp, "%s", ret->why[0] != '\0' ? ret->why : strerror(-r));
		return kp_fail(kp, r, "%s: %s: %s", imp->name, spec->shown, imp->lacks);
	}
	return 0;
}

static int
uprobe_describe(struct kp *kp, struct kp_import *imp)
{
	struct kp_uprobe_found found;
	int r = uprobe_find(kp, imp, imp->spec, &found);

	if (r < 0)
		return r;
	free(found.site);
	for (unsigned i = 0; r == 0 && i < found.members; i++)
		if (found.member[i].type != NULL)
			r = kp_import_member(imp, found.member[i].type,
			    found.member[i].name);
	if (r == 0 && found.attrs[0] != '\0') {
		char *attrs = NULL;

		if (asprintf(&attrs, "%s%s", imp->attrs != NULL ? imp->attrs : "",
		    found.attrs) == -1)
			return -ENOMEM;
		free(imp->attrs);
		imp->attrs = attrs;
	}
	return r;
}

/* Sets the place of each argument in the event, as the members describe it. */
static void
place_members(const struct kp_import *imp, const struct kp_uprobe_found *found,
    const struct kp_site *site, struct kp_site_row *row)
{
	unsigned member = 0;

	memset(row, 0, sizeof *row);
	row->n = site->n;
	memcpy(row->v, site->v, site->n * sizeof site->v[0]);
	memcpy(row->hop, site->hop, site->n * sizeof site->hop[0]);
	for (unsigned i = 0; i < found->members && member < imp->members; i++) {
		if (found->member[i].type == NULL)
			continue;
		if (i < site->n) {
			row->v[i].at = imp->member[member].at;
			row->v[i].store = (__u16)kp_defs_scalar(imp->member[member].type);
		} else if (strcmp(found->member[i].name, KP_UNREAD) == 0)
			row->unread_at = imp->member[member].at;
		member++;
	}
}

void
kp_import_operands(struct kp_import *imp, const struct kp_site_row *site, bool only)
{
	_Static_assert(KP_PLAIN_MAX * sizeof site->v[0] <= sizeof imp->row.op, "they fit");

	imp->row.plain = only && site->n <= KP_PLAIN_MAX;
	for (unsigned i = 0; i < site->n; i++)
		if (site->v[i].kind == KP_OPERAND_MEMORY || site->v[i].text != KP_TEXT_NONE ||
		    site->hop[i].n != 0)
			imp->row.plain = 0;
	imp->row.ops = imp->row.plain ? (__u16)site->n : 0;
	memcpy(imp->row.op, site->v, imp->row.ops * sizeof site->v[0]);
}

static int
open_event(const struct kp_uprobe_spec *spec, const struct kp_site *site)
{
	long type = read_number(PMU "type", "");
	long ret_bit = read_number(PMU "format/retprobe", "config:");
	long ref_shift = read_number(PMU "format/ref_ctr_offset", "config:");
	struct perf_event_attr attr = { .size = sizeof attr };
	int fd;

	if (type < 0 || ret_bit < 0 || (site->ref_ctr != 0 && ref_shift < 0))
		return -ENOTSUP;
	if (site->ref_ctr >> 32 != 0)
		return -ERANGE;
	attr.type = (uint32_t)type;
	if (spec->flags & KP_UPROBE_RETURN)
		attr.config |= 1ull << ret_bit;
	if (site->ref_ctr != 0)
		attr.config |= site->ref_ctr << ref_shift;
	attr.uprobe_path = (uintptr_t)spec->path;
	attr.probe_offset = site->offset;
	fd = syscall(SYS_perf_event_open, &attr, spec->pid > 0 ? spec->pid : -1,
	    spec->pid > 0 ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd == -1 ? -errno : fd;
}

static int
attach_site(struct kp *kp, struct kp_import *imp, const struct kp_uprobe_spec *spec,
    int prog, unsigned n, const struct kp_site *site, const struct kp_site_row *row)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	uint64_t cookie = (uint64_t)n << 32 | (uint32_t)imp->slot;
	autoclose int event = -1;
	int link, r;

	if ((r = bpf_map_update_elem(kp->sites_fd, &cookie, row, BPF_ANY)) < 0)
		return kp_refused(kp, r, KP_PIN_SITES);
	event = open_event(spec, site);
	if (event == -EACCES || event == -EPERM)
		return kp_event_refused(kp, event, "uprobe");
	if (event < 0)
		return kp_fail(kp, event, "%s: %s: the kernel puts no breakpoint there: %s",
		    imp->name, spec->shown, event == -ENOTSUPP ? "it does not know how to "
		    "execute the first instruction elsewhere" : strerror(-event));
	opts.perf_event.bpf_cookie = cookie;
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	return link < 0 ? kp_refused(kp, link, imp->name) : kp_import_pin(kp, imp, n, link);
}

static int
attach_sites(struct kp *kp, struct kp_import *imp, const struct kp_uprobe_spec *spec,
    int prog)
{
	struct kp_uprobe_found found;
	struct kp_site_row row;
	int r;

	if ((r = uprobe_find(kp, imp, spec, &found)) < 0)
		return r;
	for (unsigned i = 0; r == 0 && i < found.sites; i++) {
		place_members(imp, &found, &found.site[i], &row);
		kp_import_operands(imp, &row, found.sites == 1);
		r = attach_site(kp, imp, spec, prog, i, &found.site[i], &row);
	}
	free(found.site);
	return r;
}

/*
 * Opens the file once, so that the finder and the kernel see the same file even if its owner
 * gives the name to another file in between.
 */
static int
uprobe_attach(struct kp *kp, struct kp_import *imp, int prog)
{
	struct kp_uprobe_spec held;
	autoclose int fd = -1;

	if (imp->spec_size != sizeof held)
		return attach_sites(kp, imp, imp->spec, prog);
	held = *(const struct kp_uprobe_spec *)imp->spec;
	fd = open(held.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* The finder says why the file cannot be opened. */
	if (fd == -1)
		return attach_sites(kp, imp, imp->spec, prog);
	snprintf(held.path, sizeof held.path, "/proc/self/fd/%d", fd);
	return attach_sites(kp, imp, &held, prog);
}

void
kp_sites_forget(struct kp *kp, struct kp_import *imp)
{
	uint64_t cookie = (uint32_t)imp->slot;

	while (kp->sites_fd >= 0 && bpf_map_delete_elem(kp->sites_fd, &cookie) == 0)
		cookie += 1ull << 32;
}

/* A probe of a process that has ended is useless, and the number may be another's. */
static bool
uprobe_gone(const struct kp_import *imp)
{
	const struct kp_uprobe_spec *spec = imp->spec;

	return imp->spec_size == sizeof *spec && spec->pid > 0 &&
	    uprobe_started(spec->pid) != spec->started;
}

static bool
is_terminated(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

static bool
is_whole(const struct kp_uprobe_spec *spec)
{
	return is_terminated(spec->symbol, sizeof spec->symbol) &&
	    is_terminated(spec->path, sizeof spec->path) &&
	    is_terminated(spec->shown, sizeof spec->shown);
}

KP_EXPORT void
kp_uprobe_function_attrs(const struct kp_uprobe_spec *spec, char ret[KP_FUNCTION_ATTRS])
{
	int len = (int)strcspn(spec->symbol, " ");
	const char *s = spec->symbol;
	bool asked = spec->flags & KP_UPROBE_UNWOUND;
	int n = 0;

	ret[0] = '\0';
	if (!(spec->flags & KP_UPROBE_RETURN) || !asked)
		n = snprintf(ret, KP_FUNCTION_ATTRS, "function %.*s;", len, s);
	if (spec->flags & KP_UPROBE_RETURN)
		snprintf(ret + n, KP_FUNCTION_ATTRS - (size_t)n, "return %.*s;", len, s);
	else if (spec->flags & KP_UPROBE_NO_RETURN)
		snprintf(ret + n, KP_FUNCTION_ATTRS - (size_t)n, "returns not those of a Go program;");
	else if (asked)
		snprintf(ret + n, KP_FUNCTION_ATTRS - (size_t)n, "returns with return=%.*s, "
		    "but an exception that passes then ends the program;", len, s);
}

struct uprobe_attrs {
	char	attrs[KP_FILE_MAX + KP_FUNCTION_ATTRS];
	char	bound[32];	/* "": to no process */
};

static void
write_attrs(const struct kp_uprobe_spec *spec, struct uprobe_attrs *ret)
{
	int n = snprintf(ret->attrs, sizeof ret->attrs, "file %s;", spec->shown);

	if (spec->flags & KP_UPROBE_FUNCTION)
		kp_uprobe_function_attrs(spec, ret->attrs + n);
	ret->bound[0] = '\0';
	if (spec->pid > 0)
		snprintf(ret->bound, sizeof ret->bound, "pid %d;", (int)spec->pid);
}

/* Attributes are not pinned: they are made anew from the spec. */
static int
uprobe_revive(struct kp *kp, struct kp_import *imp)
{
	const struct kp_uprobe_spec *spec = imp->spec;
	struct uprobe_attrs a;

	if (imp->spec_size != sizeof *spec || !is_whole(spec))
		return -EINVAL;
	if (imp->attrs != NULL)
		return 0;
	write_attrs(spec, &a);
	imp->attrs = strdup(a.attrs);
	imp->bound = a.bound[0] != '\0' ? strdup(a.bound) : NULL;
	return imp->attrs != NULL ? 0 : -ENOMEM;
}

static int
uprobe_args(struct kp *kp, struct kp_import *imp, const char *args)
{
	struct kp_uprobe_spec *spec = imp->spec;
	size_t n;

	if (imp->spec_size != sizeof *spec)
		return kp_fail(kp, -EINVAL, "%s: what it was is not known any more", imp->name);
	n = strcspn(spec->symbol, " ");
	if (strlen(args) + 2 > sizeof spec->symbol - n)
		return kp_fail(kp, -EINVAL, "%s: args: they are too long", imp->name);
	sprintf(spec->symbol + n, " %s", args);
	return 0;
}

#define UPROBE_KIND(kind, what) {					\
	.number = kind, .name = what,					\
	.program = "uprobe_hit", .otherwise = { "uprobe_plain", "uprobe_quick" }, \
	.describe = uprobe_describe, .attach = uprobe_attach,		\
	.revive = uprobe_revive, .detached = kp_sites_forget,		\
	.args = uprobe_args,						\
	.gone = uprobe_gone,						\
}
const struct kp_import_kind kp_uprobe = UPROBE_KIND(KP_IMPORT_UPROBE, "usdt");
const struct kp_import_kind kp_function = UPROBE_KIND(KP_IMPORT_FUNCTION, "function");

KP_EXPORT int
kp_uprobe_add(struct kp *kp, const char *name, const char *keys,
    const struct kp_uprobe_spec *asked, unsigned *ret_id)
{
	struct kp_uprobe_spec spec = *asked;
	char source[256];
	struct uprobe_attrs a;
	struct kp_import_new new = { .name = name, .keys = keys,
	    .source = source, .attrs = a.attrs, .spec = &spec, .spec_size = sizeof spec };
	struct kp_import *imp;
	int n, r;

	new.kind = spec.flags & KP_UPROBE_FUNCTION ? &kp_function : &kp_uprobe;
	if (!is_whole(&spec))
		return kp_fail(kp, -E2BIG, "%s: a name is too long", name);
	if (spec.pid > 0 && (spec.started = uprobe_started(spec.pid)) == 0)
		return kp_fail(kp, -ESRCH, "process %d: no such process", (int)spec.pid);
	/* The source tells the probe from others of the same name elsewhere. */
	if (spec.pid > 0)
		n = snprintf(source, sizeof source, "%d %llu %s", (int)spec.pid,
		    (unsigned long long)spec.started, spec.shown);
	else
		n = snprintf(source, sizeof source, "%s", spec.path);
	if (n < 0 || (size_t)n >= sizeof source)
		return kp_fail(kp, -E2BIG, "%s: %s: the path is too long", name, spec.shown);
	write_attrs(&spec, &a);
	new.bound = a.bound[0] != '\0' ? a.bound : NULL;
	if ((r = kp_import_add(kp, &new, &imp)) < 0)
		return r;
	*ret_id = imp->id;
	return 0;
}
