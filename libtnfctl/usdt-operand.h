/*
 * usdt-operand.h - what reading an operand is made of, whatever machine it is of.
 *
 * Each function takes what it understands from the text.  false: the operand cannot be
 * read, and usdt_args.why has the reason.
 */
#ifndef LIBTNFCTL_USDT_OPERAND_H
#define LIBTNFCTL_USDT_OPERAND_H

#include "libtnfctl/usdt-args.h"

struct operand_text {
	const char *p;		/* what is not read yet */
	const struct usdt_place *place;
	struct usdt_args *args;	/* for the reason */
};

/* Always false. */
bool	tnfctl_operand_refuse(struct operand_text *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* How many characters at s a name may consist of. */
size_t	tnfctl_operand_name(const char *s);
/* "1", "-1", "+0x10"; false: no number here, which is no reason to refuse. */
bool	tnfctl_operand_number(const char **p, int64_t *ret);
/* "8", "symbol", "symbol+8-4", "8+symbol"; *symbols: how many were in it. */
bool	tnfctl_operand_expression(struct operand_text *, __s64 *ret, unsigned *symbols);
/* What a symbol means to the running program: relative to the instruction, unless it is
   never moved. */
bool	tnfctl_operand_place(struct operand_text *, struct kp_operand *);

/* The machine's own: one operand, as its assembler prints it.  What registers and scale
   *o has is set: none, 1. */
bool	tnfctl_arch_operand(struct operand_text *, struct kp_operand *o);

#endif
