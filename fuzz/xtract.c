/*
 * xtract.c - fuzzes what tnfxtract believes: a mapped buffer, a memory image.
 *
 * The first byte chooses the way in.  A copy must stay inside its size, be
 * clean behind bytes_valid, and be the same when it is copied again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tnf/com.h>

#include "tnfxtract/image.h"
#include "tnfxtract/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct copy {
	unsigned char *bytes;
	uint64_t size;
	struct addrs addrs;
};

static bool
put(void *arg, uint64_t offset, const void *bytes, size_t n)
{
	struct copy *c = arg;

	if (offset > c->size || n > c->size - offset)
		abort();
	memcpy(c->bytes + offset, bytes, n);
	return true;
}

static bool
put_pieces(void *arg, uint64_t offset, const struct iovec *piece, int n)
{
	for (; n > 0; offset += piece++->iov_len, n--)
		put(arg, offset, piece->iov_base, piece->iov_len);
	return true;
}

static void
look(void *arg, const unsigned char *block, size_t valid)
{
	struct copy *c = arg;

	addrs_scan(&c->addrs, block, valid);
}

static void
check_blocks(const struct snapshot *s, const unsigned char *copy)
{
	struct tnf_block_header h;
	uint32_t n, i;

	for (n = s->directory_end / s->block_size; n < s->block_count; n++) {
		const unsigned char *b = copy + (size_t)n * s->block_size;

		memcpy(&h, b, sizeof h);
		if (h.next_block != 0 || h.pad != 0 || h.A_lock != 0)
			abort();
		for (i = h.bytes_valid; i < s->block_size; i++)
			if (b[i] != 0)
				abort();
	}
}

/* Returns the copy, malloc'ed, or NULL: refused. */
static unsigned char *
copy_of(const void *base, size_t size, bool pieces, uint64_t *ret_size)
{
	struct copy c = { .addrs.start = image_arch_code(NULL) };
	struct snapshot_sink sink = { .put = put, .put_pieces = pieces ? put_pieces : NULL,
	    .look = look, .arg = &c };
	struct snapshot s;

	if (snapshot_open(&s, base, size) != SNAPSHOT_OK)
		return NULL;
	if (s.size > size)
		abort();
	c.size = s.size;
	c.bytes = calloc(1, s.size);
	if (snapshot_copy(&s, &sink) != SNAPSHOT_OK)
		abort();
	check_blocks(&s, c.bytes);
	addrs_pack(&c.addrs);
	addrs_free(&c.addrs);
	*ret_size = c.size;
	return c.bytes;
}

static void
fuzz_buffer(const void *base, size_t size)
{
	unsigned char *first, *second;
	uint64_t n, m;

	first = copy_of(base, size, true, &n);
	if (first == NULL)
		return;
	second = copy_of(first, n, false, &m);
	if (second == NULL || m != n || memcmp(first, second, n) != 0)
		abort();
	free(first);
	free(second);
}

static void
fuzz_image(const uint8_t *data, size_t size)
{
	char name[] = "/tmp/tnf-fuzz.XXXXXX";
	struct image_buffer b;
	struct image im;
	int fd;

	fd = mkstemp(name);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (image_open(&im, name) == 0) {
		if (size >= 4096)
			image_note(&im, (const char *)data, 4096);
		free(image_printk(&im));
		if (image_find(&im, &b) == 0) {
			if (b.size <= 1u << 20)
				fuzz_buffer(b.base, b.size);
			image_buffer_free(&b);
		}
		image_close(&im);
	}
	close(fd);
	unlink(name);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *base;

	if (size < 2 || size > 1u << 20)
		return 0;
	if (data[0] == 'i') {
		fuzz_image(data + 1, size - 1);
		return 0;
	}
	base = malloc(size - 1);
	memcpy(base, data + 1, size - 1);
	fuzz_buffer(base, size - 1);
	free(base);
	return 0;
}
