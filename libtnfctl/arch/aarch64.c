/*
 * aarch64.c - registers, signal frames and code of 64-bit ARM.
 *
 * When a stop interrupts a system call, the kernel has set the registers back onto
 * it already (pc at the svc, x0 as it was), or x0 is -EINTR and the first argument
 * is gone; which call it is no register says.  So a thread is looked at before it is
 * asked to stop (tnfctl_arch_look()): /proc tells of one that sleeps which call it is in.
 *
 * A thread that ran then may be in a call when it stops.  If that call has returned EINTR
 * its number is still in x8, and the kernel still has its first argument, which /proc
 * tells once the thread is said to be in that call (tnfctl_arch_stopped()).  A signal handler
 * that has just returned looks the same, but its first argument is another one.  So this
 * is believed where the process has no handlers, and would take an EINTR for an error,
 * or where the call is the one in which the thread was last let run.
 */
#include <sys/uio.h>
#include <sys/user.h>

#include <elf.h>
#include <inttypes.h>

#include "libtnfctl/proc.h"
#include "libtnfctl/usdt.h"

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL	0x404
#endif

#define SVC		0xd4000001u
#define CALL_SIZE	4
#define NO_CALL		(-1)
#define ADDRESS_MASK	((UINT64_C(1) << 48) - 1)
#define PSTATE_BTYPE	(3u << 10)
#define PSTATE_SS	(1u << 21)
#define BREAK_ON	(1u | 2u << 1 | 0xfu << 5)	/* EL0, all four bytes */
#define VECTORS_MAGIC	0x46508001u
#define VECTORS_MAX	(9u << 10)	/* 256 bytes a register */
#define SVE_ACTIVE	1u

/* mov x8, #139; svc #0: in the vdso */
const unsigned char tnfctl_arch_sigreturn[] = {
	0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4
};
const size_t tnfctl_arch_sigreturn_size = sizeof(tnfctl_arch_sigreturn);
const char *const tnfctl_arch_sigreturn_home = "[vdso]";

struct fpsimd {
	__uint128_t vregs[32];
	uint32_t fpsr, fpcr;
	uint32_t reserved[2];
};

/* struct rt_sigframe, struct ucontext and struct sigcontext of the kernel; what a
   machine has beyond the 128-bit registers is set back by us alone. */
struct frame {
	unsigned char info[128];
	uint64_t uc_flags;
	uint64_t uc_link;
	uint64_t stack[3];
	uint64_t sigmask;
	unsigned char unused[128];
	uint64_t fault_address;
	uint64_t regs[31];
	uint64_t sp, pc, pstate;
	uint64_t pad;
	struct {
		uint32_t magic, size;
		uint32_t fpsr, fpcr;
		__uint128_t vregs[32];
	} fpsimd;
	unsigned char reserved[4096 - 528];	/* zero: no more records */
};

_Static_assert(offsetof(struct frame, fault_address) == 128 + 176, "uc_mcontext");
_Static_assert(offsetof(struct frame, fpsimd) == 128 + 176 + 288, "__reserved");

struct arch_saved {
	struct user_regs_struct regs;
	struct fpsimd fpsimd;
	struct asleep asleep;
	bool	 timed;		/* was asleep for a time of which a rest is left */
	size_t	 vectors_size;	/* 0: no longer registers are in use */
	unsigned char vectors[VECTORS_MAX];
};

/* Calls that the kernel continues with restart_syscall(2). */
static const long timed_calls[] = {
	SYS_nanosleep, SYS_clock_nanosleep, SYS_futex, SYS_restart_syscall,
};

static bool
get_set(pid_t tid, unsigned int set, void *ret, size_t size, size_t *ret_size)
{
	struct iovec v = { ret, size };

	if (ptrace(PTRACE_GETREGSET, tid, set, &v) != 0)
		return false;
	if (ret_size != NULL)
		*ret_size = v.iov_len;
	return true;
}

static bool
put_set(pid_t tid, unsigned int set, const void *from, size_t size)
{
	struct iovec v = { (void *)(uintptr_t)from, size };

	return ptrace(PTRACE_SETREGSET, tid, set, &v) == 0;
}

