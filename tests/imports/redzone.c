/*
 * redzone.c - a victim with USDT probes at nops of 1, 5 and 10 bytes in functions without a
 * frame, which keep what they work with below the stack pointer.
 *
 *	redzone -w	calls each of them CALLS times once for each line on standard input;
 *			before the first and after each round it prints how many results
 *			were wrong
 *	redzone -k	prints the error of the system call that uprobes at a nop of 5 bytes
 *			use where the kernel makes it a call
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALLS	1000

/* A note of <sys/sdt.h>, without a semaphore. */
#define PROBE(name, code)						\
	"990:	" code "\n"						\
	"	.pushsection .note.stapsdt,\"\",\"note\"\n"		\
	"	.balign 4\n"						\
	"	.4byte 992f-991f, 994f-993f, 3\n"			\
	"991:	.asciz \"stapsdt\"\n"					\
	"992:	.balign 4\n"						\
	"993:	.8byte 990b, 0, 0\n"					\
	"	.asciz \"redzone\"\n"					\
	"	.asciz \"" name "\"\n"					\
	"	.asciz \"8@%rdi\"\n"					\
	"994:	.balign 4\n"						\
	"	.popsection\n"

/* Returns its argument, which lies right below the stack pointer meanwhile. */
#define LEAF(name, code)						\
	long name(long);						\
	__asm__(							\
	"	.text\n"						\
	"	.type " #name ",@function\n"				\
	#name ":\n"							\
	"	.cfi_startproc\n"					\
	"	mov %rdi, -8(%rsp)\n"					\
	"	mov %rdi, -16(%rsp)\n"					\
	PROBE(#name, code)						\
	"	mov -8(%rsp), %rax\n"					\
	"	and -16(%rsp), %rax\n"					\
	"	ret\n"							\
	"	.cfi_endproc\n"						\
	"	.size " #name ", .-" #name "\n")

LEAF(nop1, ".byte 0x90");
LEAF(nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0");
LEAF(nop5_other, ".byte 0x66, 0x66, 0x66, 0x66, 0x90");
LEAF(nop10, ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0");

/* A function that begins with it. */
long first(long);
__asm__(
	"	.text\n"
	"	.type first,@function\n"
	"first:\n"
	"	.cfi_startproc\n"
	PROBE("first", ".byte 0x0f, 0x1f, 0x44, 0, 0")
	"	mov %rdi, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size first, .-first\n");

int
main(int argc, char **argv)
{
	long (*const all[])(long) = { nop1, nop5, nop5_other, nop10, first };
	unsigned wrong = 0;
	char line[16];

	if (argc > 1 && strcmp(argv[1], "-k") == 0) {
		syscall(336);
		puts(strerrorname_np(errno));
		return 0;
	}
	do {
		for (long n = 1; n <= CALLS; n++)
			for (size_t i = 0; i < sizeof all / sizeof *all; i++)
				wrong += all[i](n) != n;
		printf("%u\n", wrong);
		fflush(stdout);
	} while (fgets(line, sizeof line, stdin) != NULL);
	return 0;
}
