/*
 * registers.h - the registers of a thread as BPF sees them: by their place in the
 * machine's struct pt_regs, in words.  It is read by the programs and by those who
 * describe operands to them (operand.h).
 */
#ifndef KERNEL_PROBES_ARCH_REGISTERS_H
#define KERNEL_PROBES_ARCH_REGISTERS_H

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

#endif /* KERNEL_PROBES_ARCH_REGISTERS_H */
