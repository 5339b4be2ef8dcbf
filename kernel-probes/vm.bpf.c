/*
 * vm.bpf.c - page faults, and what they lead to.
 *
 * The thread's context holds what happens between the beginning of a fault and its end.
 * The hook where faults are counted ends the fault, or the software event for faults;
 * otherwise the next fault does, or the thread's being elsewhere.  Nothing is remembered of
 * a thread that the filter leaves out.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/left-out.bpf.h"

#define VM_SHARED	0x8

static __always_inline void address_fault_write(struct kp_address_fault *e,
    u64 address, u64 error)
{
	e->address = address;
	e->fault_type = error & ERROR_PROTECTION ? KP_F_PROT : KP_F_INVAL;
	e->access = error & ERROR_INSTRUCTION ? KP_S_EXEC :
	    error & ERROR_WRITE ? KP_S_WRITE : KP_S_READ;
}

static __always_inline void fault_begin(struct task_struct *me, u64 ip, u32 kind,
    u64 address, u64 error)
{
	struct context *c = new_context(me);

	if (c == NULL)
		return;
	c->fault = kind;
	c->error = error;
	c->address = address;
	c->ip = ip;
	c->decided = 0;
	c->page = 0;
	c->order = 0;
	c->mapping = 0;
}

static __always_inline void fault_event(void *ctx, struct task_struct *me, u64 address,
    u64 error)
{
	struct kp_address_fault *e;
	struct hit hit;

	if (!probe_is_on(KP_BIT(KP_ADDRESS_FAULT)) ||
	    (e = EVENT_BY(ctx, &hit, me, ADDRESS_FAULT, kp_address_fault)) == NULL)
		return;
	address_fault_write(e, address, error);
	event_end(&hit);
}

static __always_inline void address_event(void *ctx, struct task_struct *me, u32 probe,
    u64 address)
{
	struct kp_address *e;
	struct hit hit;

	if (!probe_is_on(KP_BIT(probe)))
		return;
	e = event_begin(ctx, &hit, me, probe, EVENT_SIZE(kp_address));
	if (e == NULL)
		return;
	e->address = address;
	event_end(&hit);
}

#define USER_FAULT_PROBES (KP_BIT(KP_THREAD_STATE_FAULT) | KP_BIT(KP_ADDRESS_FAULT))
#define STATE_SIZE	EVENT_SIZE(kp_thread_state)
#define ADDRESS_SIZE	EVENT_SIZE(kp_address_fault)

static __always_inline void user_fault_events(void *ctx, struct task_struct *me,
    u64 address, u64 error)
{
	u64 on = state.on & USER_FAULT_PROBES;
	struct kp_thread_state *e;
	struct batch b;
	u32 at = 0;

	if (unlikely(have_stacks(on & KP_BIT(KP_ADDRESS_FAULT)))) {
		fault_event(ctx, me, address, error);
		on &= ~KP_BIT(KP_ADDRESS_FAULT);
	}
	if (on == 0 ||
	    !batch_begin(&b, me, (on & KP_BIT(KP_THREAD_STATE_FAULT) ? STATE_SIZE : 0) +
		(on & KP_BIT(KP_ADDRESS_FAULT) ? ADDRESS_SIZE : 0), STATE_SIZE + ADDRESS_SIZE))
		return;
	if (on & KP_BIT(KP_THREAD_STATE_FAULT)) {
		e = BATCH_EVENT(&b, at, THREAD_STATE_FAULT);
		e->state = error & ERROR_INSTRUCTION ? KP_TFAULT : KP_DFAULT;
		e->pad = 0;
		at = STATE_SIZE;
	}
	if (on & KP_BIT(KP_ADDRESS_FAULT))
		address_fault_write(BATCH_EVENT(&b, at, ADDRESS_FAULT), address, error);
	event_end(&b.hit);
}

SEC("tnf/page_fault_user")
int BPF_PROG(user_fault, unsigned long address, struct pt_regs___kernel *regs,
    unsigned long error)
{
	struct task_struct *me = passing_thread(ctx);

	if (me == NULL)
		return 0;
	fault_begin(me, regs_ip(regs), FAULT_USER, address, fault_error(error));
	user_fault_events(ctx, me, address, fault_error(error));
	return 0;
}

/* With page faults disabled the kernel resolves no fault: the access may fail. */
SEC("tnf/page_fault_kernel")
int BPF_PROG(kernel_fault, unsigned long address, struct pt_regs___kernel *regs,
    unsigned long error)
{
	struct task_struct *me = passing_thread(ctx);
	const struct pt_regs___kernel *user;

	if (me == NULL || me->pagefault_disabled != 0)
		return 0;
	user = (void *)bpf_task_pt_regs(me);
	fault_begin(me, regs_ip(user), FAULT_KERNEL, address, fault_error(error));
	fault_event(ctx, me, address, fault_error(error));
	return 0;
}

