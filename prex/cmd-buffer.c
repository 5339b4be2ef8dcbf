/*
 * cmd-buffer.c - the kernel's trace buffer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prex/cmd.h"
#include "prex/kernel.h"
#include "prex/parse.h"
#include "prex/shell.h"

enum { DEFAULT_SIZE = 384 * 1024 };

static const char *const words[] = { "alloc", "dealloc", NULL };

/* It is no word of the language: selectors may have it as it stands. */
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
	if (a->word == NULL || strcmp(a->word, "alloc") != 0 ||
	    statement_at_end(st))
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
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)time / 1e9;
}

/* From when on the trace is complete, once something has been overwritten. */
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
			printf("CPU %d: %.3f seconds\n", span[i].cpu,
			    seconds_ago(span[i].since));
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
		shell_error(sh, ERROR_PLAIN,
		    "There is already a buffer allocated");
		return;
	}
	if (a->n_numbers > 0 && a->numbers[0] < 0) {
		shell_error(sh, ERROR_PLAIN, "error in allocating buffer: %s",
		    tnfctl_strerror(TNFCTL_ERR_SIZETOOBIG));
		shell_say(sh, "the largest is 1g, 1073741824 bytes: ask for less");
		return;
	}
	tnfctl_buffer_fill_set(sh->target, a->name != NULL || sh->fill ? B_TRUE : B_FALSE);
	err = tnfctl_buffer_alloc(sh->target, NULL,
	    wanted_size(sh, a, attrs->trace_min_size));
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err,
		    "error in allocating buffer: ");
	else if (kernel_attrs(sh, attrs))
		printf("Buffer of size %zu bytes allocated\n",
		    attrs->trace_buf_size);
}

static void
cmd_buffer_dealloc(struct shell *sh, const tnfctl_trace_attrs_t *attrs)
{
	/* Without a buffer too: settings and filter may be there. */
	tnfctl_errcode_t err = tnfctl_buffer_dealloc(sh->target);

	if (attrs->trace_buf_state == TNFCTL_BUF_NONE) {
		shell_error(sh, ERROR_PLAIN,
		    "There is no buffer to deallocate");
		return;
	}
	if (err == TNFCTL_ERR_BADDEALLOC)
		shell_error(sh, ERROR_PLAIN,
		    "Can't deallocate the buffer when tracing is active");
	else if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_PLAIN, err,
		    "error in deleting buffer: ");
	else
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
	.words = words,
	.complete = COMPLETE_WORDS,
	.parse = cmd_buffer_parse,
	.run = cmd_buffer_run,
};
