/*
 * hooks.c - finds the hooks in catalogue.h that this kernel has, and the values of its flags,
 * by its BTF and its list of symbols.
 */
#include <bpf/btf.h>

#include "kernel-probes/handle.h"

#define PROTOTYPE_3	4	/* parameters: data, preempt, prev, next */
#define PROTOTYPE_4	5	/* and prev_state */

#define KERNEL_TYPES	"/sys/kernel/btf/vmlinux"

__u32 kp_hook[KP_PROGRAM_COUNT];

/* libbpf must not print the error that we return. */
static struct btf *
kernel_btf(void)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	struct btf *btf = btf__load_vmlinux_btf();

	libbpf_set_print(before);
	return btf;
}

struct btf *
kp_types(struct kp *kp)
{
	if (kp->btf == NULL)
		kp->btf = kernel_btf();
	return kp->btf;
}

const struct btf_type *
kp_types_tracepoint(const struct btf *btf, const char *hook)
{
	const struct btf_type *t;
	char name[128];
	int id;

	snprintf(name, sizeof name, "btf_trace_%s", hook);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (t == NULL || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t != NULL && btf_is_func_proto(t) ? t : NULL;
}

/* In 5.18 prev_state was the second argument for a while. */
static uint64_t
wrong_switch(const struct btf *btf)
{
	const uint64_t both = 1ull << KP_PROGRAM_context_switch |
	    1ull << KP_PROGRAM_context_switch3;
	const struct btf_type *proto = kp_types_tracepoint(btf, "sched_switch");

	if (proto == NULL || !btf_is_ptr(btf__type_by_id(btf, btf_params(proto)[2].type)))
		return both;
	switch (btf_vlen(proto)) {
	case PROTOTYPE_4:
		return 1ull << KP_PROGRAM_context_switch3;
	case PROTOTYPE_3:
		return 1ull << KP_PROGRAM_context_switch;
	}
	return both;
}

struct bit {
	const char *name;
	__u32	*bit;
	int	 otherwise;
};

static void
note_bits(const struct bit *bits, const struct btf *btf, const struct btf_type *t)
{
	const char *name;

	for (unsigned i = 0; i < btf_vlen(t); i++) {
		name = btf__name_by_offset(btf, btf_enum(t)[i].name_off);
		for (const struct bit *b = bits; b->name != NULL; b++)
			if (strcmp(name, b->name) == 0)
				*b->bit = 1u << btf_enum(t)[i].val;
	}
}

/* The type of a tracepoint's probes is a typedef; that of an iterator a function. */
static void
note_hook(__u32 id, bool iterator, const char *hook)
{
	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if (kp_hook[i] == 0 && (iterator ? kp_programs[i].kind == KP_KIND_ITER :
		    strcmp(kp_programs[i].hook, hook) == 0))
			kp_hook[i] = id;
}

static void
note_function(struct kp *kp, __u32 id, const char *name)
{
	static const char *const calls[KP_CALL_COUNT] = {
#define X(call) #call,
		KP_CALLS(X)
#undef X
	};

	if (strcmp(name, "bpf_iter_task") == 0)
		note_hook(id, true, NULL);
	for (unsigned i = 0; i < KP_CALL_COUNT; i++)
		if (kp->call[i] == 0 && strcmp(name, calls[i]) == 0)
			kp->call[i] = id;
}

/*
 * Goes through the types once, as a search by name would for each.  The values of enumerators of
 * enums without a name CO-RE cannot ask for; their values in 6.1 stand for those that this kernel lacks.
 */
static void
note_types(struct kp *kp, const struct btf *btf)
{
	static const char prefix[] = "btf_trace_";
	const struct bit bits[] = {
		{ "___GFP_MOVABLE_BIT", &kp->gfp_movable, 3 },
		{ "___GFP_ZERO_BIT", &kp->gfp_zero, 8 },
		{ "BIO_REMAPPED", &kp->bio_remapped, 10 },
		{ NULL, NULL, 0 },
	};
	const struct btf_type *t;
	const char *name;

	for (const struct bit *b = bits; b->name != NULL; b++)
		*b->bit = 1u << b->otherwise;
	for (unsigned id = 1; id < btf__type_cnt(btf); id++) {
		t = btf__type_by_id(btf, id);
		name = btf__name_by_offset(btf, t->name_off);
		if (btf_is_enum(t) && t->name_off == 0)
			note_bits(bits, btf, t);
		else if (btf_is_typedef(t) && strncmp(name, prefix, sizeof prefix - 1) == 0)
			note_hook(id, false, name + sizeof prefix - 1);
		else if (btf_is_func(t) && strncmp(name, "bpf_", 4) == 0)
			note_function(kp, id, name);
		else if (kp->cast_type == 0 && btf_is_struct(t) && strcmp(name, "pt_regs") == 0)
			kp->cast_type = id;
	}
}

/* Faults are counted for memory cgroups, unless the machine was started without. */
static bool
memory_is_counted(void)
{
	FILE *f = fopen("/proc/cgroups", "re");
	char line[128];
	int on = 0;

	if (f == NULL)
		return false;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "memory %*d %*d %d", &on) == 1)
			break;
	fclose(f);
	return on != 0;
}

