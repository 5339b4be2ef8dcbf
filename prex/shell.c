/*
 * shell.c - a session from the first prompt to the last, and what it tells the user.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prex/shell.h"
#include "prex/source.h"

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
	char *text;

	va_start(ap, fmt);
	text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
	error_tell(sh, text);
	free(text);
}

void
shell_warn(const struct shell *sh, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (sh->test_mode)
		return;
	va_start(ap, fmt);
	text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
	print_place(sh, ERROR_TARGET);
	fputs("warning: ", stderr);
	print_text(stderr, text);
	putc('\n', stderr);
	free(text);
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

void
shell_tnfctl_error(struct shell *sh, enum error_kind kind,
    tnfctl_errcode_t code, const char *fmt, ...)
{
	/* Any further call of the library may overwrite the detail. */
	char *detail = tnf_xstrdup(tnfctl_error_detail());
	va_list ap;

	va_start(ap, fmt);
	error_report(sh, kind, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s\n", tnfctl_strerror(code));
	error_tell(sh, detail);
	free(detail);
}

void
shell_tell_detail(const struct shell *sh)
{
	fflush(stdout);
	error_tell(sh, tnfctl_error_detail());
}
