/*
 * why-place.c - what a thread slept for: the stack at which it fell asleep tells the cause, its
 * block request tells the disk.
 */
#include <ctype.h>
#include <stdio.h>

#include "analysis/why-impl.h"

/* Functions of the kernel; '*' stands for the rest of a name, and what a compiler appends after
   a point never counts.  A stack may have functions of several causes, as of a
   page fault that waits for a disk: the highest rank wins. */
static const struct {
	const char *function;
	enum why_cause cause;
	unsigned rank;
} tells[] = {
	{ "do_signal_stop", WHY_STOPPED, 9 }, { "ptrace_stop", WHY_TRACED, 10 },
	{ "do_freezer_trap", WHY_FROZEN, 10 }, { "__refrigerator", WHY_FROZEN, 10 },
	{ "do_swap_page", WHY_SWAP, 8 }, { "swap_read*", WHY_SWAP, 8 },
	{ "swapin_readahead", WHY_SWAP, 8 },
	{ "try_to_free_*", WHY_RECLAIM, 7 }, { "shrink_*", WHY_RECLAIM, 7 },
	{ "throttle_direct_reclaim", WHY_RECLAIM, 7 }, { "reclaim_throttle", WHY_RECLAIM, 7 },
	{ "__alloc_pages_direct*", WHY_RECLAIM, 7 },
	{ "mem_cgroup_handle_over_high", WHY_RECLAIM, 7 },
	{ "__mem_cgroup_handle_over_high", WHY_RECLAIM, 7 },
	{ "mem_cgroup_oom*", WHY_RECLAIM, 7 }, { "try_charge_memcg", WHY_RECLAIM, 7 },
	{ "balance_dirty_pages*", WHY_DIRTY, 7 },
	{ "mutex_lock*", WHY_LOCK, 6 }, { "__mutex_lock*", WHY_LOCK, 6 },
	{ "rwsem_down_*", WHY_LOCK, 6 }, { "down_read*", WHY_LOCK, 6 },
	{ "down_write*", WHY_LOCK, 6 }, { "__down*", WHY_LOCK, 6 },
	{ "percpu_rwsem*", WHY_LOCK, 6 }, { "__rt_mutex*", WHY_LOCK, 6 },
	{ "flock_lock*", WHY_LOCK, 6 }, { "locks_lock*", WHY_LOCK, 6 },
	{ "fcntl_setlk*", WHY_LOCK, 6 },
	{ "filemap_fault", WHY_FILE_FAULT, 5 }, { "__do_fault", WHY_FILE_FAULT, 5 },
	{ "handle_userfault", WHY_FAULT, 5 },
	{ "request_wait_answer", WHY_FUSE, 6 }, { "fuse_wait_on_folio_writeback", WHY_FUSE, 6 },
	{ "rpc_wait_bit_killable", WHY_NETFS, 6 }, { "nfs_*", WHY_NETFS, 5 },
	{ "cifs_*", WHY_NETFS, 5 }, { "smb2_*", WHY_NETFS, 5 }, { "ceph_*", WHY_NETFS, 5 },
	{ "p9_client_rpc", WHY_NETFS, 5 },
	{ "futex_*", WHY_FUTEX, 5 }, { "do_futex", WHY_FUTEX, 5 },
	{ "rt_mutex_slow*", WHY_FUTEX, 4 },
	{ "io_cqring_wait*", WHY_URING, 5 }, { "io_ring*", WHY_URING, 4 },
	{ "io_wq_worker", WHY_WORK, 4 }, { "io_sq_thread", WHY_WORK, 4 },
	{ "io_schedule*", WHY_DISK, 4 }, { "folio_wait_*", WHY_DISK, 4 },
	{ "submit_bio_wait", WHY_DISK, 4 }, { "blk_*", WHY_DISK, 4 }, { "blkdev_*", WHY_DISK, 4 },
	{ "wait_on_buffer", WHY_DISK, 4 }, { "__wait_on_buffer", WHY_DISK, 4 },
	{ "jbd2_log_wait*", WHY_DISK, 4 }, { "jbd2_complete*", WHY_DISK, 4 },
	{ "wait_transaction_locked", WHY_DISK, 4 }, { "add_transaction_credits", WHY_DISK, 4 },
	{ "wait_on_page*", WHY_DISK, 4 }, { "rq_qos_wait", WHY_DISK, 4 },
	{ "read_events", WHY_DISK, 4 }, { "xlog_*", WHY_DISK, 4 }, { "ext4_sync*", WHY_DISK, 3 },
	{ "writeback_*", WHY_DISK, 3 },
	{ "pipe_*", WHY_PIPE, 5 }, { "anon_pipe_*", WHY_PIPE, 5 }, { "fifo_pipe_*", WHY_PIPE, 5 },
	{ "fifo_open", WHY_PIPE, 5 }, { "wait_for_partner", WHY_PIPE, 5 },
	{ "unix_*", WHY_SOCKET, 5 }, { "sk_wait*", WHY_SOCKET, 5 }, { "sk_stream_wait*", WHY_SOCKET, 5 },
	{ "tcp_*", WHY_SOCKET, 5 }, { "inet_*", WHY_SOCKET, 5 }, { "__inet_*", WHY_SOCKET, 5 },
	{ "udp_*", WHY_SOCKET, 5 }, { "__skb_wait*", WHY_SOCKET, 5 }, { "vsock_*", WHY_SOCKET, 5 },
	{ "sctp_*", WHY_SOCKET, 5 }, { "sock_*", WHY_SOCKET, 3 }, { "netlink_*", WHY_SOCKET, 4 },
	{ "tun_do_read", WHY_SOCKET, 4 },
	{ "ep_poll", WHY_POLL, 5 }, { "do_epoll_wait", WHY_POLL, 5 }, { "do_poll", WHY_POLL, 5 },
	{ "do_sys_poll", WHY_POLL, 5 }, { "do_select", WHY_POLL, 5 },
	{ "poll_schedule_timeout", WHY_POLL, 4 }, { "eventfd_read", WHY_POLL, 5 },
	{ "inotify_read", WHY_POLL, 5 }, { "fanotify_read", WHY_POLL, 5 },
	{ "do_wait", WHY_CHILD, 5 }, { "__do_wait", WHY_CHILD, 5 }, { "kernel_wait*", WHY_CHILD, 5 },
	{ "kernel_clone", WHY_CHILD, 1 },	/* vfork */
	{ "do_sigtimedwait", WHY_SIGNAL, 5 }, { "sigsuspend", WHY_SIGNAL, 5 },
	{ "__do_sys_pause", WHY_SIGNAL, 5 }, { "signalfd_*", WHY_SIGNAL, 5 },
	{ "wq_sleep", WHY_IPC, 5 }, { "do_msgrcv", WHY_IPC, 5 }, { "do_msgsnd", WHY_IPC, 5 },
	{ "__do_semtimedop", WHY_IPC, 5 }, { "do_semtimedop", WHY_IPC, 5 },
	{ "n_tty_*", WHY_TTY, 5 }, { "tty_*", WHY_TTY, 4 },
	{ "do_nanosleep", WHY_TIMER, 5 }, { "hrtimer_nanosleep", WHY_TIMER, 5 },
	{ "common_nsleep*", WHY_TIMER, 5 }, { "msleep*", WHY_TIMER, 4 },
	{ "timerfd_read*", WHY_TIMER, 5 },
	{ "synchronize_rcu*", WHY_RCU, 4 }, { "__wait_rcu_gp", WHY_RCU, 4 },
	{ "worker_thread", WHY_WORK, 3 }, { "kthread_worker*", WHY_WORK, 3 },
	{ "smpboot_*", WHY_WORK, 3 }, { "kswapd", WHY_WORK, 2 },
};

