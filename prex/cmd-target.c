/*
 * cmd-target.c - commands about the target as a whole: continue, freeze, mark and quit.
 */
#include "prex/shell.h"

static enum cmd_result
cmd_continue_run(struct shell *sh, const struct args *a)
{
	/* The kernel never stopped. */
	if (sh->mode == MODE_KERNEL)
		return CMD_DONE;
	return trace_make(sh) ? CMD_CONTINUE : CMD_DONE;
}

const struct cmd cmd_continue = {
	.name = "continue",
	.usage = "",
	.summary = "Let the target run until Ctrl-C",
	.help =
	    "Lets the target run.  Ctrl-C stops it and brings the prompt back; the target\n"
	    "does not see that signal.\n",
	.modes = MODE_USER,
	.complete = COMPLETE_NOTHING,
	.run = cmd_continue_run,
};

/* Parses all words up to the end, or one in quotes. */
static bool
parse_text(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_take(st, TOK_QSTR);

	if (tok != NULL || statement_at_end(st)) {
		a->text = tok != NULL ? tnf_xstrdup(tok->value) : NULL;
		return tok != NULL && *tok->value != '\0';
	}
	a->text = tnf_xstrdup("");
	for (; !statement_at_end(st); st->next++) {
		tok = statement_peek(st);
		if (tok->kind == TOK_QSTR || tok->kind == TOK_BAD) {
			statement_hint(st,
			    tnf_xasprintf("quote the whole text: %s 'deploy 812 begins'",
			    st->v[0].value));
			return false;
		}
		a->text = string_append(a->text, " ", tok->text);
	}
	return true;
}

/* Takes a number that is written as in C, but for octal ones: scripts pad with zeros. */
static bool
take_number(struct statement *st, int64_t *ret)
{
	const struct token *tok = statement_peek(st);
	char *end;

	if (tok->kind != TOK_INT && tok->kind != TOK_QSTR)
		return false;
	errno = 0;
	*ret = strtoll(tok->value, &end, strpbrk(tok->value, "xX") != NULL ? 16 : 10);
	if (end == tok->value || *end != '\0' || errno != 0)
		return false;
	st->next++;
	return true;
}

/* Parses a text, and numbers with names behind one in quotes. */
static bool
parse_mark(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok;

	if (!parse_text(sh, st, a))
		return false;
	a->names = tnf_xstrdup("");
	for (size_t n = 0; !statement_at_end(st); n++) {
		a->values = tnf_xreallocarray(a->values, n + 1, sizeof *a->values);
		tok = statement_peek(st);
		st->next += tok->kind == TOK_IDENT || tok->kind == TOK_WORD;
		if (tok == statement_peek(st) || statement_take(st, TOK_EQUAL) == NULL ||
		    !take_number(st, &a->values[n])) {
			statement_hint(st, tnf_xstrdup("numbers follow the text as name=number; one "
			    "with a sign or in hexadecimal is quoted: n='-1' x='0x10'"));
			return false;
		}
		a->names = string_append(a->names, " ", tok->text);
	}
	return true;
}

/* A mark, which each trace gets once, even if several processes write the trace. */
struct marking {
	const struct args *args;
	char	by[128];
	struct strings files;
};

static bool
is_marked(const struct marking *m, const char *file)
{
	for (size_t i = 0; i < m->files.n; i++)
		if (strcmp(m->files.v[i], file) == 0)
			return true;
	return false;
}

static tnfctl_errcode_t
mark_write(tnfctl_handle_t *h, const struct marking *m)
{
	return tnfctl_mark(h, m->args->text, m->by, m->args->names, m->args->values);
}

static tnfctl_errcode_t
mark_one(tnfctl_handle_t *h, void *arg)
{
	tnfctl_trace_attrs_t attrs;
	struct marking *m = arg;
	tnfctl_errcode_t err = tnfctl_trace_attrs_get(h, &attrs);

	if (err != TNFCTL_ERR_NONE)
		return err;
	if (attrs.trace_file_name == NULL)
		return mark_write(h, m);
	if (is_marked(m, attrs.trace_file_name))
		return TNFCTL_ERR_NONE;
	strings_add(&m->files, tnf_xstrdup(attrs.trace_file_name));
	return mark_write(h, m);
}

/* Can there be a trace for the mark? */
static bool
cmd_mark_ready(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;

	if (sh->mode == MODE_USER)
		return sh->watched || trace_make(sh);
	if (!kernel_attrs(sh, &attrs))
		return false;
	if (attrs.trace_buf_state == TNFCTL_BUF_OK && !attrs.trace_state)
		shell_error(sh, ERROR_PLAIN, "Can't mark while tracing is off (ktrace on)");
	return attrs.trace_buf_state != TNFCTL_BUF_OK || attrs.trace_state;
}

