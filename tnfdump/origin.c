/*
 * origin.c - facts of a trace about the machine, processes and time of its making.
 */
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "analysis/usersym.h"

/* One for each file, made when first needed. */
struct origin {
	const struct tnf_file *file;
	tnf_context_t	*own;		/* to be closed, or NULL */
	const tnf_context_t *context;	/* NULL: has none */
	struct live	*live;		/* if the file is being followed; or NULL */
	uint64_t	 names;		/* x->names of the file when 'own' was read */
	bool		 has_clock;
	int64_t		 clock;
	bool		 looked_up;	/* a thread was, and is: */
	uint32_t	 lwpid;
	const struct tnf_context_task *task;	/* of it, or NULL */
};

struct origins {
	struct origin	*list, *latest;
	unsigned	 n;
	bool		 counted, stay;	/* origin_names_stay() */
	struct usersyms	*symbols;	/* of processes; made when asked for */
	struct unwinder	*unwinder;	/* likewise */
	struct map	 containers;	/* struct origin_container by control group */
};

void
origins_begin(struct dump *d)
{
	if (d->origins != NULL)
		return;
	d->origins = tnf_xcalloc(1, sizeof *d->origins);
	tnf_map_init(&d->origins->containers, sizeof(struct origin_container));
}

static struct origins *
origins_of(struct dump *d)
{
	origins_begin(d);
	return d->origins;
}

/* A clock that is 146 years off counts as none, so that adding it to an event's time is safe. */
static void
origin_find_clock(struct origin *o)
{
	const struct tnf_ext *x = tnf_file_ext(o->file);

	if (o->context != NULL && tnf_context_wall(o->context, 0, &o->clock))
		o->has_clock = true;
	else if (x != NULL && x->start_wall != 0)
		o->has_clock = !__builtin_sub_overflow(x->start_wall,
		    x->start_mono, &o->clock);
	if (o->clock < -(INT64_C(1) << 62) || o->clock > INT64_C(1) << 62)
		o->has_clock = false;
}

static struct origin *
origin_make(struct dump *d, const struct tnf_file *f)
{
	struct origins *all = origins_of(d);

	all->list = tnf_xreallocarray(all->list, all->n + 1, sizeof *all->list);
	struct origin *o = &all->list[all->n++];
	*o = (struct origin){ .file = f };
	if ((o->live = follow_live(d, f)) != NULL)
		o->context = live_context(o->live);
	for (unsigned i = 0; i < d->n_inputs && o->live == NULL; i++)
		if (d->inputs[i].file == f && tnf_context_open_mem(
		    d->inputs[i].base, d->inputs[i].size, &o->own) == 0)
			o->context = o->own;
	origin_find_clock(o);
	return o;
}

static struct origin *
origin_of(struct dump *d, const struct tnf_file *f)
{
	struct origins *all = origins_of(d);

	if (all->latest != NULL && all->latest->file == f)
		return all->latest;
	for (unsigned i = 0; i < all->n; i++)
		if (all->list[i].file == f)
			return all->latest = &all->list[i];
	return all->latest = origin_make(d, f);
}

/* The names that a followed process has written into its own file; read again when there
   are more. */
static const tnf_context_t *
origin_said(struct dump *d, struct origin *o)
{
	const struct tnf_ext *x = tnf_file_ext(o->file);
	const struct input *in = d->inputs;

	if (x == NULL || x->kind != TNF_EXT_PROCESS)
		return NULL;
	while (in->file != o->file)
		in++;
	/* Reads the count as it is now: libtnf's copy is from when the file was opened. */
	x = (const struct tnf_ext *)(const void *)((const char *)in->base + TNF_EXT_OFFSET);
	uint64_t now = __atomic_load_n(&x->names, __ATOMIC_ACQUIRE);
	if (now == o->names)
		return o->own;
	o->names = now;
	tnf_context_close(o->own);
	if (tnf_context_open_mem(in->base, in->size, &o->own) != 0)
		o->own = NULL;
	return o->own;
}

/* The name at 'time' if the thread has changed it since, otherwise its current name. */
static const char *
origin_live(struct dump *d, struct origin *o, int32_t tid, int64_t time)
{
	const tnf_context_t *said = origin_said(d, o);
	const char *then = said != NULL ? tnf_context_name(said, tid, time) : NULL;

	const char *last = said != NULL ? tnf_context_name(said, tid, INT64_MAX) : NULL;
	if (then != NULL && last != NULL && strcmp(then, last) != 0)
		return then;
	const char *now = live_comm(o->live, tid);
	return now != NULL ? now : last;
}

