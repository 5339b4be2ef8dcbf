/*
 * shell.c - a session from the first prompt to the last, the sets and functions that $name
 * and &name stand for in it, and what it tells the user.
 */
#include "prex/shell.h"

struct name *
names_find(const struct names *l, const char *name)
{
	struct name *n;

	TAILQ_FOREACH(n, l, entry)
		if (strcmp(n->name, name) == 0)
			return n;
	return NULL;
}

struct name *
names_find_symbol(const struct names *l, const char *symbol)
{
	struct name *n;

	TAILQ_FOREACH(n, l, entry)
		if (strcmp(n->symbol, symbol) == 0)
			return n;
	return NULL;
}

void
name_remove(struct names *l, struct name *n)
{
	TAILQ_REMOVE(l, n, entry);
	tnf_selectors_unref(n->selectors);
	free(n->symbol);
	free(n->name);
	free(n);
}

static struct name *
names_define(struct names *l, const char *name)
{
	struct name *n = names_find(l, name);

	if (n != NULL)
		name_remove(l, n);
	n = tnf_xcalloc(1, sizeof *n);
	n->name = tnf_xstrdup(name);
	TAILQ_INSERT_TAIL(l, n, entry);
	return n;
}

void
names_define_set(struct names *l, const char *name, struct tnf_selectors *s)
{
	s->refs++;
	names_define(l, name)->selectors = s;
}

void
names_define_known(struct names *l, const char *name)
{
	struct tnf_selectors *s = tnf_xcalloc(1, sizeof *s);

	tnf_selectors_add_set(s, name, strlen(name));
	names_define(l, name)->selectors = s;
}

void
names_define_fcn(struct names *l, const char *name, const char *symbol)
{
	names_define(l, name)->symbol = tnf_xstrdup(symbol);
}

void
names_free(struct names *l)
{
	while (!TAILQ_EMPTY(l))
		name_remove(l, TAILQ_FIRST(l));
}

void
shell_init(struct shell *sh, const char *argv0)
{
	memset(sh, 0, sizeof *sh);
	sh->argv0 = argv0;
	sh->mode = MODE_USER;
	sh->at_quit = TNFCTL_TARG_DEFAULT;
	TAILQ_INIT(&sh->sets);
	TAILQ_INIT(&sh->fcns);
}

void
shell_free(struct shell *sh)
{
	while (sh->top != NULL)
		source_pop(sh);
	names_free(&sh->sets);
	names_free(&sh->fcns);
	history_free(&sh->history);
	trace_plan_free(&sh->plan);
}

static void
shell_banner(struct shell *sh)
{
	if (sh->mode == MODE_KERNEL) {
		puts("Type \"help\" for help ...");
		return;
	}
	if (sh->test_mode)
		printf("prex(%ld), target(%ld): ", (long)getpid(), (long)target_pid(sh));
	if (sh->watched)
		puts("Target process runs on");
	else
		puts("Target process stopped");
	puts("Type \"continue\" to resume the target, \"help\" for help ...");
}

enum cmd_result
shell_commands(struct shell *sh)
{
	enum cmd_result r = CMD_DONE;
	struct statement st;

	while (r == CMD_DONE) {
		if (statement_read(sh, &st) == STATEMENT_EOF)
			r = CMD_QUIT;
		else
			r = dispatch(sh, &st);
		statement_free(&st);
		if (sh->failed && !sh->interactive)
			return CMD_QUIT;
		if (r == CMD_DONE)
			kernel_check_filter(sh);
	}
	return r;
}

static enum cmd_result
command_mode(struct shell *sh)
{
	kernel_check_filter(sh);
	shell_banner(sh);
	return shell_commands(sh);
}

int
shell_run(struct shell *sh)
{
	enum target_run run = TARGET_STOPPED;
	bool closed;

	while (run == TARGET_STOPPED && ending_signal() == 0 && command_mode(sh) == CMD_CONTINUE)
		run = target_run(sh);
	closed = target_close(sh);
	if (!closed || run == TARGET_FAILED)
		return EXIT_FAILURE;
	if (sh->interactive)
		return EXIT_SUCCESS;
	return sh->failed ? EXIT_FAILURE : sh->target_status;
}

char *
printable(const char *s)
{
	char *out = tnf_xcalloc(strlen(s) * 4 + 1, 1), *p = out;
	const char *end = s + strlen(s), *letter;
	size_t n;

	for (; s < end; s += n) {
		n = tnf_printable_length((const unsigned char *)s, (size_t)(end - s));
		if (n > 0) {
			p = mempcpy(p, s, n);
			continue;
		}
		n = 1;
		letter = strchr("\nn\tt\rr", *s);
		p += letter != NULL ? sprintf(p, "\\%c", letter[1]) :
		    sprintf(p, "\\%03o", (unsigned char)*s);
	}
	return out;
}

void
print_text(FILE *fp, const char *s)
{
	if (!isatty(fileno(fp))) {
		fputs(s, fp);
		return;
	}
	autofree char *text = printable(s);
	fputs(text, fp);
}

void
shell_print_place(const struct shell *sh, unsigned line)
{
	if (sh->interactive)
		putc('"', stderr);
	print_text(stderr, sh->now->source);
	fprintf(stderr, sh->interactive ? "\", line %u: " : ":%u: ", line);
}

static void
print_place(const struct shell *sh, enum error_kind kind)
{
	const struct statement *st = sh->now;

	if (st != NULL && (kind == ERROR_SEMANTIC || !sh->interactive))
		shell_print_place(sh, st->line);
	else if (kind != ERROR_PLAIN)
		fprintf(stderr, "%s: ", sh->argv0);
	if (kind == ERROR_SEMANTIC && st != NULL)
		fputs("semantic error: ", stderr);
}

static void __attribute__((format(printf, 3, 0)))
error_report(struct shell *sh, enum error_kind kind, const char *fmt, va_list ap)
{
	char *text = tnf_xvasprintf(fmt, ap);

	fflush(stdout);
	print_place(sh, kind);
	print_text(stderr, text);
	free(text);
	sh->failed = true;
}

static void
error_tell(const struct shell *sh, const char *detail)
{
	if (*detail == '\0')
		return;
	fprintf(stderr, "%s: ", sh->argv0);
	print_text(stderr, detail);
	putc('\n', stderr);
}

void
shell_say(const struct shell *sh, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	autofree char *text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
	error_tell(sh, text);
}

void
shell_warn(const struct shell *sh, const char *fmt, ...)
{
	va_list ap;

	if (sh->test_mode)
		return;
	va_start(ap, fmt);
	autofree char *text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
	print_place(sh, ERROR_TARGET);
	fputs("warning: ", stderr);
	print_text(stderr, text);
	putc('\n', stderr);
}

void
shell_error(struct shell *sh, enum error_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_report(sh, kind, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
}

bool
shell_ok(struct shell *sh, enum error_kind kind, tnfctl_errcode_t code, const char *fmt, ...)
{
	va_list ap;
	char *detail;

	if (code == TNFCTL_ERR_NONE)
		return true;
	/* Any further call of the library may overwrite the detail. */
	detail = tnf_xstrdup(tnfctl_error_detail());
	va_start(ap, fmt);
	error_report(sh, kind, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s\n", tnfctl_strerror(code));
	error_tell(sh, detail);
	free(detail);
	return false;
}

void
shell_tell_detail(const struct shell *sh)
{
	fflush(stdout);
	error_tell(sh, tnfctl_error_detail());
}
