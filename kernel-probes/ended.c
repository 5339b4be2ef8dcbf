/*
 * ended.c - the threads that live, that have ended, and that have another name now.
 */
#include <sys/sysmacros.h>

#include "kernel-probes/handle.h"

#define AT_ONCE		4096u	/* a bucket must fit */
#define CALLS_MAX	64u	/* the map changes under the walk */

typedef void each_f(const void *key, void *value, void *arg);

static void
map_walk(const char *pin, size_t key_size, size_t value_size, each_f *fn, void *arg)
{
	char *keys = malloc(AT_ONCE * key_size), *values = malloc(AT_ONCE * value_size);
	uint32_t in, out, n, calls;
	int fd = kp_map_open(pin, (uint32_t)key_size, (uint32_t)value_size), r = fd < 0 || keys == NULL || values == NULL ? -1 : 0;

	for (calls = 0; r == 0 && calls < CALLS_MAX; calls++) {
		n = AT_ONCE;
		r = bpf_map_lookup_batch(fd, calls == 0 ? NULL : &in, &out, keys,
		    values, &n, NULL);
		if (r != 0 && r != -ENOENT)
			break;
		for (uint32_t i = 0; i < n && i < AT_ONCE; i++)
			fn(keys + i * key_size, values + i * value_size, arg);
		in = out;
	}
	free(keys);
	free(values);
	if (fd >= 0)
		close(fd);
}

/* The processes that there are.  A trace remembers thousands of threads whose process
   has ended, and one listing is cheaper than a question for each. */
struct alive {
	pid_t	*pid;		/* ascending */
	size_t	 n;
};

COMPARE_NUMBERS(by_number, pid_t)

static bool
alive_add(struct alive *a, pid_t pid)
{
	pid_t *grown = tnf_grow(a->pid, a->n, sizeof *grown);

	if (grown == NULL)
		return false;
	a->pid = grown;
	a->pid[a->n++] = pid;
	return true;
}

/* If /proc hides the processes of others (hidepid=), process 1 is not there: then, and if
   /proc cannot be read, the list is empty. */
