/*
 * cmd-kernel.c - commands for the kernel: buffer, import, ktrace and pfilter.
 */
#include "prex/shell.h"

void
kernel_ask_rawio(struct shell *sh, const struct tnf_selectors *l, bool on)
{
	for (size_t i = 0; sh->mode == MODE_KERNEL && i < l->n; i++)
		if (strstr(l->v[i].value.text, "rawio") != NULL ||
		    strstr(l->v[i].value.text, "physio") != NULL) {
			tnfctl_setting_set(sh->target, "rawio", on);
			return;
		}
}

bool
kernel_attrs(struct shell *sh, tnfctl_trace_attrs_t *attrs)
{
	return shell_ok(sh, ERROR_PLAIN, tnfctl_trace_attrs_get(sh->target, attrs),
	    "error on checking trace attributes : ");
}

static void
count_rule(void *arg, const char *rule)
{
	*(int *)arg += strncmp(rule, "cpus=", 5) != 0;
}

void
kernel_check_filter(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	pid_t *pids = NULL;
	unsigned except = 0;
	int n = 0, rules = 0;

	if (sh->mode != MODE_KERNEL || !kernel_attrs(sh, &attrs) || !attrs.filter_state)
		return;
	tnfctl_filter_rule_apply(sh->target, count_rule, &rules);
	tnfctl_setting_get(sh->target, "filter_except", &except);
	if (tnfctl_filter_list_get(sh->target, &pids, &n) == TNFCTL_ERR_NONE &&
	    n == 0 && rules == 0 && !except) {
		fflush(stdout);
		fputs("Warning: Process filtering on, but pid filter list is empty\n", stderr);
	}
	free(pids);
}

enum { DEFAULT_SIZE = 384 * 1024 };

static const char *const buffer_words[] = { "alloc", "dealloc", NULL };

/* Parses "fill", which is no word of the language: selectors may have it without quotes. */
static bool
parse_fill(struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);

	if (tok->kind != TOK_IDENT || strcmp(tok->text, "fill") != 0)
		return false;
	st->next++;
	a->name = "fill";
	return true;
}

static bool
cmd_buffer_parse(struct shell *sh, struct statement *st, struct args *a)
{
	if (!parse_word(sh, st, a))
		return false;
	if (a->word == NULL || strcmp(a->word, "alloc") != 0 || statement_at_end(st))
		return true;
	if (parse_fill(st, a))
		return statement_at_end(st);
	return parse_numbers(st, a) && a->n_numbers == 1 &&
	    (statement_at_end(st) || parse_fill(st, a));
}

static void
show_lost(struct shell *sh)
{
	tnfctl_lost_t lost;

	if (tnfctl_lost_get(sh->target, &lost) != TNFCTL_ERR_NONE || lost.total == 0)
		return;
	printf("Events lost: %llu", (unsigned long long)lost.total);
	/* The kernel does not tell on which CPU it skipped a hit. */
	if (lost.cpu_max > 0)
		printf(" (up to %llu on one CPU)", (unsigned long long)lost.cpu_max);
	putchar('\n');
}

static double
seconds_ago(int64_t time)
{
	return (double)(clock_ns(CLOCK_MONOTONIC) - time) / 1e9;
}

/* Shows from when on the trace is complete, once events have been overwritten. */
static void
show_coverage(struct shell *sh)
{
	int64_t latest = INT64_MIN;
	tnfctl_span_t *span;
	size_t n, i;

	if (tnfctl_coverage_get(sh->target, &span, &n) != TNFCTL_ERR_NONE)
		return;
	for (i = 0; i < n; i++)
		if (!span[i].whole && span[i].since > latest)
			latest = span[i].since;
	if (latest != INT64_MIN)
		printf("Complete for the last %.3f seconds\n", seconds_ago(latest));
	for (i = 0; i < n && latest != INT64_MIN; i++) {
		if (span[i].whole)
			printf("CPU %d: from the start\n", span[i].cpu);
		else
			printf("CPU %d: %.3f seconds\n", span[i].cpu, seconds_ago(span[i].since));
	}
	free(span);
}