#define FAULT_END_PROBES (KP_BIT(KP_THREAD_STATE_RETURN) | \
			 KP_BIT(KP_ANON_ZERO) | KP_BIT(KP_ANON_PRIVATE))
#define PAGE_SIZE_OF	EVENT_SIZE(kp_address)

/* Tells of the page that the fault has made, if any, and where its thread is now. */
static __always_inline int fault_ends(void *ctx, struct task_struct *me, struct context *c)
{
	bool user = c->fault == FAULT_USER;
	u64 on = state.on & FAULT_END_PROBES;
	u32 page = c->page, size = 0, at = 0;
	struct kp_thread_state *e;
	struct kp_address *a;
	struct batch b;

	c->fault = FAULT_NONE;
	c->page = 0;
	if (unlikely(page != 0 && have_stacks(1ull << page))) {
		address_event(ctx, me, page, c->address);
		page = 0;
	}
	if (page != 0 && on >> page & 1)
		size += PAGE_SIZE_OF;
	else
		page = 0;
	if (user && on & KP_BIT(KP_THREAD_STATE_RETURN))
		size += STATE_SIZE;
	else
		user = false;
	if (size == 0 || !batch_begin(&b, me, size, PAGE_SIZE_OF + STATE_SIZE))
		return 0;
	if (page != 0) {
		a = batch_event(&b, at, page);
		a->address = c->address;
		at = PAGE_SIZE_OF;
	}
	if (user) {
		e = BATCH_EVENT(&b, at, THREAD_STATE_RETURN);
		e->state = KP_USER;
		e->pad = 0;
	}
	event_end(&b.hit);
	return 0;
}

/*
 * A fault is counted when it is done, not when it is tried again.  The thread counts
 * no others while it has one: what the kernel does in a fault raises none.
 */
SEC("tnf/count_memcg_events")
int BPF_PROG(fault_counted, void *group, int item)
{
	struct task_struct *me;
	struct context *c;

	if ((u64)item != bpf_core_enum_value(enum vm_event_item, PGFAULT))
		return 0;
	if ((me = passing_thread(ctx)) == NULL)
		return 0;
	c = context_of(me);
	return c == NULL || c->fault == FAULT_NONE ? 0 : fault_ends(ctx, me, c);
}

static __always_inline int fault_done(struct bpf_perf_event_data *ctx)
{
	struct task_struct *me = bpf_get_current_task_btf();
	struct context *c = passes(me) ? context_of(me) : NULL;

	if (c == NULL || c->fault == FAULT_NONE ||
	    (ctx->addr ^ c->address) >> PAGE_SHIFT != 0)
		return 0;
	return fault_ends(NULL, me, c);
}

SEC("perf_event")
int minor_done(struct bpf_perf_event_data *ctx)
{
	return fault_done(ctx);
}

SEC("perf_event")
int major_done(struct bpf_perf_event_data *ctx)
{
	return fault_done(ctx);
}

struct area {			/* what find_area() finds */
	u64 address;
	u64 flags;
	u64 ops;		/* 0: anonymous */
	u64 mapping;
	u64 index;		/* in the file, of the page at 'address' */
};

static long
note_area(struct task_struct *t, struct vm_area_struct *v, struct area *a)
{
	struct file *file = v->vm_file;

	a->flags = v->vm_flags;
	a->ops = (u64)v->vm_ops;
	if (file != NULL) {
		a->mapping = (u64)file->f_mapping;
		a->index = ((a->address - v->vm_start) >> PAGE_SHIFT) + v->vm_pgoff;
	}
	return 0;
}

static __always_inline void find_area(struct task_struct *me, struct area *a)
{
	struct vm_area_struct *v;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma)) {
		bpf_find_vma(me, a->address, note_area, a, 0);
		return;
	}
	v = area_in_tree(me, a->address);
	if (v == NULL)
		return;
	a->flags = BPF_CORE_READ(v, vm_flags);
	a->ops = (u64)BPF_CORE_READ(v, vm_ops);
	a->mapping = (u64)BPF_CORE_READ(v, vm_file, f_mapping);
	a->index = ((a->address - BPF_CORE_READ(v, vm_start)) >> PAGE_SHIFT) +
	    BPF_CORE_READ(v, vm_pgoff);
}

#define WRITES(name)	KP_##name	/* lines.awk finds it */

/* The probe that tells of a page that is not cleared at once, or 0.  To find the area
   is expensive. */