/* Maps that a kernel does not know cannot be made, and without them no program is
   taken, so that its verifier, which would say why, says nothing. */
const char *
kp_hooks_lacking(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "bpf_map_type", BTF_KIND_ENUM);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, id);

	for (unsigned i = 0; t != NULL && i < btf_vlen(t); i++)
		if (strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off),
		    "BPF_MAP_TYPE_TASK_STORAGE") == 0)
			return NULL;
	return "this kernel has no task storage for them: needs Linux 5.11";
}

int
kp_hooks_find(struct kp *kp)
{
	struct btf *btf = kp_types(kp);

	if (btf == NULL)
		return kp_fail(kp, -ENOTSUP, KERNEL_TYPES ": the kernel does "
		    "not describe its types: needs CONFIG_DEBUG_INFO_BTF");
	note_types(kp, btf);
	kp->lacks = kp_hooks_lacking(btf);
	kp->missing = wrong_switch(btf);
	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if ((kp_programs[i].kind == KP_KIND_BTF || kp_programs[i].kind == KP_KIND_RAW) &&
		    kp_hook[i] == 0)
			kp->missing |= 1ull << i;
	if (kp->call[KP_CALL_bpf_iter_task_vma_new] == 0)	/* before 6.7 */
		kp->missing |= 1ull << KP_PROGRAM_object_exit;
	if (!memory_is_counted())
		kp->missing |= 1ull << KP_PROGRAM_fault_counted;
	return 0;
}

/* If one of two programs fits, the other is not needed. */
static uint64_t
one_of(uint64_t programs, uint64_t both, uint64_t missing)
{
	return (programs & both) == both && (missing & both) != both ?
	    programs & ~(missing & both) : programs;
}

/*
 * sched_switch has two programs, and so have pages that are written to swap.  The end of
 * a fault is told by the place where it is counted, or by the software events, which
 * cost three times as much.
 */
static uint64_t
hooks_fitting(const struct kp *kp, uint64_t programs)
{
	const uint64_t counted = 1ull << KP_PROGRAM_fault_counted;
	const uint64_t events = 1ull << KP_PROGRAM_minor_done |
	    1ull << KP_PROGRAM_major_done;

	programs = one_of(programs, 1ull << KP_PROGRAM_context_switch |
	    1ull << KP_PROGRAM_context_switch3, kp->missing);
	programs = one_of(programs, 1ull << KP_PROGRAM_swap_write |
	    1ull << KP_PROGRAM_swap_write_page, kp->missing);
	if (programs & counted)
		programs &= (kp->missing | kp->state->refused) & counted ?
		    ~counted : ~events;
	return programs;
}

/* A kernel that does not tell which page a fault misses (before 6.12) has to be
   asked for its address. */
uint64_t
kp_needs(const struct kp *kp, const struct kp_row *row)
{
	uint64_t needs = hooks_fitting(kp, row->needs);

	if (row == &kp_catalogue[KP_MAJOR_FAULT] &&
	    kp->missing >> KP_PROGRAM_file_fault & 1)
		needs |= 1ull << KP_PROGRAM_user_fault | 1ull << KP_PROGRAM_kernel_fault;
	return needs;
}

