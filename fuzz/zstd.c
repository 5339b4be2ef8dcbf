/*
 * zstd.c - fuzzes compressed trace files: what is unpacked is read like any other.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tnf/stream.h>

#include "tests/reader/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	const void *base;
	size_t n;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (tnf_image_open(fd, &base, &n) == 0) {
		walk_stream(base, n);
		tnf_image_close(base, n);
	}
	close(fd);
	return 0;
}
