/*
 * function-types.c - names and types of a function's parameters, and of the members to which these
 * lead ("o->next->id"), from debugging information: in the file, or in the one that its
 * .gnu_debuglink or build id leads to.
 *
 * The types tell where each parameter is when the function begins, by the
 * machine's calling convention (arch/arch.h): numbers and pointers are in registers, then
 * in memory; floating-point numbers are elsewhere, and left out.  Behind a structure that is
 * passed by value in registers we know no parameter.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/elf-file.h"
#include "common/files.h"
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/functions.h"

#define PEEL_MAX	32	/* typedefs of typedefs: the file may lie */
#define PARAMETERS_MAX	64
#define EIGHTBYTES	2	/* a larger structure is passed in memory */

#define DEBUG_ROOT	"/usr/lib/debug"	/* where packages put such files */

/* An open file. */
struct debug_file {
	struct elffile *elf;
	Dwarf	*dwarf;
};

/* The file that was asked for last: callers mostly ask for many functions of one file. */
static _Thread_local struct {
	bool	 there;
	struct stat st;
	struct debug_file f;
} latest;

static void
debug_close(struct debug_file *f)
{
	if (f->dwarf != NULL)
		dwarf_end(f->dwarf);
	tnf_elffile_close(f->elf);
	*f = (struct debug_file){ .elf = NULL };
}

void
tnfctl_function_types_forget(void)
{
	if (latest.there)
		debug_close(&latest.f);
	latest.there = false;
}

/*
 * Takes over 'fd'; members are NULL if the file cannot be read.  libdw reads the file instead
 * of mapping it, because its owner may cut it short.  A file that leads to yet another file
 * is left alone, since libdw would open whatever name stands there.
 */
static void
debug_open(struct debug_file *f, int fd)
{
	const char *name;
	const void *id;

	*f = (struct debug_file){ .elf = tnf_elffile_take(fd) };
	if (f->elf == NULL)
		return;
	f->dwarf = dwarf_begin_elf(tnf_elffile_handle(f->elf), DWARF_C_READ, NULL);
	if (f->dwarf != NULL && dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &id) > 0) {
		dwarf_end(f->dwarf);
		f->dwarf = NULL;
	}
}

static bool
same_build(struct elffile *a, struct elffile *b)
{
	const void *one, *two;
	ssize_t n = dwelf_elf_gnu_build_id(tnf_elffile_handle(a), &one);

	return n > 0 && dwelf_elf_gnu_build_id(tnf_elffile_handle(b), &two) == n &&
	    memcmp(one, two, (size_t)n) == 0;
}

/* Opens a file if it is a plain file of the same build, and has debugging information. */
static bool
debug_try(struct debug_file *ret, struct elffile *program, const char *path)
{
	struct stat st;

	debug_open(ret, tnf_open_regular(path, O_RDONLY, &st));
	if (ret->dwarf != NULL && same_build(program, ret->elf))
		return true;
	debug_close(ret);
	return false;
}

static bool
debug_by_build(struct debug_file *ret, struct elffile *program)
{
	char path[sizeof(DEBUG_ROOT) + 128];
	const unsigned char *id;
	const void *bits;
	ssize_t n = dwelf_elf_gnu_build_id(tnf_elffile_handle(program), &bits);
	size_t at;

	if (n < 2 || n > 32)
		return false;
	id = bits;
	at = (size_t)snprintf(path, sizeof path, DEBUG_ROOT "/.build-id/%02x/", id[0]);
	for (ssize_t i = 1; i < n; i++)
		at += (size_t)snprintf(path + at, sizeof path - at, "%02x", id[i]);
	snprintf(path + at, sizeof path - at, ".debug");
	return debug_try(ret, program, path);
}

