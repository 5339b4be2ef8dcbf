/*
 * arch.bpf.h - what the programs must know of a kind of machine; one file for each.
 *
 * Each file has:
 *
 *	struct pt_regs___kernel	registers that a thread entered the kernel with
 *	regs_ip()		of user mode; REGS_SP and REGS_IP are members
 *	regs_call()		number of the system call; negative: a fault, an interrupt
 *	call_abi()		the table that the number is from
 *	find_call()		the call with its arguments
 *	first_call()		what a new thread runs first
 *	fault_error()		x86's bits, from what the machine says of a fault
 *	is_kernel_address()
 *	NR_*, O_DIRECT, PAGE_SHIFT, KERNEL_STACK_SIZE, store_barrier()
 */
#ifndef KERNEL_PROBES_ARCH_BPF_H
#define KERNEL_PROBES_ARCH_BPF_H

/* A system call as its table's 64-bit sibling would have it. */
struct call {
	long nr;		/* of the 64-bit table; -1: none of those here */
	bool narrow;		/* its structures in memory have 32-bit words */
	u64 arg[4];
};

/* The first thing that a new thread will do. */
struct first_call {
	u64 function;		/* 0: it returns to user mode, ... */
	u64 argument;
	u64 otherwise;		/* ... by way of this */
};

#define ERROR_PROTECTION	0x01	/* the page was there */
#define ERROR_WRITE		0x02
#define ERROR_INSTRUCTION	0x10

#if defined(__TARGET_ARCH_x86)
#include "kernel-probes/arch/x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kernel-probes/arch/arm64.bpf.h"
#else
#error "no file for this machine in kernel-probes/arch"
#endif

#endif /* KERNEL_PROBES_ARCH_BPF_H */
