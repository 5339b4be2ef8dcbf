/*
 * cmd-trace.c - let probes write records.
 */
#include <string.h>

#include "prex/cmd.h"
#include "prex/parse.h"
#include "prex/probe-op.h"
#include "prex/statement.h"

static tnfctl_errcode_t
cmd_trace_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct probe_op *op = arg;
	tnfctl_errcode_t err = tnfctl_probe_where(h, p, op->where);

	return err != TNFCTL_ERR_NONE ? err : tnfctl_probe_trace(h, p, NULL);
}

/*
 * "where" is no word of the language, whose words Solaris settled: it is one behind
 * selectors or a set, and before a text in quotes that ends the command.  Returns
 * that text, which the parser of selectors does not reach.
 */
static const char *
cut_conditions(struct statement *st)
{
	struct token *where;

	if (st->n < 4)
		return NULL;
	where = &st->v[st->n - 2];
	if (where->kind != TOK_IDENT || strcmp(where->text, "where") != 0 ||
	    where[1].kind != TOK_QSTR || where[-1].kind == TOK_EQUAL)
		return NULL;
	where->kind = TOK_WORD;
	return where[1].value;
}

static bool
cmd_trace_parse(struct shell *sh, struct statement *st, struct args *a)
{
	a->where = cut_conditions(st);
	if (!parse_target(sh, st, a))
		return false;
	if (a->where != NULL && st->next == st->n - 2)
		st->next = st->n;
	return true;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.usage = "$set [where 'conditions']\nselector ... [where 'conditions']",
	.summary = "Let probes write records",
	.help =
	    "Lets the selected probes write a record each time they are hit, if they are\n"
	    "enabled as well.  Probes of a process are traced at first, those of the kernel\n"
	    "are not.  Imported probes can have conditions on their members, which the\n"
	    "kernel compares:  trace net.net_dev_xmit where 'len > 1000 and rc != 0' .\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TRACE,
	.parse = cmd_trace_parse,
	.apply = cmd_trace_apply,
};
