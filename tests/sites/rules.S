/*
 * rules.S - functions that keep each rule of sites.c, and that break one: rules.c has
 * the reason for each.
 */
	.macro	BARE name
	.balign	16, 0x90
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro	FUNCTION name	/* the jump is put behind endbr64, whatever comes then */
	BARE	\name
	endbr64
	.endm
	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
FUNCTION yes_nothing
	mov	$1, %eax
	ret
END yes_nothing

FUNCTION yes_plain
	push	%rbp
	mov	%rsp, %rbp
	sub	$32, %rsp
	leave
	ret
END yes_plain

FUNCTION yes_endbr
	push	%rbp
	mov	%rsp, %rbp
	sub	$32, %rsp
	leave
	ret
END yes_endbr

FUNCTION yes_patchable		/* -fpatchable-function-entry=5 */
	nop
	nop
	nop
	nop
	nop
	xor	%eax, %eax
	ret
END yes_patchable

FUNCTION yes_mcount		/* -pg -mfentry -mnop-mcount */
	.byte	0x0f, 0x1f, 0x44, 0, 0
	xor	%eax, %eax
	ret
END yes_mcount

FUNCTION yes_rip
	lea	numbers(%rip), %rax
	mov	(%rax), %eax
	ret
END yes_rip

FUNCTION yes_condition
	test	%edi, %edi
	je	1f
	mov	%edi, %eax
	ret
1:	mov	$1, %eax
	ret
END yes_condition

FUNCTION yes_call
	sub	$8, %rsp
	call	yes_local
	add	$8, %rsp
	ret
END yes_call

FUNCTION yes_call_memory
	call	*place(%rip)
	ret
END yes_call_memory

FUNCTION yes_jump
	jmp	yes_local
END yes_jump

FUNCTION yes_padding		/* behind it is nothing that anybody executes */
	xor	%eax, %eax
	ret
END yes_padding

FUNCTION yes_loop		/* to the first byte of the jump */
1:	dec	%edi
	test	%edi, %edi
	jne	1b
	ret
END yes_loop

	.balign	16, 0x90
	.type	yes_local, @function
yes_local:
	.cfi_startproc
	mov	%rdi, %rax
	add	$1, %rax
	ret
	.cfi_endproc
	.size	yes_local, . - yes_local

FUNCTION no_short
	xor	%eax, %eax
	ret
	.cfi_endproc
	.type	yes_behind, @function
yes_behind:
	.cfi_startproc
	mov	$1, %eax
	ret
END yes_behind

FUNCTION no_branch
	xor	%eax, %eax
1:	inc	%eax
	cmp	%edi, %eax
	jne	1b
	ret
END no_branch

FUNCTION no_branch_elsewhere
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_branch_elsewhere

FUNCTION yes_branching
	mov	$1, %eax
	jmp	no_branch_elsewhere + 6
END yes_branching

FUNCTION no_branch_gap
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_branch_gap
	.byte	0xeb, no_branch_gap + 5 - . - 1		/* a jmp that no symbol tells of */

FUNCTION no_branch_data
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_branch_data
	.byte	0x06, 0x06, 0x48, 0x8b			/* data, then a jmp */
	.byte	0xeb, no_branch_data + 5 - . - 1
	.byte	0x06

FUNCTION no_lea
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_lea

FUNCTION yes_taking
	lea	no_lea + 5(%rip), %rax
	ret
END yes_taking

FUNCTION no_relocation
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_relocation

FUNCTION no_table
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_table