static void
cmd_buffer_show(struct shell *sh, const tnfctl_trace_attrs_t *attrs)
{
	if (attrs->trace_buf_state == TNFCTL_BUF_NONE) {
		puts("No trace buffer allocated");
		return;
	}
	printf("Trace buffer size is %zu bytes\n", attrs->trace_buf_size);
	if (attrs->fill == TNFCTL_FILL_STOPS)
		puts("Recording stops when it is full");
	else if (attrs->fill == TNFCTL_FILL_FULL)
		puts("It is full: what came later is not recorded");
	if (attrs->trace_buf_state == TNFCTL_BUF_BROKEN)
		puts("Tracing system has failed -- tracing suspended");
	show_lost(sh);
	show_coverage(sh);
}

static size_t
wanted_size(struct shell *sh, const struct args *a, size_t min)
{
	size_t size = DEFAULT_SIZE;

	if (a->n_numbers > 0)
		size = a->numbers[0];
	else if (sh->buffer_size > 0)
		size = sh->buffer_size;
	if (size >= min)
		return size;
	fflush(stdout);
	fprintf(stderr, "Size %zu is less than the minimum buffer size of %zu "
	    "-- buffer size set to %zu bytes\n", size, min, min);
	return min;
}

static void
cmd_buffer_alloc(struct shell *sh, const struct args *a, tnfctl_trace_attrs_t *attrs)
{
	tnfctl_errcode_t err;

	if (attrs->trace_buf_state != TNFCTL_BUF_NONE) {
		shell_error(sh, ERROR_PLAIN, "There is already a buffer allocated");
		return;
	}
	if (a->n_numbers > 0 && a->numbers[0] < 0) {
		shell_error(sh, ERROR_PLAIN, "error in allocating buffer: %s",
		    tnfctl_strerror(TNFCTL_ERR_SIZETOOBIG));
		shell_say(sh, "the largest is 1g, 1073741824 bytes: ask for less");
		return;
	}
	tnfctl_buffer_fill_set(sh->target, a->name != NULL || sh->fill ? B_TRUE : B_FALSE);
	err = tnfctl_buffer_alloc(sh->target, NULL, wanted_size(sh, a, attrs->trace_min_size));
	if (shell_ok(sh, ERROR_PLAIN, err, "error in allocating buffer: ") &&
	    kernel_attrs(sh, attrs))
		printf("Buffer of size %zu bytes allocated\n", attrs->trace_buf_size);
}

static void
cmd_buffer_dealloc(struct shell *sh, const tnfctl_trace_attrs_t *attrs)
{
	/* We do this without a buffer, too: settings and filter may be there. */
	tnfctl_errcode_t err = tnfctl_buffer_dealloc(sh->target);

	if (attrs->trace_buf_state == TNFCTL_BUF_NONE) {
		shell_error(sh, ERROR_PLAIN, "There is no buffer to deallocate");
		return;
	}
	if (err == TNFCTL_ERR_BADDEALLOC)
		shell_error(sh, ERROR_PLAIN, "Can't deallocate the buffer when tracing is active");
	else if (shell_ok(sh, ERROR_PLAIN, err, "error in deleting buffer: "))
		puts("buffer deallocated");
}

static enum cmd_result
cmd_buffer_run(struct shell *sh, const struct args *a)
{
	tnfctl_trace_attrs_t attrs;

	if (!kernel_attrs(sh, &attrs))
		return CMD_DONE;
	if (a->word == NULL)
		cmd_buffer_show(sh, &attrs);
	else if (strcmp(a->word, "alloc") == 0)
		cmd_buffer_alloc(sh, a, &attrs);
	else
		cmd_buffer_dealloc(sh, &attrs);
	return CMD_DONE;
}

const struct cmd cmd_buffer = {
	.name = "buffer",
	.usage = "\nalloc [bytes] [fill]\ndealloc",
	.summary = "Allocate, release or show the kernel's trace buffer",
	.help =
	    "Without a word, tells the size of the buffer.  Allocating takes a size in bytes,\n"
	    "or with k or m in units of 1024 or 1048576; without one the size is that of the\n"
	    "option -s, or 384k.  With \"fill\" recording stops when the buffer is full, and what\n"
	    "comes later is counted; otherwise it takes the place of the oldest.\n"
	    "Tracing has to be off (ktrace off) to release the buffer.\n",
	.modes = MODE_KERNEL,
	.words = buffer_words,
	.complete = COMPLETE_WORDS,
	.parse = cmd_buffer_parse,
	.run = cmd_buffer_run,
};

static enum cmd_result
cmd_import_run(struct shell *sh, const struct args *a)
{
	shell_ok(sh, ERROR_PLAIN, tnfctl_import_add(sh->target, "usdt", a->name),
	    "error in importing probes: ");
	return CMD_DONE;
}

