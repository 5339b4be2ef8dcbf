/*
 * frames.c - the functions that a stopped thread is in, the innermost first.
 *
 * The call frame information of the objects (.eh_frame) tells for each instruction where
 * the caller's registers are; libdw reads it.  The files and the stack may be damaged or
 * lie: if anything is in doubt, the walk ends as not known.  A walk is whole when it comes
 * to a function that by this information has no caller, as _start and clone() have none.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "common/elf-file.h"
#include "libtnfctl/proc.h"

#define FRAMES_MAX	512
#define OPS_MAX		96	/* of an expression */
#define STACK_MAX	8

/* The object of one executable mapping; cfi is NULL where it has none. */
struct object_frames {
	const struct mapping *m;
	struct elffile *elf;
	Dwarf_CFI *cfi;
};

struct frames {
	struct proc *p;
	const struct maps *maps;
	uintptr_t back;
	struct object_frames *objects;
	size_t	 n;
};

/* A frame while the next one is looked for. */
struct walk {
	struct frames *f;
	struct arch_registers r;
	uint64_t cfa;
};

/* An expression's value and whether it is one, or the address of one in memory. */
struct result {
	uint64_t value;
	bool	 is_value;
};

struct frames *
tnfctl_frames_new(struct proc *p, const struct maps *maps, uintptr_t back)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (f != NULL)
		*f = (struct frames){ .p = p, .maps = maps, .back = back };
	return f;
}

void
tnfctl_frames_free(struct frames *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->n; i++) {
		if (f->objects[i].cfi != NULL)
			dwarf_cfi_end(f->objects[i].cfi);
		tnf_elffile_close(f->objects[i].elf);
	}
	free(f->objects);
	free(f);
}

/* Opens the object's file; cfi stays as it is if there is no file or no frame information. */
static void
object_open_frames(struct object_frames *o, pid_t pid)
{
	char path[PATH_MAX + 32];

	if (o->m->path[0] != '/')
		return;
	o->elf = tnf_elffile_take(tnfctl_proc_open_mapped(pid, o->m, path, sizeof(path)));
	if (o->elf != NULL && tnf_elffile_frames_are_plain(o->elf))
		o->cfi = dwarf_getcfi_elf(tnf_elffile_handle(o->elf));
}

/* The object with this address; each object is opened once. */
static struct object_frames *
object_at(struct frames *f, uintptr_t ip)
{
	const struct mapping *m = tnf_maps_find(f->maps, ip);
	struct object_frames *o;

	if (m == NULL || !m->exec)
		return NULL;
	for (size_t i = 0; i < f->n; i++)
		if (f->objects[i].m == m)
			return &f->objects[i];
	if ((o = realloc(f->objects, (f->n + 1) * sizeof(*o))) == NULL)
		return NULL;
	f->objects = o;
	o += f->n++;
	*o = (struct object_frames){ .m = m };
	object_open_frames(o, f->p->pid);
	return o;
}

/* The frame information for the instruction at ip; the caller frees it with free(3). */
static Dwarf_Frame *
frame_at(struct frames *f, uintptr_t ip)
{
	struct object_frames *o = object_at(f, ip);
	Dwarf_Frame *frame;
	uint64_t address;

	if (o == NULL || o->cfi == NULL || !tnf_elffile_address_of(tnf_elffile_handle(o->elf),
	    ip - o->m->start + o->m->offset, &address) ||
	    dwarf_cfi_addrframe(o->cfi, address, &frame) != 0)
		return NULL;
	return frame;
}

/* Computes the operations on two operands that entries of a procedure linkage table use, and
   tnf_fast_return in libtnfprobe. */
static bool
frames_compute(unsigned atom, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (atom) {
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_eq:
		*ret = a == b;
		return true;
	case DW_OP_ge:
		*ret = (int64_t)a >= (int64_t)b;
		return true;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	default:
		return false;
	}
}

/* The value of an operation that takes nothing from the stack. */
static bool
frames_operand(const struct walk *w, const Dwarf_Op *op, uint64_t *ret)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		if (op->atom - DW_OP_breg0 >= ARCH_REGISTERS)
			return false;
		*ret = w->r.r[op->atom - DW_OP_breg0] + op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx) {
		if (op->number >= ARCH_REGISTERS)
			return false;
		*ret = w->r.r[op->number] + op->number2;
		return true;
	}
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		*ret = op->atom - DW_OP_lit0;
	else if (op->atom == DW_OP_const1u || op->atom == DW_OP_const8u)
		*ret = op->number;
	else if (op->atom == DW_OP_call_frame_cfa)
		*ret = w->cfa;
	else
		return false;
	return true;
}

/* A copy of one of the n values that are there. */
static bool
frames_copy(const Dwarf_Op *op, const uint64_t *stack, size_t n, uint64_t *ret)
{
	uint64_t below = op->atom == DW_OP_pick ? op->number : op->atom == DW_OP_over;

	if ((op->atom != DW_OP_dup && op->atom != DW_OP_over && op->atom != DW_OP_pick) || below >= n)
		return false;
	*ret = stack[n - 1 - below];
	return true;
}

