/*
 * why-index.c - makes the index: for each event, what it tells of a thread, CPU, disk or message.
 */
#include "analysis/states.h"
#include "analysis/why-impl.h"

enum what { M_NEW, M_NONE, M_STATE, M_BLOCK, M_CREATE, M_EXIT, M_CALL, M_RETURN, M_STRATEGY,
    M_BIODONE, M_WAKING,
    M_WAKEUP, M_QUEUE, M_THROTTLE, M_SIGNAL, M_OWNER, M_SAMPLE, M_SCAN, M_SCANNED, M_INTERRUPT, M_RESUME };

struct meaning {
	enum what what;
	int	  a, b, c, d, e;	/* indexes of members, -1: none */
};

/* The probes whose events go into the index, and the members that are read. */
static const struct {
	const char *probe;
	enum what what;
	const char *member[5];
} tells[] = {
	{ "thread_state", M_STATE, { "state", "tid" } },
	{ "thread_block", M_BLOCK, { "reason" } },
	{ "thread_create", M_CREATE, { "tid" } },
	{ "thread_exit", M_EXIT, { NULL } },
	{ "syscall_start", M_CALL, { "sysnum" } },
	{ "syscall_end", M_RETURN, { NULL } },
	{ "strategy", M_STRATEGY, { "device", "block", "buf", "size", "flags" } },
	{ "biodone", M_BIODONE, { "device", "buf" } },
	{ "sched.sched_waking", M_WAKING, { "pid" } },
	{ "thread_wakeup", M_WAKEUP, { "tid", "by", "source" } },
	{ "thread_queue", M_QUEUE, { "tid" } },
	{ "thread_throttle", M_THROTTLE, { "tid" } },
	{ "thread_signal", M_SIGNAL, { "pid", "signo" } },
	{ "lock_owner", M_OWNER, { "owner", "reason" } },
	{ "sample", M_SAMPLE, { NULL } },
	{ "pageout_scan_start", M_SCAN, { NULL } },
	{ "pageout_scan_end", M_SCANNED, { NULL } },
};

struct why *
why_new(const struct why_source *source)
{
	struct why *w = tnf_xcalloc(1, sizeof(*w));

	w->source = *source;
	tnf_map_init(&w->by_task, sizeof(uint32_t));
	tnf_map_init(&w->by_number, sizeof(uint32_t));
	tnf_map_init(&w->by_buf, sizeof(uint32_t));
	tnf_map_init(&w->stoppers, sizeof(uint32_t));
	tnf_map_init(&w->sendings, sizeof(struct sending));
	tnf_map_init(&w->places, sizeof(struct place));
	tnf_out_memory(&w->name);
	w->complete = INT64_MIN;
	w->threads = tnf_xgrow(w->threads, 0, sizeof(*w->threads));
	w->threads[w->n_threads++] = (struct thread){ 0 };
	w->sleeps = tnf_xgrow(w->sleeps, 0, sizeof(*w->sleeps));
	w->sleeps[w->n_sleeps++] = (struct sleep_event){ 0 };
	return w;
}

void
why_free(struct why *w)
{
	if (w == NULL)
		return;
	for (uint32_t i = 0; i < w->n_threads; i++) {
		free(w->threads[i].changes);
		free(w->threads[i].receipts);
		free(w->threads[i].samples);
	}
	for (unsigned h = 0; h < w->n_hosts; h++) {
		for (int c = 0; w->hosts[h] != NULL && c < CPUS_MAX; c++)
			if (w->hosts[h]->cpus[c] != NULL) {
				free(w->hosts[h]->cpus[c]->occupants);
				free(w->hosts[h]->cpus[c]);
			}
		free(w->hosts[h]);
	}
	free(w->hosts);
	free(w->threads);
	free(w->sleeps);
	free(w->requests);
	free(w->meanings.base);
	tnf_map_free(&w->by_task);
	tnf_map_free(&w->by_number);
	tnf_map_free(&w->by_buf);
	tnf_map_free(&w->stoppers);
	tnf_map_free(&w->sendings);
	tnf_map_free(&w->places);
	tnf_out_close(&w->name);
	gaps_free(&w->blocks);
	free(w);
}

