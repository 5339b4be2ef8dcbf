/*
 * plant.c - an instruction that stops the target where its linker tells debuggers of a change.
 *
 * A breakpoint register would do the same, but the first one that is set within a second
 * has the kernel wait for an RCU grace period, some 15 ms, and each thread needs its own.  An
 * instruction costs nothing, and all threads have it.  But a child process gets a
 * copy of it, which kills the child at its first dlopen().  So the target stops at each fork while
 * the instruction is there: it is taken out of the child before the child runs.  At the first fork it
 * is taken out of the target, too, when no other thread runs, and breakpoint registers take
 * its place: else each fork would cost two stops.
 *
 * The kernel kills a target of ours when we die, so that no instruction outlives us.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <linux/kcmp.h>
#include <signal.h>
#include <unistd.h>

#include "libtnfctl/arch/arch.h"
#include "libtnfctl/proc.h"

bool
tnfctl_plant_set(struct proc *p)
{
	struct plant *plant = &p->plant;
	uint8_t code[sizeof(plant->code)];

	if (plant->there || plant->forked || p->linker.brk == 0)
		return plant->there;
	if (!tnfctl_proc_read(p, p->linker.brk, code, sizeof(code)) ||
	    !tnfctl_arch_can_plant(code) ||
	    !tnfctl_proc_write(p, p->linker.brk, &tnfctl_arch_trap, 1))
		return false;
	for (size_t i = 0; i < sizeof(code); i++)
		plant->code[i] = code[i];
	plant->at = p->linker.brk;
	return plant->there = true;
}

void
tnfctl_plant_clear(struct proc *p)
{
	if (p->plant.there)
		tnfctl_proc_write(p, p->plant.at, p->plant.code, 1);
	p->plant.there = false;
}

/* False also if the kernel does not say; then the instruction must not stay in either. */
static bool
shares_memory(struct proc *mother, pid_t child)
{
	long r = syscall(SYS_kcmp, mother->pid, child, KCMP_VM, 0, 0);

	if (r < 0) {
		tnfctl_plant_clear(mother);
		mother->no_registers = true;	/* from now on the linker's list is looked at */
	}
	return r == 0;
}

void
tnfctl_plant_clean(struct proc *mother, pid_t child, const struct plant *plant)
{
	long word;

	if (!plant->there || (mother->plant.there && shares_memory(mother, child)))
		return;
	word = ptrace(PTRACE_PEEKTEXT, child, plant->at, NULL);
	if ((uint8_t)word == tnfctl_arch_trap)
		ptrace(PTRACE_POKETEXT, child, plant->at,
		    (uintptr_t)((word & ~0xffl) | plant->code[0]));
}

bool
tnfctl_plant_hit(const struct proc *p, const struct thread *t, int signal)
{
	siginfo_t si;

	return p->plant.at != 0 && signal == SIGTRAP &&
	    ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) == 0 && si.si_code == SI_KERNEL &&
	    tnfctl_arch_pass_plant(t->tid, p->plant.at, p->plant.code);
}
