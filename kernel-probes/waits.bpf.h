/*
 * waits.bpf.h - which thread has the lock that a thread waits for, and what a sleeping system
 * call waits for.
 */
#ifndef KERNEL_PROBES_OWNER_BPF_H
#define KERNEL_PROBES_OWNER_BPF_H

#include "kernel-probes/context.bpf.h"
#include "kernel-probes/kernel_compat.h"

/* The flags of contention_begin (LCB_F_*). */
#define LOCK_SPINS	1
#define LOCK_READS	2
#define LOCK_WRITES	4
#define LOCK_RT		8
#define LOCK_PERCPU	16
#define LOCK_MUTEX	32

/* The kind of a lock, in the lowest bits of its address. */
enum lock_kind { KIND_OTHER, KIND_MUTEX, KIND_RWSEM, KIND_RT };

#define KIND_MASK	7ull

static __always_inline u64 lock_kind(u32 flags)
{
	if (flags & LOCK_PERCPU)
		return KIND_OTHER;
	if (flags & LOCK_MUTEX)
		return KIND_MUTEX;
	if (flags & LOCK_RT)
		return KIND_RT;
	return flags & (LOCK_READS | LOCK_WRITES) ? KIND_RWSEM : KIND_OTHER;
}

/* A flag of an rw_semaphore's owner: readers have it, and the owner is the latest of them. */
#define OWNER_READS	1
/* The number of readers: an rw_semaphore's count without its highest bit and its 8 low flags. */
#define READERS(count)	((u64)(count) << 1 >> 9)
#define OWNER_FLAGS	7ull	/* in the low bits of the owner's address */

/* The thread that has an rw_semaphore, with flags: its writer, or the latest reader if one reader
   alone has it; 0: several readers have it, or none has any more. */
static __always_inline u64 rwsem_owner(struct rw_semaphore *s)
{
	u64 owner = BPF_CORE_READ(s, owner.counter);

	return owner & OWNER_READS && READERS(BPF_CORE_READ(s, count.counter)) != 1 ? 0 : owner;
}

/* The number of the thread that has a lock of the kernel, or 0. */
static __always_inline u32 lock_owner(u64 lock)
{
	void *at = (void *)(lock & ~KIND_MASK);
	u64 owner = 0;

	switch (lock & KIND_MASK) {
	case KIND_MUTEX:
		owner = BPF_CORE_READ((struct mutex *)at, owner.counter);
		break;
	case KIND_RWSEM:
		owner = rwsem_owner(at);
		break;
	case KIND_RT:
		owner = (u64)BPF_CORE_READ((struct rt_mutex_base *)at, owner);
		break;
	}
	owner &= ~OWNER_FLAGS;
	return owner == 0 ? 0 : BPF_CORE_READ((struct task_struct *)owner, pid);
}

/* The beginning of glibc's pthread_mutex_t, whose first word is the futex. */
struct user_mutex {
	u32 lock;
	u32 count;
	u32 owner;
	u32 users;
	u32 kind;
};

#define MUTEX_CONTENDED	2		/* the first word, while threads wait */
#define MUTEX_WAITERS	0x80000000u	/* of a robust one: the owner's number and this bit */
#define MUTEX_OWNER	0x3fffffffu
#define MUTEX_KINDS	0x1ffu		/* all bits of a kind */
#define THREADS_MAX	(1u << 22)

/*
 * The number of the thread that has a mutex of glibc.  0: the futex does not look like a locked
 * mutex (it is a condition variable, a semaphore or a lock of another library), or the program
 * is in a nested pid namespace, whose numbers of threads are not the kernel's.
 */
static __always_inline u32 futex_owner(struct task_struct *t, const struct call *c, u64 futex)
{
	struct user_mutex m;
	u32 expected = c->arg[2];	/* futex(2)'s val: what the caller found in the first word */

	if (c->nr != NR_futex || c->narrow || BPF_CORE_READ(t, thread_pid, level) != 0 ||
	    bpf_probe_read_user(&m, sizeof m, (void *)futex) != 0)
		return 0;
	if (m.owner == 0 || m.owner >= THREADS_MAX || m.users == 0 || m.kind & ~MUTEX_KINDS)
		return 0;
	if (expected & MUTEX_WAITERS)
		return (m.lock & MUTEX_OWNER) == m.owner ? m.owner : 0;
	return expected == MUTEX_CONTENDED && m.lock == MUTEX_CONTENDED ? m.owner : 0;
}

/* Finds the object that a system call sleeps for in the registers with which it was entered. */

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

#endif /* KERNEL_PROBES_OWNER_BPF_H */
