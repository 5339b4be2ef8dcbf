/*
 * tracepoint.c - the kernel's tracepoints as imported probes.
 *
 * One file of tracefs has their names.  The layout of each one's records is in a file of its
 * own, which is read when somebody asks for that tracepoint.
 */
#include <linux/perf_event.h>

#include "common/call-kinds.h"
#include "kernel-probes/handle.h"

/* Splits a probe's name into 'system' and 'event' for tracefs. */
static void
split_name(const struct kp_import *imp, int *system, const char **event)
{
	const char *dot = strchr(imp->name, '.');

	*system = dot == NULL ? 0 : (int)(dot - imp->name);
	*event = dot == NULL ? imp->name : dot + 1;
}

static int
import_one(struct kp *kp, char *line)
{
	char *colon = strchr(line, ':'), keys[128];
	struct kp_import_new new = { .kind = &kp_tracepoint, .keys = keys };
	struct kp_import *imp;

	if (colon == NULL || strlen(line) >= 120)
		return 0;
	*colon = '\0';
	snprintf(keys, sizeof keys, "tracepoint %s", line);
	*colon = '.';
	new.name = line;
	return kp_import_add(kp, &new, &imp);
}

static int
import_calls(struct kp *kp)
{
	static const struct kp_import_new calls[] = {
		{ .kind = &kp_call_args, .name = "syscall_args", .keys = "args" },
		{ .kind = &kp_call_path, .name = "syscall_path", .keys = "path" },
		{ .kind = &kp_call_fd, .name = "syscall_fd", .keys = "fd" },
	};
	struct kp_import *imp;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < sizeof calls / sizeof *calls; i++)
		r = kp_import_add(kp, &calls[i], &imp);
	return r;
}

KP_EXPORT int
kp_import_tracepoints(struct kp *kp)
{
	char *text, *line, *end;
	int r;

	if ((r = kp_tracefs_find(kp)) < 0 ||
	    (r = kp_tracefs_read(kp, "available_events", &text)) < 0)
		return r;
	for (line = text; r == 0 && *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		if (*end != '\0')
			*end++ = '\0';
		r = import_one(kp, line);
	}
	free(text);
	return r < 0 ? r : import_calls(kp);
}

/* A member that lies behind the one before it, in the record as in the event, is copied
   together with that member. */
static bool
tracepoint_joins(struct kp_import *imp, const struct tracefs_field *f, uint32_t at)
{
	struct kp_op *last;

	if (imp->row.ops == 0)
		return false;
	last = &imp->row.op[imp->row.ops - 1];
	if (last->kind != KP_OP_COPY || f->offset - last->from != at - last->to ||
	    at + f->size - last->to >= KP_FIXED_MAX)
		return false;
	last->size = (__u16)(at + f->size - last->to);
	return true;
}

static int
add_field(struct kp_import *imp, const struct tracefs_field *f)
{
	int record = kp_defs_record(f->type), r;
	uint32_t at;

	if (imp->row.ops == KP_OPS_MAX)
		return -E2BIG;
	if ((r = kp_import_member(imp, f->type, f->name)) < 0)
		return r;
	at = imp->member[imp->members - 1].at;
	if (record < 0 && tracepoint_joins(imp, f, at))
		return 0;
	imp->row.op[imp->row.ops++] = (struct kp_op){
		.from = (__u16)f->offset,
		.to = (__u16)at,
		.size = (__u16)f->size,
		.kind = (__u8)f->how,
		.type = record < 0 ? 0 : (__u8)record,
	};
	return 0;
}

/* The members are arguments that somebody has named (the spec), and not those of the record. */
static int
describe_args(struct kp *kp, struct kp_import *imp)
{
	struct kp_raw raw;
	int r = kp_raw_find(kp, imp, &raw);

	if (r < 0) {
		kp_import_lacks(imp, "%s", raw.why);
		return r;
	}
	for (unsigned i = 0; r == 0 && i < raw.site.n; i++)
		r = kp_import_member(imp, raw.member[i].type, raw.member[i].name);
	return r == 0 && raw.follows ? kp_import_member(imp, "tnf_uint32", KP_UNREAD) : r;
}

