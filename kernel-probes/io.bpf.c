/*
 * io.bpf.c - block requests, and the pages in them.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/interrupt.bpf.h"
#include "kernel-probes/waits.bpf.h"

#define PAGE_SIZE	(1u << PAGE_SHIFT)
#define PIECES_MAX	256	/* BIO_MAX_VECS: what the kernel puts into a bio */
#define BIOS_MAX	65536	/* of a completed request; what is left is counted */

#define REQ_OP_MASK	0xff
#define REQ_OP_READ	0
#define REQ_OP_WRITE	1
#define REQ_OP_ZONE_APPEND 7

#define has_request_flag(opf, name) \
	((opf) >> bpf_core_enum_value(enum req_flag_bits, name) & 1)

struct io {			/* a request under way */
	u64 block;
	u64 vnode;		/* of the pages that it writes, or 0 */
	u32 device;
	u32 left;		/* bytes to go */
	u32 pages;
	u32 reclaim;		/* of these, to be freed when written */
};

/* By address of the bio.  It is no LRU map, which would drop requests under way without
   telling. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct io);
} ios SEC(".maps");

static long
forget_request(struct bpf_map *map, u64 *bio, struct io *io, void *unused)
{
	bpf_map_delete_elem(map, bio);
	return 0;
}

/* Runs before the hooks are attached: no program has seen the end of requests that were
   under way when the hooks were detached, and the addresses are used again. */
SEC("tnf/task")
int forget_requests(struct bpf_iter__task *ctx)
{
	if (ctx->meta->seq_num == 0)
		bpf_for_each_map_elem(&ios, forget_request, NULL, 0);
	return 0;
}

struct page_info {
	u64 mapping;
	u64 index;
	u64 flags;
};

static __always_inline void page_info(struct page *page, struct page_info *p)
{
	u64 head = BPF_CORE_READ(page, compound_head);
	struct folio *folio = (void *)(head & 1 ? head - 1 : (u64)page);

	p->mapping = (u64)folio_member(folio, false, mapping);
	p->index = folio_member(folio, false, index) +
	    ((u64)page - (u64)folio) / bpf_core_type_size(struct page);
	p->flags = folio_flags(folio);
}

/* Pages of one piece of a write that the reclaim scan waits for.  (__noinline:
   see README.) */
__noinline u32 reclaim_part(u64 vec, u32 done)
{
	struct page_info p;
	struct bio_vec v;

	bpf_probe_read_kernel(&v, sizeof v, (void *)vec);
	page_info(v.bv_page, &p);
	/* Without writeback the same bit means read-ahead. */
	if (!has_flag(p.flags, PG_reclaim) ||
	    (done ? has_flag(p.flags, PG_active) : !has_flag(p.flags, PG_writeback)))
		return 0;
	return (v.bv_len + PAGE_SIZE - 1) / PAGE_SIZE;
}

__noinline u32 reclaim_pages(u64 at, u32 done)
{
	struct bio *bio = (void *)at;
	u32 n = 0, count = BPF_CORE_READ(bio, bi_vcnt);
	u64 vec = (u64)BPF_CORE_READ(bio, bi_io_vec);

	for (u32 i = 0; i < PIECES_MAX && i < count; i++)
		n += reclaim_part(vec + i * sizeof(struct bio_vec), done);
	return n;
}

static __always_inline s32 bio_flags(u32 opf, bool paging, bool raw)
{
	u32 op = opf & REQ_OP_MASK;
	s32 flags = KP_B_BUSY;

	/* Neither: no data is moved, as when blocks are discarded or zeroed. */
	if (op == REQ_OP_READ)
		flags |= KP_B_READ;
	else if (op == REQ_OP_WRITE || op == REQ_OP_ZONE_APPEND)
		flags |= KP_B_WRITE;
	/* Some thread waits for every read except read-ahead. */
	if ((op != REQ_OP_READ && !has_request_flag(opf, __REQ_SYNC)) ||
	    has_request_flag(opf, __REQ_RAHEAD))
		flags |= KP_B_ASYNC;
	if (paging)
		flags |= KP_B_PAGEIO;
	if (raw)
		flags |= KP_B_PHYS;
	return flags;
}

static __always_inline void strategy(void *ctx, struct bio *bio, const struct io *io, s32 flags)
{
	struct kp_strategy *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_STRATEGY)))
		return;
	e = EVENT(ctx, &hit, STRATEGY, kp_strategy);
	if (e == NULL)
		return;
	e->device = io->device;
	e->block = io->block;
	e->size = io->left;
	e->buf = (u64)bio;
	e->flags = flags;
	e->pad = 0;
	event_end(&hit);
}

