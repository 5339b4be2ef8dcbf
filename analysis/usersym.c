/*
 * usersym.c - functions of traced processes, by object and build id.
 *
 * libdwfl finds the symbols in the object, in its .gnu_debugdata, or in a file of debugging
 * information with its build id or .gnu_debuglink.  If $DEBUGINFOD_URLS is set it also asks
 * these servers, as debuggers do.
 */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>

#include "analysis/usersym.h"
#include "common/elf-file.h"
#include "common/files.h"
#include "common/xalloc.h"

#define OBJECT_MAX	(2ll << 30)	/* largest file that is read */

/* An object file, opened once; it has no symbols if it is not the traced file any more. */
struct object {
	const struct tnf_context_object *from;
	const char	*base_name;
	Dwfl		*dwfl;
	Dwfl_Module	*module;	/* NULL: no symbols */
};

struct usersyms {
	struct object	*objects;
	size_t		 n;
};

static char *debuginfo_path;	/* NULL: the default; libdwfl needs a variable */
static const Dwfl_Callbacks usersym_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

/* True if this is still the file that was mapped. */
static bool
same_build(Elf *elf, const char *build_id)
{
	const void *bits;
	char hex[3];
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bits);

	if (n <= 0 || strlen(build_id) != 2 * (size_t)n)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		snprintf(hex, sizeof(hex), "%02x", ((const uint8_t *)bits)[i]);
		if (memcmp(hex, build_id + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

/* Opens the object if it is still the file that was traced (same build id).  *start gets the
   address, in the file, of the byte that was mapped first.  A descriptor, or -1. */
static int
usersym_open(const struct tnf_context_object *from, GElf_Addr *start)
{
	struct stat st;
	struct elffile *e;
	bool good = false;
	/* The name is from the trace: only regular files are opened, since opening a device
	   may have effects. */
	int fd = strcmp(from->build_id, "-") == 0 ? -1 : tnf_open_regular(from->path, O_RDONLY, &st);

	if (fd < 0)
		return -1;
	if (st.st_size <= OBJECT_MAX && (e = tnf_elffile_open(fd)) != NULL) {
		good = same_build(tnf_elffile_handle(e), from->build_id) &&
		    tnf_elffile_address_of(tnf_elffile_handle(e), from->offset, start);
		tnf_elffile_close(e);
	}
	if (good)
		return fd;
	close(fd);
	return -1;
}

static const char *
base_name(const struct tnf_context_object *from)
{
	const char *slash = strrchr(from->path, '/');

	return slash != NULL ? slash + 1 : from->path;
}

/* Reports the object to libdwfl between dwfl_report_begin() and dwfl_report_end(), its addresses
   moved by 'bias'.  Takes over the descriptor. */
static Dwfl_Module *
usersym_report(Dwfl *dwfl, const struct tnf_context_object *from, int fd, GElf_Addr bias)
{
	Dwfl_Module *module = dwfl_report_elf(dwfl, base_name(from), from->path, fd, bias, true);

	if (module == NULL)
		close(fd);
	return module;
}

/* The module lies at address 0, so that its addresses are those in the file. */
static void
usersym_load(struct object *o)
{
	GElf_Addr start;
	int fd = usersym_open(o->from, &start);

	if (fd < 0)
		return;
	if ((o->dwfl = dwfl_begin(&usersym_callbacks)) == NULL) {
		close(fd);
		return;
	}
	dwfl_report_begin(o->dwfl);
	Dwfl_Module *module = usersym_report(o->dwfl, o->from, fd, 0);
	if (dwfl_report_end(o->dwfl, NULL, NULL) == 0)
		o->module = module;
}

static struct object *
find_object(struct usersyms *u, const struct tnf_context_object *from)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->objects[i].from == from)
			return &u->objects[i];
	u->objects = tnf_xreallocarray(u->objects, u->n + 1, sizeof(*u->objects));
	struct object *o = &u->objects[u->n++];
	memset(o, 0, sizeof(*o));
	o->from = from;
	o->base_name = base_name(from);
	usersym_load(o);
	return o;
}