/* The task of the thread that wrote an event; NULL: not known. */
static const struct tnf_context_task *
origin_task(struct origin *o, uint32_t lwpid)
{
	if (o->context != NULL && (!o->looked_up || o->lwpid != lwpid)) {
		o->task = tnf_context_writer(o->context, (int32_t)lwpid);
		o->lwpid = lwpid;
		o->looked_up = o->task != NULL || o->live == NULL;
	}
	return o->task;
}

/* The name of a task at a time; 'last': its last name. */
static const char *
origin_name(const struct origin *o, const struct tnf_context_task *task,
    int64_t time, bool last)
{
	if (task == NULL || last)
		return task != NULL ? task->comm : NULL;
	return tnf_context_name(o->context, task->tid, time);
}

/* The event's time as its writer had it, without the shift by --hosts. */
static int64_t
origin_time(const struct tnf_event *ev)
{
	return (int64_t)((uint64_t)ev->time - (uint64_t)tnf_file_shift(ev->file));
}

static const char *
origin_thread(struct dump *d, const struct tnf_event *ev, bool last)
{
	struct origin *o = origin_of(d, ev->file);

	if (o->live != NULL)
		return origin_live(d, o, (int32_t)ev->lwpid, last ? INT64_MAX : ev->time);
	return origin_name(o, origin_task(o, ev->lwpid), origin_time(ev), last);
}

void
origin_host(struct dump *d, const struct tnf_event *ev, int32_t *pid,
    uint32_t *lwpid)
{
	struct origin *o = origin_of(d, ev->file);
	const struct tnf_context_task *task;

	*pid = ev->pid;
	*lwpid = ev->lwpid;
	if (ev->kernel || o->context == NULL)
		return;
	if ((task = origin_task(o, ev->lwpid)) != NULL) {
		*pid = task->pid;
		*lwpid = (uint32_t)task->tid;
	} else if ((task = tnf_context_writer(o->context, ev->pid)) != NULL)
		*pid = task->pid;
}

bool
origin_same_boot(const struct tnf_file *a, const struct tnf_file *b)
{
	static const uint8_t none[sizeof(((struct tnf_ext *)0)->boot_id)];
	const struct tnf_ext *x = tnf_file_ext(a), *y = tnf_file_ext(b);

	return x == NULL || y == NULL ||
	    memcmp(x->boot_id, none, sizeof none) == 0 ||
	    memcmp(y->boot_id, none, sizeof none) == 0 ||
	    memcmp(x->boot_id, y->boot_id, sizeof none) == 0;
}

struct leader {			/* the process whose name is wanted */
	int32_t	pid;
	int64_t	time;
	bool	last;		/* its last name, whatever the time */
};

/* The name of the leader from one file.  'own': l->pid is from an event of this file. */
static const char *
origin_leader(struct dump *d, struct origin *o, const struct leader *l, bool own)
{
	const struct tnf_context_task *task = NULL;

	if (o->live != NULL)
		return origin_live(d, o, l->pid, l->last ? INT64_MAX : l->time);
	if (o->context != NULL)
		task = own ? tnf_context_writer(o->context, l->pid) :
		    tnf_context_task(o->context, l->pid);
	return origin_name(o, task, l->time, l->last);
}

/* Finds the name of the event's process, if need be in other files, which know the process
   by the machine's pid.  Each call of origin_of() may move the array of origins. */
static const char *
find_process(struct dump *d, const struct tnf_event *ev, bool last)
{
	struct leader l = { ev->pid, origin_time(ev), last };
	const char *name = origin_leader(d, origin_of(d, ev->file), &l, true);
	uint32_t lwpid;

	origin_host(d, ev, &l.pid, &lwpid);
	for (unsigned i = 0; i < d->n_inputs && name == NULL; i++)
		if (d->inputs[i].file != ev->file &&
		    tnf_file_host(d->inputs[i].file) == tnf_file_host(ev->file) &&
		    origin_same_boot(ev->file, d->inputs[i].file))
			name = origin_leader(d, origin_of(d, d->inputs[i].file),
			    &l, false);
	return name;
}

const char *
origin_process(struct dump *d, const struct tnf_event *ev)
{
	return find_process(d, ev, false);
}

const char *
origin_process_last(struct dump *d, const struct tnf_event *ev)
{
	return find_process(d, ev, true);
}

const char *
origin_comm_own(struct dump *d, const struct tnf_event *ev)
{
	return origin_thread(d, ev, false);
}

