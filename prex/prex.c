/*
 * prex.c - control the probes of a process or of the kernel: reads the command line, and runs the
 * session.
 */
#include <getopt.h>

#include "prex/shell.h"

enum { OPT_HELP = 256, OPT_VERSION, OPT_CHILDREN, OPT_FILL, OPT_FOLLOW_EXEC, OPT_FOLLOW_FORK, OPT_NO_FAST,
       OPT_RUN, OPT_SET };

static const struct option longopts[] = {
	{ "children", no_argument, NULL, OPT_CHILDREN },
	{ "fill", no_argument, NULL, OPT_FILL },
	{ "follow-exec", no_argument, NULL, OPT_FOLLOW_EXEC },
	{ "follow-fork", no_argument, NULL, OPT_FOLLOW_FORK },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "no-fast", no_argument, NULL, OPT_NO_FAST },
	{ "run", no_argument, NULL, OPT_RUN },
	{ "set", required_argument, NULL, OPT_SET },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static void
option_print_usage(FILE *fp, const char *argv0)
{
	fprintf(fp,
	    "usage: %s [options] <cmd> [cmd-args...]\n"
	    "usage: %s [options] -p <pid>\n"
	    "usage: %s -s <kbytes-size> -k\n"
	    "options:\n"
	    "\t-o <outfilename>   set trace output file name\n"
	    "\t-s <kbytes-size>   set trace file size\n"
	    "\t-l <sharedobjs>    shared objects to be preloaded (cmd only)\n",
	    argv0, argv0, argv0);
}

static void
print_help(const char *argv0)
{
	option_print_usage(stdout, argv0);
	printf(
	    "\t-p <pid>           attach to a process that runs\n"
	    "\t-k                 control the probes of the kernel\n"
	    "\t-f <file>          read commands from the file, then quit\n"
	    "\t-c <commands>      run the commands (\";\" separates), then quit\n"
	    "\t-t                 for tests: write line by line\n"
	    "\t--children         with -p: its children that are there, as well\n"
	    "\t--fill             stop when the trace is full; overwrite nothing\n"
	    "\t--follow-exec      go on in the program that the target becomes\n"
	    "\t--follow-fork      control the children of the target as well\n"
	    "\t--no-fast          functions and USDT probes: the kernel records them all\n"
	    "\t--run              with -k: trace the kernel around one command, into -o\n"
	    "\t--set <name=value>  setting of the kernel's probes (with -k), or fast_returns=on\n"
	    "\t--help             print this\n"
	    "\t--version          print the version\n");
}

static _Noreturn void __attribute__((format(printf, 2, 3)))
option_usage(const struct shell *sh, const char *reason, ...)
{
	va_list ap;
	char *text;

	va_start(ap, reason);
	text = tnf_xvasprintf(reason, ap);
	va_end(ap);
	shell_say(sh, "%s", text);
	free(text);
	option_print_usage(stderr, sh->argv0);
	exit(EXIT_FAILURE);
}

/* Says what getopt() would say, but with the option printable. */
static void
say_unknown(const struct shell *sh, int c, const char *arg)
{
	/* 0: a long option that does not exist; from 256 on, one of ours. */
	if (optopt == 0 || optopt >= OPT_HELP)
		shell_say(sh, c == ':' ? "option '%s' requires an argument" : optopt != 0 ?
		    "option '%s' doesn't allow an argument" :
		    "unrecognized option '%s'", arg);
	else
		shell_say(sh, c == ':' ? "option requires an argument -- '%c'" :
		    "invalid option -- '%c'", optopt);
}

static _Noreturn void
option_finish(const struct shell *sh)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		exit(EXIT_SUCCESS);
	shell_say(sh, "cannot write standard output");
	exit(EXIT_FAILURE);
}

static void
add_input(struct options *o, const char *arg, bool is_text)
{
	o->inputs = tnf_xreallocarray(o->inputs, o->n_inputs + 1, sizeof *o->inputs);
	o->inputs[o->n_inputs].arg = arg;
	o->inputs[o->n_inputs++].is_text = is_text;
}

/* False: it is not a decimal number, or too large. */
static bool
option_parse_number(const char *s, unsigned long max, unsigned long *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoul(s, &end, 10);
	return *end == '\0' && errno == 0 && *ret <= max;
}

