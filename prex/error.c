/*
 * error.c - tell what went wrong, and where.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "printable.h"
#include "shell.h"
#include "statement.h"
#include "util.h"

static void
print_place(const struct shell *sh, enum error_kind kind)
{
	const struct statement *st = sh->now;

	if (!sh->interactive && st != NULL)
		fprintf(stderr, "%s:%u: %s", st->source, st->line,
		    kind == ERROR_SEMANTIC ? "semantic error: " : "");
	else if (kind == ERROR_SEMANTIC && st != NULL)
		fprintf(stderr, "\"%s\", line %u: semantic error: ",
		    st->source, st->line);
	else if (kind != ERROR_PLAIN)
		fprintf(stderr, "%s: ", sh->argv0);
}

static void __attribute__((format(printf, 3, 0)))
report(struct shell *sh, enum error_kind kind, const char *fmt, va_list ap)
{
	fflush(stdout);
	print_place(sh, kind);
	vfprintf(stderr, fmt, ap);
	sh->failed = true;
}

static void
tell(const struct shell *sh, const char *detail)
{
	if (*detail == '\0')
		return;
	fprintf(stderr, "%s: ", sh->argv0);
	print_text(stderr, detail);
	putc('\n', stderr);
}

void
shell_error(struct shell *sh, enum error_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(sh, kind, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
}

void
shell_tnfctl_error(struct shell *sh, enum error_kind kind,
    tnfctl_errcode_t code, const char *fmt, ...)
{
	/* Any further call of the library may overwrite it. */
	char *detail = xstrdup(tnfctl_error_detail());
	va_list ap;

	va_start(ap, fmt);
	report(sh, kind, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s\n", tnfctl_strerror(code));
	tell(sh, detail);
	free(detail);
}

void
shell_tell_detail(const struct shell *sh)
{
	fflush(stdout);
	tell(sh, tnfctl_error_detail());
}