/* Members that find no room are left out: the others are worth having. */
static int
describe_tracepoint(struct kp *kp, struct kp_import *imp)
{
	struct tracefs_field f;
	const char *event;
	char path[256], *text;
	int system, r;

	split_name(imp, &system, &event);
	if (imp->spec_size != 0)
		return describe_args(kp, imp);
	snprintf(path, sizeof path, "events/%.*s/%s/format", system, imp->name, event);
	if ((r = kp_tracefs_find(kp)) < 0 || (r = kp_tracefs_read(kp, path, &text)) < 0) {
		kp_import_lacks(imp, r == -ENOENT ? "this kernel has none, or its module "
		    "is not loaded" : "tracefs: %s", strerror(-r));
		return r;
	}
	for (const char *at = text; (at = kp_tracefs_next_field(at, &f)) != NULL;)
		if (f.offset >= 8 && add_field(imp, &f) == -ENOMEM)
			break;
	free(text);
	return 0;
}

static int
tracepoint_number(struct kp *kp, const char *name)
{
	const char *dot = strchr(name, '.');
	char path[256], *text;
	int r;

	if (dot == NULL)
		return -EINVAL;
	snprintf(path, sizeof path, "events/%.*s/%s/id", (int)(dot - name), name, dot + 1);
	if ((r = kp_tracefs_find(kp)) < 0 || (r = kp_tracefs_read(kp, path, &text)) < 0)
		return r;
	r = atoi(text);
	free(text);
	return r;
}

/* An event of one CPU: the program runs for all of them. */
static int
open_event(int number)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof attr,
		.config = (unsigned)number,
	};
	int fd = -1, n = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; fd == -1 && cpu < n; cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd == -1 && errno != ENODEV)
			return -errno;
	}
	return fd == -1 ? -ENODEV : fd;
}

/* Attaches the program of an imported probe to a tracepoint, "system.event". */
static int
attach_event(struct kp *kp, struct kp_import *imp, const char *name, int prog)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
	    .perf_event.bpf_cookie = (unsigned)imp->slot);
	autoclose int event = -1;
	int number = tracepoint_number(kp, name), link;

	if (number < 0)
		return number;
	event = open_event(number);
	if (event < 0)
		return kp_event_refused(kp, event, imp->name);
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	return link < 0 ? kp_refused(kp, link, imp->name) : kp_import_pin(kp, imp, 0, link);
}

static int
attach_tracepoint(struct kp *kp, struct kp_import *imp, int prog)
{
	struct kp_raw raw;
	int r = kp_raw_find(kp, imp, &raw);

	if (r == 0)
		r = kp_raw_attach(kp, imp, &raw);
	/* -EEXIST: a link is about to go, and we are called again.  Named arguments are in no record. */
	if (r == 0 || r == -EEXIST || imp->spec_size != 0)
		return r;
	kp->detail[0] = '\0';
	return attach_event(kp, imp, imp->name, prog);
}

/* The hook of a raw tracepoint is found by its name alone. */
static bool
is_only(const struct kp *kp, const struct kp_import *imp, const char *event)
{
	const char *other;
	int system;

	for (unsigned i = 0; i < kp->imports; i++) {
		if (kp->import[i] == imp || kp->import[i]->kind != imp->kind)
			continue;
		split_name(kp->import[i], &system, &other);
		if (strcmp(other, event) == 0)
			return false;
	}
	return true;
}

