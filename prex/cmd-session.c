/*
 * cmd-session.c - commands about the session itself: create, remove, help and source.
 */
#include "prex/shell.h"

static bool
cmd_create_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok;

	if ((tok = statement_take(st, TOK_SET)) != NULL) {
		a->set = tok->value;
		return parse_selectors(sh, st, a);
	}
	if ((tok = statement_take(st, TOK_FCN)) == NULL)
		return false;
	a->fcn = tok->value;
	if ((tok = statement_take(st, TOK_IDENT)) == NULL &&
	    (tok = statement_take(st, TOK_QSTR)) == NULL)
		return false;
	a->name = tok->value;
	return true;
}

static enum cmd_result
cmd_create_run(struct shell *sh, const struct args *a)
{
	if (a->set == NULL) {
		names_define_fcn(&sh->fcns, a->fcn, a->name);
	} else if (strcmp(a->set, "all") == 0) {
		/* "enable $all" must always mean all probes. */
		shell_error(sh, ERROR_SEMANTIC, "$all is every probe: choose another name");
	} else {
		names_define_set(&sh->sets, a->set, a->selectors);
		if (a->selectors->n == 0)
			shell_warn(sh, "$%s: an empty set selects no probe", a->set);
	}
	return CMD_DONE;
}

const struct cmd cmd_create = {
	.name = "create",
	.usage = "$set selector ...\n&function symbol",
	.summary = "Name a list of selectors, or a function",
	.help =
	    "Gives a list of selectors, or a function of the target, a name for later\n"
	    "commands.  What had that name before is replaced, but for $all; commands given\n"
	    "already are not affected.  The function is looked up when it is connected.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_CREATE,
	.parse = cmd_create_parse,
	.run = cmd_create_run,
};

static bool
cmd_remove_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok;

	if ((tok = statement_take(st, TOK_SET)) != NULL)
		a->set = tok->value;
	else if ((tok = statement_take(st, TOK_FCN)) != NULL)
		a->fcn = tok->value;
	return tok != NULL;
}

static enum cmd_result
cmd_remove_run(struct shell *sh, const struct args *a)
{
	struct names *l = a->set != NULL ? &sh->sets : &sh->fcns;
	struct name *n = names_find(l, a->set != NULL ? a->set : a->fcn);

	if (n == NULL)
		shell_error(sh, ERROR_SEMANTIC, a->set != NULL ? "no set named \"$%s\"" :
		    "no function named \"&%s\"", a->set != NULL ? a->set : a->fcn);
	else if (a->set != NULL && strcmp(a->set, "all") == 0)
		shell_error(sh, ERROR_SEMANTIC, "$all is every probe: it cannot be removed");
	else
		name_remove(l, n);
	return CMD_DONE;
}

const struct cmd cmd_remove = {
	.name = "remove",
	.usage = "$set\n&function",
	.summary = "Forget the name of a set, or of a function",
	.help =
	    "Takes back what \"create\" did.  Commands given already are not affected: probes keep\n"
	    "their state and their functions, and other sets keep the selectors that they took.\n",
	.modes = MODE_BOTH,
	.is_free = true,
	.complete = COMPLETE_NAME,
	.parse = cmd_remove_parse,
	.run = cmd_remove_run,
};

static const char intro[] =
"prex controls probes: places in a program, a library or the kernel where a\n"
"record can be written into a trace file, or a function can be called.  Probes\n"
"are selected by their attributes.  A short session:\n"
"\n"
"    $ prex server 8080            start a program; it has not run yet\n"
"    prex> list probes $all        which probes are there?\n"
"    prex> enable keys=net         switch on those with the key \"net\"\n"
"    prex> continue                let it run; Ctrl-C brings the prompt back\n"
"    prex> list tracefile          where did the records go?\n"
"    prex> quit\n"
"    $ tnfdump /tmp/trace-4711     look at them\n"
"\n"
"Commands may be abbreviated as long as they stay unique.\n";

static const char functions[] =
"A function handle names a function of the target that can be connected to\n"
"probes.  &debug is there from the start; it prints the probe and its arguments\n"
"on the target's standard error.\n"
"\n"
"    create &mine my_probe_function\n"
"    connect &mine name=parse_line\n"
"    clear $all\n"
"\n"
"The function is  void f(struct tnf_probe_setup *) , see TNF_PROBE(3).\n";

static const char kernel_mode[] =
"prex -k controls the probes of the kernel.  They write into a buffer in the\n"
"kernel, which stays when prex leaves, and so does all that was set.\n"
"\n"
"    prex> buffer alloc 8m\n"
"    prex> trace keys=syscall\n"
"    prex> enable keys=syscall\n"
"    prex> ktrace on\n"
"    prex> quit\n"
"    $ sleep 5; tnfxtract kernel.tnf; tnfdump kernel.tnf\n"
"\n"
"Nothing is written unless the probe is enabled and traced, ktrace is on, and\n"
"the process passes the filter (pfilter).\n";