static void
add_setting(const struct shell *sh, struct options *o, const char *arg)
{
	struct target_options *t = &o->target;
	const char *eq = strchr(arg, '=');
	unsigned long value;

	if (eq == NULL || eq == arg || eq[1] == '\0')
		option_usage(sh, "--set needs name=value");
	t->settings = tnf_xreallocarray(t->settings, t->n_settings + 1, sizeof *t->settings);
	if (strncmp(arg, "cpus=", 5) == 0) {	/* a list, which the library parses */
		t->settings[t->n_settings++].name = tnf_xstrdup(arg);
		return;
	}
	if (strncmp(arg, "fast_returns=", 13) == 0) {
		t->fast_returns = strcmp(eq + 1, "on") == 0 || strcmp(eq + 1, "1") == 0;
		if (!t->fast_returns && strcmp(eq + 1, "off") != 0 && strcmp(eq + 1, "0") != 0)
			option_usage(sh, "--set fast_returns is on or off");
		return;
	}
	if (!option_parse_number(eq + 1, UINT_MAX, &value))
		option_usage(sh, "the value of --set is a number");
	t->settings[t->n_settings].name = tnf_xasprintf("%.*s", (int)(eq - arg), arg);
	t->settings[t->n_settings++].value = (unsigned)value;
}

/* 0 and a text without a number count as no pid, as on Solaris. */
static pid_t
option_pid_of(const struct shell *sh, const char *arg)
{
	unsigned long pid;

	if (strpbrk(arg, "0123456789") == NULL)
		return 0;
	if (strspn(arg, "0123456789") != strlen(arg))
		option_usage(sh, "-p %s: not the number of a process", arg);
	if (!option_parse_number(arg, INT_MAX, &pid))
		option_usage(sh, "pid out of range");
	return (pid_t)pid;
}

static size_t
option_kilobytes(const struct shell *sh, const char *arg)
{
	unsigned long n;

	if (*arg == '\0' || strspn(arg, "0123456789") != strlen(arg))
		option_usage(sh, "-s %s: a size is a number of kilobytes "
		    "(1024 bytes) without a sign or a unit", arg);
	if (!option_parse_number(arg, UINT_MAX / 1024, &n))
		option_usage(sh, "trace file size too big");
	/* At least one byte, as 0 would mean that no size was given. */
	return n > 0 ? n * 1024 : 1;
}

static void
option_take(const struct shell *sh, struct options *o, int c, char **argv)
{
	const struct {
		int	c;
		bool	*is_on;
	} flags[] = {
		{ 't', &o->test_mode }, { 'k', &o->target.kernel }, { OPT_RUN, &o->run },
		{ OPT_CHILDREN, &o->target.children }, { OPT_NO_FAST, &o->target.no_fast },
		{ OPT_FILL, &o->target.fill },
		{ OPT_FOLLOW_EXEC, &o->target.follow_exec },
		{ OPT_FOLLOW_FORK, &o->target.follow_fork },
	};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (flags[i].c == c) {
			*flags[i].is_on = true;
			return;
		}
	switch (c) {
	case 'l':
		o->target.preload = optarg;
		break;
	case 'o':
		o->target.file = optarg;
		break;
	case 'p':
		o->target.pid = option_pid_of(sh, optarg);
		break;
	case 's':
		o->buffer_size = option_kilobytes(sh, optarg);
		break;
	case 'c':
	case 'f':
		add_input(o, optarg, c == 'c');
		break;
	case OPT_SET:
		add_setting(sh, o, optarg);
		break;
	case OPT_HELP:
		print_help(sh->argv0);
		option_finish(sh);
	case OPT_VERSION:
		puts("prex " PREX_VERSION);
		option_finish(sh);
	default:
		say_unknown(sh, c, argv[optind - 1]);
		option_usage(sh, "unrecognized argument");
	}
}

