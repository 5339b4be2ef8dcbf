/*
 * why-place.c - the cause that the stack of a sleep tells, and the names of threads.
 */
#include <string.h>

#include "analysis/why-impl.h"
#include "analysis/why-text.h"
#include "common/xalloc.h"

#define FRAMES_MAX	32
#define SPINS_MIN	5u	/* samples ... */
#define AROUND		20000000	/* ns */
#define LOOP_BYTES	64u	/* ... within so little code are a loop */

/* Functions of the kernel by the beginning of their names.  The cause with the highest rank
   wins: a page fault waits for a disk, a lock may be taken on the way to one. */
static const struct {
	const char *function;
	enum why_cause cause;
	unsigned rank;
} tells[] = {
	{ "do_signal_stop", WHY_STOPPED, 9 }, { "ptrace_stop", WHY_STOPPED, 9 },
	{ "do_jobctl_trap", WHY_STOPPED, 9 },
	{ "do_swap_page", WHY_SWAP, 8 }, { "swap_read", WHY_SWAP, 8 },
	{ "swapin_readahead", WHY_SWAP, 8 },
	{ "try_to_free", WHY_RECLAIM, 7 }, { "shrink_", WHY_RECLAIM, 7 },
	{ "throttle_direct_reclaim", WHY_RECLAIM, 7 }, { "reclaim_throttle", WHY_RECLAIM, 7 },
	{ "__alloc_pages_direct", WHY_RECLAIM, 7 }, { "mem_cgroup_handle_over_high", WHY_RECLAIM, 7 },
	{ "try_charge_memcg", WHY_RECLAIM, 7 }, { "balance_dirty_pages", WHY_DISK, 7 },
	{ "mutex_lock", WHY_LOCK, 6 }, { "__mutex_lock", WHY_LOCK, 6 },
	{ "rwsem_down", WHY_LOCK, 6 }, { "down_read", WHY_LOCK, 6 }, { "down_write", WHY_LOCK, 6 },
	{ "__down", WHY_LOCK, 6 }, { "percpu_rwsem", WHY_LOCK, 6 }, { "__rt_mutex", WHY_LOCK, 6 },
	{ "flock_lock", WHY_LOCK, 6 }, { "locks_lock", WHY_LOCK, 6 }, { "fcntl_setlk", WHY_LOCK, 6 },
	{ "filemap_fault", WHY_FILE_FAULT, 5 }, { "__do_fault", WHY_FILE_FAULT, 5 },
	{ "futex_", WHY_FUTEX, 5 }, { "do_futex", WHY_FUTEX, 5 }, { "rt_mutex_slow", WHY_FUTEX, 4 },
	{ "io_cqring_wait", WHY_URING, 5 }, { "io_ring", WHY_URING, 4 },
	{ "io_wq_worker", WHY_WORK, 4 }, { "io_sq_thread", WHY_WORK, 4 },
	{ "io_schedule", WHY_DISK, 4 }, { "folio_wait", WHY_DISK, 4 }, { "submit_bio_wait", WHY_DISK, 4 },
	{ "blk_", WHY_DISK, 4 }, { "blkdev_", WHY_DISK, 4 }, { "wait_on_buffer", WHY_DISK, 4 },
	{ "__wait_on_buffer", WHY_DISK, 4 }, { "jbd2_log_wait", WHY_DISK, 4 },
	{ "jbd2_complete", WHY_DISK, 4 }, { "wait_on_page", WHY_DISK, 4 }, { "rq_qos_wait", WHY_DISK, 4 },
	{ "xlog_", WHY_DISK, 4 }, { "ext4_sync", WHY_DISK, 3 }, { "writeback_", WHY_DISK, 3 },
	{ "pipe_", WHY_PIPE, 5 }, { "anon_pipe_", WHY_PIPE, 5 }, { "fifo_open", WHY_PIPE, 5 },
	{ "wait_for_partner", WHY_PIPE, 5 },
	{ "unix_", WHY_SOCKET, 5 }, { "sk_wait", WHY_SOCKET, 5 }, { "tcp_", WHY_SOCKET, 5 },
	{ "inet_", WHY_SOCKET, 5 }, { "udp_", WHY_SOCKET, 5 }, { "__skb_wait", WHY_SOCKET, 5 },
	{ "__inet", WHY_SOCKET, 5 }, { "sock_", WHY_SOCKET, 3 }, { "netlink_", WHY_SOCKET, 4 },
	{ "ep_poll", WHY_POLL, 5 }, { "do_epoll_wait", WHY_POLL, 5 }, { "do_poll", WHY_POLL, 5 },
	{ "do_sys_poll", WHY_POLL, 5 }, { "do_select", WHY_POLL, 5 }, { "poll_schedule", WHY_POLL, 4 },
	{ "eventfd_read", WHY_POLL, 5 }, { "do_wait", WHY_CHILD, 5 }, { "kernel_wait", WHY_CHILD, 5 },
	{ "do_nanosleep", WHY_TIMER, 5 }, { "hrtimer_nanosleep", WHY_TIMER, 5 },
	{ "common_nsleep", WHY_TIMER, 5 }, { "msleep", WHY_TIMER, 4 },
	{ "worker_thread", WHY_WORK, 3 }, { "kthread_worker", WHY_WORK, 3 }, { "smpboot_", WHY_WORK, 3 },
	{ "kswapd", WHY_WORK, 2 },
};

