/*
 * swap.bpf.c - the kernel looks for pages to free, and swaps pages out and in.
 */
#include "kernel-probes/context.bpf.h"

#define NODES_MAX	16
#define ZONES_MAX	6
#define THREADS_MAX	64	/* of a process, among which stack_owner() looks */
#define VM_GROWSDOWN	0x100

struct {			/* struct pglist_data of each node */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NODES_MAX);
	__type(key, u32);
	__type(value, u64);
} nodes SEC(".maps");

struct swapped {
	s32 pid;
	u32 count;
};

struct {			/* by mm: pages that the current scans swapped out */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct swapped);
} swapped SEC(".maps");

/* The node that each kswapd works for is the argument of its thread. */
SEC("tnf/task")
int find_nodes(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	u64 node;
	u32 n;

	if (t == NULL || !(t->flags & PF_KSWAPD) || !(t->flags & PF_KTHREAD))
		return 0;
	node = (u64)BPF_CORE_READ(task_kthread(t), data);
	if (node == 0)
		return 0;
	n = BPF_CORE_READ((struct pglist_data *)node, node_id);
	bpf_map_update_elem(&nodes, &n, &node, BPF_ANY);
	return 0;
}

/* Returns the free pages of a node's zones or, if 'needed', the pages that should be free (high
   watermarks).  The size of struct zone depends on the kernel, and the compiler does not relocate
   the step of an array: so we compute each zone's address. */
__noinline u64 node_pages(u64 node, u32 needed)
{
	u64 sum = 0, size = bpf_core_type_size(struct zone);
	u64 first = node + bpf_core_field_offset(struct pglist_data, node_zones);
	u32 zones = BPF_CORE_READ((struct pglist_data *)node, nr_zones);
	u32 high = bpf_core_enum_value(enum zone_watermarks, WMARK_HIGH);
	u32 nfree = bpf_core_enum_value(enum zone_stat_item, NR_FREE_PAGES);
	unsigned long v;

	for (u32 i = 0; i < ZONES_MAX && i < zones; i++) {
		struct zone *z = (void *)(first + i * size);
		u64 at = needed ?
		    bpf_core_field_offset(struct zone, _watermark) + high * 8 :
		    bpf_core_field_offset(struct zone, vm_stat) + nfree * 8;

		v = 0;
		bpf_probe_read_kernel(&v, sizeof v, (void *)z + at);
		sum += v;
		if (needed && bpf_core_field_exists(z->watermark_boost))
			sum += BPF_CORE_READ(z, watermark_boost);
	}
	return sum;
}

__noinline u64 all_pages(u32 needed)
{
	u64 sum = 0, *node;

	for (u32 i = 0; i < NODES_MAX; i++) {
		u32 n = i;

		node = bpf_map_lookup_elem(&nodes, &n);
		if (node != NULL && *node != 0)
			sum += node_pages(*node, needed);
	}
	return sum;
}

static __always_inline int scan_begin(void)
{
	struct context *c = my_new_context();
	struct kp_pair *e;
	struct hit hit;

	if (c == NULL)
		return 0;
	c->reclaim = 1;
	c->scanned = 0;
	if (is_on(KP_BIT(KP_PAGEOUT_SCAN_START)) &&
	    (e = EVENT(NULL, &hit, PAGEOUT_SCAN_START, kp_pair)) != NULL) {
		e->first = all_pages(false);
		e->second = all_pages(true);
		event_end(&hit);
	}
	return 0;
}

static long
report_swapped(struct bpf_map *map, u64 *mm, struct swapped *s, void *unused)
{
	struct kp_swapout_process *e;
	struct hit hit;
	s32 pid = s->pid;
	u32 count = s->count;

	bpf_map_delete_elem(map, mm);
	if (count == 0 || !is_on_about(KP_BIT(KP_SWAPOUT_PROCESS), pid))
		return 0;
	e = EVENT(NULL, &hit, SWAPOUT_PROCESS, kp_swapout_process);
	if (e == NULL)
		return 0;
	e->pid = pid;
	e->pad = 0;
	e->page_count = count;
	event_end(&hit);
	return 0;
}

static __always_inline int scan_end(void)
{
	struct context *c = my_context();
	struct kp_pair *e;
	struct hit hit;

	if (c == NULL || !c->reclaim)
		return 0;
	c->reclaim = 0;
	if (is_on(KP_BIT(KP_PAGEOUT_SCAN_END)) &&
	    (e = EVENT(NULL, &hit, PAGEOUT_SCAN_END, kp_pair)) != NULL) {
		e->first = c->scanned;
		e->second = all_pages(false);
		event_end(&hit);
	}
	bpf_for_each_map_elem(&swapped, report_swapped, NULL, 0);
	return 0;
}

/* Ends the previous scan of this kswapd, which may begin another without sleeping in between. */
SEC("tnf/mm_vmscan_kswapd_wake")
int BPF_PROG(kswapd_wake)
{
	scan_end();
	return scan_begin();
}

SEC("tnf/mm_vmscan_kswapd_sleep")
int BPF_PROG(kswapd_sleep)
{
	return scan_end();
}

