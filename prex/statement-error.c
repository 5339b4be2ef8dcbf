/*
 * statement-error.c - tell what went wrong, and where.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "prex/printable.h"
#include "prex/shell.h"
#include "prex/statement.h"
#include "prex/util.h"

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
	/* Any further call of the library may overwrite it. */
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