static const struct meaning *
meaning_of(struct why *w, const struct tnf_probe *p)
{
	struct meaning *m = perprobe(&w->meanings, p, sizeof(*m));
	int *member = &m->a;

	if (m->what != M_NEW)
		return m;
	m->what = M_NONE;
	for (size_t i = 0; i < sizeof(tells) / sizeof(*tells) && m->what == M_NONE; i++) {
		if (strcmp(p->name, tells[i].probe) != 0)
			continue;
		m->what = tells[i].what;
		for (unsigned k = 0; k < 5; k++)
			member[k] = tells[i].member[k] == NULL ? -1 :
			    perprobe_member(p, tells[i].member[k]);
		if (tells[i].member[0] != NULL && m->a < 0)
			m->what = M_NONE;
	}
	int begins = states_interrupt(p->name);
	if (begins != 0)
		m->what = begins > 0 ? M_INTERRUPT : M_RESUME;
	return m;
}

/* The value of a member, or 0. */
static uint64_t
value_of(const struct tnf_event *ev, int member)
{
	struct tnf_value v;

	return member >= 0 && tnf_event_value(ev, (unsigned)member, &v) && !v.null ? v.u.u : 0;
}

static uint32_t
thread_new(struct why *w, unsigned host)
{
	w->threads = tnf_xgrow(w->threads, w->n_threads, sizeof(*w->threads));
	w->threads[w->n_threads] = (struct thread){ .is.host = host };
	return w->n_threads++;
}

static uint32_t *
number_entry(struct why *w, unsigned host, uint32_t lwpid)
{
	const uint32_t key[2] = { host, lwpid };

	return tnf_xmap_put(&w->by_number, key, sizeof(key), NULL);
}

static uint32_t *
task_entry(struct why *w, unsigned host, uint64_t tid)
{
	const uint64_t key[2] = { host, tid };

	return tnf_xmap_put(&w->by_task, key, sizeof(key), NULL);
}

static uint32_t *
stopper_entry(struct why *w, unsigned host, uint32_t pid)
{
	const uint32_t key[2] = { host, pid };

	return tnf_xmap_put(&w->stoppers, key, sizeof(key), NULL);
}

/* Returns the thread at a task's address; adds it if no event has named the address before. */
static uint32_t
thread_at(struct why *w, unsigned host, uint64_t tid)
{
	uint32_t *id = task_entry(w, host, tid);

	if (*id == 0) {
		*id = thread_new(w, host);
		w->threads[*id].is.tid = tid;
	}
	return *id;
}

/* Returns the thread that writes an event of the kernel, 0 for the idle thread.  From this event
   on the thread's address and its number (lwpid) lead to the same element. */
static uint32_t
kernel_writer(struct why *w, const struct tnf_event *ev)
{
	unsigned host = tnf_file_host(ev->file);
	uint32_t *at = task_entry(w, host, ev->tid), *by, id = *at;

	if (ev->lwpid == 0)		/* an idle thread */
		return 0;
	if (id == 0 || (w->threads[id].is.lwpid != 0 && w->threads[id].is.lwpid != ev->lwpid)) {
		id = *at = thread_new(w, host);
		w->threads[id].is.tid = ev->tid;
	}
	struct thread *t = &w->threads[id];
	if (t->is.lwpid == ev->lwpid)
		return id;
	t->is = (struct why_thread){ host, ev->pid, ev->lwpid, ev->tid, ev->file };
	by = number_entry(w, host, ev->lwpid);
	/* The thread's own process has written events before: that element has the same thread. */
	if (*by != 0 && w->threads[*by].is.tid == 0) {
		w->threads[*by].same = id;
		w->threads[*by].is.tid = ev->tid;
	}
	*by = id;
	return id;
}