SEC("tnf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(direct_begin)
{
	return scan_begin();
}

SEC("tnf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(direct_end)
{
	return scan_end();
}

SEC("tnf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(memcg_begin)
{
	return scan_begin();
}

SEC("tnf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(memcg_end)
{
	return scan_end();
}

SEC("raw_tp/mm_vmscan_lru_isolate")
int lru_isolate(struct bpf_raw_tracepoint_args *ctx)
{
	struct context *c = my_context();

	if (c != NULL && c->reclaim)
		c->scanned += ctx->args[3];
	return 0;
}

static __always_inline void swapped_out(struct mm_struct *mm)
{
	struct swapped *s, new = { .count = 1 };
	u64 key = (u64)mm;
	struct task_struct *owner;

	s = bpf_map_lookup_elem(&swapped, &key);
	if (s != NULL) {
		__sync_fetch_and_add(&s->count, 1);
		return;
	}
	if (bpf_core_field_exists(mm->owner)) {
		owner = mm->owner;
		if (owner != NULL)
			new.pid = BPF_CORE_READ(owner, tgid);
	}
	bpf_map_update_elem(&swapped, &key, &new, BPF_ANY);
}

static __always_inline void swapped_in(struct task_struct *t, u32 pages)
{
	struct kp_swap_lwp *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_SWAPIN_LWP)))
		return;
	e = EVENT(NULL, &hit, SWAPIN_LWP, kp_swap_lwp);
	if (e == NULL)
		return;
	e->pid = t->tgid;
	e->lwpid = t->pid;
	e->tid = (u64)t;
	e->page_count = pages;
	event_end(&hit);
}

/* Called when the kernel changes the count of a process's pages in swap.  A thread that reclaims memory has swapped a page
   out; a thread in a page fault of its own has swapped pages in. */
SEC("tnf/rss_stat")
int BPF_PROG(swap_count, struct mm_struct *mm, int member)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct context *c;
	u32 late;

	if (member != MM_SWAPENTS)
		return 0;
	c = context_of(t);
	if ((c != NULL && c->reclaim) || t->flags & (PF_KSWAPD | PF_MEMALLOC))
		swapped_out(mm);
	else if (mm == t->mm && counts_late()) {
		if ((late = swapped_in_late(t)) != 0)
			swapped_in(t, late);
	} else if (mm == t->mm && in_my_fault(c))
		swapped_in(t, 1u << (c->order & 15));
	return 0;
}

/* Returns the thread of a process whose user stack pointer is between 'from' and 'to', or NULL. */
static __always_inline struct task_struct *stack_owner(struct task_struct *leader,
    u64 from, u64 to)
{
	struct signal_struct *sig = BPF_CORE_READ(leader, signal);
	u64 head = (u64)sig + bpf_core_field_offset(struct signal_struct, thread_head);
	u64 link = (u64)BPF_CORE_READ(sig, thread_head.next), sp, regs;
	struct task_struct *t;

	for (int i = 0; i < THREADS_MAX && link != head && link != 0; i++) {
		t = (void *)(link - bpf_core_field_offset(struct task_struct, thread_node));
		regs = (u64)BPF_CORE_READ(t, stack) + KERNEL_STACK_SIZE -
		    bpf_core_type_size(struct pt_regs___kernel);
		sp = BPF_CORE_READ((struct pt_regs___kernel *)regs, REGS_SP);
		if (sp >= from && sp < to)
			return t;
		link = (u64)BPF_CORE_READ(t, thread_node.next);
	}
	return NULL;
}

static __always_inline void swapout_lwp(struct task_struct *t, u32 pages)
{
	struct kp_swap_lwp *e;
	struct hit hit;
	s32 pid = BPF_CORE_READ(t, tgid);

	if (!is_on_about(KP_BIT(KP_SWAPOUT_LWP), pid))
		return;
	e = EVENT(NULL, &hit, SWAPOUT_LWP, kp_swap_lwp);
	if (e == NULL)
		return;
	e->pid = pid;
	e->lwpid = BPF_CORE_READ(t, pid);
	e->tid = (u64)t;
	e->page_count = pages;
	event_end(&hit);
}

/* If a page that is swapped out belongs to a thread's stack, records the event for this thread.
   The areas that map the page are a tree, of which only the root is looked at: the thread's
   stack must lie in that. */
static __always_inline int stack_written(struct folio *folio)
{
	u64 mapping = (u64)folio_member(folio, false, mapping), from, to, at;
	struct task_struct *owner, *t;
	struct vm_area_struct *v;
	struct rb_node *node;
	u64 chain;

	if ((mapping & 3) != 1 || !probe_is_on(KP_BIT(KP_SWAPOUT_LWP)))
		return 0;	/* not anonymous memory, or the probe is off */
	node = BPF_CORE_READ((struct anon_vma *)(mapping & ~3ull), rb_root.rb_root.rb_node);
	if (node == NULL)
		return 0;
	chain = (u64)node - bpf_core_field_offset(struct anon_vma_chain, rb);
	v = BPF_CORE_READ((struct anon_vma_chain *)chain, vma);
	from = BPF_CORE_READ(v, vm_start);
	to = BPF_CORE_READ(v, vm_end);
	at = from + ((folio_member(folio, false, index) - BPF_CORE_READ(v, vm_pgoff)) << PAGE_SHIFT);
	if (!bpf_core_field_exists(v->vm_mm->owner))
		return 0;
	owner = BPF_CORE_READ(v, vm_mm, owner);
	if (owner == NULL || at < from || at >= to)
		return 0;
	t = BPF_CORE_READ(v, vm_flags) & VM_GROWSDOWN ? owner :
	    stack_owner(owner, from, to);
	if (t != NULL)
		swapout_lwp(t, folio_pages(folio));
	return 0;
}

SEC("raw_tp/mm_vmscan_write_folio")
int swap_write(struct bpf_raw_tracepoint_args *ctx)
{
	return stack_written((struct folio *)ctx->args[0]);
}

/* The same hook, by its name before 5.19. */
SEC("raw_tp/mm_vmscan_writepage")
int swap_write_page(struct bpf_raw_tracepoint_args *ctx)
{
	return stack_written((struct folio *)ctx->args[0]);
}