const struct cmd cmd_import = {
	.name = "import",
	.usage = "'file'",
	.summary = "Have the probes of a program or library",
	.help =
	    "From now on the USDT probes of the file are among those that list, enable and\n"
	    "trace choose from: \"list probes keys=usdt\" shows them; and so are functions of it\n"
	    "that are asked for, as in \"enable function=/^malloc/\".  They are hit in every\n"
	    "process that runs the file, also in those that start later.  Where exceptions\n"
	    "may pass, a return that is traced would end the program: it is there for who\n"
	    "asks for it, as in \"enable return=malloc\".  A name with other characters than\n"
	    "letters, digits, \"_\", \".\" and \"%\" is quoted.\n",
	.modes = MODE_KERNEL,
	.complete = COMPLETE_FILE,
	.parse = parse_file_name,
	.run = cmd_import_run,
};

static const char *const ktrace_words[] = { "on", "off", NULL };

static void
cmd_ktrace_show(struct shell *sh, bool on)
{
	int64_t time = 0;
	char why[512];

	if (!on)
		tnfctl_frozen_get(sh->target, &time, why, sizeof why);
	printf("Tracing is %s", on ? "on" : "off");
	if (time != 0) {
		printf(": frozen %.3f seconds ago: ", seconds_ago(time));
		print_text(stdout, why);
	}
	putchar('\n');
}

static enum cmd_result
cmd_ktrace_run(struct shell *sh, const struct args *a)
{
	tnfctl_trace_attrs_t attrs;

	if (a->word == NULL) {
		if (kernel_attrs(sh, &attrs))
			cmd_ktrace_show(sh, attrs.trace_state);
		return CMD_DONE;
	}
	shell_ok(sh, ERROR_PLAIN, tnfctl_trace_state_set(sh->target,
	    strcmp(a->word, "on") == 0 ? B_TRUE : B_FALSE), "error in setting tracing state: ");
	return CMD_DONE;
}

const struct cmd cmd_ktrace = {
	.name = "ktrace",
	.usage = "\non\noff",
	.summary = "Switch kernel tracing on or off, or tell which it is",
	.help =
	    "No probe of the kernel writes anything unless this switch is on.  The usual\n"
	    "order is: buffer alloc, trace, enable, ktrace on.\n",
	.modes = MODE_KERNEL,
	.words = ktrace_words,
	.complete = COMPLETE_WORDS,
	.parse = parse_word,
	.run = cmd_ktrace_run,
};

#define EXCEPT	"except"

static const char *const pfilter_words[] = { "on", "off", "add", "delete", NULL };

/* True if the word is "except".  That is a word of the language only here, and stands alone. */
static bool
is_except(const struct statement *st)
{
	return st->n == 2 && st->v[1].kind == TOK_IDENT && strcmp(st->v[1].text, "except") == 0;
}

/* Parses a rule, which goes to the end of the command: paths need no quotes. */
static bool
parse_rule(struct statement *st, struct args *a)
{
	const struct token *tok = statement_take(st, TOK_IDENT);

	if (tok == NULL || statement_peek(st)->kind != TOK_EQUAL)
		return false;
	a->rule = tnf_xstrdup(tok->text);
	while (!statement_at_end(st)) {
		tok = &st->v[st->next++];
		a->rule = string_append(a->rule, "", tok->kind == TOK_QSTR ? tok->value : tok->text);
	}
	return true;
}

static bool
cmd_pfilter_parse(struct shell *sh, struct statement *st, struct args *a)
{
	if (is_except(st)) {
		st->next = st->n;
		a->word = EXCEPT;
		return true;
	}
	if (!parse_word(sh, st, a))
		return false;
	if (a->word == NULL || a->word[0] == 'o')
		return true;
	return statement_peek(st)->kind == TOK_INT ? parse_numbers(st, a) : parse_rule(st, a);
}

static void
show_rule(void *arg, const char *rule)
{
	printf("Process filter rule: ");
	print_text(stdout, rule);
	putchar('\n');
}