static const char probe_spec[] =
"A selector is  attribute=value , or a value alone, which stands for\n"
"keys=value.  Both sides are a word, a 'quoted text' or a /regular expression/\n"
"(as in ed(1); it may match anywhere in the text).  A probe is selected if one\n"
"of the selectors fits one of its values.\n"
"\n"
"    name=parse_line          exactly this\n"
"    io 'net'                 with the key io or the key net\n"
"    name=/^parse/            begins with \"parse\"\n"
"    line='50'                numbers are quoted\n"
"    'enable'='on'            so are words that the language uses itself\n"
"    /.*/=/open/              anything anywhere\n"
"\n"
"Attributes: name slots keys file line, those that the program adds, and\n"
"enable trace object funcs.\n";

static const char processes[] =
"prex cmd starts a program and stops it before it runs any code of its own;\n"
"prex -p pid attaches to one that runs.  \"continue\" lets it run, Ctrl-C stops\n"
"it.  When prex leaves, a program that it started is killed and one that it\n"
"attached to runs on; \"help quit\" tells what else can be done.\n"
"\n"
"Commands about probes are remembered and repeated for the probes of libraries\n"
"that the program loads later (list history).\n";

static const char set_spec[] =
"A set is a name for a list of selectors:\n"
"\n"
"    create $mine name=/^parse/ keys=io\n"
"    enable $mine\n"
"    enable $mine order        sets among selectors\n"
"    list sets\n"
"    remove $mine\n"
"\n"
"$all is there from the start and selects every probe.\n";

#define TOPICS(X)							\
	X(intro) X(functions) X(kernel_mode) X(probe_spec) X(processes)	\
	X(set_spec)

#define X(name) { #name, name },
static const struct topic {
	const char *name;
	const char *help;
} topics[] = { TOPICS(X) { NULL, NULL } };
#undef X

#define X(name) #name,
static const char *const names[] = { TOPICS(X) NULL };
#undef X
const char *const *const topic_names = names;

static bool
cmd_help_parse(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);

	if (statement_at_end(st))
		return true;
	if (tok->kind != TOK_IDENT && (tok->kind != TOK_WORD || cmd_find(tok->text) == NULL))
		return false;
	st->next++;
	a->name = tok->value;
	return true;
}

static void
list_commands(const char *title, unsigned modes)
{
	printf("\n%s\n", title);
	for (const struct cmd *const *c = cmds; *c != NULL; c++)
		if ((*c)->modes == modes)
			printf("    %-10s %s\n", (*c)->name, (*c)->summary);
}

static void
cmd_help_summary(void)
{
	puts("usage: help [topic | command]");
	fputs("\nTopics:\n   ", stdout);
	for (const struct topic *t = topics; t->name != NULL; t++)
		printf(" %s", t->name);
	putchar('\n');
	list_commands("Commands:", MODE_BOTH);
	list_commands("Commands for processes only:", MODE_USER);
	list_commands("Commands for the kernel only (prex -k):", MODE_KERNEL);
}

static void
cmd_help_print_usage(const struct cmd *c)
{
	const char *form = c->usage, *start = "usage:";
	size_t len;

	for (;; form += len + 1) {
		len = strcspn(form, "\n");
		printf("%s %s%s%.*s\n", start, c->name, len > 0 ? " " : "", (int)len, form);
		start = "      ";
		if (form[len] == '\0')
			break;
	}
}

static bool
help_command(const char *name)
{
	const struct cmd *c = cmd_find(name);

	if (c == NULL)
		return false;
	cmd_help_print_usage(c);
	printf("\n%s\nCommand: %s\n", c->help, c->name);
	return true;
}

static bool
help_topic(const char *name)
{
	for (const struct topic *t = topics; t->name != NULL; t++)
		if (strcmp(t->name, name) == 0) {
			printf("%s\nTopic: %s\n", t->help, t->name);
			return true;
		}
	return false;
}

static enum cmd_result
cmd_help_run(struct shell *sh, const struct args *a)
{
	if (a->name == NULL)
		cmd_help_summary();
	else if (!help_command(a->name) && !help_topic(a->name)) {
		printf("No help for %s\n", a->name);
		cmd_help_summary();
	}
	return CMD_DONE;
}

const struct cmd cmd_help = {
	.name = "help",
	.usage = "[topic | command]",
	.summary = "Tell about commands and topics",
	.help =
	    "Without a word, lists the commands and topics there are.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_HELP,
	.parse = cmd_help_parse,
	.run = cmd_help_run,
};

static enum cmd_result
cmd_source_run(struct shell *sh, const struct args *a)
{
	int error = source_push_file(sh, a->name);

	if (error == 0)
		return CMD_DONE;
	/* The reason goes to a line of its own, as the message has none. */
	shell_error(sh, ERROR_SEMANTIC, "cannot open \"%s\"", a->name);
	shell_say(sh, "%s: %s", a->name, strerror(error));
	return CMD_DONE;
}

const struct cmd cmd_source = {
	.name = "source",
	.usage = "'file'",
	.summary = "Read commands from a file",
	.help =
	    "Reads commands from the file, and then goes on here.  Files may source others.\n"
	    "A name with other characters than letters, digits, \"_\", \".\" and \"%\" is quoted.\n",
	.modes = MODE_BOTH,
	.complete = COMPLETE_FILE,
	.parse = parse_file_name,
	.run = cmd_source_run,
};