static bool
debug_by_link(struct debug_file *ret, struct elffile *program, const char *path)
{
	static const struct {
		const char *above, *below;	/* of the program's directory */
	} where[] = { { "", "" }, { "", ".debug/" }, { DEBUG_ROOT, "" } };
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(tnf_elffile_handle(program), &crc);
	const char *slash = strrchr(path, '/');
	int base = slash != NULL ? (int)(slash + 1 - path) : 0;
	char full[PATH_MAX];

	/* The name comes from the file, which may lie: it must be a name without directories. */
	if (name == NULL || *name == '\0' || strchr(name, '/') != NULL)
		return false;
	for (size_t i = 0; i < sizeof where / sizeof where[0]; i++)
		if (snprintf(full, sizeof full, "%s%.*s%s%s", where[i].above, base, path,
		    where[i].below, name) < (int)sizeof full && debug_try(ret, program, full))
			return true;
	return false;
}

/* The information about an open file, from the file or from the one that it leads to; it stays
   until this thread asks for another file.  NULL: there is none. */
static Dwarf *
debug_of(int fd, const char *path)
{
	struct debug_file own, other;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (latest.there && tnfctl_file_same(&st, &latest.st))
		return latest.f.dwarf;
	tnfctl_function_types_forget();
	debug_open(&own, fcntl(fd, F_DUPFD_CLOEXEC, 3));
	if (own.elf != NULL && own.dwarf == NULL && (debug_by_build(&other, own.elf) ||
	    debug_by_link(&other, own.elf, path))) {
		debug_close(&own);
		own = other;
	}
	latest.f = own;
	latest.st = st;
	latest.there = true;
	return own.dwarf;
}

struct wanted {
	Dwarf_Addr address;
	Dwarf_Die die;
	bool	 found;
};

static int
is_it(Dwarf_Die *die, void *arg)
{
	struct wanted *w = arg;
	Dwarf_Addr first, base, end;

	/* A function with a separate part for rare cases has a list of ranges. */
	if ((dwarf_entrypc(die, &first) != 0 &&
	    dwarf_ranges(die, 0, &base, &first, &end) <= 0) || first != w->address)
		return DWARF_CB_OK;
	w->die = *die;
	w->found = true;
	return DWARF_CB_ABORT;
}

/* Finds the unit with this address, even if the file has no table of units' addresses: clang
   writes none. */
static bool
debug_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;

	if (dwarf_addrdie(dwarf, address, ret) != NULL)
		return true;
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, ret, NULL) == 0)
		if (type == DW_UT_compile && dwarf_haspc(ret, address) == 1)
			return true;
	return false;
}

static bool
find_function(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret)
{
	struct wanted w = { .address = address };
	Dwarf_Die cu;

	if (debug_unit(dwarf, address, &cu))
		dwarf_getfuncs(&cu, is_it, &w, 0);
	*ret = w.die;
	return w.found;
}

/* Follows the type through its names and qualifiers; false: it is void, or not known. */
static bool
debug_type(Dwarf_Die *of, Dwarf_Die *ret, bool *is_const)
{
	Dwarf_Attribute attr;
	Dwarf_Die die = *of;
	int tag;

	*is_const = false;
	for (int i = 0; i < PEEL_MAX; i++) {
		if (dwarf_attr_integrate(&die, DW_AT_type, &attr) == NULL ||
		    dwarf_formref_die(&attr, &die) == NULL)
			return false;
		tag = dwarf_tag(&die);
		*is_const |= tag == DW_TAG_const_type;
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type &&
		    tag != DW_TAG_atomic_type) {
			*ret = die;
			return true;
		}
	}
	return false;
}

static unsigned
encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word v = 0;

	if (dwarf_attr_integrate(type, DW_AT_encoding, &attr) != NULL)
		dwarf_formudata(&attr, &v);
	return (unsigned)v;
}

/* "const char *", and the like. */
static bool
is_text(Dwarf_Die *pointer)
{
	unsigned encoding;
	bool is_const;
	Dwarf_Die to;

	if (!debug_type(pointer, &to, &is_const) || !is_const ||
	    dwarf_tag(&to) != DW_TAG_base_type || dwarf_bytesize(&to) != 1)
		return false;
	encoding = encoding_of(&to);
	return encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
}

const char *
tnfctl_number_type(unsigned size, bool sign)
{
	static const char *const types[][2] = {
		{ "tnf_uint8", "tnf_int8" }, { "tnf_uint16", "tnf_int16" },
		{ "tnf_uint32", "tnf_int32" }, { "tnf_uint64", "tnf_int64" },
	};
	int i = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;

	return i < 0 ? NULL : types[i][sign];
}

