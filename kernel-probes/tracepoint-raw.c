/*
 * tracepoint-raw.c - attaches a tracepoint's probe as a raw tracepoint, whose program gets the
 * arguments of the tracepoint (raw.bpf.c).
 *
 * The kernel skips a hit of other programs of tracepoints while one of them runs on the same
 * CPU, for example in an interrupt, but not of a raw tracepoint.  So we take the raw one, where
 * we know how the members of a record come from the arguments: the record stays the same.
 */
#include "kernel-probes/handle.h"

#define WAKING	"comm=p->comm pid=p->pid prio=p->prio "
#define PACKET	"skbaddr=skb len=skb->len name=skb->dev->name"

/*
 * How the kernel's include/trace/events makes the record.  A kernel whose record has another
 * member, or one of another size, takes the next row of the name; if there is none, it keeps the
 * program that sees the record.  The test kernel-tracepoint compares the members with those of
 * tracefs.
 */
static const struct {
	const char *name, *args;
} records[] = {
	{ "irq.softirq_entry", "vec=vec_nr" },
	{ "irq.softirq_exit", "vec=vec_nr" },
	{ "irq.softirq_raise", "vec=vec_nr" },
	{ "irq.irq_handler_entry", "irq name=action->name" },
	{ "irq.irq_handler_exit", "irq ret" },
	{ "irq.tasklet_entry", "tasklet=t func" },
	{ "irq.tasklet_exit", "tasklet=t func" },
	/* The task's CPU has moved within its structure. */
	{ "sched.sched_waking", WAKING "target_cpu=p->thread_info.cpu" },
	{ "sched.sched_waking", WAKING "target_cpu=p->cpu" },
	{ "sched.sched_wakeup", WAKING "target_cpu=p->thread_info.cpu" },
	{ "sched.sched_wakeup", WAKING "target_cpu=p->cpu" },
	{ "sched.sched_wakeup_new", WAKING "target_cpu=p->thread_info.cpu" },
	{ "sched.sched_wakeup_new", WAKING "target_cpu=p->cpu" },
	{ "sched.sched_migrate_task", WAKING "orig_cpu=p->thread_info.cpu dest_cpu" },
	{ "sched.sched_migrate_task", WAKING "orig_cpu=p->cpu dest_cpu" },
	{ "sched.sched_stat_runtime", "comm=tsk->comm pid=tsk->pid runtime" },
	{ "sched.sched_stat_runtime", "comm=tsk->comm pid=tsk->pid runtime vruntime" },
	{ "timer.hrtimer_expire_entry", "hrtimer now=*now function=hrtimer->function" },
	{ "timer.hrtimer_expire_exit", "hrtimer" },
	{ "timer.hrtimer_cancel", "hrtimer" },
	{ "timer.hrtimer_start", "hrtimer function=hrtimer->function "
	    "expires=hrtimer->node.expires softexpires=hrtimer->_softexpires mode" },
	{ "timer.hrtimer_start", "hrtimer function=hrtimer->function "
	    "expires=hrtimer->node.expires softexpires=hrtimer->_softexpires mode was_armed" },
	{ "timer.timer_expire_exit", "timer" },
	{ "timer.timer_cancel", "timer" },
	{ "rcu.rcu_utilization", "s:address" },
	{ "irq_vectors.local_timer_entry", "vector" },
	{ "irq_vectors.local_timer_exit", "vector" },
	{ "irq_vectors.reschedule_entry", "vector" },
	{ "irq_vectors.reschedule_exit", "vector" },
	{ "irq_vectors.call_function_entry", "vector" },
	{ "irq_vectors.call_function_exit", "vector" },
	{ "irq_vectors.call_function_single_entry", "vector" },
	{ "irq_vectors.call_function_single_exit", "vector" },
	{ "irq_vectors.irq_work_entry", "vector" },
	{ "irq_vectors.irq_work_exit", "vector" },
	{ "net.net_dev_queue", PACKET },
	{ "net.netif_receive_skb", PACKET },
	{ "net.netif_rx", PACKET },
	{ "net.net_dev_xmit", "skbaddr=skb len=skb_len rc name=dev->name" },
	{ "skb.consume_skb", "skbaddr=skb" },
	{ "skb.consume_skb", "skbaddr=skb location" },
	{ "workqueue.workqueue_queue_work", "work function=work->func workqueue=pwq->wq->name "
	    "req_cpu cpu=pwq->pool->cpu" },
	{ "workqueue.workqueue_activate_work", "work function=work->func" },
	{ "workqueue.workqueue_execute_start", "work function=work->func" },
	{ "kmem.kfree", "call_site ptr" },
	{ "kmem.kmem_cache_free", "call_site ptr name=s->name" },
	{ "kmem.kmem_cache_free", "call_site ptr name" },
	{ "lock.contention_begin", "lock_addr=lock flags" },
	{ "lock.contention_end", "lock_addr=lock ret" },
};

/* Finds the member of this name; NULL: none. */
static const struct kp_import_member *
member_of(const struct kp_import *imp, const char *name)
{
	for (unsigned i = 0; i < imp->members; i++)
		if (strcmp(imp->member[i].name, name) == 0)
			return &imp->member[i];
	return NULL;
}

/* The numbers have the same bytes, whatever their types are called. */
static bool
fits(const struct kp_import *imp, const struct kp_raw *raw)
{
	const struct kp_import_member *m;
	unsigned stacks = imp->row.stacks.at != 0 ? 2 : 0;

	for (unsigned i = 0; i < raw->site.n; i++) {
		m = member_of(imp, raw->member[i].name);
		if (m == NULL || kp_defs_scalar(m->type) != kp_defs_scalar(raw->member[i].type) ||
		    (kp_defs_scalar(m->type) == 0 && strcmp(m->type, raw->member[i].type) != 0))
			return false;
	}
	return raw->site.n == imp->members - stacks;
}

int
kp_raw_find(struct kp *kp, const struct kp_import *imp, struct kp_raw *ret)
{
	const char *event = strchr(imp->name, '.') + 1;

	if (imp->spec_size != 0)
		return kp_raw_read(kp, event, imp->spec, false, ret) == 0 ? 0 :
		    kp_fail(kp, -EINVAL, "%s: %s", imp->name, ret->why);
	for (unsigned i = 0; i < sizeof records / sizeof *records; i++)
		if (strcmp(records[i].name, imp->name) == 0 &&
		    kp_raw_read(kp, event, records[i].args, true, ret) == 0 && fits(imp, ret))
			return 0;
	return -ENOTSUP;
}

/* Sets the places of the members in the event. */
static void
place_members(const struct kp_import *imp, struct kp_raw *raw)
{
	const struct kp_import_member *m;

	for (unsigned i = 0; i < raw->site.n; i++)
		if ((m = member_of(imp, raw->member[i].name)) != NULL) {
			raw->site.v[i].at = (__u16)m->at;
			raw->site.v[i].store = (__u16)kp_defs_scalar(m->type);
		}
	if ((m = member_of(imp, KP_UNREAD)) != NULL)
		raw->site.unread_at = m->at;
}

int
kp_raw_attach(struct kp *kp, struct kp_import *imp, struct kp_raw *raw)
{
	const struct kp_raw_probe alone = { imp, raw->args };
	uint64_t cookie = (uint32_t)imp->slot;
	int prog = kp_import_raw_fd((unsigned)imp->slot), link = -1, r;

	place_members(imp, raw);
	if (prog < 0 && (r = kp_import_raw_load(kp, &alone, 1)) == 0)
		prog = kp_import_raw_fd((unsigned)imp->slot);
	if (prog < 0)
		return kp_refused(kp, prog, imp->name);
	if ((r = bpf_map_update_elem(kp->sites_fd, &cookie, &raw->site, BPF_ANY)) == 0)
		link = bpf_raw_tracepoint_open(strchr(imp->name, '.') + 1, prog);
	close(prog);
	if (r < 0 || link < 0)
		return kp_refused(kp, r < 0 ? r : link, imp->name);
	kp_import_operands(imp, &raw->site, true);
	return kp_import_pin(kp, imp, 0, link);
}

/* Loads the programs of all raw tracepoints that are wanted at once.  A failure is not told here:
   kp_raw_attach() tries that probe again, and tells. */
void
kp_raw_prepare(struct kp *kp, bool (*wanted)(const struct kp *, const struct kp_import *))
{
	struct kp_raw_probe probes[KP_RAW_PROGRAMS];
	struct kp_import *imp;
	struct kp_raw raw;
	unsigned n = 0;
	int fd = -1;

	for (unsigned i = 0; i < kp->imports; i++) {
		imp = kp->import[i];
		if (imp->kind != &kp_tracepoint || imp->attached || !wanted(kp, imp) ||
		    kp_import_describe(kp, imp) < 0 || kp_import_load(kp) < 0 || kp_asked_put(kp, imp) < 0 ||
		    (fd = kp_import_raw_fd((unsigned)imp->slot)) >= 0 || kp_raw_find(kp, imp, &raw) < 0) {
			kp_close_fd(&fd);
			continue;
		}
		probes[n++] = (struct kp_raw_probe){ imp, raw.args };
		if (n == KP_RAW_PROGRAMS) {
			kp_import_raw_load(kp, probes, n);
			n = 0;
		}
	}
	if (n > 0)
		kp_import_raw_load(kp, probes, n);
	kp->detail[0] = '\0';
}