static bool
get_regs(pid_t tid, struct user_regs_struct *ret)
{
	return get_set(tid, NT_PRSTATUS, ret, sizeof(*ret), NULL);
}

/* ... and in no system call, wherever in the kernel it stands. */
static bool
set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	const int none = NO_CALL;

	if (!put_set(tid, NT_PRSTATUS, regs, sizeof(*regs)))
		return false;
	put_set(tid, NT_ARM_SYSTEM_CALL, &none, sizeof(none));
	return true;
}

/* The call that a thread is in, as /proc tells it. */
static struct asleep
proc_call(const struct proc *p, const struct thread *t)
{
	struct asleep a = { .call = NO_CALL };
	char line[256];

	if (tnf_proc_file(line, sizeof(line), "/proc/%d/task/%d/syscall", (int)p->pid,
	    (int)t->tid) > 0 && sscanf(line, "%ld %" SCNx64
	    " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
	    " %" SCNx64 " %" SCNx64, &a.call, &a.arg[0], &a.arg[1], &a.arg[2],
	    &a.arg[3], &a.arg[4], &a.arg[5], &a.sp, &a.pc) != 9)
		a.call = NO_CALL;
	return a;
}

void
tnfctl_arch_look(struct proc *p, struct thread *t)
{
	t->asleep = proc_call(p, t);
}

void
tnfctl_arch_forget(struct thread *t)
{
	if (t->asleep.call != NO_CALL)
		t->before = t->asleep;
	t->asleep.call = NO_CALL;
}

/* True if the thread stands where the sleep that we know of was interrupted. */
static bool
was_asleep(const struct thread *t, const struct user_regs_struct *r)
{
	return t->asleep.call != NO_CALL && r->sp == t->asleep.sp &&
	    (r->pc == t->asleep.pc || r->pc == t->asleep.pc - CALL_SIZE);
}

static bool
is_same_call(const struct asleep *a, const struct asleep *b)
{
	return a->call == b->call && a->sp == b->sp && a->pc == b->pc &&
	    memcmp(a->arg, b->arg, sizeof(a->arg)) == 0;
}

static bool
has_handlers(const struct proc *p, const struct thread *t)
{
	char set[64];

	return !tnf_thread_status_text(p->pid, t->tid, "SigCgt", set, sizeof(set)) ||
	    strtoull(set, NULL, 16) != 0;
}

void
tnfctl_arch_stopped(struct proc *p, struct thread *t)
{
	const int none = NO_CALL;
	struct user_regs_struct r;
	struct asleep a;
	uint32_t code;
	int call;

	if (t->syscalls || t->asleep.call != NO_CALL || !get_regs(t->tid, &r) ||
	    (int64_t)r.regs[0] != -EINTR ||
	    !tnfctl_proc_read(p, r.pc - CALL_SIZE, &code, sizeof(code)) || code != SVC)
		return;
	call = (int)r.regs[8];
	if (!put_set(t->tid, NT_ARM_SYSTEM_CALL, &call, sizeof(call)))
		return;
	a = proc_call(p, t);
	put_set(t->tid, NT_ARM_SYSTEM_CALL, &none, sizeof(none));
	if (is_same_call(&a, &t->before) || !has_handlers(p, t))
		t->asleep = a;
}

bool
tnfctl_arch_is_interrupted(const struct thread *t, struct arch_interrupted *ret)
{
	struct user_regs_struct r;

	if (t->asleep.call == NO_CALL || !get_regs(t->tid, &r) ||
	    !was_asleep(t, &r) || r.pc != t->asleep.pc ||
	    (int64_t)r.regs[0] != -EINTR)
		return false;
	ret->call = t->asleep.call;
	memcpy(ret->arg, t->asleep.arg, sizeof(ret->arg));
	return true;
}

void
tnfctl_arch_redo(pid_t tid, const struct arch_interrupted *i)
{
	struct user_regs_struct r;

	if (!get_regs(tid, &r))
		return;
	r.regs[0] = i->arg[0];
	r.regs[8] = (uint64_t)i->call;
	r.pc -= CALL_SIZE;
	set_regs(tid, &r);
}

