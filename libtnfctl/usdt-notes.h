/*
 * usdt-notes.h - the probes that <sys/sdt.h> puts into programs: their notes.
 *
 * A macro such as STAP_PROBE2(provider, name, a, b) leaves one nop in the program
 * and a note in .note.stapsdt: where the nop is, which 16-bit word of the program
 * (its semaphore) tells it that somebody listens, and in which registers or memory
 * the arguments are then, in the assembler's words.  Files are untrusted.
 */
#ifndef LIBTNFCTL_USDT_NOTES_H
#define LIBTNFCTL_USDT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

/* Strings are those of the file, valid while fn runs; addresses have no bias. */
struct usdt_note {
	uint64_t address;	/* of the nop */
	uint64_t base;		/* of .stapsdt.base when the program was linked */
	uint64_t semaphore;	/* 0: none */
	const char *provider, *name, *args;
};

typedef bool usdt_note_f(void *arg, const struct usdt_note *);

/* Calls fn for each note of a section until it returns false.  Ends at the first
   note that does not fit; those of others are passed over. */
void	tnfctl_usdt_notes_read(const uint8_t *bytes, size_t size, usdt_note_f *, void *arg);

/* The same for an object; addresses are put right if it was moved since it was
   linked (prelink).  false: there are no such notes. */
bool	tnfctl_usdt_notes_of(struct elffile *, usdt_note_f *, void *arg);

#endif
