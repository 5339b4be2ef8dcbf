/*
 * waits.bpf.h - what a sleeping system call waits for, from its registers. (x86-64)
 */
#ifndef KERNEL_PROBES_WAITS_BPF_H
#define KERNEL_PROBES_WAITS_BPF_H

#include "kernel-probes/kernel_compat.h"

enum {
	NR_read = 0, NR_write = 1, NR_pread64 = 17, NR_pwrite64 = 18,
	NR_readv = 19, NR_writev = 20, NR_preadv = 295, NR_pwritev = 296,
	NR_preadv2 = 327, NR_pwritev2 = 328, NR_futex = 202,
	NR_madvise = 28, NR_swapoff = 168, NR_process_madvise = 440,
	NR_futex_waitv = 449, NR_futex_wait = 455
};

enum {
	FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_WAIT_BITSET = 9,
	FUTEX_WAIT_REQUEUE_PI = 11, FUTEX_LOCK_PI2 = 13, FUTEX_CMD = 0x7f
};

/* A system call as its table's 64-bit sibling would have it. */
struct call {
	long nr;		/* of the 64-bit table; -1: none of those here */
	bool narrow;		/* its structures in memory have 32-bit words */
	u64 arg[4];
};

static __always_inline long number_of_32(u32 nr)
{
	switch (nr) {
	case 3:		return NR_read;
	case 4:		return NR_write;
	case 145:	return NR_readv;
	case 146:	return NR_writev;
	case 180:	return NR_pread64;
	case 181:	return NR_pwrite64;
	case 333:	return NR_preadv;
	case 334:	return NR_pwritev;
	case 378:	return NR_preadv2;
	case 379:	return NR_pwritev2;
	case 240:			/* futex, futex_time64 */
	case 422:	return NR_futex;
	case NR_futex_waitv:
	case NR_futex_wait:
		return nr;
	}
	return -1;
}

/* x32 has numbers of its own for what hands over structures. */
static __always_inline long number_of_x32(u32 nr)
{
	switch (nr) {
	case 515:	return NR_readv;
	case 516:	return NR_writev;
	case 534:	return NR_preadv;
	case 535:	return NR_pwritev;
	case 546:	return NR_preadv2;
	case 547:	return NR_pwritev2;
	}
	return nr;
}

static __always_inline void find_call(struct task_struct *t,
    const struct pt_regs___kernel *regs, struct call *c)
{
	u64 nr = regs->orig_ax;

	switch (call_abi(t, nr)) {
	case KP_ABI_32:
		/* A 64-bit offset is in two registers. */
		*c = (struct call){ number_of_32(nr), true, { (u32)regs->bx,
		    (u32)regs->cx, (u32)regs->dx,
		    (u32)regs->si | (u64)(u32)regs->di << 32 } };
		return;
	case KP_ABI_X32:
		*c = (struct call){ number_of_x32(nr & ~X32_SYSCALL_BIT), true,
		    { regs->di, regs->si, regs->dx, regs->r10 } };
		return;
	}
	*c = (struct call){ nr, false, { regs->di, regs->si, regs->dx, regs->r10 } };
}

/* The user-level lock that a thread waits for in the kernel, or 0. */
static __always_inline u64 futex_address(struct task_struct *t,
    const struct pt_regs___kernel *regs)
{
	struct call c;

	find_call(t, regs, &c);
	switch (c.nr) {
	case NR_futex:
		switch (c.arg[1] & FUTEX_CMD) {
		case FUTEX_WAIT:
		case FUTEX_LOCK_PI:
		case FUTEX_WAIT_BITSET:
		case FUTEX_WAIT_REQUEUE_PI:
		case FUTEX_LOCK_PI2:
			return c.arg[0];
		}
		return 0;
	case NR_futex_waitv:
	case NR_futex_wait:
		return c.arg[0];
	}
	return 0;
}

static __always_inline struct file *file_of(struct task_struct *t, u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file **files, *file = NULL;

	if (table == NULL || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof file, files + fd);
	return file;
}

/* The file that a thread reads or writes, or NULL. */
static __always_inline u64 file_address(struct task_struct *t,
    const struct pt_regs___kernel *regs)
{
	struct call c;

	find_call(t, regs, &c);
	switch (c.nr) {
	case NR_read: case NR_write: case NR_pread64: case NR_pwrite64:
	case NR_readv: case NR_writev: case NR_preadv: case NR_pwritev:
	case NR_preadv2: case NR_pwritev2:
		return (u64)file_of(t, c.arg[0]);
	}
	return 0;
}

#endif /* KERNEL_PROBES_WAITS_BPF_H */
