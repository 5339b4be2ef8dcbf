/*
 * x86.bpf.h - x86-64.
 */
#ifndef KERNEL_PROBES_ARCH_X86_BPF_H
#define KERNEL_PROBES_ARCH_X86_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The name avoids the one in <asm/ptrace.h>. */
struct pt_regs___kernel {
	unsigned long r10, bx, cx, di, si, dx, orig_ax, ip, sp;
};

/* The top of a kernel stack whose thread does not run. */
struct inactive_task_frame {
	unsigned long r12, bx, bp, ret_addr;
};

#pragma clang attribute pop

#define PAGE_SHIFT		12
#define KERNEL_STACK_SIZE	16384	/* without KASAN */
#define O_DIRECT		040000

/* The machine keeps the order of stores, and that of loads. */
#define store_barrier()	asm volatile("" ::: "memory")
#define load_barrier()	asm volatile("" ::: "memory")

enum {
	NR_read = 0, NR_write = 1, NR_pread64 = 17, NR_pwrite64 = 18,
	NR_flock = 73, NR_readv = 19, NR_writev = 20, NR_preadv = 295, NR_pwritev = 296,
	NR_preadv2 = 327, NR_pwritev2 = 328, NR_futex = 202,
	NR_madvise = 28, NR_swapoff = 168, NR_process_madvise = 440,
	NR_futex_waitv = 449, NR_futex_wait = 455,
	NR32_preadv = 333, NR32_pwritev = 334, NR32_preadv2 = 378, NR32_pwritev2 = 379
};

#define regs_ip(regs)	((regs)->ip)
#define regs_call(regs)	((long)(regs)->orig_ax)
#define REGS_SP		sp
#define REGS_IP		ip

/* A thread of a 64-bit kernel in a call of the 32-bit table; x32 marks its own. */
#define TS_COMPAT	0x2
#define X32_SYSCALL_BIT	0x40000000

static __always_inline u32 call_abi(struct task_struct *t, u64 nr)
{
	if (t->thread_info.status & TS_COMPAT)
		return KP_ABI_32;
	return (nr & X32_SYSCALL_BIT) != 0 && (s64)nr >= 0 ? KP_ABI_X32 : KP_ABI_NATIVE;
}

/* x32 has numbers of its own for calls with structures. */
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

/* The thread runs bx(r12), or returns through ret_from_fork. */
static __always_inline void first_call(struct task_struct *p, struct first_call *c)
{
	struct inactive_task_frame *f = (void *)BPF_CORE_READ(p, thread.sp);

	c->function = BPF_CORE_READ(f, bx);
	c->argument = BPF_CORE_READ(f, r12);
	c->otherwise = BPF_CORE_READ(f, ret_addr);
}

static __always_inline u64 fault_error(u64 error)
{
	return error;
}

static __always_inline bool is_kernel_address(u64 v)
{
	return v >> 47 == 0x1ffff;
}

#endif /* KERNEL_PROBES_ARCH_X86_BPF_H */
