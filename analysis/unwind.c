/*
 * unwind.c - stacks of processes, unwound by libdw from a copy of their memory.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/usersym.h"
#include "common/xalloc.h"

#if defined(__x86_64__)
#define REGISTERS	21u	/* words of struct pt_regs */
#define STACK_POINTER	19
#elif defined(__aarch64__)
#define REGISTERS	34u
#define STACK_POINTER	31
#define PC		32
#else
#define REGISTERS	0u	/* no stack can be unwound */
#define STACK_POINTER	0
#endif
#define THREAD		1	/* libdwfl wants a number: each stack is of this one thread */

/* A process, with its objects where they were mapped. */
struct process {
	const tnf_context_t *context;
	int32_t	 pid;
	Dwfl	*dwfl;			/* NULL: it cannot be unwound */
	const struct unwind_stack *stack;	/* that is unwound now */
	uint64_t *pc;
	unsigned n, max;
};

struct unwinder {
	struct process **list;		/* libdwfl keeps their addresses */
	size_t	 n;
};

static pid_t
next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	if (*thread != NULL)
		return 0;
	*thread = arg;
	return THREAD;
}

static bool
get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return tid == THREAD;
}

static bool
memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	const struct unwind_stack *s = ((struct process *)arg)->stack;
	uint64_t at = addr - s->registers[STACK_POINTER];

	if (at % 8 != 0 || at / 8 >= s->n_words)
		return false;
	*result = s->words[at / 8];
	return true;
}

static bool
set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwind_stack *s = ((struct process *)arg)->stack;

#if defined(__aarch64__)
	dwfl_thread_state_register_pc(thread, s->registers[PC]);
	return dwfl_thread_state_registers(thread, 0, STACK_POINTER + 1, s->registers);
#else
	/* The places of DWARF's registers 0 to 16 in struct pt_regs of x86-64. */
	static const uint8_t at[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };
	Dwarf_Word r[sizeof(at)];

	for (size_t i = 0; i < sizeof(at); i++)
		r[i] = s->registers[at[i]];
	return dwfl_thread_state_registers(thread, 0, sizeof(at), r);
#endif
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread, .get_thread = get_thread, .memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* Reports the process's objects, each once, though several of its parts may be mapped. */
static void
report_objects(struct process *p)
{
	const struct tnf_context_object *o, *last = NULL;
	GElf_Addr start, bias, last_bias = 0;
	size_t n;

	o = tnf_context_objects(p->context, &n);
	for (; n > 0; n--, o++) {
		int fd = o->pid != p->pid ? -1 : usersym_open(o, &start);
		if (fd < 0)
			continue;
		bias = o->start - start;
		if (last != NULL && bias == last_bias && strcmp(last->path, o->path) == 0)
			close(fd);
		else
			usersym_report(p->dwfl, o, fd, bias);
		last = o;
		last_bias = bias;
	}
}

static struct process *
process_of(struct unwinder *u, const tnf_context_t *c, int32_t pid)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->list[i]->context == c && u->list[i]->pid == pid)
			return u->list[i];
	struct process *p = tnf_xcalloc(1, sizeof(*p));
	p->context = c;
	p->pid = pid;
	u->list = tnf_xreallocarray(u->list, u->n + 1, sizeof(*u->list));
	u->list[u->n++] = p;
	if ((p->dwfl = dwfl_begin(&usersym_callbacks)) == NULL)
		return p;
	dwfl_report_begin(p->dwfl);
	report_objects(p);
	if (dwfl_report_end(p->dwfl, NULL, NULL) == 0 &&
	    dwfl_attach_state(p->dwfl, NULL, THREAD, &threads, p))
		return p;
	dwfl_end(p->dwfl);
	p->dwfl = NULL;
	return p;
}

static int
frame(Dwfl_Frame *f, void *arg)
{
	struct process *p = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(f, &pc, &exact) || pc == 0)
		return DWARF_CB_ABORT;
	p->pc[p->n++] = pc;
	/* Beyond the objects libdw would go on by guesses. */
	return p->n == p->max || dwfl_addrmodule(p->dwfl, pc) == NULL ? DWARF_CB_ABORT : DWARF_CB_OK;
}

unsigned
unwind(struct unwinder *u, const tnf_context_t *c, int32_t pid, const struct unwind_stack *s,
    uint64_t *pc, unsigned max)
{
	struct process *p;

	if (c == NULL || max == 0 || REGISTERS == 0 || s->n_registers != REGISTERS ||
	    (p = process_of(u, c, pid))->dwfl == NULL)
		return 0;
	p->stack = s;
	p->pc = pc;
	p->n = 0;
	p->max = max;
	dwfl_getthread_frames(p->dwfl, THREAD, frame, p);
	return p->n;
}

struct unwinder *
unwinder_new(void)
{
	return tnf_xcalloc(1, sizeof(struct unwinder));
}

void
unwinder_free(struct unwinder *u)
{
	if (u == NULL)
		return;
	for (size_t i = 0; i < u->n; i++) {
		if (u->list[i]->dwfl != NULL)
			dwfl_end(u->list[i]->dwfl);
		free(u->list[i]);
	}
	free(u->list);
	free(u);
}