bool
tnfctl_arch_where(struct proc *p, const struct thread *t, uintptr_t *ip, uintptr_t *sp,
    long *call)
{
	struct user_regs_struct r;
	uint32_t code;

	if (!get_regs(t->tid, &r))
		return false;
	*ip = r.pc;
	*sp = r.sp;
	*call = NO_CALL;
	if (was_asleep(t, &r))
		*call = t->asleep.call;
	else if (tnfctl_proc_read(p, r.pc, &code, sizeof(code)) && code == SVC)
		*call = (int)r.regs[8];
	return true;
}

static bool
is_timed(const struct thread *t, const struct user_regs_struct *r)
{
	size_t i;

	for (i = 0; i < sizeof(timed_calls) / sizeof(timed_calls[0]); i++)
		if (t->asleep.call == timed_calls[i])
			break;
	if (i == sizeof(timed_calls) / sizeof(timed_calls[0]) ||
	    !was_asleep(t, r) || r->pc == t->asleep.pc)
		return false;
	/* Until a point in time, or without an end: made again as it was. */
	if (t->asleep.call == SYS_clock_nanosleep)
		return (t->asleep.arg[1] & 1) == 0;	/* TIMER_ABSTIME */
	return t->asleep.call != SYS_futex || t->asleep.arg[3] != 0;
}

struct arch_saved *
tnfctl_arch_save(const struct thread *t)
{
	struct arch_saved *s = calloc(1, sizeof(*s));
	struct user_sve {
		uint32_t size, max_size;
		uint16_t vl, max_vl, flags, reserved;
	} head;

	if (s == NULL)
		return NULL;
	if (!get_regs(t->tid, &s->regs) ||
	    !get_set(t->tid, NT_FPREGSET, &s->fpsimd, sizeof(s->fpsimd), NULL)) {
		free(s);
		return NULL;
	}
	if (get_set(t->tid, NT_ARM_SVE, s->vectors, sizeof(s->vectors),
	    &s->vectors_size)) {
		memcpy(&head, s->vectors, sizeof(head));
		if ((head.flags & SVE_ACTIVE) == 0)
			s->vectors_size = 0;
	} else {
		s->vectors_size = 0;
	}
	s->asleep = t->asleep;
	s->timed = is_timed(t, &s->regs);
	return s;
}

bool
tnfctl_arch_begin(struct proc *p, const struct arch_saved *s, const struct call *c,
    uint64_t *ret_sp)
{
	struct frame f = { .stack = { 0, 2 /* SS_DISABLE */, 0 },
		.sigmask = c->mask, .sp = s->regs.sp, .pc = s->regs.pc,
		.pstate = s->regs.pstate };
	uint64_t sp = (c->stack - sizeof(f)) & ~UINT64_C(15);
	struct user_regs_struct r = s->regs;

	memcpy(f.regs, s->regs.regs, sizeof(f.regs));
	f.fpsimd.magic = VECTORS_MAGIC;
	f.fpsimd.size = sizeof(f.fpsimd);
	f.fpsimd.fpsr = s->fpsimd.fpsr;
	f.fpsimd.fpcr = s->fpsimd.fpcr;
	memcpy(f.fpsimd.vregs, s->fpsimd.vregs, sizeof(f.fpsimd.vregs));
	if (!tnfctl_proc_write(p, sp, &f, sizeof(f)))
		return false;
	memcpy(r.regs, c->args, sizeof(c->args));
	r.regs[29] = 0;
	r.regs[30] = c->restorer;
	r.pc = c->function;
	r.sp = *ret_sp = sp;
	r.pstate &= ~(uint64_t)(PSTATE_BTYPE | PSTATE_SS);
	return set_regs(c->tid, &r);
}

void
tnfctl_arch_leave(pid_t tid, const struct arch_saved *s)
{
	if (s->vectors_size != 0)
		put_set(tid, NT_ARM_SVE, s->vectors, s->vectors_size);
	else
		put_set(tid, NT_FPREGSET, &s->fpsimd, sizeof(s->fpsimd));
	set_regs(tid, &s->regs);
}

