/*
 * waits.bpf.h - what a sleeping system call waits for, from its registers. (x86-64)
 */
#ifndef KP_WAITS_BPF_H
#define KP_WAITS_BPF_H

#include "kernel_compat.h"

enum {
	NR_read = 0, NR_write = 1, NR_pread64 = 17, NR_pwrite64 = 18,
	NR_readv = 19, NR_writev = 20, NR_preadv = 295, NR_pwritev = 296,
	NR_preadv2 = 327, NR_pwritev2 = 328, NR_futex = 202,
	NR_futex_waitv = 449, NR_futex_wait = 455
};

enum {
	FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_WAIT_BITSET = 9,
	FUTEX_WAIT_REQUEUE_PI = 11, FUTEX_LOCK_PI2 = 13, FUTEX_CMD = 0x7f
};

/* The user-level lock that a thread waits for in the kernel, or 0. */
static __always_inline u64 futex_address(const struct pt_regs___kernel *regs)
{
	switch (regs->orig_ax) {
	case NR_futex:
		switch (regs->si & FUTEX_CMD) {
		case FUTEX_WAIT:
		case FUTEX_LOCK_PI:
		case FUTEX_WAIT_BITSET:
		case FUTEX_WAIT_REQUEUE_PI:
		case FUTEX_LOCK_PI2:
			return regs->di;
		}
		return 0;
	case NR_futex_waitv:
	case NR_futex_wait:
		return regs->di;
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
	switch (regs->orig_ax) {
	case NR_read: case NR_write: case NR_pread64: case NR_pwrite64:
	case NR_readv: case NR_writev: case NR_preadv: case NR_pwritev:
	case NR_preadv2: case NR_pwritev2:
		return (u64)file_of(t, regs->di);
	}
	return 0;
}

#endif /* KP_WAITS_BPF_H */
