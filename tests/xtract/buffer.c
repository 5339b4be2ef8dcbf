/*
 * buffer.c - makes, writes to and checks buffers for the shell tests.
 *
 *	buffer make FILE BLOCKS		a buffer whose data blocks are half full
 *	buffer write FILE SECONDS	keeps writing to it
 *	buffer image FILE OUT		a memory image that has its pages
 *					FILE may be a pinned BPF array
 *	buffer check FILE BLOCKS	is that a sound copy of such a buffer?
 */
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/xtract/model.h"

static unsigned char *
map_file(const char *name, size_t *ret_size)
{
	struct stat st;
	void *base;
	int fd;

	fd = open(name, O_RDWR);
	if (fd < 0 || fstat(fd, &st) != 0)
		err(1, "%s", name);
	base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		err(1, "%s", name);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return base;
}

static void
save(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(name, "w");

	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		err(1, "%s", name);
}

static void
make(const char *name, uint32_t blocks)
{
	struct model m;
	uint32_t i;

	model_init(&m, blocks, 0x1122334455667788);
	model_define(&m, 2);
	for (i = 3; i < blocks / 2; i++)
		model_fill(&m, i, 1);
	save(name, m.base, (size_t)blocks * MODEL_BLOCK);
	model_free(&m);
}

static void
write_to(const char *name, int seconds)
{
	uint32_t block = 2, generation = 2;
	time_t end = time(NULL) + seconds;
	struct model m;
	size_t size;

	m.base = map_file(name, &size);
	m.blocks = (uint32_t)(size / MODEL_BLOCK);
	while (time(NULL) < end) {
		if (++block == m.blocks) {
			block = 3;
			generation++;
		}
		model_fill(&m, block, generation);
	}
}

static unsigned char *
map_pin(const char *name, size_t *ret_size)
{
	struct bpf_map_info info;
	union bpf_attr attr;
	void *base;
	int fd;

	memset(&attr, 0, sizeof attr);
	attr.pathname = (uintptr_t)name;
	fd = (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof attr);
	if (fd < 0)
		err(1, "%s", name);
	memset(&info, 0, sizeof info);
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof info;
	attr.info.info = (uintptr_t)&info;
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof attr) != 0)
		err(1, "%s", name);
	*ret_size = (size_t)info.max_entries * info.value_size;
	base = mmap(NULL, *ret_size, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		err(1, "%s", name);
	return base;
}

/* In reverse order, with pages of nothing between them. */
static void
image(const char *name, const char *out)
{
	size_t size, i, n;
	unsigned char *base, *memory;

	base = strncmp(name, "/sys/fs/bpf/", 12) == 0 ?
	    map_pin(name, &size) : map_file(name, &size);
	n = size / MODEL_BLOCK;
	memory = calloc(2 * n, MODEL_BLOCK);
	if (memory == NULL)
		err(1, NULL);
	for (i = 0; i < n; i++)
		memcpy(memory + 2 * (n - 1 - i) * MODEL_BLOCK,
		    base + i * MODEL_BLOCK, MODEL_BLOCK);
	save(out, memory, 2 * size);
	free(memory);
}

static int
check(const char *name, uint32_t blocks)
{
	uint32_t i, n = 0;
	unsigned char *base;
	size_t size;
	bool used;

	base = map_file(name, &size);
	if (size < (size_t)blocks * MODEL_BLOCK)
		errx(1, "%s: too short", name);
	for (i = 2; i < blocks; i++) {
		if (!model_check_copy(base + (size_t)i * MODEL_BLOCK, &used))
			errx(1, "%s: block %u is damaged", name, i);
		n += used;
	}
	printf("%u\n", n);
	return n == 0;
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: buffer make|write|image|check FILE ARGUMENT");
	if (strcmp(argv[1], "make") == 0)
		make(argv[2], (uint32_t)atoi(argv[3]));
	else if (strcmp(argv[1], "write") == 0)
		write_to(argv[2], atoi(argv[3]));
	else if (strcmp(argv[1], "image") == 0)
		image(argv[2], argv[3]);
	else
		return check(argv[2], (uint32_t)atoi(argv[3]));
	return 0;
}