/* Checks the options, in the order of Solaris. */
static void
option_check(const struct shell *sh, const struct options *o)
{
	const struct target_options *t = &o->target;
	const struct {
		bool	wrong;
		const char *why;
	} rules[] = {
		{ !t->kernel && t->n_settings > 0, "--set is for the kernel: use it with -k" },
		{ t->fast_returns && (t->kernel || t->no_fast),
		    "--set fast_returns is for fast probes of processes: use it without -k and --no-fast" },
		{ !t->kernel && o->run, "--run is for the kernel: use it with -k" },
		{ !t->kernel && t->argv == NULL && t->pid == 0, "need to specify cmd or pid" },
		{ t->argv != NULL && t->pid != 0, "can't specify both cmd and pid" },
		{ t->follow_exec && t->argv == NULL, "--follow-exec needs a command" },
		{ t->kernel && t->no_fast, "--no-fast is for processes: use it without -k" },
		{ t->children && t->pid == 0, "--children needs -p pid" },
		{ t->pid != 0 && t->preload != NULL, "can't use preload option with attach" },
		{ o->run && (t->file == NULL || t->argv == NULL),
		    "--run needs -o file and a command" },
		{ t->kernel && t->file != NULL && !o->run,
		    "can't specify a filename in kernel mode" },
		{ t->kernel && t->argv != NULL && !o->run,
		    "can't specify a command in kernel mode" },
		{ t->kernel && t->pid != 0, "can't specify pid in kernel mode" },
		{ t->kernel && t->preload != NULL, "can't use preload option in kernel mode" },
	};

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].wrong)
			option_usage(sh, "%s", rules[i].why);
}

static void
options_parse(const struct shell *sh, struct options *o, int argc, char **argv)
{
	int c;

	memset(o, 0, sizeof *o);
	opterr = 0;
	/* "+": arguments behind the command belong to it; ":": tell missing arguments. */
	while ((c = getopt_long(argc, argv, "+:l:o:p:s:tkc:f:", longopts, NULL)) != -1)
		option_take(sh, o, c, argv);
	if (optind < argc)
		o->target.argv = argv + optind;
	option_check(sh, o);
}

static void
options_free(struct options *o)
{
	for (size_t i = 0; i < o->target.n_settings; i++)
		free(o->target.settings[i].name);
	free(o->target.settings);
	free(o->inputs);
}

/* Pushes the sources; the last one pushed is read first. */
static bool
push_sources(struct shell *sh, const struct options *o)
{
	if (o->run && o->n_inputs == 0)
		source_push_string(sh, "trace $all; enable $all", "--run");
	else if (o->n_inputs == 0)
		source_push_stdin(sh);
	for (size_t i = o->n_inputs; i > 0; i--) {
		const struct input *in = &o->inputs[i - 1];
		int error;

		if (in->is_text) {
			source_push_string(sh, in->arg, "-c");
		} else if ((error = source_push_file(sh, in->arg)) != 0) {
			shell_error(sh, ERROR_TARGET, "cannot open \"%s\": %s",
			    in->arg, strerror(error));
			return false;
		}
	}
	rc_push(sh);
	return sh->interactive || !sh->failed;
}

static int
close_stdout(const struct shell *sh, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	shell_say(sh, "cannot write standard output: %s", strerror(errno));
	return EXIT_FAILURE;
}

static int
prex_session(struct shell *sh, const struct options *o)
{
	int status;

	if (!target_open(sh, &o->target))
		return EXIT_FAILURE;
	if (sh->mode == MODE_USER)
		target_catch_interrupt(sh);
	if (sh->failed || !push_sources(sh, o) || !target_set_up(sh, &o->target)) {
		trace_plan_free(&sh->plan);
		target_close(sh);
		return EXIT_FAILURE;
	}
	if (!o->run)
		return shell_run(sh);
	status = run_command(sh, o);
	return target_close(sh) ? status : EXIT_FAILURE;
}

static void
prex_out_of_memory(void)
{
	fputs("new; out of memory, aborting\n", stderr);
	abort();
}

int
main(int argc, char **argv)
{
	struct options o;
	struct shell sh;
	int status;

	tnf_xalloc_failed = prex_out_of_memory;
	shell_init(&sh, argv[0]);
	options_parse(&sh, &o, argc, argv);
	sh.mode = o.target.kernel ? MODE_KERNEL : MODE_USER;
	sh.buffer_size = o.buffer_size;
	sh.test_mode = o.test_mode;
	sh.interactive = o.n_inputs == 0 && !o.run && isatty(STDIN_FILENO);
	if (o.test_mode)
		setvbuf(stdout, NULL, _IOLBF, 0);
	status = prex_session(&sh, &o);
	shell_free(&sh);
	options_free(&o);
	ending_die();
	return close_stdout(&sh, status);
}
