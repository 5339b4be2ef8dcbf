/*
 * arm64.bpf.h - 64-bit ARM, with pages of 4, 16 and 64 KiB.
 */
#ifndef KERNEL_PROBES_ARCH_ARM64_BPF_H
#define KERNEL_PROBES_ARCH_ARM64_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___kernel {
	u64 regs[31];
	u64 sp, pc, pstate;
	u64 orig_x0;
	s32 syscallno;
};

struct cpu_context {
	unsigned long x19, x20, pc;
};

struct thread_struct___arm64 {
	struct cpu_context cpu_context;
};

struct thread_info___arm64 {
	unsigned long flags;
};

#pragma clang attribute pop

/* The loader tells, since the kernel's types do not have it. */
#define PAGE_SHIFT		(state.page_shift & 31)
#define KERNEL_STACK_SIZE	(PAGE_SHIFT > 14 ? 1u << PAGE_SHIFT : 16384u)
#define O_DIRECT		0200000

/*
 * An atomic operation with its full barrier is all that BPF offers.  An exchange always has
 * its barrier; an addition has none once clang sees that the sum is not used.  The word is on
 * the stack, since .bss is a map that all programs share, and belongs to filter_set alone.
 */
#define store_barrier()	do {						\
	u64 fence = 0;							\
	__sync_lock_test_and_set(&fence, 1);				\
} while (0)
#define load_barrier()	store_barrier()

enum {
	NR_flock = 32, NR_read = 63, NR_write = 64, NR_pread64 = 67, NR_pwrite64 = 68,
	NR_readv = 65, NR_writev = 66, NR_preadv = 69, NR_pwritev = 70,
	NR_preadv2 = 286, NR_pwritev2 = 287, NR_futex = 98,
	NR_madvise = 233, NR_swapoff = 225, NR_process_madvise = 440,
	NR_futex_waitv = 449, NR_futex_wait = 455,
	NR32_preadv = 361, NR32_pwritev = 362, NR32_preadv2 = 392, NR32_pwritev2 = 393
};

#define regs_ip(regs)	((regs)->pc)
#define regs_call(regs)	((long)(regs)->syscallno)
#define REGS_SP		sp
#define REGS_IP		pc

#define TIF_32BIT	22

static __always_inline u32 call_abi(struct task_struct *t, u64 nr)
{
	struct thread_info___arm64 *info = (void *)&t->thread_info;

	return info->flags >> TIF_32BIT & 1 ? KP_ABI_32 : KP_ABI_NATIVE;
}

static __always_inline void find_call(struct task_struct *t,
    const struct pt_regs___kernel *regs, struct call *c)
{
	u64 nr = (u32)regs->syscallno, low, high;

	if (call_abi(t, nr) == KP_ABI_32) {
		/* A 64-bit offset is in two registers, the first an even one. */
		bool even = nr == 180 || nr == 181;

		low = even ? regs->regs[4] : regs->regs[3];
		high = even ? regs->regs[5] : regs->regs[4];
		*c = (struct call){ number_of_32(nr), true, { (u32)regs->orig_x0,
		    (u32)regs->regs[1], (u32)regs->regs[2], (u32)low | high << 32 } };
		return;
	}
	*c = (struct call){ (s32)nr, false, { regs->orig_x0, regs->regs[1],
	    regs->regs[2], regs->regs[3] } };
}

/* The thread runs x19(x20), or returns through ret_from_fork. */
static __always_inline void first_call(struct task_struct *p, struct first_call *c)
{
	struct thread_struct___arm64 *t = (void *)&p->thread;

	c->function = BPF_CORE_READ(t, cpu_context.x19);
	c->argument = BPF_CORE_READ(t, cpu_context.x20);
	c->otherwise = BPF_CORE_READ(t, cpu_context.pc);
}

#define ESR_CLASS(esr)	((esr) >> 26 & 0x3f)
#define ESR_FETCH	0x20	/* and 0x21 */
#define ESR_STATUS(esr)	((esr) >> 2 & 0xf)	/* without the table's level */
#define ESR_ACCESS	2
#define ESR_PERMISSION	3
#define ESR_WRITE	(1u << 6)
#define ESR_CACHE	(1u << 8)

static __always_inline u64 fault_error(u64 esr)
{
	u64 error = 0;

	if (ESR_STATUS(esr) == ESR_PERMISSION || ESR_STATUS(esr) == ESR_ACCESS)
		error |= ERROR_PROTECTION;
	if ((ESR_CLASS(esr) & ~1ull) == ESR_FETCH)
		error |= ERROR_INSTRUCTION;
	else if ((esr & (ESR_WRITE | ESR_CACHE)) == ESR_WRITE)
		error |= ERROR_WRITE;
	return error;
}

/* The kernel's addresses begin there if addresses have 52 bits. */
static __always_inline bool is_kernel_address(u64 v)
{
	return v >> 52 == 0xfff;
}

#endif /* KERNEL_PROBES_ARCH_ARM64_BPF_H */
