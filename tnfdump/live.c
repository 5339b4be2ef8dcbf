/*
 * live.c - facts of this machine about a target that is being followed, and the session of
 * the kernel's probes for --follow kernel.
 */
#include "common/map.h"
#include "libtnf/context-write.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"

#ifdef HAVE_KERNEL_PROBES

#include "kernel-probes/kernel_probes.h"

/* The session stays open until the program ends, as its mapping does; held here for leak
   checkers. */
static struct kp *volatile held;

int
follow_map_kernel(struct dump *d, struct kp **kp, const void **base, size_t *size)
{
	int err = kp_open(false, kp);

	if (err != 0) {
		dump_error(d, "kernel: cannot follow: %s", err == -ENOENT ?
		    "no buffer: allocate one with prex -k" : strerror(-err));
		return -err;
	}
	held = *kp;
	if ((err = kp_map(*kp, base, size)) != 0) {
		dump_error(d, "kernel: %s", *kp_detail(*kp) != '\0' ?
		    kp_detail(*kp) : strerror(-err));
		kp_close(*kp);
		held = NULL;
	}
	return -err;
}

#else	/* built without libbpf: there is no session */

int
follow_map_kernel(struct dump *d, struct kp **kp, const void **base, size_t *size)
{
	dump_error(d, "kernel: cannot follow: built without libbpf: follow a "
	    "file or a process");
	return ENOTSUP;
}

static void
kp_ended(struct kp *kp, const void *living, size_t n, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg)
{
}

static void
kp_value_names_of(struct kp *kp, const char *probe, void (*fn)(void *arg,
    const char *probe, const char *member, const char *names), void *arg)
{
}

#endif

#define FRESH_NS	100000000	/* maximum age of a name */

#define COMM_SIZE	64

struct live_task {
	int64_t	asked;			/* last look at /proc, CLOCK_MONOTONIC */
	char	comm[COMM_SIZE];	/* "": not known */
};

struct live {
	pid_t		 pid;
	pid_t		 inner;		/* the pid in the process's own namespace */
	struct kp	*kp;
	tnf_context_t	*context;
	tnf_context_t	*symbols;	/* made when first asked for */
	bool		 symbols_asked;
	struct map	 tasks;		/* by tid: struct live_task */
	int64_t		 ended_asked;
	struct map	 probes_asked;	/* by name: probes whose value names were read */
	struct map	 values;	/* by "PROBE:MEMBER": names of its values, char * */
};

static tnf_context_t *
live_parse(struct context_writer *w)
{
	tnf_context_t *c = NULL;

	if (w->f != NULL) {
		fputs("end 1\n", w->f);
		if (fflush(w->f) != 0 ||
		    tnf_context_parse(w->text, w->size, &c) != 0)
			c = NULL;
	}
	context_free(w);
	return c;
}

struct live *
live_new(pid_t pid, pid_t inner, struct kp *kp)
{
	struct live *l = tnf_xcalloc(1, sizeof *l);
	struct context_writer w;

	l->pid = pid;
	l->inner = inner;
	l->kp = kp;
	tnf_map_init(&l->tasks, sizeof(struct live_task));
	tnf_map_init(&l->values, sizeof(char *));
	context_begin(&w);
	context_host(&w);
	context_tasks(&w, pid);
	context_devices(&w);
	if (pid != 0)
		context_objects(&w, pid);
	l->context = live_parse(&w);
	return l;
}

void
live_free(struct live *l)
{
	size_t at = 0;
	char **names;

	if (l == NULL)
		return;
	while ((names = tnf_map_next(&l->values, &at, NULL, NULL)) != NULL)
		free(*names);
	tnf_map_free(&l->values);
	tnf_map_free(&l->probes_asked);
	tnf_map_free(&l->tasks);
	tnf_context_close(l->context);
	tnf_context_close(l->symbols);
	free(l);
}

const tnf_context_t *
live_context(const struct live *l)
{
	return l->context;
}

static struct live_task *
live_task(struct live *l, int32_t tid)
{
	return tnf_xmap_put(&l->tasks, &tid, sizeof tid, NULL);
}

static void
live_set(struct live_task *t, const char *comm)
{
	snprintf(t->comm, COMM_SIZE, "%s", comm);
}

/* Reads the thread's name from /proc; false: no such thread lives.  For a process of
   another pid namespace, this is the /proc below the process's root. */
