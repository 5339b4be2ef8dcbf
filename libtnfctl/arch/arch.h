/*
 * arch.h - what libtnfctl must know of a kind of machine; one file here for each.
 *
 * Registers, the frame from which a thread comes back by itself, system calls that
 * a stop interrupts, breakpoint registers, what a call looks like in code.  A machine
 * that has no file gets other.c: its processes are traced if they have loaded
 * libtnfprobe themselves.  'tid' is always a thread that is stopped under our control.
 */
#ifndef LIBTNFCTL_ARCH_H
#define LIBTNFCTL_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel-probes/operand.h"

struct proc;
struct thread;

/* The thread's instruction and stack pointer, and its system call or -1. */
bool	tnfctl_arch_where(struct proc *, const struct thread *, uintptr_t *ip,
	    uintptr_t *sp, long *call);
/* Its registers, numbered as call frame information numbers them (DWARF). */
#if defined(__x86_64__)
#define ARCH_REGISTERS		16
#define ARCH_REGISTER_SP	7
#else
#define ARCH_REGISTERS		32
#define ARCH_REGISTER_SP	31
#endif
struct arch_registers {
	uint64_t r[ARCH_REGISTERS];
	uint64_t ip;
	uint64_t thread;	/* where the C library has what it knows of the thread */
};
bool	tnfctl_arch_registers(pid_t tid, struct arch_registers *ret);
/* True if the task has a thread pointer that is the C library's. */
bool	tnfctl_arch_is_thread(struct proc *, pid_t tid);

/*
 * Why the kernel must not be asked for a breakpoint (uprobe) at this instruction, of which
 * n bytes are there; NULL: it can be.  first: a function begins with it.
 */
#define ARCH_CODE_MAX	16	/* bytes that say it */
#if defined(__x86_64__)
const char *tnfctl_arch_uprobe_refused(const uint8_t *code, size_t n, bool first);
#else
static inline const char *
tnfctl_arch_uprobe_refused(const uint8_t *code, size_t n, bool first)
{
	return NULL;
}
#endif

/* True if the instruction before this address is a call. */
bool	tnfctl_arch_is_return_address(struct proc *, uintptr_t address);
/* A word of a stack, without what a machine signs return addresses with. */
uint64_t tnfctl_arch_address(uint64_t word);

/* Code that makes a signal handler return (rt_sigreturn), and the name of the
   mapping that it is in; NULL: the C library has it. */
extern const unsigned char tnfctl_arch_sigreturn[];
extern const size_t tnfctl_arch_sigreturn_size;
extern const char *const tnfctl_arch_sigreturn_home;

/* All registers of a thread; to be freed with free(3).  NULL: cannot be had. */
struct arch_saved;
struct arch_saved *tnfctl_arch_save(const struct thread *);

/* A call of a function in a thread of the target.  Its arguments are numbers, or addresses
   from tnfctl_call_put(). */
struct call {
	uintptr_t function;
	uintptr_t args[6];
	bool	 alone;		/* it needs no other thread: they stay stopped */
	/* Set by tnfctl_call_make(): */
	long	 result;	/* of the last system call inside */
	int	 error;		/* of the last one that failed, or 0 */
	pid_t	 tid;		/* stopped, at a place where it may */
	uintptr_t stack;	/* end of the memory it uses as its stack */
	uintptr_t restorer;	/* code: system call rt_sigreturn */
	/* Set by tnfctl_remote_call(): */
	uint64_t mask;		/* of signals, when it has come back */
	bool	 waits;		/* has waited for others, which then run */
};

/*
 * Puts a frame with the saved registers on the stack and sets the thread to the
 * function, which returns through that frame: from here on the thread comes back
 * without us.  *ret_sp is what the stack pointer will be at that last system call.
 */
bool	tnfctl_arch_begin(struct proc *, const struct arch_saved *, const struct call *,
	    uint64_t *ret_sp);
/* At the entry of that call: it is not made, and the thread is back. */
void	tnfctl_arch_leave(pid_t tid, const struct arch_saved *);
/* The exact state: a system call that was interrupted goes on. */
void	tnfctl_arch_restore(struct thread *, const struct arch_saved *);

/* A system call that a stop has interrupted: it has returned EINTR. */
struct arch_interrupted {
	long	 call;
	uint64_t arg[6];
};
bool	tnfctl_arch_is_interrupted(const struct thread *, struct arch_interrupted *ret);
/* Sets the thread back onto that call. */
void	tnfctl_arch_redo(pid_t tid, const struct arch_interrupted *);

