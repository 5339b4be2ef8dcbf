/*
 * cmd-probes.c - commands that change probes: clear, connect, disable, enable, trace and untrace.
 */
#include "prex/shell.h"

const struct cmd cmd_clear = {
	.name = "clear",
	.usage = "$set\nselector ...",
	.summary = "Disconnect all functions from probes",
	.help =
	    "Takes all functions that were connected to the selected probes off them.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_disconnect_all,
};

static bool
cmd_connect_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_take(st, TOK_FCN);

	if (tok == NULL)
		return false;
	a->fcn = tok->value;
	return parse_target(sh, st, a);
}

static tnfctl_errcode_t
cmd_connect_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct probe_op *op = arg;

	return tnfctl_probe_connect(h, p, NULL, op->symbol);
}

const struct cmd cmd_connect = {
	.name = "connect",
	.usage = "&function $set\n&function selector ...",
	.summary = "Connect a function of the target to probes",
	.help =
	    "The function runs each time one of the selected probes is hit while it is\n"
	    "enabled, before those that were connected earlier.  Connected twice, it runs\n"
	    "twice.  &debug prints the probe and its arguments on the target's standard\n"
	    "error; \"help functions\" tells how to name others.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_CONNECT,
	.parse = cmd_connect_parse,
	.apply = cmd_connect_apply,
	.loads = true,
};

const struct cmd cmd_disable = {
	.name = "disable",
	.usage = "$set\nselector ...",
	.summary = "Switch probes off",
	.help =
	    "Makes the selected probes inactive: nothing happens there, whatever else was\n"
	    "set for them.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_disable,
};

const struct cmd cmd_enable = {
	.name = "enable",
	.usage = "$set\nselector ...",
	.summary = "Switch probes on",
	.help =
	    "Makes the selected probes active: a thread that comes by writes a record if\n"
	    "the probe is traced, and runs the functions that are connected to it.\n"
	    "Probes are disabled at first.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_enable,
	.loads = true,
};

static tnfctl_errcode_t
cmd_trace_apply(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct probe_op *op = arg;
	tnfctl_errcode_t err = op->args == NULL ? TNFCTL_ERR_NONE :
	    tnfctl_probe_args(h, p, op->args);

	if (err == TNFCTL_ERR_NONE && op->stacks.asked)
		err = tnfctl_probe_stacks(h, p, op->stacks.kernel, op->stacks.user);
	if (err == TNFCTL_ERR_NONE)
		err = tnfctl_probe_where(h, p, op->where);
	if (err == TNFCTL_ERR_NONE)
		err = tnfctl_probe_freezes(h, p, op->freezes);
	return err != TNFCTL_ERR_NONE ? err : tnfctl_probe_trace(h, p, NULL);
}

/*
 * "where" and "args" are no words of the language, whose words Solaris settled.  They stand
 * behind selectors or a set, in any order, and before a text in quotes.  Returns that text,
 * which the parser of selectors does not reach.
 */
static const char *
cut_text(struct statement *st, size_t *end, const char *name)
{
	struct token *word;

	if (*end < 4)
		return NULL;
	word = &st->v[*end - 2];
	if (word->kind != TOK_IDENT || strcmp(word->text, name) != 0 ||
	    word[1].kind != TOK_QSTR || word[-1].kind == TOK_EQUAL)
		return NULL;
	word->kind = TOK_WORD;
	*end -= 2;
	return word[1].value;
}

/* The same for "stack=8": no probe has an attribute of this name before. */
static bool
cut_number(struct statement *st, size_t *end, const char *name, struct stack_depths *d,
    unsigned *number)
{
	struct token *word;

	if (*end < 5)
		return false;
	word = &st->v[*end - 3];
	if (word->kind != TOK_IDENT || strcmp(word->text, name) != 0 ||
	    word[1].kind != TOK_EQUAL || word[2].kind != TOK_INT || word[2].number < 0)
		return false;
	word->kind = TOK_WORD;
	*end -= 3;
	*number = (unsigned)word[2].number;
	return d->asked = true;
}

/* The same for "then freeze". */
static bool
cut_then(struct statement *st, size_t *end)
{
	struct token *word;

	if (*end < 4)
		return false;
	word = &st->v[*end - 2];
	if (word->kind != TOK_IDENT || strcmp(word->text, "then") != 0 ||
	    strcmp(word[1].text, "freeze") != 0 || word[-1].kind == TOK_EQUAL)
		return false;
	word->kind = TOK_WORD;
	*end -= 2;
	return true;
}

static bool
cmd_trace_parse(struct shell *sh, struct statement *st, struct args *a)
{
	size_t end = st->n;

	while ((!a->freezes && (a->freezes = cut_then(st, &end))) ||
	    (a->where == NULL && (a->where = cut_text(st, &end, "where")) != NULL) ||
	    (a->args == NULL && (a->args = cut_text(st, &end, "args")) != NULL) ||
	    cut_number(st, &end, "stack", &a->stacks, &a->stacks.kernel) ||
	    cut_number(st, &end, "ustack", &a->stacks, &a->stacks.user))
		;
	if (cut_text(st, &end, "where") != NULL || cut_text(st, &end, "args") != NULL) {
		st->next = end;		/* the same word twice */
		return false;
	}
	if (!parse_target(sh, st, a))
		return false;
	if (end < st->n && st->next == end)
		st->next = st->n;
	return true;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.usage = "$set [stack=n] [ustack=n] [args 'names'] [where 'conditions'] [then freeze]\n"
	    "selector ... [stack=n] [ustack=n] [args 'names'] [where 'conditions'] [then freeze]",
	.summary = "Let probes write records",
	.help =
	    "Lets the selected probes write a record each time they are hit, if they are\n"
	    "enabled as well.  Probes of a process are traced at first, those of the kernel\n"
	    "are not.  Imported probes can have conditions on their members, compared\n"
	    "before a hit is recorded:  trace net.net_dev_xmit where 'len > 1000 and rc != 0' .\n"
	    "With \"then freeze\" behind them, the first event that meets them is the last one: the\n"
	    "kernel's buffer stays as it is, until ktrace on.\n"
	    "Arguments of USDT probes and functions can be given names, and types where they\n"
	    "are no numbers (string, chars, address):  trace app.query args 'text:string n' .\n"
	    "Pointers lead on to members, also of a tracepoint's arguments:\n"
	    "trace sched.sched_switch args 'prev->comm, next->pid' .\n"
	    "stack=8 records the frames that led to an event of the kernel, at most 32;\n"
	    "ustack=16 those of the program, at most 96:  trace name=strategy stack=8 .\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TRACE,
	.parse = cmd_trace_parse,
	.apply = cmd_trace_apply,
	.loads = true,
};

const struct cmd cmd_untrace = {
	.name = "untrace",
	.usage = "$set\nselector ...",
	.summary = "Let probes write no records",
	.help =
	    "Keeps the selected probes from writing records.  If they are enabled, the\n"
	    "functions connected to them still run.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_TARGET,
	.parse = parse_target,
	.apply = tnfctl_probe_untrace,
};
