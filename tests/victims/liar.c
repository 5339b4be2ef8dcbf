/*
 * liar.c - victim: what a controller reads in its memory is a lie.
 *
 * liar, liar rings: the kinds of lies that there are, in its memory and in its trace file.
 * liar KIND: a controller must answer, whatever the answer, in bounded time
 * and memory, and this process must not come to harm by it.
 */
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <tnf/probe.h>
#include <tnf/target.h>

#include "victim.h"

extern struct tnf_probe_control __start_tnf_probes[], __stop_tnf_probes[];

static void
hit(void)
{
	TNF_PROBE_2(one, "lie", "", tnf_int, a, 1, tnf_string, b, "two");
	TNF_PROBE_0(two, "lie", "");
}

static struct r_debug *
debug(void)
{
	ElfW(Dyn) *d;

	for (d = _DYNAMIC; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			return (struct r_debug *)d->d_un.d_ptr;
	abort();
}

static void
lie_attrs_pointer(void)
{
	__start_tnf_probes[0].attrs = (const char *)0xdeadbeef000;
	__start_tnf_probes[1].attrs = (const char *)UINTPTR_MAX;
}

/* No NUL for as far as memory goes. */
static void
lie_attrs_endless(void)
{
	char *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 'x', 64 << 20);
	memcpy(p, "name ", 5);
	__start_tnf_probes[0].attrs = p;
}

static void
lie_attrs_escape(void)
{
	static const char text[] = "name x;slots ;keys \033[2J\n\r;;;';=";

	__start_tnf_probes[0].attrs = text;
}

static void
lie_sizes(void)
{
	__start_tnf_probes[0].size = UINT32_MAX;
	__start_tnf_probes[1].size = 0;
}

static void
lie_version(void)
{
	_tnf_process_control.version = 77;
}

static void
lie_process(void)
{
	_tnf_process_control.state = 12345;
	_tnf_process_control.file_min = UINT64_MAX;
	_tnf_process_control.file_size = UINT64_MAX;
	_tnf_process_control.chain_used = UINT64_MAX;
	memset(_tnf_process_control.file_name, 'y', TNF_PATH_SIZE);
}

static unsigned long
lie_number(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text != NULL ? strtoul(text, NULL, 0) : otherwise;
}

/* $LIE_FILE, or something that a terminal would act on; $LIE_STATE, $LIE_SIZE.  With
   $LIE_MAP it has mapped a file of that name. */
static void
lie_file(void)
{
	const char *name = getenv("LIE_FILE");

	if (getenv("LIE_MAP") != NULL && mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
	    open(name, O_RDWR | O_CLOEXEC), 0) == MAP_FAILED)
		abort();
	_tnf_process_control.state = (tnf_uint32_t)lie_number("LIE_STATE", TNF_PROC_RUNNING);
	_tnf_process_control.file_size = lie_number("LIE_SIZE", TNF_PATH_SIZE);
	snprintf(_tnf_process_control.file_name, TNF_PATH_SIZE, "%s",
	    name != NULL ? name : "/tmp/\033[2J");
}

static void
lie_chain_used(void)
{
	_tnf_process_control.chain_used = UINT64_MAX;
}

/* A chain of functions that has no end. */
static void
lie_chain_endless(void)
{
	static tnf_probe_func_t f[100000];
	size_t i;

	for (i = 0; i < 100000; i++)
		f[i] = (tnf_probe_func_t)(uintptr_t)(0x1000 + i);
	__start_tnf_probes[0].chain = f;
	__start_tnf_probes[0].controlled = 1;
}

static void
lie_map_cycle(void)
{
	struct link_map *m = debug()->r_map;

	while (m->l_next != NULL)
		m = m->l_next;
	m->l_next = debug()->r_map;
}

static void
lie_map_wild(void)
{
	debug()->r_map->l_next = (struct link_map *)0x123;
}

