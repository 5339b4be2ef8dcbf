/*
 * vm.bpf.c - page faults, and what they lead to.
 *
 * A fault has a hook where it begins, but none where it ends: what comes in
 * between is told by the thread's context, which the software event for
 * faults, the next fault, or being elsewhere brings to an end.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/states.h"

#define ERROR_PROTECTION	0x01	/* the page was there */
#define ERROR_WRITE		0x02
#define ERROR_INSTRUCTION	0x10

#define VM_SHARED	0x8
#define PAGE_SHIFT	12

static __always_inline void address_fault(u64 address, u64 error)
{
	struct kp_address_fault *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_ADDRESS_FAULT)))
		return;
	e = EVENT(&hit, ADDRESS_FAULT, kp_address_fault);
	if (e == NULL)
		return;
	e->address = address;
	e->fault_type = error & ERROR_PROTECTION ? KP_F_PROT : KP_F_INVAL;
	e->access = error & ERROR_INSTRUCTION ? KP_S_EXEC :
	    error & ERROR_WRITE ? KP_S_WRITE : KP_S_READ;
	event_end(&hit);
}

static __always_inline void fault_begin(u32 kind, u64 address, u64 error)
{
	const struct pt_regs___kernel *user;
	struct context *c = my_new_context();

	if (c == NULL)
		return;
	user = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	c->fault = kind;
	c->error = error;
	c->address = address;
	c->ip = user->ip;
	c->decided = 0;
	c->order = 0;
	c->mapping = 0;
}

static __always_inline void state_event(u32 state_now)
{
	struct kp_thread_state *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_THREAD_STATE_FAULT)))
		return;
	e = EVENT(&hit, THREAD_STATE_FAULT, kp_thread_state);
	if (e == NULL)
		return;
	e->state = state_now;
	e->pad = 0;
	event_end(&hit);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(user_fault, unsigned long address, struct pt_regs___kernel *regs,
    unsigned long error)
{
	fault_begin(FAULT_USER, address, error);
	state_event(error & ERROR_INSTRUCTION ? KP_TFAULT : KP_DFAULT);
	address_fault(address, error);
	return 0;
}

/* With page faults disabled nobody resolves it: an access that may fail. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(kernel_fault, unsigned long address, struct pt_regs___kernel *regs,
    unsigned long error)
{
	if (bpf_get_current_task_btf()->pagefault_disabled != 0)
		return 0;
	fault_begin(FAULT_KERNEL, address, error);
	address_fault(address, error);
	return 0;
}

static __always_inline int fault_done(struct bpf_perf_event_data *ctx)
{
	struct context *c = my_context();
	struct kp_thread_state *e;
	struct hit hit;
	u32 kind;

	if (c == NULL || c->fault == FAULT_NONE ||
	    (ctx->addr ^ c->address) >> PAGE_SHIFT != 0)
		return 0;
	kind = c->fault;
	c->fault = FAULT_NONE;
	if (kind != FAULT_USER || !is_on(KP_BIT(KP_THREAD_STATE_RETURN)))
		return 0;
	e = EVENT(&hit, THREAD_STATE_RETURN, kp_thread_state);
	if (e == NULL)
		return 0;
	e->state = KP_USER;
	e->pad = 0;
	event_end(&hit);
	return 0;
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

struct area {			/* what bpf_find_vma() finds */
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
		a->mapping = (u64)BPF_CORE_READ(file, f_mapping);
		a->index = ((a->address - v->vm_start) >> PAGE_SHIFT) + v->vm_pgoff;
	}
	return 0;
}

static __always_inline void anon_zero(u64 address)
{
	struct kp_address *e;
	struct hit hit;

	if (is_on(KP_BIT(KP_ANON_ZERO)) &&
	    (e = EVENT(&hit, ANON_ZERO, kp_address)) != NULL) {
		e->address = address;
		event_end(&hit);
	}
}

static __always_inline void anon_private(u64 address)
{
	struct kp_address *e;
	struct hit hit;

	if (is_on(KP_BIT(KP_ANON_PRIVATE)) &&
	    (e = EVENT(&hit, ANON_PRIVATE, kp_address)) != NULL) {
		e->address = address;
		event_end(&hit);
	}
}

