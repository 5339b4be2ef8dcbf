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
enum elffile_kind elffile_kind_of(int fd, const char *symbol);

/* NULL: not an ELF object of this machine's class and byte order.  The file
   stays the caller's and must stay open. */
struct elffile *elffile_open(int fd);
void	elffile_close(struct elffile *);

/* The lowest address that is loaded, page aligned. */
uint64_t elffile_lowest(struct elffile *);

/* Calls fn for each section in memory whose name is 'name' or begins with
   'name' and a dot; false from fn ends it. */
void	elffile_sections(struct elffile *, const char *name,
	    bool (*fn)(void *, uint64_t address, uint64_t size), void *arg);

/* Calls fn with the bytes of each section of notes with this name, in the file's
   byte order, which is the machine's; they belong to e.  false from fn ends it. */
void	elffile_notes(struct elffile *, const char *name,
	    bool (*fn)(void *, const uint8_t *bytes, size_t size), void *arg);

/* Where in the file lies what is loaded at 'address'. */
bool	elffile_offset(struct elffile *, uint64_t address, uint64_t *ret);
/* May libdw be asked for the file's call frame information (.eh_frame)?  It reads all of
   it at once, however much that is. */
bool	elffile_frames_are_plain(struct elffile *e);
/* libelf's own handle, for libdw; it is e's.  The file is read, not mapped. */
struct Elf;
struct Elf *elffile_handle(struct elffile *e);
/* The other way around, of a file that libdwfl has opened. */
bool	elffile_address_of(struct Elf *, uint64_t offset, uint64_t *ret);
/* The address of the one symbol that is meant by 'name', functions and data. */
bool	elffile_symbol(struct elffile *, const char *name, uint64_t *ret);
/* Loaded where the linker said (not moved by a bias)? */
bool	elffile_is_fixed(struct elffile *);

/* Addresses of defined symbols, 0: not there.  values[i] that are not 0 are
   left alone.  deep: also in .symtab. */
void	elffile_symbols(struct elffile *, const char *const *names, uint64_t *values,
	    size_t n, bool deep);
bool	elffile_function(struct elffile *, const char *name, uint64_t *ret);
/* Calls fn for each function that is defined; false from fn ends it.  Those whose
   address is found at run time only (IFUNC) are none. */
void	elffile_functions(struct elffile *, bool (*fn)(void *, const char *name,
	    uint64_t address), void *arg);
/* Name of the function at exactly this address. */
bool	elffile_function_at(struct elffile *, uint64_t address, char *ret, size_t size);

/* The first library that the object wants whose name begins so. */
bool	elffile_needed(struct elffile *, const char *prefix, char *ret, size_t size);

/* What a pointer at 'address' will be once relocated, bias not added. */
bool	elffile_pointer(struct elffile *, uint64_t address, uint64_t *ret);
/* The NUL-terminated string at 'address', as the file has it. */
bool	elffile_string(struct elffile *, uint64_t address, char *ret, size_t size);

#endif