/* True if a structure's first number is known to be no floating-point number, so that the structure
   does not consist of such numbers alone. */
static bool
begins_with_whole(Dwarf_Die *structure)
{
	Dwarf_Die type = *structure, member;
	bool is_const;
	int tag;

	for (int i = 0; i < PEEL_MAX; i++) {
		tag = dwarf_tag(&type);
		if (tag == DW_TAG_pointer_type || tag == DW_TAG_enumeration_type)
			return true;
		if (tag == DW_TAG_base_type)
			return encoding_of(&type) != DW_ATE_float &&
			    encoding_of(&type) != DW_ATE_complex_float;
		member = type;
		if (tag != DW_TAG_array_type && (tag != DW_TAG_structure_type ||
		    dwarf_child(&type, &member) != 0 || dwarf_tag(&member) != DW_TAG_member))
			return false;
		if (!debug_type(&member, &type, &is_const))
			return false;
	}
	return false;
}

/* Finds the kind of value; false: we know nothing of this value and of those behind it. */
static bool
debug_value(Dwarf_Die *type, struct function_value *ret)
{
	int tag = dwarf_tag(type), size = dwarf_bytesize(type);
	unsigned encoding;

	*ret = (struct function_value){ .size = 8, .registers = 1 };
	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		ret->is_text = tag == DW_TAG_pointer_type && is_text(type);
		ret->type = ret->is_text ? "tnf_string" : "tnf_opaque";
		return true;
	case DW_TAG_enumeration_type:
	case DW_TAG_base_type:
		encoding = tag == DW_TAG_base_type ? encoding_of(type) : DW_ATE_signed;
		if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float) {
			/* The value is in a vector register, which we do not record. */
			ret->registers = 0;
			return size <= 8;	/* "long double" is in memory */
		}
		if (size != 1 && size != 2 && size != 4 && size != 8)
			return false;
		ret->size = (uint8_t)size;
		ret->sign = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
		ret->type = tnfctl_number_type((unsigned)size, ret->sign);
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		/* A structure with a copy constructor goes by reference, and nothing says so. */
		if (size <= (int)(EIGHTBYTES * sizeof(uint64_t)) || tag == DW_TAG_class_type ||
		    (size <= ARCH_VECTOR_STRUCTURE && !begins_with_whole(type)))
			return false;
		ret->registers = ARCH_STRUCTURE_BY_ADDRESS;
		ret->in_memory = ((unsigned)size + 7) & ~7u;
		return true;
	default:
		return false;
	}
}

/* Names become words of attribute strings. */
static bool
is_word(const char *s)
{
	return s != NULL && *s != '\0' && strspn(s, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s);
}

/* True if the result is too large for registers: then the address of its place is the first
   argument. */
static bool
result_is_in_memory(Dwarf_Die *function)
{
	bool is_const;
	Dwarf_Die type;

	return debug_type(function, &type, &is_const) && (dwarf_tag(&type) ==
	    DW_TAG_structure_type || dwarf_tag(&type) == DW_TAG_union_type) &&
	    dwarf_bytesize(&type) > (int)(EIGHTBYTES * sizeof(uint64_t));
}

static void
name_value(Dwarf_Die *parameter, unsigned number, struct function_value *v)
{
	const char *name = dwarf_diename(parameter);

	if (is_word(name))
		snprintf(v->name, sizeof v->name, "%s", name);
	else
		snprintf(v->name, sizeof v->name, "arg%u", number);
}

