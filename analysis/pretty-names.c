/*
 * pretty-names.c - names of values and of system calls, and the members that hold such values.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/pretty-names.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A row applies to a type, or to an integer member of that name. */
static const struct rule {
	const char	 *type;
	const char	 *member;
	enum pretty_kind  kind;
} rules[] = {
	{ "tnf_sysnum",		NULL,		PRETTY_SYSCALL },
	{ "tnf_microstate",	NULL,		PRETTY_MICROSTATE },
	{ "tnf_fault_type",	NULL,		PRETTY_FAULT_TYPE },
	{ "tnf_seg_access",	NULL,		PRETTY_SEG_ACCESS },
	{ "tnf_bioflags",	NULL,		PRETTY_BIOFLAGS },
	{ "tnf_device",		NULL,		PRETTY_DEVICE },
	{ "tnf_size",		NULL,		PRETTY_SIZE },
	{ "tnf_symbol",		NULL,		PRETTY_SYMBOL },
	{ "tnf_opaque",		NULL,		PRETTY_SYMBOL },
	{ "tnf_kthread_id",	NULL,		PRETTY_THREAD },
	{ NULL,			"errno",	PRETTY_ERRNO },
};

static const char *const microstates[] = {
	"USER", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK",
	"SLEEP", "WAIT_CPU", "STOPPED", "INTERRUPT",
};

static const char *const fault_types[] = {
	"INVAL", "PROT", "SOFTLOCK", "SOFTUNLOCK",
};

static const char *const seg_accesses[] = {
	"OTHER", "READ", "WRITE", "EXEC", "CREATE", "READ_NO_COW",
};

/* Linux shows these errors only to tracers: the call will be restarted. */
static const char *const restarts[] = {
	"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
	"ERESTART_RESTARTBLOCK",
};
#define RESTART_FIRST 512

static bool
pretty_names_is_integer(const struct tnf_type *t)
{
	return (t->kind >= TNF_K_INT8 && t->kind <= TNF_K_UINT32) ||
	    t->kind == TNF_K_INT64 || t->kind == TNF_K_UINT64;
}

enum pretty_kind
pretty_kind(const struct tnf_type *type, const char *member)
{
	if (type == NULL || !pretty_names_is_integer(type))
		return PRETTY_NONE;
	for (const struct rule *r = rules; r < rules + COUNT(rules); r++) {
		if (r->type != NULL && strcmp(r->type, type->name) == 0)
			return r->kind;
		if (r->member != NULL && member != NULL &&
		    strcmp(r->member, member) == 0)
			return r->kind;
	}
	return PRETTY_NONE;
}

static const char *
pretty_names_pick(const char *const *names, size_t n, int64_t i)
{
	return i >= 0 && (uint64_t)i < n ? names[i] : NULL;
}

const char *
pretty_kind_name(enum pretty_kind kind, int64_t i)
{
	switch (kind) {
	case PRETTY_ERRNO:
		if (i >= RESTART_FIRST)
			return pretty_names_pick(restarts, COUNT(restarts),
			    i - RESTART_FIRST);
		return pretty_names_pick(pretty_errnos, pretty_errnos_count, i);
	case PRETTY_SYSCALL:
		return pretty_syscall(i);
	case PRETTY_MICROSTATE:
		return pretty_names_pick(microstates, COUNT(microstates), i);
	case PRETTY_FAULT_TYPE:
		return pretty_names_pick(fault_types, COUNT(fault_types), i);
	case PRETTY_SEG_ACCESS:
		return pretty_names_pick(seg_accesses, COUNT(seg_accesses), i);
	default:
		return NULL;
	}
}

const struct call_set *
pretty_call_set(enum call_kind kind)
{
	static const struct call_set none;

	return kind > CALL_NAMES && kind < CALL_KINDS_COUNT ? &pretty_call_sets[kind] : &none;
}

const char *
pretty_name(const struct tnf_type *type, const char *member, int64_t i)
{
	return pretty_kind_name(pretty_kind(type, member), i);
}

/* The name of an event's system call; a member abi selects the table, which otherwise is
   'abi'; -1: there is no other. */
static const char *
pretty_names_call(const struct tnf_event *ev, int64_t number, int64_t abi)
{
	const struct tnf_probe *p = ev->probe;
	struct tnf_value v;

	for (unsigned i = 0; i < p->n_members; i++)
		if (strcmp(p->members[i].name, "abi") == 0 &&
		    tnf_event_value(ev, i, &v) && !v.null)
			return pretty_call_name((uint64_t)number, v.u.i);
	return pretty_call_name((uint64_t)number, abi);
}

const char *
pretty_event_name(const struct tnf_event *ev, const struct tnf_type *type,
    const char *member, int64_t i)
{
	enum pretty_kind kind = pretty_kind(type, member);
	bool original = tnf_file_ext(ev->file) == NULL;

	if (original && (kind == PRETTY_SYSCALL || (kind == PRETTY_ERRNO && i > ERANGE)))
		return NULL;
	if (kind == PRETTY_NONE)
		return !original && member != NULL && strcmp(member, "sysnum") == 0 &&
		    type != NULL && pretty_names_is_integer(type) ?
		    pretty_names_call(ev, i, -1) : NULL;
	if (kind == PRETTY_SYSCALL)
		return pretty_names_call(ev, i, PRETTY_ABI_NATIVE);
	return pretty_kind_name(kind, i);
}

