/*
 * fast-site.S - two sites, and a run through one of them with all registers known.
 */

	.text

/* void fast_run(const struct fast_state *in, struct fast_state *out, void (*run)(void));
   struct fast_state: 16 general registers by number, the flags, 16 words of a red zone, then
   16 vector registers of 32 bytes. */
	.globl	fast_run
	.type	fast_run, @function
fast_run:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rsi
	push	%rdx
	mov	%rdi, %rax
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	264 + 32 * \i(%rax), %ymm\i
	.endr
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	136 + 8 * \i(%rax), %rcx
	mov	%rcx, -128 + 8 * \i(%rsp)
	.endr
	lea	-128(%rsp), %rsp
	push	128(%rax)
	popf
	lea	128(%rsp), %rsp
	/* The push has written one word below the red zone. */
	mov	8(%rax), %rcx
	mov	16(%rax), %rdx
	mov	24(%rax), %rbx
	mov	40(%rax), %rbp
	mov	48(%rax), %rsi
	mov	56(%rax), %rdi
	mov	64(%rax), %r8
	mov	72(%rax), %r9
	mov	80(%rax), %r10
	mov	88(%rax), %r11
	mov	96(%rax), %r12
	mov	104(%rax), %r13
	mov	112(%rax), %r14
	mov	120(%rax), %r15
	mov	(%rax), %rax
	jmp	*(%rsp)

/* The site within a function: data lie below the stack pointer. */
	.globl	fast_inner_run, fast_inner_site
	.type	fast_inner_run, @function
fast_inner_run:
	.cfi_startproc
	nop
fast_inner_site:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	jmp	1f
	.cfi_endproc

/* The site at which a function begins. */
	.globl	fast_entry_run, fast_entry_site
	.type	fast_entry_run, @function
fast_entry_run:
	call	fast_entry_site
	jmp	1f
	.type	fast_entry_site, @function
fast_entry_site:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	mov	%rsp, %rbp
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc

1:	xchg	%rax, 8(%rsp)
	mov	%rcx, 8(%rax)
	mov	%rdx, 16(%rax)
	mov	%rbx, 24(%rax)
	mov	%rbp, 40(%rax)
	mov	%rsi, 48(%rax)
	mov	%rdi, 56(%rax)
	mov	%r8, 64(%rax)
	mov	%r9, 72(%rax)
	mov	%r10, 80(%rax)
	mov	%r11, 88(%rax)
	mov	%r12, 96(%rax)
	mov	%r13, 104(%rax)
	mov	%r14, 112(%rax)
	mov	%r15, 120(%rax)
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	-128 + 8 * \i(%rsp), %rcx
	mov	%rcx, 136 + 8 * \i(%rax)
	.endr
	lea	-128(%rsp), %rsp
	pushf
	pop	128(%rax)
	lea	128(%rsp), %rsp
	mov	8(%rsp), %rcx
	mov	%rcx, (%rax)
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	%ymm\i, 264 + 32 * \i(%rax)
	.endr
	vzeroupper
	add	$16, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	fast_run, . - fast_run

	.section .note.GNU-stack, "", @progbits