int
tnfctl_function_parameters(int fd, const char *path, uint64_t address, struct function_value *ret,
    unsigned max)
{
	unsigned n = 0, number = 0, reg, memory = ARCH_STACK_ARGUMENTS;
	Dwarf *dwarf = debug_of(fd, path);
	struct function_value v;
	Dwarf_Die function, child, type;
	bool is_const;

	if (dwarf == NULL || !find_function(dwarf, address, &function))
		return -1;
	reg = ARCH_RESULT_FIRST && result_is_in_memory(&function) ? 1 : 0;
	if (dwarf_child(&function, &child) != 0)
		return 0;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (n == max || ++number > PARAMETERS_MAX || !debug_type(&child, &type, &is_const) ||
		    !debug_value(&type, &v))
			break;
		name_value(&child, number, &v);
		v.number = -1;
		if (v.registers == 0) {
			memory += v.in_memory;
		} else if (reg < ARCH_ARGUMENTS) {
			v.number = (int)reg++;
		} else {
			v.at = memory;
			memory += sizeof(uint64_t);
		}
		ret[n++] = v;
	} while (dwarf_siblingof(&child, &child) == 0);
	return (int)n;
}

int
tnfctl_function_result(int fd, const char *path, uint64_t address, struct function_value *ret)
{
	Dwarf *dwarf = debug_of(fd, path);
	Dwarf_Die function, type;
	bool is_const;

	if (dwarf == NULL || !find_function(dwarf, address, &function))
		return -1;
	if (!dwarf_hasattr_integrate(&function, DW_AT_type))
		return 0;
	if (!debug_type(&function, &type, &is_const) || !debug_value(&type, ret) || ret->type == NULL)
		return -1;
	strcpy(ret->name, "value");
	ret->number = 0;
	return 1;
}

/* Limits, because the file may lie. */
#define NESTED_MAX	8	/* structures without a name in structures */
#define MEMBERS_MAX	65536	/* of a structure */

struct member_path {
	struct kp_hops hops;
	const char *type;	/* static */
	bool	 text;
};

struct way {
	const char *path;	/* for messages */
	struct member_path *ret;
	char	*why;
	size_t	 size;
};

static bool
refuse(const struct way *w, const char *fact, const char *name, size_t len)
{
	snprintf(w->why, w->size, "args: %s: %s%.*s", w->path, fact, (int)len, name);
	return false;
}

/* Finds the variable or parameter of this name where the code at the address is. */
static bool
find_variable(Dwarf *dwarf, uint64_t address, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die unit, *scopes;
	bool found;
	int n;

	if (!debug_unit(dwarf, address, &unit) ||
	    (n = dwarf_getscopes(&unit, address, &scopes)) <= 0)
		return false;
	found = dwarf_getscopevar(scopes, n, name, 0, NULL, 0, 0, ret) >= 0;
	free(scopes);
	return found;
}

