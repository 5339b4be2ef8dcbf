/*
 * header.c - block 0 of a file.  The library in a program calls this at the first
 * hit of a probe: nothing here allocates.
 */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/header.h"

void
tnf_header_set(struct tnf_file_header *h, uint32_t block_size,
    uint32_t directory_end, uint64_t size)
{
	h->tag = TNF_HEADER_TAG(block_size);
	h->file_version = TNF_FILE_VERSION;
	h->file_header_size = TNF_FILE_HEADER_SIZE;
	h->block_header_size = sizeof(struct tnf_block_header);
	h->block_size = block_size;
	h->directory_size = directory_end;
	h->block_count = (uint32_t)(size / block_size);
	for (h->file_logical_size = 0; 1ull << h->file_logical_size < size;)
		h->file_logical_size++;
}

static int64_t
header_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int
header_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
tnf_boot_id(uint8_t ret[TNF_BOOT_ID_SIZE])
{
	char text[64];
	ssize_t len, i;
	int n = 0, fd;

	memset(ret, 0, TNF_BOOT_ID_SIZE);
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	len = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < len && n < 2 * TNF_BOOT_ID_SIZE; i++)
		if (header_hex(text[i]) >= 0) {
			ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | header_hex(text[i]));
			n++;
		}
	return n == 2 * TNF_BOOT_ID_SIZE;
}

void
tnf_boot_id_text(const uint8_t id[TNF_BOOT_ID_SIZE], char ret[TNF_BOOT_ID_TEXT])
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned i = 0; i < TNF_BOOT_ID_SIZE; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*ret++ = '-';
		*ret++ = hex[id[i] >> 4];
		*ret++ = hex[id[i] & 15];
	}
	*ret = '\0';
}

void
tnf_ext_begin(struct tnf_ext *x, enum tnf_ext_kind kind)
{
	x->size = sizeof(*x);
	x->kind = kind;
	x->start_mono = header_clock(CLOCK_MONOTONIC);
	x->start_wall = header_clock(CLOCK_REALTIME);
	tnf_boot_id(x->boot_id);
}
