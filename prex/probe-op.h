/*
 * probe-op.h - enable, disable, trace, untrace, connect and clear, and the history of such
 * commands, which probes that come later get as well.
 */
#ifndef PREX_PROBE_OP_H
#define PREX_PROBE_OP_H

#include <stddef.h>

#include <tnf/tnfctl.h>

#include "prex/cmd.h"

struct shell;

struct probe_op {
	const char *name;	/* of the command */
	tnfctl_probe_op_t apply;
	char	*fcn, *symbol;	/* connect only */
	char	*where;		/* trace only; NULL: none */
	char	*args;		/* the same */
	struct stack_depths stacks;	/* the same */
	bool	freezes;	/* the same */
	struct tnf_selectors *selectors;
};

/* Runs a command that has 'apply': logs it and applies it. */
enum cmd_result probe_op_run(struct shell *, const struct cmd *, const struct args *);

/* Adds functions to the probes that selectors by "function" and "return" choose, or by the name
   that a function's probe would have.  tell: prints remarks about returns. */
void	functions_ask(struct shell *, const struct tnf_selectors *, bool tell);

/* Calls a function for each probe with its attributes, until one returns an error. */
typedef tnfctl_errcode_t probe_visit_f(struct shell *, tnfctl_handle_t *, tnfctl_probe_t *,
	    const struct tnf_probe_attrs *, void *);
tnfctl_errcode_t probes_visit(struct shell *, probe_visit_f *, void *);

struct history {
	struct probe_op *v;
	size_t	n;
};

/* From now on every new probe of the target, or of a child, gets the whole history. */
tnfctl_errcode_t history_follow(struct shell *, tnfctl_handle_t *);
/* Applies the history to the probes of a handle that is on another program now. */
tnfctl_errcode_t history_repeat(tnfctl_handle_t *);
void	history_free(struct history *);

#endif