/* Sets (address) or clears (0) the breakpoint register. */
bool	tnfctl_arch_break(pid_t tid, uintptr_t address);
/* The breakpoint, at a function without effect, was hit: what runs the thread
   next must not hit it again. */
void	tnfctl_arch_pass_break(pid_t tid);

/* Before a thread is asked to stop: notes what its registers will not tell then. */
#ifdef __aarch64__
void	tnfctl_arch_look(struct proc *, struct thread *);
void	tnfctl_arch_stopped(struct proc *, struct thread *);	/* as it was asked to */
void	tnfctl_arch_forget(struct thread *);	/* it runs again */
#else
#define tnfctl_arch_look(p, t)		((void)0)
#define tnfctl_arch_stopped(p, t)	((void)0)
#define tnfctl_arch_forget(t)		((void)0)
#endif

/*
 * A one-byte instruction, the plant, that stops a thread (SIGTRAP, SI_KERNEL), in place of another
 * one.  tnfctl_arch_can_plant(): the other one does nothing but return or go on.
 * tnfctl_arch_pass_plant() sets a thread that stopped at the plant to where such an instruction
 * leads, and in place of any other back to it; false: the thread stopped elsewhere.
 */
#if defined(__x86_64__)
extern const uint8_t tnfctl_arch_trap;
bool	tnfctl_arch_can_plant(const uint8_t *code);	/* 4 bytes */
bool	tnfctl_arch_pass_plant(pid_t tid, uintptr_t at, const uint8_t *code);
#else
static const uint8_t tnfctl_arch_trap = 0;

static inline bool
tnfctl_arch_can_plant(const uint8_t *code)
{
	return false;
}

static inline bool
tnfctl_arch_pass_plant(pid_t tid, uintptr_t at, const uint8_t *code)
{
	return false;
}
#endif

/*
 * The calling convention: where a function finds its arguments when it begins, and leaves its
 * result.
 *
 * Numbers and pointers are in so many registers, then in memory, a word each, from
 * ARCH_STACK_ARGUMENTS bytes above the stack pointer.
 *
 * ARCH_RESULT_FIRST: where a result that no registers hold is to be put is told by an
 * argument before the first; elsewhere a register of its own tells it.
 *
 * ARCH_STRUCTURE_BY_ADDRESS: a structure that is passed by value, and is too large for
 * registers, is told by its address, in place of an argument; elsewhere it is copied
 * into the memory of arguments.
 *
 * ARCH_VECTOR_STRUCTURE: so many bytes a structure of floating-point numbers may have that
 * goes in their registers; 0: none goes there alone.
 */
#if defined(__x86_64__)

#define ARCH_ARGUMENTS			6u
#define ARCH_STACK_ARGUMENTS		8u	/* the address to return to is below them */
#define ARCH_RESULT_FIRST		1
#define ARCH_STRUCTURE_BY_ADDRESS	0
#define ARCH_VECTOR_STRUCTURE		0
#define ARCH_RESULT			KP_R_AX

static const uint8_t arch_argument[ARCH_ARGUMENTS] = {
	KP_R_DI, KP_R_SI, KP_R_DX, KP_R_CX, KP_R_R8, KP_R_R9
};

#elif defined(__aarch64__)

#define ARCH_ARGUMENTS			8u
#define ARCH_STACK_ARGUMENTS		0u
#define ARCH_RESULT_FIRST		0
#define ARCH_STRUCTURE_BY_ADDRESS	1
#define ARCH_VECTOR_STRUCTURE		64	/* four of 16 bytes */
#define ARCH_RESULT			KP_R_X0

static const uint8_t arch_argument[ARCH_ARGUMENTS] = {
	KP_R_X0, KP_R_X0 + 1, KP_R_X0 + 2, KP_R_X0 + 3, KP_R_X0 + 4, KP_R_X0 + 5,
	KP_R_X0 + 6, KP_R_X0 + 7
};

#else

/* There are no kernel probes, and nobody hits one of a function's. */
#define ARCH_ARGUMENTS			1u
#define ARCH_STACK_ARGUMENTS		0u
#define ARCH_RESULT_FIRST		0
#define ARCH_STRUCTURE_BY_ADDRESS	0
#define ARCH_VECTOR_STRUCTURE		0
#define ARCH_RESULT			KP_R_NONE

static const uint8_t arch_argument[ARCH_ARGUMENTS] = { KP_R_NONE };

#endif

#endif
