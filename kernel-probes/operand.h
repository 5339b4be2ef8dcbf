/*
 * operand.h - where an argument of a program's probe, or of a tracepoint, is, as BPF reads it.
 *
 * The control side (libtnfctl/usdt-object.c) makes this table from the strings in the
 * ELF notes, or from a function's calling convention; tracepoint-args.c makes it from the
 * kernel's BTF.  Programs follow it at each hit (operand.bpf.h).  The table lies in pinned maps: a change of its layout needs a new KP_LAYOUT.
 */
#ifndef KERNEL_PROBES_OPERAND_H
#define KERNEL_PROBES_OPERAND_H

#include <linux/types.h>

/* <sys/sdt.h> has macros for twelve arguments. */
#define KP_OPERANDS_MAX	12u

enum kp_operand_kind {
	KP_OPERAND_VALUE,	/* base + index * scale + offset */
	KP_OPERAND_MEMORY,	/* the program's memory at that address */
	KP_OPERAND_UNREADABLE	/* not recorded */
};

/*
 * One argument.  The registers of a tracepoint are its arguments, counted from 0.  A constant is a value without registers, a register one
 * without an offset; an address near the instruction has KP_R_IP as its base.
 * 'shift' is 8 for the second byte of a register (%ah).  The lowest 'size' bytes of
 * the result count, 'sign' extends them.  'text' says whether the result is the
 * address of text in the program's memory.  'store' bytes of the result go into
 * the event at 'at'; for a text, a reference to a string goes there.
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
	__u32	limit;		/* of a text of the kernel: its bytes at most, with a NUL; 0: none */
};

_Static_assert(sizeof(struct kp_operand) == 24, "no holes");

enum kp_operand_text {
	KP_TEXT_NONE,		/* a number */
	KP_TEXT_STRING,		/* it ends in a NUL */
	KP_TEXT_COUNTED,	/* the next argument is its length */
	KP_TEXT_OR_NULL		/* as KP_TEXT_STRING; "(null)" if there is none */
};

#define KP_HOPS_MAX	4u

/*
 * The way from an argument that is a pointer to a member: at each hop 'off' is added, and what
 * lies there is the next pointer; at the last hop the lowest 'size' bytes of what lies there
 * count, or, if that is 0, the address itself, where a text is.
 */
struct kp_hops {
	__u8	n;		/* 0: the argument itself counts */
	__u8	size;		/* 0, 1, 2, 4, 8 */
	__u8	sign;
	__u8	pad;
	__u16	off[KP_HOPS_MAX];
};

/* Element of the map tnf_sites: the arguments of a probe at one of its places.  Its
   key is the cookie of the link: slot | place << 32. */
struct kp_site_row {
	__u32	n;
	__u32	unread_at;	/* where the bits of arguments that led nowhere go; 0: nowhere */
	struct kp_operand v[KP_OPERANDS_MAX];
	struct kp_hops hop[KP_OPERANDS_MAX];
};

/* A member of this name, behind those of the arguments, tells which of them led nowhere. */
#define KP_UNREAD	"unread"

/* The operands of a probe at its only place are in its row (struct kp_import_row), in
   place of the operations, if they are numbers in registers and not more than these. */
#define KP_PLAIN_MAX	9u

/* The programs of raw tracepoints that are loaded at once. */
#define KP_RAW_PROGRAMS	24u

/*
 * The registers of a thread as BPF sees them: by their place in the machine's struct
 * pt_regs, in words.
 */

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

enum kp_register {
	KP_R_X0 = 0, KP_R_X30 = 30,	/* x1 to x29 are between them */
	KP_R_SP, KP_R_IP, KP_R_FLAGS,
	KP_R_COUNT,		/* words of struct pt_regs that count */
	KP_R_NONE = 63		/* always 0 */
};

#else

enum kp_register {
	KP_R_R15, KP_R_R14, KP_R_R13, KP_R_R12, KP_R_BP, KP_R_BX, KP_R_R11,
	KP_R_R10, KP_R_R9, KP_R_R8, KP_R_AX, KP_R_CX, KP_R_DX, KP_R_SI, KP_R_DI,
	KP_R_ORIG_AX, KP_R_IP, KP_R_CS, KP_R_FLAGS, KP_R_SP, KP_R_SS,
	KP_R_COUNT,		/* words of struct pt_regs */
	KP_R_NONE = 31		/* always 0 */
};

#endif

#define KP_R_ROOM	(KP_R_NONE + 1u)	/* a power of two */

#endif /* KERNEL_PROBES_OPERAND_H */
