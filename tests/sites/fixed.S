/*
 * fixed.S - a program that is never moved: numbers in its code and data are addresses.
 */
	.macro	FUNCTION name
	.balign	16, 0x90
	.type	\name, @function
\name:
	.cfi_startproc
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	.endm
	.macro	END name
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
FUNCTION no_word
END no_word
FUNCTION no_immediate
END no_immediate
FUNCTION no_displacement
END no_displacement
	.macro	SEQUENCE name
	.balign	16, 0x90
	.type	\name, @function
\name:
	.cfi_startproc
	mov	$1, %eax
	mov	$2, %edx
END \name
	.pushsection __rseq_cs, "aw"
	.long	0, 0
	.quad	\name, 10, _start
	.popsection
	.endm
SEQUENCE no_sequence
SEQUENCE no_second_sequence
FUNCTION yes_nothing
END yes_nothing
FUNCTION _start
	mov	$no_immediate + 2, %edi
	lea	no_displacement + 2(, %rdi, 8), %rdi
	ud2
END _start
	.globl	_start

	.data
	.balign	4
	.long	0
	.quad	no_word + 2
#ifndef NO_THREADS
	.section .tbss, "awT", @nobits
	.long	0
#endif
#ifdef GO
	.section .gopclntab, "a"
	.quad	1
#endif
	.section .note.GNU-stack, "", @progbits
