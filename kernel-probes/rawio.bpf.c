/*
 * rawio.bpf.c - system calls that transfer to and from block devices unbuffered.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/waits.bpf.h"

#define IOVECS_MAX	1024	/* UIO_MAXIOV: the kernel takes no more */

#define S_IFMT		0170000
#define S_IFBLK		0060000

struct transfer {		/* a read or write system call */
	bool write;
	bool vector;		/* its second argument is an array of iovecs */
	bool position;		/* it has its own offset */
};

static __always_inline bool is_transfer(long nr, struct transfer *t)
{
	switch (nr) {
	case NR_read:	 *t = (struct transfer){ 0, 0, 0 }; return true;
	case NR_write:	 *t = (struct transfer){ 1, 0, 0 }; return true;
	case NR_pread64: *t = (struct transfer){ 0, 0, 1 }; return true;
	case NR_pwrite64: *t = (struct transfer){ 1, 0, 1 }; return true;
	case NR_readv:	 *t = (struct transfer){ 0, 1, 0 }; return true;
	case NR_writev:	 *t = (struct transfer){ 1, 1, 0 }; return true;
	case NR_preadv: case NR_preadv2:
		*t = (struct transfer){ 0, 1, 1 }; return true;
	case NR_pwritev: case NR_pwritev2:
		*t = (struct transfer){ 1, 1, 1 }; return true;
	}
	return false;
}

struct vectors {		/* the walk over an array of iovecs */
	u64 at, n, sum;
	bool narrow;
};

static long
next_vector(u32 i, struct vectors *w)
{
	struct { u64 base, len; } v;
	struct { u32 base, len; } v32;

	if (i >= w->n)
		return 1;
	if (w->narrow) {
		if (bpf_probe_read_user(&v32, sizeof v32, (void *)(w->at + i * sizeof v32)) != 0)
			return 1;
		w->sum += v32.len;
		return 0;
	}
	if (bpf_probe_read_user(&v, sizeof v, (void *)(w->at + i * sizeof v)) != 0)
		return 1;
	w->sum += v.len;
	return 0;
}

static __always_inline u64 transfer_size(const struct call *c, bool vector)
{
	struct vectors w = { .at = c->arg[1], .n = c->arg[2], .narrow = c->narrow };

	if (!vector)
		return c->arg[2];
	repeat(IOVECS_MAX, next_vector, &w);
	return w.sum;
}

/* (__noinline: see README.) */
__noinline int physio_event(u32 device, s64 offset, u64 size, u32 rw)
{
	struct context *c = my_new_context();
	struct kp_physio_start *e;
	struct hit hit;

	if (c == NULL)
		return 0;
	c->physio = 1;
	c->device = device;
	if (!is_on(KP_BIT(KP_PHYSIO_START)))
		return 0;
	e = EVENT(NULL, &hit, PHYSIO_START, kp_physio_start);
	if (e == NULL)
		return 0;
	e->device = device;
	e->offset = offset;
	e->size = size;
	e->rw = rw;
	e->pad = 0;
	event_end(&hit);
	return 0;
}

static __always_inline void raw_begin(struct file *file, u32 device,
    const struct call *call, const struct transfer *t)
{
	u64 size = transfer_size(call, t->vector);
	s64 offset = t->position ? (s64)call->arg[3] : -1;

	if (offset == -1)
		offset = BPF_CORE_READ(file, f_pos);
	physio_event(device, offset, size, t->write ? KP_B_WRITE : KP_B_READ);
}

SEC("tnf/sys_enter")
int BPF_PROG(physio_start, struct pt_regs___kernel *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct transfer t;
	struct inode *inode;
	struct file *file;
	struct call call;

	find_call(task, regs, &call);
	if (!is_transfer(call.nr, &t))
		return 0;
	file = file_of(task, call.arg[0]);
	if (file == NULL || !(BPF_CORE_READ(file, f_flags) & O_DIRECT))
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFBLK)
		raw_begin(file, BPF_CORE_READ(inode, i_rdev), &call, &t);
	return 0;
}

SEC("tnf/sys_exit")
int BPF_PROG(physio_end, struct pt_regs___kernel *regs, long ret)
{
	struct context *c = my_context();
	struct kp_address *e;
	struct hit hit;

	if (c == NULL || !c->physio)
		return 0;
	c->physio = 0;
	if (!is_on(KP_BIT(KP_PHYSIO_END)))
		return 0;
	e = EVENT(ctx, &hit, PHYSIO_END, kp_address);
	if (e == NULL)
		return 0;
	e->address = c->device;
	event_end(&hit);
	return 0;
}