uint32_t
why_writer(struct why *w, const struct tnf_event *ev)
{
	unsigned host = tnf_file_host(ev->file);
	uint32_t *id;

	if (ev->kernel)
		return kernel_writer(w, ev);
	id = number_entry(w, host, ev->lwpid);
	if (*id == 0 || w->threads[*id].ended) {
		*id = thread_new(w, host);
		w->threads[*id].is = (struct why_thread){ host, ev->pid, ev->lwpid, 0, ev->file };
	}
	return *id;
}

const struct why_thread *
why_thread(const struct why *w, uint32_t id)
{
	return id == 0 || id >= w->n_threads ? NULL : &why_changes_of(w, id)->is;
}

static struct cpu *
cpu_of(struct why *w, unsigned host, int cpu)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	if (host >= w->n_hosts) {
		w->hosts = tnf_xreallocarray(w->hosts, host + 1, sizeof(*w->hosts));
		while (w->n_hosts <= host)
			w->hosts[w->n_hosts++] = NULL;
	}
	if (w->hosts[host] == NULL)
		w->hosts[host] = tnf_xcalloc(1, sizeof(struct host));
	if (w->hosts[host]->cpus[cpu] == NULL)
		w->hosts[host]->cpus[cpu] = tnf_xcalloc(1, sizeof(struct cpu));
	return w->hosts[host]->cpus[cpu];
}

const struct cpu *
why_cpu(const struct why *w, unsigned host, int cpu)
{
	return cpu < 0 || cpu >= CPUS_MAX || host >= w->n_hosts || w->hosts[host] == NULL ?
	    NULL : w->hosts[host]->cpus[cpu];
}

static void
cpu_goes_to(struct cpu *c, uint32_t thread, int64_t time)
{
	if (c == NULL || (c->n > 0 && c->occupants[c->n - 1].thread == thread))
		return;
	if (c->n > 0 && c->occupants[c->n - 1].time == time) {
		c->occupants[c->n - 1].thread = thread;
		return;
	}
	c->occupants = tnf_xgrow(c->occupants, c->n, sizeof(*c->occupants));
	c->occupants[c->n++] = (struct occupant){ time, thread };
}

static struct change *
last_change(struct thread *t)
{
	return t->n > 0 ? &t->changes[t->n - 1] : NULL;
}

static struct change *
enter(struct thread *t, unsigned state, int64_t time, int cpu)
{
	t->changes = tnf_xgrow(t->changes, t->n, sizeof(*t->changes));
	t->changes[t->n] = (struct change){ .time = time, .state = (uint8_t)state,
	    .cpu = (int16_t)cpu, .ending = t->ended };
	return &t->changes[t->n++];
}

static bool
is_running(const struct change *c)
{
	return c != NULL && !c->asleep && c->state <= S_DFAULT;
}

/* A thread gets the CPU.  If the thread that had the CPU before still counts as running there, its
   state is unknown from now on. */
static void
gets_cpu(struct why *w, uint32_t id, unsigned state, const struct tnf_event *ev)
{
	struct cpu *c = cpu_of(w, tnf_file_host(ev->file), ev->cpu);
	struct change *l;

	if (c != NULL && c->n > 0 && c->occupants[c->n - 1].thread != id) {
		struct thread *before = &w->threads[c->occupants[c->n - 1].thread];
		if (is_running(l = last_change(before)) && l->cpu == ev->cpu)
			enter(before, before->ended ? S_ENDED : S_UNKNOWN, ev->time, -1);
	}
	cpu_goes_to(c, id, ev->time);
	w->threads[id].interrupts = 0;
	enter(&w->threads[id], w->threads[id].reclaims ? S_RECLAIM : state, ev->time, ev->cpu);
}

/* Notes that the thread wakes another one in its present state. */
static void
note_wake(struct why *w, uint32_t id)
{
	struct change *l = last_change(&w->threads[id]);

	if (id != 0 && l != NULL)
		l->woke = true;
}

