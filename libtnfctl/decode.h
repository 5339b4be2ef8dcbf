/*
 * decode.h - one instruction of x86-64: how long it is, where it leads, what moving it takes.
 */
#ifndef LIBTNFCTL_DECODE_H
#define LIBTNFCTL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Can this build decode? */
bool	tnfctl_insn_known(void);
/* The instruction that n bytes begin with; false: there is none. */
bool	tnfctl_insn_decode(const uint8_t *bytes, size_t n, struct insn *ret);
/* The same for the first of a function.  False also if the instruction goes elsewhere, writes to memory
   other than by push, or changes an argument by what the argument is. */
bool	tnfctl_insn_effect(const uint8_t *bytes, size_t n, struct insn_effect *ret);

#endif