/* One operation on the n values that are there. */
static bool
frames_operate(const struct walk *w, const Dwarf_Op *op, uint64_t *stack, size_t *n)
{
	uint64_t value;

	if (*n < STACK_MAX && (frames_operand(w, op, &value) || frames_copy(op, stack, *n, &value))) {
		stack[(*n)++] = value;
		return true;
	}
	if (*n == 0)
		return false;
	if (op->atom == DW_OP_plus_uconst) {
		stack[*n - 1] += op->number;
		return true;
	}
	if (op->atom == DW_OP_deref)
		return tnfctl_proc_read(w->f->p, stack[*n - 1], &stack[*n - 1], sizeof(*stack));
	if (*n < 2 || !frames_compute(op->atom, stack[*n - 2], stack[*n - 1], &stack[*n - 2]))
		return false;
	(*n)--;
	return true;
}

static bool
frames_evaluate(const struct walk *w, const Dwarf_Op *ops, size_t nops, struct result *ret)
{
	uint64_t stack[STACK_MAX] = { 0 };
	size_t n = 0, i;

	*ret = (struct result){ 0 };
	if (nops == 0 || nops > OPS_MAX)
		return false;
	/* The whole expression is another register. */
	if (nops == 1 && ops->atom == DW_OP_regx) {
		if (ops->number >= ARCH_REGISTERS)
			return false;
		*ret = (struct result){ w->r.r[ops->number], true };
		return true;
	}
	for (i = 0; i < nops; i++)
		if (i == nops - 1 && ops[i].atom == DW_OP_stack_value)
			ret->is_value = true;
		else if (!frames_operate(w, &ops[i], stack, &n))
			return false;
	/* The CFA may lie below what a register's expression leaves. */
	ret->value = n > 0 ? stack[n - 1] : 0;
	return n > 0;
}

enum found { FOUND, UNDEFINED, UNKNOWN };

/* A register as the caller had it. */
static enum found
caller_register(const struct walk *w, Dwarf_Frame *frame, int regno, uint64_t *ret)
{
	Dwarf_Op mem[3], *ops;
	struct result result;
	size_t n;

	if (dwarf_frame_register(frame, regno, mem, &ops, &n) != 0)
		return UNKNOWN;
	if (n == 0)
		return ops == mem ? UNDEFINED : FOUND;
	if (!frames_evaluate(w, ops, n, &result))
		return UNKNOWN;
	*ret = result.value;
	return result.is_value || tnfctl_proc_read(w->f->p, result.value, ret, sizeof(*ret)) ?
	    FOUND : UNKNOWN;
}

/* Goes to the caller's frame; UNDEFINED: there is no caller. */
static enum found
frames_step(struct walk *w, Dwarf_Frame *frame)
{
	struct arch_registers caller = w->r;
	Dwarf_Addr start, end;
	struct result cfa;
	/* It is a signal's frame in name alone, and a function has returned to it: there is nothing on the
	   stack that is its own. */
	bool is_back = w->f->back != 0 && w->r.ip == w->f->back, is_signal, is_empty;
	enum found found;
	Dwarf_Op *ops;
	int ra, i;
	size_t n;

	ra = dwarf_frame_info(frame, &start, &end, &is_signal);
	if (ra < 0 || (is_signal && !is_back) || dwarf_frame_cfa(frame, &ops, &n) != 0 ||
	    !frames_evaluate(w, ops, n, &cfa))
		return UNKNOWN;
	/* A caller's frame lies above; only a function without a caller, as _start on 64-bit
	   ARM, may begin with a frame of no bytes. */
	if (w->cfa != 0 && cfa.value < w->cfa)
		return UNKNOWN;
	is_empty = cfa.value == w->cfa;
	w->cfa = cfa.value;
	for (i = 0; i < ARCH_REGISTERS; i++)
		if (i != ra && caller_register(w, frame, i, &caller.r[i]) == UNKNOWN)
			return UNKNOWN;
	caller.ip = ra < ARCH_REGISTERS ? w->r.r[ra] : 0;
	if ((found = caller_register(w, frame, ra, &caller.ip)) != FOUND)
		return found;
	if (is_empty && !is_back)
		return UNKNOWN;
	caller.ip = tnfctl_arch_address(caller.ip);
	caller.r[ARCH_REGISTER_SP] = w->cfa;
	w->r = caller;
	return FOUND;
}

/* True if this is the stack that the thread was made with.  If not, functions on that stack were
   left in the middle, and this walk would not see them. */
static bool
is_own_stack(const struct walk *w)
{
	const struct mapping *m = tnf_maps_find(w->f->maps, w->r.r[ARCH_REGISTER_SP]);

	return m != NULL && (strcmp(m->path, "[stack]") == 0 ||
	    m == tnf_maps_find(w->f->maps, w->r.thread));
}

bool
tnfctl_frames_all(struct frames *f, const struct thread *t, bool (*fn)(void *, uintptr_t),
    void *arg)
{
	struct walk w = { .f = f };
	enum found found = FOUND;
	Dwarf_Frame *frame;

	if (!tnfctl_arch_registers(t->tid, &w.r) || !is_own_stack(&w))
		return false;
	for (int i = 0; i < FRAMES_MAX && found == FOUND; i++) {
		/* A call may be a function's last instruction, and none is before tnf_fast_return. */
		frame = frame_at(f, w.r.ip - (i > 0 && w.r.ip != f->back));
		if (frame == NULL || !fn(arg, w.r.ip)) {
			free(frame);
			return false;
		}
		found = frames_step(&w, frame);
		free(frame);
	}
	return found == UNDEFINED;
}
