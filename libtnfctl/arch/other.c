/*
 * other.c - a machine whose registers and instructions we do not know: nothing is called in the target.
 */
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/sites/sites.h"
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

/* Nor is any instruction moved. */

#define UNKNOWN		"the code of this machine is not known"

const bool tnfctl_move_needs_branches = false;

const char *
tnfctl_move_unknown(void)
{
	return UNKNOWN;
}

size_t
tnfctl_move_landing(const uint8_t *bytes, size_t n)
{
	return 0;
}

bool
tnfctl_move_steps_to(const uint8_t *bytes, size_t n, size_t distance)
{
	return false;
}

const char *
tnfctl_move_judge(const uint8_t *bytes, size_t n, size_t inside, struct site *s)
{
	return UNKNOWN;
}

const char *
tnfctl_site_relocate(const struct site *s, uint64_t from, uint64_t pad,
    uint8_t ret[SITE_MOVED_MAX], size_t *length)
{
	return UNKNOWN;
}

uint64_t
tnfctl_site_to_pad(const struct site *s, uint64_t from, uint64_t pad, uint64_t ip)
{
	return 0;
}