static void
alive_list(struct alive *a)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	bool ok = proc != NULL;

	memset(a, 0, sizeof *a);
	while (ok && (e = readdir(proc)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			ok = alive_add(a, (pid_t)strtol(e->d_name, NULL, 10));
	if (proc != NULL)
		closedir(proc);
	if (a->n > 0)
		qsort(a->pid, a->n, sizeof *a->pid, by_number);
	if (!ok || a->n == 0 || a->pid[0] != 1)
		a->n = 0;
}

static bool
alive_has(const struct alive *a, pid_t pid)
{
	return a->n == 0 || bsearch(&pid, a->pid, a->n, sizeof pid, by_number) != NULL;
}

struct ended_call {
	void	(*fn)(void *arg, pid_t tid, pid_t pid, pid_t ppid, const char *comm);
	void	*arg;
	const struct kp_task *living;	/* or NULL */
	size_t	 n;
	struct alive alive;		/* used if 'living' is NULL */
};

COMPARE_BY(ended_by_thread, struct kp_task, tid)

/* True if the thread still lives.  Then /proc has it. */
static bool
ended_lives(const struct ended_call *c, pid_t tid, pid_t pid)
{
	const struct kp_task key = { .tid = tid }, *t;

	if (c->living != NULL) {
		t = bsearch(&key, c->living, c->n, sizeof key, ended_by_thread);
		return t != NULL && t->pid == pid;
	}
	return alive_has(&c->alive, pid) &&
	    (syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM);
}

static void
ended_each(const void *key, void *value, void *arg)
{
	const struct ended_call *c = arg;
	const pid_t *tid = key;
	struct kp_ended *e = value;

	e->comm[sizeof e->comm - 1] = '\0';
	if (!ended_lives(c, *tid, (pid_t)e->pid))
		c->fn(c->arg, *tid, (pid_t)e->pid, (pid_t)e->ppid, e->comm);
}

KP_EXPORT void
kp_ended(struct kp *kp, const struct kp_task *living, size_t n, void (*fn)(void *arg,
    pid_t tid, pid_t pid, pid_t ppid, const char *comm), void *arg)
{
	struct ended_call c = { .fn = fn, .arg = arg, .living = living, .n = n };

	if (living == NULL)
		alive_list(&c.alive);
	map_walk(KP_PIN_ENDED, sizeof(uint32_t), sizeof(struct kp_ended), ended_each, &c);
	free(c.alive.pid);
}

struct renamed_call {
	void	(*fn)(void *arg, pid_t tid, int64_t time, const char *comm);
	void	*arg;
};

static void
renamed_each(const void *key, void *value, void *arg)
{
	const struct renamed_call *c = arg;
	const struct kp_renamed *r = key;
	struct kp_former *f = value;

	f->comm[sizeof f->comm - 1] = '\0';
	c->fn(c->arg, (pid_t)r->tid, (int64_t)r->time, f->comm);
}

KP_EXPORT void
kp_renamed(struct kp *kp, void (*fn)(void *arg, pid_t tid, int64_t time,
    const char *comm), void *arg)
{
	struct renamed_call c = { fn, arg };

	map_walk(KP_PIN_RENAMED, sizeof(struct kp_renamed), sizeof(struct kp_former),
	    renamed_each, &c);
}

/* A process runs a program from this time on, whose path has this number. */
struct ran_row {
	struct kp_renamed from;
	uint64_t path;
};

struct ran {
	struct ran_row *row;
	size_t	 n;
};

COMPARE_BY(by_path, struct ran_row, path)

static void
ran_add(const void *key, void *value, void *arg)
{
	struct ran *all = arg;
	struct ran_row *grown = tnf_grow(all->row, all->n, sizeof *grown);

	if (grown == NULL)
		return;
	all->row = grown;
	memcpy(&all->row[all->n].from, key, sizeof(struct kp_renamed));
	memcpy(&all->row[all->n++].path, value, sizeof(uint64_t));
}

/* Many processes run few programs: each path is looked up once. */
KP_EXPORT void
kp_ran(struct kp *kp, void (*fn)(void *arg, pid_t pid, int64_t time, const char *path), void *arg)
{
	int paths = kp_map_open(KP_PIN_PATHS, sizeof(uint64_t), sizeof(struct kp_path));
	struct ran all = { .n = 0 };
	struct kp_path path;
	const struct ran_row *r;
	int found = -1;

	if (paths < 0)
		return;
	map_walk(KP_PIN_RAN, sizeof(struct kp_renamed), sizeof(uint64_t), ran_add, &all);
	if (all.n > 0)
		qsort(all.row, all.n, sizeof *all.row, by_path);
	for (r = all.row; r < all.row + all.n; r++) {
		if (r == all.row || r->path != r[-1].path)
			found = bpf_map_lookup_elem(paths, &r->path, &path);
		if (found != 0)
			continue;
		path.text[sizeof path.text - 1] = '\0';
		fn(arg, (pid_t)r->from.tid, (int64_t)r->from.time, path.text);
	}
	free(all.row);
	close(paths);
}

struct object_row {
	struct kp_object_key key;
	struct kp_object o;
};

struct objects {
	struct object_row *row;
	size_t	 n;
};

static void
object_add(const void *key, void *value, void *arg)
{
	struct objects *all = arg;
	struct object_row *grown = tnf_grow(all->row, all->n, sizeof *grown);

	if (grown == NULL)
		return;
	all->row = grown;
	memcpy(&all->row[all->n].key, key, sizeof(struct kp_object_key));
	memcpy(&all->row[all->n++].o, value, sizeof(struct kp_object));
}

/* By process; those that were noted last come first. */
static int
by_process(const void *a, const void *b)
{
	const struct object_row *p = a, *q = b;

	if (p->key.pid != q->key.pid)
		return p->key.pid < q->key.pid ? -1 : 1;
	return (p->o.time < q->o.time) - (p->o.time > q->o.time);
}

/* Elements of an earlier process with this number, or of what it ran before, do not count. */
KP_EXPORT void
kp_objects(struct kp *kp, void (*fn)(void *arg, const struct kp_mapped *), void *arg)
{
	int paths = kp_map_open(KP_PIN_PATHS, sizeof(uint64_t), sizeof(struct kp_path));
	const struct object_row *r, *first = NULL;
	struct objects all = { .n = 0 };
	struct kp_path path;

	if (paths < 0)
		return;
	map_walk(KP_PIN_OBJECTS, sizeof(struct kp_object_key), sizeof(struct kp_object), object_add, &all);
	if (all.n > 0)
		qsort(all.row, all.n, sizeof *all.row, by_process);
	for (r = all.row; r < all.row + all.n; r++) {
		if (first == NULL || first->key.pid != r->key.pid)
			first = r;
		if (r->o.time != first->o.time || bpf_map_lookup_elem(paths, &r->o.path, &path) != 0)
			continue;
		path.text[sizeof path.text - 1] = '\0';
		fn(arg, &(struct kp_mapped){ .pid = (pid_t)r->key.pid, .start = r->o.start,
		    .end = r->o.end, .offset = r->o.offset, .main = r->o.offset == KP_OBJECT_MAIN,
		    .inode = r->o.inode, .device = makedev(r->o.device >> 20, r->o.device & 0xfffff),
		    .path = path.text });
	}
	free(all.row);
	close(paths);
}

/* The program numbers tasks as the first pid name space does.  A
   process that finds itself there under its own numbers is in that one, as nearly all are. */
static bool
told_has_me(const struct kp_task *t, size_t n)
{
	pid_t pid = getpid(), ppid = getppid();

	for (size_t i = 0; i < n; i++)
		if (t[i].tid == pid)
			return t[i].pid == pid && t[i].ppid == ppid;
	return false;
}

static int
tasks_take(const char *text, size_t size, struct kp_task **ret, size_t *ret_n)
{
	size_t n = size / sizeof(struct kp_told);
	struct kp_task *tasks = calloc(n + 1, sizeof *tasks);
	struct kp_told told;

	if (tasks == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		memcpy(&told, text + i * sizeof told, sizeof told);
		if (told.size != sizeof told || (i > 0 && (pid_t)told.tid <= tasks[i - 1].tid)) {
			free(tasks);
			return -EPROTO;
		}
		tasks[i] = (struct kp_task){ .tid = (pid_t)told.tid, .pid = (pid_t)told.pid,
		    .ppid = (pid_t)told.ppid, .flags = told.flags, .groups = told.groups };
		memcpy(tasks[i].comm, told.comm, sizeof told.comm - 1);
	}
	if (!told_has_me(tasks, n)) {
		free(tasks);
		return -ENOTSUP;
	}
	*ret = tasks;
	*ret_n = n;
	return 0;
}

KP_EXPORT int
kp_tasks(struct kp *kp, struct kp_task **ret, size_t *ret_n)
{
	int fd = kp_iterator(KP_PROGRAM_tell_tasks), r;
	char *text = NULL;
	size_t size = 0;

	if (fd < 0)
		return fd;
	r = -tnf_read_all(fd, &text, &size);
	close(fd);
	if (r < 0)
		return r;
	r = tasks_take(text, size, ret, ret_n);
	free(text);
	return r;
}
