/*
 * elf-file.h - what an ELF file says: the only door to libelf, for files that
 * targets bring.
 *
 * Nothing in the file is trusted; sizes beyond the limits in elf-file.c are
 * treated as if the section were not there.  Addresses are those of the file,
 * without the load bias.
 */
#ifndef COMMON_ELF_FILE_H
#define COMMON_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

enum elffile_kind {
	ELFFILE_DYNAMIC,
	ELFFILE_STATIC,
	ELFFILE_STATIC_WITH,	/* and it defines the symbol that was asked for */
	ELFFILE_OTHER_CLASS,
	ELFFILE_NOT_ELF
};

/* Looks at the file header and program headers of an executable, and in a static one
   for a symbol. */
enum elffile_kind tnf_elffile_kind_of(int fd, const char *symbol);

/* NULL: not an ELF object of this machine's class and byte order.  The file
   stays the caller's and must stay open. */
struct elffile *tnf_elffile_open(int fd);
/* The same, but tnf_elffile_close() closes the file, too; after a failure it is closed at
   once.  fd may be -1. */
struct elffile *tnf_elffile_take(int fd);
void	tnf_elffile_close(struct elffile *);

static inline void
tnf_autoelf(struct elffile *const *e)
{
	tnf_elffile_close(*e);
}

/* Closes the file, if there is one, at the end of the variable's block, on each way out. */
#define autoelf __attribute__((cleanup(tnf_autoelf)))


/* The lowest address that is loaded, page aligned. */
uint64_t tnf_elffile_lowest(struct elffile *);

/* Calls fn for each section in memory whose name is 'name' or begins with
   'name' and a dot; false from fn ends it. */
void	tnf_elffile_sections(struct elffile *, const char *name,
	    bool (*fn)(void *, uint64_t address, uint64_t size), void *arg);

/* Calls fn with the bytes of each section of notes with this name, in the file's
   byte order, which is the machine's; they belong to e.  false from fn ends it. */
void	tnf_elffile_notes(struct elffile *, const char *name,
	    bool (*fn)(void *, const uint8_t *bytes, size_t size), void *arg);

/* The description of the first note of this type (NT_FILE, ...) in a core, which belongs to e;
   NULL: there is none. */
const uint8_t *tnf_elffile_core_note(struct elffile *, uint32_t type, size_t *ret_size);

/* The offset in the file of the byte that is loaded at 'address'. */
bool	tnf_elffile_offset(struct elffile *, uint64_t address, uint64_t *ret);
/* True if libdw may be asked for the file's call frame information (.eh_frame).  It reads all of it
   at once, however much that is. */
bool	tnf_elffile_frames_are_plain(struct elffile *e);
/* libelf's own handle, for libdw; it belongs to e.  The file is read, not mapped. */
struct Elf;
struct Elf *tnf_elffile_handle(struct elffile *e);
/* The address of the byte at 'offset' of a file that libdwfl has opened. */
bool	tnf_elffile_address_of(struct Elf *, uint64_t offset, uint64_t *ret);
/* The address of the one symbol that is meant by 'name', functions and data. */
bool	tnf_elffile_symbol(struct elffile *, const char *name, uint64_t *ret);
/* True if the file is loaded where the linker said (not moved by a bias). */
bool	tnf_elffile_is_fixed(struct elffile *);

/* Addresses of defined symbols, 0: not there.  values[i] that are not 0 are
   left alone.  deep: also in .symtab. */
void	tnf_elffile_symbols(struct elffile *, const char *const *names, uint64_t *values,
	    size_t n, bool deep);
/* The same for functions alone, also in .symtab. */
void	tnf_elffile_functions_called(struct elffile *, const char *const *names,
	    uint64_t *values, size_t n);
bool	tnf_elffile_function(struct elffile *, const char *name, uint64_t *ret);
/* Calls fn for each function that is defined; false from fn ends it.  Those whose
   address is found at run time only (IFUNC) are none. */
void	tnf_elffile_functions(struct elffile *, bool (*fn)(void *, const char *name,
	    uint64_t address), void *arg);
/* Calls fn for each symbol that is defined at an address: functions, resolvers of functions whose
   address is found at run time (is_resolver), data and plain labels; false from fn ends it. */
void	tnf_elffile_labels(struct elffile *, bool (*fn)(void *, const char *name,
	    uint64_t address, bool is_resolver), void *arg);
/* Name of the function at exactly this address. */
bool	tnf_elffile_function_at(struct elffile *, uint64_t address, char *ret, size_t size);

/* True if the object wants a symbol of others whose name begins so. */
bool	tnf_elffile_imports(struct elffile *, const char *prefix);
/* The first library that the object wants whose name begins so. */
bool	tnf_elffile_needed(struct elffile *, const char *prefix, char *ret, size_t size);

/* The name under which the object says that it is loaded (DT_SONAME). */
bool	tnf_elffile_soname(struct elffile *, char *ret, size_t size);

struct elffile_segment {
	uint32_t type;		/* PT_LOAD, ... */
	bool	 exec;
	uint64_t address, size;	/* size: of the bytes that the file has */
};
/* Calls fn for each segment until it returns false. */
void	tnf_elffile_segments(struct elffile *, bool (*fn)(void *, const struct elffile_segment *),
	    void *arg);
/* Calls fn for each place that is relocated to an address in this object, with that address, until
   fn returns false; is_resolver: the address is that of a resolver, which is called for it. */
void	tnf_elffile_relocations(struct elffile *, bool (*fn)(void *, uint64_t place,
	    uint64_t address, bool is_resolver), void *arg);
/* True if the file has a table of sections.  Without one, nothing is known of symbols and
   relocations. */
bool	tnf_elffile_has_sections(struct elffile *);

/* n bytes of the file from where 'address' is loaded, or as many as there are; returns
   how many. */
size_t	tnf_elffile_read(struct elffile *, uint64_t address, void *buf, size_t n);
/* The value that a pointer at 'address' will have once it is relocated, without the bias. */
bool	tnf_elffile_pointer(struct elffile *, uint64_t address, uint64_t *ret);
/* The NUL-terminated string at 'address', as the file has it. */
bool	tnf_elffile_string(struct elffile *, uint64_t address, char *ret, size_t size);

#endif