static __always_inline u32 page_kind(struct task_struct *me, const struct context *c,
    u32 order)
{
	struct area a = {};

	if (order == 0 && !(c->error & ERROR_WRITE))
		return 0;
	a.address = c->address;
	find_area(me, &a);
	if (a.ops == 0 && order > 0)
		return WRITES(ANON_ZERO);
	return c->error & ERROR_WRITE && !(a.flags & VM_SHARED) &&
	    (c->error & ERROR_PROTECTION || a.ops != 0) ? WRITES(ANON_PRIVATE) : 0;
}

/*
 * The first movable page that a fault allocates decides: zeroed, it is a new
 * page; else it is the copy of a page that was there, or of a private file's.
 * A large one is cleared later, and never the copy of another: in place of the
 * huge page of zeroes it is new as well.  Page tables are not movable.
 *
 * If a hook sees the end of the fault, it tells of the page: one look at the clock serves
 * both, and a fault that fails has made no page.
 */
SEC("tnf/mm_page_alloc")
int BPF_PROG(page_alloc, struct page *page, unsigned int order, unsigned int gfp)
{
	struct task_struct *me;
	struct context *c;
	u32 probe;

	if (!(gfp & state.gfp_movable))
		return 0;
	if ((me = passing_thread(ctx)) == NULL)
		return 0;
	c = context_of(me);
	if (fault_of(me, c) == FAULT_NONE || c == NULL)
		return 0;
	c->order = order;
	if (c->decided)
		return 0;
	c->decided = 1;
	probe = gfp & state.gfp_zero ? WRITES(ANON_ZERO) : page_kind(me, c, order);
	if (state.fault_ends)
		c->page = probe;
	else if (probe != 0)
		address_event(ctx, me, probe, c->address);
	return 0;
}

/* (__noinline: see README.) */
__noinline int page_event(u32 probe, u64 vnode, u64 offset)
{
	struct kp_page *e;
	struct hit hit;

	e = event_begin(NULL, &hit, bpf_get_current_task_btf(), probe, EVENT_SIZE(kp_page));
	if (e == NULL)
		return 0;
	e->vnode = vnode;
	e->offset = offset;
	event_end(&hit);
	return 0;
}

SEC("tnf/mm_filemap_fault")
int BPF_PROG(file_fault, struct address_space *mapping, unsigned long index)
{
	struct context *c = my_new_context();
	const struct pt_regs___kernel *user;

	if (c == NULL)
		return 0;
	user = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	c->mapping = (u64)mapping;
	c->index = index;
	c->file_ip = regs_ip(user);
	return 0;
}

/* Without mm_filemap_fault we take the page that the fault's address stands for. */
static __always_inline void guess_page(struct context *c)
{
	struct area a = { .address = c->address };

	find_area(bpf_get_current_task_btf(), &a);
	c->mapping = a.mapping;
	c->index = a.index;
}

/* True if the page in the context belongs to the fault that is under way.  A page may be left of an
   earlier fault that found it in the cache; then the thread's user address is another one by
   now. */
static __always_inline bool page_is_missed(struct task_struct *t, struct context *c)
{
	const struct pt_regs___kernel *user = (void *)bpf_task_pt_regs(t);

	if (state.has_filemap_fault)
		return c->mapping != 0 && c->file_ip == regs_ip(user);
	if (!in_my_fault(c))
		return false;
	guess_page(c);
	return true;
}

SEC("tnf/mm_filemap_add_to_page_cache")
int BPF_PROG(cache_add, struct folio *folio)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct context *c = context_of(t);
	struct address_space *mapping;
	u64 first, number = fault_number(t);

	if (c == NULL || c->major == number || !page_is_missed(t, c))
		return 0;
	first = folio_member(folio, true, index);
	mapping = folio_member(folio, true, mapping);
	if (c->mapping == 0 || c->mapping != (u64)mapping ||
	    c->index < first || c->index >= first + folio_pages(folio))
		return 0;
	c->mapping = 0;
	c->major = number;
	if (is_on(KP_BIT(KP_MAJOR_FAULT)))
		page_event(KP_MAJOR_FAULT, (u64)BPF_CORE_READ(mapping, host),
		    c->index << PAGE_SHIFT);
	return 0;
}

/* A large folio leaves in one go; each of its pages is an event. */
SEC("tnf/mm_filemap_delete_from_page_cache")
int BPF_PROG(cache_delete, struct folio *folio)
{
	struct address_space *mapping;
	u64 vnode, offset;
	u32 pages;

	if (!is_on(KP_BIT(KP_PAGE_UNMAP)))
		return 0;
	mapping = folio_member(folio, true, mapping);
	vnode = (u64)BPF_CORE_READ(mapping, host);
	offset = (u64)folio_member(folio, true, index) << PAGE_SHIFT;
	pages = folio_pages(folio);
	for (u32 i = 0; i < 512 && i < pages; i++) {
		page_event(KP_PAGE_UNMAP, vnode, offset);
		offset += 1 << PAGE_SHIFT;
	}
	return 0;
}
