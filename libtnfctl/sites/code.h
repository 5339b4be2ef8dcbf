/*
 * code.h - the bytes of an ELF file as they are loaded, the functions that its call frame
 * information tells apart, and the marks: where threads may come to other than from
 * the instruction before.
 *
 * Files are untrusted; addresses are those of the file.
 */
#ifndef LIBTNFCTL_CODE_H
#define LIBTNFCTL_CODE_H

#include "common/map.h"

#define CODE_SEGMENTS_MAX	64u

struct elffile;

struct code_segment {
	uint64_t address, size;
	bool	 exec;
	uint8_t	*bytes;		/* NULL once they are not needed any more */
	uint8_t	*marks;		/* a bit for each byte; NULL if nothing is executed there */
};

struct code_frame {		/* of a function, or a part of one */
	uint64_t start, end;
	bool	 is_signal;	/* what is there makes a signal handler return */
	bool	 computes;	/* takes addresses inside itself, and may add numbers to them */
};

struct code {
	struct code_segment segments[CODE_SEGMENTS_MAX];
	unsigned n;
	struct code_frame *frames;	/* in the order of their addresses */
	size_t	 nframes;
	uint64_t *anchors;	/* addresses at which an instruction begins, in order */
	size_t	 nanchors;
	bool	 failed;	/* no memory */
};

/* false and errno: it cannot be read.  tnfctl_code_free() in any case. */
bool	tnfctl_code_load(struct elffile *, struct code *ret);
/* Lets the bytes of data go. */
void	tnfctl_code_keep_executed(struct code *);
void	tnfctl_code_free(struct code *);

/* The bytes from an address to the end of its segment; NULL: nothing is loaded there. */
const uint8_t *tnfctl_code_at(const struct code *, uint64_t address, size_t *left);

/* An address where nothing is executed gets no mark. */
void	tnfctl_code_mark(struct code *, uint64_t address);
bool	tnfctl_code_is_marked(const struct code *, uint64_t address);

/* Reads the call frame information: frames, and marks where exceptions are caught.  false: it
   is damaged, or of a kind that is not understood. */
bool	tnfctl_code_read_frames(struct code *, struct elffile *);
/* NULL: none. */
struct code_frame *tnfctl_code_frame(const struct code *, uint64_t address);

/* Marks everything that branches, addresses in code and in data, and relocations lead
   to.  NULL, or why the object must not be patched. */
const char *tnfctl_code_read_branches(struct code *, struct elffile *);

/*
 * decode.c: one instruction of x86-64: how long it is, where it leads, what moving it takes.
 */

#define INSN_MAX	15u	/* bytes of the longest */

enum insn_kind {
	INSN_PLAIN,		/* goes on behind itself */
	INSN_NOP,		/* the same, without any effect */
	INSN_LANDING,		/* endbr64: an indirect branch may lead here */
	INSN_JUMP,		/* these three have a target: jmp, ... */
	INSN_BRANCH,		/* ... a condition, ... */
	INSN_CALL,		/* ... call */
	INSN_JUMP_TO,		/* these two take it from a register or from memory */
	INSN_CALL_TO,
	INSN_RETURN,
	INSN_STOP,		/* int3, ud2, hlt: nothing goes on here */
	INSN_FIXED		/* works at its own address alone */
};

struct insn {
	enum insn_kind kind;
	uint8_t	length;
	uint8_t	condition;	/* of a branch: the low bits of its opcode */
	bool	has_target;	/* a branch's: 'relative' bytes behind the end of the instruction */
	bool	has_place;	/* memory at 'relative' bytes behind its end */
	bool	is_lea;		/* the place's address is taken */
	bool	by_stack;	/* its operand is at, or is, the stack pointer */
	uint8_t	displacement;	/* of has_place: where its four bytes are in the instruction */
	uint8_t	modrm;		/* where this byte is; 0: it has none */
	int64_t	relative;
	uint64_t number[2];	/* numbers of 32 bits or more in it; 0: none */
};

/* The change that an instruction makes to the registers from which a function's arguments are
   read behind the instruction. */
struct insn_effect {
	uint8_t	 length;
	uint8_t	 pushed;	/* bytes that the stack pointer goes down by */
	uint32_t lost;		/* registers of arguments that it sets: 1 << KP_R_... */
};

/* True if this build can decode. */
bool	tnfctl_insn_known(void);
/* The instruction that n bytes begin with; false: there is none. */
bool	tnfctl_insn_decode(const uint8_t *bytes, size_t n, struct insn *ret);
/* The same for the first of a function.  False also if the instruction goes elsewhere, writes to memory
   other than by push, or changes an argument by what the argument is. */
bool	tnfctl_insn_effect(const uint8_t *bytes, size_t n, struct insn_effect *ret);

#endif
