/*
 * other.c - a machine whose registers we do not know: nothing is called in the target.
 */
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/usdt.h"

const unsigned char tnfctl_arch_sigreturn[1];
const size_t tnfctl_arch_sigreturn_size = 0;
const char *const tnfctl_arch_sigreturn_home = NULL;

bool
tnfctl_arch_where(struct proc *p, const struct thread *t, uintptr_t *ip, uintptr_t *sp,
    long *call)
{
	return false;
}

bool
tnfctl_arch_registers(pid_t tid, struct arch_registers *ret)
{
	return false;
}

bool
tnfctl_arch_is_thread(struct proc *p, pid_t tid)
{
	return false;
}

bool
tnfctl_arch_is_return_address(struct proc *p, uintptr_t address)
{
	return true;
}

uint64_t
tnfctl_arch_address(uint64_t word)
{
	return word;
}

struct arch_saved *
tnfctl_arch_save(const struct thread *t)
{
	return NULL;
}

bool
tnfctl_arch_begin(struct proc *p, const struct arch_saved *s, const struct call *c,
    uint64_t *ret_sp)
{
	return false;
}

void
tnfctl_arch_leave(pid_t tid, const struct arch_saved *s)
{
}

void
tnfctl_arch_restore(struct thread *t, const struct arch_saved *s)
{
}

bool
tnfctl_arch_is_interrupted(const struct thread *t, struct arch_interrupted *ret)
{
	return false;
}

void
tnfctl_arch_redo(pid_t tid, const struct arch_interrupted *i)
{
}

bool
tnfctl_arch_break(pid_t tid, uintptr_t address)
{
	return address == 0;
}

void
tnfctl_arch_pass_break(pid_t tid)
{
}

/* Nor are its operands read. */
bool
tnfctl_arch_operand(struct operand_text *t, struct kp_operand *o)
{
	return tnfctl_operand_refuse(t, "operands of this machine are not known");
}
