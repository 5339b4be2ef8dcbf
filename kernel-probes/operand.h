/*
 * operand.h - where an argument of a program's probe is, as BPF reads it.
 *
 * The control side (libtnfctl/usdt-args.c) makes this table of the strings in the
 * ELF notes, or of a function's calling convention; uprobe.bpf.h follows it at each
 * hit.  It lies in pinned maps: a change needs a new KP_LAYOUT.
 */
#ifndef KERNEL_PROBES_OPERAND_H
#define KERNEL_PROBES_OPERAND_H

#include <linux/types.h>

/* <sys/sdt.h> has macros for twelve arguments. */
#define KP_OPERANDS_MAX	12u

/* Registers by their place in x86-64's struct pt_regs, in words. */
enum kp_register {
	KP_R_R15, KP_R_R14, KP_R_R13, KP_R_R12, KP_R_BP, KP_R_BX, KP_R_R11,
	KP_R_R10, KP_R_R9, KP_R_R8, KP_R_AX, KP_R_CX, KP_R_DX, KP_R_SI, KP_R_DI,
	KP_R_ORIG_AX, KP_R_IP, KP_R_CS, KP_R_FLAGS, KP_R_SP, KP_R_SS,
	KP_R_COUNT,		/* words of struct pt_regs */
	KP_R_NONE = 31		/* always 0 */
};

enum kp_operand_kind {
	KP_OPERAND_VALUE,	/* base + index * scale + offset */
	KP_OPERAND_MEMORY,	/* what is there in the program's memory */
	KP_OPERAND_UNREADABLE	/* not recorded */
};

/*
 * One argument.  A constant is a value without registers, a register one
 * without an offset; an address near the instruction has KP_R_IP as its base.
 * 'shift' is 8 for the second byte of a register (%ah).  The lowest 'size' bytes of
 * the result count, 'sign' extends them.  'text' says whether the result is the
 * address of text in the program's memory.  What is to be recorded goes into the
 * event at 'at', 'store' bytes of it; a string leaves a reference there.
 */
struct kp_operand {
	__u8	kind;		/* enum kp_operand_kind */
	__u8	size;		/* 1, 2, 4, 8 */
	__u8	sign;
	__u8	text;		/* enum kp_operand_text */
	__u8	base, index;	/* enum kp_register */
	__u8	scale;		/* 1, 2, 4, 8 */
	__u8	shift;
	__s64	offset;
	__u16	at;		/* 0: not recorded */
	__u16	store;		/* 1, 2, 4, 8 */
	__u32	pad;
};

_Static_assert(sizeof(struct kp_operand) == 24, "no holes");

enum kp_operand_text {
	KP_TEXT_NONE,		/* a number */
	KP_TEXT_STRING,		/* it ends in a NUL */
	KP_TEXT_COUNTED		/* the next argument is its length */
};

/* Element of the map tnf_sites: the arguments of a probe at one of its places.  Its
   key is the cookie of the link: slot | place << 32. */
struct kp_site_row {
	__u32	n;
	__u32	pad;
	struct kp_operand v[KP_OPERANDS_MAX];
};

/* The operands of a probe at its only place are in its row (struct kp_import_row), in
   place of the operations, if they are numbers in registers and not more than these. */
#define KP_PLAIN_MAX	9u

#endif /* KERNEL_PROBES_OPERAND_H */