static void
place_by(struct place *p, const char *name, unsigned *rank)
{
	for (size_t i = 0; i < sizeof(tells) / sizeof(*tells); i++)
		if (tells[i].rank > *rank &&
		    strncmp(name, tells[i].function, strlen(tells[i].function)) == 0) {
			*rank = tells[i].rank;
			p->cause = tells[i].cause;
			p->where = name;
		}
}

static void
place_learn(struct why *w, struct place *p, const struct tnf_event *ev, const uint64_t *pc,
    unsigned n)
{
	const char *name, *first = NULL;
	unsigned rank = 0;

	p->known = true;
	for (unsigned i = 0; i < n && w->source.symbol != NULL; i++) {
		if ((name = w->source.symbol(w->source.arg, ev, pc[i])) == NULL)
			continue;
		if (first == NULL && strstr(name, "schedule") == NULL)
			first = name;
		place_by(p, name, &rank);
	}
	if (p->where == NULL)
		p->where = first;
}

/* The addresses of the event's stack, the innermost first. */
static unsigned
stack_of(const struct tnf_event *ev, uint64_t pc[FRAMES_MAX])
{
	int member = perprobe_member(ev->probe, "stack");
	struct tnf_value v, item;
	unsigned n = 0;

	if (member < 0 || !tnf_event_value(ev, (unsigned)member, &v) || v.null ||
	    v.kind != TNF_K_ARRAY)
		return 0;
	for (unsigned i = 0; i < v.u.r.count && n < FRAMES_MAX; i++)
		if (tnf_value_item(ev->file, &v, i, &item) && item.u.u != 0)
			pc[n++] = item.u.u;
	return n;
}

static struct tnf_event
event_at(const struct thread *t, struct tnf_probe *probe, uint32_t pos, int64_t time)
{
	return (struct tnf_event){ .time = time, .kernel = true, .probe = probe,
	    .file = probe->file, .pos = pos, .pid = t->is.pid, .lwpid = t->is.lwpid,
	    .tid = t->is.tid, .cpu = -1 };
}

struct place
why_place(struct why *w, const struct thread *t, const struct change *c)
{
	static const enum why_cause by_state[] = { [S_TFAULT] = WHY_FILE_FAULT,
	    [S_DFAULT] = WHY_FAULT, [S_KFAULT] = WHY_FAULT, [S_USER_LOCK] = WHY_FUTEX,
	    [S_SLEEP] = WHY_OTHER, [S_STOPPED] = WHY_STOPPED };
	struct place none = { .cause = c->state <= S_STOPPED ? by_state[c->state] : WHY_OTHER };
	const struct block *b = &w->blocks[c->detail];
	uint64_t pc[FRAMES_MAX];
	struct tnf_event ev;
	unsigned n;

	if (c->detail == 0)
		return none;
	ev = event_at(t, b->probe, b->pos, c->time);
	if ((n = stack_of(&ev, pc)) == 0)
		return none;
	struct place *p = tnf_xmap_put(&w->places, pc, n * sizeof(*pc), NULL);
	if (!p->known)
		place_learn(w, p, &ev, pc, n);
	none.where = p->where;
	if (p->cause != WHY_OTHER && c->state != S_STOPPED)
		none.cause = p->cause;
	return none;
}

