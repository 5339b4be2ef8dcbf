/*
 * guest-words.S - a program of 32 bits that calls itself "web" and sleeps.
 */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl	_start
_start:
	mov	$172, %eax		/* prctl(PR_SET_NAME, name) */
	mov	$15, %ebx
	mov	$name, %ecx
	int	$0x80
1:	mov	$29, %eax		/* pause() */
	int	$0x80
	jmp	1b
name:	.asciz	"web"