/* Thread 'id' is woken, and ready to run. */
static void
thread_wakes(struct why *w, uint32_t id, uint32_t writer, const struct tnf_event *ev)
{
	struct cpu *c = cpu_of(w, tnf_file_host(ev->file), ev->cpu);
	struct thread *t = &w->threads[id];
	struct change *l = last_change(t);

	if (is_running(l) && l->state != S_TFAULT && l->state != S_DFAULT) {
		t->waker = t->request = t->by = 0;	/* the thread had not gone to sleep yet */
		return;
	}
	if (l != NULL && l->state <= S_DFAULT)
		l->asleep = true;	/* the thread slept in the fault */
	if (l == NULL)		/* the thread's first event: it has slept until now */
		enter(t, S_SLEEP, INT64_MIN, -1)->asleep = true;
	if (l != NULL && l->state == S_WAIT_CPU)
		return;
	l = enter(t, S_WAIT_CPU, ev->time, -1);
	l->throttled = t->throttled;
	l->waker = t->waker;
	l->by = t->by;
	l->detail = t->request;
	if (l->by == WHY_BY_NONE && c != NULL && c->done != 0) {
		l->by = WHY_BY_DISK;
		l->detail = c->done;
		c->done = 0;
	} else if (l->by == WHY_BY_NONE) {
		l->by = writer != 0 ? WHY_BY_THREAD : WHY_BY_INTERRUPT;
		l->waker = writer;
		note_wake(w, writer);
	}
	t->waker = t->request = t->by = 0;
	t->throttled = false;
}

/* The writer leaves its CPU, or is in a fault there. */
static void
leaves_cpu(struct why *w, uint32_t id, unsigned state, const struct tnf_event *ev)
{
	struct thread *t = &w->threads[id];
	struct change *l = last_change(t);

	if (state == S_TFAULT || state == S_DFAULT) {
		enter(t, state, ev->time, ev->cpu);
		return;
	}
	if (l != NULL && l->asleep && state != S_WAIT_CPU &&
	    (t->block_told || (l->state == state && l->time == ev->time))) {
		l->state = (uint8_t)state;
		t->block_told = false;
		return;
	}
	l = enter(t, state, ev->time, ev->cpu);
	l->asleep = state != S_WAIT_CPU;
	if (state == S_STOPPED)
		l->waker = *stopper_entry(w, t->is.host, (uint32_t)t->is.pid);
	if (state == S_WAIT_CPU) {
		l->throttled = t->throttled;
		t->throttled = false;
	}
	cpu_goes_to(cpu_of(w, tnf_file_host(ev->file), ev->cpu), 0, ev->time);
}

static void
state_event(struct why *w, const struct meaning *m, uint32_t writer, const struct tnf_event *ev)
{
	uint64_t state = value_of(ev, m->a);
	uint32_t id = writer;

	if (m->b >= 0)
		id = thread_at(w, tnf_file_host(ev->file), value_of(ev, m->b));
	if (id == 0 || state > S_STOPPED)
		return;
	w->kernel = true;
	struct change *l = last_change(&w->threads[id]);
	if (m->b >= 0 && (state == S_WAIT_CPU || (l != NULL && l->asleep)))
		thread_wakes(w, id, state == S_WAIT_CPU ? writer : 0, ev);
	if (m->b >= 0 && state == S_WAIT_CPU)
		return;
	if (m->b >= 0 || state <= S_RECLAIM)
		gets_cpu(w, id, (unsigned)state, ev);
	else
		leaves_cpu(w, id, (unsigned)state, ev);
}