static bool
live_ask_proc(const struct live *l, int32_t tid, struct live_task *t)
{
	char path[64], comm[COMM_SIZE];
	FILE *f;

	if (l->inner == l->pid)
		snprintf(path, sizeof path, "/proc/%d/comm", (int)tid);
	else
		snprintf(path, sizeof path, "/proc/%d/root/proc/%d/comm",
		    (int)l->pid, (int)tid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	size_t n = fread(comm, 1, sizeof comm - 1, f);
	fclose(f);
	comm[n] = '\0';
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	if (n > 0)
		live_set(t, comm);
	return n > 0;
}

static void
live_note_ended(void *arg, pid_t tid, pid_t pid, pid_t ppid, const char *comm)
{
	struct live_task *t = live_task(arg, tid);

	if (*t->comm == '\0')
		live_set(t, comm);
}

/* Finds the name of a thread that has ended: in the context of the start, or as the
   kernel's part saw it. */
static void
live_ask_dead(struct live *l, int32_t tid, int64_t now)
{
	const struct tnf_context_task *known = NULL;

	if (l->context != NULL && l->inner == l->pid)
		known = tnf_context_task(l->context, tid);

	if (known != NULL)
		live_set(live_task(l, tid), known->comm);
	else if (l->kp != NULL && now - l->ended_asked > FRESH_NS) {
		l->ended_asked = now;
		kp_ended(l->kp, NULL, 0, live_note_ended, l);
	}
}

const char *
live_comm(struct live *l, int32_t tid)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	if (tid <= 0)
		return NULL;
	struct live_task *t = live_task(l, tid);
	if (t->asked == 0 || now - t->asked > FRESH_NS) {
		t->asked = now;
		if (!live_ask_proc(l, tid, t) && *t->comm == '\0')
			live_ask_dead(l, tid, now);
	}
	return *t->comm != '\0' ? t->comm : NULL;
}

/* The addresses at which functions begin. */
struct live_functions {
	uint64_t *addr;
	size_t	 n;
};

static bool
live_add_function(void *arg, const struct kallsym *sym)
{
	struct live_functions *l = arg;

	if (sym->address == 0 || strchr("tTwW", sym->type) == NULL)
		return true;
	l->addr = tnf_xgrow(l->addr, l->n, sizeof *l->addr);
	l->addr[l->n++] = sym->address;
	return true;
}

static void
live_load_symbols(struct live *l)
{
	struct context_writer w;
	struct live_functions all = { 0 };

	l->symbols_asked = true;		/* also if reading fails */
	tnf_kallsyms_each(KALLSYMS, live_add_function, &all);
	context_begin(&w);
	if (all.n > 0)
		context_symbols(&w, KALLSYMS, all.addr, all.n, 0);
	l->symbols = live_parse(&w);
	free(all.addr);
}

const struct tnf_context_symbol *
live_symbol(struct live *l, uint64_t addr)
{
	if (l->pid != 0 || addr < UINT64_C(1) << 63)
		return NULL;
	if (!l->symbols_asked)
		live_load_symbols(l);
	return l->symbols != NULL ? tnf_context_symbol(l->symbols, addr) : NULL;
}

/* Writes "PROBE:MEMBER" and returns its size; 0: it is too long. */
static size_t
live_value_key(char *buf, size_t size, const char *probe, const char *member)
{
	int n = snprintf(buf, size, "%s:%s", probe, member);

	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static void
live_note_values(void *arg, const char *probe, const char *member, const char *names)
{
	struct live *l = arg;
	char key[300], **known;
	size_t n = live_value_key(key, sizeof key, probe, member);

	if (n == 0)
		return;
	known = tnf_xmap_put(&l->values, key, n, NULL);
	if (*known == NULL)
		*known = tnf_xstrdup(names);
}

const char *
live_value_names(struct live *l, const char *probe, const char *member)
{
	char key[300], **known;
	bool fresh;
	size_t n = live_value_key(key, sizeof key, probe, member);

	if (l->kp == NULL || n == 0)
		return NULL;
	tnf_xmap_put(&l->probes_asked, probe, strlen(probe), &fresh);
	if (fresh)
		kp_value_names_of(l->kp, probe, live_note_values, l);
	known = tnf_map_get(&l->values, key, n);
	return known != NULL ? *known : NULL;
}
