/*
 * usdt-args.h - from the argument string of a note to a table for BPF.
 *
 * The string is "N@OP N@OP ...": N is the size in bytes, negative for a signed
 * integer; OP is an operand as the assembler prints it.
 */
#ifndef LIBTNFCTL_USDT_ARGS_H
#define LIBTNFCTL_USDT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-probes/operand.h"

/* Finds the address of a symbol of the object, without the bias. */
typedef bool usdt_symbol_f(void *arg, const char *name, uint64_t *ret);

struct usdt_place {		/* what operands may refer to */
	uint64_t address;	/* of the nop */
	bool	 fixed;		/* addresses in the file are those in memory */
	usdt_symbol_f *symbol;	/* NULL: there are no symbols */
	void	*arg;
};

struct usdt_args {
	unsigned n;		/* at most KP_OPERANDS_MAX */
	unsigned unreadable;	/* of these: kind KP_OPERAND_UNREADABLE */
	struct kp_operand v[KP_OPERANDS_MAX];
	char	 why[96];	/* the first unreadable one, and why; or "" */
};

/* false: at least one argument cannot be read; the others can. */
bool	tnfctl_usdt_args_parse(const char *text, const struct usdt_place *,
	    struct usdt_args *ret);

#endif