/* Finds a member of a structure or union, also in one without a name inside; *off grows. */
static bool
find_member(Dwarf_Die *of, const char *name, size_t len, unsigned depth, Dwarf_Die *ret, uint64_t *off)
{
	Dwarf_Die child, type;
	Dwarf_Attribute attr;
	Dwarf_Word at;
	const char *called;
	unsigned n = 0;
	bool is_const;

	if (depth == NESTED_MAX || dwarf_child(of, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		at = 0;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr) != NULL &&
		    dwarf_formudata(&attr, &at) != 0)
			continue;
		called = dwarf_diename(&child);
		if (called != NULL && strlen(called) == len && memcmp(called, name, len) == 0) {
			*ret = child;
			*off += at;
			return !dwarf_hasattr(&child, DW_AT_bit_size);
		}
		if (called == NULL && debug_type(&child, &type, &is_const) &&
		    find_member(&type, name, len, depth + 1, ret, off)) {
			*off += at;
			return true;
		}
	} while (++n < MEMBERS_MAX && dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Describes the last member's value, and how it is recorded. */
static bool
end_at(const struct way *w, Dwarf_Die *type, enum usdt_type asked)
{
	struct kp_hops *h = &w->ret->hops;
	struct function_value v;
	Dwarf_Die element;
	bool is_const;

	if (dwarf_tag(type) == DW_TAG_array_type && asked == USDT_STRING &&
	    debug_type(type, &element, &is_const) && dwarf_bytesize(&element) == 1) {
		h->size = 0;
		w->ret->text = true;
		w->ret->type = "tnf_string";
		return true;
	}
	if (!debug_value(type, &v) || v.type == NULL)
		return refuse(w, "it is no integer, pointer or text", "", 0);
	h->size = v.size;
	h->sign = v.sign;
	w->ret->text = v.is_text && asked != USDT_ADDRESS;
	w->ret->type = asked == USDT_ADDRESS ? "tnf_opaque" : v.type;
	if (asked == USDT_STRING && dwarf_tag(type) == DW_TAG_pointer_type) {
		w->ret->text = true;
		w->ret->type = "tnf_string";
	} else if (asked == USDT_STRING || asked == USDT_CHARS)
		return refuse(w, "it is no pointer to text and no array of characters", "", 0);
	return true;
}

/* Follows the names behind the variable. */
static bool
follow(const struct way *w, Dwarf_Die *variable, const char *s, enum usdt_type asked)
{
	struct kp_hops *h = &w->ret->hops;
	Dwarf_Die type, at = *variable;
	uint64_t off = 0;
	bool is_const;
	size_t len;

	for (;;) {
		bool arrow = strncmp(s, "->", 2) == 0;

		if (!debug_type(&at, &type, &is_const))
			return refuse(w, "no type is known of what is before ", s, strlen(s));
		if (*s == '\0')
			break;
		if (arrow && (dwarf_tag(&type) != DW_TAG_pointer_type ||
		    !debug_type(&type, &type, &is_const)))
			return refuse(w, "there is no pointer before ", s, strlen(s));
		s += arrow ? 2 : 1;
		len = strcspn(s, "-.");
		if (arrow) {
			if (h->n == KP_HOPS_MAX)
				return refuse(w, "more than four levels", "", 0);
			if (h->n > 0)
				h->off[h->n - 1] = (__u16)off;
			h->n++;
			off = 0;
		}
		if (!find_member(&type, s, len, 0, &at, &off))
			return refuse(w, "debugging information has no such member, or it is a bit field: ",
			    s, len);
		if (off > UINT16_MAX)
			return refuse(w, "it is too far from the beginning: ", s, len);
		s += len;
	}
	h->off[h->n - 1] = (__u16)off;
	return end_at(w, &type, asked);
}

/*
 * Finds the way of a path from the variable of its first name where the code at 'address' is (as
 * the symbol table of the open file has it).  'asked' is what the user calls the member.  false,
 * with the reason in 'why'.
 */
static bool
member_path_find(int fd, const char *shown, uint64_t address, const char *path,
    enum usdt_type asked, struct member_path *ret, char *why, size_t size)
{
	struct way w = { path, ret, why, size };
	Dwarf *dwarf = debug_of(fd, shown);
	size_t head = strcspn(path, "-.");
	char name[USDT_PATH_MAX];
	Dwarf_Die variable;

	memset(ret, 0, sizeof(*ret));
	if (dwarf == NULL)
		return refuse(&w, "the program has no debugging information: build with -g", "", 0);
	snprintf(name, sizeof(name), "%.*s", (int)head, path);
	if (!find_variable(dwarf, address, name, &variable))
		return refuse(&w, "debugging information has no such variable there: ", path, head);
	return follow(&w, &variable, path + head, asked);
}

bool
tnfctl_member_place(int fd, const struct kp_uprobe_spec *spec, uint64_t address,
    const struct usdt_args_named *named, unsigned i, struct kp_site *site, struct kp_uprobe_found *ret)
{
	struct member_path way;

	if (!member_path_find(fd, spec->shown, address, named->path[i], named->type[i], &way,
	    ret->why, sizeof(ret->why)))
		return false;
	site->hop[i] = way.hops;
	site->v[i].text = way.text ? KP_TEXT_STRING : KP_TEXT_NONE;
	if (ret->member[i].type != NULL && site != ret->site && strcmp(ret->member[i].type, way.type) != 0) {
		snprintf(ret->why, sizeof(ret->why), "args: %s: it is of different types at several "
		    "places", named->path[i]);
		return false;
	}
	ret->member[i].type = way.type;
	return true;
}

void
tnfctl_member_unread(const struct usdt_args_named *named, struct kp_uprobe_found *ret)
{
	for (unsigned i = 0; i < named->n; i++)
		if (named->path[i][0] != '\0') {
			ret->member[ret->members].type = "tnf_uint32";
			strcpy(ret->member[ret->members++].name, KP_UNREAD);
			return;
		}
}