/*
 * The first movable page that a fault allocates decides: zeroed, it is a new
 * page; else it is the copy of a page that was there, or of a private file's.
 * A large one is cleared later, and never the copy of another: in place of the
 * huge page of zeroes it is new as well.  Page tables are not movable.
 */
SEC("tp_btf/mm_page_alloc")
int BPF_PROG(page_alloc, struct page *page, unsigned int order, unsigned int gfp)
{
	struct context *c = my_context();
	struct area a = {};
	bool present;

	if (c == NULL || !(gfp & state.gfp_movable) || !in_my_fault(c))
		return 0;
	c->order = order;
	if (c->decided)
		return 0;
	c->decided = 1;
	a.address = c->address;
	bpf_find_vma(bpf_get_current_task_btf(), c->address, note_area, &a, 0);
	present = c->error & ERROR_PROTECTION;
	if (gfp & state.gfp_zero || (a.ops == 0 && order > 0))
		anon_zero(c->address);
	else if (c->error & ERROR_WRITE && !(a.flags & VM_SHARED) &&
	    (present || a.ops != 0))
		anon_private(c->address);
	return 0;
}

/* (__noinline: see README.) */
__noinline int page_event(u32 probe, u64 vnode, u64 offset)
{
	struct kp_page *e;
	struct hit hit;

	e = event_begin(&hit, probe, EVENT_SIZE(kp_page), EVENT_SIZE(kp_page));
	if (e == NULL)
		return 0;
	e->vnode = vnode;
	e->offset = offset;
	event_end(&hit);
	return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(file_fault, struct address_space *mapping, unsigned long index)
{
	struct context *c = my_new_context();
	const struct pt_regs___kernel *user;

	if (c == NULL)
		return 0;
	user = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	c->mapping = (u64)mapping;
	c->index = index;
	c->file_ip = user->ip;
	return 0;
}

/* Without mm_filemap_fault: the page that the fault's address stands for. */
static __always_inline void guess_page(struct context *c)
{
	struct area a = { .address = c->address };

	bpf_find_vma(bpf_get_current_task_btf(), c->address, note_area, &a, 0);
	c->mapping = a.mapping;
	c->index = a.index;
}

/* Is the page that the context tells of still the one that a fault wants?  One
   that was found leaves it behind; but then the thread is elsewhere. */
static __always_inline bool page_is_missed(struct task_struct *t, struct context *c)
{
	const struct pt_regs___kernel *user = (void *)bpf_task_pt_regs(t);

	if (state.has_filemap_fault)
		return c->mapping != 0 && c->file_ip == user->ip;
	if (!in_my_fault(c))
		return false;
	guess_page(c);
	return true;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(cache_add, struct folio *folio)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct context *c = context_of(t);
	u64 first, number = fault_number(t);

	if (c == NULL || c->major == number || !page_is_missed(t, c))
		return 0;
	first = folio->index;
	if (c->mapping == 0 || c->mapping != (u64)folio->mapping ||
	    c->index < first || c->index >= first + folio_pages(folio))
		return 0;
	c->mapping = 0;
	c->major = number;
	if (is_on(KP_BIT(KP_MAJOR_FAULT)))
		page_event(KP_MAJOR_FAULT, (u64)BPF_CORE_READ(folio, mapping, host),
		    c->index << PAGE_SHIFT);
	return 0;
}

/* A large folio leaves in one go; each of its pages is an event. */
SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(cache_delete, struct folio *folio)
{
	u64 vnode, offset;
	u32 pages;

	if (!is_on(KP_BIT(KP_PAGE_UNMAP)))
		return 0;
	vnode = (u64)BPF_CORE_READ(folio, mapping, host);
	offset = folio->index << PAGE_SHIFT;
	pages = folio_pages(folio);
	for (u32 i = 0; i < 512 && i < pages; i++) {
		page_event(KP_PAGE_UNMAP, vnode, offset);
		offset += 1 << PAGE_SHIFT;
	}
	return 0;
}
