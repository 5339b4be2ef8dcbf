/*
 * usersym.c - functions of traced processes, by object and build id.
 *
 * libdwfl finds the symbols in the object, in its .gnu_debugdata, or in a file of debugging
 * information with its build id or .gnu_debuglink.  If $DEBUGINFOD_URLS is set it also asks
 * these servers, as debuggers do.
 */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
const Dwfl_Callbacks usersym_callbacks = {
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

int
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

Dwfl_Module *
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
