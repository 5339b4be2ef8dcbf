/*
 * x86-64.c - registers, signal frames and code of x86-64.
 */
#include <elf.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "libtnfctl/proc.h"
#include "libtnfctl/usdt.h"

#define XSTATE_MAX	16384u
#define TCB_SELF	16	/* what lies at the thread pointer: tcb, dtv, self */
#define XSTATE_MAGIC1	0x46505853u
#define XSTATE_MAGIC2	0x46505845u

/* mov $15, %rax; syscall */
const unsigned char tnfctl_arch_sigreturn[] = {
	0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05
};
const size_t tnfctl_arch_sigreturn_size = sizeof(tnfctl_arch_sigreturn);
const char *const tnfctl_arch_sigreturn_home = NULL;

/* struct rt_sigframe, struct ucontext and struct sigcontext of the kernel. */
struct frame {
	uint64_t return_to;
	uint64_t uc_flags;
	uint64_t uc_link;
	uint64_t stack[3];
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate;
	uint64_t reserved[8];
	uint64_t sigmask;
};
#define UC_FP_XSTATE		1u
#define UC_SIGCONTEXT_SS	2u
#define UC_STRICT_RESTORE_SS	4u

/* Signal frames have this in their xsave area, at byte 464. */
struct frame_sw {
	uint32_t magic1;
	uint32_t extended_size;
	uint64_t features;
	uint32_t xstate_size;
	uint32_t padding[7];
};
#define XSTATE_SW	464u
#define XSTATE_HEADER	512u	/* behind what FXSAVE has, too */

struct arch_saved {
	struct user_regs_struct regs;
	int	 regset;	/* NT_X86_XSTATE, NT_PRFPREG where there is no XSAVE */
	size_t	 xsize;
	unsigned char xstate[XSTATE_MAX + sizeof(uint32_t)];
};

static bool
set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec v = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