/* A thread without a known name gets the name of its process. */
const char *
origin_comm(struct dump *d, const struct tnf_event *ev)
{
	const char *name = origin_thread(d, ev, false);

	return name != NULL ? name : find_process(d, ev, false);
}

const char *
origin_comm_last(struct dump *d, const struct tnf_event *ev)
{
	const char *name = origin_thread(d, ev, true);

	return name != NULL ? name : find_process(d, ev, true);
}

typedef const char *path_f(const tnf_context_t *, int32_t pid, int64_t time);

/* Finds a path of a process at the event's time: by the machine's pid in any file, or, for the
   event's own process, by the event's pid in its file. */
static const char *
path_of_process(struct dump *d, const struct tnf_event *ev, int32_t pid, bool own, path_f *path)
{
	const tnf_context_t *c = origin_of(d, ev->file)->context;
	int64_t time = origin_time(ev);
	const char *found = NULL;

	if (c != NULL && (found = path(c, pid, time)) == NULL && own)
		found = path(c, ev->pid, time);
	for (unsigned i = 0; i < d->n_inputs && found == NULL; i++)
		if (d->inputs[i].file != ev->file &&
		    tnf_file_host(d->inputs[i].file) == tnf_file_host(ev->file) &&
		    origin_same_boot(ev->file, d->inputs[i].file) &&
		    (c = origin_of(d, d->inputs[i].file)->context) != NULL)
			found = path(c, pid, time);
	return found;
}

static const char *
origin_path(struct dump *d, const struct tnf_event *ev, path_f *path)
{
	uint32_t lwpid;
	int32_t pid;

	origin_host(d, ev, &pid, &lwpid);
	return path_of_process(d, ev, pid, true, path);
}

const char *
origin_program(struct dump *d, const struct tnf_event *ev)
{
	return origin_path(d, ev, tnf_context_program);
}

const char *
origin_program_of(struct dump *d, const struct tnf_event *ev, int32_t pid)
{
	return path_of_process(d, ev, pid, false, tnf_context_program);
}

static const char *
group_at(const tnf_context_t *c, int32_t pid, int64_t time)
{
	return tnf_context_cgroup(c, pid);
}

const char *
origin_cgroup(struct dump *d, const struct tnf_event *ev)
{
	return origin_path(d, ev, group_at);
}

/* Finds what the file tells of the container: "pod namespace name". */
static void
container_names(struct dump *d, const struct tnf_event *ev, struct origin_container *c)
{
	char word[80];
	const char *fact;

	snprintf(word, sizeof word, "container/%s", c->group.id);
	if (*c->group.id == '\0' || (fact = origin_fact(d, ev->file, word)) == NULL ||
	    sscanf(fact, "%255s %63s %63s", c->names.pod, c->names.pod_namespace, c->names.name) != 3)
		c->names = (struct container_names){ .pod = "" };
}

const struct origin_container *
origin_container(struct dump *d, const struct tnf_event *ev)
{
	const char *group = origin_cgroup(d, ev);
	struct origin_container *c;
	bool fresh;

	if (group == NULL)
		return NULL;
	c = tnf_xmap_put(&origins_of(d)->containers, group, strlen(group), &fresh);
	if (fresh && tnf_container_of(group, &c->group))
		container_names(d, ev, c);
	return *c->group.id != '\0' || *c->group.pod != '\0' ? c : NULL;
}

bool
origin_names_stay(struct dump *d)
{
	struct origins *all = origins_of(d);
	size_t n = 0;

	if (!all->counted && d->follow == NULL) {
		for (unsigned i = 0; i < d->n_inputs && n == 0; i++) {
			const tnf_context_t *c = origin_context(d, d->inputs[i].file);
			if (c != NULL)
				tnf_context_formers(c, &n);
		}
		all->stay = n == 0;
		all->counted = true;
	}
	return all->stay;
}

bool
origin_tells_names(struct dump *d)
{
	size_t n;

	for (unsigned i = 0; i < d->n_inputs; i++) {
		const tnf_context_t *c = origin_context(d, d->inputs[i].file);
		if (c != NULL && tnf_context_tasks(c, &n) != NULL && n > 0)
			return true;
	}
	return false;
}

bool
origin_clock(struct dump *d, const struct tnf_file *f, int64_t *ret)
{
	return d->hosts != NULL ? hosts_wall(d, ret) : origin_own_clock(d, f, ret);
}

bool
origin_own_clock(struct dump *d, const struct tnf_file *f, int64_t *ret)
{
	struct origin *o = origin_of(d, f);

	if (o->has_clock)
		*ret = o->clock;
	return o->has_clock;
}

