/*
 * waits.bpf.h - what a sleeping system call waits for, from its registers.
 */
#ifndef KERNEL_PROBES_WAITS_BPF_H
#define KERNEL_PROBES_WAITS_BPF_H

#include "kernel-probes/kernel_compat.h"

enum {
	FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_WAIT_BITSET = 9,
	FUTEX_WAIT_REQUEUE_PI = 11, FUTEX_LOCK_PI2 = 13, FUTEX_CMD = 0x7f
};

/* The user-level lock that a thread waits for in the kernel, or 0. */
static __always_inline u64 futex_address(const struct call *c)
{
	switch (c->nr) {
	case NR_futex:
		switch (c->arg[1] & FUTEX_CMD) {
		case FUTEX_WAIT:
		case FUTEX_LOCK_PI:
		case FUTEX_WAIT_BITSET:
		case FUTEX_WAIT_REQUEUE_PI:
		case FUTEX_LOCK_PI2:
			return c->arg[0];
		}
		return 0;
	case NR_futex_waitv:
	case NR_futex_wait:
		return c->arg[0];
	}
	return 0;
}

/* The verifier knows the thread's type, so that members are loads, not calls of a helper. */
static __always_inline struct file *file_of(struct task_struct *t, u32 fd)
{
	struct files_struct *open = t->files;
	struct fdtable *table = open == NULL ? NULL : open->fdt;
	struct file *file = NULL;

	if (table == NULL || fd >= table->max_fds)
		return NULL;
	bpf_probe_read_kernel(&file, sizeof file, (void *)((u64)table->fd + fd * sizeof file));
	return file;
}

/* The inode of the file that a thread waits to lock, or 0.  The thread's entry in the queue,
   on its own stack, would not show that two waiters want the same file. */
static __always_inline u64 locked_file(struct task_struct *t, const struct call *c)
{
	struct file *file = c->nr == NR_flock ? file_of(t, c->arg[0]) : NULL;

	return file != NULL ? (u64)BPF_CORE_READ(file, f_inode) : 0;
}

/* The file that a thread reads or writes, or NULL. */
static __always_inline u64 file_address(struct task_struct *t, const struct call *c)
{
	switch (c->nr) {
	case NR_read: case NR_write: case NR_pread64: case NR_pwrite64:
	case NR_readv: case NR_writev: case NR_preadv: case NR_pwritev:
	case NR_preadv2: case NR_pwritev2:
		return (u64)file_of(t, c->arg[0]);
	}
	return 0;
}

#endif /* KERNEL_PROBES_WAITS_BPF_H */
