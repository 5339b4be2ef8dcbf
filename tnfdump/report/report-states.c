/*
 * report-states.c - --states: how long each thread was in each microstate.
 *
 * All events are looked at, since other threads record when a thread is woken and gets the
 * CPU.  A thread is printed if filters keep an event that it has written, at whatever time;
 * filters of time choose the part of its states that counts.
 */
#include "tnfdump/to/formats.h"

struct account {
	uint64_t	 tid;
	int32_t		 pid;
	uint32_t	 lwpid;
	unsigned	 host;
	bool		 chosen;
	char		 comm[32];
	int64_t		 ns[STATES_COUNT];
	int64_t		 total;
};

struct report {
	struct dump	*d;
	struct states	*states;
	struct account	**account;	/* by a thread's id; NULL: none */
	size_t		 n;
	bool		 all;		/* no thread was filtered out */
	unsigned	 columns;	/* states; that of interrupts only if there are any */
};

static struct account *
account_of(struct report *r, uint32_t id)
{
	size_t n = r->n;

	if (id >= n) {
		r->n = 2 * (size_t)id + 64;
		r->account = tnf_xreallocarray(r->account, r->n, sizeof(void *));
		memset(r->account + n, 0, (r->n - n) * sizeof(void *));
	}
	if (r->account[id] == NULL)
		r->account[id] = tnf_xcalloc(1, sizeof(struct account));
	return r->account[id];
}

static void
report_states_span(void *arg, const struct state_span *s)
{
	struct account *a = account_of(arg, s->id);

	a->tid = s->tid;
	a->host = s->host;
	if (s->lwpid != 0) {
		a->pid = s->pid;
		a->lwpid = s->lwpid;
	}
	a->ns[s->state] += s->duration;
	a->total += s->duration;
	if (s->state >= ((struct report *)arg)->columns)
		((struct report *)arg)->columns = s->state + 1;
}

int
states_report_begin(struct dump *d)
{
	struct report *r = tnf_xcalloc(1, sizeof(*r));

	r->states = states_new(report_states_span, r);
	states_window(r->states, d->low, d->high);
	r->d = d;
	r->all = true;
	r->columns = STATES_INTERRUPT;
	d->state = r;
	return 0;
}

int
states_report_event(struct dump *d, const struct tnf_event *ev)
{
	struct report *r = d->state;
	uint32_t id = states_feed(r->states, ev);
	const char *comm;

	bool chosen = (d->keep | KEEP_WHEN) == KEEP_ALL;

	r->all &= chosen;
	if (id == 0 || !chosen)
		return 0;
	struct account *a = account_of(r, id);
	a->chosen = true;
	if (a->comm[0] == '\0' && (comm = origin_comm_last(d, ev)) != NULL)
		snprintf(a->comm, sizeof(a->comm), "%s", comm);
	return 0;
}

/* Orders by process and thread; threads that never wrote, and so have no number, come last. */
static int
report_states_compare(const void *x, const void *y)
{
	const struct account *a = *(struct account *const *)x;
	const struct account *b = *(struct account *const *)y;

	if ((a->lwpid == 0) != (b->lwpid == 0))
		return a->lwpid == 0 ? 1 : -1;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->lwpid != b->lwpid)
		return a->lwpid < b->lwpid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void
print_head(struct out *o, unsigned columns, bool hosts)
{
	tnf_out_format(o, "%8s%8s%14s", "PID", "LWPID", "TOTAL ms");
	for (unsigned s = 0; s < columns; s++)
		tnf_out_format(o, "%14s", state_name(s));
	out_str(o, hosts ? "  HOST         COMM\n" : "  COMM\n");
}

static void
print_account_host(struct dump *d, const struct account *a)
{
	unsigned n;

	const struct host *list = hosts_list(d, &n);
	if (list == NULL || a->host >= n)
		return;
	size_t len = strlen(list[a->host].name);
	out_lit(&d->out, "  ");
	print_chars(&d->out, list[a->host].name, len);
	if (len < 11)
		tnf_out_pad(&d->out, 11 - (unsigned)len);
}

static void
print_account(const struct report *r, const struct account *a)
{
	struct dump *d = r->d;
	struct out *o = &d->out;

	if (a->lwpid == 0)
		tnf_out_format(o, "%8s%8s", "-", "-");
	else
		tnf_out_format(o, "%8" PRIu64 "%8" PRIu32, (uint64_t)a->pid, a->lwpid);
	tnf_out_ms(o, a->total, 14);
	for (unsigned s = 0; s < r->columns; s++)
		tnf_out_ms(o, a->ns[s], 14);
	print_account_host(d, a);
	if (a->lwpid == 0)
		tnf_out_format(o, "  0x%" PRIx64, a->tid);
	else if (a->comm[0] != '\0') {
		out_lit(o, "  ");
		print_escaped(o, a->comm, strlen(a->comm));
	} else
		out_lit(o, "  -");
	out_char(o, '\n');
}

static void
print_all(const struct report *r, struct account **all, size_t n)
{
	bool any = false;

	print_head(&r->d->out, r->columns, r->d->hosts != NULL);
	for (size_t i = 0; i < n; i++) {
		any |= all[i]->total > 0;
		if (all[i]->total > 0 && (all[i]->chosen ||
		    (r->all && all[i]->lwpid == 0)))
			print_account(r, all[i]);
	}
	if (!any)
		dump_note(r->d, "--states: no event tells a state of a thread: "
		    "the kernel's thread_state events do");
}

int
states_report_end(struct dump *d)
{
	struct report *r = d->state;
	size_t n = 0;

	states_end(r->states);
	for (size_t i = 0; i < r->n; i++)
		if (r->account[i] != NULL)
			r->account[n++] = r->account[i];
	if (n > 0)
		qsort(r->account, n, sizeof(struct account *), report_states_compare);
	print_all(r, r->account, n);
	while (n > 0)
		free(r->account[--n]);
	free(r->account);
	free(r);
	return 0;
}
