/*
 * x86-64.S - the trampolines of fast probes (<tnf/target.h>).
 *
 * A pad calls one of them.  It saves all general registers and the flags, and calls
 * tnf_fast_hit(), which uses no others.  Functions whose callers are known keep values in
 * registers that a call may change otherwise (gcc's -fipa-ra); so even those are saved.
 *
 * The call frame information tells that the caller is the site, as if the site had called: no
 * unwinder knows the pad.  "resume" of struct tnf_fast_site is the address to return to then,
 * one byte behind the site's first, as unwinders look one byte before that address.
 */

	.text

/* before: from the address to return to back to the address of the site; red: bytes that the
   pad has left free below the stack pointer. */
	.macro TRAMPOLINE name before red
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 5
\name:
	.cfi_startproc
	.cfi_def_cfa %rsp, 8 + \red
	endbr64
	/* DW_CFA_expression, register 16, 10 bytes: const2u, minus, deref (in the pad), lit, minus,
	   deref (the site), plus_uconst 8 (its member resume). */
	.cfi_escape 0x10, 0x10, 10, 0x0a, 8 + \red, 0, 0x1c, 0x06, 0x30 + \before, 0x1c, 0x06, 0x23, 8
	push	$0
	.cfi_adjust_cfa_offset 8
	lea	-16(%rsp), %rsp
	.cfi_adjust_cfa_offset 16
	.irp	r, rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15
	push	%\r
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %\r, 0
	.endr
	seto	%al
	lahf
	mov	%rax, %r12
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	lea	152 + \red(%rsp), %rax
	mov	%rax, 120(%rsp)
	mov	144(%rsp), %rsi
	mov	-\before(%rsi), %rsi
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	tnf_fast_hit
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
	.irp	r, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
	pop	%\r
	.cfi_adjust_cfa_offset -8
	.cfi_restore %\r
	.endr
	lea	24(%rsp), %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	TRAMPOLINE tnf_fast_entry, 22, 0
	TRAMPOLINE tnf_fast_inner, 27, 128

	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0
	.section .note.GNU-stack, "", @progbits