/* Each entry is another object, and all of them are the same file. */
static void
lie_map_endless(void)
{
	static struct link_map maps[50000];
	struct link_map *m = debug()->r_map;
	size_t i;

	for (i = 0; i < 50000; i++) {
		maps[i] = *m;
		maps[i].l_addr = m->l_addr + 4096 * (i + 1);
		maps[i].l_next = i + 1 < 50000 ? &maps[i + 1] : NULL;
	}
	m->l_next = &maps[0];
}

static void
lie_map_names(void)
{
	static char name[1 << 20];

	memset(name, '/', sizeof(name));
	debug()->r_map->l_next->l_name = name;
	debug()->r_map->l_next->l_next->l_name = (char *)8;
}

static void
lie_map_bias(void)
{
	debug()->r_map->l_addr = (ElfW(Addr))-4096;
}

static void
lie_state(void)
{
	debug()->r_state = RT_ADD;
}

#define HEADER(member)	offsetof(struct tnf_file_header, member), \
	sizeof ((struct tnf_file_header *)0)->member
#define EXT(member)	TNF_EXT_OFFSET + offsetof(struct tnf_ext, member), \
	sizeof ((struct tnf_ext *)0)->member
#define BLOCK(member)	offsetof(struct tnf_block_header, member), \
	sizeof ((struct tnf_block_header *)0)->member, true

/* Lies in the trace file of this process, which it has made by TNF_ENABLE. */
static const struct ring_lie {
	const char *name;
	size_t	 offset, size;
	bool	 blocks;	/* in the header of each block */
	uint64_t value;
	uint64_t file_size;	/* or 0: it stays */
	bool	 full;		/* with blocks that were all written to */
} ring_lies[] = {
	{ "ring-magic", HEADER(magic), .value = 0x12345678 },
	{ "ring-magic-zstd", HEADER(magic), .value = 0xfd2fb528 },
	{ "ring-version", HEADER(file_version), .value = UINT32_MAX },
	{ "ring-header-size", HEADER(file_header_size), .value = UINT32_MAX },
	{ "ring-logical-size", HEADER(file_logical_size), .value = UINT32_MAX },
	{ "ring-block-header-size", HEADER(block_header_size), .value = UINT32_MAX },
	{ "ring-block-size-0", HEADER(block_size), .value = 0 },
	{ "ring-block-size", HEADER(block_size), .value = 0x80000000 },
	{ "ring-directory-size", HEADER(directory_size), .value = UINT32_MAX },
	{ "ring-block-count-0", HEADER(block_count), .value = 0 },
	{ "ring-block-count", HEADER(block_count), .value = UINT32_MAX },
	{ "ring-block-count-sparse", HEADER(block_count), .value = UINT32_MAX,
	  .file_size = (uint64_t)2 << 40 },
	{ "ring-sparse", HEADER(blocks_valid), .value = UINT32_MAX, .file_size = (uint64_t)2 << 40 },
	/* 20 MiB of it are there. */
	{ "ring-large", HEADER(block_count), .value = 40000, .file_size = 40000 * 512, .full = true },
	{ "ring-blocks-valid", HEADER(blocks_valid), .value = UINT32_MAX },
	{ "ring-cut", HEADER(blocks_valid), .value = UINT32_MAX, .file_size = 4096 },
	{ "ext-magic", EXT(magic), .value = 0 },
	{ "ext-size", EXT(size), .value = UINT32_MAX },
	{ "ext-kind", EXT(kind), .value = TNF_EXT_KERNEL },
	{ "ext-data-cursor", EXT(data_cursor), .value = UINT64_MAX },
	{ "ext-tag-cursor", EXT(tag_cursor), .value = UINT32_MAX },
	{ "ext-dir-cursor", EXT(dir_cursor), .value = UINT32_MAX },
	{ "ext-data-start", EXT(data_start), .value = UINT32_MAX },
	{ "ext-pid", EXT(pid), .value = 1 },
	{ "ext-start", EXT(start_mono), .value = INT64_MAX },
	{ "ext-lost", EXT(lost[0]), .value = (uint64_t)INT64_MAX + 1 },
	{ "ext-attached", EXT(attached), .value = UINT32_MAX },
	{ "ext-extra-offset", EXT(extra_offset), .value = 8 },
	{ "ext-extra-size", EXT(extra_size), .value = UINT64_MAX },
	{ "ext-incompatible", EXT(incompatible), .value = UINT32_MAX },
	{ "ext-shortened", EXT(shortened), .value = UINT64_MAX },
	{ "ext-names", EXT(names), .value = UINT64_MAX },
	{ "block-generation", BLOCK(generation), .value = UINT32_MAX },
	{ "block-bytes-valid", BLOCK(bytes_valid), .value = UINT16_MAX },
	{ "block-next", BLOCK(next_block), .value = UINT64_MAX },
};

