/*
 * template.c - fuzzes the language of report templates, on a small trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/reader/samples.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/template/template.h"

#include "fuzz/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As the text that a probe brings along. */
static void
own_format(struct dump *d, const char *text, size_t size)
{
	struct template t = { .source = dump_expr_source(d) };

	statements_free(template_parse_string(&t, text, size));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mk *trace;
	struct dump d = { .output = &outputs[0] };
	char name[32];
	size_t trace_size;
	void *bytes;
	int fd;

	if (size > 1u << 16)
		return 0;
	own_format(&d, (const char *)data, strnlen((const char *)data, size));
	if (trace == NULL)
		trace = sample(0);
	bytes = mk_bytes(trace, &trace_size);
	fd = memfd_create("template", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (dump_option(&d, "template", name))
		dump_run(&d, bytes, trace_size);
	dump_done(&d);
	close(fd);
	return 0;
}