static bool
is_function(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	if (wanted[n - 1] == '*')
		return strncmp(name, wanted, n - 1) == 0;
	return strncmp(name, wanted, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

static void
place_by(struct place *p, const char *name, unsigned *rank)
{
	for (size_t i = 0; i < sizeof(tells) / sizeof(*tells); i++)
		if (tells[i].rank > *rank && is_function(name, tells[i].function)) {
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

unsigned
why_stack(const struct tnf_event *ev, uint64_t pc[WHY_FRAMES])
{
	int member = perprobe_member(ev->probe, "stack");
	struct tnf_value v, item;
	unsigned n = 0;

	if (member < 0 || !tnf_event_value(ev, (unsigned)member, &v) || v.null ||
	    v.kind != TNF_K_ARRAY)
		return 0;
	for (unsigned i = 0; i < v.u.r.count && n < WHY_FRAMES; i++)
		if (tnf_value_item(ev->file, &v, i, &item) && item.u.u != 0)
			pc[n++] = item.u.u;
	return n;
}

struct tnf_event
why_event_at(const struct thread *t, struct tnf_probe *probe, uint32_t pos, int64_t time)
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
	const struct sleep_event *b = &w->sleeps[c->detail];
	uint64_t pc[WHY_FRAMES];
	struct tnf_event ev;
	unsigned n;

	if (c->detail == 0)
		return none;
	ev = why_event_at(t, b->probe, b->pos, c->time);
	if ((n = why_stack(&ev, pc)) == 0)
		return none;
	struct place *p = tnf_xmap_put(&w->places, pc, n * sizeof(*pc), NULL);
	if (!p->known)
		place_learn(w, p, &ev, pc, n);
	none.where = p->where;
	if (p->cause != WHY_OTHER && (c->state != S_STOPPED || why_is_stop(p->cause)))
		none.cause = p->cause;
	return none;
}

uint64_t
why_reason(struct why *w, const struct thread *t, const struct change *c)
{
	const struct sleep_event *b = &w->sleeps[c->detail];
	struct tnf_event ev;
	struct tnf_value v;
	int member;

	if (c->detail == 0 || (member = perprobe_member(b->probe, "reason")) < 0)
		return 0;
	ev = why_event_at(t, b->probe, b->pos, c->time);
	return tnf_event_value(&ev, (unsigned)member, &v) && !v.null ? v.u.u : 0;
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
		tnf_out_format(&w->name, "thread %u", t->is.lwpid);
	else
		out_lit(&w->name, "a thread that wrote nothing");
	out_char(&w->name, '\0');
	return w->name.base;
}

/* why_ahead() looks at so many requests before the node's. */
#define LOOK_BACK	2048u
#define SAME_MOMENT	1000	/* ns: layers of one request begin within so short a time */

const struct why_request *
why_request(const struct why *w, const struct why_node *n)
{
	return n->request == 0 || n->request > w->n_requests ? NULL : &w->requests[n->request - 1];
}

/* The disk without the number of a partition: vda of vda1, nvme0n1 of nvme0n1p2. */
static const char *
disk_of(struct why *w, const struct why_request *r, char disk[32])
{
	const char *name = w->source.device == NULL ? NULL :
	    w->source.device(w->source.arg, r->file, r->device);
	size_t n;

	if (name == NULL) {
		snprintf(disk, 32, "%llu:%llu", (unsigned long long)(r->device >> 20),
		    (unsigned long long)(r->device & 0xfffff));
		return disk;
	}
	n = (size_t)snprintf(disk, 32, "%.31s", name);
	if (n > 31)
		n = 31;
	size_t end = n;
	while (n > 0 && isdigit((unsigned char)disk[n - 1]))
		n--;
	if (n > 1 && n < end && disk[n - 1] == 'p' && isdigit((unsigned char)disk[n - 2]))
		disk[n - 1] = '\0';
	else if (n > 2 && (disk[0] == 's' || disk[0] == 'v' || disk[0] == 'h') && disk[1] != 'r')
		disk[n] = '\0';
	return disk;
}

const char *
why_disk(struct why *w, const struct why_node *n)
{
	const struct why_request *r = why_request(w, n);

	return r != NULL ? disk_of(w, r, w->disk) : NULL;
}

/* Sets latest_end of each request: the latest end among it and all earlier ones. */
static void
note_ends(struct why *w)
{
	int64_t latest = w->n_latest > 0 ? w->requests[w->n_latest - 1].latest_end : INT64_MIN;

	for (; w->n_latest < w->n_requests; w->n_latest++) {
		struct why_request *r = &w->requests[w->n_latest];

		if (r->end != INT64_MAX && r->end > latest)
			latest = r->end;
		r->latest_end = latest;
	}
}

int64_t
why_held_back(struct why *w, const struct why_node *n)
{
	const struct why_request *r = why_request(w, n);

	/* The request was held back if another thread, a worker of the kernel that lets requests go
	   on, began it when most of the sleep was over.  A thread that submits its own request
	   sleeps afterwards. */
	return r == NULL || r->thread == n->thread || r->start < n->from + (n->to - n->from) / 2 ? 0 :
	    r->start - n->from;
}

unsigned
why_ahead(struct why *w, const struct why_node *n, uint32_t *most)
{
	const struct why_request *r = why_request(w, n);
	struct { uint32_t thread; unsigned n; } by[8] = { { 0, 0 } };
	char mine[32], other[32];
	unsigned ahead = 0, best = 0;

	*most = 0;
	if (r == NULL)
		return 0;
	note_ends(w);
	disk_of(w, r, mine);
	for (uint32_t i = n->request - 1, seen = 0; i-- > 0 && seen < LOOK_BACK; seen++) {
		const struct why_request *a = &w->requests[i];

		if (a->latest_end <= r->start || a->latest_end <= n->from)
			break;
		/* A request counts that was there before ours, and not yet ended; one of the same
		   moment is a layer of ours. */
		if (a->end == INT64_MAX || a->end <= r->start || a->end <= n->from || a->start + SAME_MOMENT >= r->start ||
		    (a->device != r->device && strcmp(disk_of(w, a, other), mine) != 0))
			continue;
		ahead++;
		for (unsigned k = 0; k < 8; k++)
			if (by[k].n == 0 || by[k].thread == a->thread) {
				by[k].thread = a->thread;
				if (++by[k].n > by[best].n)
					best = k;
				break;
			}
	}
	*most = by[best].n > 0 ? by[best].thread : 0;
	return ahead;
}

/* The change with which the thread runs again, or the last one. */
static const struct change *
runs_again(const struct thread *t, uint32_t i)
{
	while (i + 1 < t->n && t->changes[i].state == S_WAIT_CPU)
		i++;
	return &t->changes[i];
}

static void
sleeps_of(struct why *w, uint32_t id, why_sleep_fn *fn, void *arg)
{
	const struct thread *t = &w->threads[id];

	for (uint32_t i = 0; i + 1 < t->n; i++) {
		const struct change *c = &t->changes[i], *wake = c + 1;
		struct place p;

		if (!c->asleep)
			continue;
		p = why_place(w, t, c);
		struct why_sleep s = { .thread = id, .cause = p.cause, .where = p.where,
		    .from = c->time, .woken = wake->time, .runs = runs_again(t, i + 1)->time,
		    .owner = w->sleeps[c->detail].owner };
		if (wake->state == S_WAIT_CPU) {
			s.by = wake->by;
			s.waker = wake->waker;
		}
		fn(arg, &s);
	}
}

void
why_sleeps(struct why *w, why_sleep_fn *fn, void *arg)
{
	for (uint32_t id = 1; id < w->n_threads; id++)
		sleeps_of(w, id, fn, arg);
}