/* At the entry of a call, where tnfctl_arch_leave() wrote them, the kernel keeps a copy of
   x7; so all of them once more. */
void
tnfctl_arch_restore(struct thread *t, const struct arch_saved *s)
{
	struct user_regs_struct r = s->regs;

	if (s->timed)
		r.regs[8] = SYS_restart_syscall;
	if (set_regs(t->tid, &r))
		t->asleep = s->asleep;
}

bool
tnfctl_arch_registers(pid_t tid, struct arch_registers *ret)
{
	struct user_regs_struct u;
	uint64_t tp[2] = { 0 };

	if (!get_regs(tid, &u) || !get_set(tid, NT_ARM_TLS, tp, sizeof(tp), NULL))
		return false;
	memcpy(ret->r, u.regs, sizeof(u.regs));
	ret->r[ARCH_REGISTER_SP] = u.sp;
	ret->ip = u.pc;
	ret->thread = tp[0];
	return true;
}

/* The words at the thread pointer are dtv and private. */
bool
tnfctl_arch_is_thread(struct proc *p, pid_t tid)
{
	uint64_t tp[2] = { 0 }, dtv = 0, generation;

	return get_set(tid, NT_ARM_TLS, tp, sizeof(tp), NULL) && tp[0] != 0 &&
	    tnfctl_proc_read(p, tp[0], &dtv, sizeof(dtv)) && dtv != 0 &&
	    tnfctl_proc_read(p, dtv, &generation, sizeof(generation));
}

bool
tnfctl_arch_is_return_address(struct proc *p, uintptr_t address)
{
	uint32_t code;

	address = tnfctl_arch_address(address);
	if (address % sizeof(code) != 0 ||
	    !tnfctl_proc_read(p, address - sizeof(code), &code, sizeof(code)))
		return false;
	return code >> 26 == 0x25 ||			/* bl */
	    (code & 0xfefff000) == 0xd63f0000;		/* blr, blraa, ... */
}

uint64_t
tnfctl_arch_address(uint64_t word)
{
	return word & ADDRESS_MASK;
}

bool
tnfctl_arch_break(pid_t tid, uintptr_t address)
{
	const struct {
		uint32_t info, pad;
		uint64_t addr;
		uint32_t ctrl, pad1;
	} s = { .addr = address, .ctrl = address != 0 ? BREAK_ON : 0 };

	return put_set(tid, NT_ARM_HW_BREAK, &s, sizeof(s));
}

/* The processor would stop there again, and the function has no effect. */
void
tnfctl_arch_pass_break(pid_t tid)
{
	struct user_regs_struct r;

	if (!get_regs(tid, &r))
		return;
	r.pc = r.regs[30];
	r.pstate &= ~(uint64_t)PSTATE_BTYPE;
	put_set(tid, NT_PRSTATUS, &r, sizeof(r));
}

/*
 * Operands of USDT probes, as gcc and clang print them:
 *
 * x0 w0 sp xzr			a register, or its lower half
 * 5 -1 0x10 #5			a constant
 * [sp] [x29, -20] [x0, #8]	memory
 * [x0, x1] [x0, x1, lsl 3]
 * symbol symbol+8			memory at a fixed place
 */

#define SHIFT_MAX	3	/* words of eight bytes */

/* "31" is no register: its code means sp or zero. */
static bool
general_number(const char *s, size_t n, uint8_t *ret)
{
	unsigned v = 0;

	if (n < 1 || n > 2 || (n == 2 && s[0] == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (unsigned)(s[i] - '0');
	}
	*ret = (uint8_t)(KP_R_X0 + v);
	return v <= KP_R_X30;
}

/* A name at t->p; what is no register's is left where it is.  *whole: all 64 bits. */
static bool
find_register(struct operand_text *t, uint8_t *ret, bool *whole)
{
	static const struct {
		const char *name;
		uint8_t number;
	} names[] = {
		{ "sp", KP_R_SP }, { "wsp", KP_R_SP }, { "xzr", KP_R_NONE },
		{ "wzr", KP_R_NONE }, { "fp", KP_R_X0 + 29 }, { "lr", KP_R_X30 },
	};
	size_t n = tnfctl_operand_name(t->p);

	*whole = t->p[0] != 'w';
	if (n > 1 && (t->p[0] == 'x' || t->p[0] == 'w') &&
	    general_number(t->p + 1, n - 1, ret)) {
		t->p += n;
		return true;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i].name) == n && memcmp(names[i].name, t->p, n) == 0) {
			*ret = names[i].number;
			t->p += n;
			return true;
		}
	return false;
}

