/*
 * x86-64.S - the trampolines of fast probes (<tnf/target.h>).
 *
 * A pad calls one of them.  It saves general registers and the flags, and calls tnf_fast_hit(),
 * which uses no others, and needs no stack that is aligned.  Functions whose callers are known keep
 * values in registers that a call may change otherwise (gcc's -fipa-ra); so even those are saved.
 *
 * The call frame information tells that the caller is the site, as if the site had called: no
 * unwinder knows the pad.  "resume" of struct tnf_fast_site is the address to return to then,
 * one byte behind the site's first, as unwinders look one byte before that address.
 */

	.set	FAST_PUSHED, 36	/* the member of struct tnf_fast_site */
	.text

/* The places of NONE, IP and SP in struct tnf_fast_regs, and the registers that functions get
   arguments in, or may change. */
	.macro PUSH_ARGUMENTS
	push	$0
	.cfi_adjust_cfa_offset 8
	lea	-16(%rsp), %rsp
	.cfi_adjust_cfa_offset 16
	.irp	r, rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11
	push	%\r
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %\r, 0
	.endr
	.endm

	.macro POP_ARGUMENTS
	.irp	r, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
	pop	%\r
	.cfi_adjust_cfa_offset -8
	.cfi_restore %\r
	.endr
	lea	24(%rsp), %rsp
	.cfi_adjust_cfa_offset -24
	.endm

/* Saves what struct tnf_fast_regs has, and the flags. */
	.macro SAVE
	PUSH_ARGUMENTS
	.irp	r, rbx, rbp, r12, r13, r14, r15
	push	%\r
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %\r, 0
	.endr
	seto	%al
	lahf
	mov	%rax, %r12
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.endm

	.macro RESTORE
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	mov	%r12, %rax
	add	$0x7f, %al
	sahf
	/* The function that was called has kept the others. */
	lea	24(%rsp), %rsp
	.cfi_adjust_cfa_offset -24
	.irp	r, r15, r14, r13, rbx
	.cfi_restore %\r
	.endr
	.irp	r, r12, rbp
	pop	%\r
	.cfi_adjust_cfa_offset -8
	.cfi_restore %\r
	.endr
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	POP_ARGUMENTS
	.endm

/* Arguments of a function are in these where it begins.  tnf_fast_hit() keeps the others, whose places
   in struct tnf_fast_regs have nothing; the place of rbx has the flags. */
	.macro SAVE_ARGUMENTS
	PUSH_ARGUMENTS
	lea	-48(%rsp), %rsp
	.cfi_adjust_cfa_offset 48
	seto	%al
	lahf
	mov	%rax, 40(%rsp)
	.endm

	.macro RESTORE_ARGUMENTS
	mov	40(%rsp), %rax
	add	$0x7f, %al
	sahf
	lea	48(%rsp), %rsp
	.cfi_adjust_cfa_offset -48
	POP_ARGUMENTS
	.endm

/* before: from the address to return to back to the address of the site; red: bytes that the
   pad has left free below the stack pointer; kind: of SAVE and RESTORE. */
	.macro TRAMPOLINE name before red kind
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 5
\name:
	.cfi_startproc
	.cfi_def_cfa %rsp, 8 + \red
	/* DW_CFA_expression, register 16, 10 bytes: const2u, minus, deref (in the pad), lit, minus,
	   deref (the site), plus_uconst 8 (its member resume). */
	.cfi_escape 0x10, 0x10, 10, 0x0a, 8 + \red, 0, 0x1c, 0x06, 0x30 + \before, 0x1c, 0x06, 0x23, 8
	endbr64
	SAVE\kind
	mov	144(%rsp), %rsi
	mov	-\before(%rsi), %rsi
	mov	FAST_PUSHED(%rsi), %eax
	lea	152 + \red(%rsp, %rax), %rax
	mov	%rax, 120(%rsp)
	mov	%rsp, %rdi
	.ifb	\kind
	and	$-16, %rsp
	.endif
	call	tnf_fast_hit
	RESTORE\kind
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	TRAMPOLINE tnf_fast_entry, 22, 0, _ARGUMENTS
	TRAMPOLINE tnf_fast_inner, 27, 128

/*
 * A function whose return is recorded returns to this place (fast.c).  The function has left
 * its caller's stack pointer; the word below it, the "place", is the key of the table that
 * has the real address to return to.
 *
 * For unwinders this is a frame of its own between function and caller, with the same canonical
 * frame address.  They look an address to return to up one byte before, where the word with the
 * way to the table lies.  As the frame is that of a signal, its caller is told apart from it, and is
 * looked up at the address itself; so the expression gives the address less 1.
 */
	.hidden	tnf_fast_calls
	.globl	tnf_fast_return
	.hidden	tnf_fast_return
	.type	tnf_fast_return, @function
	.p2align 5
	.fill	24, 1, 0x90
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	/* DW_CFA_val_expression, register 16.  The frame's address is on the stack: dup (libgcc cannot pick
	   the lowest word), lit8, minus (the place);
	   dup, deref (this code), lit8, minus, dup, deref, plus, deref (the table); over, const8u, mul,
	   const1u 48, shr, lit7, shl, plus (the set); lit0 (the sum).  For each way: over, plus_uconst,
	   deref (its key), pick 3, eq; pick 2, plus_uconst, deref (its address), mul, plus.  Then
	   lit1, minus. */
	.cfi_escape 0x16, 0x10, 87, 0x12, 0x38, 0x1c, 0x12, 0x06, 0x38, 0x1c, 0x12, 0x06, 0x22, 0x06, 0x14, 0x0e, \
	    0x15, 0x7c, 0x4a, 0x7f, 0xb9, 0x79, 0x37, 0x9e, 0x1e, 0x08, 48, 0x25, 0x37, 0x24, 0x22, 0x30, \
	    0x14, 0x23, 0, 0x06, 0x15, 3, 0x29, 0x15, 2, 0x23, 8, 0x06, 0x1e, 0x22, \
	    0x14, 0x23, 24, 0x06, 0x15, 3, 0x29, 0x15, 2, 0x23, 32, 0x06, 0x1e, 0x22, \
	    0x14, 0x23, 48, 0x06, 0x15, 3, 0x29, 0x15, 2, 0x23, 56, 0x06, 0x1e, 0x22, \
	    0x14, 0x23, 72, 0x06, 0x15, 3, 0x29, 0x15, 2, 0x23, 80, 0x06, 0x1e, 0x22, 0x31, 0x1c
	.quad	tnf_fast_calls - .
tnf_fast_return:
	lea	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	SAVE
	lea	152(%rsp), %rax
	mov	%rax, 120(%rsp)
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	tnf_fast_returned
	.cfi_offset 16, -8
	RESTORE
	ret
	.cfi_endproc
	.size	tnf_fast_return, . - tnf_fast_return

	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0
	.section .note.GNU-stack, "", @progbits