uint64_t
kp_extra(const struct kp *kp, const struct kp_row *row)
{
	return hooks_fitting(kp, row->extra);
}

struct wanted {
	const char	*name;
	__u64		*at;
};

struct symbols {
	const struct wanted *wanted;
	unsigned missing;
	__u64	 schedule, after;	/* schedule() begins, and ends */
	__u64	 init;		/* what the start alone needs */
};

/* False: there is nothing left to find. */
static bool
symbols_note(void *arg, const struct kallsym *sym)
{
	struct symbols *s = arg;

	if (sym->address == 0)
		return true;
	if (s->after == 0 && s->schedule != 0 && sym->address > s->schedule)
		s->after = sym->address;
	for (const struct wanted *w = s->wanted; w->name != NULL; w++)
		if (strlen(w->name) == sym->length &&
		    memcmp(w->name, sym->name, sym->length) == 0 && *w->at == 0) {
			*w->at = sym->address;
			s->missing--;
			break;
		}
	return s->missing > 0 || s->after == 0;
}

/*
 * If the kernel hides addresses they read as 0, and the programs do without them.
 * The kernel's own text comes first and in order: we leave the list when everything
 * is found.
 */
void
kp_symbols_find(struct kp_shared *shared)
{
	struct symbols s = { .after = 0 };
	const struct wanted wanted[] = {
		{ "kthread", &shared->kthread },
		{ "_stext", &shared->text_start },
		{ "_etext", &shared->text_end },
		{ "_end", &shared->image_end },
		{ "__init_begin", &s.init },	/* without KALLSYMS_ALL: x86's data end here */
		{ "__schedule", &shared->schedule_start },
		{ "schedule", &s.schedule },
		{ "wake_page_function", &shared->wake_page },
		{ "wake_bit_function", &shared->wake_bit },
		{ NULL, NULL },
	};

	s.wanted = wanted;
	s.missing = sizeof wanted / sizeof wanted[0] - 1;
	for (const struct wanted *w = wanted; w->name != NULL; w++)
		*w->at = 0;
	if (tnf_kallsyms_each(KALLSYMS, symbols_note, &s) == 0)
		shared->schedule_end = s.after;
	if (shared->image_end == 0)
		shared->image_end = s.init;
}

struct glue {
	struct kp_shared *shared;
	unsigned last;		/* the element in use; the first stays empty */
	bool	open;		/* where it ends is not known yet */
};

/* The kernel calls a tracepoint's programs by way of __traceiter_NAME if there are several, and
   by way of __bpf_trace_NAME, which is a frame of its own in 5.15, and for system calls since
   6.13. */
static bool
is_glue(const struct kallsym *sym)
{
	static const char each[] = "__traceiter_", calls[] = "__bpf_trace_";

	return (sym->length >= sizeof each && memcmp(sym->name, each, sizeof each - 1) == 0) ||
	    (sym->length >= sizeof calls && memcmp(sym->name, calls, sizeof calls - 1) == 0);
}

static bool
glue_note(void *arg, const struct kallsym *sym)
{
	struct glue *g = arg;
	struct kp_shared *s = g->shared;

	if (sym->address < s->text_start)
		return true;
	if (g->open)
		s->glue[g->last].to = (__u32)(sym->address - s->text_start);
	g->open = sym->address < s->text_end && g->last + 1 < KP_GLUE_MAX && is_glue(sym);
	if (g->open)
		s->glue[++g->last].from = (__u32)(sym->address - s->text_start);
	return sym->address < s->text_end;
}

void
kp_glue_find(struct kp_shared *shared)
{
	struct glue g = { .shared = shared };

	if (shared->text_start == 0)
		kp_symbols_find(shared);
	for (unsigned i = 1; i < KP_GLUE_MAX; i++)
		shared->glue[i].from = UINT32_MAX;
	if (shared->text_start != 0)
		tnf_kallsyms_each(KALLSYMS, glue_note, &g);
}