const char *
why_name(struct why *w, uint32_t id, int64_t time)
{
	const struct thread *t = why_changes_of(w, id);
	struct tnf_event ev = { .time = time, .pid = t->is.pid, .lwpid = t->is.lwpid,
	    .tid = t->is.tid, .file = (struct tnf_file *)(uintptr_t)t->is.file, .cpu = -1,
	    .kernel = true };
	const char *name = NULL;

	if (id != 0 && t->is.file != NULL && w->source.comm != NULL)
		name = w->source.comm(w->source.arg, &ev);
	if (name != NULL)
		return name;
	w->name.p = w->name.base;
	if (t->is.lwpid != 0)
		tnf_out_format(&w->name, "thread %u%c", t->is.lwpid, '\0');
	else
		tnf_out_format(&w->name, "a thread that wrote nothing%c", '\0');
	return w->name.base;
}

/* The first sample of the thread that is not before 'from'. */
static uint32_t
sample_from(const struct thread *t, int64_t from)
{
	uint32_t low = 0, high = t->n_samples;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->samples[middle].time < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The address at which the thread was: of the kernel, or of its program. */
static uint64_t
sample_address(const struct tnf_event *ev)
{
	int user = perprobe_member(ev->probe, "user");
	uint64_t pc[FRAMES_MAX];
	struct tnf_value v, item;

	if (stack_of(ev, pc) > 0)
		return pc[0];
	return user >= 0 && tnf_event_value(ev, (unsigned)user, &v) && !v.null &&
	    v.kind == TNF_K_ARRAY && tnf_value_item(ev->file, &v, 0, &item) ? item.u.u : 0;
}

/* The samples taken in one function. */
struct hot {
	const char *name;
	unsigned n;
	uint64_t low, high;
};

#define HOT_MAX	16u

/* Adds up samples by function; returns how many there are, and *best is the hottest. */
static unsigned
hot_add(struct why *w, const struct thread *t, uint32_t from, uint32_t to, struct hot seen[HOT_MAX],
    struct hot **best)
{
	*best = seen;
	for (uint32_t i = from; i < to; i++) {
		const struct sample *s = &t->samples[i];
		struct tnf_event ev = event_at(t, s->probe, s->pos, s->time);
		uint64_t pc = sample_address(&ev);
		const char *name = pc == 0 || w->source.symbol == NULL ? NULL :
		    w->source.symbol(w->source.arg, &ev, pc);

		for (struct hot *h = seen; name != NULL && h < seen + HOT_MAX; h++)
			if (h->name == NULL || strcmp(h->name, name) == 0) {
				h->name = name;
				h->low = h->n == 0 || pc < h->low ? pc : h->low;
				h->high = pc > h->high ? pc : h->high;
				*best = ++h->n > (*best)->n ? h : *best;
				break;
			}
	}
	return to - from;
}

const char *
why_hot(struct why *w, const struct why_node *n, bool *spins)
{
	const struct thread *t = why_changes_of(w, n->thread);
	uint32_t from = sample_from(t, n->from), to = sample_from(t, n->to);
	struct hot seen[HOT_MAX] = { { .n = 0 } }, around[HOT_MAX] = { { .n = 0 } }, *best, *loop;
	unsigned all = hot_add(w, t, from, to, seen, &best);

	*spins = false;
	if (best->n == 0 || best->n * 2 < all)
		return NULL;
	/* Others may have had the CPU in between: the samples around belong to the same loop. */
	for (unsigned i = 0; i < SPINS_MIN; i++) {
		from -= from > 0 && t->samples[from - 1].time > n->from - AROUND;
		to += to < t->n_samples && t->samples[to].time < n->to + AROUND;
	}
	all = hot_add(w, t, from, to, around, &loop);
	*spins = loop->n >= SPINS_MIN && loop->n * 10 >= all * 8 &&
	    loop->high - loop->low < LOOP_BYTES && strcmp(loop->name, best->name) == 0;
	return best->name;
}