/*
 * Names of values that a trace brings with it.
 *
 * The context is not trusted, like the rest of a file: text that is not well-formed counts
 * as no name.
 */

/* Takes the next pair of "0x1=READ,0x2=WRITE"; NULL: there is no further pair. */
static const char *
next_pair(const char *p, uint64_t *value, const char **name, size_t *len)
{
	char *end;

	if (*p == '\0')
		return NULL;
	*value = strtoull(p, &end, 0);
	if (end == p || *end != '=')
		return NULL;
	*name = end + 1;
	*len = strcspn(*name, ",");
	p = *name + *len;
	return *p == ',' ? p + 1 : p;
}

/* Prints the name and returns true, or false if there is none.  If the output is NULL,
   this and put_flags() only tell whether there is a name. */
static bool
put_symbolic(struct out *o, uint64_t value, const char *pairs, value_names_fn *put)
{
	const char *name;
	uint64_t v;
	size_t len;

	while ((pairs = next_pair(pairs, &v, &name, &len)) != NULL)
		if (v == value) {
			if (o != NULL)
				put(o, name, len);
			return true;
		}
	return false;
}

/* Prints the names of the bits that are set; bits without a name follow as a number. */
static bool
put_flags(struct out *o, uint64_t value, const char *rest, value_names_fn *put)
{
	size_t delimiter = strcspn(rest, " "), len;
	const char *pairs = rest + delimiter, *name;
	bool any = false;
	uint64_t v;

	pairs += *pairs == ' ';
	while ((pairs = next_pair(pairs, &v, &name, &len)) != NULL) {
		if ((v != 0 || value != 0) && (v == 0 || (value & v) != v))
			continue;
		if (o == NULL)
			return true;
		if (any)
			put(o, rest, delimiter);
		put(o, name, len);
		any = true;
		value &= ~v;
	}
	if (any && value != 0) {
		put(o, rest, delimiter);
		tnf_out_0x(o, value);
	}
	return any;
}

bool
value_names_put(struct out *o, const char *fact, uint64_t value, value_names_fn *put)
{
	char *end;

	if (fact == NULL)
		return false;
	bool flags = strncmp(fact, "flags ", 6) == 0;
	if (!flags && strncmp(fact, "symbolic ", 9) != 0)
		return false;
	uint64_t mask = strtoull(fact + (flags ? 6 : 9), &end, 0);
	if (*end != ' ')
		return false;
	return (flags ? put_flags : put_symbolic)(o, value & mask, end + 1, put);
}

/*
 * Names of system calls, by the machine of the trace: x86-64 with its 32-bit
 * (i386) and x32 calls, and arm64.  pretty_call_name() selects the table.
 */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Tables are indexed by number + 1; calls that a machine does not have go to index 0. */
#define NONE	(-1)
#define KINDS(a, b, c, d, e, f)	{ a, b, c, d, e, f }
#define ROW(name, number, ...)	[(number) + 1] = { #name, CALL_EACH(KINDS, ##__VA_ARGS__) },
#pragma GCC diagnostic ignored "-Woverride-init"

static const struct pretty_call x86_64[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, n64, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

static const struct pretty_call i386[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, n32, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

static const struct pretty_call x32[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, nx32, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

static const struct pretty_call aarch64[] = {
#define CALL(name, n64, n32, nx32, arm, ...) ROW(name, arm, ##__VA_ARGS__)
#include "common/syscall-table.h"
#undef CALL
};

/* Tables by the machine of uname(2) and by PRETTY_ABI_*.  Traces that do not name their
   machine use x86_64: they are from a time before there was another. */
static const struct pretty_machine {
	const char	*name;
	struct pretty_calls {
		const struct pretty_call *calls;
		size_t			 n;
	}		 calls[PRETTY_ABIS];
} machines[] = {
	{ "x86_64", { { x86_64, COUNT(x86_64) }, { i386, COUNT(i386) }, { x32, COUNT(x32) } } },
	{ "aarch64", { { aarch64, COUNT(aarch64) } } },
};

static const struct pretty_machine *current = machines;

bool
pretty_machine_set(const char *name)
{
	current = machines;
	if (name == NULL)
		return true;
	for (size_t i = 0; i < COUNT(machines); i++)
		if (strcmp(machines[i].name, name) == 0) {
			current = &machines[i];
			return true;
		}
	current = NULL;
	return false;
}

#define X32_BIT	0x40000000u

const struct pretty_call *
pretty_call(uint64_t number, int64_t abi)
{
	if (current == NULL || abi < 0 || abi >= PRETTY_ABIS)
		return NULL;
	if (abi == PRETTY_ABI_X32)
		number &= ~(uint64_t)X32_BIT;
	const struct pretty_calls *calls = &current->calls[abi];
	return number < UINT32_MAX && number + 1 < calls->n && calls->calls[number + 1].name != NULL ?
	    &calls->calls[number + 1] : NULL;
}

const char *
pretty_call_name(uint64_t number, int64_t abi)
{
	const struct pretty_call *call = pretty_call(number, abi);

	return call != NULL ? call->name : NULL;
}

bool
pretty_machine_is_arm(void)
{
	return current != NULL && current != machines;
}

const char *
pretty_syscall(int64_t i)
{
	return i < 0 ? NULL : pretty_call_name((uint64_t)i, PRETTY_ABI_NATIVE);
}
