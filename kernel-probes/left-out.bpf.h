/*
 * left-out.bpf.h - threads that the filter leaves out are known by their stacks.
 *
 * To ask which thread runs is to call a helper, half of what a program adds to a system
 * call that the filter leaves out.  But the arguments of a hook lie on the stack of the thread that
 * runs, and this address costs nothing.  So a program that finds its thread left out notes the
 * thread's stack in tnf_left_out, and the next program on that stack asks for no thread.
 *
 * A change of the filter's mode or set is followed by a new number of state.turn.  So is a new thread
 * that the filter lets through (filter_fork), since its stack may have had another owner.  A note
 * holds for the turn in which it was made: a change has no notes to look for.  As long as filter_fork
 * is not attached (state.notes is 0), there are no notes.
 *
 * An interrupt is on another stack, which is never noted.  The filter's CPUs do not matter
 * here: a thread that is noted is left out on each of them.
 */
#ifndef KERNEL_PROBES_LEFT_OUT_BPF_H
#define KERNEL_PROBES_LEFT_OUT_BPF_H

#include "kernel-probes/write.bpf.h"

struct kp_map_left_out {
	__uint(type, BPF_MAP_TYPE_ARRAY);	/* its look-up is no call, but part of the program */
	__uint(map_flags, BPF_F_MMAPABLE);	/* so that the first begins a page */
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u64);
};

extern struct kp_map_left_out tnf_left_out SEC(".maps");

/* No kernel has smaller stacks.  Of larger ones only this much, at the lower end, is ever noted. */
#define STACK_LEAST	16384u

struct own_stack {		/* on which the program runs */
	u64 note;		/* what says in the present turn that its thread is left out */
	u64 *at;		/* where such a note is */
	u32 place;		/* lower half of the address of the hook's arguments */
};

/*
 * The verifier lets a program subtract a pointer from another one, and take the lower half
 * of one, but do nothing else with the address of the hook's arguments.  So a stack is told by
 * its distance from a variable, in 48 bits: all stacks of a kernel are in one range of its
 * addresses.  A stack begins at a multiple of its size, so that in the note 30 bits are left to the turn.
 */
static __always_inline struct own_stack own_stack(void *ctx)
{
	u64 distance = (u64)ctx, place;
	struct own_stack s;
	u32 n;

	asm volatile("r2 = %1\n\tw2 = w2\n\t%0 = r2" : "=r"(place) : "r"(ctx) : "r2");
	asm volatile("%0 -= %1" : "+r"(distance) : "r"(&state));
	s.place = place;
	n = place / STACK_LEAST & 4095;
	s.at = bpf_map_lookup_elem(&tnf_left_out, &n);
	s.note = (distance - (place & (STACK_LEAST - 1))) << 16 ^ state.turn;
	return s;
}

static __always_inline bool stack_is_noted(void *ctx)
{
	struct own_stack s = own_stack(ctx);

	return s.at != NULL && *s.at == s.note;
}

/* Judges the current thread, which the filter has left out, once more after the turn was read,
   and notes its stack.  Kernel threads are not noted: one that calls exec becomes a process. */
static __always_inline void stack_note(void *ctx, struct task_struct *me)
{
	struct own_stack s = own_stack(ctx);
	u64 from = (u64)ctx, place = 0, stack = (u64)me->stack;
	u32 mode;

	if (s.at == NULL || s.place - (u32)stack >= STACK_LEAST || me->flags & PF_KTHREAD)
		return;
	bpf_probe_read_kernel(&place, sizeof place, &from);	/* a number, of the pointer */
	if (place - stack >= STACK_LEAST)
		return;
	load_barrier();
	mode = state.filter & KP_FILTER_MODE;
	if (state.notes && mode != KP_FILTER_OFF && !set_holds(mode, me->tgid))
		write_once(*s.at, s.note);
}

/* To be called after a change that may let a thread through: who reads the new turn sees the
   change, too. */
static __always_inline void filter_changed(void)
{
	store_barrier();
	__sync_fetch_and_add(&state.turn, 1);
}

/* The current thread, or NULL: the filter leaves out what it writes. */
static __always_inline struct task_struct *passing_thread(void *ctx)
{
	struct task_struct *me;

	if (unlikely(state.filter & KP_FILTER_MODE) && stack_is_noted(ctx))
		return NULL;
	me = bpf_get_current_task_btf();
	if (likely(passes(me)))
		return me;
	stack_note(ctx, me);
	return NULL;
}

/* The current thread, which wakes thread p, or NULL: the filter surely leaves out both.  The
   thread is no more than a hint (left_out()). */
static __always_inline struct task_struct *passing_waker(void *ctx, struct task_struct *p)
{
	bool out = state.filter == KP_FILTER_ONLY && surely_out(*filter_reasons(p->tgid));
	struct task_struct *me;

	if (out && stack_is_noted(ctx))
		return NULL;
	me = bpf_get_current_task_btf();
	if (!out || *filter_reasons(me->tgid) != 0)
		return me;
	stack_note(ctx, me);
	return NULL;
}

#endif /* KERNEL_PROBES_LEFT_OUT_BPF_H */
