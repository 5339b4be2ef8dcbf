/*
 * dump-run.c - a run of tnfdump inside a fuzz target.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tnfdump/report/report.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/origin.h"
#include "analysis/pairs.h"
#include "tnfdump/pipeline.h"

#include "fuzz/dump.h"

void
dump_error(struct dump *d, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	d->status = STATUS_ERROR;
}

void
dump_note(struct dump *d, const char *fmt, ...)
{
}

/* Only --strict, --follow and lack of memory come here. */
void
dump_fatal(struct dump *d, const char *fmt, ...)
{
	abort();
}

bool
dump_option(struct dump *d, const char *name, const char *arg)
{
	const struct option_row *row = option_rows;

	while (strcmp(row->name, name) != 0)
		row++;
	return option_apply(d, row, arg) == 0;
}

/* Runs the modes that open their files themselves. */
static void
run_paths(struct dump *d, const void *base, size_t size)
{
	char name[32], *paths[] = { name, name, NULL };
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, base, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (d->diff)
		diff_run(d, paths);
	else
		raw_run(d, paths + 1);
	close(fd);
}

static void
on_damage(void *arg, struct tnf_file *f, uint64_t offset, const char *text)
{
	input_damage(arg, tnf_file_name(f), offset, text);
}

static void
run_stream(struct dump *d, const void *base, size_t size)
{
	struct input in = { .path = "trace", .base = base, .size = size };

	if (tnf_stream_new(&d->stream) != 0)
		abort();
	tnf_stream_on_damage(d->stream, on_damage, d);
	tnf_stream_accept_cut(d->stream, d->salvage);
	if (tnf_stream_add_mem(d->stream, base, size, in.path, &in.file) == 0) {
		d->inputs = &in;
		d->n_inputs = 1;
	}
	pipeline_run(d);
	origins_free(d);
	tnf_stream_close(d->stream);
}

void
dump_run(struct dump *d, const void *base, size_t size)
{
	static int null = -1;
	bool escape = d->out.escape;

	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (tnf_out_init(&d->out, null) != 0)
		abort();
	d->out.escape = escape;
	if (d->raw || d->diff)
		run_paths(d, base, size);
	else
		run_stream(d, base, size);
	tnf_out_close(&d->out);
}

void
dump_done(struct dump *d)
{
	pairs_free(d->pairs);
	pipeline_free_filters(d);
	options_free(d);
	if (d->scratch.base != NULL)
		tnf_out_close(&d->scratch);
}