/* Converts a file offset to libdwfl's address. */
static bool
to_virtual(const struct object *o, uint64_t offset, GElf_Addr *addr)
{
	GElf_Addr bias;
	Elf *elf = o->module != NULL ? dwfl_module_getelf(o->module, &bias) : NULL;

	if (elf == NULL || !tnf_elffile_address_of(elf, offset, addr))
		return false;
	*addr += bias;
	return true;
}

/* The object of the process that holds an address, and the offset in its file. */
static struct object *
usersym_locate(struct usersyms *u, const tnf_context_t *c, int32_t pid,
    uint64_t addr, uint64_t *offset)
{
	const struct tnf_context_object *from;

	if (c == NULL || (from = tnf_context_object(c, pid, addr)) == NULL)
		return NULL;
	*offset = addr - from->start + from->offset;
	return find_object(u, from);
}

struct usersyms *
usersyms_new(void)
{
	return tnf_xcalloc(1, sizeof(struct usersyms));
}

const char *
usersyms_find(struct usersyms *u, const tnf_context_t *c, int32_t pid,
    uint64_t addr, uint64_t *offset)
{
	struct object *o = usersym_locate(u, c, pid, addr, offset);
	GElf_Addr virtual;
	GElf_Off into;
	GElf_Sym sym;
	const char *name;

	if (o == NULL)
		return NULL;
	if (to_virtual(o, *offset, &virtual) && (name = dwfl_module_addrinfo(o->module,
	    virtual, &into, &sym, NULL, NULL, NULL)) != NULL) {
		int type = GELF_ST_TYPE(sym.st_info);
		if (type == STT_FUNC || type == STT_GNU_IFUNC) {
			*offset = into;
			return name;
		}
	}
	return o->base_name;
}

/* Collects the inlined functions among the scopes around an address, up to the function
   itself. */
static unsigned
usersym_scopes(Dwarf_Die *unit, Dwarf_Addr addr, const char **names, unsigned max)
{
	Dwarf_Die *scopes = NULL;
	int count = dwarf_getscopes(unit, addr, &scopes), tag;
	unsigned n = 0;
	const char *name;

	for (int i = 0; i < count && n < max; i++) {
		tag = dwarf_tag(&scopes[i]);
		if (tag == DW_TAG_subprogram)
			break;
		if (tag == DW_TAG_inlined_subroutine &&
		    (name = dwarf_diename(&scopes[i])) != NULL)
			names[n++] = name;
	}
	free(scopes);
	return n;
}

/* The unit with this address, even if the file has no table of units' addresses: clang writes
   none. */
static Dwarf_Die *
usersym_unit(Dwfl_Module *module, GElf_Addr virtual, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, virtual, bias);

	if (unit != NULL)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL &&
	    dwarf_haspc(unit, virtual - *bias) != 1)
		;
	return unit;
}

unsigned
usersyms_inlined(struct usersyms *u, const tnf_context_t *c, int32_t pid,
    uint64_t addr, const char **names, unsigned max)
{
	uint64_t offset;
	struct object *o = usersym_locate(u, c, pid, addr, &offset);
	GElf_Addr virtual;
	Dwarf_Addr bias;
	Dwarf_Die *unit;

	if (o == NULL || !to_virtual(o, offset, &virtual) ||
	    (unit = usersym_unit(o->module, virtual, &bias)) == NULL)
		return 0;
	return usersym_scopes(unit, virtual - bias, names, max);
}

void
usersyms_free(struct usersyms *u)
{
	if (u == NULL)
		return;
	for (size_t i = 0; i < u->n; i++)
		if (u->objects[i].dwfl != NULL)
			dwfl_end(u->objects[i].dwfl);
	free(u->objects);
	free(u);
}

/*
 * Stacks of processes, unwound by libdw from a copy of their memory.
 */
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
