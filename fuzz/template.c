/*
 * template.c - fuzzes the language of report templates, on a small trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "samples.h"

#include "dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	if (trace == NULL)
		trace = sample(0);
	bytes = mk_bytes(trace, &trace_size);
	fd = memfd_create("template", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (dump_option(&d, "template", name))
		dump_run(&d, bytes, trace_size);
	close(fd);
	return 0;
}