/* thread_block: its event follows that of the writer's thread_state, at the same time. */
static void
block_event(struct why *w, const struct meaning *m, uint32_t id, const struct tnf_event *ev)
{
	struct thread *t = &w->threads[id];
	struct change *l = last_change(t);

	if (id == 0 || (w->kernel && (l == NULL || l->state == S_WAIT_CPU)))
		return;
	if (!w->kernel || (!l->asleep && l->time != ev->time)) {
		/* thread_state is off, or its event follows, as in traces of Solaris. */
		l = enter(t, S_SLEEP, ev->time, -1);
		t->block_told = true;
	}
	if (!l->asleep) {
		l->asleep = true;
		cpu_goes_to(cpu_of(w, tnf_file_host(ev->file), ev->cpu), 0, ev->time);
	}
	w->sleeps = tnf_xgrow(w->sleeps, w->n_sleeps, sizeof(*w->sleeps));
	w->sleeps[w->n_sleeps] = (struct sleep_event){ .probe = ev->probe, .pos = ev->pos };
	/* A lock of a file that was refused is another one than this sleep is for. */
	*(t->owner != 0 && value_of(ev, m->a) != t->lock ? &w->sleeps[w->n_sleeps].refused :
	    &w->sleeps[w->n_sleeps].owner) = t->owner;
	l->detail = w->n_sleeps++;
	t->owner = 0;
}

/* Returns the entry of the last request with this buf, + 1; the kernel uses the address again. */
static uint32_t *
request_entry(struct why *w, const struct tnf_event *ev, uint64_t buf)
{
	const uint64_t key[2] = { tnf_file_host(ev->file), buf };

	return tnf_xmap_put(&w->by_buf, key, sizeof(key), NULL);
}

static void
request_begins(struct why *w, const struct meaning *m, uint32_t id, const struct tnf_event *ev)
{
	w->requests = tnf_xgrow(w->requests, w->n_requests, sizeof(*w->requests));
	struct why_request *r = &w->requests[w->n_requests++];
	*r = (struct why_request){ .device = value_of(ev, m->a), .block = value_of(ev, m->b),
	    .buf = value_of(ev, m->c), .start = ev->time, .end = INT64_MAX, .thread = id,
	    .size = (uint32_t)value_of(ev, m->d), .flags = (uint32_t)value_of(ev, m->e),
	    .file = ev->file };
	*request_entry(w, ev, r->buf) = w->n_requests;
}

static void
request_ends(struct why *w, const struct meaning *m, const struct tnf_event *ev)
{
	struct cpu *c = cpu_of(w, tnf_file_host(ev->file), ev->cpu);
	uint32_t at = *request_entry(w, ev, value_of(ev, m->b));

	if (at == 0)
		return;
	w->requests[at - 1].end = ev->time;
	if (c != NULL)
		c->done = at;
}

/* The imported tracepoint sched_waking: the writer of the event is the waker. */
static void
waking_event(struct why *w, const struct meaning *m, uint32_t writer, const struct tnf_event *ev)
{
	const uint32_t key[2] = { tnf_file_host(ev->file), (uint32_t)value_of(ev, m->a) };
	const uint32_t *id = tnf_map_get(&w->by_number, key, sizeof(key));

	if (id == NULL)
		return;
	w->threads[*id].waker = writer;
	w->threads[*id].by = writer != 0 ? WHY_BY_THREAD : WHY_BY_INTERRUPT;
	note_wake(w, writer);
}

/* Notes who wakes the thread: the event's member 'by' names the kind of waker. */
static void
wakeup_event(struct why *w, const struct meaning *m, uint32_t writer, const struct tnf_event *ev)
{
	static const uint8_t by[] = { WHY_BY_THREAD, WHY_BY_INTERRUPT, WHY_BY_INTERRUPT,
	    WHY_BY_TIMER, WHY_BY_DISK, WHY_BY_NETWORK };
	unsigned host = tnf_file_host(ev->file);
	uint64_t how = value_of(ev, m->b), source = value_of(ev, m->c);
	uint32_t id = thread_at(w, host, value_of(ev, m->a)), waker = 0;

	note_wake(w, how == 0 ? writer : 0);
	if (how == 0)
		waker = writer;
	else if (how == 5 && source != 0)
		waker = thread_at(w, host, source);
	struct thread *t = &w->threads[id];
	t->waker = waker;
	t->by = how < sizeof(by) ? by[how] : WHY_BY_INTERRUPT;
	if (how == 0 && writer == 0)
		t->by = WHY_BY_INTERRUPT;
	if (how == 2 && source == 4)	/* the softirq of block requests */
		t->by = WHY_BY_DISK;
	t->request = how == 4 ? *request_entry(w, ev, source) : 0;
}