FUNCTION yes_switch
	lea	table(%rip), %rdx
	movslq	(%rdx, %rdi, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
END yes_switch

FUNCTION yes_next_table		/* an entry of next_table would lead into it from table */
	push	%rbx
	pop	%rbx
	mov	%rdi, %rax
	lea	next_table(%rip), %rdx
	ret
END yes_next_table

FUNCTION no_catch
	.cfi_personality 0x1b, yes_local
	.cfi_lsda 0x1b, catches
	push	%rbx
.Lcatch:
	pop	%rbx
	mov	%rdi, %rax
	ret
.Lcatch_end:
END no_catch

FUNCTION no_landing
	push	%rbx
	endbr64
	pop	%rbx
	ret
END no_landing

FUNCTION no_call_first
	call	*%rax
	mov	$1, %eax
	ret
END no_call_first

FUNCTION no_label
	push	%rbx
a_label:
	pop	%rbx
	mov	%rdi, %rax
	ret
END no_label

	.balign	16, 0x90
	.type	no_frame, @function
no_frame:
	mov	$1, %eax
	ret
	.size	no_frame, . - no_frame

FUNCTION no_signal
	.cfi_signal_frame
	mov	$15, %rax
	syscall
END no_signal

FUNCTION no_system_call
	push	%rbx
	syscall
	pop	%rbx
	ret
END no_system_call

FUNCTION no_counted
	mov	%edi, %ecx
1:	jrcxz	2f
	mov	$1, %eax
2:	ret
END no_counted

FUNCTION no_transaction
	xbegin	1f
	xend
1:	ret
END no_transaction

FUNCTION no_trap
	int3
	mov	$1, %eax
	ret
END no_trap

FUNCTION no_stack_call
	call	*8(%rsp)
	nop
	nop
	ret
END no_stack_call

FUNCTION no_short_address
	lea	numbers(%eip), %eax
	ret
END no_short_address

FUNCTION no_known
	.byte	0x06, 0x06, 0x06, 0x06, 0x06	/* of 32-bit machines */
	ret
END no_known

FUNCTION yes_whole
	lea	numbers(%rip), %rax
	ret
END yes_whole
	.set	no_middle, yes_whole + 6

FUNCTION no_computed
	mov	$1, %eax
	lea	1f(%rip), %rdx
	add	%rdi, %rdx
	jmp	*%rdx
1:	nop
	ret
END no_computed

FUNCTION no_sequence
1:	mov	$1, %eax
	mov	$2, %edx
2:	ret
END no_sequence
	.pushsection __rseq_cs, "aw"
	.balign	32
	.long	0, 0
	.quad	1b, 2b - 1b, yes_last
	.popsection

FUNCTION no_second_sequence	/* which ends where the next function begins */
3:	mov	$1, %eax
	mov	$2, %edx
	mov	$3, %esi
	jmp	yes_local
	.cfi_endproc
	.size	no_second_sequence, . - no_second_sequence
	.type	yes_behind_sequence, @function
yes_behind_sequence:
	.cfi_startproc
	mov	$1, %eax
	ret
END yes_behind_sequence
	.pushsection __rseq_cs, "aw"
	.long	0, 0
	.quad	3b, yes_behind_sequence - 3b, yes_last
	.popsection

FUNCTION yes_branch_behind	/* to the byte behind the jump */
	mov	$1, %eax
1:	dec	%eax
	jne	1b
	ret
END yes_branch_behind

FUNCTION yes_call_table
	mov	%esi, %eax
	call	*(%rdi, %rax, 8)
	ret
END yes_call_table

FUNCTION no_room_before		/* goes on in the next function */
	xor	%eax, %eax
	inc	%eax
	.cfi_endproc
	.size	no_room_before, . - no_room_before
	.type	yes_reached, @function
yes_reached:
	.cfi_startproc
	lea	1f(%rip), %rax
	ret
	.cfi_endproc
	.size	yes_reached, . - yes_reached
	.type	yes_taken, @function
yes_taken:
1:	.cfi_startproc
	mov	$1, %eax
	ret
END yes_taken

BARE yes_push
	push	%rbx
	mov	%rdi, %rbx
	mov	%rbx, %rax
	pop	%rbx
	ret
END yes_push

BARE yes_frame
	sub	$24, %rsp
	mov	%rdi, 8(%rsp)
	add	$24, %rsp
	ret
END yes_frame

BARE yes_clears			/* its third argument, if it has one */
	xor	%edx, %edx
	mov	%rdi, %rax
	add	%rdx, %rax
	ret
END yes_clears

BARE yes_copies			/* its second argument over its first */
	mov	%rsi, %rdi
	mov	%rdi, %rax
	add	$1, %rax
	ret
END yes_copies

BARE yes_extends
	movslq	%edi, %rdi
	lea	1(%rdi), %rax
	nop
	ret
END yes_extends

BARE yes_tests
	test	%rdi, %rdi
	mov	$1, %eax
	ret
END yes_tests

BARE yes_nop
	nop
	mov	$1, %eax
	ret
END yes_nop

BARE yes_short_jump		/* no uprobe comes back behind it */
	jmp	1f
	.byte	0x66, 0x90, 0x90
1:	ret
END yes_short_jump

BARE no_adds
	add	$8, %rdi
	mov	%rdi, %rax
	ret
END no_adds

BARE no_stores			/* to the red zone */
	mov	%edi, -4(%rsp)
	mov	$1, %eax
	ret
END no_stores

BARE no_moves_stack
	and	$-16, %rsp
	mov	$1, %eax
	ret
END no_moves_stack

BARE no_branches
	je	1f
	mov	$1, %eax
1:	ret
END no_branches

BARE no_loop
	push	%rbx
1:	dec	%rdi
	jne	1b
	pop	%rbx
	ret
END no_loop

FUNCTION malloc
	mov	$1, %eax
	ret
END malloc
	.type	no_other_name, @function
	.set	no_other_name, malloc

FUNCTION SafeFetch32_impl
	mov	(%rdi), %rax
	nop
	nop
	ret
END SafeFetch32_impl

FUNCTION no_resolver
	.type	resolved, @gnu_indirect_function
	.set	resolved, no_resolver
	lea	yes_local(%rip), %rax
	ret
END no_resolver

FUNCTION usdt_function
	push	%rbx
	mov	%rdi, %rbx
usdt_yes:
	nop
	mov	%rbx, %rax
	add	$1, %rax
usdt_no_branch:
	nop
1:	dec	%rax
	jne	1b
usdt_no_branch_behind:
	nop
	dec	%rax
1:	dec	%rax
	jne	1b
usdt_yes_condition:
	nop
	test	%rax, %rax
	jne	1b
usdt_yes_nop5:
	.byte	0x0f, 0x1f, 0x44, 0, 0
	pop	%rbx
usdt_yes_nop10:
	.byte	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	mov	%rdi, %rax
usdt_no_room:
	nop
	ret
	.cfi_endproc
	.size	usdt_function, . - usdt_function
	.type	yes_behind_usdt, @function
yes_behind_usdt:
	.cfi_startproc
	mov	$1, %eax
	ret
END yes_behind_usdt

FUNCTION yes_last
	mov	$1, %eax
	ret
END yes_last

#ifdef TEXT_RELOCATION
	.quad	yes_last
#endif
	.section .rodata
	.balign	4
numbers:
	.long	1
table:
	.long	yes_local - table, no_table + 5 - table, yes_last - table
next_table:
	.long	yes_next_table + 6 + (next_table - table) - next_table

	.section .gcc_except_table, "a"
catches:
	.byte	0xff, 0xff, 1		/* no base, no types, uleb128 */
	.uleb128 2f - 1f
1:	.uleb128 0
	.uleb128 .Lcatch_end - no_catch
	.uleb128 .Lcatch - no_catch
	.uleb128 0
2:

	.data
	.balign	8
place:
	.quad	no_relocation + 5
	.section .note.GNU-stack, "", @progbits
