/*
 * fast-target.S - the sites of tests/writer/fast-site.S as a function and a USDT probe of fast-target.
 */
#define fast_entry_site	exec_site
#include "tests/writer/fast-site.S"

	.section .note.stapsdt, "", @note
	.balign	4
	.long	8, 2f - 1f, 3
	.asciz	"stapsdt"
1:	.quad	fast_inner_site, 0, 0
	.asciz	"exec"
	.asciz	"zone"
	.asciz	"8@%r15"
	.balign	4
2:
