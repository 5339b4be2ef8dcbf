/*
 * interrupt.bpf.h - what this CPU does in place of the thread that it has interrupted.
 *
 * Programs at the beginning and the end of interrupts, softirqs and timers keep these notes;
 * the program at sched_waking reads them (wakeup.bpf.c).  A note is of its CPU alone, and
 * interrupts end in the reverse order of their beginning: no note needs a lock.
 */
#ifndef KERNEL_PROBES_INTERRUPT_BPF_H
#define KERNEL_PROBES_INTERRUPT_BPF_H

#include "kernel-probes/write.bpf.h"

struct interrupt {
	u32 irq;		/* number of the interrupt + 1; 0: none with a handler */
	u32 softirq;		/* number of the softirq + 1; 0: none */
	u64 timer;		/* function of the timer that runs, or 0 */
	u32 timer_irq;		/* 'irq' when that timer began */
	u32 pad;
	u64 raiser;		/* thread that raised NET_TX or NET_RX; 0: an interrupt did */
	u64 bio;		/* the request that has just ended, or 0; ... */
	u64 bio_thread;		/* ... in this thread or interrupting it, ... */
	u64 bio_stack;		/* ... at this place of the stack */
	u64 place;		/* stack_place() */
};

struct kp_map_interrupts {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct interrupt);
};

extern struct kp_map_interrupts tnf_interrupts SEC(".maps");

static __always_inline struct interrupt *my_interrupt(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&tnf_interrupts, &zero);
}

/* The address of a hook's arguments, which lie on the stack that the CPU is on.  It goes
   through the map because the verifier refuses arithmetic with a pointer to a context. */
static __always_inline u64 stack_place(struct interrupt *i, void *ctx)
{
	write_once(i->place, (u64)ctx);
	return read_once(i->place);
}

#endif /* KERNEL_PROBES_INTERRUPT_BPF_H */