/* v0, q0, d0, s0, h0, b0 */
static bool
is_vector(const char *s)
{
	size_t n = tnfctl_operand_name(s);
	uint8_t number;

	return n > 1 && strchr("vqdshb", s[0]) != NULL &&
	    (general_number(s + 1, n - 1, &number) || (n == 3 && memcmp(s + 1, "31", 2) == 0));
}

/* A comma, with blanks around it. */
static bool
take_comma(struct operand_text *t)
{
	const char *p = t->p + strspn(t->p, " \t");

	if (*p != ',')
		return false;
	t->p = p + 1 + strspn(p + 1, " \t");
	return true;
}

/* "lsl 3" behind the second register. */
static bool
read_shift(struct operand_text *t, struct kp_operand *o)
{
	int64_t shift;

	if (strncmp(t->p, "lsl", 3) != 0)
		return tnfctl_operand_refuse(t, "a register that is extended in an address");
	t->p += 3;
	t->p += strspn(t->p, " \t#");
	if (!tnfctl_operand_number(&t->p, &shift) || shift < 0 || shift > SHIFT_MAX)
		return tnfctl_operand_refuse(t, "shift is not 0, 1, 2 or 3");
	o->scale = (uint8_t)(1 << shift);
	return true;
}

/* Behind the base there is a distance, or a second register. */
static bool
read_distance(struct operand_text *t, struct kp_operand *o)
{
	int64_t distance;
	bool whole;

	if (find_register(t, &o->index, &whole)) {
		if (!whole)
			return tnfctl_operand_refuse(t, "a register that is extended in an address");
		return !take_comma(t) || read_shift(t, o);
	}
	t->p += *t->p == '#';
	if (*t->p == ':')
		return tnfctl_operand_refuse(t, "half of a symbol's address");
	if (!tnfctl_operand_number(&t->p, &distance))
		return tnfctl_operand_refuse(t, "operand is not understood");
	o->offset = distance;
	return true;
}

static bool
read_memory(struct operand_text *t, struct kp_operand *o)
{
	bool whole;

	o->kind = KP_OPERAND_MEMORY;
	t->p++;
	t->p += strspn(t->p, " \t");
	if (!find_register(t, &o->base, &whole) || !whole)
		return tnfctl_operand_refuse(t, "operand is not understood");
	if (take_comma(t) && !read_distance(t, o))
		return false;
	t->p += strspn(t->p, " \t");
	if (*t->p != ']')
		return tnfctl_operand_refuse(t, "operand is not understood");
	t->p++;		/* what changes the register, "[x0], 8" or "[x0, 8]!", is refused */
	return true;
}

bool
tnfctl_arch_operand(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols;
	int64_t v;
	bool whole;

	if (*t->p == '[')
		return read_memory(t, o);
	t->p += *t->p == '#';
	if (tnfctl_operand_number(&t->p, &v)) {
		o->offset = v;
		return true;
	}
	if (find_register(t, &o->base, &whole)) {
		if (!whole && o->size > 4)	/* what is above is no part of it */
			o->size = 4;
		return true;
	}
	if (is_vector(t->p))
		return tnfctl_operand_refuse(t, "register %.*s holds a floating-point number",
		    (int)tnfctl_operand_name(t->p), t->p);
	o->kind = KP_OPERAND_MEMORY;
	return tnfctl_operand_expression(t, &o->offset, &symbols) &&
	    (symbols == 0 || tnfctl_operand_place(t, o));
}