/* (__noinline: see README.)  The thread is a program's, whose stack is found without ctx. */
__noinline int pagein(u64 vnode, u64 offset, u64 size)
{
	struct kp_pagein *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_PAGEIN)))
		return 0;
	e = EVENT(NULL, &hit, PAGEIN, kp_pagein);
	if (e == NULL)
		return 0;
	e->vnode = vnode;
	e->offset = offset;
	e->size = size;
	event_end(&hit);
	return 0;
}

/*
 * Read from swap for a fault: the page's identity is its place there.  Nothing but
 * a fault makes a thread of a program read from swap - one of its own, of the
 * kernel on its behalf, in or out of a system call - except for calls that ask for
 * just that.
 */
static __always_inline bool may_fault(struct task_struct *t)
{
	const struct pt_regs___kernel *user = (void *)bpf_task_pt_regs(t);

	if (t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return false;
	return regs_call(user) != NR_madvise && regs_call(user) != NR_swapoff &&
	    regs_call(user) != NR_process_madvise;
}

/* (__noinline: see README.) */
__noinline int swap_fault(u64 vnode, u64 offset)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 number = fault_number(t);
	struct context *c;
	struct kp_page *e;
	struct hit hit;

	if (!is_on(KP_BIT(KP_MAJOR_FAULT)) || !may_fault(t))
		return 0;
	c = my_new_context();
	if (c == NULL || c->major == number)
		return 0;
	c->major = number;
	e = EVENT(NULL, &hit, MAJOR_FAULT, kp_page);
	if (e == NULL)
		return 0;
	e->vnode = vnode;
	e->offset = offset;
	event_end(&hit);
	return 0;
}

struct paging {			/* what a request moves, if that is pages */
	u64 vnode;		/* or 0 */
	u64 offset;
	bool swap;
	bool raw;		/* memory of a program instead */
};

/* A page on its way in from swap belongs to no mapping yet, but is marked. */
static __always_inline bool is_swap(u32 opf, const struct page_info *p)
{
	if (bpf_core_enum_value_exists(enum req_flag_bits, __REQ_SWAP) &&
	    has_request_flag(opf, __REQ_SWAP))
		return true;
	if ((opf & REQ_OP_MASK) == REQ_OP_WRITE)
		return (p->mapping & 3) == 1 && has_flag(p->flags, PG_swapcache);
	return p->mapping == 0 && has_flag(p->flags, PG_swapbacked);
}

static __always_inline void find_paging(struct bio *bio, const struct context *c,
    struct paging *to)
{
	struct block_device *bdev = bio->bi_bdev;
	struct address_space *mapping;
	struct page_info p;
	struct bio_vec v;

	if (bio->bi_io_vec == NULL || bio->bi_iter.bi_size == 0 ||
	    (bio->bi_opf & REQ_OP_MASK) > REQ_OP_WRITE)
		return;
	if (c != NULL && c->physio) {
		to->raw = true;
		return;
	}
	bpf_probe_read_kernel(&v, sizeof v, bio->bi_io_vec + bio->bi_iter.bi_idx);
	page_info(v.bv_page, &p);
	if (p.mapping != 0 && (p.mapping & 3) == 0) {
		mapping = (void *)p.mapping;
		to->vnode = (u64)BPF_CORE_READ(mapping, host);
		to->offset = (p.index << PAGE_SHIFT) + v.bv_offset;
	} else if (is_swap(bio->bi_opf, &p)) {
		to->swap = true;
		to->vnode = device_inode(bdev);
		to->offset = bio->bi_iter.bi_sector << 9;
	} else
		to->raw = (p.mapping & 3) == 1;
}

/*
 * The kernel sometimes ends requests without running the programs at
 * block_rq_complete, and counts no missed run: those of a whole millisecond, on
 * a busy machine, while a perf event at that place sees them.  A program that
 * finds a bio still open where another one begins tells of the missing end.
 */
static __always_inline void remember_request(u64 bio, struct io *io)
{
	if (bpf_map_update_elem(&ios, &bio, io, BPF_NOEXIST) == 0)
		return;
	lose_event(TNF_LOST_HOOK);
	bpf_map_update_elem(&ios, &bio, io, BPF_ANY);
}

SEC("tnf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	struct context *c = my_context();
	struct block_device *bdev = bio->bi_bdev;
	struct paging paging = {};
	struct io io = {};
	u64 key = (u64)bio;
	u32 op = bio->bi_opf & REQ_OP_MASK;

	io.device = bdev->bd_dev;
	io.block = bio->bi_iter.bi_sector;
	if (bio->bi_flags & state.bio_remapped)
		io.block -= bdev->bd_start_sect;
	io.left = bio->bi_iter.bi_size;
	find_paging(bio, c, &paging);
	if (op == REQ_OP_WRITE && paging.vnode != 0) {
		io.vnode = paging.vnode;
		io.pages = (io.left + PAGE_SIZE - 1) / PAGE_SIZE;
		io.reclaim = reclaim_pages(hook_argument(ctx, 0), false);
	}
	if (op == REQ_OP_READ && paging.vnode != 0) {
		if (paging.swap)
			swap_fault(paging.vnode, paging.offset);
		pagein(paging.vnode, paging.offset, io.left);
	}
	strategy(ctx, bio, &io, bio_flags(bio->bi_opf, paging.vnode != 0, paging.raw));
	/* The filter is asked here, about the thread that submits the request.
	   biodone() does not ask it: the end of a request interrupts any thread. */
	if (!is_on(KP_BIT(KP_BIODONE) | KP_BIT(KP_PAGEOUT) | KP_BIT(KP_THREAD_WAKEUP_BY)))
		bpf_map_delete_elem(&ios, &key);
	else
		remember_request(key, &io);
	return 0;
}