/* The writer puts a thread on a queue.  If no event has told of a wake-up before, the writer is
   the waker. */
static void
queue_event(struct why *w, const struct meaning *m, uint32_t writer, const struct tnf_event *ev)
{
	uint32_t id = thread_at(w, tnf_file_host(ev->file), value_of(ev, m->a));
	const struct change *l = last_change(&w->threads[id]);

	if (l != NULL && l->asleep)
		thread_wakes(w, id, writer, ev);
}

static void
throttle_event(struct why *w, const struct meaning *m, const struct tnf_event *ev)
{
	uint32_t id = thread_at(w, tnf_file_host(ev->file), value_of(ev, m->a));
	struct thread *t = &w->threads[id];
	struct change *l = last_change(t);

	if (l != NULL && l->state == S_WAIT_CPU)
		l->throttled = true;
	else
		t->throttled = true;
}

static void
signal_event(struct why *w, const struct meaning *m, uint32_t writer, const struct tnf_event *ev)
{
	uint64_t signo = value_of(ev, m->b);
	uint32_t *stopper;

	if (signo < 18 || signo > 22)	/* SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
		return;
	stopper = stopper_entry(w, tnf_file_host(ev->file), (uint32_t)value_of(ev, m->a));
	*stopper = signo == 18 ? 0 : writer;
}

static void
owner_event(struct why *w, const struct meaning *m, uint32_t id, const struct tnf_event *ev)
{
	const uint32_t key[2] = { tnf_file_host(ev->file), (uint32_t)value_of(ev, m->a) };
	const uint32_t *owner = tnf_map_get(&w->by_number, key, sizeof(key));

	w->threads[id].owner = owner != NULL ? *owner : 0;
	w->threads[id].lock = value_of(ev, m->b);
}

/* The writer begins to look for free memory, or has looked. */
static void
scan_event(struct why *w, uint32_t id, bool begins, const struct tnf_event *ev)
{
	struct thread *t = &w->threads[id];

	if (id == 0)
		return;
	t->reclaims = begins;
	if (is_running(last_change(t)))
		enter(t, begins ? S_RECLAIM : S_SYSTEM, ev->time, ev->cpu);
}

static void
sample_event(struct why *w, uint32_t id, const struct tnf_event *ev)
{
	struct thread *t = &w->threads[id];

	if (id == 0)
		return;
	t->samples = tnf_xgrow(t->samples, t->n_samples, sizeof(*t->samples));
	t->samples[t->n_samples++] = (struct sample){ ev->time, ev->probe, ev->pos };
}

/* An interrupt has the CPU, or gives it back: the thread stays in its state. */
static void
interrupt_event(struct why *w, uint32_t id, bool begins, const struct tnf_event *ev)
{
	struct thread *t = &w->threads[id];
	struct change *l = last_change(t), same;

	if (id == 0 || (!begins && t->interrupts == 0))
		return;
	t->interrupts += begins ? 1 : -1;
	if (!is_running(l) || l->interrupted == (t->interrupts > 0))
		return;
	same = *l;
	l = enter(t, same.state, ev->time, same.cpu);
	l->detail = same.detail;
	l->interrupted = t->interrupts > 0;
}

/* A new thread may have the address of an earlier one: from now on the address means the new
   thread.  Its maker wakes it. */
static void
thread_begins(struct why *w, uint32_t maker, unsigned host, uint64_t tid)
{
	uint32_t id = thread_at(w, host, tid);

	if (w->threads[id].n > 0 || w->threads[id].is.lwpid != 0) {
		*task_entry(w, host, tid) = 0;
		id = thread_at(w, host, tid);
	}
	note_wake(w, maker);
	w->threads[id].waker = maker;
	w->threads[id].by = maker != 0 ? WHY_BY_THREAD : WHY_BY_NONE;
}

/* The thread exits: it has its CPU until another thread gets the CPU. */
static void
thread_ends(struct why *w, uint32_t id, const struct tnf_event *ev)
{
	struct thread *t = &w->threads[id];
	bool running = is_running(last_change(t));

	if (id == 0)
		return;
	t->ended = true;
	enter(t, running ? S_SYSTEM : S_ENDED, ev->time, running ? ev->cpu : -1);
}

static void
look_for_gap(struct why *w, const struct tnf_event *ev)
{
	enum gap gap = gaps_feed(&w->blocks, ev);

	if (gap == GAP_BEGINNING && ev->time > w->complete)
		w->complete = ev->time;
	w->gaps += gap == GAP_BETWEEN;
}

static void
kernel_event(struct why *w, const struct meaning *m, uint32_t id, const struct tnf_event *ev)
{
	struct cpu *c;

	switch (m->what) {
	case M_STATE:
		state_event(w, m, id, ev);
		break;
	case M_BLOCK:
		block_event(w, m, id, ev);
		break;
	case M_CREATE:
		thread_begins(w, id, tnf_file_host(ev->file), value_of(ev, m->a));
		break;
	case M_EXIT:
		thread_ends(w, id, ev);
		break;
	case M_CALL:
		if (id != 0)
			enter(&w->threads[id], S_SYSTEM, ev->time, ev->cpu)->detail =
			    (uint32_t)value_of(ev, m->a) + 1;
		break;
	case M_RETURN:
		if (id != 0)
			enter(&w->threads[id], S_USER, ev->time, ev->cpu);
		break;
	case M_STRATEGY:
		request_begins(w, m, id, ev);
		break;
	case M_BIODONE:
		request_ends(w, m, ev);
		return;
	case M_WAKING:
		waking_event(w, m, id, ev);
		return;
	case M_WAKEUP:
		wakeup_event(w, m, id, ev);
		return;
	case M_QUEUE:
		queue_event(w, m, id, ev);
		return;
	case M_THROTTLE:
		throttle_event(w, m, ev);
		return;
	case M_SIGNAL:
		signal_event(w, m, id, ev);
		return;
	case M_OWNER:
		owner_event(w, m, id, ev);
		return;
	case M_SAMPLE:
		sample_event(w, id, ev);
		return;
	case M_SCAN:
	case M_SCANNED:
		scan_event(w, id, m->what == M_SCAN, ev);
		return;
	case M_INTERRUPT:
	case M_RESUME:
		interrupt_event(w, id, m->what == M_INTERRUPT, ev);
		return;
	default:
		return;
	}
	/* The end of a disk request wakes the thread that waits for it before this CPU does anything
	   else. */
	if (m->what != M_STATE && (c = cpu_of(w, tnf_file_host(ev->file), ev->cpu)) != NULL)
		c->done = 0;
}

void
why_feed(struct why *w, const struct tnf_event *ev)
{
	const struct meaning *m = meaning_of(w, ev->probe);

	w->last = ev->time;
	if (!ev->kernel)
		return;
	look_for_gap(w, ev);
	kernel_event(w, m, kernel_writer(w, ev), ev);
}

void
why_sent(struct why *w, const struct tnf_event *ev, const void *key, size_t size)
{
	struct sending *m = tnf_xmap_put(&w->sendings, key, size, NULL);

	/* The latest message with this key counts: a client that starts anew may count from 1
	   again. */
	*m = (struct sending){ ev->time, why_writer(w, ev) };
}

void
why_received(struct why *w, const struct tnf_event *ev, const void *key, size_t size)
{
	const struct sending *m = tnf_map_get(&w->sendings, key, size);
	uint32_t id = why_writer(w, ev);
	struct thread *t = &w->threads[id];

	if (m == NULL)
		return;
	t->receipts = tnf_xgrow(t->receipts, t->n_receipts, sizeof(*t->receipts));
	t->receipts[t->n_receipts++] = (struct receipt){ ev->time, m->time, m->sender };
}

bool
why_has_kernel(const struct why *w)
{
	return w->kernel;
}