static int
args_tracepoint(struct kp *kp, struct kp_import *imp, const char *args)
{
	const char *event;
	int system;

	split_name(imp, &system, &event);
	if (!is_only(kp, imp, event))
		return kp_fail(kp, -ENOTSUP, "%s: args: several tracepoints are called %s", imp->name, event);
	if (strlen(args) >= KP_SPEC_MAX)
		return kp_fail(kp, -EINVAL, "%s: args: they are too long", imp->name);
	free(imp->spec);
	imp->spec = strdup(args);
	imp->spec_size = imp->spec != NULL ? strlen(args) + 1 : 0;
	return imp->spec != NULL ? 0 : -ENOMEM;
}

static void
file_tracepoint(const struct kp_import *imp, char *buf, size_t n)
{
	const char *event;
	int system;

	split_name(imp, &system, &event);
	snprintf(buf, n, "%s/events/%.*s/%s/format", kp_tracefs_dir(), system, imp->name,
	    event);
}

/* A pin may hold anything. */
static int
revive_tracepoint(struct kp *kp, struct kp_import *imp)
{
	const char *args = imp->spec;

	return strchr(imp->name, '.') != NULL && strchr(imp->name, '/') == NULL &&
	    (imp->spec_size == 0 || args[imp->spec_size - 1] == '\0') ? 0 : -EINVAL;
}

const struct kp_import_kind kp_tracepoint = {
	.number = KP_IMPORT_TRACEPOINT,
	.name = "tracepoint",
	.program = "import_tracepoint",
	.otherwise = { "import_tracepoint_read" },
	.describe = describe_tracepoint,
	.attach = attach_tracepoint,
	.file = file_tracepoint,
	.revive = revive_tracepoint,
	.args = args_tracepoint,
	.detached = kp_sites_forget,
};

/*
 * Details of system calls: syscall_path, syscall_args and syscall_fd.
 * They hang on one tracepoint.  They are imported probes because they are expensive: only
 * users who ask for them have them.
 */
#define EVENT	"raw_syscalls.sys_enter"

static int
describe_call_args(struct kp *kp, struct kp_import *imp)
{
	char name[8];
	int r = kp_import_member(imp, "tnf_sysnum", "sysnum");

	if (r == 0)
		r = kp_import_member(imp, "tnf_uint32", "abi");
	for (int i = 0; r == 0 && i < CALL_ARGUMENTS; i++) {
		snprintf(name, sizeof name, "arg%d", i);
		r = kp_import_member(imp, "tnf_opaque", name);
	}
	for (int i = 0; r == 0 && i < CALL_ARGUMENTS; i++) {
		snprintf(name, sizeof name, "text%d", i);
		r = kp_import_member(imp, "tnf_string", name);
	}
	return r;
}

static int
describe_path(struct kp *kp, struct kp_import *imp)
{
	int r = kp_import_member(imp, "tnf_sysnum", "sysnum");

	return r < 0 ? r : kp_import_member(imp, "tnf_string", "path");
}

static int
describe_fd(struct kp *kp, struct kp_import *imp)
{
	int r;

	if ((r = kp_import_member(imp, "tnf_sysnum", "sysnum")) < 0 ||
	    (r = kp_import_member(imp, "tnf_int32", "fd")) < 0 ||
	    (r = kp_import_member(imp, "tnf_device", "device")) < 0 ||
	    (r = kp_import_member(imp, "tnf_uint64", "inode")) < 0)
		return r;
	return kp_import_member(imp, "tnf_string", "name");
}

static int
attach_call(struct kp *kp, struct kp_import *imp, int prog)
{
	return attach_event(kp, imp, EVENT, prog);
}

const struct kp_import_kind kp_call_args = {
	.number = KP_IMPORT_CALL_ARGS, .name = "syscall", .program = "import_call_args",
	.describe = describe_call_args, .attach = attach_call,
};
const struct kp_import_kind kp_call_path = {
	.number = KP_IMPORT_CALL_PATH, .name = "syscall", .program = "import_call_path",
	.describe = describe_path, .attach = attach_call,
};
const struct kp_import_kind kp_call_fd = {
	.number = KP_IMPORT_CALL_FD, .name = "syscall", .program = "import_call_fd",
	.describe = describe_fd, .attach = attach_call,
};
