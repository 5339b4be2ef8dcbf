/*
 * probe-op.h - enable, disable, trace, untrace, connect and clear.
 */
#ifndef PREX_PROBE_OP_H
#define PREX_PROBE_OP_H

#include <tnf/tnfctl.h>

#include "prex/cmd.h"

struct tnf_selectors;
struct shell;

struct probe_op {
	const char *name;	/* of the command */
	tnfctl_probe_op_t apply;
	char	*fcn, *symbol;	/* connect only */
	char	*where;		/* trace only; NULL: none */
	char	*args;		/* the same */
	struct tnf_selectors *selectors;
};

/* Runs a command that has 'apply': logs it and applies it. */
enum cmd_result probe_op_run(struct shell *, const struct cmd *, const struct args *);
/* To one probe, if the selectors match it. */
tnfctl_errcode_t probe_op_apply(struct shell *, const struct probe_op *,
	    tnfctl_handle_t *, tnfctl_probe_t *);

/* Has the functions among the probes that selectors by "function" and "return" choose, or
   by the name that a function's probe would have.  tell: what there is to say of returns. */
void	functions_ask(struct shell *, const struct tnf_selectors *, bool tell);

/* Calls op for each probe with its state and attributes. */
struct tnf_probe_attrs;
typedef void probe_visit_f(struct shell *, tnfctl_probe_t *, const struct tnf_probe_attrs *,
	    void *);
tnfctl_errcode_t probes_visit(struct shell *, probe_visit_f *, void *);

#endif