static bool
get_regs(pid_t tid, struct user_regs_struct *ret)
{
	struct iovec v = { ret, sizeof(*ret) };

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

static bool
get_xstate(pid_t tid, struct arch_saved *s)
{
	struct iovec v = { s->xstate, XSTATE_MAX };

	s->regset = NT_X86_XSTATE;
	if (ptrace(PTRACE_GETREGSET, tid, s->regset, &v) == 0) {
		s->xsize = v.iov_len;
		return s->xsize >= XSTATE_HEADER + 64 && s->xsize < XSTATE_MAX;
	}
	/* Without XSAVE there is no more than what FXSAVE has. */
	s->regset = NT_PRFPREG;
	v.iov_len = XSTATE_MAX;
	if (ptrace(PTRACE_GETREGSET, tid, s->regset, &v) != 0)
		return false;
	s->xsize = v.iov_len;
	return s->xsize == XSTATE_HEADER;
}

struct arch_saved *
tnfctl_arch_save(const struct thread *t)
{
	struct arch_saved *s = malloc(sizeof(*s));

	if (s == NULL)
		return NULL;
	if (get_regs(t->tid, &s->regs) && get_xstate(t->tid, s))
		return s;
	free(s);
	return NULL;
}

/*
 * The registers as they are when nobody is there to restart a system call:
 * set back onto the call, as the kernel does for a handler with SA_RESTART.
 */
static struct user_regs_struct
arch_restarting(const struct user_regs_struct *regs)
{
	struct user_regs_struct r = *regs;
	long result = (long)r.rax;

	if ((long)r.orig_rax >= 0) {
		/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND; then the rest */
		if (result == -512 || result == -513 || result == -514) {
			r.rax = r.orig_rax;
			r.rip -= 2;
		} else if (result == -516) {
			r.rax = (unsigned long long)-EINTR;
		}
	}
	r.orig_rax = (unsigned long long)-1;
	return r;
}

static void
fill_frame(struct frame *f, const struct arch_saved *s, const struct call *c,
    uint64_t fpstate)
{
	const struct user_regs_struct u = arch_restarting(&s->regs);

	*f = (struct frame){
		.return_to = c->restorer,
		.uc_flags = (s->regset == NT_X86_XSTATE ? UC_FP_XSTATE : 0) |
		    UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.stack = { 0, 2 /* SS_DISABLE */, 0 },
		.r8 = u.r8, .r9 = u.r9, .r10 = u.r10, .r11 = u.r11,
		.r12 = u.r12, .r13 = u.r13, .r14 = u.r14, .r15 = u.r15,
		.di = u.rdi, .si = u.rsi, .bp = u.rbp, .bx = u.rbx,
		.dx = u.rdx, .ax = u.rax, .cx = u.rcx, .sp = u.rsp,
		.ip = u.rip, .flags = u.eflags,
		.cs = (uint16_t)u.cs, .ss = (uint16_t)u.ss,
		.fpstate = fpstate, .sigmask = c->mask,
	};
}

/* The xsave area of ptrace becomes one of a signal frame. */
static size_t
frame_xstate(const struct arch_saved *s, unsigned char *ret)
{
	struct frame_sw sw = { .magic1 = XSTATE_MAGIC1 };
	const uint32_t magic2 = XSTATE_MAGIC2;

	memcpy(ret, s->xstate, s->xsize);
	if (s->regset != NT_X86_XSTATE)
		return s->xsize;
	memcpy(&sw.features, s->xstate + XSTATE_SW, sizeof(sw.features));
	sw.xstate_size = (uint32_t)s->xsize;
	sw.extended_size = (uint32_t)(s->xsize + sizeof(magic2));
	memcpy(ret + XSTATE_SW, &sw, sizeof(sw));
	memcpy(ret + s->xsize, &magic2, sizeof(magic2));
	return s->xsize + sizeof(magic2);
}

/* Puts the frame on the stack; the stack pointer for the call, 0: no room. */
static uint64_t
build_frame(struct proc *p, const struct arch_saved *s, const struct call *c)
{
	unsigned char xstate[XSTATE_MAX + sizeof(uint32_t)];
	size_t xsize = frame_xstate(s, xstate);
	uint64_t fp, sp;
	struct frame f;

	fp = (c->stack - xsize) & ~UINT64_C(63);
	sp = ((fp - sizeof(f)) & ~UINT64_C(15)) - 8;
	fill_frame(&f, s, c, fp);
	if (!tnfctl_proc_write(p, fp, xstate, xsize) ||
	    !tnfctl_proc_write(p, sp, &f, sizeof(f)))
		return 0;
	return sp;
}

bool
tnfctl_arch_begin(struct proc *p, const struct arch_saved *s, const struct call *c,
    uint64_t *ret_sp)
{
	struct user_regs_struct regs = s->regs;
	uint64_t sp = build_frame(p, s, c);

	if (sp == 0)
		return false;
	regs.rip = c->function;
	regs.rsp = sp;
	regs.rdi = c->args[0];
	regs.rsi = c->args[1];
	regs.rdx = c->args[2];
	regs.rcx = c->args[3];
	regs.r8 = c->args[4];
	regs.r9 = c->args[5];
	regs.rax = 0;
	regs.orig_rax = (unsigned long long)-1;
	regs.eflags &= ~UINT64_C(0x500);	/* no direction, no trap flag */
	*ret_sp = sp + sizeof(uint64_t);
	return set_regs(c->tid, &regs);
}

void
tnfctl_arch_leave(pid_t tid, const struct arch_saved *s)
{
	const struct user_regs_struct now = arch_restarting(&s->regs);
	struct iovec v = { (void *)(uintptr_t)s->xstate, s->xsize };

	ptrace(PTRACE_SETREGSET, tid, s->regset, &v);
	set_regs(tid, &now);		/* system call -1: none */
}

void
tnfctl_arch_restore(struct thread *t, const struct arch_saved *s)
{
	set_regs(t->tid, &s->regs);
}

bool
tnfctl_arch_where(struct proc *p, const struct thread *t, uintptr_t *ip, uintptr_t *sp,
    long *call)
{
	struct user_regs_struct regs;

	if (!get_regs(t->tid, &regs))
		return false;
	*ip = regs.rip;
	*sp = regs.rsp;
	*call = (long)regs.orig_rax;
	return true;
}

bool
tnfctl_arch_registers(pid_t tid, struct arch_registers *ret)
{
	struct user_regs_struct u;

	if (!get_regs(tid, &u))
		return false;
	*ret = (struct arch_registers){
		.r = { u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp,
		    u.r8, u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15 },
		.ip = u.rip, .thread = u.fs_base,
	};
	return true;
}

bool
tnfctl_arch_is_thread(struct proc *p, pid_t tid)
{
	struct user_regs_struct regs;
	uint64_t self;

	return get_regs(tid, &regs) && regs.fs_base != 0 &&
	    tnfctl_proc_read(p, regs.fs_base + TCB_SELF, &self, sizeof(self)) &&
	    self == regs.fs_base;
}

bool
tnfctl_arch_is_return_address(struct proc *p, uintptr_t address)
{
	unsigned char b[7];

	if (!tnfctl_proc_read(p, address - sizeof(b), b, sizeof(b)))
		return false;
	return b[2] == 0xe8 ||				/* call rel32 */
	    (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||	/* call *reg */
	    (b[4] == 0xff && (b[5] & 0x38) == 0x10) ||	/* call *d8(reg) */
	    (b[1] == 0xff && (b[2] & 0x38) == 0x10) ||	/* call *d32(..) */
	    (b[0] == 0xff && (b[1] & 0x38) == 0x10);
}

uint64_t
tnfctl_arch_address(uint64_t word)
{
	return word;
}

#define UPROBE_CALL	336	/* system call: only the kernel's own code may make it */

/*
 * Kernels from 6.18 put a call in place of a nop of five bytes that has a uprobe, and the
 * call's return address overwrites what a function without a frame keeps below the stack
 * pointer.  Later ones leave that nop alone, and take a nop of ten bytes in its place, which
 * none did before.  The two tell themselves by the error of this system call.
 */
const char *
tnfctl_arch_uprobe_refused(const uint8_t *code, size_t n, bool first)
{
	static const uint8_t nops[][5] = {
		{ 3, 0x0f, 0x1f, 0x44 }, { 4, 0x66, 0x0f, 0x1f, 0x40 },
		{ 4, 0x66, 0x66, 0x66, 0x66 }, { 4, 0x66, 0x66, 0x0f, 0x1f },
	};
	bool is_nop = false;

	if (n >= 4 && memcmp(code, "\x66\x2e\x0f\x1f", 4) == 0)
		return syscall(UPROBE_CALL) == -1 && errno == EPROTO ? NULL :
		    "this kernel takes no breakpoint at a nop of 10 bytes: build it with 1-byte nops";
	for (size_t i = 0; i < sizeof(nops) / sizeof(nops[0]); i++)
		is_nop |= n >= 5 && memcmp(code, nops[i] + 1, nops[i][0]) == 0;
	/* At its beginning a function keeps nothing there. */
	return is_nop && !first && syscall(UPROBE_CALL) == -1 && errno == ENXIO ?
	    "this kernel makes its 5-byte nop a call, which overwrites the stack: "
	    "build it with 1-byte nops" : NULL;
}

bool
tnfctl_arch_is_interrupted(const struct thread *t, struct arch_interrupted *ret)
{
	struct user_regs_struct r;

	if (!get_regs(t->tid, &r) || (long)r.orig_rax < 0 || (long)r.rax != -EINTR)
		return false;
	*ret = (struct arch_interrupted){ (long)r.orig_rax,
	    { r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9 } };
	return true;
}

void
tnfctl_arch_redo(pid_t tid, const struct arch_interrupted *i)
{
	struct user_regs_struct r;

	if (!get_regs(tid, &r))
		return;
	r.rax = (unsigned long long)i->call;
	r.orig_rax = (unsigned long long)-1;
	r.rip -= 2;
	set_regs(tid, &r);
}

bool
tnfctl_arch_break(pid_t tid, uintptr_t address)
{
	const uintptr_t at = offsetof(struct user, u_debugreg[0]);
	const uintptr_t ctl = offsetof(struct user, u_debugreg[7]);

	return ptrace(PTRACE_POKEUSER, tid, ctl, (uintptr_t)0) >= 0 &&
	    (address == 0 || (ptrace(PTRACE_POKEUSER, tid, at, address) >= 0 &&
	    ptrace(PTRACE_POKEUSER, tid, ctl, (uintptr_t)1) >= 0));
}

/* The processor goes on by itself (resume flag). */
void
tnfctl_arch_pass_break(pid_t tid)
{
}

const uint8_t tnfctl_arch_trap = 0xcc;		/* int3 */

#define RET		0xc3
#define ENDBR64		"\xf3\x0f\x1e\xfa"

bool
tnfctl_arch_can_plant(const uint8_t *code)
{
	return code[0] == RET || memcmp(code, ENDBR64, 4) == 0;
}

/* A program with a shadow stack has endbr64 there: its returns are its own. */
bool
tnfctl_arch_pass_plant(pid_t tid, uintptr_t at, const uint8_t *code)
{
	struct user_regs_struct r;

	if (!get_regs(tid, &r) || r.rip != at + 1)
		return false;
	if (code[0] == RET) {
		errno = 0;
		r.rip = (unsigned long long)ptrace(PTRACE_PEEKDATA, tid, r.rsp, NULL);
		if (errno != 0)
			return false;
		r.rsp += 8;
	} else
		r.rip = tnfctl_arch_can_plant(code) ? at + 4 : at;
	set_regs(tid, &r);
	return true;
}

/*
 * Operands of USDT probes, as gcc and clang print them:
 *
 * %rax %eax %ax %al %ah		a register, or a part of it
 * $5 $-1 $0x10 $symbol $symbol+8	a constant
 * (%rbp) -12(%rbp)		memory
 * 8(%rax,%rdx) (%rax,%rdx,4) (,%rdx,8)
 * symbol(%rip) symbol+4(%rip) 4+symbol(%rip)
 * symbol 0x601040			memory at a fixed place
 */

/* Registers: the name of each width, and %ah is shifted. */
static const struct register_name {
	const char *name[5];	/* of 8, 4, 2, 1 bytes, and the second byte */
	enum kp_register number;
} registers[] = {
	{ { "rax", "eax", "ax", "al", "ah" }, KP_R_AX },
	{ { "rbx", "ebx", "bx", "bl", "bh" }, KP_R_BX },
	{ { "rcx", "ecx", "cx", "cl", "ch" }, KP_R_CX },
	{ { "rdx", "edx", "dx", "dl", "dh" }, KP_R_DX },
	{ { "rsi", "esi", "si", "sil", "" }, KP_R_SI },
	{ { "rdi", "edi", "di", "dil", "" }, KP_R_DI },
	{ { "rbp", "ebp", "bp", "bpl", "" }, KP_R_BP },
	{ { "rsp", "esp", "sp", "spl", "" }, KP_R_SP },
	{ { "r8", "r8d", "r8w", "r8b", "" }, KP_R_R8 },
	{ { "r9", "r9d", "r9w", "r9b", "" }, KP_R_R9 },
	{ { "r10", "r10d", "r10w", "r10b", "" }, KP_R_R10 },
	{ { "r11", "r11d", "r11w", "r11b", "" }, KP_R_R11 },
	{ { "r12", "r12d", "r12w", "r12b", "" }, KP_R_R12 },
	{ { "r13", "r13d", "r13w", "r13b", "" }, KP_R_R13 },
	{ { "r14", "r14d", "r14w", "r14b", "" }, KP_R_R14 },
	{ { "r15", "r15d", "r15w", "r15b", "" }, KP_R_R15 },
	{ { "rip", "eip", "ip", "", "" }, KP_R_IP },
};

/* "%name"; *ret_shift is 8 for the second byte. */
static bool
read_register(struct operand_text *t, uint8_t *ret, uint8_t *ret_shift)
{
	const char *s = t->p + 1;
	size_t n = tnfctl_operand_name(s);

	for (size_t r = 0; n > 0 && r < sizeof registers / sizeof *registers; r++)
		for (size_t w = 0; w < 5; w++)
			if (strlen(registers[r].name[w]) == n &&
			    memcmp(registers[r].name[w], s, n) == 0) {
				*ret = registers[r].number;
				*ret_shift = w == 4 ? 8 : 0;
				t->p = s + n;
				return true;
			}
	if (n >= 3 && (s[1] == 'm' || s[2] == 'm') && strchr("xyzmk", s[0]) != NULL)
		return tnfctl_operand_refuse(t, "register %%%.*s holds a floating-point number",
		    (int)(n > 8 ? 8 : n), s);
	return tnfctl_operand_refuse(t, "register %%%.*s is not one that the kernel shows",
	    (int)(n > 8 ? 8 : n), s);
}

/* "(%base,%index,scale)", each of them may be missing. */
static bool
read_address(struct operand_text *t, struct kp_operand *o)
{
	uint8_t shift = 0;
	int64_t scale = 1;

	t->p++;
	if (*t->p == '%' && !read_register(t, &o->base, &shift))
		return false;
	if (*t->p == ',') {
		t->p++;
		if (*t->p != '%')
			return tnfctl_operand_refuse(t, "operand is not understood");
		if (!read_register(t, &o->index, &shift))
			return false;
		if (*t->p == ',') {
			t->p++;
			if (!tnfctl_operand_number(&t->p, &scale) ||
			    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return tnfctl_operand_refuse(t, "scale is not 1, 2, 4 or 8");
		}
	}
	o->scale = (uint8_t)scale;
	if (*t->p != ')' || shift != 0)
		return tnfctl_operand_refuse(t, "operand is not understood");
	t->p++;
	return true;
}

static bool
read_memory(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols = 0;

	o->kind = KP_OPERAND_MEMORY;
	if (*t->p != '(' && !tnfctl_operand_expression(t, &o->offset, &symbols))
		return false;
	if (*t->p == '(' && !read_address(t, o))
		return false;
	/* symbol(%rip) is the symbol; 8(%rip) would be behind the instruction that
	   the assembler wrote it for, which the note does not tell. */
	if (o->base == KP_R_IP && symbols == 0)
		return tnfctl_operand_refuse(t, "address relative to an unknown instruction");
	if (o->base == KP_R_IP && !t->place->fixed) {
		o->offset -= (int64_t)t->place->address;
		return true;
	}
	if (o->base == KP_R_IP)
		o->base = KP_R_NONE;
	return symbols == 0 || tnfctl_operand_place(t, o);
}

bool
tnfctl_arch_operand(struct operand_text *t, struct kp_operand *o)
{
	unsigned symbols;

	switch (*t->p) {
	case '%':
		if (t->p[1] != '\0' && t->p[2] == 's' && t->p[3] == ':')
			return tnfctl_operand_refuse(t, "memory of the segment %%%.2s", t->p + 1);
		return read_register(t, &o->base, &o->shift);
	case '$':
		t->p++;
		return tnfctl_operand_expression(t, &o->offset, &symbols) &&
		    (symbols == 0 || tnfctl_operand_place(t, o));
	case '*':
		return tnfctl_operand_refuse(t, "indirect operand");
	default:
		return read_memory(t, o);
	}
}