static __always_inline void biodone(u64 bio, const struct io *io)
{
	struct kp_biodone *e;
	struct hit hit;

	if (!probe_is_on(KP_BIT(KP_BIODONE)))
		return;
	e = EVENT(NULL, &hit, BIODONE, kp_biodone);
	if (e == NULL)
		return;
	e->device = io->device;
	e->block = io->block;
	e->buf = bio;
	event_end(&hit);
}

static __always_inline void pageout(u64 bio, const struct io *io)
{
	struct kp_pageout *e;
	struct hit hit;
	u32 freed;

	if (io->vnode == 0 || !probe_is_on(KP_BIT(KP_PAGEOUT)))
		return;
	freed = reclaim_pages(bio, true);
	e = EVENT(NULL, &hit, PAGEOUT, kp_pageout);
	if (e == NULL)
		return;
	e->vnode = io->vnode;
	e->pages_pageout = io->pages;
	e->pages_freed = freed;
	e->pages_reclaimed = io->reclaim > freed ? io->reclaim - freed : 0;
	event_end(&hit);
}

/* Whatever is woken until this end of a request returns, is woken by the disk. */
static __always_inline void request_ends(void *ctx)
{
	struct interrupt *i;

	if (!probe_is_on(KP_BIT(KP_THREAD_WAKEUP_BY)) || (i = my_interrupt()) == NULL)
		return;
	i->bio = 0;
	i->bio_stack = stack_place(i, ctx);
	i->bio_thread = bpf_get_current_task();
}

/* If several bios end with a request, the first one stands for the request. */
static __always_inline void request_note(u64 bio)
{
	struct interrupt *i = my_interrupt();

	if (i != NULL && i->bio == 0)
		i->bio = bio;
}

/*
 * Some bytes of a bio are done.  The part that was split off a bio is not known
 * itself; it counts for the bio that it points to.  CPUs finish parts of one bio
 * at the same time: whoever takes the last bytes ends it.
 */
__noinline int bytes_done(u64 bio, u32 bytes)
{
	struct io *io = bpf_map_lookup_elem(&ios, &bio);

	if (io == NULL) {
		bio = (u64)BPF_CORE_READ((struct bio *)bio, bi_private);
		io = bpf_map_lookup_elem(&ios, &bio);
		if (io == NULL)
			return 0;
	}
	if (__sync_fetch_and_add(&io->left, -bytes) > bytes)
		return 0;
	pageout(bio, io);
	biodone(bio, io);
	request_note(bio);
	bpf_map_delete_elem(&ios, &bio);
	return 0;
}

/* For drivers without requests. */
SEC("raw_tp/block_bio_complete")
int bio_done(struct bpf_raw_tracepoint_args *ctx)
{
	request_ends(ctx);
	return bytes_done(ctx->args[1], 0xffffffff);
}

#define NOT_REACHED	0xffffffff

/* The share of this bio in 'left' done bytes of a request, of which its bytes are the first. */
__noinline u32 bio_share(u64 bio, u32 left)
{
	u32 size = BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size);
	u32 n = size < left ? size : left;

	if (size != 0 && n == 0)
		return NOT_REACHED;
	bytes_done(bio, n);
	return n;
}

struct completion {		/* the walk over the bios of a request */
	u64 bio;
	u32 left;		/* bytes that are done */
};

static long
next_bio(u32 i, struct completion *c)
{
	u64 bio = c->bio;
	u32 n;

	if (bio == 0)
		return 1;
	/* A thread that waits for the bio may free it when it is done. */
	c->bio = (u64)BPF_CORE_READ((struct bio *)bio, bi_next);
	n = bio_share(bio, c->left);
	if (n == NOT_REACHED) {
		c->bio = 0;
		return 1;
	}
	c->left -= n;
	return 0;
}

SEC("raw_tp/block_rq_complete")
int request_done(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *rq = (void *)ctx->args[0];
	struct completion c = { .left = ctx->args[2] };

	request_ends(ctx);
	c.bio = (u64)BPF_CORE_READ(rq, bio);
	repeat(BIOS_MAX, next_bio, &c);
	if (c.bio != 0)
		lose_event(TNF_LOST_HOOK);
	return 0;
}