/* As if each had been written to. */
static void
fill_blocks(int fd, const struct tnf_file_header *h, uint64_t end)
{
	static const struct tnf_block_header used = { .generation = 1, .bytes_valid = 512 };
	static const tnf_uint32_t log2 = 25;	/* of the size, rounded up */
	static char block[TNF_BLOCK_SIZE_MAX];
	uint64_t at;

	if (pwrite(fd, &log2, sizeof log2, offsetof(struct tnf_file_header, file_logical_size)) != sizeof log2)
		abort();
	memset(block, 'x', sizeof block);
	memcpy(block, &used, sizeof used);
	for (at = (uint64_t)h->block_size * h->block_count; at < end; at += h->block_size)
		if (pwrite(fd, block, h->block_size, (off_t)at) != (ssize_t)h->block_size)
			abort();
}

static void
lie_in_ring(const struct ring_lie *l)
{
	int fd = open(_tnf_process_control.file_name, O_RDWR | O_CLOEXEC);
	struct tnf_file_header h;
	off_t at = 0;

	if (fd < 0 || pread(fd, &h, sizeof h, 0) != sizeof h || h.block_size == 0 ||
	    (l->file_size != 0 && ftruncate(fd, (off_t)l->file_size) != 0))
		abort();
	if (l->full)
		fill_blocks(fd, &h, l->file_size);
	for (uint32_t i = l->blocks ? h.directory_size / h.block_size : 0;
	    i < (l->blocks ? h.block_count : 1); i++) {
		at = (off_t)i * h.block_size + (off_t)l->offset;
		if (pwrite(fd, &l->value, l->size, at) != (ssize_t)l->size)
			abort();
	}
	close(fd);
}

static const struct {
	const char *name;
	void	(*lie)(void);
} lies[] = {
	{ "attrs-pointer", lie_attrs_pointer },
	{ "attrs-endless", lie_attrs_endless },
	{ "attrs-escape", lie_attrs_escape },
	{ "sizes", lie_sizes },
	{ "version", lie_version },
	{ "process", lie_process },
	{ "file", lie_file },
	{ "chain-used", lie_chain_used },
	{ "chain-endless", lie_chain_endless },
	{ "map-cycle", lie_map_cycle },
	{ "map-wild", lie_map_wild },
	{ "map-endless", lie_map_endless },
	{ "map-names", lie_map_names },
	{ "map-bias", lie_map_bias },
	{ "state", lie_state },
};

int
main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
			puts(lies[i].name);
		return 0;
	}
	if (strcmp(argv[1], "rings") == 0) {
		for (i = 0; i < sizeof ring_lies / sizeof ring_lies[0]; i++)
			puts(ring_lies[i].name);
		return 0;
	}
	prctl(PR_SET_NAME, "\033[2J\nliar;");
	hit();
	for (i = 0; i < sizeof ring_lies / sizeof ring_lies[0]; i++)
		if (strcmp(argv[1], ring_lies[i].name) == 0)
			lie_in_ring(&ring_lies[i]);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (strcmp(argv[1], lies[i].name) == 0)
			lies[i].lie();
	victim_ready();
	getchar();
	/* No destructors: the linker would believe us as well. */
	_exit(3);
}