/* "Internal error" would hide that a file or a buffer is full. */
static void
text_judge(struct shell *sh, tnfctl_errcode_t err, const char *doing)
{
	if (err == TNFCTL_ERR_INTERNAL && *tnfctl_error_detail() != '\0')
		shell_error(sh, ERROR_PLAIN, "error in %s: %s", doing, tnfctl_error_detail());
	else
		shell_ok(sh, ERROR_PLAIN, err, "error in %s: ", doing);
}

static enum cmd_result
cmd_mark_run(struct shell *sh, const struct args *a)
{
	struct marking m = { .args = a };
	tnfctl_errcode_t err, of_family;

	if (!cmd_mark_ready(sh))
		return CMD_DONE;
	tnf_who_is(getuid(), getpid(), m.by, sizeof m.by);
	err = mark_one(sh->target, &m);
	of_family = family_each(sh->family, mark_one, &m);
	if (err == TNFCTL_ERR_NONE)
		err = of_family;
	text_judge(sh, err, "marking");
	strings_free(&m.files);
	return CMD_DONE;
}

const struct cmd cmd_mark = {
	.name = "mark",
	.usage = "text\n'text' name=number ...",
	.summary = "Put a remark into the trace",
	.help =
	    "Writes an event of a probe \"mark\" with the text and who gave it, now, into the\n"
	    "trace of the target, and of the children that are followed.  With other characters\n"
	    "than letters, digits, \"_\", \".\" and \"%\" the text is quoted:\n"
	    "\n"
	    "    mark deploy 812 begins\n"
	    "    mark 'the disk is full: /var'\n"
	    "    mark 'queue' length=17 rest='-1'\n"
	    "\n"
	    "Numbers become members of the event.\n"
	    "prex itself writes it into the trace file of a process, which runs nothing for it.\n",
	.modes = MODE_BOTH,
	.is_free = true,
	.complete = COMPLETE_NOTHING,
	.parse = parse_mark,
	.run = cmd_mark_run,
};

static tnfctl_errcode_t
freeze_one(tnfctl_handle_t *h, void *why)
{
	return tnfctl_freeze(h, why);
}

static enum cmd_result
cmd_freeze_run(struct shell *sh, const struct args *a)
{
	tnfctl_errcode_t err, of_family;

	if (sh->mode == MODE_USER && !sh->watched && !trace_make(sh))
		return CMD_DONE;
	err = freeze_one(sh->target, a->text);
	of_family = family_each(sh->family, freeze_one, a->text);
	text_judge(sh, err == TNFCTL_ERR_NONE ? of_family : err, "freezing");
	return CMD_DONE;
}

const struct cmd cmd_freeze = {
	.name = "freeze",
	.usage = "reason",
	.summary = "End the recording, and keep the reason in the trace",
	.help =
	    "What led to this moment is not overwritten any more.  The probes of a process, and\n"
	    "of its children that are followed, are switched off.  Those of the kernel keep\n"
	    "their state, and \"ktrace on\" lets them record again.  \"tnfdump --info\" tells\n"
	    "when and why.  The text is written as that of \"mark\":\n"
	    "\n"
	    "    freeze the first timeout\n",
	.modes = MODE_BOTH,
	.is_free = true,
	.complete = COMPLETE_NOTHING,
	.parse = parse_text,
	.run = cmd_freeze_run,
};

static const char *const words[] = { "kill", "resume", "suspend", NULL };

static enum cmd_result
cmd_quit_run(struct shell *sh, const struct args *a)
{
	sh->at_quit = TNFCTL_TARG_DEFAULT;
	if (a->word == NULL)
		return CMD_QUIT;
	if (strcmp(a->word, "kill") == 0)
		sh->at_quit = TNFCTL_TARG_KILL;
	else if (strcmp(a->word, "resume") == 0)
		sh->at_quit = TNFCTL_TARG_RESUME;
	else
		sh->at_quit = TNFCTL_TARG_SUSPEND;
	return CMD_QUIT;
}

const struct cmd cmd_quit = {
	.name = "quit",
	.usage = "\nkill\nresume\nsuspend",
	.summary = "Leave prex and decide about the target",
	.help =
	    "Without a word, a target that prex started is killed, and one that it attached\n"
	    "to runs on.  With a word, the target is killed, runs on free, or stays stopped\n"
	    "until another prex lets it run, or it gets a SIGCONT (kill -CONT).\n"
	    "Probes keep their state and go on writing.  All that prex -k set in the kernel\n"
	    "stays in force.\n",
	.modes = MODE_BOTH,
	.words = words,
	.complete = COMPLETE_WORDS,
	.parse = parse_word,
	.run = cmd_quit_run,
};