/* The function of a kernel address, and the offset in it. */
static const char *
origin_symbol(struct dump *d, const struct tnf_file *f, uint64_t addr,
    uint64_t *offset)
{
	struct origin *o = origin_of(d, f);
	const struct tnf_context_symbol *s;

	if (o->live != NULL)
		s = live_symbol(o->live, addr);
	else
		s = o->context != NULL ? tnf_context_symbol(o->context, addr) : NULL;
	if (s == NULL)
		return NULL;
	*offset = addr - s->start;
	return s->name;
}

static struct usersyms *
origin_symbols(struct dump *d)
{
	struct origins *all = origins_of(d);

	if (all->symbols == NULL)
		all->symbols = usersyms_new();
	return all->symbols;
}

/* A process, and the context that tells of its objects. */
struct mapped {
	const tnf_context_t *context;
	int32_t	pid;
};

/* The object at an address of the event's process, from the event's file; else from the
   process's own or another file of the same boot, since a copy of the kernel's buffer tells
   only of processes that lived when it was made. */
static const struct tnf_context_object *
find_object(struct dump *d, const struct tnf_event *ev, uint64_t addr, struct mapped *ret)
{
	const struct tnf_file *f = ev->file;
	const struct tnf_context_object *o;
	uint32_t lwpid;

	if (addr >> 63 != 0)
		return NULL;
	origin_host(d, ev, &ret->pid, &lwpid);
	for (unsigned i = 0; i <= d->n_inputs; i++) {
		if (i > 0 && ((f = d->inputs[i - 1].file) == ev->file ||
		    tnf_file_host(f) != tnf_file_host(ev->file) || !origin_same_boot(f, ev->file)))
			continue;
		if ((ret->context = origin_of(d, f)->context) != NULL &&
		    (o = tnf_context_object(ret->context, ret->pid, addr)) != NULL)
			return o;
	}
	return NULL;
}

const struct tnf_context_object *
origin_object(struct dump *d, const struct tnf_event *ev, uint64_t addr)
{
	struct mapped m;

	return find_object(d, ev, addr, &m);
}

const char *
origin_place(struct dump *d, const struct tnf_event *ev, uint64_t addr,
    uint64_t *offset)
{
	const char *name = origin_symbol(d, ev->file, addr, offset);
	struct mapped m;

	if (name != NULL || find_object(d, ev, addr, &m) == NULL)
		return name;
	return usersyms_find(origin_symbols(d), m.context, m.pid, addr, offset);
}

unsigned
origin_inlined(struct dump *d, const struct tnf_event *ev, uint64_t addr,
    const char **names, unsigned max)
{
	uint64_t offset;
	struct mapped m;

	if (origin_symbol(d, ev->file, addr, &offset) != NULL ||
	    find_object(d, ev, addr, &m) == NULL)
		return 0;
	return usersyms_inlined(origin_symbols(d), m.context, m.pid, addr, names, max);
}

unsigned
origin_unwind(struct dump *d, const struct tnf_event *ev, const struct unwind_stack *s,
    uint64_t addr, uint64_t *pc, unsigned max)
{
	struct origins *all = origins_of(d);
	struct mapped m;

	if (find_object(d, ev, addr, &m) == NULL)
		return 0;
	if (all->unwinder == NULL)
		all->unwinder = unwinder_new();
	return unwind(all->unwinder, m.context, m.pid, s, pc, max);
}

const char *
origin_fact(struct dump *d, const struct tnf_file *f, const char *name)
{
	struct origin *o = origin_of(d, f);

	return o->context != NULL ? tnf_context_fact(o->context, name) : NULL;
}

const char *
origin_value_names(struct dump *d, const struct tnf_event *ev, const char *member)
{
	const char *probe = ev->probe->name;
	struct origin *o = origin_of(d, ev->file);
	char key[300];

	if (o->live != NULL)
		return strncmp(ev->probe->keys, "tracepoint ", 11) == 0 ?
		    live_value_names(o->live, probe, member) : NULL;
	snprintf(key, sizeof key, "values:%s:%s", probe, member);
	return origin_fact(d, ev->file, key);
}

const tnf_context_t *
origin_context(struct dump *d, const struct tnf_file *f)
{
	return origin_of(d, f)->context;
}

void
origins_free(struct dump *d)
{
	struct origins *all = d->origins;

	if (all == NULL)
		return;
	usersyms_free(all->symbols);
	unwinder_free(all->unwinder);
	tnf_map_free(&all->containers);
	for (unsigned i = 0; i < all->n; i++)
		tnf_context_close(all->list[i].own);
	free(all->list);
	free(all);
	d->origins = NULL;
}