static void
cmd_pfilter_show(struct shell *sh)
{
	tnfctl_trace_attrs_t attrs;
	pid_t *pids = NULL;
	unsigned except = 0;
	int i, n = 0;

	if (!kernel_attrs(sh, &attrs))
		return;
	tnfctl_setting_get(sh->target, "filter_except", &except);
	printf("Process filtering is %s%s\n", attrs.filter_state ? "on" : "off",
	    attrs.filter_state && except ? ", except for the set" : "");
	tnfctl_filter_rule_apply(sh->target, show_rule, NULL);
	if (!shell_ok(sh, ERROR_PLAIN, tnfctl_filter_list_get(sh->target, &pids, &n),
	    "error in getting process filter list: "))
		return;
	if (n == 0)
		puts("Process filter set is empty.");
	for (i = 0; i < n; i++)
		printf("%s%ld%s", i == 0 ? "Process filter set is {" : ", ",
		    (long)pids[i], i == n - 1 ? "}\n" : "");
	free(pids);
}

static void
cmd_pfilter_change(struct shell *sh, bool add, long pid)
{
	tnfctl_errcode_t err;

	/* The lexer makes -1 of a number that is too large. */
	if (pid < 0 || pid > INT_MAX) {
		shell_error(sh, ERROR_PLAIN, "no process has so large a number: "
		    "ps tells those that there are");
		return;
	}
	err = (add ? tnfctl_filter_list_add :
	    tnfctl_filter_list_delete)(sh->target, pid);
	if (!add && err == TNFCTL_ERR_NOPROCESS)
		printf("Process %ld has exited\n", pid);
	else
		shell_ok(sh, ERROR_PLAIN, err, "Process %ld: ", pid);
}

/* Adds or deletes a rule; "children=4711" means a process with the children it will have. */
static void
change_rule(struct shell *sh, bool add, const char *rule)
{
	tnfctl_errcode_t err;
	char *end = NULL;
	long pid = 0;

	if (strncmp(rule, "children=", 9) == 0 || strncmp(rule, "pid=", 4) == 0) {
		pid = strtol(strchr(rule, '=') + 1, &end, 10);
		if (pid < 1 || pid > INT_MAX || *end != '\0') {
			shell_error(sh, ERROR_PLAIN, "%s: not the number of a process", rule);
			return;
		}
		if (!add || rule[0] == 'p') {
			cmd_pfilter_change(sh, add, pid);
			return;
		}
		err = tnfctl_filter_list_follow(sh->target, (pid_t)pid);
	} else
		err = (add ? tnfctl_filter_rule_add : tnfctl_filter_rule_delete)(sh->target, rule);
	shell_ok(sh, ERROR_PLAIN, err, "pfilter: ");
}

static void
set_state(struct shell *sh, boolean_t on, bool except)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (on)
		err = tnfctl_setting_set(sh->target, "filter_except", except);
	if (err == TNFCTL_ERR_NONE)
		err = tnfctl_filter_state_set(sh->target, on);
	shell_ok(sh, ERROR_PLAIN, err, "pfilter: ");
}

static enum cmd_result
cmd_pfilter_run(struct shell *sh, const struct args *a)
{
	if (a->word == NULL)
		cmd_pfilter_show(sh);
	else if (a->word[0] == 'o' || a->word[0] == 'e')
		set_state(sh, strcmp(a->word, "off") != 0 ? B_TRUE : B_FALSE, a->word[0] == 'e');
	else if (a->rule != NULL)
		change_rule(sh, a->word[0] == 'a', a->rule);
	/* The last number comes first, as on Solaris. */
	for (size_t i = a->n_numbers; i > 0; i--)
		cmd_pfilter_change(sh, a->word[0] == 'a', a->numbers[i - 1]);
	return CMD_DONE;
}

const struct cmd cmd_pfilter = {
	.name = "pfilter",
	.usage = "\non\noff\nexcept\nadd pid[,pid...]\ndelete pid[,pid...]\n"
	    "add children=pid | name=program | cgroup=/path | unit=name | pod=name\n"
	    "delete ... (the same)",
	.summary = "Trace some processes only",
	.help =
	    "While the filter is on, the kernel's probes write about the processes in the\n"
	    "filter set only.  Process 0 stands for threads without a process, such as\n"
	    "interrupts.  The set is kept while the filter is off; a process leaves it when\n"
	    "it exits, and children are not in it, unless they are asked for.\n"
	    "Rules put processes into the set as long as they hold: by the name of the program,\n"
	    "by cgroup (with what is in it), by the unit of systemd.  With \"except\", what is\n"
	    "not in the set is recorded.\n",
	.modes = MODE_KERNEL,
	.words = pfilter_words,
	.complete = COMPLETE_FILTER,
	.parse = cmd_pfilter_parse,
	.run = cmd_pfilter_run,
};
